"""What OPEN-R objects send each other without copying it: shared memory, and the vector of joint commands.

Source: seeds.md A4 and A5: a region's reference counter says who still needs it, and a vector says for each
joint where it is to be in each of up to 16 frames, in whole micro-radians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from numbers import Integral
from typing import Any, Generic, TypeVar

from posewright.errors import InputError

MAX_FRAMES = 16  # of one vector: OPEN-R's `ocommandMAX_FRAMES`
MICRO = 1_000_000
"""Micro-radians in a radian, and micro-whatever in the unit of a sensor."""

INT32 = range(-(2**31), 2**31)
"""The integers of an AIBO's processor."""

Data = TypeVar("Data")


def micro(rad: float) -> int:
    """Return an angle in whole micro-radians, cut off towards zero: `int(1e6 * rad)` (seeds.md A4)."""
    return int(MICRO * rad)


class RCRegion(Generic[Data]):
    """A reference-counted region of shared memory.

    Who makes a region holds the first reference. Sending it adds one until the receiver has been told, and a
    receiver that needs it longer adds its own. With no reference but its maker's it is free.

    Args:
        freed: is called when it has become free.
    """

    def __init__(self, data: Data, freed: Callable[[], None] | None = None) -> None:
        self.data = data
        self._references, self._freed = 1, freed

    @property
    def is_free(self) -> bool:
        """Whether nobody needs it but its maker, who may then write to it."""
        return self._references == 1

    def add_reference(self) -> None:
        """Say that one more needs it."""
        self._references += 1

    def remove_reference(self) -> None:
        """Say that one no longer needs it.

        Raises:
            InputError: only its maker's reference is left.
        """
        if self._references == 1:
            raise InputError("a reference to a free region was removed", hint="each add_reference allows one")
        self._references -= 1
        if self.is_free and self._freed is not None:
            self._freed()


def find_free_region(regions: Iterable[RCRegion[Data]]) -> RCRegion[Data] | None:
    """Return the first region that nobody else needs; None while all are needed."""
    return next((region for region in regions if region.is_free), None)


class DataType(Enum):
    """What the values of a command are: OPEN-R's `odataJOINT_COMMAND...`."""

    JOINT_COMMAND2 = 2
    """A joint with a servo: angles."""
    JOINT_COMMAND4 = 4
    """An ear, which only knows two positions: the nearer of the two to the angle."""


@dataclass(slots=True)
class OCommandInfo:
    """Which primitive a command is for, and for how many frames; 0 leaves it as it is."""

    data_type: DataType = DataType.JOINT_COMMAND2
    primitive: int = -1  # as `OpenR.open_primitive` numbers it
    n_frames: int = 0


@dataclass(slots=True)
class OCommandVectorData:
    """Where joints are to be in the next frames; one object sends it to `OVirtualRobotComm`.

    Attributes:
        infos: one for each joint it has room for.
        values: of each, the angle in each frame [micro-radians]; the first `n_frames` count.
        n_data: how many of them count.
    """

    infos: list[OCommandInfo]
    values: list[list[int]]
    n_data: int = 0

    @classmethod
    def with_room_for(cls, n: int) -> OCommandVectorData:
        """Return an empty vector for up to `n` joints: `OPENR::NewCommandVectorData`."""
        return cls([OCommandInfo() for _ in range(n)], [[0] * MAX_FRAMES for _ in range(n)], 0)

    def set(
        self, place: int, primitive: int, frames: Sequence[int], data_type: DataType = DataType.JOINT_COMMAND2
    ) -> None:
        """Set what one joint is to do; without `frames` it stays as it is.

        Raises:
            InputError: there is no room for it, or there are more than 16 frames, or no integers of 32 bits.
        """
        refuse_no_angles(frames)
        if not 0 <= place < len(self.infos) or len(frames) > MAX_FRAMES:
            what = f"place {place} and {len(frames)} frames"
            raise InputError(what, hint=f"places 0 to {len(self.infos) - 1}, at most {MAX_FRAMES} frames")
        self.infos[place] = OCommandInfo(data_type, primitive, len(frames))
        self.values[place][: len(frames)] = frames

    def set_n_data(self, n: int) -> None:
        """Say how many joints the vector speaks of, from the first: `SetNumData`."""
        if not 0 <= n <= len(self.infos):
            raise InputError(f"{n} joints", hint=f"the vector has room for {len(self.infos)}")
        self.n_data = n

    @property
    def n_frames(self) -> int:
        """For how long it lasts; a vector that moves nothing takes one frame all the same."""
        return max((info.n_frames for info in self.infos[: self.n_data]), default=0) or 1

    def __str__(self) -> str:
        moved = sum(info.n_frames > 0 for info in self.infos[: self.n_data])
        joints, frames = (
            f"{n} {what}{'s' * (n != 1)}" for n, what in ((moved, "joint"), (self.n_frames, "frame"))
        )
        return f"{joints}, {frames}"


def refuse_no_angles(frames: Iterable[Any]) -> None:
    """Raise InputError where an angle is none in whole micro-radians."""
    for one in frames:
        if not isinstance(one, Integral) or int(one) not in INT32:
            what = f"an angle of {one!r}"
            raise InputError(what, hint="whole micro-radians of 32 bits: int(1e6 * radians)")


def interpolated(current: int, target: int, n_frames: int) -> list[int]:
    """Return the angles on the way from one to another in whole micro-radians, the last of them the target.

    Frame j is `current + (j + 1) * (target - current) / n_frames`, cut off towards zero as C does
    (seeds.md A4).
    """
    way = target - current
    sign = 1 if way >= 0 else -1
    return [current + sign * ((j + 1) * abs(way) // n_frames) for j in range(n_frames)]
