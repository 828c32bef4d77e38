"""Answers over a bus of protocol 1.0: status packets, reasons for missing ones, and counters."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum

from posewright.bodies import FaultKind
from posewright.buses.dynamixel.control_table import StatusError, name_of_model
from posewright.documents.plain import PlainMapping
from posewright.errors import BodyError

FAULTS = {
    StatusError.OVERHEATING: FaultKind.OVERHEATED,
    StatusError.OVERLOAD: FaultKind.OVERLOADED,
    StatusError.INPUT_VOLTAGE: FaultKind.VOLTAGE,
}
"""Error bits about the servo itself, which come with any answer; the other bits are about the request."""

REJECTIONS = StatusError.RANGE | StatusError.ANGLE_LIMIT | StatusError.INSTRUCTION
"""Error bits of a request that the servo rejects."""


class NoAnswer(Enum):
    """Why a request has no valid answer; the value is for messages: `VALUE from servo 5`."""

    TIMEOUT = "no answer"
    CUT_OFF = "a cut-off answer"
    CORRUPT = "a garbled answer"
    CHECKSUM = "an answer with a wrong checksum"
    WRONG_ID = "an answer with another ID"
    WRONG_LENGTH = "an answer of the wrong length"
    UNHEARD = "a report of a wrong checksum"


@dataclass
class BusCounts:
    """Counters of a bus since it was opened; the names are the keys of `to_dict`.

    Attributes:
        sent: packets sent, including retries.
        answered: valid answers.
        timeouts: requests without any answer.
        corrupt: answers that were cut off or were no packet.
        checksum: packets with a wrong checksum.
        wrong_id: valid packets with another ID than that of the request.
        wrong_length: valid packets with more or fewer bytes than requested.
        echoes: our own packets, echoed by the adapter.
        unheard: answers that report that the request arrived with a wrong checksum.
        retries: requests sent again.
        given_up: requests of which all retries failed.
        reported: how often an answer had each error bit, by the bit's name.
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
        """Number of answers that were missing or damaged."""
        return sum(getattr(self, name) for name in set(_COUNTERS.values()))

    def to_dict(self) -> PlainMapping:
        """Return the counters as plain data."""
        counters = {counter.name: getattr(self, counter.name) for counter in fields(self)}
        return counters | {"faults": self.faults}

    def count_failure(self, reason: NoAnswer) -> None:
        """Count an answer that was missing or damaged."""
        name = _COUNTERS[reason]
        setattr(self, name, getattr(self, name) + 1)


_COUNTERS = {
    NoAnswer.TIMEOUT: "timeouts",
    NoAnswer.CUT_OFF: "corrupt",
    NoAnswer.CORRUPT: "corrupt",
    NoAnswer.CHECKSUM: "checksum",
    NoAnswer.WRONG_ID: "wrong_id",
    NoAnswer.WRONG_LENGTH: "wrong_length",
    NoAnswer.UNHEARD: "unheard",
}


@dataclass(frozen=True, slots=True)
class StatusPacket:
    """An answer of a servo."""

    id: int
    error: StatusError
    parameters: bytes = b""


@dataclass(frozen=True, slots=True)
class Ping:
    """An answer to a ping.

    Attributes:
        id: the ID of the device.
        error: the bits of its error byte.
        model_number: None if the device answers nothing but pings (its status return level is 0).
        firmware: None as above.
    """

    id: int
    error: StatusError
    model_number: int | None
    firmware: int | None

    @property
    def device(self) -> str:
        """Name of the device by its model number, such as AX-12A."""
        if self.model_number is None:
            return "unknown"
        return name_of_model(self.model_number)


class ServoSilentError(BodyError):
    """A servo did not answer any of the retries."""


class PortGoneError(BodyError):
    """The port itself can no longer be written or read."""


def count_bits(error: int, counts: dict[str, int]) -> None:
    """Add the bits of an answer's error byte to the counts by name."""
    for bit in StatusError:
        if error & bit:
            name = (bit.name or "").lower()
            counts[name] = counts.get(name, 0) + 1


def fault_kinds(error: int) -> tuple[FaultKind, ...]:
    """Return the faults of the servo itself in the error byte of a status packet."""
    return tuple(kind for bit, kind in FAULTS.items() if error & bit)
