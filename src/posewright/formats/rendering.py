"""What comes of writing a motion in a format: the bytes, and the truth about them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from posewright.motions import Motion


class KeyTimes(Enum):
    """At which times a format that has key times of its own for every joint writes a joint's angle.

    OWN: only where the joint does something, so that each joint keeps its own key times.
    ALL: flattened: every joint at every keyframe.
    """

    OWN = "own"
    ALL = "all"


@dataclass(frozen=True)
class WriteOptions:
    """What a person may ask of a writer.

    Attributes:
        keys: for formats in which every joint has key times of its own.
        straighten: whether curved ways are first cut into straight pieces.
    """

    keys: KeyTimes = KeyTimes.OWN
    straighten: bool = False


@dataclass(frozen=True)
class Quantum:
    """The smallest step that a format can say; None where it is finer than anything that matters.

    Attributes:
        angle_rad: of an angle [rad].
        time_s: of a time [s].
    """

    angle_rad: float | None = None
    time_s: float | None = None


EXACT = Quantum()


@dataclass(frozen=True)
class Rendering:
    """A motion in the bytes of a format.

    Attributes:
        data: the whole file.
        losses: what of the motion the format cannot hold, in words; it is written only if that is accepted.
        remarks: what had to be filled in or said in another way, in words; nothing is lost by it.
        times_s: when each keyframe of the motion is reached in the file [s]; None for one that is merged away
            or nobody can tell. Empty where the format says no times.
    """

    data: bytes
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    times_s: tuple[float | None, ...] = ()


def as_they_are(motion: Motion) -> tuple[float, ...]:
    """Return when each keyframe is reached in a file that says just what the motion does [s]."""
    return tuple(motion.keyframe_times.tolist())
