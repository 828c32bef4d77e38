"""Messages between MoNet, its clients and its agents; names are those of Sony's MoNetData.h."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

IDLE = "IDLE"
"""State of an agent that plays nothing."""


class MoNetStatus(Enum):
    """Result of a command: Sony's number, and our text."""

    COMPLETION = (1, "done")
    BUSY = (3, "busy")
    INVALID_ARG = (4, "refused")
    INVALID_WAV = (5, "no sound to be played")

    def __str__(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class MoNetCommand:
    """A client requests the command with an ID."""

    id: int

    def __str__(self) -> str:
        return f"MoNetExecute({self.id})"


@dataclass(frozen=True, slots=True)
class MoNetResult:
    """MoNet reports the result of a command to a client.

    Attributes:
        posture: present posture of the robot.
        reason: the reason of a failure; ours, as Sony's message has a status only.
    """

    id: int
    status: MoNetStatus
    posture: str
    reason: str = ""

    def __str__(self) -> str:
        text = f"{self.id} {self.status}, in posture {self.posture}"
        return f"{text}: {self.reason}" if self.reason else text


@dataclass(frozen=True, slots=True)
class MoNetAgentCommand:
    """MoNet requests an agent to play a motion or a sound.

    Attributes:
        name: the name in the line of the file.
        index: the index of the entry in the archive, or a number that the agent knows; -1 for none.
    """

    agent: str
    name: str
    index: int

    def __str__(self) -> str:
        return f"{self.agent} {self.name} {self.index}"


@dataclass(frozen=True, slots=True)
class MoNetAgentResult:
    """An agent reports the result of a request to MoNet."""

    agent: str
    index: int
    status: MoNetStatus = MoNetStatus.COMPLETION
    reason: str = ""

    def __str__(self) -> str:
        text = f"{self.agent} {self.index} {self.status}"
        return f"{text}: {self.reason}" if self.reason else text
