"""Coupled limits: limits of a joint that depend on the angles of other joints."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.documents import Node
from posewright.robots.joint import parse_range

MAX_ROUNDING_DEG = 5.0
"""Greatest rounding of a table [deg]."""


@dataclass(frozen=True)
class RangeCondition:
    """The range in which a joint must be for a row of a table to apply [rad]."""

    joint: str
    lower_rad: float
    upper_rad: float


@dataclass(frozen=True)
class CoupledLimit:
    """A row of a table: if all conditions are met, the joint must be within the limits.

    Attributes:
        joint: the limited joint.
        conditions: ranges of other joints.
        lower_rad: limit [rad].
        upper_rad: limit [rad].
        rounding_rad: widening of the conditions' ranges on both sides [rad]. Tables in whole degrees have
            gaps between their rows that the robot does not have.
    """

    joint: str
    conditions: tuple[RangeCondition, ...] = field(repr=False)
    lower_rad: float
    upper_rad: float
    rounding_rad: float = field(default=0.0, repr=False)

    @property
    def table_key(self) -> tuple[str, tuple[str, ...]]:
        """The key of the row's table: the limited joint and the joints of the conditions."""
        return self.joint, tuple(condition.joint for condition in self.conditions)


@dataclass(frozen=True, eq=False)
class _Table:
    """The r rows of one table of limits, with c conditions each, as arrays.

    A row limits a joint while the joints of its conditions are within the row's ranges.

    Attributes:
        column: the column of the limited joint.
        condition_columns: the columns of the joints of the conditions, `(c,)`.
        ranges: lower and upper ends of the conditions' ranges, `(2, r, c)` [rad].
        limits: lower and upper limits, `(2, r)` [rad].
    """

    column: int
    condition_columns: Indices = field(repr=False)
    ranges: Floats = field(repr=False)
    limits: Floats = field(repr=False)

    @classmethod
    def of(cls, rows: Sequence[CoupledLimit], joint_indices: Mapping[str, int]) -> _Table:
        """Return rows as a table; all have the same `CoupledLimit.table_key`.

        Args:
            rows: the rows.
            joint_indices: the index of each joint of the robot, by its name.
        """
        limited_joint, condition_joints = rows[0].table_key
        lower_ends = [
            [condition.lower_rad - row.rounding_rad for condition in row.conditions] for row in rows
        ]
        upper_ends = [
            [condition.upper_rad + row.rounding_rad for condition in row.conditions] for row in rows
        ]
        lower_limits = [row.lower_rad for row in rows]
        upper_limits = [row.upper_rad for row in rows]
        return cls(
            column=joint_indices[limited_joint],
            condition_columns=np.array([joint_indices[name] for name in condition_joints], dtype=np.intp),
            ranges=np.array([lower_ends, upper_ends], dtype=np.float64),
            limits=np.array([lower_limits, upper_limits]),
        )

    def bounds(self, angles: Floats) -> Floats:
        """Return the lower and upper limit of the joint in each pose, `(2, n)` [rad].

        If several rows apply in a pose, the limits are those of the row exceeded least; if none applies, they
        are infinite.

        Args:
            angles: poses of the robot, `(n, n_joints)` [rad].
        """
        condition_angles = angles[:, None, self.condition_columns]
        lower_ends, upper_ends = self.ranges
        is_in_range = (condition_angles >= lower_ends) & (condition_angles <= upper_ends)
        applies = is_in_range.all(axis=-1)  # (n, r)
        limited_angle = angles[:, self.column, None]
        lower_limits, upper_limits = self.limits
        excess = np.maximum(lower_limits - limited_angle, limited_angle - upper_limits)
        excess = np.nan_to_num(excess, nan=0.0)
        least_exceeded = np.where(applies, excess, math.inf).argmin(axis=1)
        bounds = self.limits[:, least_exceeded]
        bounds[:, ~applies.any(axis=1)] = [[-math.inf], [math.inf]]
        return bounds


class Coupling:
    """The tables of a robot's coupled limits, for looking up many poses at once.

    If several rows of a table apply, because the ranges of neighbouring rows overlap, it is enough to satisfy
    one of them.

    Attributes:
        joints: the limited joint of each table.
        condition_joints: the joints on which it depends, of each table.
        names: the names of the tables, in words.
    """

    def __init__(self, rows: Sequence[CoupledLimit], joint_names: Sequence[str]) -> None:
        """Group the rows of a card into tables, each of one limited joint and the same conditions' joints."""
        self._joint_indices = {name: i for i, name in enumerate(joint_names)}
        sorted_rows = sorted(rows, key=self._sort_key)
        self._table_rows = [list(group) for _, group in groupby(sorted_rows, key=lambda row: row.table_key)]
        table_keys = [rows[0].table_key for rows in self._table_rows]
        self.joints: tuple[str, ...] = tuple(joint for joint, _ in table_keys)
        self.condition_joints: tuple[tuple[str, ...], ...] = tuple(joints for _, joints in table_keys)
        self.names: tuple[str, ...] = tuple(
            f"{joint} at {' and '.join(joints)}" for joint, joints in table_keys
        )

    def _sort_key(self, row: CoupledLimit) -> tuple[int, list[int]]:
        """Return the indices of the joints of a row's table, so that rows of one table are adjacent."""
        indices = self._joint_indices
        return indices[row.joint], [indices[condition.joint] for condition in row.conditions]

    def __len__(self) -> int:
        return len(self._table_rows)

    def __repr__(self) -> str:
        return f"Coupling({len(self)} tables)"

    @cached_property
    def _tables(self) -> list[_Table]:
        return [_Table.of(rows, self._joint_indices) for rows in self._table_rows]

    def bounds(self, angles: Floats) -> tuple[Floats, Floats]:
        """Return the lower and upper limits of each table's joint, `(n, n_tables)` each [rad].

        If several rows of a table apply, they are those of the row exceeded least; if none applies, they are
        infinite.

        Args:
            angles: the angles of all joints, `(n, n_joints)` [rad]; NaN for joints whose torque is off.
        """
        angles = np.atleast_2d(np.asarray(angles, dtype=np.float64))
        bounds = np.empty((2, len(angles), len(self)))
        for i, table in enumerate(self._tables):
            bounds[..., i] = table.bounds(angles)
        return bounds[0], bounds[1]

    def excess(self, angles: Floats) -> Floats:
        """Return how far each table's joint exceeds its limits, `(n, n_tables)` [rad]; 0 within them.

        Args:
            angles: the angles of all joints, `(n, n_joints)` [rad]; NaN for joints whose torque is off, which
                exceed nothing.
        """
        angles = np.atleast_2d(np.asarray(angles, dtype=np.float64))
        lower, upper = self.bounds(angles)
        limited_angles = angles[:, [self._joint_indices[joint] for joint in self.joints]]
        beyond = np.maximum(lower - limited_angles, limited_angles - upper)
        excess: Floats = np.nan_to_num(np.maximum(beyond, 0.0), nan=0.0)
        return excess


def parse_coupled_limits(node: Node, joints: Collection[str]) -> tuple[CoupledLimit, ...]:
    """Read a list of tables.

    A table is `{limits: {left_elevator: [left_rotator], right_elevator: [right_rotator]}, rounding_deg: 0.5,
    rows_deg: [[[-115, -76], [-1, 88]], ...], source: ...}`. A row has one range for each joint of its
    conditions, then that of the limited joint. The same rows may limit several joints, each with joints of
    its own in the conditions.
    """
    return tuple(row for table in node.items() for row in _rows_of_table(table, joints))


def _rows_of_table(node: Node, joints: Collection[str]) -> Iterator[CoupledLimit]:
    """Yield the rows of a table of coupled limits, once for each joint that it limits.

    Args:
        node: the table, as described at `parse_coupled_limits`.
        joints: the names of the robot's joints.

    Raises:
        DocumentError: the table is malformed, or a limited joint depends on itself.
    """
    fields = node.fields(required=("limits", "rows_deg"), optional=("rounding_deg", "source"))
    rounding_deg = 0.0
    if "rounding_deg" in fields:
        rounding_deg = fields["rounding_deg"].number(low=0.0, high=MAX_ROUNDING_DEG)
    for joint, entry in fields["limits"].fields(optional=joints).items():
        condition_joints = [name.choice("joint", joints) for name in entry.items()]
        is_repeated = len(set(condition_joints)) != len(condition_joints)
        if not condition_joints or joint in condition_joints or is_repeated:
            entry.fail(
                f"{joint} cannot depend on {', '.join(condition_joints) or 'nothing'}",
                hint="other joints, each once",
            )
        for row in fields["rows_deg"].items():
            yield _parse_row(row, joint, condition_joints, rounding_rad=math.radians(rounding_deg))


def _parse_row(node: Node, joint: str, condition_joints: list[str], rounding_rad: float) -> CoupledLimit:
    """Read a row: a range for each joint of the conditions, then the limited joint's."""
    entries = node.items()
    joints = [*condition_joints, joint]
    if len(entries) != len(joints):
        node.fail(
            f"{len(entries)} ranges in a row for {len(joints)}", hint=f"one each for {', '.join(joints)}"
        )
    ranges_rad = []
    for entry in entries:
        lower_deg, upper_deg = parse_range(entry)
        ranges_rad.append((math.radians(lower_deg), math.radians(upper_deg)))
    conditions = tuple(
        RangeCondition(name, lower, upper)
        for name, (lower, upper) in zip(condition_joints, ranges_rad[:-1], strict=True)
    )
    lower_rad, upper_rad = ranges_rad[-1]
    return CoupledLimit(joint, conditions, lower_rad, upper_rad, rounding_rad)
