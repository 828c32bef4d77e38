"""The MONET files of a memory stick: which belong together, and which archives they play from.

Source: formats.md section 1.3 and MoNetData.h of Sony's OPEN-R SDK: `OPEN-R/MW/CONF/DESIGNDB.CFG` names the
archives of each model, `OPEN-R/MW/CONF/<folder>/` holds its MONETCMD.CFG and MONET.CFG. An older MoNet has
these two beside DESIGNDB.CFG.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.oda.archive import EntryKind
from posewright.formats.text_lines import show
from posewright.motions import Level
from posewright.sticks.files import (
    COMMANDS,
    DESIGNDB,
    STICK,
    TRANSITIONS,
    Documents,
    Found,
    child,
    has_posture_file,
    on_stick,
    plain_absolute,
    read_designdb_file,
    search,
    stick_root,
)
from posewright.sticks.finding import MonetFinding, quoted, warning
from posewright.sticks.limits import MODELS
from posewright.sticks.setup import (
    MOTIONS,
    SOUNDS,
    DesignDb,
    DesignEntry,
    MemoryStick,
    MonetArchive,
    MonetSetup,
    read_monet_archive,
)
from posewright.sticks.text import MonetCommands, MonetText, MonetTransitions


def nobodys(folder: Path, db: DesignDb) -> MonetFinding:
    """Return what is to be said of a folder of MONET files that no section speaks of."""
    what = f"no section is of the robot whose files lie in {plain_absolute(folder).name}: it finds no archive"
    return MonetFinding(Level.WARNING, "path", what, db.path, hint=f"sections are {', '.join(db.models)}")


def check_designdb(db: DesignDb, here: Collection[str]) -> Iterator[MonetFinding]:
    """Look at the lines of a DESIGNDB.CFG, and whether what they name is on the stick."""
    root = None if db.path is None else stick_root(db.path)
    for line in db.odd:
        hint = f"right is [ERS-7], or {MOTIONS} /{STICK}/OPEN-R/..."
        yield warning("words", line, f"neither a section, nor a key and a path: {show(line.text)}", hint)
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


MOST_LOOSE = 4
"""So many archives of a folder are looked into where nothing says which of them is meant."""


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
            self._say_there_is_nothing()
            sounds = documents.archive_of(EntryKind.SOUND, EntryKind.MIDI)
            setups = (MonetSetup(motions=documents.archive_of(EntryKind.MOTION), sounds=sounds),)
        here = {model for setup in setups for model in setup.models}
        for db in documents.designdbs:
            documents.findings += check_designdb(db, here)
        paths = [db.path for db in documents.designdbs] + [text.path for text in texts]
        roots = (root for path in paths if path and (root := stick_root(path)))
        return MemoryStick(setups, tuple(documents.designdbs), tuple(documents.findings), next(roots, None))

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
    """Return the models whose files lie in a folder."""
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
