"""`aibo check`: checks of the MONET files of a robot, each by itself and together.

Source of the transitions between postures: formats.md section 1.3; Sony's MoNet.cc and DirectedGraph.h. MoNet
starts in posture nt. Before a command, it looks for transitions to the posture in which the command begins.
Transitions are the lines of MONET.CFG, and commands that begin and end in different postures. One that ends
in `any` is not a transition (`MotionPostures.is_transition`). A command that begins in `any` and ends in a
posture is not one either, but it leaves the robot in that posture.
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
    ANY_TO_ANY,
    FIRST_POSTURE,
    MOTION_ENTRY,
    POSTURES,
    SOUND_AGENT,
    SOUND_ENTRY,
    MotionPostures,
    postures_of,
)
from posewright.runtimes.openr.stick.lookup import (
    FAULT,
    agent_lines_of,
    check_lookups,
    indices_of_played_motions,
)
from posewright.runtimes.openr.stick.memory_stick import read_stick
from posewright.runtimes.openr.stick.posture_transitions import JUMP
from posewright.runtimes.openr.stick.setup import MemoryStick, MonetArchive, MonetSetup
from posewright.runtimes.openr.stick.text import AgentLine, MonetCommand, MonetCommands, MonetTransitions

MAX_POSTURES = 100  # MoNet itself knows six; a file with more than this is not meant for a robot


@dataclass(frozen=True)
class PostureTransition:
    """A transition between two postures, and the line that defines it.

    Attributes:
        agent_lines: lines that are played: the line itself, or those of the command that begins with it.
    """

    postures: MotionPostures
    line: TextLine
    agent_lines: tuple[AgentLine, ...]


def command_postures(command: MonetCommand) -> MotionPostures:
    """Return the postures of a command: those of its motion; any posture if it has only a sound."""
    motion = next((line for line in command.agent_lines if line.agent != SOUND_AGENT), None)
    return ANY_TO_ANY if motion is None else postures_of(motion.name)


def transition_of(command: MonetCommand) -> PostureTransition:
    """Return a command as a transition, which may lead from a posture to the same."""
    return PostureTransition(
        command_postures(command), command.head.text_line, command.agent_lines[:AGENT_LINES]
    )


@dataclass(frozen=True)
class PostureGraph:
    """Postures and the transitions between them.

    Attributes:
        transitions: the transitions in the order of their lines.
        commands_by_start: commands by the posture in which they begin.
        postures_set_by_commands: postures in which commands end that can be played in any posture.
    """

    transitions: tuple[PostureTransition, ...]
    commands_by_start: dict[str, tuple[MonetCommand, ...]]
    postures_set_by_commands: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, transitions: MonetTransitions, commands: MonetCommands | None, *, is_older_monet: bool
    ) -> PostureGraph:
        """Return the graph of the postures in two files: how motions lead from one posture to another.

        Args:
            transitions: a MONET.CFG.
            commands: a MONETCMD.CFG; None if there is none.
            is_older_monet: whether MoNet reads its postures from a POSTURE.CFG and may know any; the newer
                MoNet knows only `POSTURES`, and other names are left out.
        """
        all_commands = () if commands is None else commands.commands
        candidates = [
            PostureTransition(postures_of(line.name), line.text_line, (line,))
            for line in transitions.agent_lines
            if line.agent != SOUND_AGENT
        ]
        candidates += map(transition_of, all_commands)

        def is_known(*postures: str) -> bool:
            return is_older_monet or set(postures) <= POSTURES

        known_transitions: list[PostureTransition] = []
        for transition in candidates:
            if transition.postures.is_transition and is_known(*transition.postures):
                known_transitions.append(transition)
        commands_by_start: dict[str, tuple[MonetCommand, ...]] = {}
        set_by_commands: dict[str, None] = {}  # a set in the order of the file
        for command in all_commands:
            start, end = command_postures(command)
            if start and start != ANY and is_known(start):
                commands_by_start[start] = (*commands_by_start.get(start, ()), command)
            if command_postures(command).begins_anywhere and is_known(end):
                set_by_commands[end] = None
        return cls(tuple(known_transitions), commands_by_start, tuple(set_by_commands))

    @cached_property
    def end_postures(self) -> dict[str, tuple[str, ...]]:
        """End postures of the transitions, by start posture."""
        ends: dict[str, dict[str, None]] = {}  # the inner ones are sets in the order of the lines
        for transition in self.transitions:
            ends.setdefault(transition.postures.start, {})[transition.postures.end] = None
        return {start: tuple(postures) for start, postures in ends.items()}

    @cached_property
    def reachable_postures(self) -> tuple[str, ...]:
        """The postures that the robot can reach, the first one included."""
        return self.postures_reachable_from(FIRST_POSTURE, *self.postures_set_by_commands)

    def find_route(self, start: str, goal: str) -> tuple[PostureTransition, ...] | None:
        """Return the shortest sequence of transitions from one posture to another; None if there is none.

        Of several with the same length it is the one whose lines come first: a breadth-first search in the
        order of the lines.
        """
        routes: dict[str, tuple[PostureTransition, ...]] = {start: ()}
        pending = [start]
        while pending and goal not in routes:
            posture = pending.pop(0)
            for transition in self.transitions:
                if transition.postures.start == posture and transition.postures.end not in routes:
                    routes[transition.postures.end] = (*routes[posture], transition)
                    pending.append(transition.postures.end)
        return routes.get(goal)

    def postures_reachable_from(self, *postures: str) -> tuple[str, ...]:
        """Return the postures that can be reached from some postures, including these."""
        reached = dict.fromkeys(postures)
        pending = [*postures]
        while pending:
            ends = self.end_postures.get(pending.pop(0), ())
            new_postures = [end for end in ends if end not in reached]
            reached.update(dict.fromkeys(new_postures))
            pending += new_postures
        return tuple(reached)


def check_graph(
    transitions: MonetTransitions, commands: MonetCommands | None, *, is_older_monet: bool
) -> Iterator[MonetFinding]:
    """Check for postures that the robot cannot reach, or cannot leave."""
    graph = PostureGraph.of(transitions, commands, is_older_monet=is_older_monet)
    if len(graph.end_postures) > MAX_POSTURES:
        message = f"{len(graph.end_postures)} postures: their transitions were not checked"
        yield MonetFinding(Level.WARNING, "graph", message, transitions.path)
        return
    if FIRST_POSTURE not in graph.end_postures and not graph.postures_set_by_commands:
        message = (
            f"no transition leads out of {FIRST_POSTURE}, the posture MoNet starts in: "
            f"it can play only motions that begin in {ANY}"
        )
        hint = f"Sony's file has the line monetagentNEUTRAL a_{FIRST_POSTURE}#sleep_standard 0"
        yield MonetFinding(Level.ERROR, "graph", message, transitions.path, hint=hint)
        return
    yield from _check_ends_in_any(transitions)
    yield from _check_unreached(graph)
    yield from _check_dead_ends(graph)


def _check_ends_in_any(transitions: MonetTransitions) -> Iterator[MonetFinding]:
    """Yield warnings about transitions that end in `any`, which MoNet never plays."""
    for line in transitions.agent_lines:
        postures = postures_of(line.name)
        is_motion = line.agent != SOUND_AGENT
        # `any#any` is right for a motion that can be played in every posture and changes none
        leads_to_any = postures.has_start_and_end and postures.start != ANY and postures.end == ANY
        if is_motion and leads_to_any:
            message = (
                f"{line.name} ends in {ANY}, which is not a posture, so it is never used as a transition"
            )
            yield warning("graph", line.text_line, message, hint="state the posture it ends in")


def _check_unreached(graph: PostureGraph) -> Iterator[MonetFinding]:
    """Yield findings about commands and transitions whose start posture the robot cannot reach."""
    for posture, commands in graph.commands_by_start.items():
        if posture not in graph.reachable_postures:
            message = (
                f"no transition leads to {posture}, where {_format_ids(commands)} begins: MoNet rejects it"
            )
            start = graph.reachable_postures[-1]
            hint = f"add one to MONET.CFG, as in monetagentMTN a_{start}#{posture}_standard -1"
            yield error("graph", commands[0].head.text_line, message, hint)
    for transition in graph.transitions:
        start = transition.postures.start
        if start not in graph.reachable_postures and start not in graph.commands_by_start:
            message = f"no transition leads to {start}, so this one is never used"
            yield warning("graph", transition.line, message)


def _check_dead_ends(graph: PostureGraph) -> Iterator[MonetFinding]:
    """Yield warnings about postures that cannot be left, or not be reached again."""
    later_postures = graph.reachable_postures[1:]  # without the one in which MoNet starts
    dead_ends = [posture for posture in later_postures if posture not in graph.end_postures]
    for posture in dead_ends:
        if len(later_postures) < 2:
            break  # there is no other posture to go back to
        entering = next(transition for transition in graph.transitions if transition.postures.end == posture)
        target = next(candidate for candidate in later_postures if candidate != posture)
        message = (
            f"no transition leads out of {posture}: once there, the robot plays only motions that begin there"
        )
        hint = f"a transition back would be called a_{posture}#{target}_standard"
        yield warning("graph", entering.line, message, hint)
    for posture, commands in graph.commands_by_start.items():
        starts_without_route = [
            start
            for start in later_postures
            if start not in dead_ends and posture not in graph.postures_reachable_from(start)
        ]
        if posture in later_postures and starts_without_route:
            message = (
                f"no transition leads from {_join(starts_without_route)} to {posture}, "
                f"where {_format_ids(commands)} begins"
            )
            yield warning("graph", commands[0].head.text_line, message)


def _format_ids(commands: Collection[MonetCommand]) -> str:
    ids = [command.head.word(0) for command in commands]
    return f"command {ids[0]}" if len(ids) == 1 else f"each of the commands {_join(ids)}"


def _join(names: Iterable[str], max_names: int = 8) -> str:
    """Return names as an enumeration with `and`; beyond a maximum, only their number."""
    *first, last = names
    if len(first) >= max_names:
        return f"{', '.join(first[:max_names])} and {len(first) + 1 - max_names} more"
    return f"{', '.join(first)} and {last}" if first else last


MAX_NAMES = 10  # in a message
_ORDER = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}

MAX_FINDINGS = 200  # per kind of check; a file with more is not meant for a robot


def check_monet(*where: MemoryStick | Path | str) -> tuple[MonetFinding, ...]:
    """Check MONET files: a memory stick, its `OPEN-R` or `CONF` folder, or files one by one.

    A finding about a file that several models share is reported once, with these models.

    Args:
        where: results of `read_stick`, or folders and files to be read.

    Returns:
        The findings: by file, by line, and for one line errors first.

    Raises:
        FormatError: there is no such file, or no MONET file in the folder.
    """
    sticks = [item for item in where if isinstance(item, MemoryStick)]
    paths = [item for item in where if not isinstance(item, MemoryStick)]
    if paths:
        sticks.append(read_stick(*paths))
    findings: list[MonetFinding] = []
    for stick in sticks:
        findings += stick.findings
        for setup in stick.setups:
            findings += check_setup(setup, max_findings=MAX_FINDINGS)
    return tuple(sorted(_merge_models(findings), key=_sort_key))


def check_setup(setup: MonetSetup, *, max_findings: int | None = None) -> Iterator[MonetFinding]:
    """Yield the findings about files that belong together.

    Args:
        setup: the files.
        max_findings: after so many findings a kind of check ends with a note; None for no limit.
    """
    for findings in _iterate_checks(setup):
        n_findings = 0
        for finding in islice(findings, max_findings):
            yield replace(finding, models=setup.models)
            n_findings += 1
        if n_findings == max_findings:
            message = f"more than {max_findings} findings: the others of this kind are not listed"
            yield replace(finding, level=Level.NOTE, rule="file", message=message, line=None, hint="")


def _iterate_checks(setup: MonetSetup) -> Iterator[Iterator[MonetFinding]]:
    """Yield, for each kind of check, an iterator over its findings; without checks of missing files.

    Args:
        setup: the files of a stick: the commands file, the transitions file and the archive of motions, each
            None if it is missing; and whether they are for an older MoNet.
    """
    if setup.commands is not None:
        yield check_commands(setup.commands, is_older_monet=setup.is_older_monet)
    if setup.transitions is not None:
        yield check_transitions(setup.transitions, is_older_monet=setup.is_older_monet)
        yield check_graph(setup.transitions, setup.commands, is_older_monet=setup.is_older_monet)
    yield check_lookups(setup)
    yield _check_missing_archives(setup)
    if setup.motions is not None:
        yield _check_archive(setup, setup.motions)


def _check_missing_archives(setup: MonetSetup) -> Iterator[MonetFinding]:
    """Yield a note for each kind of archive that lines need and that was not read."""
    for archive, entry_type, kind in (
        (setup.motions, MOTION_ENTRY, "motions"),
        (setup.sounds, SOUND_ENTRY, "sounds"),
    ):
        lines: list[AgentLine] = []
        for line in agent_lines_of(setup):
            if line.agent in AGENTS and AGENTS[line.agent].entry_type == entry_type:
                lines.append(line)
        if archive is None and lines:
            message = f"{kind} were not looked up, as no archive of {kind} was read"
            yield MonetFinding(Level.NOTE, "file", message, lines[0].text_line.path)


def _check_archive(setup: MonetSetup, archive: MonetArchive) -> Iterator[MonetFinding]:
    """Check the archive of motions for ambiguous and misleading names, and for motions that no line plays."""
    path = archive.path
    for name in archive.duplicate_names[:MAX_NAMES]:
        message = f"several motions have the name {quoted(name)}: MoNet finds the first"
        yield MonetFinding(Level.WARNING, "name", message, path, hint="give each a name of its own")
    yield from _check_entry_names(archive)
    played_indices = indices_of_played_motions(setup)
    unused = [label.name for index, label in archive.motions.items() if index not in played_indices]
    if unused and setup.commands is not None:
        proportion = f"{len(unused)} of {len(archive.motions)} motions"
        message = f"{proportion} are played by no line: {_shorten(unused)}"
        yield MonetFinding(Level.NOTE, "unused", message, path)


def _check_entry_names(archive: MonetArchive) -> Iterator[MonetFinding]:
    """Yield a warning if names of entries have other postures than the motions in them."""
    differing: list[str] = []
    for index, label in archive.motions.items():
        entry_name = archive.entries[index].name
        entry_postures = postures_of(entry_name)
        motion_postures = postures_of(label.name)
        have_postures = entry_postures.has_start_and_end and motion_postures.has_start_and_end
        if have_postures and entry_postures != motion_postures:
            differing.append(f"{quoted(entry_name)} holds {quoted(label.name)}")
    if differing:
        message = f"entries whose name states other postures than the motion in them: {_shorten(differing)}"
        hint = "MoNet looks up the motion's own name"
        yield MonetFinding(Level.WARNING, "posture", message, archive.path, hint=hint)


def _merge_models(findings: Iterable[MonetFinding]) -> list[MonetFinding]:
    """Return equal findings of several models once, with all these models.

    A finding about a motion itself is reported for the first line that plays the motion.
    """
    models: dict[MonetFinding, tuple[str, ...]] = {}
    first_findings: dict[MonetFinding, MonetFinding] = {}
    for finding in findings:
        key = replace(finding, models=())
        if finding.rule in {JUMP, FAULT}:
            key = replace(key, path=None, line=None)
        first_findings.setdefault(key, finding)
        models[key] = tuple(dict.fromkeys((*models.get(key, ()), *finding.models)))
    return [replace(first_findings[key], models=names) for key, names in models.items()]


def _sort_key(finding: MonetFinding) -> tuple[str, int, int]:
    """Return path, line and severity of a finding, by which findings are sorted."""
    return (str(finding.path or ""), finding.line or 0, _ORDER[finding.level])


def _shorten(names: list[str]) -> str:
    """Return the first names, separated by commas, and the number of the others."""
    listed = ", ".join(names[:MAX_NAMES])
    n_omitted = len(names) - MAX_NAMES
    return f"{listed} and {n_omitted} more" if n_omitted > 0 else listed
