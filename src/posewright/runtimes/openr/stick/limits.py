"""Limits of Sony's object MoNet: buffer sizes, agents, models with their folders, postures, and motion names.

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

from posewright.errors import FormatError, UnknownNameError

LINE_BYTES = 255
"""Lines, comments included, are read into 256 bytes; the remainder is read as another line."""

NAME_BYTES = 31  # names of agents and commands are copied into 32 bytes, whatever their length
NUMBER_BYTES = 7  # numbers are copied into 8 bytes, whatever their length
AGENT_LINES = 2  # agent lines that a command stores; further ones are read and dropped
NULL_TITLE = "null"
"""Title of a motion in Sony's files that is intentionally in no archive: the robot stays as it is."""

ANY = "any"  # the posture that stands for every posture
FIRST_POSTURE = "nt"  # the posture that MoNet assumes at the start
POSTURES = frozenset({ANY, FIRST_POSTURE, "stand", "sit", "sleep", "walk"})

SOUND_AGENT = "monetagentSOUND"
MOTION_AGENT = "monetagentMTN"
WALK_AGENT = "monetagentMTNWALK"
NEUTRAL_AGENT = "monetagentNEUTRAL"
ANY_AGENT = "monetagentANY"


MOTION_ENTRY = "OMTN"
SOUND_ENTRY = "WAVE"
"""Types of entries in an archive."""


@dataclass(frozen=True)
class AgentKind:
    """An agent that MoNet knows.

    Attributes:
        entry_type: type of the entries that it plays, `MOTION_ENTRY` or `SOUND_ENTRY`; None if it needs no
            archive.
        indices: indices that an agent without an archive knows.
    """

    entry_type: str | None
    indices: tuple[int, ...] = ()


AGENTS: Mapping[str, AgentKind] = MappingProxyType(
    {
        NEUTRAL_AGENT: AgentKind(None, (0,)),
        MOTION_AGENT: AgentKind(MOTION_ENTRY),
        SOUND_AGENT: AgentKind(SOUND_ENTRY),
        WALK_AGENT: AgentKind(MOTION_ENTRY),
    }
)

OLDER_AGENTS: Mapping[str, AgentKind] = MappingProxyType(
    {NEUTRAL_AGENT: AgentKind(None, (0, 1)), ANY_AGENT: AgentKind(None, (0,))}
)
"""Agents that differ in the older MoNet, which reads its postures from a POSTURE.CFG."""


def known_agents(*, is_older_monet: bool) -> Mapping[str, AgentKind]:
    """Return the agents of MoNet by name; those of the older MoNet if `is_older_monet`."""
    return {**AGENTS, **OLDER_AGENTS} if is_older_monet else AGENTS


POSTURE_FILE = "POSTURE.CFG"


@dataclass(frozen=True)
class RobotModel:
    """A robot model with MONET files."""

    folder: str  # below `OPEN-R/MW/CONF`, where its files lie
    design: str  # the design label of the motions that its motion agents play
    robot: str  # the card that has the joints of this design
    own_card: str  # the card of the model itself


# on an ERS-210, MoNet plays motions of the joints that it shares with an ERS-220
MODELS: Mapping[str, RobotModel] = MappingProxyType(
    {
        "ERS-210": RobotModel("ERS-200", "DRX-900", "sony_ers220", "sony_ers210"),
        "ERS-220": RobotModel("ERS-200", "DRX-900", "sony_ers220", "sony_ers220"),
        "ERS-7": RobotModel("ERS-7", "DRX-1000", "sony_ers7", "sony_ers7"),
    }
)


def resolve_model(name: str) -> str:
    """Return the model of a name, which may also be that of the robot's card: `ERS-210` for `sony_ers210`.

    Raises:
        UnknownNameError: there is no such model.
    """
    model = next((key for key, value in MODELS.items() if name == value.own_card), name)
    if model not in MODELS:
        raise UnknownNameError.among("robot model", name, MODELS, owner="with MONET files")
    return model


_PIECES = re.compile(r"[^_#]+")


class MotionPostures(NamedTuple):
    """The postures in which a motion begins and ends by its name; empty if the name does not state them."""

    start: str
    end: str

    @property
    def has_start_and_end(self) -> bool:
        """Whether the name states both."""
        return bool(self.start and self.end)

    @property
    def is_transition(self) -> bool:
        """Whether this is a transition from one posture to another, which MoNet may use on a route.

        `X#any` is not one, though it is in MoNet's graph (MoNet.cc, `ReadMoNetConfig`: all that do not begin
        in `any` and end in another posture). It leads to a node `any` without exits, as nothing that begins
        in `any` is stored; this node is never a goal (`Execute`); and the posture remains X afterwards
        (`NotifyAgentResult` does not change it if the end is `any`).
        """
        return self.has_start_and_end and ANY not in self and self.start != self.end

    @property
    def begins_anywhere(self) -> bool:
        """Whether it can be played in any posture and ends in one, which MoNet assumes afterwards."""
        return self.start == ANY and self.end not in (ANY, "")


ANY_TO_ANY = MotionPostures(ANY, ANY)  # of a sound, which needs no posture and changes none


def postures_of(name: str) -> MotionPostures:
    """Return the postures in the name of a motion, as MoNet reads it."""
    pieces = _PIECES.findall(name)
    start = pieces[1] if len(pieces) > 1 else ""
    end = pieces[2] if len(pieces) > 2 else ""
    return MotionPostures(start, end)


def is_null(name: str) -> bool:
    """Return whether a name means that nothing is to be played: `a_sit#sit_null`."""
    return _PIECES.findall(name)[3:] == [NULL_TITLE]


def follows_grammar(name: str) -> bool:
    """Return whether a name states start and end in postures that MoNet knows."""
    return "#" in name and set(postures_of(name)) <= POSTURES


def require_valid_name(name: str) -> None:
    """Raise a FormatError unless MoNet can read a name.

    Raises:
        FormatError: the name is empty or longer than 31 bytes, or has blanks or control characters.
    """
    hint = f"a name has 1 to {NAME_BYTES} letters, digits, _ and one #, as in a_stand#stand_kick"
    try:
        data = name.encode("latin-1")
    except UnicodeEncodeError as error:
        raise FormatError(f"{name!r} cannot be written in a MONET file", hint=hint) from error
    if len(data) > NAME_BYTES:
        message = f"{name!r} has {len(data)} bytes; MoNet has room for {NAME_BYTES} and would crash"
        raise FormatError(message, hint=hint)
    has_control_characters = any(byte <= 32 or byte == 127 for byte in data)
    if not data or has_control_characters:
        message = f"{name!r} is not a valid name: it is empty, or has blanks or control characters"
        raise FormatError(message, hint=hint)
