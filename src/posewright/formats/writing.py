"""Writing and converting motions and whole motion files, with the truth about what changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from posewright.documents import real_path, write_atomically
from posewright.errors import LossError, Where
from posewright.formats.motion_file import (
    MotionFile,
    Reference,
    alone,
    carried_to,
    lost_between_robots,
    origin_of,
    unmoved,
)
from posewright.formats.motion_format import (
    EXACT,
    MotionFormat,
    Quantum,
    Rendering,
    Rounding,
    WriteOptions,
    measured,
    read_back,
)
from posewright.formats.reading import read_to_carry
from posewright.formats.registry import format_for, format_named
from posewright.formats.roboplus.format import FORMAT as ROBOPLUS
from posewright.formats.roboplus.format import render_file as render_roboplus
from posewright.motions import Motion, Pose, RetargetedMotion, robot_of_motion
from posewright.robots import Robot

SLACK_RAD = 1e-6  # so little beyond a stop is rounding: files of old robots count whole micro-radians


@dataclass(frozen=True)
class Conversion:
    """What a conversion did.

    Attributes:
        losses: what the file cannot hold or the robot cannot do, in words.
        remarks: what had to be filled in or said in another way, in words.
        rounding: what the steps did to this motion; None for a copy, in which nothing changed.
        assumed: whose motion it was taken for, in words, as the file does not say; None where it does.
    """

    format: str
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    quantum: Quantum = EXACT
    rounding: Rounding | None = None
    assumed: str | None = None


def convert_motion(
    source: Path | str,
    target: Path | str,
    *,
    page: Reference | None = None,
    format: str | None = None,  # noqa: A002 - as in write_motion
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    clip: bool = False,
    options: WriteOptions | None = None,
) -> Conversion:
    """Convert a motion file, or one page of it, to another format, and if wanted to another robot.

    Without a page, a file converted to its own format is copied whole, byte for byte.

    Args:
        source: the file to read; its content tells the format.
        target: the file to write.
        page: name or number of the page that is wanted; default the first.
        format: name of the format to write; default what the target's name suggests.
        robot: the robot it is for. Where the file says another, its joints are carried over by their names.
        accept_loss: whether what cannot be kept may be left out, and what `robot` cannot do be written.
        clip: whether angles beyond the robot's stops are brought to them.
        options: what else is asked of the writer.

    Raises:
        LossError: something would be lost, or is more than the robot asked for can do, and `accept_loss` is
            false; it lists what. Nothing is written.
        FormatError: the source cannot be read, or does not fit the target's format at all.
        InputError: the two robots have no joint in common.
        OutputError: the target cannot be written.
    """
    target, file = Path(target), read_to_carry(source, robot)
    own = file.motion() if page is None else alone(file.motion(page))
    carried = carried_to(own, robot)
    beyond = tuple(beyond_the_mechanism(carried.motion))
    motion = within_the_mechanism(carried.motion) if clip and beyond else carried.motion
    wanted = format_for(motion, target, format)
    is_copy = page is None and motion is own and options is None and wanted.name == file.format
    if is_copy:
        rendering = _copy(file, wanted, target)
    else:
        options = options or WriteOptions()
        motion = wanted.prepared(motion, options)
        rendering = wanted.render(motion, target, options)
    losses = (*_left_behind(file, page, wanted), *lost_between_robots(carried, clip=clip), *rendering.losses)
    if robot is not None and not (clip or is_copy):
        losses += beyond
    refuse_losses(losses, wanted.name, Path(source), accept_loss=accept_loss)
    back = None if is_copy else read_back(motion, rendering, wanted)
    write_atomically(target, rendering.data)
    told = _told_of_stops(carried, beyond, clip=clip) if clip or not set(beyond) <= set(losses) else ()
    remarks = (*unmoved(carried), *told, *rendering.remarks)
    rounding = None if back is None else measured(motion, back, rendering, wanted)
    return Conversion(wanted.name, losses, remarks, wanted.quantum, rounding, file.assumed)


def _told_of_stops(carried: RetargetedMotion, beyond: tuple[str, ...], *, clip: bool) -> tuple[str, ...]:
    """Return remarks on angles beyond the stops: that they are, or that they were brought there."""
    if not clip:
        return beyond
    return tuple(f"brought to the stops: {text}" for text in (*map(str, carried.clips), *beyond))


def refuse_losses(losses: tuple[str, ...], name: str, path: Path, *, accept_loss: bool) -> None:
    """Raise the LossError that lists what would be lost, unless nothing would or that is accepted."""
    if losses and not accept_loss:
        what = f"as {name} it would lose: {'; '.join(losses)}"
        hint = "accept_loss=True writes it all the same"
        raise LossError(what, where=Where(path), hint=hint, losses=losses)


def _copy(file: MotionFile, wanted: MotionFormat, target: Path) -> Rendering:
    if wanted.render_file is not None:
        return wanted.render_file(file)
    return wanted.render(file.motion(), target, WriteOptions())


def _left_behind(file: MotionFile, page: Reference | None, wanted: MotionFormat) -> tuple[str, ...]:
    if page is not None or len(file.motions) < 2 or wanted.name == file.format:
        return ()
    return (f"all pages but {file.pages[0].name!r}; the file has {len(file.motions)}",)


def beyond_the_mechanism(motion: Motion) -> Iterator[str]:
    """Yield that a motion asks for angles at which the robot's own mechanism stops, if it does."""
    card = robot_of_motion(motion)
    places = [card.index(name) for name in motion.joints]
    lower, upper = (side[places] for side in card.hardware_limits)
    angles = np.array([keyframe.pose.angles for keyframe in motion.keyframes])
    over = np.fmax(lower - angles, angles - upper)
    count = int((over > SLACK_RAD).sum())
    if count:
        frame, column = np.unravel_index(np.nanargmax(over), over.shape)
        asked = np.rad2deg([angles[frame, column], lower[column], upper[column]])
        yield (
            f"{count} angles are beyond what {card.name} can do: {motion.joints[column]} is asked to "
            f"{asked[0]:.1f} deg at keyframe {frame + 1}, its stops are {asked[1]:g}..{asked[2]:g}"
        )


def within_the_mechanism(motion: Motion) -> Motion:
    """Return the motion with every angle that is beyond a stop of the robot's mechanism brought to it."""
    card = robot_of_motion(motion)
    places = [card.index(name) for name in motion.joints]
    lower, upper = (side[places] for side in card.hardware_limits)

    def clipped(pose: Pose) -> Pose:
        return Pose(pose.joints, np.clip(pose.angles, lower, upper), pose.free)

    frames = tuple(replace(frame, pose=clipped(frame.pose)) for frame in motion.keyframes)
    return replace(motion, keyframes=frames, start=None if motion.start is None else clipped(motion.start))


def write_motion(
    motion: Motion,
    path: Path | str,
    format: str | None = None,  # noqa: A002 - the word people look for
    *,
    accept_loss: bool = False,
    options: WriteOptions | None = None,
) -> tuple[str, ...]:
    """Write a motion to a file; return what was lost, in words.

    A motion that was read from a file of the same format and not edited gives the same bytes. Written over
    the file it came from, it replaces its page there.

    Args:
        motion: what to write.
        path: where to.
        format: name of the format; default what the name of the file suggests, else what it came from.
        accept_loss: whether what the format cannot hold may be left out. An angle that is rounded to a whole
            tick of its servo is not lost.
        options: what else is asked of the writer.

    Raises:
        LossError: something would be lost, and `accept_loss` is false; it lists what.
        FormatError: it does not fit the format.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    target, motion, rendering = _rendered(motion, path, format, options)
    refuse_losses(rendering.losses, target.name, path, accept_loss=accept_loss)
    read_back(motion, rendering, target)
    write_atomically(path, rendering.data)
    return rendering.losses


def preview_motion(
    motion: Motion,
    path: Path | str,
    format: str | None = None,  # noqa: A002 - as in write_motion
    *,
    options: WriteOptions | None = None,
) -> Conversion:
    """Return what `write_motion` would do, and write nothing; errors as there."""
    target, motion, rendering = _rendered(motion, Path(path), format, options)
    back = read_back(motion, rendering, target)
    rounding = None if back is None else measured(motion, back, rendering, target)
    return Conversion(target.name, rendering.losses, rendering.remarks, target.quantum, rounding)


def _rendered(
    motion: Motion, path: Path, name: str | None, options: WriteOptions | None
) -> tuple[MotionFormat, Motion, Rendering]:
    """Return the format to write a motion in, the motion as it asks for it, and the file."""
    target = format_for(motion, path, name)
    options = options or WriteOptions()
    motion = target.prepared(_in_its_file(motion, path), options)
    return target, motion, target.render(motion, path, options)


def _in_its_file(motion: Motion, path: Path) -> Motion:
    """Return the motion as a page of its file where it is written over that; nobody loses the other pages."""
    origin = origin_of(motion)
    if origin is None or origin.path is None or real_path(origin.path) != real_path(path):
        return motion
    return alone(motion, is_alone=False)


def losses(motion: Motion, format: str) -> tuple[str, ...]:  # noqa: A002 - as in write_motion
    """Return what of a motion a format cannot hold, in words.

    Raises:
        FormatError: it does not fit the format at all.
        UnknownNameError: there is no such format.
    """
    return format_named(format).render(motion, Path(), WriteOptions()).losses


def write_motion_file(
    file: MotionFile, path: Path | str, *, repair: bool = False, accept_loss: bool = False
) -> tuple[str, ...]:
    """Write a whole motion file in its own format: the same bytes, but for the motions that were edited.

    Args:
        file: what to write.
        path: where to.
        repair: whether a stripped byte order mark and a wrong checksum are put right even where nothing
            was edited.
        accept_loss: as in `write_motion`.

    Returns:
        What of the edited motions was lost, in words.

    Raises:
        LossError, FormatError, OutputError: as `write_motion`.
    """
    path, known = Path(path), format_named(file.format)
    if known.render_file is None:
        return write_motion(file.motion(), path, file.format, accept_loss=accept_loss)
    rendering = (
        render_roboplus(file, repair=True) if repair and known is ROBOPLUS else known.render_file(file)
    )
    refuse_losses(rendering.losses, file.format, path, accept_loss=accept_loss)
    write_atomically(path, rendering.data)
    return rendering.losses
