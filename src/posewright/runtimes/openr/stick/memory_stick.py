"""The MONET files of a memory stick: which belong together, and which archives they play from.

Source: formats.md section 1.3 and MoNetData.h of Sony's OPEN-R SDK: `OPEN-R/MW/CONF/DESIGNDB.CFG` names the
archives of each model, `OPEN-R/MW/CONF/<folder>/` holds its MONETCMD.CFG and MONET.CFG. An older MoNet has
these two beside DESIGNDB.CFG.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from posewright.documents import is_file, is_folder, open_regular_file, path_exists
from posewright.errors import FormatError, Where
from posewright.formats import ARCHIVE_MARKS, EntryKind, is_text, quote_bytes, read_file_bytes
from posewright.motions import Level
from posewright.runtimes.openr.stick.finding import MonetFinding, quoted, warning
from posewright.runtimes.openr.stick.limits import MODELS, POSTURE_FILE
from posewright.runtimes.openr.stick.setup import (
    MOTIONS,
    SOUNDS,
    DesignDb,
    DesignEntry,
    MemoryStick,
    MonetArchive,
    MonetSetup,
    read_designdb,
    read_monet_archive,
)
from posewright.runtimes.openr.stick.text import (
    MonetCommands,
    MonetText,
    MonetTransitions,
    is_command_list,
    read_commands,
    read_transitions,
)

OPEN_R = "OPEN-R"
STICK = "MS"  # the first part of a path as the robot sees it: the memory stick
DESIGNDB, COMMANDS, TRANSITIONS = "DESIGNDB.CFG", "MONETCMD.CFG", "MONET.CFG"
ARCHIVE = ".ODA"

MAX_FILES = 20_000  # a memory stick holds a few hundred files


@dataclass
class Found:
    """The files that were found, by what their names say; and those given by name, which content tells."""

    designdbs: list[Path] = field(default_factory=list)
    commands: list[Path] = field(default_factory=list)
    transitions: list[Path] = field(default_factory=list)
    archives: list[Path] = field(default_factory=list)
    given: list[Path] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Keep a file of a searched folder, if it is one of those looked for."""
        name = path.name.upper()
        lists = {DESIGNDB: self.designdbs, COMMANDS: self.commands, TRANSITIONS: self.transitions}
        if name in lists:
            lists[name].append(path)
        elif name.endswith(ARCHIVE):
            self.archives.append(path)


def search(paths: Iterable[Path]) -> Found:
    """Look through folders; files are kept as they are given."""
    found = Found()
    for path in paths:
        if is_folder(path):
            for file in _files_in(path):
                found.add(file)
        elif path_exists(path):
            found.given.append(path)
        else:
            raise FormatError("there is no such file or folder", where=Where(path=path))
    return found


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and all below it, in a fixed order; links to folders are not followed."""
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        count += len(names)
        if count > MAX_FILES:
            hint = "name the memory stick, or its OPEN-R folder"
            raise FormatError(f"more than {MAX_FILES:,} files", where=Where(path=folder), hint=hint)
        yield from (Path(place) / name for name in sorted(names))


def stick_root(path: Path) -> Path | None:
    """Return the folder that the robot calls `/MS`: the one that holds the OPEN-R folder a path lies in."""
    for given in (Path(os.path.normpath(path)), plain_absolute(path)):
        for folder in (given, *given.parents):
            if folder.name.upper() == OPEN_R:
                return folder.parent
    return None


def plain_absolute(path: Path) -> Path:
    """Return a path from the root of the file system, without `..` in it; links stay as they are."""
    return Path(os.path.normpath(path.absolute()))


def stick_in(folder: Path) -> Path:
    """Return the memory stick that a person means by a folder: it, one around it, or `MS` in it."""
    for candidate in (folder, child(folder, STICK)):
        if candidate is not None and child(candidate, OPEN_R) is not None:
            return candidate
    root = stick_root(folder) if is_folder(folder) else None
    if root is not None:
        return root
    raise FormatError(
        "no memory stick: there is no OPEN-R folder here" if is_folder(folder) else "there is no such folder",
        where=Where(path=folder),
        hint="name the folder that holds OPEN-R, as on the stick",
    )


def child(folder: Path, name: str) -> Path | None:
    """Return what a folder holds under a name, as a memory stick does: whatever the case."""
    try:
        held = sorted(folder.iterdir())
    except (OSError, ValueError):
        return None
    exact = folder / name
    return exact if exact in held else next((one for one in held if one.name.upper() == name.upper()), None)


def on_stick(root: Path, path: str) -> Path | None:
    """Return the file that the robot calls `path`; None where there is none, or it leads off the stick."""
    first, *parts = [part for part in path.split("/") if part] or [""]
    if not path.startswith("/") or first.upper() != STICK or not parts or ".." in parts:
        return None
    place: Path | None = root
    for part in parts:
        place = child(place, part) if place is not None else None
    return place if place is not None and place.is_file() else None


def has_posture_file(folder: Path) -> bool:
    """Tell whether a POSTURE.CFG lies in a folder, as an older MoNet has it."""
    return child(folder, POSTURE_FILE) is not None


MAX_TEXT_BYTES = 1_000_000  # Sony's own files have 1 kB

_Document = TypeVar("_Document")


@dataclass
class Documents:
    """The files, read; what could not be read is among the findings."""

    designdbs: list[DesignDb] = field(default_factory=list)
    commands: list[MonetCommands] = field(default_factory=list)
    transitions: list[MonetTransitions] = field(default_factory=list)
    given: list[MonetArchive] = field(default_factory=list)
    findings: list[MonetFinding] = field(default_factory=list)

    @classmethod
    def of(cls, found: Found) -> Documents:
        """Read what was found."""
        documents = cls()
        documents.designdbs += documents.each(found.designdbs, read_designdb_file)
        documents.commands += documents.each(found.commands, read_commands_file)
        documents.transitions += documents.each(found.transitions, _read_transitions_file)
        for document in documents.each(found.given, _read_by_content):
            documents._keep(document)
        return documents

    def each(self, paths: list[Path], read: Callable[[Path], _Document]) -> Iterator[_Document]:
        """Yield what can be read; what cannot becomes a finding."""
        for path in paths:
            try:
                yield read(path)
            except FormatError as fault:
                self.findings.append(_finding(fault, path))

    def archive_of(self, *kinds: EntryKind) -> MonetArchive | None:
        """Return the first of the archives named one by one that holds something of a kind."""
        return next((one for one in self.given if one.holds(*kinds)), None)

    def _keep(self, document: DesignDb | MonetCommands | MonetTransitions | MonetArchive) -> None:
        if isinstance(document, DesignDb):
            self.designdbs.append(document)
        elif isinstance(document, MonetCommands):
            self.commands.append(document)
        elif isinstance(document, MonetTransitions):
            self.transitions.append(document)
        else:
            self.given.append(document)


def text_bytes(path: Path) -> bytes:
    """Return what a text file holds, which may be nothing."""
    return b"" if is_file(path) and not path.stat().st_size else read_file_bytes(path, limit=MAX_TEXT_BYTES)


def read_designdb_file(path: Path) -> DesignDb:
    """Read a DESIGNDB.CFG from the disk; errors as `read_designdb`."""
    return read_designdb(text_bytes(path), path)


def read_commands_file(path: Path) -> MonetCommands:
    """Read a MONETCMD.CFG from the disk, or raise the FormatError that it is no text."""
    return read_commands(_readable(text_bytes(path), path), path)


def _read_transitions_file(path: Path) -> MonetTransitions:
    return read_transitions(_readable(text_bytes(path), path), path)


def _readable(data: bytes, path: Path) -> bytes:
    """Return `data` where it is text, or raise the FormatError that it is none."""
    if not is_text(data):
        hint = "those are DESIGNDB.CFG, MONETCMD.CFG, MONET.CFG and ODA archives"
        raise FormatError("this is no MONET file", where=Where(path=path, offset=0), hint=hint)
    return data


def _read_by_content(path: Path) -> DesignDb | MonetCommands | MonetTransitions | MonetArchive:
    magic = _magic(path)
    if magic.startswith(ARCHIVE_MARKS) or path.suffix.upper() == ARCHIVE:
        return read_monet_archive(path)
    data = text_bytes(path)
    if path.name.upper() != DESIGNDB:
        _readable(data, path)
    return _read_text(data, path)


def _magic(path: Path) -> bytes:
    """Return the first bytes of a file, without ever waiting for a pipe or a device."""
    try:
        with open_regular_file(path) as file:
            return file.read(4)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=Where(path=path)) from error


def _read_text(data: bytes, path: Path) -> DesignDb | MonetCommands | MonetTransitions:
    name = path.name.upper()
    commands = read_commands(data, path)
    if is_command_list(commands):
        return commands
    if commands.agents and all(line.word(0).startswith("monetagent") for line in commands.agents):
        return read_transitions(data, path)
    if name.endswith(COMMANDS):
        return commands
    return read_transitions(data, path) if name.endswith(TRANSITIONS) else read_designdb(data, path)


def _finding(fault: FormatError, path: Path) -> MonetFinding:
    where = fault.where or Where()
    at = f" (byte {where.offset})" if where.offset else ""
    return MonetFinding(Level.ERROR, "file", fault.message + at, path, where.line, fault.hint or "")


def nobodys(folder: Path, db: DesignDb) -> MonetFinding:
    """Return what is to be said of a folder of MONET files that no section speaks of."""
    what = f"no section is of the robot whose files lie in {plain_absolute(folder).name}: it finds no archive"
    return MonetFinding(Level.WARNING, "path", what, db.path, hint=f"sections are {', '.join(db.models)}")


def check_designdb(db: DesignDb, here: Collection[str]) -> Iterator[MonetFinding]:
    """Look at the lines of a DESIGNDB.CFG, and whether what they name is on the stick."""
    root = None if db.path is None else stick_root(db.path)
    for line in db.odd:
        hint = f"right is [ERS-7], or {MOTIONS} /{STICK}/OPEN-R/..."
        yield warning(
            "words", line, f"neither a section, nor a key and a path: {quote_bytes(line.text)}", hint
        )
    for entry in db.entries:
        if not entry.path.upper().startswith(f"/{STICK}/"):
            message = f"{quoted(entry.path)} is not on the memory stick"
            yield warning("path", entry.line, message, f"paths begin with /{STICK}/, which is the stick")
        elif root is not None and on_stick(root, entry.path) is None:
            is_ours = not entry.model or entry.model in here
            level = Level.ERROR if is_ours and entry.key in (MOTIONS, SOUNDS) else Level.NOTE
            message = f"there is no {entry.path} on the stick"
            hint = f"/{STICK} is {root}"
            yield MonetFinding(level, "path", message, db.path, entry.line.number, hint)


MOST_LOOSE = 4  # so many archives of a folder are looked into where nothing says which of them is meant


def read_stick(*paths: Path | str) -> MemoryStick:
    """Read the MONET files in folders, and files one by one.

    In folders they are known by their names, whatever the case; single files by what they hold. What cannot
    be read is among the findings.

    Args:
        paths: a memory stick, its `OPEN-R` or `CONF` folder, or files that are taken to belong together.

    Raises:
        FormatError: there is no such file or folder, or no MONET file in it.
    """
    found = search(map(Path, paths))
    if not (found.designdbs or found.commands or found.transitions or found.given):
        what = f"no {DESIGNDB}, {COMMANDS} or {TRANSITIONS} here"
        hint = "name a memory stick, its OPEN-R folder, or the files themselves"
        raise FormatError(what, where=Where(path=Path(paths[0]) if paths else None), hint=hint)
    return _Assembly(found, Documents.of(found)).stick()


@dataclass
class _Assembly:
    """Puts files together; the findings of `documents` grow on the way."""

    found: Found
    documents: Documents
    archives: dict[Path, MonetArchive | None] = field(default_factory=dict)

    def stick(self) -> MemoryStick:
        documents = self.documents
        texts: tuple[MonetText, ...] = (*documents.commands, *documents.transitions)
        folders = dict.fromkeys(text.path.parent for text in texts if text.path is not None)
        setups = tuple(setup for folder in folders for setup in self._setups(folder))
        if not setups:
            self._refuse_strangers()
            self._say_there_is_nothing()
            sounds = documents.archive_of(EntryKind.SOUND, EntryKind.MIDI)
            setups = (MonetSetup(motions=documents.archive_of(EntryKind.MOTION), sounds=sounds),)
        here = {model for setup in setups for model in setup.models}
        for db in documents.designdbs:
            documents.findings += check_designdb(db, here)
        paths = [db.path for db in documents.designdbs] + [text.path for text in texts]
        roots = (root for path in paths if path and (root := stick_root(path)))
        return MemoryStick(setups, tuple(documents.designdbs), tuple(documents.findings), next(roots, None))

    def _refuse_strangers(self) -> None:
        """Raise FormatError where files were named one by one, and none of them is a stick's."""
        found, documents = self.found, self.documents
        known = found.designdbs or found.commands or found.transitions or documents.given
        keys = (entry.key for db in documents.designdbs for entry in db.entries)
        if not known and not any(key.startswith("MONET") for key in keys):
            hint = "those are DESIGNDB.CFG, MONETCMD.CFG, MONET.CFG and ODA archives"
            raise FormatError("this is no MONET file", where=Where(path=found.given[0]), hint=hint)

    def _say_there_is_nothing(self) -> None:
        path = next((db.path for db in self.documents.designdbs), None)
        message = f"there is no {COMMANDS} and no {TRANSITIONS}: nothing to look up"
        self.documents.findings.append(MonetFinding(Level.NOTE, "file", message, path))

    def _setups(self, folder: Path) -> Iterator[MonetSetup]:
        """Yield what belongs together of the files in a folder, once for each set of archives."""
        db = self._designdb(folder)
        models = _models(folder, db)
        if db is not None and not models and stick_root(folder):
            self.documents.findings.append(nobodys(folder, db))
        groups: dict[tuple[str | None, str | None], list[str]] = {}
        for model in models or ("",):
            groups.setdefault((_path(db, model, MOTIONS), _path(db, model, SOUNDS)), []).append(model)
        pairs = list(self._pairs(folder))
        for group in groups.values():
            motions = self._archive(db, group[0], MOTIONS, (EntryKind.MOTION, EntryKind.PLACEHOLDER))
            sounds = self._archive(db, group[0], SOUNDS, (EntryKind.SOUND, EntryKind.MIDI))
            named = tuple(model for model in group if model)
            for commands, transitions in pairs:
                yield MonetSetup(named, commands, transitions, motions, sounds, has_posture_file(folder))

    def _pairs(self, folder: Path) -> Iterator[tuple[MonetCommands | None, MonetTransitions | None]]:
        commands = [one for one in self.documents.commands if one.path and one.path.parent == folder]
        transitions = [one for one in self.documents.transitions if one.path and one.path.parent == folder]
        if stick_root(folder) is not None:
            self._note_missing(folder)
        if len(transitions) == 1:
            yield from ((one, transitions[0]) for one in commands or (None,))
        else:
            yield from ((one, None) for one in commands)
            yield from ((None, one) for one in transitions)

    def _note_missing(self, folder: Path) -> None:
        for name, without in (
            (TRANSITIONS, "MoNet knows no way out of the posture it starts in"),
            (COMMANDS, "no program can ask for anything"),
        ):
            if child(folder, name) is None:
                message = f"there is no {name} here: {without}"
                self.documents.findings.append(MonetFinding(Level.WARNING, "file", message, folder))

    def _designdb(self, folder: Path) -> DesignDb | None:
        """Return the DESIGNDB.CFG that speaks of a folder: in it or above it, or the only one there is."""
        known = self.documents.designdbs
        for place in (folder, folder.parent):
            for db in known:
                if db.path is not None and db.path.parent == place:
                    return db
        if len(known) == 1:
            return known[0]
        path = child(plain_absolute(folder).parent, DESIGNDB) if stick_root(folder) else None
        if known or path is None or path in self.found.designdbs:
            return None
        return next(self.documents.each([path], read_designdb_file), None)

    def _archive(
        self, db: DesignDb | None, model: str, key: str, kinds: tuple[EntryKind, ...]
    ) -> MonetArchive | None:
        """Return the archive of a model: one that was named, or what DESIGNDB.CFG says, or the only one."""
        named = self.documents.archive_of(*kinds)
        if named is not None or self.documents.given:
            return named
        entry = None if db is None else db.archive(model, key)
        path = self._place(db, entry)
        if path is not None:
            return self._read(path)
        if entry is not None or len(self.found.archives) > MOST_LOOSE:
            return None
        loose = [one for one in map(self._read, self.found.archives) if one is not None and one.holds(*kinds)]
        return loose[0] if len(loose) == 1 else None

    def _read(self, path: Path) -> MonetArchive | None:
        if path not in self.archives:
            self.archives[path] = next(self.documents.each([path], read_monet_archive), None)
        return self.archives[path]

    def _place(self, db: DesignDb | None, entry: DesignEntry | None) -> Path | None:
        if db is None or db.path is None or entry is None:
            return None
        root = stick_root(db.path)
        if root is not None:
            return on_stick(root, entry.path)
        name = entry.path.rpartition("/")[2].upper()
        return next((path for path in self.found.archives if path.name.upper() == name), None)


def _models(folder: Path, db: DesignDb | None) -> tuple[str, ...]:
    name = plain_absolute(folder).name.upper()
    fitting = [model for model, known in MODELS.items() if name in (known.folder.upper(), model.upper())]
    if db is None or not db.models:
        return tuple(fitting)
    if db.path is not None and folder == db.path.parent and stick_root(folder):
        return db.models
    return tuple(model for model in db.models if model in fitting or model.upper() == name)


def _path(db: DesignDb | None, model: str, key: str) -> str | None:
    entry = None if db is None else db.archive(model, key)
    return None if entry is None else entry.path
