"""The axes of a control board: the joint of each axis, and conversion to degrees."""

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

N_AXES = {"uc3m_thesis": 23}
"""Number of axes of a board by the numbering of its motors; some numbers have no joint.

Source: UC3M 2013: 23 motors, of which 4 5 9 10 23 are unused.
"""


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of a board: motor number k of a numbering is axis k - 1, as YARP counts from 0.

    Attributes:
        robot: the robot.
        columns: the index of each axis's joint; None for an axis without a joint, which never moves.
    """

    robot: Robot
    columns: tuple[int | None, ...]

    @classmethod
    def of(cls, robot: Robot) -> Axes:
        """Return the axes in the numbering for YARP on the robot's card, otherwise in the order of joints."""
        for numbering in N_AXES.keys() & robot.numberings.keys():
            joints = robot.numbering(numbering)
            numbers = range(1, N_AXES[numbering] + 1)
            return cls(robot, tuple(robot.index(joints[k]) if k in joints else None for k in numbers))
        return cls(robot, tuple(range(len(robot.joints))))

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each axis: that of its joint, otherwise `unused_` and the motor's number."""
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
        """Return values of joints, `(n_joints,)`, by axis, `(n_axes,)`; 0 for axes without a joint."""
        axis_values = np.zeros(len(self))
        axis_values[self.driven] = values[self.joints]
        return axis_values

    def radians(self, values_deg: Floats) -> Floats:
        """Return angles of axes, `(n_axes,)` [deg], as those of joints, `(n_joints,)` [rad]."""
        angles = np.full(len(self.robot.joints), np.nan)
        angles[self.joints] = values_deg[self.driven] * RAD_PER_DEG
        return angles


def number(value: Value) -> float:
    """Return a finite number as a float; raise InputError if it is none."""
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise InputError("a value is not a finite number", hint="send one such as 3 or -0.5")


def numbers(value: Value, n: int) -> Floats:
    """Return a list of `n` numbers, `(n,)`; raise InputError if it is none."""
    if not isinstance(value, tuple) or len(value) != n:
        raise InputError("the list does not have one number per axis", hint=f"send {n}")
    return np.array([number(item) for item in value])


def vector(values: Floats) -> Bottle:
    """Return an array, `(n,)`, as a YARP Vector, a list of doubles."""
    return tuple(values.tolist())
