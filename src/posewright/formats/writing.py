"""Writing motions and whole motion files."""

from __future__ import annotations

from pathlib import Path

from posewright.documents import write_atomically
from posewright.formats.conversion import refuse_losses
from posewright.formats.motion_file import MotionFile
from posewright.formats.origin import alone, origin_of
from posewright.formats.registry import format_for, format_named
from posewright.formats.rendering import WriteOptions
from posewright.formats.roboplus.format import FORMAT as ROBOPLUS
from posewright.formats.roboplus.format import render_file as render_roboplus
from posewright.formats.rounding import read_back
from posewright.motions import Motion


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
    target = format_for(motion, path, format)
    options = options or WriteOptions()
    motion = target.prepared(_in_its_file(motion, path), options)
    rendering = target.render(motion, path, options)
    refuse_losses(rendering.losses, target.name, path, accept_loss=accept_loss)
    read_back(motion, rendering, target)
    write_atomically(path, rendering.data)
    return rendering.losses


def _in_its_file(motion: Motion, path: Path) -> Motion:
    """Return the motion as a page of its file where it is written over that; nobody loses the other pages."""
    origin = origin_of(motion)
    if origin is None or origin.path is None or origin.path.resolve() != path.resolve():
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
