"""The rules of the stairs as data, and the stairs themselves as a judge sees them: edges and treads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from posewright.arenas import Arena, Role, read_arena
from posewright.arrays import Flags, Floats, Indices
from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.recordings.falls import FallLimits

_ARENA = Path(__file__).parent / "stairs.arena.yaml"
_BUILT_M = 0.005
"""Stairs that somebody has built may be out by this much [m]."""

Seconds = Annotated[float, Bounds(0.0, 3600.0)]
Length = Annotated[float, Bounds(0.0, 10.0)]
Points = tuple[Annotated[float, Bounds(0.0, 1e6)], ...]


@dataclass(frozen=True, slots=True)
class StairsRules:
    """The rules.

    Attributes:
        moved_rad: the turn of a joint that is a move [rad].
        width_m: of the stairs [m].
        edge_m: how much nearer or farther than drawn the stairs may stand [m].
        toes_m: how far a robot's toes are before its middle [m].
        place_points: what places earn, from the first on, of those who arrive.
        step_points: what so many passed steps earn, from one on.
        most_at_once: by how many steps a foot may rise or come down at once.
        tilt_rad: a base tilted farther is down [rad].
        height_share: so is one lower than this share of its height above what it stands on.
        lasting_s: time down from which on it is a fall [s].
        rise_s: how long a fallen robot may take to get up by itself [s].
        steady_s: whoever falls this soon after has not passed the step [s].
        hand_gap_s: touches of hands less than this apart are one [s].
        jump_s: no foot on the ground for longer is a jump [s].
        settle_s: how long a robot has to take its first pose before it is put back [s].
    """

    rules: str
    title: str
    wait_s: Seconds
    limit_s: Annotated[float, Bounds(0.1, 3600.0)]
    moved_rad: Annotated[float, Bounds(0.0, math.pi)]
    width_m: Length
    edge_m: Annotated[float, Bounds(0.0, 0.1)]
    toes_m: Length
    place_points: Points
    step_points: Points
    most_at_once: Annotated[int, Bounds(1, 100)]
    tilt_rad: Annotated[float, Bounds(0.0, math.pi)]
    height_share: Annotated[float, Bounds(0.0, 1.0)]
    lasting_s: Seconds
    rise_s: Seconds
    steady_s: Seconds
    hand_gap_s: Seconds
    jump_s: Seconds
    settle_s: Seconds
    sources: Mapping[str, str] = field(repr=False)

    @property
    def falls(self) -> FallLimits:
        """What counts as a fall; who lies at the end has fallen however short a time."""
        return FallLimits(self.tilt_rad, self.height_share, self.lasting_s, ends_down=True)


def stairs_arena(rules: StairsRules, shift_m: float = 0.0) -> Arena:
    """Return the field, as wide as the rules say, its stairs so much farther along x [m]."""
    arena = read_arena(_ARENA)
    shapes = tuple(
        replace(one, x=round(one.x + shift_m, 6), size_m=(one.size_m[0], rules.width_m, one.size_m[2]))
        if one.role is Role.STEP
        else one
        for one in arena.shapes
    )
    return replace(arena, shapes=shapes)


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """Stairs along x: n edges, and n + 1 levels from the floor before to the floor behind, 0 to n.

    Attributes:
        edges: where each level but the first begins, `(n,)` [m].
        heights: of each level, `(n + 1,)` [m].
        names: of the shapes, for contacts.
    """

    edges: Floats
    heights: Floats
    width_m: float
    names: frozenset[str]

    @classmethod
    def of(cls, arena: Arena) -> Flight:
        """Return the stairs of a field."""
        steps = sorted((one for one in arena.shapes if one.role is Role.STEP), key=lambda one: one.x)
        edges = [one.x - one.size_m[0] / 2.0 for one in steps]
        edges.append(steps[-1].x + steps[-1].size_m[0] / 2.0)
        heights = np.array([0.0, *(one.top_m for one in steps), 0.0])
        return cls(np.array(edges), heights, steps[0].size_m[1], frozenset(one.name for one in steps))

    @classmethod
    def told(cls, data: Mapping[str, Any], rules: StairsRules) -> Flight:
        """Return the stairs of a recording's field, or raise InputError where they are not the rules' own."""
        right = cls.of(stairs_arena(rules))
        arena = Arena.from_dict(data) if data else None
        if arena is None or not any(one.role is Role.STEP for one in arena.shapes):
            raise InputError(
                "the recording tells of no stairs", hint=f"{rules.rules} is run on its own field"
            )
        found = cls.of(arena)
        if len(found.edges) != len(right.edges) or found.names != right.names:
            raise InputError(
                f"stairs of {len(found.edges)} steps", hint=f"{len(right.edges)} by {rules.rules}"
            )
        shift = found.edges - right.edges
        same = np.ptp(shift) < _BUILT_M and abs(float(shift[0])) <= rules.edge_m + _BUILT_M
        if not same or np.abs(found.heights - right.heights).max() > _BUILT_M:
            hint = f"edges at {right.edges.round(3).tolist()} m, +-{rules.edge_m:g}, by {rules.rules}"
            raise InputError(f"the stairs have their edges at {found.edges.round(3).tolist()} m", hint=hint)
        if abs(found.width_m - right.width_m) > _BUILT_M:
            hint = f"{right.width_m:g} m by {rules.rules}"
            raise InputError(f"the stairs are {found.width_m:g} m wide", hint=hint)
        return found

    def below(self, points: Floats) -> Indices:
        """Return the level that lies below points `(..., 3)`, `(...)`; -1 beside the stairs."""
        level = self.edges.searchsorted(points[..., 0], side="right")
        is_floor = (level == 0) | (level == len(self.edges))
        return np.where(is_floor | (np.abs(points[..., 1]) <= self.width_m / 2.0), level, -1)

    def ground(self, points: Floats) -> Floats:
        """Return how high what lies below points `(..., 3)` is, `(...)` [m]."""
        level = self.below(points)
        return np.where(level < 0, 0.0, self.heights[level])

    def stood_on(self, footprints: Floats, contacts: Flags) -> Indices:
        """Return on which level each foot stands, -1 for none: `(n, n_feet)`.

        Args:
            footprints: corners of soles, `(n, n_feet, 4, 3)` [m].
            contacts: whether each foot touches the ground, `(n, n_feet)`.
        """
        middles = footprints.mean(axis=2)
        level = self.below(middles)
        riser = float(np.abs(np.diff(self.heights)).min())
        is_level = np.abs(middles[..., 2] - self.heights[level]) < riser / 2.0
        return np.where(contacts & is_level, level, -1)

    def middle_x_m(self, level: int) -> float:
        """Return where the middle of a tread is; of a level between the first and the last [m]."""
        return float(self.edges[level - 1] + self.edges[level]) / 2.0
