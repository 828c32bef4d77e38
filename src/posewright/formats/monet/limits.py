"""What Sony's object MoNet can hold and knows: the sizes of its buffers, its agents, postures and folders.

Source: MoNet of Sony's OPEN-R SDK (MoNet.h, MoNetData.h, MoNetCommandInfo.h, MoNet.cc, MTNAgent.cc,
MTNAgent7.cc); formats.md section 1.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

LINE_BYTES = 255
"""A line is read into 256 bytes, comments too; what is longer is read on as if it were another line."""

NAME_BYTES = 31
"""Names of agents and commands are copied into 32 bytes, whatever their length."""

NUMBER_BYTES = 7
"""Numbers are copied into 8 bytes, whatever their length."""

AGENT_LINES = 2
"""Agent lines that a command keeps; further ones are read and forgotten."""

NULL_TITLE = "null"
"""How Sony's files call a motion that is in no archive: the robot stays as it is, and that is meant."""

ANY = "any"
"""The posture that stands for every posture."""

FIRST_POSTURE = "nt"
"""The posture MoNet believes the robot to be in when it starts."""

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

POSTURE_FILE = "POSTURE.CFG"


@dataclass(frozen=True)
class Model:
    """A robot as MoNet tells it.

    Attributes:
        folder: below `OPEN-R/MW/CONF`, where its files lie.
        design: the design label of the motions that its motion agents play.
        robot: the card that has the joints of this design.
    """

    folder: str
    design: str
    robot: str


# on an ERS-210, too, MoNet plays motions of the joints that it shares with an ERS-220
MODELS: Mapping[str, Model] = MappingProxyType(
    {
        "ERS-210": Model("ERS-200", "DRX-900", "sony_ers220"),
        "ERS-220": Model("ERS-200", "DRX-900", "sony_ers220"),
        "ERS-7": Model("ERS-7", "DRX-1000", "sony_ers7"),
    }
)
