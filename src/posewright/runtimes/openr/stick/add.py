"""`aibo add`: from any motion file to a memory stick that plays it; all files are written, or none."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from posewright.display import Lines
from posewright.documents import lock_folders, path_exists, require_writable, write_atomically
from posewright.errors import FormatError, OutputError, UnknownNameError, UnsafeCommandError, Where
from posewright.formats import Compression, GzipWrapping, PageReference
from posewright.motions import Level, Motion
from posewright.robots import Robot
from posewright.runtimes.openr.stick.check import check_setup
from posewright.runtimes.openr.stick.command_checks import check_commands, free_id
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.jumps import JUMP
from posewright.runtimes.openr.stick.limits import MOTION_AGENT
from posewright.runtimes.openr.stick.lookup import lines_of, target_of, used_places
from posewright.runtimes.openr.stick.memory_stick import (
    OPEN_R,
    child,
    plain_absolute,
    read_commands_file,
    read_stick,
    stick_in,
)
from posewright.runtimes.openr.stick.request import Registration, caption, fitted, motion_to_add, name_for
from posewright.runtimes.openr.stick.setup import MonetArchive, MonetSetup, read_monet_archive
from posewright.runtimes.openr.stick.text import AgentLine, MonetCommands


@dataclass(frozen=True)
class Change:
    """The files as they will be.

    Attributes:
        place: of the motion in the archive, from 0.
        findings: warnings that were not there before, and notes on what the change leaves behind.
    """

    archive: MonetArchive
    commands: MonetCommands
    place: int
    findings: tuple[MonetFinding, ...]


def taken_in(setup: MonetSetup, wanted: Registration, data: bytes, *, overwrite: bool = False) -> Change:
    """Return the files with a motion in the archive and a command that plays it.

    Every other entry keeps its bytes and its place, every other line its bytes.
    """
    archive, commands = _needed(setup)
    packed = GzipWrapping().wrap(data) if archive.archive.compression is Compression.ENTRIES else data
    _refuse_taken_id(commands, wanted.id, overwrite=overwrite)
    if not _is_left(setup, archive, wanted.name, packed):
        _refuse_taken_name(setup, archive, wanted, overwrite=overwrite)
    changed = MonetArchive(archive.archive.with_entry(wanted.name, packed), archive.path)
    listed = _listed(commands, wanted)
    _refuse_unread(listed, wanted.id)
    after = replace(setup, motions=changed, commands=listed)
    found = (*new_findings(setup, after), *_left_unplayed(setup, after, wanted.id))
    for finding in found:
        if finding.level is Level.ERROR:
            raise FormatError(
                f"the robot could not play it, so nothing is written: {finding.message}",
                where=Where(path=finding.path),
                hint=finding.hint or None,
            )
    return Change(changed, listed, changed.archive.place(wanted.name), found)


def _listed(commands: MonetCommands, wanted: Registration) -> MonetCommands:
    """Return the list with the command at its end, or in the place of that of its id."""
    old = commands.with_id(wanted.id)
    if not old:
        return commands.with_command(wanted.head, wanted.lines, wanted.comment)
    retold = {caption(line.name): caption(wanted.name) for line in old[-1].agents}
    return commands.with_replaced(wanted.id, wanted.head, wanted.lines, retold)


def new_findings(before: MonetSetup, after: MonetSetup) -> tuple[MonetFinding, ...]:
    """Return the errors and warnings that a change brings, wherever its lines have moved to.

    But for jumps: whether the new motion may jump is settled before.
    """
    known = Counter(_said(finding) for finding in check_setup(before))
    new = []
    for finding in check_setup(after):
        known[_said(finding)] -= 1
        if known[_said(finding)] < 0 and finding.level is not Level.NOTE and finding.rule != JUMP:
            new.append(finding)
    return tuple(new)


def _left_unplayed(before: MonetSetup, after: MonetSetup, number: int) -> Iterator[MonetFinding]:
    """Yield a note on a motion that the replaced command played, and nothing plays any more."""
    replaced = () if before.commands is None else before.commands.with_id(number)
    still = used_places(after)
    for line in (line for command in replaced for line in command.agents):
        target = target_of(line, before)
        if (
            target
            and target.place is not None
            and target.archive is before.motions
            and target.place not in still
        ):
            message = f"{line.name} stays in the archive, though nothing plays it any more"
            yield MonetFinding(Level.NOTE, "unused", message, target.archive.path)


def _said(finding: MonetFinding) -> tuple[Level, str, str]:
    return finding.level, finding.rule, re.sub(r"line \d+", "line", finding.message)


def _needed(setup: MonetSetup) -> tuple[MonetArchive, MonetCommands]:
    path = next((text.path for text in (setup.commands, setup.transitions) if text is not None), None)
    if setup.commands is None:
        raise FormatError("there is no MONETCMD.CFG beside this", where=Where(path=path))
    if setup.motions is None:
        hint = "the lines MONET_MOTION of DESIGNDB.CFG say where it is; posewright aibo check tells more"
        raise FormatError("no archive of motions belongs to this", where=Where(path=path), hint=hint)
    return setup.motions, setup.commands


def _refuse_unread(commands: MonetCommands, number: int) -> None:
    """Refuse a file in which MoNet would take the new command for lines of another, which wants more."""
    head = commands.with_id(number)[-1].head.line.number
    if head in commands.heads_read:
        return
    faults = (one for one in check_commands(commands, older=True) if one.level is Level.ERROR)
    first = next((one for one in faults if one.rule == "count"), None)
    raise FormatError(
        "MoNet would not find the new command" + (f": {first.message}" if first else ""),
        where=Where(path=commands.path, line=first.line if first else None),
        hint="put this right first; posewright aibo check tells what else is wrong",
    )


def _refuse_taken_id(commands: MonetCommands, number: int, *, overwrite: bool) -> None:
    taken = commands.with_id(number)
    if taken and not overwrite:
        names = " and ".join(line.name for line in taken[-1].agents) or "nothing"
        what = f"id {number} plays {names}"
        hint = f"a free id is {free_id(commands)}; --replace puts the new one in its place"
        raise FormatError(what, where=Where(path=commands.path, line=taken[-1].head.line.number), hint=hint)


def _refuse_taken_name(
    setup: MonetSetup, archive: MonetArchive, wanted: Registration, *, overwrite: bool
) -> None:
    places = set(_called(archive, wanted.name))
    if not places:
        return
    if not overwrite:
        what = f"a motion called {wanted.name!r} is in the archive already"
        hint = "give this one another --name; --replace puts it in the place of the other"
        raise FormatError(what, where=Where(path=archive.path), hint=hint)
    if places != {archive.archive.places.get(wanted.name)}:
        what = f"what is called {wanted.name!r} lies in an entry of another name, or in several"
        raise FormatError(what, where=Where(path=archive.path), hint="give this one another --name")
    for line in _players(setup, places, wanted.id):
        what = f"{wanted.name!r} is played by more than command {wanted.id}: also here"
        hint = "give this one another --name"
        raise FormatError(what, where=Where(path=line.line.path, line=line.line.number), hint=hint)


def _is_left(setup: MonetSetup, archive: MonetArchive, name: str, data: bytes) -> bool:
    """Tell whether this very motion is there and nothing plays it: its adding was cut short."""
    places = set(_called(archive, name))
    is_same = places == {archive.archive.places.get(name)} and archive.archive.entry(name).data == data
    return is_same and not any(_players(setup, places, -1))


def _called(archive: MonetArchive, name: str) -> Iterator[int]:
    """Yield the places of the entries called so, and of those whose motion calls itself so."""
    for place, (entry, label) in enumerate(zip(archive.entries, archive.labels, strict=True)):
        if entry.name == name or (label is not None and label.name == name):
            yield place


def _players(setup: MonetSetup, places: Collection[int], number: int) -> Iterator[AgentLine]:
    """Yield the lines that play entries, but for those of the commands of one id."""
    listed = () if setup.commands is None else setup.commands.with_id(number)
    own = {line for command in listed for line in command.agents}
    for line in lines_of(setup):
        target = target_of(line, setup)
        if line not in own and target and target.archive is setup.motions and target.place in places:
            yield line


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files in their order, read each back, and if one fails put back what was there.

    Each is written atomically, so that whatever happens it is the old one or the new one.

    Raises:
        OutputError: one of them cannot be written; then none has changed.
    """
    for path in files:
        require_writable(path)
    before = {path: path.read_bytes() if path_exists(path) else None for path in files}
    written: list[Path] = []
    try:
        for path, data in files.items():
            written.append(path)
            write_atomically(path, data)
            if path.read_bytes() != data:
                raise OutputError("what was written cannot be read back as it was", where=Where(path=path))
    except BaseException:
        for path in reversed(written):
            _put_back(path, before[path])
        raise


def _put_back(path: Path, data: bytes | None) -> None:
    with contextlib.suppress(OutputError, OSError):
        if data is None:
            path.unlink(missing_ok=True)
        elif not path_exists(path) or path.read_bytes() != data:
            write_atomically(path, data)


StickPlace: TypeAlias = "Path | str | tuple[Path | str, Path | str]"
"""The folder that holds `OPEN-R`; or an ODA archive and a MONETCMD.CFG."""


@dataclass(frozen=True)
class Home:
    """The files of one robot, and the folder below which they keep their places."""

    setup: MonetSetup
    root: Path | None = None  # of a stick, the folder that holds `OPEN-R`; None where the files lie anywhere

    def below(self, output: Path, path: Path) -> Path:
        """Return where a file goes in a folder that is to be like this."""
        if self.root is None:
            return output / path.name
        return output / plain_absolute(path).relative_to(plain_absolute(self.root))


def home_at(place: StickPlace, model: str) -> Home:
    """Read the files of a model."""
    if isinstance(place, tuple):
        archive, commands = map(Path, place)
        return Home(MonetSetup((model,), read_commands_file(commands), None, read_monet_archive(archive)))
    root = stick_in(Path(place))
    return Home(_setup_on(root, model), root)


def changed_files(setup: MonetSetup) -> Iterator[Path]:
    """Yield the files that are changed, whose folders are locked meanwhile."""
    for file in (setup.commands, setup.motions):
        if file is not None and file.path is not None:
            yield file.path


def _setup_on(root: Path, model: str) -> MonetSetup:
    stick = read_stick(child(root, OPEN_R) or root)
    setup = stick.setup(model)
    if setup is not None:
        return setup
    for finding in stick.findings:
        if finding.level is Level.ERROR:
            where = Where(path=finding.path, line=finding.line)
            raise FormatError(finding.message, where=where, hint=finding.hint or None)
    known = [name for one in stick.setups for name in one.models]
    raise UnknownNameError.among("robot with MONET files on this stick", model, known, where=Where(path=root))


DEFAULT_MODEL = "ERS-7"


@dataclass(frozen=True)
class Added:
    """What was added, and where.

    Attributes:
        id: by which a program asks for it.
        place: of the motion in the archive, from 0.
        losses: what of the motion the robot cannot do, in words.
        remarks: what had to be filled in or said in another way, in words.
        findings: what is to be said of the new command, short of an error.
    """

    id: int
    name: str
    model: str
    archive: Path
    commands: Path
    place: int
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    findings: tuple[MonetFinding, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return what was added, fit for JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "model": self.model,
            "archive": str(self.archive),
            "index": self.place,
            "commands": str(self.commands),
            "losses": list(self.losses),
            "remarks": list(self.remarks),
            "findings": [finding.data() for finding in self.findings],
        }

    def lines(self) -> Lines:
        """Yield where the motion and its command went, and what is only to be known of it."""
        yield f"{self.name} -> {self.archive}, index {self.place}"
        yield f"command {self.id} -> {self.commands}"
        for remark in self.remarks:
            yield f"  note: {remark}"
        for finding in self.findings:
            if finding.level is Level.NOTE:
                yield f"  note: {finding.message}"


def add_to_stick(
    motion: Motion | Path | str,
    stick: StickPlace,
    *,
    id: int,  # noqa: A002 -- the word people look for
    name: str | None = None,
    model: str = DEFAULT_MODEL,
    agent: str = MOTION_AGENT,
    sound: str | None = None,
    sync: bool = False,
    overwrite: bool = False,
    page: PageReference | None = None,
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    accept_jump: bool = False,
    output: Path | str | None = None,
) -> Added:
    """Add a motion to the archive of a memory stick, and register it in the robot's list of commands.

    Everything is tried before anything is written; if the second file cannot be written, the first is put
    back. Other motions and other lines keep their bytes.

    Args:
        motion: the motion, or a file of any format that is read.
        stick: the folder that holds `OPEN-R`; or an ODA archive and a MONETCMD.CFG, without a stick. Then
            sounds and the ways between postures are not looked up.
        id: by which programs ask for it: `MoNetExecute(60)`.
        name: what it is to be called; default its own name, if that says where it begins and ends.
        model: which robot's files: ERS-7, ERS-210, ERS-220.
        agent: who plays it: monetagentMTN, or monetagentMTNWALK for steps.
        sound: a sound of the stick to go with it.
        sync: whether both begin together.
        overwrite: whether a command of that id, and its motion, may be replaced.
        page: which motion of the file.
        robot: whose motion it is, where the file does not say.
        accept_loss: whether what the robot cannot do may be left out.
        accept_jump: whether it may begin or end far from the postures that its name says.
        output: a folder to write to, in place of the stick: both files lie in it as on the stick, ready to
            be copied there.

    Raises:
        FormatError: the id or the name is taken, or the robot could not play it; there is no stick; the
            motion cannot be read.
        LossError: something would be lost, and `accept_loss` is false.
        UnsafeCommandError: the robot would jump, and `accept_jump` is false.
        UnknownNameError: the stick has no files for that model, or there is no such agent.
        OutputError: it cannot be written.
    """
    read = motion_to_add(motion, page, robot)
    wanted = Registration(id, name_for(read, name), agent, sound, sync)
    path = None if isinstance(motion, Motion) else Path(motion)
    said, found = fitted(read, model, wanted.name, accept_loss=accept_loss, path=path)
    with lock_folders(*changed_files(home_at(stick, model).setup)):
        home = home_at(stick, model)
        change = taken_in(home.setup, wanted, said.data, overwrite=overwrite)
        _refuse_jumps(found, path or Path(wanted.name), accept_jump=accept_jump)
        archive, commands = _written(change, home, None if output is None else Path(output))
    findings = (*found, *change.findings)
    return Added(id, wanted.name, model, archive, commands, change.place, said.losses, said.remarks, findings)


def _refuse_jumps(found: tuple[MonetFinding, ...], path: Path, *, accept_jump: bool) -> None:
    jump = next((one for one in found if one.rule == JUMP and one.level is Level.ERROR), None)
    if jump is not None and not accept_jump:
        hint = f"{jump.hint}; accept_jump=True adds it all the same"
        raise UnsafeCommandError(jump.message, where=Where(path=path), hint=hint)


def _written(change: Change, home: Home, output: Path | None) -> tuple[Path, Path]:
    archive, commands = change.archive.path, change.commands.path or Path()
    if output is not None:
        archive, commands = home.below(output, archive), home.below(output, commands)
        for path in (archive, commands):
            _refuse_earlier(path)
        for path in (archive, commands):
            path.parent.mkdir(parents=True, exist_ok=True)
    # the archive first: were this stopped between the two, there would only be a motion that nobody asks for
    write_all({archive: change.archive.archive.render(), commands: change.commands.render()})
    return archive, commands


def _refuse_earlier(path: Path) -> None:
    if path_exists(path):
        what = "something was written here before, and would be lost"
        hint = "name another folder, or copy this one to the stick first"
        raise OutputError(what, where=Where(path=path), hint=hint)
