"""Checks of the text files: lines that crash MoNet or that it misinterprets, IDs, heads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from posewright.display import format_count
from posewright.runtimes.openr.stick.finding import COUNT_RULE, MonetFinding, error, quoted, warning
from posewright.runtimes.openr.stick.limits import (
    AGENT_LINES,
    AGENTS,
    LINE_BYTES,
    NAME_BYTES,
    NUMBER_BYTES,
    POSTURES,
    SOUND_AGENT,
    SOUND_ENTRY,
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
    parse_integer,
)

HEAD = "<id> <number of agent lines> <0 or 1>"
AGENT = "<agent> <name> <index>"
N_WORDS = 3
"""Number of words in a head line or an agent line."""

_DIGITS = "write digits only; MoNet reads those at the beginning, and 0 where there are none"


def check_bytes(text: MonetText) -> Iterator[MonetFinding]:
    """Check for lines that MoNet cannot read."""
    for line in text.classified_lines:
        raw = line.text_line.raw
        if len(raw) > LINE_BYTES:
            message = (
                f"the line has {len(raw)} bytes: MoNet reads {LINE_BYTES}, and the remainder as another line"
            )
            yield error(
                "length", line.text_line, message, hint="split it; each line of a comment begins with #"
            )
        if b"\0" in raw:
            yield error(
                "length",
                line.text_line,
                message="a NUL byte: MoNet reads the line only up to it",
                hint="remove it",
            )
        if line.kind is LineKind.BLANK:
            message = "a blank line: MoNet looks for a word in it and crashes"
            yield error("blank", line.text_line, message, hint="remove it, or put a # in its first column")
        elif line.kind is not LineKind.COMMENT and line.word(0).startswith("#"):
            message = "the # is not in the first column, so MoNet does not read the line as a comment"
            yield error("comment", line.text_line, message, hint="move the # to the first column")


def check_words(line: HeadLine | AgentLine) -> Iterator[MonetFinding]:
    """Yield findings about the number of words in a line, and about the words that must be numbers."""
    form = HEAD if isinstance(line, HeadLine) else AGENT
    n_words = len(line.words)
    if n_words < N_WORDS:
        message = f"the line has {n_words} of 3 words: MoNet looks for the missing ones and crashes"
        yield error("words", line.text_line, message, hint=f"expected {form}")
    elif n_words > N_WORDS:
        extra_words = " ".join(line.words[N_WORDS:])
        message = f"MoNet reads 3 words and ignores {quoted(extra_words)}"
        yield warning("words", line.text_line, message, hint=f"expected {form}")
    number_columns = (0, 1, 2) if isinstance(line, HeadLine) else (2,)
    for column in number_columns:
        if column < n_words:
            yield from _check_number(line, column)


def _check_number(line: MonetLine, column: int) -> Iterator[MonetFinding]:
    """Yield a finding if the word in a column is too long for MoNet, or is not a whole number.

    MoNet copies the line end together with the last word, so it counts there.
    """
    text = line.words[column]
    n_bytes = len(text)
    if column == len(line.words) - 1:
        n_bytes += len(line.text_line.raw) - len(line.text_line.raw.rstrip(b"\r\n"))
    if n_bytes > NUMBER_BYTES:
        message = f"{quoted(text)} is too long for MoNet, which would crash"
        max_digits = NUMBER_BYTES - len("\r\n")
        yield error("number", line.text_line, message, hint=f"a number has at most {max_digits} digits")
    elif parse_integer(text) is None:
        yield error("number", line.text_line, message=f"{quoted(text)} is not a whole number", hint=_DIGITS)


def check_agent(line: AgentLine, *, is_older_monet: bool, in_transitions: bool) -> Iterator[MonetFinding]:
    """Check agent, name and index of a line.

    Args:
        line: the line.
        is_older_monet: whether the line is read by the MoNet that reads its postures from a POSTURE.CFG.
        in_transitions: whether it is in a MONET.CFG.
    """
    agents = known_agents(is_older_monet=is_older_monet)
    for name, kind in ((line.agent, "an agent's name"), (line.name, "a name")):
        if len(name) > NAME_BYTES:
            message = f"{quoted(name)} has {len(name)} bytes: MoNet has room for {NAME_BYTES} and would crash"
            yield error("name", line.text_line, message, hint=f"{kind} has at most {NAME_BYTES} letters")
    agent = agents.get(line.agent)
    if agent is None:
        message = f"MoNet has no agent {quoted(line.agent)}"
        yield error("agent", line.text_line, message, hint=_suggest(line.agent, agents))
    elif agent.entry_type is None and line.index not in agent.indices:
        indices = " or ".join(map(str, agent.indices))
        message = f"{line.agent} has no index {quoted(line.word(2))}"
        yield error("index", line.text_line, message, hint=f"expected {indices}")
    elif agent.entry_type is not None and (line.index or 0) < -1:
        message = f"the index {line.index} is treated as -1, with which Sony's MoNet looks up the name"
        yield warning("index", line.text_line, message, hint="expected -1 or an index of the archive")
    if line.name and line.agent != SOUND_AGENT:
        yield from _check_postures(line, is_older_monet=is_older_monet, in_transitions=in_transitions)


def _check_postures(line: AgentLine, *, is_older_monet: bool, in_transitions: bool) -> Iterator[MonetFinding]:
    """Check the postures in a motion's name; problems are errors in a MONET.CFG, otherwise warnings."""
    build_finding = error if in_transitions else warning
    postures = postures_of(line.name)
    hint = "name it <group>_<start>#<end>_<title>, as in a_stand#stand_kick"
    if not postures.has_start_and_end:
        message = (
            f"the name {quoted(line.name)} does not state in which postures the motion begins and ends: "
            "Sony's MoNet looks for them and may crash"
        )
        yield build_finding("posture", line.text_line, message, hint)
        return
    for posture in dict.fromkeys(postures):
        if posture not in POSTURES and not is_older_monet:
            message = f"MoNet has no posture {quoted(posture)}, and finds no transition to it or from it"
            yield build_finding(
                "posture", line.text_line, message, f"postures are {', '.join(sorted(POSTURES))}"
            )


def _suggest(unknown_name: str, names: Iterable[str]) -> str:
    """Return a hint with the most similar name, or with all names."""
    sorted_names = sorted(names)
    similar = difflib.get_close_matches(unknown_name, sorted_names, n=1)
    return f"did you mean {similar[0]}?" if similar else f"expected {', '.join(sorted_names)}"


NO_ID = -1  # MoNet's id of a command that does not exist


def check_transitions(text: MonetTransitions, *, is_older_monet: bool) -> Iterator[MonetFinding]:
    """Check a MONET.CFG by itself."""
    yield from check_bytes(text)
    for line in text.classified_lines:
        if isinstance(line, AgentLine):
            yield from check_words(line)
            yield from check_agent(line, is_older_monet=is_older_monet, in_transitions=True)
        elif isinstance(line, HeadLine):
            message = "this is the head line of a command: MoNet reads its first word as an agent's name"
            hint = "commands belong in MONETCMD.CFG; this file has agent lines only"
            yield error(COUNT_RULE, line.text_line, message, hint)


def check_commands(text: MonetCommands, *, is_older_monet: bool) -> Iterator[MonetFinding]:
    """Check a MONETCMD.CFG by itself."""
    yield from check_bytes(text)
    for line in text.classified_lines:
        if isinstance(line, HeadLine | AgentLine):
            yield from check_words(line)
        if isinstance(line, AgentLine):
            yield from check_agent(line, is_older_monet=is_older_monet, in_transitions=False)
    for stray in text.stray_lines[:1]:
        message = "an agent line before the first command: MoNet reads it as a head line"
        yield error(COUNT_RULE, stray.text_line, message, hint=f"expected {HEAD}")
    for command in text.commands:
        yield from _check_command(command)
    yield from _check_ids(text)


def _check_command(command: MonetCommand) -> Iterator[MonetFinding]:
    """Yield findings about ID, sync key and number of agent lines in a command's head, and its motions."""
    head = command.head
    n_declared = head.n_declared
    n_agents = len(command.agent_lines)
    if parse_integer(head.word(2)) not in (0, 1, None):
        yield warning(
            "number", head.text_line, message=f"the sync key is {head.word(2)!r}", hint="expected 0 or 1"
        )
    if command.id == NO_ID:
        yield error("id", head.text_line, message="the id -1 means no command", hint="an id is 0 or more")
    if n_declared is None:
        return
    if n_declared < 1:
        message = f"the head announces {n_declared} agent lines"
        yield error(COUNT_RULE, head.text_line, message, hint=f"expected 1 to {AGENT_LINES}")
    elif n_declared > n_agents:
        message = (
            f"the head announces {format_count(n_declared, 'agent line')}, but {n_agents or 'none'} "
            "come before the next command or the end: MoNet reads the line after them as an agent line"
        )
        hint = f"write {n_agents} there, or add the missing lines" if n_agents else "add the missing lines"
        yield error(COUNT_RULE, head.text_line, message, hint)
    elif n_declared < n_agents:
        announced = format_count(n_declared, "agent line")
        message = f"line {head.text_line.number} announces {announced}: MoNet reads this one as a head line"
        hint = f"write {n_agents} there, or remove this line"
        yield error(COUNT_RULE, command.agent_lines[n_declared].text_line, message, hint)
    if n_declared > AGENT_LINES:
        message = (
            f"the head announces {n_declared} agent lines: MoNet uses {AGENT_LINES} and ignores the others"
        )
        yield error(COUNT_RULE, head.text_line, message, hint="split it into two commands")
    yield from _check_motions(command)


def _check_motions(command: MonetCommand) -> Iterator[MonetFinding]:
    """Yield a warning about each motion of a command after the first."""
    motions = [
        line
        for line in command.agent_lines
        if line.agent in AGENTS and AGENTS[line.agent].entry_type != SOUND_ENTRY
    ]
    for line in motions[1:]:
        first_line = motions[0].text_line.number
        message = f"a second motion in one command, after line {first_line}: its agent is busy then"
        yield warning(
            COUNT_RULE, line.text_line, message, hint="a command has one motion, and one sound to go with it"
        )


def _check_ids(text: MonetCommands) -> Iterator[MonetFinding]:
    """Yield an error for each command whose ID an earlier one has."""
    first_lines: dict[int, int] = {}  # by ID
    for command in text.commands:
        if command.id is None:
            continue
        first_line = first_lines.setdefault(command.id, command.head.text_line.number)
        if first_line != command.head.text_line.number:
            message = f"id {command.id} is already used on line {first_line}: MoNet uses the last"
            yield error("id", command.head.text_line, message, hint=f"a free id is {free_id(text)}")


def free_id(text: MonetCommands) -> int:
    """Return an id that no command has: the one after the highest."""
    return max((command.id for command in text.commands if command.id is not None), default=-1) + 1
