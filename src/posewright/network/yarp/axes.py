"""The axes of a control board: which joint is which of them, in degrees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.errors import InputError
from posewright.network.yarp.bottle import Bottle, Value
from posewright.robots import Robot
from posewright.units import DEG_PER_RAD, RAD_PER_DEG

AXES = {"uc3m_thesis": 23}
"""How many axes a board has whose motors are numbered so; one whose number no joint has stays where it is.

Source: UC3M 2013: 23 motors, of which 4 5 9 10 23 are unused.
"""


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of a board: motor number k of a numbering is axis k - 1, as YARP counts from 0.

    Attributes:
        columns: the joint of each axis; None where it has none, and so stays where it is.
    """

    robot: Robot
    columns: tuple[int | None, ...]

    @classmethod
    def of(cls, robot: Robot) -> Axes:
        """Return the axes as YARP's users of this robot count them, or else in the order of its joints."""
        for numbering in AXES.keys() & robot.numberings.keys():
            joints = robot.numbering(numbering)
            numbers = range(1, AXES[numbering] + 1)
            return cls(robot, tuple(robot.index(joints[k]) if k in joints else None for k in numbers))
        return cls(robot, tuple(range(len(robot.joints))))

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """What each is called: the joint it moves, or by its motor's number."""
        joints = self.robot.joint_names
        return tuple(
            f"unused_{axis + 1}" if column is None else joints[column]
            for axis, column in enumerate(self.columns)
        )

    @cached_property
    def driven(self) -> Indices:
        """The axes that have a joint, `(k,)`."""
        return np.array([axis for axis, column in enumerate(self.columns) if column is not None], np.intp)

    @cached_property
    def joints(self) -> Indices:
        """The joints of the driven axes, `(k,)`."""
        return np.array([column for column in self.columns if column is not None], np.intp)

    def degrees(self, values: Floats) -> Floats:
        """Return angles or speeds of joints, `(n_joints,)` [rad], as those of axes, `(n_axes,)` [deg]."""
        return self.spread(values * DEG_PER_RAD)

    def spread(self, values: Floats) -> Floats:
        """Return what joints have, `(n_joints,)`, by axis, `(n_axes,)`; 0 for axes without a joint."""
        spread = np.zeros(len(self))
        spread[self.driven] = values[self.joints]
        return spread

    def radians(self, values_deg: Floats) -> Floats:
        """Return angles of axes, `(n_axes,)` [deg], as those of joints, `(n_joints,)` [rad]."""
        angles = np.full(len(self.robot.joints), np.nan)
        angles[self.joints] = values_deg[self.driven] * RAD_PER_DEG
        return angles


def number(value: Value) -> float:
    """Return a number as it came, or raise InputError."""
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise InputError("what is no finite number", hint="such as 3 or -0.5")


def numbers(value: Value, n: int) -> Floats:
    """Return a list of n numbers, or raise InputError."""
    if not isinstance(value, tuple) or len(value) != n:
        raise InputError("what is no list of a number an axis", hint=f"of {n} here")
    return np.array([number(one) for one in value])


def vector(values: Floats) -> Bottle:
    """Return an array as the list of doubles that YARP calls a Vector."""
    return tuple(values.tolist())
