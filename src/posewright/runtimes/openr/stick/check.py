"""`aibo check`: everything that is wrong with the MONET files of a robot, and with how they fit together.

Source of the ways between postures: formats.md section 1.3; Sony's MoNet.cc and DirectedGraph.h. MoNet starts
in posture nt, and before a command looks for ways to the posture it begins in. Ways are the lines of
MONET.CFG, and commands that begin and end in different postures. What ends in `any` leads nowhere
(`Postures.leads_on`); a command that begins in `any` and ends in a posture is no way, but the robot that has
played it is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from posewright.formats import TextLine
from posewright.motions import Level
from posewright.runtimes.openr.stick.command_checks import check_commands, check_transitions
from posewright.runtimes.openr.stick.finding import MonetFinding, error, quoted, warning
from posewright.runtimes.openr.stick.limits import (
    AGENT_LINES,
    AGENTS,
    ANY,
    FIRST_POSTURE,
    NOWHERE,
    POSTURES,
    SOUND_AGENT,
    Postures,
    postures_of,
)
from posewright.runtimes.openr.stick.lookup import check_lookups, lines_of, used_places
from posewright.runtimes.openr.stick.memory_stick import read_stick
from posewright.runtimes.openr.stick.setup import MemoryStick, MonetArchive, MonetSetup
from posewright.runtimes.openr.stick.text import AgentLine, Command, MonetCommands, MonetTransitions

MAX_POSTURES = 100  # MoNet itself tells six apart; a file with so many is no longer one for a robot


@dataclass(frozen=True)
class Way:
    """A way between two postures, and the line that gives it.

    Attributes:
        agents: who plays what on it: the line itself, or those of the command that begins there.
    """

    postures: Postures
    line: TextLine
    agents: tuple[AgentLine, ...]


def command_postures(command: Command) -> Postures:
    """Return where a command begins and ends: as its motion does; anywhere where it has only a sound."""
    motion = next((line for line in command.agents if line.agent != SOUND_AGENT), None)
    return NOWHERE if motion is None else postures_of(motion.name)


def way_of(command: Command) -> Way:
    """Return a command as a way, which it may be from a posture to the same."""
    return Way(command_postures(command), command.head.line, command.agents[:AGENT_LINES])


@dataclass(frozen=True)
class PostureGraph:
    """Postures and the ways between them."""

    ways: tuple[Way, ...]
    begins: dict[str, tuple[Command, ...]]  # of each posture, the commands that begin in it
    set_by_command: tuple[str, ...] = ()  # the postures that a command played anywhere ends in

    @classmethod
    def of(
        cls, transitions: MonetTransitions, commands: MonetCommands | None, *, older: bool
    ) -> PostureGraph:
        """Return the graph of two files; an `older` MoNet may know any posture, others only theirs."""
        said = [
            Way(postures_of(line.name), line.line, (line,))
            for line in transitions.agents
            if line.agent != SOUND_AGENT
        ]
        listed = () if commands is None else commands.commands
        said += map(way_of, listed)
        ways = (way for way in said if way.postures.leads_on and (older or set(way.postures) <= POSTURES))
        begins: dict[str, tuple[Command, ...]] = {}
        for command in listed:
            start = command_postures(command).start
            if start and start != ANY and (older or start in POSTURES):
                begins[start] = (*begins.get(start, ()), command)
        anywhere = (said for said in map(command_postures, listed) if said.begins_anywhere)
        ends = dict.fromkeys(said.end for said in anywhere if older or said.end in POSTURES)
        return cls(tuple(ways), begins, tuple(ends))

    @cached_property
    def ends(self) -> dict[str, tuple[str, ...]]:
        """Of each posture that ways lead out of, where they lead to."""
        found: dict[str, dict[str, None]] = {}
        for way in self.ways:
            found.setdefault(way.postures.start, {})[way.postures.end] = None
        return {start: tuple(ends) for start, ends in found.items()}

    @cached_property
    def reached(self) -> tuple[str, ...]:
        """The postures the robot can get into, the first one included."""
        return self.reached_from(FIRST_POSTURE, *self.set_by_command)

    def route(self, start: str, goal: str) -> tuple[Way, ...] | None:
        """Return the fewest ways that lead from one posture to another; None where there are none.

        Of several as short, the one whose lines come first is taken.
        """
        routes: dict[str, tuple[Way, ...]] = {start: ()}
        pending = [start]
        while pending and goal not in routes:
            here = pending.pop(0)
            for way in self.ways:
                if way.postures.start == here and way.postures.end not in routes:
                    routes[way.postures.end] = (*routes[here], way)
                    pending.append(way.postures.end)
        return routes.get(goal)

    def reached_from(self, *postures: str) -> tuple[str, ...]:
        """Return the postures that ways lead to from some, and these."""
        found, pending = dict.fromkeys(postures), [*postures]
        while pending:
            new = [end for end in self.ends.get(pending.pop(0), ()) if end not in found]
            found.update(dict.fromkeys(new))
            pending += new
        return tuple(found)


def check_graph(
    transitions: MonetTransitions, commands: MonetCommands | None, *, older: bool
) -> Iterator[MonetFinding]:
    """Look for postures the robot cannot get into, or out of."""
    graph = PostureGraph.of(transitions, commands, older=older)
    if len(graph.ends) > MAX_POSTURES:
        what = f"{len(graph.ends)} postures: their ways were not looked at"
        yield MonetFinding(Level.WARNING, "graph", what, transitions.path)
        return
    if FIRST_POSTURE not in graph.ends and not graph.set_by_command:
        what = (
            f"no way leads out of {FIRST_POSTURE}, the posture MoNet starts in: "
            "it plays only what begins in any posture"
        )
        hint = f"Sony's own has monetagentNEUTRAL a_{FIRST_POSTURE}#sleep_standard 0"
        yield MonetFinding(Level.ERROR, "graph", what, transitions.path, hint=hint)
        return
    yield from _into_any(transitions)
    yield from _unreached(graph)
    yield from _left_for_ever(graph)


def _into_any(transitions: MonetTransitions) -> Iterator[MonetFinding]:
    for line in transitions.agents:
        said = postures_of(line.name)
        if line.agent != SOUND_AGENT and said.said and said.start != ANY and said.end == ANY:
            what = f"{line.name} ends in {ANY}, which is no posture to go to, so this way is never taken"
            yield warning("graph", line.line, what, "say the posture it ends in")


def _unreached(graph: PostureGraph) -> Iterator[MonetFinding]:
    for posture, commands in graph.begins.items():
        if posture not in graph.reached:
            what = f"no way leads to {posture}, where {_ids(commands)} begins: MoNet refuses it"
            hint = f"write one in MONET.CFG, as monetagentMTN a_{graph.reached[-1]}#{posture}_standard -1"
            yield error("graph", commands[0].head.line, what, hint)
    for way in graph.ways:
        start = way.postures.start
        if start not in graph.reached and start not in graph.begins:
            yield warning("graph", way.line, f"no way leads to {start}, so this one is never taken")


def _left_for_ever(graph: PostureGraph) -> Iterator[MonetFinding]:
    dead_ends = [posture for posture in graph.reached[1:] if posture not in graph.ends]
    for posture in dead_ends if len(graph.reached) > 2 else ():
        into = next(way for way in graph.ways if way.postures.end == posture)
        back = next(other for other in graph.reached[1:] if other != posture)
        what = f"no way leads out of {posture}: once there, the robot plays only what begins there"
        yield warning("graph", into.line, what, f"a way back would be called a_{posture}#{back}_standard")
    for posture, commands in graph.begins.items():
        lost = [
            other
            for other in graph.reached[1:]
            if other not in dead_ends and posture not in graph.reached_from(other)
        ]
        if posture in graph.reached[1:] and lost:
            what = f"from {_in_words(lost)} no way leads to {posture}, where {_ids(commands)} begins"
            yield warning("graph", commands[0].head.line, what)


def _ids(commands: Collection[Command]) -> str:
    ids = [command.head.word(0) for command in commands]
    return f"command {ids[0]}" if len(ids) == 1 else f"each of the commands {_in_words(ids)}"


def _in_words(words: Iterable[str], most: int = 8) -> str:
    *first, last = words
    if len(first) >= most:
        return f"{', '.join(first[:most])} and {len(first) + 1 - most} more"
    return f"{', '.join(first)} and {last}" if first else last


MOST_NAMED = 10  # more names than this in one sentence tell a person nothing more
_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}

MOST_FINDINGS = 200  # more findings of one kind of check are not told: the file is none of a robot


def check_monet(*where: MemoryStick | Path | str) -> tuple[MonetFinding, ...]:
    """Check MONET files: a memory stick, its `OPEN-R` or `CONF` folder, or files one by one.

    What is wrong in a file that several models share is told once, and says which models it holds for.

    Args:
        where: what `read_stick` gave, or folders and files to be read.

    Returns:
        What was found: by file, by line, and of one line errors first.

    Raises:
        FormatError: there is no such file, or no MONET file in the folder.
    """
    sticks = [one for one in where if isinstance(one, MemoryStick)]
    paths = [one for one in where if not isinstance(one, MemoryStick)]
    if paths:
        sticks.append(read_stick(*paths))
    found = [finding for stick in sticks for finding in stick.findings]
    found += [
        finding
        for stick in sticks
        for setup in stick.setups
        for finding in check_setup(setup, most=MOST_FINDINGS)
    ]
    return tuple(sorted(_once(found), key=_place))


def check_setup(setup: MonetSetup, *, most: int | None = None) -> Iterator[MonetFinding]:
    """Check files that belong together; stop one kind of check after `most` findings."""
    for check in _checks(setup):
        count = 0
        for finding in islice(check, most):
            yield replace(finding, models=setup.models)
            count += 1
        if count == most:
            message = f"more than {most} findings: the others of this kind are not told"
            yield replace(finding, level=Level.NOTE, rule="file", message=message, line=None, hint="")


def _checks(setup: MonetSetup) -> Iterator[Iterator[MonetFinding]]:
    if setup.commands is not None:
        yield check_commands(setup.commands, older=setup.older)
    if setup.transitions is not None:
        yield check_transitions(setup.transitions, older=setup.older)
        yield check_graph(setup.transitions, setup.commands, older=setup.older)
    yield check_lookups(setup)
    yield _not_looked_up(setup)
    if setup.motions is not None:
        yield _check_archive(setup, setup.motions)


def _not_looked_up(setup: MonetSetup) -> Iterator[MonetFinding]:
    for archive, plays, what in ((setup.motions, "OMTN", "motions"), (setup.sounds, "WAVE", "sounds")):
        lines = [
            line for line in lines_of(setup) if line.agent in AGENTS and AGENTS[line.agent].plays == plays
        ]
        if archive is None and lines:
            message = f"{what} were not looked up: no archive of them was read"
            yield MonetFinding(Level.NOTE, "file", message, lines[0].line.path)


def _check_archive(setup: MonetSetup, archive: MonetArchive) -> Iterator[MonetFinding]:
    path = archive.path
    for name in archive.twice[:MOST_NAMED]:
        message = f"several motions call themselves {quoted(name)}: the robot finds the first"
        yield MonetFinding(Level.WARNING, "name", message, path, hint="give each a name of its own")
    yield from _check_entry_names(archive)
    used = used_places(setup)
    unused = [label.name for place, label in archive.motions.items() if place not in used]
    if unused and setup.commands is not None:
        of = f"{len(unused)} of {len(archive.motions)} motions"
        message = f"{of} are played by no line: {_listed(unused)}"
        yield MonetFinding(Level.NOTE, "unused", message, path)


def _check_entry_names(archive: MonetArchive) -> Iterator[MonetFinding]:
    differ = [
        f"{quoted(archive.entries[place].name)} holds {quoted(label.name)}"
        for place, label in archive.motions.items()
        if (entry := postures_of(archive.entries[place].name)).said
        and (own := postures_of(label.name)).said
        and own != entry
    ]
    if differ:
        message = f"entries whose name says other postures than the motion in them: {_listed(differ)}"
        hint = "MoNet looks up the motion's own name"
        yield MonetFinding(Level.WARNING, "posture", message, archive.path, hint=hint)


def _once(findings: Iterable[MonetFinding]) -> list[MonetFinding]:
    """Return findings of several models once, with all the models they hold for."""
    merged: dict[MonetFinding, tuple[str, ...]] = {}
    for finding in findings:
        key = replace(finding, models=())
        merged[key] = tuple(dict.fromkeys((*merged.get(key, ()), *finding.models)))
    return [replace(finding, models=models) for finding, models in merged.items()]


def _place(finding: MonetFinding) -> tuple[str, int, int]:
    return (str(finding.path or ""), finding.line or 0, _ORDER[finding.level])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
