"""Taking an archive apart: each entry to a file of its own, as it is or in another motion format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from posewright.display import Lines
from posewright.documents import write_atomically
from posewright.errors import FormatError, InputError, LossError, OutputError, Where, escape_unprintable
from posewright.formats.motion_file import (
    PageReference,
    carry_to_robot,
    describe_carrying_losses,
    find_page,
    mark_single_page,
)
from posewright.formats.motion_format import MotionFormat, WriteOptions
from posewright.formats.oda.archive import (
    EntryKind,
    OdaArchive,
    OdaEntry,
    entries_counted,
    plural,
    suffix_of,
)
from posewright.formats.oda.assembly import FileNames
from posewright.formats.oda.files import read_archive_file
from posewright.formats.oda.format import MOST_UNPACKED_BYTES, document_of, motion_of, plain_entry
from posewright.formats.omtn.document import OMTN
from posewright.formats.registry import format_named
from posewright.robots import Robot
from posewright.robots import robot as robot_named

MOST_LISTED = 20  # more names than this are counted, not listed

Tell = Callable[[int, int], None]  # told how much of how much is done


@dataclass(frozen=True)
class Extracted:
    """An entry and its file."""

    number: int
    name: str
    kind: EntryKind
    file: Path

    def to_dict(self) -> dict[str, object]:
        """Return it fit for JSON."""
        return {
            "number": self.number,
            "name": self.name,
            "holds": self.kind.value,
            "file": str(self.file),
        }


@dataclass(frozen=True)
class Extraction:
    """What came of taking an archive apart.

    Attributes:
        placeholders: names of entries that hold no motion but keep the place of one.
        others: names of entries that are no motions, where a motion format was asked for.
        failed: what is wrong with the entries that could not be taken out, in words.
        losses: what the format cannot hold, in words, with the name of the motion before it.
        remarks: what is doubtful about motions that were carried over to another robot, likewise.
    """

    files: tuple[Extracted, ...] = ()
    placeholders: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self, folder: Path) -> dict[str, object]:
        """Return what was written into a folder, and what was not, fit for JSON."""
        return {
            "folder": str(folder),
            "files": [
                {
                    "number": entry.number,
                    "name": entry.name,
                    "holds": entry.kind.value,
                    "file": str(entry.file),
                }
                for entry in self.files
            ],
            "placeholders": list(self.placeholders),
            "other_entries": list(self.others),
            "failed": list(self.failed),
            "losses": list(self.losses),
            "remarks": list(self.remarks),
        }

    def lines(self, folder: Path) -> Lines:
        """Yield how many files were written into a folder, which were renamed, and what was left out."""
        yield f"{len(self.files)} {plural('file', len(self.files))} -> {folder}"
        renamed = [entry for entry in self.files if not entry.file.name.startswith(f"{entry.name}.")]
        if len(renamed) <= MOST_LISTED:
            yield from (f"  {escape_unprintable(entry.name)} -> {entry.file.name}" for entry in renamed)
        left_out = (
            (self.placeholders, "placeholders, which hold no motion"),
            (self.others, "no motions"),
        )
        for names, reason in left_out:
            if names:
                is_short = len(names) <= MOST_LISTED
                listed = (
                    ", ".join(map(escape_unprintable, names)) if is_short else entries_counted(len(names))
                )
                yield f"  left out, as they are {reason}: {listed}"


def extract_archive(
    archive: OdaArchive | Path | str,
    folder: Path | str,
    entries: Sequence[PageReference] = (),
    *,
    format: str | None = None,  # noqa: A002 - as in write_motion
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    overwrite: bool = False,
    tell: Tell | None = None,
) -> Extraction:
    """Write the entries of an archive to files in a folder, which is made if need be.

    Motions are taken out of gzip. A placeholder, and an entry that is damaged, is left out and told.
    Nothing is written before everything is ready.

    Args:
        archive: what is taken apart, or its file.
        folder: where to.
        entries: names or numbers, from 1; default all.
        format: name of a motion format to write the motions in; default as they are, and the rest too.
        robot: the robot to carry the motions over to.
        accept_loss: whether what the format cannot hold may be left out.
        overwrite: whether files that stand there may be replaced.
        tell: is told of progress.

    Raises:
        LossError: something would be lost, and `accept_loss` is false; nothing is written.
        OutputError: a file stands there already, or the folder cannot be written to.
        UnknownNameError: there is no such entry, format or robot.
        FormatError: several entries are called so, or the archive cannot be read; or more than
            `MOST_UNPACKED_BYTES` would come out of it at once.
    """
    archive = archive if isinstance(archive, OdaArchive) else read_archive_file(archive)
    folder = Path(folder)
    card = robot_named(robot) if isinstance(robot, str) else robot
    as_they_are = card is None and format in (None, OMTN)
    work = _Work(archive, folder, None if as_they_are else format_named(format or OMTN), card)
    chosen = _chosen(archive, entries)
    for i, number in enumerate(chosen):
        work.take(number)
        if tell is not None:
            tell(i + 1, 2 * len(chosen))
    if work.losses and not accept_loss:
        what = f"{len(work.losses)} things would be lost, the first of {work.losses[0]}"
        hint = "accept_loss=True writes it all the same"
        raise LossError(what, where=Where(archive.path), hint=hint, losses=tuple(work.losses))
    _write(work, overwrite=overwrite, tell=tell)
    told = (work.placeholders, work.others, work.failed, work.losses, work.remarks)
    return Extraction(tuple(work.made), *map(tuple, told))


@dataclass
class _Work:
    """Turns entries into files, and sorts out those of which none can be made."""

    archive: OdaArchive
    folder: Path
    format: MotionFormat | None
    robot: Robot | None
    names: FileNames = field(default_factory=FileNames)
    made: dict[Extracted, bytes] = field(default_factory=dict)
    size: int = 0
    placeholders: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def take(self, number: int) -> None:
        """Turn the entry of that number into a file, if it can be one."""
        entry = self.archive.entries[number - 1]
        kind = entry.contents.kind
        if kind is EntryKind.PLACEHOLDER:
            self.placeholders.append(entry.name)
        elif kind is not EntryKind.MOTION and self.format is not None:
            self.others.append(entry.name)
        else:
            try:
                suffix, data = self._file(number, entry, kind)
            except InputError as error:
                self.failed.append(str(error))
                return
            self.size += len(data)
            if self.size > MOST_UNPACKED_BYTES:
                what = f"its first {number} entries are more than {MOST_UNPACKED_BYTES:,} bytes, taken out"
                raise FormatError(
                    what, where=Where(self.archive.path), hint="name the entries that are wanted"
                )
            file = self.folder / self.names.name(entry.name, suffix)
            self.made[Extracted(number, entry.name, kind, file)] = data

    def _file(self, number: int, entry: OdaEntry, kind: EntryKind) -> tuple[str, bytes]:
        if kind is not EntryKind.MOTION:
            return suffix_of(kind, entry.type), plain_entry(entry, number, self.archive)
        document = document_of(entry, number, self.archive)
        if self.format is None:
            return suffix_of(kind, entry.type), document.plain
        motion = mark_single_page(motion_of(document, number, self.archive, self.archive.path))
        carried = carry_to_robot(motion, self.robot)
        motion = carried.motion
        suffix = self.format.suffixes[0]
        rendering = self.format.render(motion, Path(f"{motion.name}{suffix}"), WriteOptions())
        lost = (*describe_carrying_losses(carried), *rendering.losses)
        self.losses += [f"{entry.name}: {what}" for what in lost]
        self.remarks += [f"{entry.name}: {what}" for what in carried.remarks]
        return suffix, rendering.data


def _chosen(archive: OdaArchive, entries: Sequence[PageReference]) -> list[int]:
    """Return the numbers of the entries that were asked for, each once, in the order of the table."""
    if not entries:
        return list(range(1, len(archive.entries) + 1))
    names = {number: entry.name for number, entry in enumerate(archive.entries, 1)}
    where = Where(archive.path)
    return sorted({find_page(entry, names, last=len(names), where=where) for entry in entries})


def _write(work: _Work, *, overwrite: bool, tell: Tell | None) -> None:
    folder = work.folder
    there = [] if overwrite else _standing(folder, [made.file.name for made in work.made])
    if there:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        what = f"{there[0]}{more} would be written over"
        raise OutputError(what, where=Where(folder), hint="overwrite=True does it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in its name
        reason = error.strerror if isinstance(error, OSError) else None
        what = f"cannot be made: {reason or error}"
        raise OutputError(what, where=Where(folder), hint="name a folder") from error
    for i, (made, data) in enumerate(work.made.items()):
        write_atomically(made.file, data, durable=False)
        if tell is not None:
            tell(len(work.made) + i + 1, 2 * len(work.made))


def _standing(folder: Path, names: Sequence[str]) -> list[str]:
    try:
        there = {path.name for path in folder.iterdir()}
    except (OSError, ValueError):
        return []  # no such folder yet, or whoever writes to it will say what is wrong
    return [name for name in names if name in there]
