"""What Sony's object MoNet can hold and knows: buffers, agents, folders, postures, and names made of them.

Source: MoNet of Sony's OPEN-R SDK (MoNet.h, MoNetData.h, MoNetCommandInfo.h, MoNet.cc, MTNAgent.cc,
MTNAgent7.cc); formats.md sections 1.1 and 1.3. The motion `a_stand#sit_title` goes from standing to sitting:
MoNet splits a name at every `_` and `#`; the second piece is the posture the motion begins in, the third the
one it ends in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from posewright.errors import FormatError

LINE_BYTES = 255
"""A line is read into 256 bytes, comments too; what is longer is read on as if it were another line."""

NAME_BYTES = 31  # names of agents and commands are copied into 32 bytes, whatever their length
NUMBER_BYTES = 7  # numbers are copied into 8 bytes, whatever their length
AGENT_LINES = 2  # agent lines that a command keeps; further ones are read and forgotten
NULL_TITLE = "null"
"""How Sony's files call a motion that is in no archive: the robot stays as it is, and that is meant."""

ANY = "any"  # the posture that stands for every posture
FIRST_POSTURE = "nt"  # the posture MoNet believes the robot to be in when it starts
POSTURES = frozenset({ANY, FIRST_POSTURE, "stand", "sit", "sleep", "walk"})

SOUND_AGENT = "monetagentSOUND"
MOTION_AGENT = "monetagentMTN"
WALK_AGENT = "monetagentMTNWALK"
NEUTRAL_AGENT = "monetagentNEUTRAL"
ANY_AGENT = "monetagentANY"


@dataclass(frozen=True)
class Agent:
    """Who carries out a line.

    Attributes:
        plays: what its archive holds for it: `OMTN`, `WAVE`; None for one that plays from no archive.
        indices: which indices it knows, for one that plays from no archive.
    """

    plays: str | None
    indices: tuple[int, ...] = ()


AGENTS: Mapping[str, Agent] = MappingProxyType(
    {
        NEUTRAL_AGENT: Agent(None, (0,)),
        MOTION_AGENT: Agent("OMTN"),
        SOUND_AGENT: Agent("WAVE"),
        WALK_AGENT: Agent("OMTN"),
    }
)

OLDER_AGENTS: Mapping[str, Agent] = MappingProxyType(
    {NEUTRAL_AGENT: Agent(None, (0, 1)), ANY_AGENT: Agent(None, (0,))}
)
"""What the MoNet that reads its postures from a POSTURE.CFG knows besides, and otherwise."""


def known_agents(*, older: bool) -> Mapping[str, Agent]:
    """Return the agents that MoNet knows, or that an older one does."""
    return {**AGENTS, **OLDER_AGENTS} if older else AGENTS


POSTURE_FILE = "POSTURE.CFG"


@dataclass(frozen=True)
class Model:
    """A robot as MoNet tells it."""

    folder: str  # below `OPEN-R/MW/CONF`, where its files lie
    design: str  # the design label of the motions that its motion agents play
    robot: str  # the card that has the joints of this design


# on an ERS-210, too, MoNet plays motions of the joints that it shares with an ERS-220
MODELS: Mapping[str, Model] = MappingProxyType(
    {
        "ERS-210": Model("ERS-200", "DRX-900", "sony_ers220"),
        "ERS-220": Model("ERS-200", "DRX-900", "sony_ers220"),
        "ERS-7": Model("ERS-7", "DRX-1000", "sony_ers7"),
    }
)


_PIECES = re.compile(r"[^_#]+")


class Postures(NamedTuple):
    """Where a motion begins and ends, as its name says; empty where the name says nothing."""

    start: str
    end: str

    @property
    def said(self) -> bool:
        """Whether the name says both."""
        return bool(self.start and self.end)

    @property
    def leads_on(self) -> bool:
        """Whether this is a way from one posture to another, that MoNet may take to get there.

        `X#any` is none, though MoNet's graph has it (MoNet.cc, `ReadMoNetConfig`: whatever does not begin in
        `any` and ends elsewhere than it begins). It is a way into a place called `any`, out of which none
        leads, as nothing that begins in `any` is kept; it is never the place MoNet looks for (`Execute`); and
        who plays it remains in X (`NotifyAgentResult` keeps the posture where the end is `any`).
        """
        return self.said and ANY not in self and self.start != self.end

    @property
    def begins_anywhere(self) -> bool:
        """Whether it is played in every posture, and ends in one: MoNet then takes the robot to be there."""
        return self.start == ANY and self.end not in (ANY, "")


NOWHERE = Postures(ANY, ANY)  # of a sound: it needs no posture and changes none


def postures_of(name: str) -> Postures:
    """Return where a motion of that name begins and ends, as MoNet reads it."""
    pieces = _PIECES.findall(name)
    start, end = (*pieces[1:3], "", "")[:2]
    return Postures(start, end)


def is_null(name: str) -> bool:
    """Tell whether a name says that nothing is to be played: `a_sit#sit_null`."""
    return _PIECES.findall(name)[3:] == [NULL_TITLE]


def follows_grammar(name: str) -> bool:
    """Tell whether a name says where the motion begins and ends, in postures that MoNet knows."""
    return "#" in name and set(postures_of(name)) <= POSTURES


def refuse_name(name: str) -> None:
    """Refuse a name that MoNet could not read.

    Raises:
        FormatError: it is empty or longer than 31 bytes, or holds what ends a name or a line.
    """
    hint = f"a name has 1 to {NAME_BYTES} letters, digits, _ and one #, as in a_stand#stand_kick"
    try:
        data = name.encode("latin-1")
    except UnicodeEncodeError as error:
        raise FormatError(f"{name!r} cannot be written in a MONET file", hint=hint) from error
    if len(data) > NAME_BYTES:
        what = f"{name!r} has {len(data)} bytes; MoNet has room for {NAME_BYTES} and would crash"
        raise FormatError(what, hint=hint)
    if not data or any(byte <= 32 or byte == 127 for byte in data):
        raise FormatError(f"{name!r} is no name: it is empty, or has blanks or signs in it", hint=hint)
