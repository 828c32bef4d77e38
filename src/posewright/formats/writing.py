"""Writing motions and whole motion files, and converting one format to another."""

from __future__ import annotations

from pathlib import Path

from posewright.documents import write_atomically
from posewright.errors import LossError, Where
from posewright.formats.motion_file import MotionFile
from posewright.formats.origin import alone, card_of, origin_of
from posewright.formats.page_reference import Reference
from posewright.formats.reading import read_motion_file
from posewright.formats.registry import format_for, format_named
from posewright.formats.roboplus_from_motion import put_motion
from posewright.formats.roboplus_text import RoboplusDocument
from posewright.motions import Motion
from posewright.robots import Robot


def write_motion(
    motion: Motion,
    path: Path | str,
    format: str | None = None,  # noqa: A002 - the word people look for
    *,
    accept_loss: bool = False,
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

    Raises:
        LossError: something would be lost, and `accept_loss` is false; it lists what.
        FormatError: it does not fit the format.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    target = format_for(motion, path, format)
    motion = _in_its_file(motion, path)
    lost = target.losses(motion)
    _refuse_losses(lost, target.name, path, accept_loss=accept_loss)
    target.write(motion, path)
    return lost


def _refuse_losses(lost: tuple[str, ...], name: str, path: Path, *, accept_loss: bool) -> None:
    if lost and not accept_loss:
        raise LossError(
            f"as {name} it would lose: {'; '.join(lost)}",
            where=Where(path),
            hint="accept_loss=True writes it all the same",
        )


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
    return format_named(format).losses(motion)


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
    path = Path(path)
    if not isinstance(file.document, RoboplusDocument):
        return write_motion(file.motion(), path, file.format, accept_loss=accept_loss)
    document = file.document
    lost: list[str] = []
    for label, motion in zip(file.pages, file.motions, strict=True):
        document, of_page = put_motion(document, label.number, motion, card_of(motion))
        lost += [f"page {label.number}: {loss}" for loss in of_page]
    _refuse_losses(tuple(lost), file.format, path, accept_loss=accept_loss)
    write_atomically(path, (document.repaired() if repair else document).render())
    return tuple(lost)


def convert_motion(
    source: Path | str,
    target: Path | str,
    *,
    page: Reference | None = None,
    format: str | None = None,  # noqa: A002 - as in write_motion
    robot: str | Robot | None = None,
    accept_loss: bool = False,
) -> tuple[str, ...]:
    """Convert a motion file, or one page of it, to another format; return what was lost, in words.

    Without a page, a file converted to its own format is copied whole, byte for byte.

    Raises:
        LossError: something would be lost, and `accept_loss` is false; it lists what.
        FormatError: as `read_motion` and `write_motion`.
    """
    target = Path(target)
    file = read_motion_file(source, robot=robot)
    motion = file.motion() if page is None else alone(file.motion(page))
    wanted = format_for(motion, target, format)
    if page is None and wanted.name == file.format:
        return write_motion_file(file, target)
    lost = wanted.losses(motion)
    if page is None and len(file.motions) > 1:
        lost = (*lost, f"all pages but {motion.name!r}; the file has {len(file.motions)}")
    _refuse_losses(lost, wanted.name, Path(source), accept_loss=accept_loss)
    write_motion(motion, target, wanted.name, accept_loss=True)
    return lost
