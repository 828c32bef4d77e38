"""ODA archives as files: reading, writing, creating, adding and removing entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.display import Lines
from posewright.errors import FormatError, LossError, OutputError, UnknownNameError, Where, escape_unprintable
from posewright.formats.binary import GzipWrapping
from posewright.formats.file_kind import MAX_ARCHIVE_BYTES, read_file_bytes
from posewright.formats.oda.archive import ODA, Compression, OdaArchive, format_entry_count
from posewright.formats.oda.reader import parse_archive

if TYPE_CHECKING:
    from posewright.formats.motion_file import PageReference
    from posewright.formats.oda.assembly import ArchivePart
    from posewright.robots import Robot


@dataclass(frozen=True)
class WrittenArchive:
    """An archive that was written.

    Attributes:
        archive: the archive.
        names: the names of the entries added.
        losses: descriptions of what was lost of their motions, after the entry's name.
        remarks: descriptions of what was changed or is unusual, after the entry's name.
        faults: errors of `motion check` in their motions, after the entry's name; they were accepted.
    """

    archive: OdaArchive
    names: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def to_dict(self, path: Path) -> dict[str, object]:
        """Return the report as plain data."""
        return {
            "file": str(path),
            "format": ODA,
            "gzip": self.archive.compression.value,
            "n_entries": len(self.archive.entries),
            "added": list(self.names),
            "losses": list(self.losses),
            "remarks": list(self.remarks),
            "faults": list(self.faults),
        }

    def lines(self, path: Path) -> Lines:
        """Yield the report as lines of text."""
        subject = escape_unprintable(self.names[0]) if len(self.names) == 1 else f"{len(self.names)} files"
        yield f"{subject} -> {path}: {format_entry_count(len(self.archive.entries))}"


@dataclass(frozen=True)
class ArchiveFile:
    """A file with the suffix of an archive.

    Attributes:
        path: its path.
        archive: its content; None if it cannot be read.
        fault: why it cannot be read; empty if it can.
    """

    path: Path
    archive: OdaArchive | None = None
    fault: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return a description without the entries as plain data."""
        if self.archive is None:
            return {"file": str(self.path), "unreadable": self.fault}
        return {**self.archive.to_dict(with_entries=False), "unreadable": None}

    def __str__(self) -> str:
        return f"{self.path}: {self.fault}" if self.archive is None else self.archive.summary


def archives_in(folder: Path) -> tuple[ArchiveFile, ...]:
    """Return the archives in a folder and its subfolders, sorted by path.

    Raises:
        FormatError: there are none.
    """
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".oda" and path.is_file())
    if not paths:
        raise FormatError(
            "no archive is in this folder", where=Where(folder), hint="archives are called *.ODA"
        )
    return tuple(map(_read_archive_file, paths))


def _read_archive_file(path: Path) -> ArchiveFile:
    try:
        return ArchiveFile(path, read_archive_file(path))
    except FormatError as error:
        return ArchiveFile(path, fault=error.message)


def read_archive_file(path: Path | str) -> OdaArchive:
    """Read an archive: its table, and the first bytes of its entries.

    Raises:
        FormatError: it cannot be read, is damaged or encrypted, or is no archive.
    """
    path = Path(path)
    return parse_archive(read_file_bytes(path, limit=MAX_ARCHIVE_BYTES), path)


def write_archive_file(archive: OdaArchive, path: Path | str) -> None:
    """Write an archive to a file; before its first change, the old archive is copied to `NAME.bak`.

    Raises:
        FormatError: it is too large.
        OutputError: the file cannot be written.
    """
    from posewright.documents import back_up, write_atomically

    data = archive.render()
    back_up(Path(path))
    write_atomically(Path(path), data)


def create_archive(
    target: Path | str,
    files: Sequence[Path | str],
    *,
    compression: Compression | str = Compression.NONE,
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    accept_faults: bool = False,
    overwrite: bool = False,
) -> WrittenArchive:
    """Create an archive from files: motions of any format, sounds and placeholders, in this order.

    An OMTN is added unchanged; a motion of another format is converted to one. Each entry has the name of its
    file, without folder and suffix.

    Args:
        target: the archive to write.
        files: the files to add.
        compression: the use of gzip: `none`, `file` or `entries`.
        robot: the robot of the motions; those of another robot are carried over.
        accept_loss: whether what an OMTN cannot hold may be lost.
        accept_faults: whether motions are added in which `motion check` reports errors.
        overwrite: whether an existing archive is replaced.

    Raises:
        FormatError: a file cannot be read or is of an unsupported kind, or two have the same name.
        UnknownNameError: there is no such compression.
        LossError: something would be lost, and `accept_loss` is false.
        UnsafeMotionError: `motion check` reports errors in a motion, and `accept_faults` is false.
        OutputError: the archive exists already, or cannot be written.
    """
    from posewright.documents import path_exists
    from posewright.formats.oda.assembly import part_from_file, with_parts

    target = Path(target)
    compression = _resolve_compression(compression)
    if path_exists(target) and not overwrite:
        raise OutputError("exists already", where=Where(target), hint="overwrite=True replaces it")
    parts = [part_from_file(file, robot=robot) for file in files]
    losses = _require_accepted(parts, accept_loss=accept_loss)
    faults = _require_safe(parts, accept_faults=accept_faults)
    wrapping = GzipWrapping() if compression is Compression.FILE else None
    archive = with_parts(OdaArchive(path=target, wrapping=wrapping), parts, compression)
    write_archive_file(archive, target)
    return _build_report(archive, parts, losses, faults)


def add_to_archive(
    path: Path | str,
    file: Path | str,
    *,
    name: str | None = None,
    type_name: str | None = None,
    overwrite: bool = False,
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    accept_faults: bool = False,
) -> WrittenArchive:
    """Add a file to an archive as its last entry, in gzip if the other entries are.

    Args:
        path: the archive.
        file: the file to add: a motion of any format, a sound or a placeholder.
        name: the name of the entry, and of a motion that is converted to an OMTN; by default that of the
            file.
        type_name: a type of `archive.TYPES`; the file is then added unchanged, whatever its kind.
        overwrite: whether an entry of the same name is replaced.
        robot: the robot of the motion; that of another robot is carried over.
        accept_loss: whether what an OMTN cannot hold may be lost.
        accept_faults: whether a motion is added in which `motion check` reports errors.

    Raises:
        FormatError: archive or file cannot be read, or an entry has the name and is not replaced.
        LossError: something would be lost, and `accept_loss` is false.
        UnsafeMotionError: `motion check` reports errors in a motion, and `accept_faults` is false.
        OutputError: the archive cannot be written.
    """
    from posewright.documents import lock_folders
    from posewright.formats.oda.assembly import part_from_file, with_parts

    part = part_from_file(file, name=name, type_name=type_name, robot=robot)
    losses = _require_accepted([part], accept_loss=accept_loss)
    faults = _require_safe([part], accept_faults=accept_faults)
    with lock_folders(Path(path)):
        archive = read_archive_file(path)
        archive = with_parts(archive, [part], archive.compression, overwrite=overwrite)
        write_archive_file(archive, path)
    return _build_report(archive, [part], losses, faults)


def remove_from_archive(
    path: Path | str, entries: Sequence[PageReference], *, keep_places: bool = False
) -> OdaArchive:
    """Remove entries from an archive.

    Args:
        path: the archive.
        entries: their names or numbers, from 1.
        keep_places: whether placeholders replace them, so that the following entries keep the numbers by
            which a MONETCMD.CFG may call them.

    Raises:
        FormatError: the archive cannot be read, or several entries have the name.
        UnknownNameError: there is no such entry.
        OutputError: the archive cannot be written.
    """
    from posewright.documents import lock_folders
    from posewright.formats.oda.assembly import without_entries

    with lock_folders(Path(path)):
        archive = without_entries(read_archive_file(path), entries, keep_places=keep_places)
        write_archive_file(archive, path)
    return archive


def _resolve_compression(name: Compression | str) -> Compression:
    """Return the compression of a name."""
    compressions = {member.value: member for member in Compression}
    if isinstance(name, Compression):
        return name
    if name not in compressions:
        raise UnknownNameError.among("compression", name, compressions)
    return compressions[name]


def _require_accepted(parts: Sequence[ArchivePart], *, accept_loss: bool) -> tuple[str, ...]:
    """Return all losses; raise LossError with them if they are not accepted."""
    losses = tuple(f"{part.name}: {loss}" for part in parts for loss in part.losses)
    if losses and not accept_loss:
        message = f"{len(losses)} things would be lost, the first of {losses[0]}"
        raise LossError(message, hint="accept_loss=True does it all the same", losses=losses)
    return losses


def _require_safe(parts: Sequence[ArchivePart], *, accept_faults: bool) -> tuple[str, ...]:
    """Return all faults; raise an UnsafeMotionError with those of the first motion unless accepted."""
    from posewright.hazards import require_no_faults

    for part in parts:
        require_no_faults(part.faults, part.name, accept_faults=accept_faults)
    return tuple(f"{part.name}: {fault}" for part in parts for fault in part.faults)


def _build_report(
    archive: OdaArchive, parts: Sequence[ArchivePart], losses: tuple[str, ...], faults: tuple[str, ...]
) -> WrittenArchive:
    """Return the report about an archive to which parts were added."""
    remarks = tuple(f"{part.name}: {remark}" for part in parts for remark in part.remarks)
    return WrittenArchive(archive, tuple(part.name for part in parts), losses, remarks, faults)
