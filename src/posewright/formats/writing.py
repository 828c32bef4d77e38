"""Writing and converting motions and whole motion files, with a report of what changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from posewright.documents import back_up, real_path, write_atomically
from posewright.errors import LossError, Where
from posewright.formats.motion_file import (
    MotionFile,
    PageReference,
    describe_retargeting_losses,
    describe_unmoved_joints,
    mark_single_page,
    origin_of,
    retarget_to_robot,
)
from posewright.formats.motion_format import (
    EXACT,
    MotionFormat,
    Quantum,
    Rendering,
    Rounding,
    WriteOptions,
    measure_rounding,
    read_back,
)
from posewright.formats.reading import read_to_carry
from posewright.formats.registry import format_for, format_named
from posewright.formats.roboplus.format import FORMAT as ROBOPLUS
from posewright.formats.roboplus.format import render_file as render_roboplus
from posewright.hazards import find_faults, require_no_faults
from posewright.motions import Motion, Pose, robot_of_motion
from posewright.robots import Robot

SLACK_RAD = 1e-6  # a rounding error: files of old robots count whole micro-radians


@dataclass(frozen=True)
class Conversion:
    """The report of a conversion.

    Attributes:
        format: the name of the format written.
        losses: descriptions of what the file cannot hold or the robot cannot do.
        remarks: descriptions of what was filled in or expressed differently.
        quantum: the smallest steps of the format.
        rounding: what these steps changed; None for a copy, in which nothing changed.
        assumed: a description of the robot assumed for the source, if the file names none; else None.
        faults: errors of `motion check` in the motion, if robots play files of the format; they were
            accepted.
    """

    format: str
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    quantum: Quantum = EXACT
    rounding: Rounding | None = None
    assumed: str | None = None
    faults: tuple[str, ...] = ()


def convert_motion(
    source: Path | str,
    target: Path | str,
    *,
    page: PageReference | None = None,
    format: str | None = None,  # noqa: A002 - as in write_motion
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    accept_faults: bool = False,
    clip: bool = False,
    options: WriteOptions | None = None,
) -> Conversion:
    """Convert a motion file, or one page of it, to another format, and optionally to another robot.

    Without a page, a file converted to its own format is copied, byte for byte, whatever its motions do.

    Args:
        source: the file to read; its content determines the format.
        target: the file to write.
        page: name or number of the page; by default the first.
        format: name of the format to write; by default the one that the target's name suggests.
        robot: the robot to convert to. If the file names another one, joints are carried over by their names.
        accept_loss: whether the file is written although something is lost or `robot` cannot do everything.
        accept_faults: whether a file that robots play is written although `motion check` reports errors.
        clip: whether angles beyond the robot's joint limits are clipped to them.
        options: options of the writer.

    Raises:
        LossError: something would be lost, or `robot` cannot do something, and `accept_loss` is false; it
            lists everything. Nothing is written.
        UnsafeMotionError: robots play files of the format, `motion check` reports errors in the motion, and
            `accept_faults` is false. Nothing is written.
        FormatError: the source cannot be read, or the motion does not fit the format at all.
        InputError: the two robots have no joint in common.
        OutputError: the target cannot be written.
    """
    target = Path(target)
    file = read_to_carry(source, robot)
    source_motion = file.motion() if page is None else mark_single_page(file.motion(page))
    retargeted = retarget_to_robot(source_motion, robot)
    limit_violations = tuple(describe_limit_violations(retargeted.motion))
    motion = clip_to_limits(retargeted.motion) if clip and limit_violations else retargeted.motion
    clipped_motion = motion
    motion_format = format_for(motion, target, format)
    is_unchanged = page is None and motion is source_motion and options is None
    is_copy = is_unchanged and motion_format.name == file.format
    if is_copy:
        rendering = _render_copy(file, motion_format, target)
    else:
        options = options or WriteOptions()
        motion = motion_format.prepare_motion(motion, options)
        rendering = motion_format.render(motion, target, options)
    losses = (
        *_describe_lost_pages(file, page, motion_format),
        *describe_retargeting_losses(retargeted, clip=clip),
        *rendering.losses,
    )
    if robot is not None and not (clip or is_copy):
        losses += limit_violations
    require_no_losses(losses, motion_format.name, Path(source), accept_loss=accept_loss)
    faults: tuple[str, ...] = ()
    if motion_format.is_played_by_robots and not is_copy:
        faults = find_faults(
            clipped_motion
        )  # not the straightened one, so that the messages name its keyframes
        require_no_faults(faults, motion.name, accept_faults=accept_faults, path=Path(source))
    written_motion = None if is_copy else read_back(motion, rendering, motion_format)
    _write_rendering(rendering, motion_format, target)

    limit_remarks: tuple[str, ...] = ()
    if clip:
        clipped = (*map(str, retargeted.clips), *limit_violations)
        limit_remarks = tuple(f"clipped to the limits: {description}" for description in clipped)
    elif not set(limit_violations) <= set(losses):
        limit_remarks = limit_violations
    remarks = (*describe_unmoved_joints(retargeted), *limit_remarks, *rendering.remarks)
    rounding = None
    if written_motion is not None:
        rounding = measure_rounding(motion, written_motion, rendering, motion_format)
    return Conversion(
        motion_format.name, losses, remarks, motion_format.quantum, rounding, file.assumed_robot, faults
    )


def _write_rendering(rendering: Rendering, motion_format: MotionFormat, path: Path) -> None:
    """Write a file; a file with several motions is copied to `NAME.bak` before its first change."""
    if motion_format.render_file is not None:
        back_up(path)
    write_atomically(path, rendering.data)


def require_no_losses(losses: tuple[str, ...], name: str, path: Path, *, accept_loss: bool) -> None:
    """Raise LossError with all losses, unless there are none or they are accepted.

    Args:
        losses: descriptions of the losses.
        name: the name of the format, for the message.
        path: the file, for the message.
        accept_loss: whether losses are accepted.
    """
    if losses and not accept_loss:
        message = f"as {name} it would lose: {'; '.join(losses)}"
        hint = "accept_loss=True writes it all the same"
        raise LossError(message, where=Where(path), hint=hint, losses=losses)


def _render_copy(file: MotionFile, motion_format: MotionFormat, target: Path) -> Rendering:
    """Render all motions of a file, or its only one, without options that change them."""
    if motion_format.render_file is not None:
        return motion_format.render_file(file)
    return motion_format.render(file.motion(), target, WriteOptions())


def _describe_lost_pages(
    file: MotionFile, page: PageReference | None, motion_format: MotionFormat
) -> tuple[str, ...]:
    """Describe the pages that are lost if only the first one can be written in another format."""
    if page is not None or len(file.motions) < 2 or motion_format.name == file.format:
        return ()
    return (f"all pages but {file.pages[0].name!r}; the file has {len(file.motions)}",)


def describe_limit_violations(motion: Motion) -> Iterator[str]:
    """Yield one message if angles are beyond the robot's mechanical limits: their number, and the worst."""
    robot = robot_of_motion(motion)
    joint_indices = [robot.index(name) for name in motion.joints]
    lower, upper = (limits[joint_indices] for limits in robot.hardware_limits)
    angles = np.array([keyframe.pose.angles for keyframe in motion.keyframes])
    excess = np.fmax(lower - angles, angles - upper)
    n_violations = int((excess > SLACK_RAD).sum())
    if n_violations:
        frame, joint = np.unravel_index(np.nanargmax(excess), excess.shape)
        angle_deg, lower_deg, upper_deg = np.rad2deg([angles[frame, joint], lower[joint], upper[joint]])
        yield (
            f"{n_violations} angles are beyond the limits of {robot.name}: {motion.joints[joint]} is at "
            f"{angle_deg:.1f} deg in keyframe {frame + 1}, its limits are {lower_deg:g}..{upper_deg:g}"
        )


def clip_to_limits(motion: Motion) -> Motion:
    """Return the motion with every angle clipped to the robot's mechanical limits."""
    card = robot_of_motion(motion)
    indices = [card.index(name) for name in motion.joints]
    lower, upper = (limits[indices] for limits in card.hardware_limits)

    def clip_pose(pose: Pose) -> Pose:
        return Pose(pose.joints, np.clip(pose.angles, lower, upper), pose.free)

    keyframes = tuple(replace(keyframe, pose=clip_pose(keyframe.pose)) for keyframe in motion.keyframes)
    start = None if motion.start is None else clip_pose(motion.start)
    return replace(motion, keyframes=keyframes, start=start)


def write_motion(
    motion: Motion,
    path: Path | str,
    format: str | None = None,  # noqa: A002 - the word people look for
    *,
    accept_loss: bool = False,
    options: WriteOptions | None = None,
) -> tuple[str, ...]:
    """Write a motion to a file; return descriptions of what was lost.

    A motion that was read from a file of the same format and not edited gives the same bytes. Written over
    the file it came from, it replaces its page there.

    It does not check whether the motion could harm its robot, so that any motion can be stored and corrected.
    `convert_motion` and all commands that write files for robots do; in Python, call `check_motion` before.

    Args:
        motion: the motion to write.
        path: the file to write.
        format: name of the format; by default the one that the file's name suggests, else that of its origin.
        accept_loss: whether what the format cannot hold may be lost. Rounding an angle to a servo's tick
            is no loss.
        options: options of the writer.

    Raises:
        LossError: something would be lost, and `accept_loss` is false; it lists everything.
        FormatError: the motion does not fit the format.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    motion_format, motion, rendering = _render(motion, path, name=format, options=options)
    require_no_losses(rendering.losses, motion_format.name, path, accept_loss=accept_loss)
    read_back(motion, rendering, motion_format)
    _write_rendering(rendering, motion_format, path)
    return rendering.losses


def preview_motion(
    motion: Motion,
    path: Path | str,
    format: str | None = None,  # noqa: A002 - as in write_motion
    *,
    options: WriteOptions | None = None,
) -> Conversion:
    """Return what `write_motion` would lose, round and remark on, without writing anything.

    Args:
        motion: the motion.
        path: the file that it would be written to.
        format: name of the format; by default the one that the file's name suggests, else that of its origin.
        options: options of the writer.

    Raises:
        FormatError: the motion does not fit the format.
    """
    motion_format, motion, rendering = _render(motion, path=Path(path), name=format, options=options)
    written_motion = read_back(motion, rendering, motion_format)
    rounding = None
    if written_motion is not None:
        rounding = measure_rounding(motion, written_motion, rendering, motion_format)
    return Conversion(
        motion_format.name, rendering.losses, rendering.remarks, motion_format.quantum, rounding
    )


def _render(
    motion: Motion, path: Path, name: str | None, options: WriteOptions | None
) -> tuple[MotionFormat, Motion, Rendering]:
    """Return the format to write a motion in, the motion prepared for it, and the file.

    Args:
        motion: the motion.
        path: the file to write, whose other pages stay if the motion was read from it.
        name: the name of the format; None for the one that `path` suggests.
        options: None for those by default.
    """
    motion_format = format_for(motion, path, name)
    options = options or WriteOptions()
    origin = origin_of(motion)
    if origin is not None and origin.path is not None and real_path(origin.path) == real_path(path):
        motion = mark_single_page(motion, is_single_page=False)  # keep the other pages of its file
    motion = motion_format.prepare_motion(motion, options)
    return motion_format, motion, motion_format.render(motion, path, options)


def losses(motion: Motion, format: str) -> tuple[str, ...]:  # noqa: A002 - as in write_motion
    """Return descriptions of what a format cannot hold of a motion.

    Raises:
        FormatError: the motion does not fit the format at all.
        UnknownNameError: there is no such format.
    """
    return format_named(format).render(motion, Path(), WriteOptions()).losses


def write_motion_file(
    file: MotionFile, path: Path | str, *, repair: bool = False, accept_loss: bool = False
) -> tuple[str, ...]:
    """Write a whole motion file in its own format; only edited motions change its bytes.

    Args:
        file: the file to write.
        path: where to write it.
        repair: whether a missing byte order mark and a wrong checksum are corrected even if nothing was
            edited.
        accept_loss: whether what the format cannot hold of the edited motions may be lost.

    Returns:
        Descriptions of what was lost of the edited motions.

    Raises:
        LossError: something would be lost, and `accept_loss` is false; nothing is written.
        FormatError: an edited motion does not fit the format at all.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    motion_format = format_named(file.format)
    if motion_format.render_file is None:
        return write_motion(file.motion(), path, file.format, accept_loss=accept_loss)
    if repair and motion_format is ROBOPLUS:
        rendering = render_roboplus(file, repair=True)
    else:
        rendering = motion_format.render_file(file)
    require_no_losses(rendering.losses, file.format, path, accept_loss=accept_loss)
    _write_rendering(rendering, motion_format, path)
    return rendering.losses
