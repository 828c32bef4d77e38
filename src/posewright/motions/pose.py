"""A pose: where the joints of a robot are, or that they stay, or that they are limp."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.errors import InputError, UnknownNameError

Angles = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pose:
    """Joint angles of a robot; a joint may also be held (unchanged) or free (torque off).

    Attributes:
        joints: names of the joints, in the order of `angles`.
        angles: (n_joints,) [rad], read-only; NaN where the joint is held or free.
        free: names of the joints whose torque is off.
    """

    joints: tuple[str, ...]
    angles: Angles
    free: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        angles = np.array(self.angles, dtype=np.float64)
        if angles.shape != (len(self.joints),):
            raise InputError(f"{len(self.joints)} joints need as many angles, found shape {angles.shape}")
        if len(set(self.joints)) != len(self.joints):
            raise InputError("a pose names a joint twice", hint=f"joints: {', '.join(self.joints)}")
        for name in self.free:
            _require(name, self.joints)
        object.__setattr__(self, "free", frozenset(self.free))
        if self.free:
            angles[self.free_mask] = np.nan
        angles.flags.writeable = False
        object.__setattr__(self, "angles", angles)

    @classmethod
    def of(cls, joints: tuple[str, ...], angles: Mapping[str, float], free: Iterable[str] = ()) -> Pose:
        """Build a pose of `joints` in which every joint not in `angles` [rad] or `free` is held."""
        for name in angles:
            _require(name, joints)
        return cls(joints, np.array([angles.get(name, np.nan) for name in joints]), frozenset(free))

    @property
    def free_mask(self) -> Flags:
        """(n_joints,) true where the joint is free."""
        if not self.free:
            return np.zeros(len(self.joints), dtype=np.bool_)
        return np.array([name in self.free for name in self.joints], dtype=np.bool_)

    @property
    def held_mask(self) -> Flags:
        """(n_joints,) true where the joint is held."""
        return np.isnan(self.angles) & ~self.free_mask

    def angle(self, joint: str) -> float:
        """Return the angle of `joint` [rad]; NaN where it is held or free."""
        _require(joint, self.joints)
        return float(self.angles[self.joints.index(joint)])

    def on(self, joints: tuple[str, ...]) -> Pose:
        """Return this pose for another choice or order of `joints`; joints it does not name are held."""
        if joints == self.joints:
            return self
        own = dict(zip(self.joints, self.angles.tolist(), strict=True))
        return Pose(
            joints, np.array([own.get(name, np.nan) for name in joints]), self.free.intersection(joints)
        )

    def over(self, previous: Pose) -> Pose:
        """Return this pose reached from `previous`: held joints stay as they were there."""
        before = previous.on(self.joints)
        held = self.held_mask
        free = self.free | {
            name for name, kept in zip(self.joints, held, strict=True) if kept and name in before.free
        }
        return Pose(self.joints, np.where(held, before.angles, self.angles), frozenset(free))

    def same_as(self, other: Pose) -> Flags:
        """Return (n_joints,) where this pose and another of the same joints ask for the same."""
        same = (self.angles == other.angles) | (np.isnan(self.angles) & np.isnan(other.angles))
        return np.asarray(same & (self.free_mask == other.free_mask), dtype=np.bool_)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[tuple[str, ...], tuple[float | None, ...], frozenset[str]]:
        # + 0.0 makes the two zeros one; NaN never equals itself, so it is named
        angles = tuple(None if angle != angle else angle + 0.0 for angle in self.angles.tolist())  # noqa: PLR0124 - NaN
        return self.joints, angles, self.free


def _require(name: str, joints: tuple[str, ...]) -> None:
    if name not in joints:
        raise UnknownNameError.among("joint", name, joints)
