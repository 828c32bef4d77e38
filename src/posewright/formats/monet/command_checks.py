"""Checks of whole text files: heads and the agent lines that belong to them, ids, what stands where."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.formats.monet.finding import MonetFinding, error, warning
from posewright.formats.monet.limits import AGENT_LINES, AGENTS
from posewright.formats.monet.line_checks import HEAD, check_agent, check_bytes, check_words
from posewright.formats.monet.lines import AgentLine, HeadLine, number
from posewright.formats.monet.text import Command, MonetCommands, MonetTransitions

NO_ID = -1
"""What MoNet calls a command that does not exist."""


def check_transitions(text: MonetTransitions, *, older: bool) -> Iterator[MonetFinding]:
    """Look at a MONET.CFG by itself."""
    yield from check_bytes(text)
    for line in text.senses:
        if isinstance(line, AgentLine):
            yield from check_words(line)
            yield from check_agent(line, older=older, in_transitions=True)
        elif isinstance(line, HeadLine):
            yield error(
                "count",
                line.line,
                "the head line of a command: MoNet reads an agent's name in it",
                "commands belong in MONETCMD.CFG; here are agent lines only",
            )


def check_commands(text: MonetCommands, *, older: bool) -> Iterator[MonetFinding]:
    """Look at a MONETCMD.CFG by itself."""
    yield from check_bytes(text)
    for line in text.senses:
        if isinstance(line, HeadLine | AgentLine):
            yield from check_words(line)
        if isinstance(line, AgentLine):
            yield from check_agent(line, older=older, in_transitions=False)
    for stray in text.stray[:1]:
        yield error(
            "count", stray.line, "an agent line before the first command: MoNet reads it as a head", HEAD
        )
    for command in text.commands:
        yield from _check_command(command)
    yield from _check_ids(text)


def _check_command(command: Command) -> Iterator[MonetFinding]:
    head, declared, found = command.head, command.head.declared, len(command.agents)
    if number(head.word(2)) not in (0, 1, None):
        yield warning("number", head.line, f"the sync key is {head.word(2)!r}", "right is 0 or 1")
    if command.id == NO_ID:
        yield error("id", head.line, "-1 is MoNet's word for no command", "an id is 0 or more")
    if declared is None:
        return
    if declared < 1:
        yield error(
            "count", head.line, f"{declared} agent lines are announced", f"right is 1 to {AGENT_LINES}"
        )
    elif declared > found:
        yield error(
            "count",
            head.line,
            f"{_lines(declared)} announced, {found or 'none'} before the next command or the end: "
            "MoNet takes what follows for an agent line",
            f"write {found} there, or add what is missing" if found else "add what is missing",
        )
    elif declared < found:
        yield error(
            "count",
            command.agents[declared].line,
            f"line {head.line.number} announces {_lines(declared)}: MoNet takes this one for a head",
            f"write {found} there, or take this line out",
        )
    if declared > AGENT_LINES:
        yield error(
            "count",
            head.line,
            f"{_lines(declared)} announced: MoNet keeps {AGENT_LINES} and forgets the others",
            "make two commands of it",
        )
    yield from _check_motions(command)


def _check_motions(command: Command) -> Iterator[MonetFinding]:
    motions = [line for line in command.agents if line.agent in AGENTS and _moves(line)]
    for line in motions[1:]:
        yield warning(
            "count",
            line.line,
            f"a second motion in one command, besides line {motions[0].line.number}: it is refused as busy",
            "a command has one motion, and one sound to go with it",
        )


def _moves(line: AgentLine) -> bool:
    return AGENTS[line.agent].plays != "WAVE"


def _check_ids(text: MonetCommands) -> Iterator[MonetFinding]:
    first: dict[int, int] = {}
    for command in text.commands:
        if command.id is None:
            continue
        earlier = first.setdefault(command.id, command.head.line.number)
        if earlier != command.head.line.number:
            yield error(
                "id",
                command.head.line,
                f"id {command.id} was given on line {earlier} already: MoNet keeps the last",
                f"a free id is {free_id(text)}",
            )


def free_id(text: MonetCommands) -> int:
    """Return an id that no command has: the one after the highest."""
    return max((command.id for command in text.commands if command.id is not None), default=-1) + 1


def _lines(count: int) -> str:
    return "1 agent line is" if count == 1 else f"{count} agent lines are"
