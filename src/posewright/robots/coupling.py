"""Coupled limits: how far a joint may turn depends on where others stand."""

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
"""More than any table is rounded to."""


@dataclass(frozen=True)
class GivenRange:
    """Where a joint stands, for a row of a table to count [rad]."""

    joint: str
    lower_rad: float
    upper_rad: float


@dataclass(frozen=True)
class CoupledLimit:
    """A row: where the joints of `given` stand in their ranges, `joint` must lie within its limits.

    Attributes:
        rounding_rad: by how much the ranges of `given` are wider than printed: a table in whole degrees
            leaves gaps between its rows that no robot has [rad].
    """

    joint: str
    given: tuple[GivenRange, ...] = field(repr=False)
    lower_rad: float
    upper_rad: float
    rounding_rad: float = field(default=0.0, repr=False)

    @property
    def table(self) -> tuple[str, tuple[str, ...]]:
        """What rows of one table have in common: the joint and the given ones."""
        return self.joint, tuple(entry.joint for entry in self.given)


@dataclass(frozen=True, eq=False)
class _Table:
    """The rows of one joint and one set of given joints, as arrays over rows `r` and given joints `g`."""

    column: int
    given: Indices = field(repr=False)  # (g,)
    ranges: Floats = field(repr=False)  # (2, r, g), lower and upper
    limits: Floats = field(repr=False)  # (2, r)

    @classmethod
    def of(cls, rows: Sequence[CoupledLimit], places: Mapping[str, int]) -> _Table:
        joint, given = rows[0].table
        ranges = [
            [(e.lower_rad - row.rounding_rad, e.upper_rad + row.rounding_rad) for e in row.given]
            for row in rows
        ]
        return cls(
            places[joint],
            np.array([places[name] for name in given], dtype=np.intp),
            np.moveaxis(np.array(ranges, dtype=np.float64), -1, 0),
            np.array([(row.lower_rad, row.upper_rad) for row in rows]).T,
        )

    def bounds(self, angles: Floats) -> Floats:
        """Return the limits `(2, n)` of the row that is broken least; infinite where no row counts."""
        where = angles[:, None, self.given]
        counts = ((where >= self.ranges[0]) & (where <= self.ranges[1])).all(axis=-1)  # (n, r)
        angle = angles[:, self.column, None]
        excess = np.nan_to_num(np.maximum(self.limits[0] - angle, angle - self.limits[1]), nan=0.0)
        nearest = np.where(counts, excess, math.inf).argmin(axis=1)
        bounds = self.limits[:, nearest]
        bounds[:, ~counts.any(axis=1)] = [[-math.inf], [math.inf]]
        return bounds


class Coupling:
    """The tables of a robot's coupled limits, looked up for many poses at once.

    Where several rows of a table count, as the ranges of neighbours overlap, it is enough to keep one.

    Attributes:
        names: of the tables, as people would say it, `(n_tables,)`.
    """

    def __init__(self, rows: Sequence[CoupledLimit], joint_names: Sequence[str]) -> None:
        self._places = {name: place for place, name in enumerate(joint_names)}
        by_table = sorted(rows, key=self._key)
        self._rows = [list(group) for _, group in groupby(by_table, key=lambda row: row.table)]
        tables = [rows[0].table for rows in self._rows]
        self.joints: tuple[str, ...] = tuple(joint for joint, _ in tables)
        self.given: tuple[tuple[str, ...], ...] = tuple(given for _, given in tables)
        self.names: tuple[str, ...] = tuple(f"{joint} at {' and '.join(given)}" for joint, given in tables)

    def _key(self, row: CoupledLimit) -> tuple[int, list[int]]:
        return self._places[row.joint], [self._places[entry.joint] for entry in row.given]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Coupling({len(self)} tables)"

    @cached_property
    def _tables(self) -> list[_Table]:
        return [_Table.of(rows, self._places) for rows in self._rows]

    def bounds(self, angles: Floats) -> tuple[Floats, Floats]:
        """Return how far each table lets its joint turn, lower and upper, `(n, n_tables)` each [rad].

        For angles of all joints `(n, n_joints)` [rad], NaN where free: the limits of the row that is broken
        least; infinite where no row counts.
        """
        angles = np.atleast_2d(np.asarray(angles, dtype=np.float64))
        found = np.empty((2, len(angles), len(self)))
        for place, table in enumerate(self._tables):
            found[..., place] = table.bounds(angles)
        return found[0], found[1]

    def beyond(self, angles: Floats) -> Floats:
        """Return how far each table's joint is out of its limits, `(n, n_tables)` [rad]; 0 where it is not.

        A free joint, NaN among all joints' angles `(n, n_joints)` [rad], breaks nothing.
        """
        angles = np.atleast_2d(np.asarray(angles, dtype=np.float64))
        lower, upper = self.bounds(angles)
        own = angles[:, [self._places[joint] for joint in self.joints]]
        excess: Floats = np.nan_to_num(np.maximum(np.maximum(lower - own, own - upper), 0.0), nan=0.0)
        return excess


def parse_coupled_limits(node: Node, joints: Collection[str]) -> tuple[CoupledLimit, ...]:
    """Read a list of tables; each says what it limits by what, and its rows.

    `{limits: {left_elevator: [left_rotator], right_elevator: [right_rotator]}, rounding_deg: 0.5,
    rows_deg: [[[-115, -76], [-1, 88]], ...], source: ...}`: a row is one range for every given joint, then
    that of the limited one. The same rows may hold for several joints, each with its own given ones.
    """
    return tuple(row for table in node.items() for row in _rows_of_table(table, joints))


def _rows_of_table(node: Node, joints: Collection[str]) -> Iterator[CoupledLimit]:
    fields = node.fields(required=("limits", "rows_deg"), optional=("rounding_deg", "source"))
    rounding = (
        fields["rounding_deg"].number(low=0.0, high=MAX_ROUNDING_DEG) if "rounding_deg" in fields else 0.0
    )
    for joint, entry in fields["limits"].fields(optional=joints).items():
        given = [name.choice("joint", joints) for name in entry.items()]
        if not given or joint in given or len(set(given)) != len(given):
            entry.fail(
                f"{joint} cannot depend on {', '.join(given) or 'nothing'}", hint="other joints, each once"
            )
        for row in fields["rows_deg"].items():
            yield _row(row, joint, given, math.radians(rounding))


def _row(node: Node, joint: str, given: list[str], rounding_rad: float) -> CoupledLimit:
    entries = node.items()
    if len(entries) != len(given) + 1:
        node.fail(
            f"{len(entries)} ranges in a row for {len(given) + 1}",
            hint=f"one each for {', '.join([*given, joint])}",
        )
    *given_ranges, (lower, upper) = (map(math.radians, parse_range(entry)) for entry in entries)
    where = tuple(GivenRange(name, *pair) for name, pair in zip(given, given_ranges, strict=True))
    return CoupledLimit(joint, where, lower, upper, rounding_rad)
