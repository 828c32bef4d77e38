"""What MoNet, its clients and its agents send each other; names are those of Sony's MoNetData.h."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

IDLE = "IDLE"
"""The state of an agent that plays nothing."""


class MoNetStatus(Enum):
    """What became of a command; the values are Sony's."""

    COMPLETION = 1
    BUSY = 3
    INVALID_ARG = 4
    INVALID_WAV = 5

    def __str__(self) -> str:
        return _SAID[self]


_SAID = {
    MoNetStatus.COMPLETION: "done",
    MoNetStatus.BUSY: "busy",
    MoNetStatus.INVALID_ARG: "refused",
    MoNetStatus.INVALID_WAV: "no sound to be played",
}


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
        sync: whether it is to begin in the same frame as the other agent of the command.
    """

    agent: str
    name: str
    index: int
    sync: bool = False

    def __str__(self) -> str:
        return f"{self.agent} {self.name} {self.index}{' together' if self.sync else ''}"


@dataclass(frozen=True, slots=True)
class MoNetAgentResult:
    """An agent tells MoNet what became of something."""

    agent: str
    index: int
    status: MoNetStatus = MoNetStatus.COMPLETION
    why: str = ""

    def __str__(self) -> str:
        return f"{self.agent} {self.index} {self.status}" + (f": {self.why}" if self.why else "")
