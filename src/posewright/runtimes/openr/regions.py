"""Shared memory of OPEN-R objects, and the vector of joint commands in it.

Source: seeds.md A4 and A5: a region is free when its reference counter is 1, and a vector has for each joint
the angles of up to 16 frames, in whole micro-radians.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from numbers import Integral
from typing import Generic, TypeVar

from posewright.errors import InputError

MAX_FRAMES = 16  # of a vector: OPEN-R's `ocommandMAX_FRAMES`
MICRO_PER_UNIT = 1_000_000
"""Micro-radians in a radian, and millionths in the unit of a sensor."""

INT32 = range(-(2**31), 2**31)
"""Range of the integers of an AIBO's processor."""

Data = TypeVar("Data")


def to_micro_radians(rad: float) -> int:
    """Return an angle in whole micro-radians, truncated towards zero: `int(1e6 * rad)` (seeds.md A4)."""
    return int(MICRO_PER_UNIT * rad)


class RCRegion(Generic[Data]):
    """A reference-counted region of shared memory.

    The creator holds the first reference. Sending adds one until the receiver has been notified, and a
    receiver that needs it longer adds its own. With only the creator's reference left it is free.

    Args:
        data: the contents.
        on_free: is called when the region has become free.
    """

    def __init__(self, data: Data, on_free: Callable[[], None] | None = None) -> None:
        self.data = data
        self._n_references = 1
        self._on_free = on_free

    @property
    def is_free(self) -> bool:
        """Whether only the creator needs it, who may then write to it."""
        return self._n_references == 1

    def add_reference(self) -> None:
        """Add a reference."""
        self._n_references += 1

    def remove_reference(self) -> None:
        """Remove a reference.

        Raises:
            InputError: only the creator's reference is left.
        """
        if self._n_references == 1:
            message = "remove_reference was called for a region that is free"
            raise InputError(message, hint="call it once for each add_reference")
        self._n_references -= 1
        if self.is_free and self._on_free is not None:
            self._on_free()


def find_free_region(regions: Iterable[RCRegion[Data]]) -> RCRegion[Data] | None:
    """Return the first free region; None if all are in use."""
    return next((region for region in regions if region.is_free), None)


class DataType(Enum):
    """Type of the values of a command: OPEN-R's `odataJOINT_COMMAND...`."""

    JOINT_COMMAND2 = 2
    """A joint with a servo: angles."""
    JOINT_COMMAND4 = 4
    """An ear, which has only two positions: it takes the one nearer to the angle."""


@dataclass(slots=True)
class OCommandInfo:
    """The primitive of a command, and its number of frames; 0 leaves the joint as it is."""

    data_type: DataType = DataType.JOINT_COMMAND2
    primitive: int = -1  # from `OpenR.open_primitive`
    n_frames: int = 0


@dataclass(slots=True)
class OCommandVectorData:
    """Commanded angles of joints in the next frames, sent to `OVirtualRobotComm`.

    Attributes:
        infos: one for each joint that the vector has room for.
        values: angles of each joint [micro-radians]; the first `n_frames` of its info are valid.
        n_data: number of valid joints.
    """

    infos: list[OCommandInfo]
    values: list[list[int]]
    n_data: int = 0

    @classmethod
    def with_room_for(cls, n: int) -> OCommandVectorData:
        """Return an empty vector for up to `n` joints: `OPENR::NewCommandVectorData`."""
        return cls([OCommandInfo() for _ in range(n)], [[0] * MAX_FRAMES for _ in range(n)], 0)

    def set(
        self, index: int, primitive: int, frames: Sequence[int], data_type: DataType = DataType.JOINT_COMMAND2
    ) -> None:
        """Set the angles of one joint.

        Args:
            index: index of the joint in the vector.
            primitive: the primitive of the joint.
            frames: angles, one per frame [micro-radians]; none leaves the joint as it is.
            data_type: the data type of the joint.

        Raises:
            InputError: the vector has no such index, there are more than 16 frames, or an angle is no integer
                of 32 bits.
        """
        require_micro_radians(frames)
        if not 0 <= index < len(self.infos) or len(frames) > MAX_FRAMES:
            message = f"the vector cannot hold {len(frames)} frames at index {index}"
            raise InputError(message, hint=f"indices 0 to {len(self.infos) - 1}, at most {MAX_FRAMES} frames")
        self.infos[index] = OCommandInfo(data_type, primitive, len(frames))
        self.values[index][: len(frames)] = frames

    def set_n_data(self, n: int) -> None:
        """Set the number of valid joints: `SetNumData`."""
        if not 0 <= n <= len(self.infos):
            message = f"the vector cannot have {n} joints"
            raise InputError(message, hint=f"it has room for {len(self.infos)}")
        self.n_data = n

    @property
    def n_frames(self) -> int:
        """Duration in frames; a vector that moves no joint lasts one frame."""
        return max((info.n_frames for info in self.infos[: self.n_data]), default=0) or 1

    def __str__(self) -> str:
        n_joints = sum(info.n_frames > 0 for info in self.infos[: self.n_data])
        joints = "1 joint" if n_joints == 1 else f"{n_joints} joints"
        frames = "1 frame" if self.n_frames == 1 else f"{self.n_frames} frames"
        return f"{joints}, {frames}"


def require_micro_radians(frames: Iterable[object]) -> None:
    """Raise an InputError unless all angles are whole micro-radians of 32 bits."""
    for angle in frames:
        if not isinstance(angle, Integral) or int(angle) not in INT32:
            message = f"an angle is {angle!r}"
            raise InputError(message, hint="whole micro-radians of 32 bits: int(1e6 * radians)")


def interpolate(start: int, target: int, n_frames: int) -> list[int]:
    """Return the angles of frames from a start to a target in whole micro-radians; the last is the target.

    Frame j is `start + (j + 1) * (target - start) / n_frames`, truncated towards zero as C does (seeds.md
    A4).
    """
    difference = target - start
    sign = 1 if difference >= 0 else -1
    return [start + sign * ((j + 1) * abs(difference) // n_frames) for j in range(n_frames)]
