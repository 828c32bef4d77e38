"""The rules of the stairs as data, and the stairs' edges and treads."""

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
NO_LEVEL = -1
"""In place of a level: a point beside the stairs, or a foot that stands on no level."""
_BUILD_TOLERANCE_M = 0.005
"""Tolerance of stairs that somebody has built [m]."""

Seconds = Annotated[float, Bounds(0.0, 3600.0)]
Length = Annotated[float, Bounds(0.0, 10.0)]
Points = tuple[Annotated[float, Bounds(0.0, 1e6)], ...]


@dataclass(frozen=True, slots=True)
class StairsRules:
    """The rules.

    Attributes:
        wait_s: time a robot stands still at the beginning [s].
        limit_s: time limit from the first move [s].
        moved_rad: change of a joint angle that counts as a move [rad].
        width_m: the width of the stairs [m].
        edge_m: greatest random shift of the stairs along x [m].
        toes_m: distance of a robot's toes from its middle [m].
        place_points: points of places among robots that arrive, the first place first.
        step_points: points of passed steps, by their number from one.
        most_at_once: most levels that a foot may go up at once.
        tilt_rad: a base tilted more is down [rad].
        height_share: a base lower than this share of its standing height is down.
        lasting_s: shortest time down that is a fall [s].
        rise_s: longest time for a fallen robot to get up by itself [s].
        steady_s: a step does not count if the robot falls this soon after [s].
        hand_gap_s: touches of hands less than this apart are one [s].
        jump_s: a longer time without a foot on the ground is a jump [s].
        settle_s: time for a halted robot to take its start pose before it is put back [s].
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
        """The conditions of a fall; a robot that is down at the end has fallen however short the time."""
        return FallLimits(self.tilt_rad, self.height_share, self.lasting_s, ends_down=True)


def stairs_arena(rules: StairsRules, shift_m: float = 0.0) -> Arena:
    """Return the field with stairs of the rules' width, shifted along x [m]."""
    arena = read_arena(_ARENA)
    shapes = []
    for shape in arena.shapes:
        if shape.role is Role.STEP:
            length, _, height = shape.size_m
            size_m = (length, rules.width_m, height)
            shapes.append(replace(shape, x=round(shape.x + shift_m, 6), size_m=size_m))
        else:
            shapes.append(shape)
    return replace(arena, shapes=tuple(shapes))


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """A flight of stairs along x: n edges, and n + 1 levels from the floor before to the floor behind.

    Attributes:
        edges: x of the begin of each level but the first, `(n,)` [m].
        heights: the heights of each level, `(n + 1,)` [m].
        width_m: the width of the stairs [m].
        names: the names of the arena's shapes, as in contacts.
    """

    edges: Floats
    heights: Floats
    width_m: float
    names: frozenset[str]

    @classmethod
    def of(cls, arena: Arena) -> Flight:
        """Return the stairs of a field."""
        steps = sorted((shape for shape in arena.shapes if shape.role is Role.STEP), key=lambda step: step.x)
        edges = [step.x - step.size_m[0] / 2.0 for step in steps]
        edges.append(steps[-1].x + steps[-1].size_m[0] / 2.0)
        heights = np.array([0.0, *(step.top_m for step in steps), 0.0])
        return cls(np.array(edges), heights, steps[0].size_m[1], frozenset(step.name for step in steps))

    @classmethod
    def of_recorded_arena(cls, arena_data: Mapping[str, Any], rules: StairsRules) -> Flight:
        """Return the stairs of a field, given as by `Arena.to_dict`.

        Raises:
            InputError: the field has no stairs, or other stairs than the rules' own.
        """
        own_stairs = cls.of(stairs_arena(rules))
        arena = Arena.from_dict(arena_data) if arena_data else None
        if arena is None or not any(shape.role is Role.STEP for shape in arena.shapes):
            raise InputError("the field has no stairs", hint=f"{rules.rules} needs shapes with the role step")
        stairs = cls.of(arena)
        if len(stairs.edges) != len(own_stairs.edges) or stairs.names != own_stairs.names:
            raise InputError(
                f"the stairs {', '.join(sorted(stairs.names))} have {len(stairs.edges)} edges",
                hint=f"{rules.rules} needs {len(own_stairs.edges)}: {', '.join(sorted(own_stairs.names))}",
            )
        shift = stairs.edges - own_stairs.edges
        has_same_treads = np.ptp(shift) < _BUILD_TOLERANCE_M
        is_in_range = abs(float(shift[0])) <= rules.edge_m + _BUILD_TOLERANCE_M
        has_same_heights = np.abs(stairs.heights - own_stairs.heights).max() <= _BUILD_TOLERANCE_M
        if not (has_same_treads and is_in_range and has_same_heights):
            raise InputError(
                f"the stairs have their edges at {stairs.edges.round(3).tolist()} m",
                hint=f"edges at {own_stairs.edges.round(3).tolist()} m, +-{rules.edge_m:g}, by {rules.rules}",
            )
        if abs(stairs.width_m - own_stairs.width_m) > _BUILD_TOLERANCE_M:
            raise InputError(
                f"the stairs are {stairs.width_m:g} m wide", hint=f"{own_stairs.width_m:g} m by {rules.rules}"
            )
        return stairs

    def find_levels(self, points: Floats) -> Indices:
        """Return the level below each of some points `(..., 3)`, `(...)`; `NO_LEVEL` beside the stairs."""
        level = self.edges.searchsorted(points[..., 0], side="right")
        is_floor = (level == 0) | (level == len(self.edges))
        return np.where(is_floor | (np.abs(points[..., 1]) <= self.width_m / 2.0), level, NO_LEVEL)

    def ground_height(self, points: Floats) -> Floats:
        """Return the height of the ground below points `(..., 3)`, `(...)` [m]."""
        level = self.find_levels(points)
        return np.where(level == NO_LEVEL, 0.0, self.heights[level])

    def find_foot_levels(self, footprints: Floats, contacts: Flags) -> Indices:
        """Return the level that each foot stands on, `NO_LEVEL` for none, `(n, n_feet)`.

        Args:
            footprints: corners of soles, `(n, n_feet, 4, 3)` [m].
            contacts: whether each foot touches the ground, `(n, n_feet)`.
        """
        middles = footprints.mean(axis=2)
        level = self.find_levels(middles)
        riser = float(np.abs(np.diff(self.heights)).min())
        is_on_level = np.abs(middles[..., 2] - self.heights[level]) < riser / 2.0
        return np.where(contacts & is_on_level, level, NO_LEVEL)

    def middle_x_m(self, level: int) -> float:
        """Return x of the middle of a tread, for a level between the first and the last [m]."""
        return float(self.edges[level - 1] + self.edges[level]) / 2.0
