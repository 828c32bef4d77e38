"""Checks of the text files: lines that crash MoNet or that it misinterprets, IDs, heads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from posewright.runtimes.openr.stick.finding import MonetFinding, error, quoted, warning
from posewright.runtimes.openr.stick.limits import (
    AGENT_LINES,
    AGENTS,
    LINE_BYTES,
    NAME_BYTES,
    NUMBER_BYTES,
    POSTURES,
    SOUND_AGENT,
    known_agents,
    postures_of,
)
from posewright.runtimes.openr.stick.text import (
    AgentLine,
    HeadLine,
    LineKind,
    MonetCommand,
    MonetCommands,
    MonetLine,
    MonetText,
    MonetTransitions,
    number,
)

HEAD = "<id> <number of agent lines> <0 or 1>"
AGENT = "<agent> <name> <index>"
_DIGITS = "write digits only; MoNet reads those at the beginning, and 0 where there are none"


def check_bytes(text: MonetText) -> Iterator[MonetFinding]:
    """Check for lines that MoNet cannot read."""
    for line in text.classified_lines:
        raw = line.line.raw
        if len(raw) > LINE_BYTES:
            message = (
                f"a line of {len(raw)} bytes: MoNet reads {LINE_BYTES} and takes the rest for another line"
            )
            yield error("length", line.line, message, "break it in two; each line of a comment begins with #")
        if b"\0" in raw:
            yield error("length", line.line, "a NUL byte: MoNet reads the line only up to it", "take it out")
        if line.kind is LineKind.BLANK:
            message = "a blank line: MoNet looks for a word in it and crashes"
            yield error("blank", line.line, message, "take it out, or put a # in its first column")
        elif line.kind is not LineKind.COMMENT and line.word(0).startswith("#"):
            message = "a # that is not in the first column begins no comment: MoNet reads the line"
            yield error("comment", line.line, message, "move the # to the first column")


def check_words(line: HeadLine | AgentLine) -> Iterator[MonetFinding]:
    """Check the number of words of a line, and its numbers."""
    form = HEAD if isinstance(line, HeadLine) else AGENT
    count = len(line.words)
    if count < 3:
        message = f"{count} of 3 words: MoNet looks for the others and crashes"
        yield error("words", line.line, message, f"expected {form}")
    elif count > 3:
        extra = " ".join(line.words[3:])
        yield warning("words", line.line, f"MoNet reads 3 words and not {quoted(extra)}", f"expected {form}")
    columns = (0, 1, 2) if isinstance(line, HeadLine) else (2,)
    for column in columns[: max(0, count - columns[0])]:
        yield from _check_number(line, column)


def _check_number(line: MonetLine, column: int) -> Iterator[MonetFinding]:
    word = line.words[column]
    eol = line.line.raw[len(line.line.raw.rstrip(b"\r\n")) :]
    if len(word) + (len(eol) if column == len(line.words) - 1 else 0) > NUMBER_BYTES:
        message = f"{quoted(word)} is longer than MoNet has room for: it would crash"
        yield error("number", line.line, message, f"a number has at most {NUMBER_BYTES - 2} digits")
    elif number(word) is None:
        yield error("number", line.line, f"{quoted(word)} is not a whole number", _DIGITS)


def check_agent(line: AgentLine, *, older: bool, in_transitions: bool) -> Iterator[MonetFinding]:
    """Check agent, name and index of a line.

    Args:
        line: the line.
        older: whether it is read by the MoNet that reads its postures from a POSTURE.CFG.
        in_transitions: whether it is in a MONET.CFG.
    """
    agents = known_agents(older=older)
    for word, kind in ((line.agent, "an agent's name"), (line.name, "a name")):
        if len(word) > NAME_BYTES:
            message = f"{quoted(word)} has {len(word)} bytes: MoNet has room for {NAME_BYTES} and would crash"
            yield error("name", line.line, message, f"{kind} has at most {NAME_BYTES} letters")
    agent = agents.get(line.agent)
    if agent is None:
        message = f"MoNet knows no agent {quoted(line.agent)}"
        yield error("agent", line.line, message, _suggest(line.agent, agents))
    elif agent.plays is None and line.index not in agent.indices:
        indices = " or ".join(map(str, agent.indices))
        message = f"{line.agent} knows no index {quoted(line.word(2))}"
        yield error("index", line.line, message, f"expected {indices}")
    elif agent.plays is not None and (line.index or 0) < -1:
        message = f"the index {line.index} is taken for -1, by which Sony's MoNet looks a name up"
        yield warning("index", line.line, message, "expected -1 or an index of the archive")
    if line.name and line.agent != SOUND_AGENT:
        yield from _check_postures(line, older=older, in_transitions=in_transitions)


def _check_postures(line: AgentLine, *, older: bool, in_transitions: bool) -> Iterator[MonetFinding]:
    find = error if in_transitions else warning
    postures = postures_of(line.name)
    hint = "name it <group>_<start>#<end>_<title>, as in a_stand#stand_kick"
    if not postures.is_complete:
        message = (
            f"the name {quoted(line.name)} does not say in which postures the motion begins and ends: "
            "Sony's MoNet looks for them and may crash"
        )
        yield find("posture", line.line, message, hint)
        return
    for posture in dict.fromkeys(postures):
        if posture not in POSTURES and not older:
            message = (
                f"MoNet knows no posture {quoted(posture)}: it never finds a way there, or on from there"
            )
            yield find("posture", line.line, message, f"postures are {', '.join(sorted(POSTURES))}")


def _suggest(word: str, names: Iterable[str]) -> str:
    """Return a hint with the most similar name, or with all names."""
    sorted_names = sorted(names)
    similar = difflib.get_close_matches(word, sorted_names, n=1)
    return f"did you mean {similar[0]}?" if similar else f"expected {', '.join(sorted_names)}"


NO_ID = -1  # MoNet's id of a command that does not exist


def check_transitions(text: MonetTransitions, *, older: bool) -> Iterator[MonetFinding]:
    """Check a MONET.CFG by itself."""
    yield from check_bytes(text)
    for line in text.classified_lines:
        if isinstance(line, AgentLine):
            yield from check_words(line)
            yield from check_agent(line, older=older, in_transitions=True)
        elif isinstance(line, HeadLine):
            message = "the head line of a command: MoNet reads an agent's name in it"
            hint = "commands belong in MONETCMD.CFG; here are agent lines only"
            yield error("count", line.line, message, hint)


def check_commands(text: MonetCommands, *, older: bool) -> Iterator[MonetFinding]:
    """Check a MONETCMD.CFG by itself."""
    yield from check_bytes(text)
    for line in text.classified_lines:
        if isinstance(line, HeadLine | AgentLine):
            yield from check_words(line)
        if isinstance(line, AgentLine):
            yield from check_agent(line, older=older, in_transitions=False)
    for stray in text.stray[:1]:
        message = "an agent line before the first command: MoNet reads it as a head"
        yield error("count", stray.line, message, HEAD)
    for command in text.commands:
        yield from _check_command(command)
    yield from _check_ids(text)


def _check_command(command: MonetCommand) -> Iterator[MonetFinding]:
    head = command.head
    declared = head.declared
    n_agents = len(command.agents)
    if number(head.word(2)) not in (0, 1, None):
        yield warning("number", head.line, f"the sync key is {head.word(2)!r}", "expected 0 or 1")
    if command.id == NO_ID:
        yield error("id", head.line, "-1 is MoNet's word for no command", "an id is 0 or more")
    if declared is None:
        return
    if declared < 1:
        message = f"{declared} agent lines are announced"
        yield error("count", head.line, message, f"expected 1 to {AGENT_LINES}")
    elif declared > n_agents:
        yield error(
            "count",
            head.line,
            f"{_format_agent_lines(declared)} announced, {n_agents or 'none'} before the next command "
            "or the end: MoNet takes what follows for an agent line",
            f"write {n_agents} there, or add what is missing" if n_agents else "add what is missing",
        )
    elif declared < n_agents:
        announced = _format_agent_lines(declared)
        message = f"line {head.line.number} announces {announced}: MoNet takes this one for a head"
        hint = f"write {n_agents} there, or take this line out"
        yield error("count", command.agents[declared].line, message, hint)
    if declared > AGENT_LINES:
        message = (
            f"{_format_agent_lines(declared)} announced: MoNet keeps {AGENT_LINES} and forgets the others"
        )
        yield error("count", head.line, message, "make two commands of it")
    yield from _check_motions(command)


def _check_motions(command: MonetCommand) -> Iterator[MonetFinding]:
    motions = [line for line in command.agents if line.agent in AGENTS and AGENTS[line.agent].plays != "WAVE"]
    for line in motions[1:]:
        message = (
            f"a second motion in one command, besides line {motions[0].line.number}: it is rejected as busy"
        )
        yield warning("count", line.line, message, "a command has one motion, and one sound to go with it")


def _check_ids(text: MonetCommands) -> Iterator[MonetFinding]:
    first: dict[int, int] = {}
    for command in text.commands:
        if command.id is None:
            continue
        earlier = first.setdefault(command.id, command.head.line.number)
        if earlier != command.head.line.number:
            message = f"id {command.id} was given on line {earlier} already: MoNet keeps the last"
            yield error("id", command.head.line, message, f"a free id is {free_id(text)}")


def free_id(text: MonetCommands) -> int:
    """Return an id that no command has: the one after the highest."""
    return max((command.id for command in text.commands if command.id is not None), default=-1) + 1


def _format_agent_lines(count: int) -> str:
    return "1 agent line is" if count == 1 else f"{count} agent lines are"
