"""The text files of MONET: commands (MONETCMD.CFG) and transitions between postures (MONET.CFG).

Source: formats.md section 1.3. Lines are split into words as MoNet does. A file is stored as its lines, so
that unedited lines are written back byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from posewright.formats import TextLine, split_lines

_WORD = re.compile(rb"[^ \t]+")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_AGENT = "monetagent"


class LineKind(Enum):
    """Kind of a line by its appearance; MoNet itself goes by the number of announced lines."""

    COMMENT = "comment"
    BLANK = "blank"
    HEAD = "head"
    AGENT = "agent"


@dataclass(frozen=True)
class MonetLine:
    """A line and its words."""

    text_line: TextLine

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words between blanks and tabs, decoded as Latin-1."""
        return tuple(word.decode("latin-1") for word in _WORD.findall(self.text_line.raw.rstrip(b"\r\n")))

    @cached_property
    def kind(self) -> LineKind:
        """Kind of the line by its appearance.

        A head is three numbers `<id> <number of agent lines> <sync key>`; one with a word in place of the ID
        counts as a head if that word is no agent.
        """
        if self.text_line.raw.startswith(b"#"):
            return LineKind.COMMENT
        if not self.words:
            return LineKind.BLANK
        is_number = [parse_integer(word) is not None for word in self.words[:3]]
        if is_number[0]:
            return LineKind.HEAD
        is_head_with_bad_id = len(is_number) == 3 and all(is_number[1:])
        if is_head_with_bad_id and not self._names_an_agent:
            return LineKind.HEAD
        return LineKind.AGENT

    @property
    def _names_an_agent(self) -> bool:
        return self.words[0].lower().startswith(_AGENT)

    def word(self, index: int) -> str:
        """Return a word by its index; empty if there is none."""
        return self.words[index] if index < len(self.words) else ""


@dataclass(frozen=True)
class AgentLine(MonetLine):
    """`<agent> <name> <index>`: an agent plays an entry of an archive."""

    @property
    def agent(self) -> str:
        """Name of the agent."""
        return self.word(0)

    @property
    def name(self) -> str:
        """Name of the motion or sound."""
        return self.word(1)

    @property
    def index(self) -> int | None:
        """Index in the archive; a negative one means a look-up by name. None if the word is no number."""
        return parse_integer(self.word(2))


@dataclass(frozen=True)
class HeadLine(MonetLine):
    """`<id> <number of agent lines> <sync key>`: the first line of a command."""

    @property
    def id(self) -> int | None:
        """ID of the command; None if the word is no number."""
        return parse_integer(self.word(0))

    @property
    def n_declared(self) -> int | None:
        """Announced number of agent lines; None if the word is no number."""
        return parse_integer(self.word(1))


def parse_integer(text: str) -> int | None:
    """Return a whole number; None for any other text."""
    return int(text) if _NUMBER.fullmatch(text) else None


def classify(line: TextLine) -> MonetLine:
    """Return a line as an instance of the class of its kind."""
    monet_line = MonetLine(line)
    if monet_line.kind is LineKind.HEAD:
        return HeadLine(line)
    if monet_line.kind is LineKind.AGENT:
        return AgentLine(line)
    return monet_line


@dataclass(frozen=True)
class MonetText:
    """A file as its lines."""

    lines: tuple[TextLine, ...] = field(repr=False)
    path: Path | None = None

    @cached_property
    def classified_lines(self) -> tuple[MonetLine, ...]:
        """The lines, classified."""
        return tuple(map(classify, self.lines))

    @property
    def agent_lines(self) -> tuple[AgentLine, ...]:
        """The agent lines."""
        return tuple(line for line in self.classified_lines if isinstance(line, AgentLine))

    @property
    def eol(self) -> bytes:
        """The line end of the file: that of most of its lines."""
        n_crlf = sum(line.raw.endswith(b"\r\n") for line in self.lines)
        n_lf = sum(line.raw.endswith(b"\n") for line in self.lines) - n_crlf
        return b"\r\n" if n_crlf > n_lf else b"\n"

    def render(self) -> bytes:
        """Return the bytes of the file."""
        return b"".join(line.raw for line in self.lines)


@dataclass(frozen=True)
class MonetTransitions(MonetText):
    """MONET.CFG: the transitions between postures."""


@dataclass(frozen=True)
class MonetCommand:
    """A command that programs request by its ID.

    Attributes:
        head: its head line.
        agent_lines: agent lines up to the next head, whatever number the head announces.
    """

    head: HeadLine
    agent_lines: tuple[AgentLine, ...]

    @property
    def id(self) -> int | None:
        """Its ID; None if the word is no number."""
        return self.head.id


@dataclass(frozen=True)
class MonetCommands(MonetText):
    """MONETCMD.CFG: the commands that programs can request."""

    @cached_property
    def commands(self) -> tuple[MonetCommand, ...]:
        """The commands in the order of the file."""
        return tuple(
            MonetCommand(head, tuple(agents)) for head, agents in self._group_by_head() if head is not None
        )

    @cached_property
    def stray_lines(self) -> tuple[AgentLine, ...]:
        """The agent lines before the first head."""
        return tuple(line for head, agents in self._group_by_head() if head is None for line in agents)

    def _group_by_head(self) -> Iterator[tuple[HeadLine | None, list[AgentLine]]]:
        """Yield each head with the agent lines that follow; first those without a head, under None."""
        head: HeadLine | None = None
        agents: list[AgentLine] = []
        for line in self.classified_lines:
            if isinstance(line, HeadLine):
                yield head, agents
                head = line
                agents = []
            elif isinstance(line, AgentLine):
                agents.append(line)
        yield head, agents

    @property
    def head_line_numbers(self) -> tuple[int, ...]:
        """Numbers of the lines that MoNet reads as heads: it counts announced lines, whatever they are."""
        heads: list[int] = []
        n_announced = 0  # agent lines of the last head that are still to come
        for line in self.classified_lines:
            if line.kind is LineKind.COMMENT:
                continue
            if n_announced:
                n_announced -= 1
            else:
                heads.append(line.text_line.number)
                n_announced = parse_integer(line.word(1)) or 0
        return tuple(heads)

    def commands_with_id(self, command_id: int) -> tuple[MonetCommand, ...]:
        """Return the commands with an ID; a robot uses the last."""
        return tuple(command for command in self.commands if command.id == command_id)

    def with_added_command(
        self, head: str, agents: Iterable[str], comment: Iterable[str] = ()
    ) -> MonetCommands:
        """Return the file with one more command at its end, in the file's own line ends.

        Args:
            head: the head line.
            agents: the agent lines.
            comment: lines of a comment above the head.
        """
        texts = (*comment, head, *agents)
        return self._parse(
            [*self._terminated_lines(), *(text.encode("latin-1") + self.eol for text in texts)]
        )

    def with_replaced_command(
        self,
        command_id: int,
        head: str,
        agents: Iterable[str],
        new_comments: Mapping[str, str] = MappingProxyType({}),
    ) -> MonetCommands:
        """Return the file with a command in place of the last one with an ID, and without earlier ones.

        Args:
            command_id: the ID.
            head: new head line.
            agents: new agent lines.
            new_comments: replacements of comments right above the command, by their present text.
        """
        replaced = self.commands_with_id(command_id)
        removed_lines: set[int] = set()
        for command in replaced:
            removed_lines.update(line.text_line.number for line in (command.head, *command.agent_lines))
        new_lines = [text.encode("latin-1") + self.eol for text in (head, *agents)]
        last_head_line = replaced[-1].head.text_line.number
        result: list[bytes] = []
        for line in self.lines:
            if line.number == last_head_line:
                result = [*self._replace_comments(result, new_comments), *new_lines]
            elif line.number not in removed_lines:
                result.append(line.raw)
        return self._parse(result)

    def _replace_comments(self, lines: list[bytes], new_comments: Mapping[str, str]) -> list[bytes]:
        """Return lines with replacements for the comments at their end, by the present text of a comment."""
        result = list(lines)
        for index in range(len(lines) - 1, -1, -1):
            text = lines[index].rstrip(b"\r\n").decode("latin-1")
            if not text.startswith("#"):
                break
            if text in new_comments:
                result[index] = new_comments[text].encode("latin-1") + self.eol
        return result

    def _terminated_lines(self) -> list[bytes]:
        """Return the lines, the last of them with a line end."""
        lines = [line.raw for line in self.lines]
        if lines and not lines[-1].endswith(b"\n"):
            lines[-1] += self.eol
        return lines

    def _parse(self, lines: list[bytes]) -> MonetCommands:
        """Return lines as a file with the path of this one."""
        return MonetCommands(tuple(split_lines(b"".join(lines), self.path)), self.path)


def read_commands(data: bytes, path: Path | None = None) -> MonetCommands:
    """Read a MONETCMD.CFG without checking it."""
    return MonetCommands(tuple(split_lines(data, path)), path)


def read_transitions(data: bytes, path: Path | None = None) -> MonetTransitions:
    """Read a MONET.CFG without checking it."""
    return MonetTransitions(tuple(split_lines(data, path)), path)


def is_command_list(text: MonetText) -> bool:
    """Return whether a text is a MONETCMD.CFG and not a MONET.CFG: only the former has head lines."""
    return any(line.kind is LineKind.HEAD for line in text.classified_lines)
