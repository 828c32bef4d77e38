"""The text files of MONET: commands (MONETCMD.CFG), ways between postures (MONET.CFG), and their lines.

Source: formats.md section 1.3. Lines are taken apart as MoNet takes them apart. A file is kept as its lines,
so that what is not edited is written back byte for byte.
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
    """What a line is: MoNet takes it for what comes next, we for what it looks like."""

    COMMENT = "comment"
    BLANK = "blank"
    HEAD = "head"
    AGENT = "agent"


@dataclass(frozen=True)
class MonetLine:
    """A line and its words."""

    line: TextLine

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words between blanks and tabs; bytes are letters of Latin-1, so nothing is lost."""
        return tuple(word.decode("latin-1") for word in _WORD.findall(self.line.raw.rstrip(b"\r\n")))

    @cached_property
    def kind(self) -> LineKind:
        """What the line looks like."""
        if self.line.raw.startswith(b"#"):
            return LineKind.COMMENT
        if not self.words:
            return LineKind.BLANK
        numbers = [number(word) is not None for word in self.words[:3]]
        if numbers[0] or (all(numbers[1:]) and len(numbers) == 3 and not self._names_an_agent):
            return LineKind.HEAD
        return LineKind.AGENT

    @property
    def _names_an_agent(self) -> bool:
        return self.words[0].lower().startswith(_AGENT)

    def word(self, place: int) -> str:
        """Return a word by its place from 0; empty where there is none."""
        return self.words[place] if place < len(self.words) else ""


@dataclass(frozen=True)
class AgentLine(MonetLine):
    """`<agent> <name> <index>`: who is to play what."""

    @property
    def agent(self) -> str:
        """Who carries it out."""
        return self.word(0)

    @property
    def name(self) -> str:
        """What is to be played."""
        return self.word(1)

    @property
    def index(self) -> int | None:
        """Where in the archive it is; below 0 it is looked up by name. None where that is no number."""
        return number(self.word(2))


@dataclass(frozen=True)
class HeadLine(MonetLine):
    """`<id> <number of agent lines> <sync key>`: a command begins."""

    @property
    def id(self) -> int | None:
        """By which a program asks for the command; None where it is no number."""
        return number(self.word(0))

    @property
    def declared(self) -> int | None:
        """How many agent lines are said to follow; None where it is no number."""
        return number(self.word(1))


def number(word: str) -> int | None:
    """Return a whole number, or None where `word` is none."""
    return int(word) if _NUMBER.fullmatch(word) else None


def sense(line: TextLine) -> MonetLine:
    """Return the line as what it looks like."""
    taken = MonetLine(line)
    made = {LineKind.HEAD: HeadLine, LineKind.AGENT: AgentLine}.get(taken.kind, MonetLine)
    return made(line)


@dataclass(frozen=True)
class MonetText:
    """A file as its lines."""

    lines: tuple[TextLine, ...] = field(repr=False)
    path: Path | None = None

    @cached_property
    def senses(self) -> tuple[MonetLine, ...]:
        """What each line is."""
        return tuple(map(sense, self.lines))

    @property
    def agents(self) -> tuple[AgentLine, ...]:
        """The lines that say who plays what."""
        return tuple(line for line in self.senses if isinstance(line, AgentLine))

    @property
    def eol(self) -> bytes:
        """The line end of the file: that of most of its lines."""
        windows = sum(line.raw.endswith(b"\r\n") for line in self.lines)
        unix = sum(line.raw.endswith(b"\n") for line in self.lines) - windows
        return b"\r\n" if windows > unix else b"\n"

    def render(self) -> bytes:
        """Return the bytes of the file."""
        return b"".join(line.raw for line in self.lines)


@dataclass(frozen=True)
class MonetTransitions(MonetText):
    """MONET.CFG: the ways from one posture to another."""


@dataclass(frozen=True)
class Command:
    """What a program can ask for by a number.

    Attributes:
        agents: the agent lines up to the next head, whatever the head says of their number.
    """

    head: HeadLine
    agents: tuple[AgentLine, ...]

    @property
    def id(self) -> int | None:
        """By which a program asks for it; None where it is no number."""
        return self.head.id


@dataclass(frozen=True)
class MonetCommands(MonetText):
    """MONETCMD.CFG: what a program can ask for."""

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands in the order of the file."""
        return tuple(Command(head, tuple(agents)) for head, agents in self._groups() if head is not None)

    @cached_property
    def stray(self) -> tuple[AgentLine, ...]:
        """The agent lines before the first head."""
        return tuple(line for head, agents in self._groups() if head is None for line in agents)

    def _groups(self) -> Iterator[tuple[HeadLine | None, list[AgentLine]]]:
        head: HeadLine | None = None
        agents: list[AgentLine] = []
        for line in self.senses:
            if isinstance(line, HeadLine):
                yield head, agents
                head, agents = line, []
            elif isinstance(line, AgentLine):
                agents.append(line)
        yield head, agents

    @property
    def heads_read(self) -> tuple[int, ...]:
        """The lines that MoNet takes for heads, by number: it only counts the lines that were announced."""
        read: list[int] = []
        pending = 0
        for line in self.senses:
            if line.kind is LineKind.COMMENT:
                continue
            if pending:
                pending -= 1
            else:
                read.append(line.line.number)
                pending = number(line.word(1)) or 0
        return tuple(read)

    def with_id(self, number: int) -> tuple[Command, ...]:
        """Return the commands of that id; a robot keeps the last."""
        return tuple(command for command in self.commands if command.id == number)

    def with_command(self, head: str, agents: Iterable[str], comment: Iterable[str] = ()) -> MonetCommands:
        """Return the file with one more command at its end, in the file's own line ends."""
        texts = (*comment, head, *agents)
        return self._of([*self._closed(), *(text.encode("latin-1") + self.eol for text in texts)])

    def with_replaced(
        self, number: int, head: str, agents: Iterable[str], retold: Mapping[str, str] = MappingProxyType({})
    ) -> MonetCommands:
        """Return the file with a command in the place of the last of that id, and without earlier ones.

        Comments right above the command that stand in `retold` say what they say there; all others stay.
        """
        old = self.with_id(number)
        gone = {line.line.number for command in old for line in (command.head, *command.agents)}
        new = [text.encode("latin-1") + self.eol for text in (head, *agents)]
        kept: list[bytes] = []
        for line in self.lines:
            if line.number == old[-1].head.line.number:
                kept = [*self._retold(kept, retold), *new]
            elif line.number not in gone:
                kept.append(line.raw)
        return self._of(kept)

    def _retold(self, lines: list[bytes], retold: Mapping[str, str]) -> list[bytes]:
        """Return lines, the comments that they end in saying what they are to say."""
        after = list(lines)
        for place in range(len(lines) - 1, -1, -1):
            text = lines[place].rstrip(b"\r\n").decode("latin-1")
            if not text.startswith("#"):
                break
            if text in retold:
                after[place] = retold[text].encode("latin-1") + self.eol
        return after

    def _closed(self) -> list[bytes]:
        """Return the lines, the last of them with a line end."""
        raw = [line.raw for line in self.lines]
        if raw and not raw[-1].endswith(b"\n"):
            raw[-1] += self.eol
        return raw

    def _of(self, lines: list[bytes]) -> MonetCommands:
        return MonetCommands(tuple(split_lines(b"".join(lines), self.path)), self.path)


def read_commands(data: bytes, path: Path | None = None) -> MonetCommands:
    """Read a MONETCMD.CFG; whatever stands in it is kept, and only a check finds fault with it."""
    return MonetCommands(tuple(split_lines(data, path)), path)


def read_transitions(data: bytes, path: Path | None = None) -> MonetTransitions:
    """Read a MONET.CFG; as `read_commands`."""
    return MonetTransitions(tuple(split_lines(data, path)), path)


def is_command_list(text: MonetText) -> bool:
    """Tell a MONETCMD.CFG from a MONET.CFG: only the former has head lines."""
    return any(line.kind is LineKind.HEAD for line in text.senses)
