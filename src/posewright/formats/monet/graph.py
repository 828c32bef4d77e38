"""The ways between postures: which the robot can get into, and which it can never leave.

Source: formats.md section 1.3; Sony's MoNet.cc and DirectedGraph.h. MoNet starts in posture nt, and before a
command looks for ways to the posture it begins in. Ways are the lines of MONET.CFG, and commands that begin
and end in different postures. What ends in `any` leads nowhere (`Postures.leads_on`); a command that begins
in `any` and ends in a posture is no way, but the robot that has played it is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from posewright.formats.monet.finding import MonetFinding, error, warning
from posewright.formats.monet.limits import ANY, FIRST_POSTURE, POSTURES, SOUND_AGENT
from posewright.formats.monet.names import NOWHERE, Postures, postures_of
from posewright.formats.monet.text import Command, MonetCommands, MonetTransitions
from posewright.formats.text_lines import Line
from posewright.motions import Level

MAX_POSTURES = 100
"""MoNet itself tells six apart; a file with so many is no longer one for a robot."""


@dataclass(frozen=True)
class Way:
    """A way between two postures, and the line that gives it."""

    postures: Postures
    line: Line


def command_postures(command: Command) -> Postures:
    """Return where a command begins and ends: as its motion does; anywhere where it has only a sound."""
    motion = next((line for line in command.agents if line.agent != SOUND_AGENT), None)
    return NOWHERE if motion is None else postures_of(motion.name)


@dataclass(frozen=True)
class PostureGraph:
    """Postures and the ways between them.

    Attributes:
        ways: in the order of the files.
        begins: of each posture, the commands that begin in it.
        set_by_command: the postures that a command played anywhere ends in.
    """

    ways: tuple[Way, ...]
    begins: dict[str, tuple[Command, ...]]
    set_by_command: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, transitions: MonetTransitions, commands: MonetCommands | None, *, older: bool
    ) -> PostureGraph:
        """Return the graph of two files; an `older` MoNet may know any posture, others only theirs."""
        said = [
            Way(postures_of(line.name), line.line) for line in transitions.agents if line.agent != SOUND_AGENT
        ]
        listed = () if commands is None else commands.commands
        said += [Way(command_postures(command), command.head.line) for command in listed]
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
        yield MonetFinding(
            Level.WARNING,
            "graph",
            f"{len(graph.ends)} postures: their ways were not looked at",
            transitions.path,
        )
        return
    if FIRST_POSTURE not in graph.ends and not graph.set_by_command:
        yield MonetFinding(
            Level.ERROR,
            "graph",
            f"no way leads out of {FIRST_POSTURE}, the posture MoNet starts in: "
            "it plays only what begins in any posture",
            transitions.path,
            hint=f"Sony's own has monetagentNEUTRAL a_{FIRST_POSTURE}#sleep_standard 0",
        )
        return
    yield from _into_any(transitions)
    yield from _unreached(graph)
    yield from _left_for_ever(graph)


def _into_any(transitions: MonetTransitions) -> Iterator[MonetFinding]:
    for line in transitions.agents:
        said = postures_of(line.name)
        if line.agent != SOUND_AGENT and said.said and said.start != ANY and said.end == ANY:
            yield warning(
                "graph",
                line.line,
                f"{line.name} ends in {ANY}, which is no posture to go to, so this way is never taken",
                "say the posture it ends in",
            )


def _unreached(graph: PostureGraph) -> Iterator[MonetFinding]:
    for posture, commands in graph.begins.items():
        if posture not in graph.reached:
            yield error(
                "graph",
                commands[0].head.line,
                f"no way leads to {posture}, where {_ids(commands)} begins: MoNet refuses it",
                f"write one in MONET.CFG, as monetagentMTN a_{graph.reached[-1]}#{posture}_standard -1",
            )
    for way in graph.ways:
        start = way.postures.start
        if start not in graph.reached and start not in graph.begins:
            yield warning("graph", way.line, f"no way leads to {start}, so this one is never taken")


def _left_for_ever(graph: PostureGraph) -> Iterator[MonetFinding]:
    dead_ends = [posture for posture in graph.reached[1:] if posture not in graph.ends]
    for posture in dead_ends if len(graph.reached) > 2 else ():
        into = next(way for way in graph.ways if way.postures.end == posture)
        back = next(other for other in graph.reached[1:] if other != posture)
        yield warning(
            "graph",
            into.line,
            f"no way leads out of {posture}: once there, the robot plays only what begins there",
            f"a way back would be called a_{posture}#{back}_standard",
        )
    for posture, commands in graph.begins.items():
        lost = [
            other
            for other in graph.reached[1:]
            if other not in dead_ends and posture not in graph.reached_from(other)
        ]
        if posture in graph.reached[1:] and lost:
            yield warning(
                "graph",
                commands[0].head.line,
                f"from {_listed(lost)} no way leads to {posture}, where {_ids(commands)} begins",
            )


def _ids(commands: Collection[Command]) -> str:
    ids = [command.head.word(0) for command in commands]
    return f"command {ids[0]}" if len(ids) == 1 else f"each of the commands {_listed(ids)}"


def _listed(words: Iterable[str], most: int = 8) -> str:
    *first, last = words
    if len(first) >= most:
        return f"{', '.join(first[:most])} and {len(first) + 1 - most} more"
    return f"{', '.join(first)} and {last}" if first else last
