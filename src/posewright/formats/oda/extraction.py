"""Extraction of archives: each entry to its own file, unchanged or in another motion format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from posewright.display import Lines
from posewright.documents import create_folder, write_atomically
from posewright.errors import (
    FormatError,
    InputError,
    LossError,
    OutputError,
    UnsafeMotionError,
    Where,
    escape_unprintable,
)
from posewright.formats.motion_file import (
    PageReference,
    describe_retargeting_losses,
    find_page,
    mark_single_page,
    retarget_to_robot,
)
from posewright.formats.motion_format import MotionFormat, WriteOptions
from posewright.formats.oda.archive import (
    EntryKind,
    OdaArchive,
    OdaEntry,
    format_entry_count,
    pluralize,
    suffix_of,
)
from posewright.formats.oda.assembly import FileNames
from posewright.formats.oda.files import read_archive_file
from posewright.formats.oda.format import MAX_UNPACKED_BYTES, document_of, motion_of, plain_entry
from posewright.formats.omtn.document import OMTN
from posewright.formats.registry import format_named
from posewright.hazards import find_faults, require_no_faults
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named

MAX_LISTED = 20
"""Most names that are listed; more are counted."""

ProgressCallback = Callable[[int, int], None]
"""Is called with the number of steps done and the number of all steps."""


@dataclass(frozen=True)
class ExtractedEntry:
    """An entry and the file it was written to."""

    number: int
    name: str
    kind: EntryKind
    file: Path

    def to_dict(self) -> dict[str, object]:
        """Return the entry as plain data."""
        return {
            "number": self.number,
            "name": self.name,
            "holds": self.kind.value,
            "file": str(self.file),
        }


@dataclass(frozen=True)
class Extraction:
    """The report of an extraction.

    Attributes:
        files: the entries written to files.
        placeholders: names of entries that are placeholders without a motion.
        no_motions: names of entries that are no motions and so were not written in a motion format.
        failed: descriptions of the errors of entries that could not be extracted.
        losses: descriptions of what the format cannot hold, after the entry's name.
        remarks: remarks on motions carried over to another robot, after the entry's name.
        faults: errors of `motion check` in converted motions, after the entry's name; they were accepted.
    """

    files: tuple[ExtractedEntry, ...] = ()
    placeholders: tuple[str, ...] = ()
    no_motions: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def to_dict(self, folder: Path) -> dict[str, object]:
        """Return the report for a folder as plain data."""
        return {
            "folder": str(folder),
            "files": [entry.to_dict() for entry in self.files],
            "placeholders": list(self.placeholders),
            "other_entries": list(self.no_motions),
            "failed": list(self.failed),
            "losses": list(self.losses),
            "remarks": list(self.remarks),
            "faults": list(self.faults),
        }

    def lines(self, folder: Path) -> Lines:
        """Yield the number of files written, those with another name, and the entries left out."""
        yield f"{len(self.files)} {pluralize('file', len(self.files))} -> {folder}"
        renamed = [entry for entry in self.files if not entry.file.name.startswith(f"{entry.name}.")]
        if len(renamed) <= MAX_LISTED:
            yield from (f"  {escape_unprintable(entry.name)} -> {entry.file.name}" for entry in renamed)
        omitted = (
            (self.placeholders, "placeholders, which hold no motion"),
            (self.no_motions, "no motions"),
        )
        for names, reason in omitted:
            if not names:
                continue
            if len(names) <= MAX_LISTED:
                names_text = ", ".join(map(escape_unprintable, names))
            else:
                names_text = format_entry_count(len(names))
            yield f"  left out, as they are {reason}: {names_text}"


def extract_archive(
    archive: OdaArchive | Path | str,
    folder: Path | str,
    entries: Sequence[PageReference] = (),
    *,
    format: str | None = None,  # noqa: A002 - as in write_motion
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    accept_faults: bool = False,
    overwrite: bool = False,
    on_progress: ProgressCallback | None = None,
) -> Extraction:
    """Write the entries of an archive to files in a folder, which is created if needed.

    Motions are unpacked from gzip. Placeholders and damaged entries are left out and reported, and so are
    motions in which `motion check` reports errors if they are converted to files that robots play. Nothing
    is written before all entries have been converted.

    Args:
        archive: the archive, or its file.
        folder: the folder to write to.
        entries: names or numbers of entries, from 1; by default all.
        format: name of the motion format to write; by default all entries are written unchanged.
        robot: the robot to carry the motions over to.
        accept_loss: whether what the format cannot hold may be lost.
        accept_faults: whether motions with errors of `motion check` are converted, too.
        overwrite: whether existing files are replaced.
        on_progress: is called with the progress.

    Raises:
        LossError: something would be lost, and `accept_loss` is false; nothing is written.
        OutputError: a file exists already, or the folder cannot be written to.
        UnknownNameError: there is no such entry, format or robot.
        FormatError: several entries have the name, the archive cannot be read, or its entries have more than
            `MAX_UNPACKED_BYTES` in all.
    """
    archive = archive if isinstance(archive, OdaArchive) else read_archive_file(archive)
    folder = Path(folder)
    card = robot_named(robot) if isinstance(robot, str) else robot
    is_unchanged = card is None and format in (None, OMTN)
    motion_format = None if is_unchanged else format_named(format or OMTN)
    converter = _EntryConverter(archive, folder, motion_format, robot=card, accept_faults=accept_faults)
    numbers = _resolve_numbers(archive, entries)
    for n_converted, number in enumerate(numbers, 1):
        converter.convert(number)
        if on_progress is not None:
            on_progress(n_converted, 2 * len(numbers))  # writing the files is the second half
    if converter.losses and not accept_loss:
        message = f"{len(converter.losses)} things would be lost, the first of {converter.losses[0]}"
        hint = "accept_loss=True writes it all the same"
        raise LossError(message, where=Where(archive.path), hint=hint, losses=tuple(converter.losses))
    _write_files(converter, overwrite=overwrite, on_progress=on_progress)
    return Extraction(
        tuple(converter.files),
        placeholders=tuple(converter.placeholders),
        no_motions=tuple(converter.no_motions),
        failed=tuple(converter.failed),
        losses=tuple(converter.losses),
        remarks=tuple(converter.remarks),
        faults=tuple(converter.faults),
    )


@dataclass
class _EntryConverter:
    """Converts entries to files in memory, and notes those that cannot be converted.

    Attributes:
        archive: the archive.
        folder: the folder of the files.
        format: the motion format to write, None to leave entries unchanged.
        robot: the robot to carry motions over to, None for none.
        accept_faults: whether motions with errors of `motion check` are converted to files that robots play.
        file_names: chooses the names of the files.
        files: the bytes of each file.
        n_bytes: total size of the files so far.

    The other attributes are as in `Extraction`.
    """

    archive: OdaArchive
    folder: Path
    format: MotionFormat | None
    robot: Robot | None
    accept_faults: bool
    file_names: FileNames = field(default_factory=FileNames)
    files: dict[ExtractedEntry, bytes] = field(default_factory=dict)
    n_bytes: int = 0
    placeholders: list[str] = field(default_factory=list)
    no_motions: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def convert(self, number: int) -> None:
        """Convert the entry with a number, from 1, and add it to `files`, or to the entries left out.

        Raises:
            FormatError: the files have more than `MAX_UNPACKED_BYTES` in all.
        """
        entry = self.archive.entries[number - 1]
        kind = entry.content.kind
        if kind is EntryKind.PLACEHOLDER:
            self.placeholders.append(entry.name)
            return
        if kind is not EntryKind.MOTION and self.format is not None:
            self.no_motions.append(entry.name)
            return
        try:
            suffix, data = self._convert_entry(number, entry, kind)
        except (InputError, UnsafeMotionError) as error:
            self.failed.append(str(error))
            return
        self.n_bytes += len(data)
        if self.n_bytes > MAX_UNPACKED_BYTES:
            message = f"its first {number} entries unpack to more than {MAX_UNPACKED_BYTES:,} bytes"
            raise FormatError(message, where=Where(self.archive.path), hint="name fewer entries")
        file = self.folder / self.file_names.choose_name(entry.name, suffix)
        self.files[ExtractedEntry(number, entry.name, kind, file)] = data

    def _convert_entry(self, number: int, entry: OdaEntry, kind: EntryKind) -> tuple[str, bytes]:
        """Return the suffix and the bytes of an entry's file: unpacked from gzip, a motion also converted."""
        if kind is not EntryKind.MOTION:
            return suffix_of(kind, entry.type), plain_entry(entry, number, self.archive)
        document = document_of(entry, number, self.archive)
        if self.format is None:
            return suffix_of(kind, entry.type), document.plain_bytes
        motion = mark_single_page(motion_of(document, number, self.archive, self.archive.path))
        return self._convert_motion(motion, entry.name, self.format)

    def _convert_motion(self, motion: Motion, entry_name: str, target: MotionFormat) -> tuple[str, bytes]:
        """Return the suffix and the bytes of a motion's file in another format, for `robot` if one is set.

        Adds what is lost to `losses`, the remarks on the other robot to `remarks`, and accepted faults to
        `faults`.

        Raises:
            UnsafeMotionError: robots play files of the format, and `motion check` reports errors.
        """
        retargeted = retarget_to_robot(motion, self.robot)
        if target.is_played_by_robots:
            faults = find_faults(retargeted.motion)
            require_no_faults(faults, entry_name, accept_faults=self.accept_faults)
            self.faults += [f"{entry_name}: {fault}" for fault in faults]
        suffix = target.suffixes[0]
        path = Path(f"{retargeted.motion.name}{suffix}")
        rendering = target.render(retargeted.motion, path, WriteOptions())
        losses = (*describe_retargeting_losses(retargeted), *rendering.losses)
        self.losses += [f"{entry_name}: {loss}" for loss in losses]
        self.remarks += [f"{entry_name}: {remark}" for remark in retargeted.remarks]
        return suffix, rendering.data


def _resolve_numbers(archive: OdaArchive, entries: Sequence[PageReference]) -> list[int]:
    """Return the sorted numbers of entries given by name or number, of all entries if none are given."""
    if not entries:
        return list(range(1, len(archive.entries) + 1))
    names = {number: entry.name for number, entry in enumerate(archive.entries, 1)}
    where = Where(archive.path)
    return sorted({find_page(entry, names, last=len(names), where=where) for entry in entries})


def _write_files(
    converter: _EntryConverter, *, overwrite: bool, on_progress: ProgressCallback | None
) -> None:
    """Write the converted files to the folder, which is created if needed, and report the progress.

    Raises:
        OutputError: a file exists and must not be overwritten, or the folder cannot be created.
    """
    folder = converter.folder
    existing = [] if overwrite else _find_existing(folder, [entry.file.name for entry in converter.files])
    if existing:
        count = f" and {len(existing) - 1} more" if len(existing) > 1 else ""
        message = f"{existing[0]}{count} would be overwritten"
        raise OutputError(message, where=Where(folder), hint="overwrite=True replaces existing files")
    create_folder(folder)
    n_files = len(converter.files)
    for n_written, (entry, data) in enumerate(converter.files.items(), 1):
        write_atomically(entry.file, data, durable=False)
        if on_progress is not None:
            on_progress(n_files + n_written, 2 * n_files)  # converting the entries was the first half


def _find_existing(folder: Path, names: Sequence[str]) -> list[str]:
    """Return the names that exist in a folder already."""
    try:
        existing = {path.name for path in folder.iterdir()}
    except (OSError, ValueError):
        return []  # the folder does not exist yet, or writing to it will raise an error
    return [name for name in names if name in existing]
