"""One line of a MONET configuration file, taken apart as MoNet takes it apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from posewright.formats.text_lines import Line

_WORD = re.compile(rb"[^ \t]+")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_AGENT = "monetagent"


class Kind(Enum):
    """What a line is: MoNet takes it for what comes next, we for what it looks like."""

    COMMENT = "comment"
    BLANK = "blank"
    HEAD = "head"
    AGENT = "agent"


@dataclass(frozen=True)
class MonetLine:
    """A line and its words."""

    line: Line

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words between blanks and tabs; bytes are letters of Latin-1, so nothing is lost."""
        return tuple(word.decode("latin-1") for word in _WORD.findall(self.line.raw.rstrip(b"\r\n")))

    @cached_property
    def kind(self) -> Kind:
        """What the line looks like."""
        if self.line.raw.startswith(b"#"):
            return Kind.COMMENT
        if not self.words:
            return Kind.BLANK
        numbers = [number(word) is not None for word in self.words[:3]]
        if numbers[0] or (all(numbers[1:]) and len(numbers) == 3 and not self._names_an_agent):
            return Kind.HEAD
        return Kind.AGENT

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

    @property
    def sync(self) -> bool:
        """Whether the agents begin together."""
        return not self.word(2).startswith("0")


def number(word: str) -> int | None:
    """Return a whole number, or None where `word` is none."""
    return int(word) if _NUMBER.fullmatch(word) else None


def sense(line: Line) -> MonetLine:
    """Return the line as what it looks like."""
    taken = MonetLine(line)
    made = {Kind.HEAD: HeadLine, Kind.AGENT: AgentLine}.get(taken.kind, MonetLine)
    return made(line)
