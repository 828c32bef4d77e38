"""What MoNet, its clients and its agents send each other; names are those of Sony's MoNetData.h."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

IDLE = "IDLE"
"""The state of an agent that plays nothing."""


class MoNetStatus(Enum):
    """What became of a command: Sony's number for it, and ours in words."""

    COMPLETION = (1, "done")
    BUSY = (3, "busy")
    INVALID_ARG = (4, "refused")
    INVALID_WAV = (5, "no sound to be played")

    def __str__(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class MoNetCommand:
    """A client asks for the command of an id."""

    id: int

    def __str__(self) -> str:
        return f"MoNetExecute({self.id})"


@dataclass(frozen=True, slots=True)
class MoNetResult:
    """MoNet tells a client what became of a command.

    Attributes:
        posture: where the robot is now.
        why: it was not done; ours, as Sony's tells a status only.
    """

    id: int
    status: MoNetStatus
    posture: str
    why: str = ""

    def __str__(self) -> str:
        why = f": {self.why}" if self.why else ""
        return f"{self.id} {self.status}, in posture {self.posture}{why}"


@dataclass(frozen=True, slots=True)
class MoNetAgentCommand:
    """MoNet asks an agent to play something.

    Attributes:
        name: what the line of the file calls it.
        index: of the entry in the archive, or what else the agent knows; -1 for none.
    """

    agent: str
    name: str
    index: int

    def __str__(self) -> str:
        return f"{self.agent} {self.name} {self.index}"


@dataclass(frozen=True, slots=True)
class MoNetAgentResult:
    """An agent tells MoNet what became of something."""

    agent: str
    index: int
    status: MoNetStatus = MoNetStatus.COMPLETION
    why: str = ""

    def __str__(self) -> str:
        return f"{self.agent} {self.index} {self.status}" + (f": {self.why}" if self.why else "")
