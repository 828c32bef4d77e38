"""ODA archives as files: read, written, made, added to and taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.display import Lines
from posewright.errors import FormatError, LossError, OutputError, UnknownNameError, Where, escape_unprintable
from posewright.formats.binary import GzipWrapping
from posewright.formats.file_kind import MAX_ARCHIVE_BYTES, read_file_bytes
from posewright.formats.oda.archive import ODA, Compression, OdaArchive, entries_counted
from posewright.formats.oda.reader import parse_archive

if TYPE_CHECKING:
    from posewright.formats.motion_file import PageReference
    from posewright.formats.oda.assembly import Part
    from posewright.robots import Robot


@dataclass(frozen=True)
class Assembled:
    """An archive that was written.

    Attributes:
        losses: what of their motions was lost, in words, with the name before it.
        remarks: what had to be filled in or said in another way, and what is odd, likewise.
    """

    archive: OdaArchive
    names: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self, path: Path) -> dict[str, object]:
        """Return what was written to a file, fit for JSON."""
        return {
            "file": str(path),
            "format": ODA,
            "gzip": self.archive.compression.value,
            "n_entries": len(self.archive.entries),
            "added": list(self.names),
            "losses": list(self.losses),
            "remarks": list(self.remarks),
        }

    def lines(self, path: Path) -> Lines:
        """Yield what was written to a file."""
        added = escape_unprintable(self.names[0]) if len(self.names) == 1 else f"{len(self.names)} files"
        yield f"{added} -> {path}: {entries_counted(len(self.archive.entries))}"


@dataclass(frozen=True)
class ArchiveFile:
    """A file that is called as an archive is.

    Attributes:
        archive: what it holds; None where it cannot be read.
        fault: why it cannot be read; empty where it can.
    """

    path: Path
    archive: OdaArchive | None = None
    fault: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return what it is, without its entries, fit for JSON."""
        if self.archive is None:
            return {"file": str(self.path), "unreadable": self.fault}
        return {**self.archive.to_dict(with_entries=False), "unreadable": None}

    def __str__(self) -> str:
        return f"{self.path}: {self.fault}" if self.archive is None else self.archive.summary


def archives_in(folder: Path) -> tuple[ArchiveFile, ...]:
    """Return each archive below a folder, in the order of their paths.

    Raises:
        FormatError: there is none.
    """
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".oda" and path.is_file())
    if not paths:
        raise FormatError("no archive is in this folder", where=Where(folder), hint="one is called *.ODA")
    return tuple(map(_archive_file, paths))


def _archive_file(path: Path) -> ArchiveFile:
    try:
        return ArchiveFile(path, read_archive_file(path))
    except FormatError as error:
        return ArchiveFile(path, fault=error.message)


def read_archive_file(path: Path | str) -> OdaArchive:
    """Read an archive: its table, and nothing of what the entries hold but their first bytes.

    Raises:
        FormatError: it cannot be read, is damaged, encrypted, or no archive.
    """
    path = Path(path)
    return parse_archive(read_file_bytes(path, limit=MAX_ARCHIVE_BYTES), path)


def write_archive_file(archive: OdaArchive, path: Path | str) -> None:
    """Write an archive to a file.

    Raises:
        FormatError: it has become too large.
        OutputError: the file cannot be written.
    """
    from posewright.documents import write_atomically

    write_atomically(Path(path), archive.render())


def create_archive(
    target: Path | str,
    files: Sequence[Path | str],
    *,
    compression: Compression | str = Compression.NONE,
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    overwrite: bool = False,
) -> Assembled:
    """Make an archive of files: motions of any format, sounds and placeholders, in this order.

    An OMTN goes in as it is; a motion of another format becomes one. Entries are called as the files,
    without folder and ending.

    Args:
        target: the archive.
        files: what goes in.
        compression: whether there is to be gzip, and around what: `none`, `file` or `entries`.
        robot: the robot the motions are for; another's are carried over.
        accept_loss: whether what an OMTN cannot hold may be left out.
        overwrite: whether an archive that stands there may be replaced.

    Raises:
        FormatError: a file cannot be read, is of a kind that has no place in an archive, or two are
            called the same.
        UnknownNameError: there is no such compression.
        LossError: something would be lost, and `accept_loss` is false.
        OutputError: the archive stands there already, or cannot be written.
    """
    from posewright.documents import path_exists
    from posewright.formats.oda.assembly import part_from_file, with_parts

    target, compression = Path(target), _compression(compression)
    if path_exists(target) and not overwrite:
        raise OutputError("stands there already", where=Where(target), hint="overwrite=True replaces it")
    parts = [part_from_file(file, robot=robot) for file in files]
    losses = _accepted(parts, accept_loss=accept_loss)
    wrapping = GzipWrapping() if compression is Compression.FILE else None
    archive = with_parts(OdaArchive(path=target, wrapping=wrapping), parts, compression)
    write_archive_file(archive, target)
    return _assembled(archive, parts, losses)


def add_to_archive(
    path: Path | str,
    file: Path | str,
    *,
    name: str | None = None,
    type_name: str | None = None,
    overwrite: bool = False,
    robot: str | Robot | None = None,
    accept_loss: bool = False,
) -> Assembled:
    """Put a file into an archive, at its end, in gzip if what is in it already is.

    Args:
        path: the archive.
        file: what goes in, as for `create_archive`.
        name: of the entry, and of a motion that becomes an OMTN; default as the file.
        type_name: one of `contents.TYPES`, to put in any file as it is.
        overwrite: whether it takes the place of the entry called so.
        robot: the robot the motion is for; another's is carried over.
        accept_loss: whether what an OMTN cannot hold may be left out.

    Raises:
        FormatError: archive or file cannot be read, or an entry is called so and not to be replaced.
        LossError: something would be lost, and `accept_loss` is false.
        OutputError: the archive cannot be written.
    """
    from posewright.documents import lock_folders
    from posewright.formats.oda.assembly import part_from_file, with_parts

    part = part_from_file(file, name=name, type_name=type_name, robot=robot)
    losses = _accepted([part], accept_loss=accept_loss)
    with lock_folders(Path(path)):
        archive = read_archive_file(path)
        archive = with_parts(archive, [part], archive.compression, overwrite=overwrite)
        write_archive_file(archive, path)
    return _assembled(archive, [part], losses)


def remove_from_archive(
    path: Path | str, entries: Sequence[PageReference], *, keep_places: bool = False
) -> OdaArchive:
    """Take entries out of an archive.

    Args:
        path: the archive.
        entries: their names or numbers, from 1.
        keep_places: whether a placeholder is left where each stood, so that those behind it keep the places
            by which a MONETCMD.CFG may call them.

    Raises:
        FormatError: the archive cannot be read, or several entries are called so.
        UnknownNameError: there is no such entry.
        OutputError: the archive cannot be written.
    """
    from posewright.documents import lock_folders
    from posewright.formats.oda.assembly import without_entries

    with lock_folders(Path(path)):
        archive = without_entries(read_archive_file(path), entries, keep_places=keep_places)
        write_archive_file(archive, path)
    return archive


def _compression(name: Compression | str) -> Compression:
    known = {one.value: one for one in Compression}
    if isinstance(name, Compression):
        return name
    if name not in known:
        raise UnknownNameError.among("compression", name, known)
    return known[name]


def _accepted(parts: Sequence[Part], *, accept_loss: bool) -> tuple[str, ...]:
    """Return all that is lost, if it may be; else raise the LossError that lists it."""
    losses = tuple(f"{part.name}: {loss}" for part in parts for loss in part.losses)
    if losses and not accept_loss:
        what = f"{len(losses)} things would be lost, the first of {losses[0]}"
        raise LossError(what, hint="accept_loss=True does it all the same", losses=losses)
    return losses


def _assembled(archive: OdaArchive, parts: Sequence[Part], losses: tuple[str, ...]) -> Assembled:
    remarks = tuple(f"{part.name}: {remark}" for part in parts for remark in part.remarks)
    return Assembled(archive, tuple(part.name for part in parts), losses, remarks)
