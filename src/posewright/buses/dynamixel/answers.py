"""What comes back over a bus of protocol 1.0: answers, why there is none, and how often each came."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum

from posewright.bodies import FaultKind
from posewright.buses.dynamixel.control_table import StatusError, table_of_model
from posewright.documents.plain import PlainMapping
from posewright.errors import BodyError

FAULTS = {
    StatusError.OVERHEATING: FaultKind.OVERHEATED,
    StatusError.OVERLOAD: FaultKind.OVERLOADED,
    StatusError.INPUT_VOLTAGE: FaultKind.VOLTAGE,
}
"""What a servo reports of itself with any answer; the other bits are about what it was told."""

REFUSALS = StatusError.RANGE | StatusError.ANGLE_LIMIT | StatusError.INSTRUCTION


class NoAnswer(Enum):
    """Why a request has no answer."""

    TIMEOUT = "no answer"
    CORRUPT = "a garbled answer"
    CHECKSUM = "an answer with a wrong checksum"
    WRONG_ID = "an answer of another servo"
    WRONG_LENGTH = "an answer of another length"
    UNHEARD = "a servo that heard a wrong checksum"


@dataclass
class BusCounts:
    """What happened on a bus since it was opened.

    Attributes:
        sent: packets sent, those of every retry too.
        answered: whole answers.
        timeouts: times nothing came.
        corrupt: answers that were cut off or were no packet.
        checksum: packets with a wrong checksum.
        wrong_id: whole packets of a servo that was not asked.
        wrong_length: whole packets with more or fewer bytes than were asked for.
        echoes: our own packets, which an adapter let come back.
        unheard: answers that say that the servo heard a wrong checksum.
        retries: requests sent again.
        given_up: requests for which all retries were in vain.
        reported: how often a servo's answer had each error bit, by the bit's name.
    """

    sent: int = 0
    answered: int = 0
    timeouts: int = 0
    corrupt: int = 0
    checksum: int = 0
    wrong_id: int = 0
    wrong_length: int = 0
    echoes: int = 0
    unheard: int = 0
    retries: int = 0
    given_up: int = 0
    reported: dict[str, int] = field(default_factory=dict)

    @property
    def faults(self) -> int:
        """How many answers were missing or damaged."""
        return sum(getattr(self, name) for name in _MISSED.values())

    def to_dict(self) -> PlainMapping:
        """Return them as plain data."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"faults": self.faults}

    def fail(self, why: NoAnswer) -> None:
        """Count an answer that did not come."""
        name = _MISSED[why]
        setattr(self, name, getattr(self, name) + 1)


_MISSED = {
    NoAnswer.TIMEOUT: "timeouts",
    NoAnswer.CORRUPT: "corrupt",
    NoAnswer.CHECKSUM: "checksum",
    NoAnswer.WRONG_ID: "wrong_id",
    NoAnswer.WRONG_LENGTH: "wrong_length",
    NoAnswer.UNHEARD: "unheard",
}


@dataclass(frozen=True, slots=True)
class StatusPacket:
    """What a servo answered."""

    id: int
    error: StatusError
    parameters: bytes = b""


@dataclass(frozen=True, slots=True)
class Ping:
    """Who answered a ping.

    Attributes:
        model_number: None where it answers nothing but pings (its status return level is 0).
        firmware: None as above.
    """

    id: int
    error: StatusError
    model_number: int | None
    firmware: int | None

    @property
    def device(self) -> str:
        """What it is, by its model number."""
        table = None if self.model_number is None else table_of_model(self.model_number)
        return (
            table.device
            if table
            else "unknown"
            if self.model_number is None
            else f"model {self.model_number}"
        )


class ServoSilentError(BodyError):
    """A servo said nothing at all, however often it was asked."""


class PortGoneError(BodyError):
    """The port itself takes or gives nothing more."""


def count_bits(error: int, counts: dict[str, int]) -> None:
    """Count the bits of an answer's error byte, by name."""
    for bit in StatusError:
        if error & bit:
            name = (bit.name or "").lower()
            counts[name] = counts.get(name, 0) + 1


def fault_kinds(error: int) -> tuple[FaultKind, ...]:
    """Return what the error byte of a status packet says of the servo itself."""
    return tuple(kind for bit, kind in FAULTS.items() if error & bit)
