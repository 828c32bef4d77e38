"""Reading the MONET files of a memory stick, and grouping them with their archives by robot model.

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

from posewright.display import format_count
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
STICK_FOLDER_NAME = "MS"  # the first part of a path as the robot sees it: the memory stick
DESIGNDB = "DESIGNDB.CFG"
COMMANDS = "MONETCMD.CFG"
TRANSITIONS = "MONET.CFG"
ARCHIVE = ".ODA"

MAX_FILES = 20_000  # a memory stick holds a few hundred files


@dataclass
class FoundFiles:
    """The files in searched folders by kind.

    Attributes:
        single_files: the files that were named one by one, of any kind.
    """

    designdbs: list[Path] = field(default_factory=list)
    commands: list[Path] = field(default_factory=list)
    transitions: list[Path] = field(default_factory=list)
    archives: list[Path] = field(default_factory=list)
    single_files: list[Path] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Add a file of a searched folder if it has one of the names of MONET files."""
        name = path.name.upper()
        lists = {DESIGNDB: self.designdbs, COMMANDS: self.commands, TRANSITIONS: self.transitions}
        if name in lists:
            lists[name].append(path)
        elif name.endswith(ARCHIVE):
            self.archives.append(path)


def search_files(paths: Iterable[Path]) -> FoundFiles:
    """Return the MONET files in folders and below, and the files among the paths.

    Raises:
        FormatError: there is no such file or folder, or it has too many files.
    """
    files = FoundFiles()
    for path in paths:
        if is_folder(path):
            for file in _files_in(path):
                files.add(file)
        elif path_exists(path):
            files.single_files.append(path)
        else:
            raise FormatError("there is no such file or folder", where=Where(path=path))
    return files


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and all below it, in a fixed order; links to folders are not followed."""
    n_files = 0
    for parent, folders, names in os.walk(folder):
        folders.sort()  # in place: os.walk visits them in this order
        n_files += len(names)
        if n_files > MAX_FILES:
            hint = "name the memory stick, or its OPEN-R folder"
            raise FormatError(f"more than {MAX_FILES:,} files", where=Where(path=folder), hint=hint)
        yield from (Path(parent) / name for name in sorted(names))


def find_stick_root(path: Path) -> Path | None:
    """Return the folder that is `/MS` on the robot: the one with the OPEN-R folder in which a path lies."""
    for start in (Path(os.path.normpath(path)), plain_absolute(path)):
        for folder in (start, *start.parents):
            if folder.name.upper() == OPEN_R:
                return folder.parent
    return None


def plain_absolute(path: Path) -> Path:
    """Return an absolute path without `..`; links are not resolved."""
    return Path(os.path.normpath(path.absolute()))


def find_stick(folder: Path) -> Path:
    """Return the memory stick of a folder: the folder itself, the folder `MS` in it, or one that contains it.

    A memory stick is the folder that contains OPEN-R.

    Raises:
        FormatError: there is no such folder, or none of these contains OPEN-R.
    """
    hint = "name the folder that contains OPEN-R"
    if not is_folder(folder):
        raise FormatError("there is no such folder", where=Where(path=folder), hint=hint)
    for candidate in (folder, find_child(folder, STICK_FOLDER_NAME)):
        if candidate is not None and find_child(candidate, OPEN_R) is not None:
            return candidate
    root = find_stick_root(folder)
    if root is None:
        message = "not a memory stick: it has no OPEN-R folder"
        raise FormatError(message, where=Where(path=folder), hint=hint)
    return root


def find_child(folder: Path, name: str) -> Path | None:
    """Return the item of a folder with a name, regardless of case; None if there is none."""
    try:
        items = sorted(folder.iterdir())
    except (OSError, ValueError):
        return None
    exact = folder / name
    if exact in items:
        return exact
    return next((item for item in items if item.name.upper() == name.upper()), None)


def find_on_stick(root: Path, path: str) -> Path | None:
    """Return the file on a stick that a path on the robot leads to, regardless of case.

    Returns None if there is no such file, or if the path does not begin with `/MS`, which is the stick.
    """
    first, *parts = [part for part in path.split("/") if part] or [""]
    if not path.startswith("/") or first.upper() != STICK_FOLDER_NAME or not parts or ".." in parts:
        return None
    file: Path | None = root
    for part in parts:
        file = find_child(file, part) if file is not None else None
    return file if file is not None and file.is_file() else None


def has_posture_file(folder: Path) -> bool:
    """Return whether a folder has a POSTURE.CFG, as with an older MoNet."""
    return find_child(folder, POSTURE_FILE) is not None


MAX_TEXT_BYTES = 1_000_000  # Sony's own files have 1 kB

_Document = TypeVar("_Document")


@dataclass
class Documents:
    """The files that were read; files that could not be read are among the findings."""

    designdbs: list[DesignDb] = field(default_factory=list)
    commands: list[MonetCommands] = field(default_factory=list)
    transitions: list[MonetTransitions] = field(default_factory=list)
    named_archives: list[MonetArchive] = field(default_factory=list)
    findings: list[MonetFinding] = field(default_factory=list)

    @classmethod
    def of(cls, files: FoundFiles) -> Documents:
        """Return the documents in some files; files that cannot be read become findings."""
        documents = cls()
        documents.designdbs += documents.read_each(files.designdbs, read_designdb_file)
        documents.commands += documents.read_each(files.commands, read_commands_file)
        documents.transitions += documents.read_each(files.transitions, _read_transitions_file)
        for document in documents.read_each(files.single_files, _read_single_file):
            documents._add(document)
        return documents

    def read_each(self, paths: list[Path], read: Callable[[Path], _Document]) -> Iterator[_Document]:
        """Yield the documents that can be read; others become findings."""
        for path in paths:
            try:
                yield read(path)
            except FormatError as fault:
                self.findings.append(_finding(fault, path))

    def find_named_archive(self, *kinds: EntryKind) -> MonetArchive | None:
        """Return the first archive with an entry of one of the kinds; None if there is none.

        Only archives that the user named one by one are searched, not those found in folders.
        """
        return next((archive for archive in self.named_archives if archive.holds(*kinds)), None)

    def _add(self, document: DesignDb | MonetCommands | MonetTransitions | MonetArchive) -> None:
        """Add a document that was named by itself to the list of its kind."""
        if isinstance(document, DesignDb):
            self.designdbs.append(document)
        elif isinstance(document, MonetCommands):
            self.commands.append(document)
        elif isinstance(document, MonetTransitions):
            self.transitions.append(document)
        else:
            self.named_archives.append(document)


def text_bytes(path: Path) -> bytes:
    """Return the bytes of a text file, which may be empty."""
    if is_file(path) and path.stat().st_size == 0:
        return b""
    return read_file_bytes(path, limit=MAX_TEXT_BYTES)


def read_designdb_file(path: Path) -> DesignDb:
    """Read a DESIGNDB.CFG from a file; errors as `read_designdb`."""
    return read_designdb(text_bytes(path), path)


def read_commands_file(path: Path) -> MonetCommands:
    """Read a MONETCMD.CFG from a file; raise a FormatError if it is no text."""
    data = text_bytes(path)
    _require_text(data, path)
    return read_commands(data, path)


def _read_transitions_file(path: Path) -> MonetTransitions:
    """Read a MONET.CFG from a file; raise a FormatError if it is no text."""
    data = text_bytes(path)
    _require_text(data, path)
    return read_transitions(data, path)


def _require_text(data: bytes, path: Path) -> None:
    """Raise a FormatError unless the data of a file is text."""
    if not is_text(data):
        raise FormatError("this is not a MONET file", where=Where(path=path, offset=0), hint=MONET_FILES_HINT)


MONET_FILES_HINT = "MONET files are DESIGNDB.CFG, MONETCMD.CFG, MONET.CFG and ODA archives"


def _read_single_file(path: Path) -> DesignDb | MonetCommands | MonetTransitions | MonetArchive:
    """Read a file of a kind that its first bytes, its suffix or its text show."""
    first_bytes = _first_bytes(path)
    if first_bytes.startswith(ARCHIVE_MARKS) or path.suffix.upper() == ARCHIVE:
        return read_monet_archive(path)
    data = text_bytes(path)
    if path.name.upper() != DESIGNDB:
        _require_text(data, path)
    return _parse_text(data, path)


def _first_bytes(path: Path) -> bytes:
    """Return the first bytes of a file; raises a FormatError for a pipe or a device."""
    try:
        with open_regular_file(path) as file:
            return file.read(max(map(len, ARCHIVE_MARKS)))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", where=Where(path=path)) from error


def _parse_text(data: bytes, path: Path) -> DesignDb | MonetCommands | MonetTransitions:
    """Parse a text as the kind of file that its lines show; if they show none, by the file's name."""
    name = path.name.upper()
    commands = read_commands(data, path)
    if is_command_list(commands):
        return commands
    if commands.agent_lines and all(line.word(0).startswith("monetagent") for line in commands.agent_lines):
        return read_transitions(data, path)
    if name.endswith(COMMANDS):
        return commands
    return read_transitions(data, path) if name.endswith(TRANSITIONS) else read_designdb(data, path)


def _finding(fault: FormatError, path: Path) -> MonetFinding:
    """Return the finding about a file that cannot be read."""
    where = fault.where or Where()
    offset = f" (byte {where.offset})" if where.offset else ""
    return MonetFinding(
        Level.ERROR,
        rule="file",
        message=fault.message + offset,
        path=path,
        line=where.line,
        hint=fault.hint or "",
    )


def missing_section_finding(folder: Path, designdb: DesignDb) -> MonetFinding:
    """Return the finding about a folder of MONET files for whose robot there is no section."""
    message = (
        f"there is no section for the robot whose files are in {plain_absolute(folder).name}: "
        "it finds no archive"
    )
    return MonetFinding(
        Level.WARNING, "path", message, designdb.path, hint=f"sections are {', '.join(designdb.models)}"
    )


def check_designdb(designdb: DesignDb, models: Collection[str]) -> Iterator[MonetFinding]:
    """Check the lines of a DESIGNDB.CFG, and whether their files are on the stick.

    Args:
        designdb: the parsed file.
        models: robot models whose MONET texts were read. A missing archive of one of these is an error; all
            other missing files together are one note.
    """
    unneeded_entries: list[DesignEntry] = []
    root = None if designdb.path is None else find_stick_root(designdb.path)
    for line in designdb.invalid_lines:
        message = f"neither a section, nor a key and a path: {quote_bytes(line.text)}"
        hint = f"expected [ERS-7], or {MOTIONS} /{STICK_FOLDER_NAME}/OPEN-R/..."
        yield warning("words", line, message, hint=hint)
    for entry in designdb.entries:
        if not entry.path.upper().startswith(f"/{STICK_FOLDER_NAME}/"):
            message = f"{quoted(entry.path)} is not on the memory stick"
            yield warning(
                "path",
                entry.line,
                message,
                hint=f"paths begin with /{STICK_FOLDER_NAME}/, which is the stick",
            )
        elif root is not None and find_on_stick(root, entry.path) is None:
            is_of_present_model = not entry.model or entry.model in models
            if not is_of_present_model or entry.key not in (MOTIONS, SOUNDS):
                unneeded_entries.append(entry)
                continue
            message = f"there is no {entry.path} on the stick"
            hint = f"/{STICK_FOLDER_NAME} is {root}"
            yield MonetFinding(Level.ERROR, "path", message, designdb.path, line=entry.line.number, hint=hint)
    if unneeded_entries:
        first_entry = unneeded_entries[0]
        message = f"there is no {first_entry.path} on the stick"
        n_others = len({entry.path for entry in unneeded_entries}) - 1
        if n_others:
            message += f", nor {format_count(n_others, 'other file')} named here"
        yield MonetFinding(
            Level.NOTE,
            "path",
            message,
            designdb.path,
            line=first_entry.line.number,
            hint=f"/{STICK_FOLDER_NAME} is {root}",
        )


MAX_ARCHIVES_TO_TRY = 4  # archives of a folder that are read if no DESIGNDB.CFG names one


def read_stick(*paths: Path | str) -> MemoryStick:
    """Read the MONET files in folders, and files one by one.

    In folders, files are recognised by their names, regardless of case; single files by their contents. Files
    that cannot be read become findings.

    Args:
        paths: a memory stick, its `OPEN-R` or `CONF` folder, or files that belong together.

    Raises:
        FormatError: there is no such file or folder, or no MONET file in it.
    """
    files = search_files(map(Path, paths))
    if not (files.designdbs or files.commands or files.transitions or files.single_files):
        message = f"no {DESIGNDB}, {COMMANDS} or {TRANSITIONS} here"
        hint = "name a memory stick, its OPEN-R folder, or the files themselves"
        raise FormatError(message, where=Where(path=Path(paths[0]) if paths else None), hint=hint)
    return _StickBuilder(files, Documents.of(files)).build()


@dataclass
class _StickBuilder:
    """Groups files into setups; adds findings to `documents`.

    Attributes:
        found_files: all files, by kind.
        documents: their contents.
        archives: those read from folders, by path; None if one cannot be read.
    """

    found_files: FoundFiles
    documents: Documents
    archives: dict[Path, MonetArchive | None] = field(default_factory=dict)

    def build(self) -> MemoryStick:
        """Return the stick with its setups and findings.

        A setup is a pair of MONET texts (MONETCMD.CFG, MONET.CFG) with the archives of motions and sounds
        that they play. Without any text, the only setup has the archives alone.

        Raises:
            FormatError: there are only files that are not MONET files.
        """
        documents = self.documents
        texts: tuple[MonetText, ...] = (*documents.commands, *documents.transitions)
        text_paths = [text.path for text in texts if text.path is not None]
        folders = dict.fromkeys(path.parent for path in text_paths)  # in their order, each once
        setups = tuple(setup for folder in folders for setup in self._build_setups(folder))
        if not setups:
            self._require_monet_files()
            self._add_note_on_missing_texts()
            setups = (self._build_setup_without_texts(),)

        models = {model for setup in setups for model in setup.models}
        for designdb in documents.designdbs:
            documents.findings += check_designdb(designdb, models)
        designdb_paths = [designdb.path for designdb in documents.designdbs if designdb.path is not None]
        return MemoryStick(
            setups,
            designdbs=tuple(documents.designdbs),
            findings=tuple(documents.findings),
            root=_first_stick_root(designdb_paths + text_paths),
        )

    def _build_setup_without_texts(self) -> MonetSetup:
        """Return a setup of the archives that the user named: the first of motions, and of sounds."""
        return MonetSetup(
            motions=self.documents.find_named_archive(EntryKind.MOTION),
            sounds=self.documents.find_named_archive(EntryKind.SOUND, EntryKind.MIDI),
        )

    def _require_monet_files(self) -> None:
        """Raise a FormatError if files were named one by one, and none of them is a MONET file."""
        files = self.found_files
        documents = self.documents
        has_known_files = files.designdbs or files.commands or files.transitions or documents.named_archives
        keys = [entry.key for designdb in documents.designdbs for entry in designdb.entries]
        if not has_known_files and not any(key.startswith("MONET") for key in keys):
            path = files.single_files[0]
            raise FormatError("this is not a MONET file", where=Where(path=path), hint=MONET_FILES_HINT)

    def _add_note_on_missing_texts(self) -> None:
        """Add a finding that there is neither a MONETCMD.CFG nor a MONET.CFG."""
        path = next((designdb.path for designdb in self.documents.designdbs), None)
        message = f"there is no {COMMANDS} and no {TRANSITIONS}, so nothing was looked up in the archives"
        self.documents.findings.append(MonetFinding(Level.NOTE, "file", message, path))

    def _build_setups(self, folder: Path) -> Iterator[MonetSetup]:
        """Yield the setups of the files in a folder, one for each set of archives.

        Robot models for which DESIGNDB.CFG names the same archives share a setup. A folder of a stick for
        whose robot there is no section becomes a finding.
        """
        designdb = self._find_designdb(folder)
        models = _find_models(folder, designdb)
        if designdb is not None and not models and find_stick_root(folder):
            self.documents.findings.append(missing_section_finding(folder, designdb))
        models_by_archives: dict[tuple[str | None, str | None], list[str]] = {}
        for model in models or ("",):  # an empty name if the models are not known
            archive_paths = (_entry_path(designdb, model, MOTIONS), _entry_path(designdb, model, SOUNDS))
            models_by_archives.setdefault(archive_paths, []).append(model)
        text_pairs = list(self._pair_text_files(folder))
        motion_kinds = (EntryKind.MOTION, EntryKind.PLACEHOLDER)
        sound_kinds = (EntryKind.SOUND, EntryKind.MIDI)
        for group in models_by_archives.values():
            motions = self._find_archive(designdb, model=group[0], key=MOTIONS, kinds=motion_kinds)
            sounds = self._find_archive(designdb, model=group[0], key=SOUNDS, kinds=sound_kinds)
            group_models = tuple(model for model in group if model)
            for commands, transitions in text_pairs:
                yield MonetSetup(
                    group_models,
                    commands,
                    transitions,
                    motions,
                    sounds,
                    is_older_monet=has_posture_file(folder),
                )

    def _pair_text_files(
        self, folder: Path
    ) -> Iterator[tuple[MonetCommands | None, MonetTransitions | None]]:
        """Yield the MONETCMD.CFG and MONET.CFG of a folder that belong together; None for a missing one.

        If there is a single MONET.CFG, it belongs to every MONETCMD.CFG. Of several it is unknown which
        belongs to which, so each file is yielded alone. In a folder of a stick, a missing file becomes a
        finding.
        """
        commands = [text for text in self.documents.commands if text.path and text.path.parent == folder]
        transitions = [
            text for text in self.documents.transitions if text.path and text.path.parent == folder
        ]
        if find_stick_root(folder) is not None:
            self._add_missing_file_warnings(folder)
        if len(transitions) == 1:
            yield from ((command_text, transitions[0]) for command_text in commands or (None,))
        else:
            yield from ((command_text, None) for command_text in commands)
            yield from ((None, transition_text) for transition_text in transitions)

    def _add_missing_file_warnings(self, folder: Path) -> None:
        """Add a warning for each of the two text files that a folder lacks."""
        for name, consequence in (
            (TRANSITIONS, "MoNet cannot leave the posture it starts in"),
            (COMMANDS, "programs have no commands to request"),
        ):
            if find_child(folder, name) is None:
                message = f"there is no {name} here: {consequence}"
                self.documents.findings.append(MonetFinding(Level.WARNING, "file", message, path=folder))

    def _find_designdb(self, folder: Path) -> DesignDb | None:
        """Return the DESIGNDB.CFG for a folder: one in it or above it, or the only one that was read.

        If none was read and the folder is on a stick, the file above the folder is read now.
        """
        designdbs = self.documents.designdbs
        for parent in (folder, folder.parent):
            for designdb in designdbs:
                if designdb.path is not None and designdb.path.parent == parent:
                    return designdb
        if len(designdbs) == 1:
            return designdbs[0]
        if designdbs or find_stick_root(folder) is None:
            return None
        path = find_child(plain_absolute(folder).parent, DESIGNDB)
        if path is None or path in self.found_files.designdbs:  # one of these could not be read
            return None
        return next(self.documents.read_each([path], read_designdb_file), None)

    def _find_archive(
        self, designdb: DesignDb | None, model: str, key: str, kinds: tuple[EntryKind, ...]
    ) -> MonetArchive | None:
        """Return the archive of a model: one that the user named, that of DESIGNDB.CFG, or the only one.

        None if none of them exists or can be read, or if several could be meant.

        Args:
            designdb: the DESIGNDB.CFG; None if there is none.
            model: the robot model; empty if it is not known.
            key: `MOTIONS` or `SOUNDS`, the key of the archive in DESIGNDB.CFG.
            kinds: kinds of entries of which the archive must have one.
        """
        if self.documents.named_archives:  # then no others are searched
            return self.documents.find_named_archive(*kinds)
        design_entry = None if designdb is None else designdb.archive(model, key)
        path = self._archive_path(designdb, design_entry)
        if path is not None:
            return self._read(path)
        if design_entry is not None:  # its file does not exist, and no other may stand in for it
            return None
        if len(self.found_files.archives) > MAX_ARCHIVES_TO_TRY:  # reading them all would take too long
            return None
        archives = [self._read(path) for path in self.found_files.archives]
        candidates = [archive for archive in archives if archive is not None and archive.holds(*kinds)]
        return candidates[0] if len(candidates) == 1 else None

    def _read(self, path: Path) -> MonetArchive | None:
        """Return the archive at a path, which is read once; None if it cannot be read."""
        if path not in self.archives:
            self.archives[path] = next(self.documents.read_each([path], read_monet_archive), None)
        return self.archives[path]

    def _archive_path(self, designdb: DesignDb | None, entry: DesignEntry | None) -> Path | None:
        """Return the file of an entry: on the stick, otherwise one of its name; None if there is none."""
        if designdb is None or designdb.path is None or entry is None:
            return None
        root = find_stick_root(designdb.path)
        if root is not None:
            return find_on_stick(root, entry.path)
        name = entry.path.rpartition("/")[2].upper()
        return next((path for path in self.found_files.archives if path.name.upper() == name), None)


def _first_stick_root(paths: Iterable[Path]) -> Path | None:
    """Return the memory stick of the first path that lies on one; None if none does."""
    roots = (find_stick_root(path) for path in paths)
    return next((root for root in roots if root is not None), None)


def _find_models(folder: Path, designdb: DesignDb | None) -> tuple[str, ...]:
    """Return the robot models of the MONET files in a folder.

    They are the models with a section in DESIGNDB.CFG whose usual folder has this folder's name. If the
    folder contains DESIGNDB.CFG itself, as with an older MoNet, they are all models with a section. Without a
    DESIGNDB.CFG they are the known models of the folder's name.
    """
    name = plain_absolute(folder).name.upper()
    models_of_folder = [
        model for model, robot_model in MODELS.items() if name in (robot_model.folder.upper(), model.upper())
    ]
    if designdb is None or not designdb.models:
        return tuple(models_of_folder)
    is_beside_designdb = designdb.path is not None and folder == designdb.path.parent
    if is_beside_designdb and find_stick_root(folder) is not None:
        return designdb.models
    return tuple(model for model in designdb.models if model in models_of_folder or model.upper() == name)


def _entry_path(designdb: DesignDb | None, model: str, key: str) -> str | None:
    """Return the path of a model's archive on the robot; None if no entry states it.

    Args:
        designdb: the DESIGNDB.CFG; None if there is none.
        model: the robot model; empty if it is not known.
        key: `MOTIONS` or `SOUNDS`, the key of the archive in DESIGNDB.CFG.
    """
    entry = None if designdb is None else designdb.archive(model, key)
    return None if entry is None else entry.path
