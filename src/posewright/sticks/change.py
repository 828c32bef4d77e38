"""A motion taken into the files of a robot: what they will be, before anything is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from posewright.errors import FormatError, Where
from posewright.formats.binary import Wrapping
from posewright.formats.oda.archive import Compression
from posewright.motions import Level
from posewright.sticks.check import check_setup
from posewright.sticks.command_checks import check_commands, free_id
from posewright.sticks.finding import MonetFinding
from posewright.sticks.lookup import lines_of, target_of, used_places
from posewright.sticks.request import Registration, caption
from posewright.sticks.setup import MonetArchive, MonetSetup
from posewright.sticks.text import AgentLine, MonetCommands


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
    _refuse_taken_id(commands, wanted.id, overwrite=overwrite)
    _refuse_taken_name(setup, archive, wanted, overwrite=overwrite)
    packed = Wrapping().around(data) if archive.archive.compression is Compression.ENTRIES else data
    changed = MonetArchive(archive.archive.with_entry(wanted.name, packed), archive.path)
    listed = _listed(commands, wanted)
    _refuse_unread(listed, wanted.id)
    after = replace(setup, motions=changed, commands=listed)
    found = (*new_findings(setup, after), *_left_unplayed(setup, after, wanted.id))
    for finding in found:
        if finding.level is Level.ERROR:
            raise FormatError(
                f"the robot could not play it: {finding.message}",
                where=Where(path=finding.path, line=finding.line),
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
    """Return the errors and warnings that a change brings, wherever its lines have moved to."""
    known = Counter(_said(finding) for finding in check_setup(before))
    new = []
    for finding in check_setup(after):
        known[_said(finding)] -= 1
        if known[_said(finding)] < 0 and finding.level is not Level.NOTE:
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
        hint = "the lines MONET_MOTION of DESIGNDB.CFG say where it is; posewright monet check tells more"
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
        hint="put this right first; posewright monet check tells what else is wrong",
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
