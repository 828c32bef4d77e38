"""Disturbances of a simulated body: pushes on its links and plates on the floor, given or drawn by a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from posewright.bodies.distributions import Distribution, Uniform, distribution_reader
from posewright.documents import Bounds
from posewright.errors import InputError

MAX_IMPULSE_N_S = 1000.0
MAX_PUSH_DURATION_S = 10.0
MAX_PUSH_TIME_S = 3600.0
"""Latest time at which a push may begin [s]."""

MIN_PUSH_INTERVAL_S = 0.25
"""Shortest time between the beginnings of two repeated pushes [s]."""

PUSH_DURATION_S = 0.1
"""Default duration of a push [s]."""

LAST_PUSH_S = 600.0
"""By default repeated pushes end at this time, as the longest walk does [s]."""

MAX_PUSHES = 10_000
START_CLEARANCE_M = 0.2
"""Smallest distance of a plate from the start of a robot [m]."""

ANY_SIDE = Uniform(-math.pi, math.pi)
"""By default pushes come from any side [rad]."""

MAX_PLATES = 2000
MAX_PLATE_THICKNESS_M = 0.02
MIN_PLATE_EDGE_M = 0.005
MAX_PLATE_EDGE_M = 1.0
PLATE_EDGE = Uniform(0.04, 0.04)
"""The default edge of plates [m]."""

MAX_PLATE_DISTANCE_M = 100.0
"""Largest coordinate of a plate's centre [m]."""

DEFAULT_PLATES_X_M = (-1.0, 4.0)
DEFAULT_PLATES_Y_M = (-0.8, 0.8)
"""By default plates lie in this rectangle of the field, for a walk ahead from the origin [m]."""


@dataclass(frozen=True, slots=True)
class Push:
    """A constant horizontal force on a link's centre of mass for a short time.

    Attributes:
        time_s: time of its beginning since the start of the run, rounded to a whole frame [s].
        impulse_n_s: force times duration [N s].
        from_rad: side from which it comes, in the robot's heading when it begins: 0 from ahead, positive
            from the left; the force keeps its direction in the field [rad].
        duration_s: rounded to whole frames, at least one; the impulse stays the same [s].
        link: the name of the link in the robot's model; empty for the base.

    Raises:
        InputError: a number is not finite or out of range.
    """

    time_s: Annotated[float, Bounds(0.0, MAX_PUSH_TIME_S)]
    impulse_n_s: Annotated[float, Bounds(0.0, MAX_IMPULSE_N_S)]
    from_rad: float
    duration_s: Annotated[float, Bounds(0.0, MAX_PUSH_DURATION_S)] = PUSH_DURATION_S
    link: str = ""

    def __post_init__(self) -> None:
        _require_within("a push's time", self.time_s, 0.0, MAX_PUSH_TIME_S, "s")
        _require_within("a push's impulse", self.impulse_n_s, 0.0, MAX_IMPULSE_N_S, "N s")
        _require_within("a push's duration", self.duration_s, 0.0, MAX_PUSH_DURATION_S, "s")
        if not math.isfinite(self.from_rad):
            raise InputError(f"the side of a push is {self.from_rad}", hint="a finite angle")


@dataclass(frozen=True, slots=True)
class RandomPushes:
    """One push, or pushes that are repeated, with random times, sides and impulses.

    Attributes:
        impulse_n_s: force times duration [N s].
        at_s: time of the first push [s].
        every_s: time from the beginning of a push to that of the next; None for a single push [s].
        from_rad: side from which it comes, as for `Push`; by default any side [rad].
        duration_s: duration of each push [s].
        link: the name of the link that is pushed; empty for the base.
        until_s: no push begins after this time [s].

    Raises:
        InputError: a number is not finite or out of range.
    """

    impulse_n_s: Annotated[Distribution, distribution_reader()]
    at_s: Annotated[Distribution, distribution_reader()]
    every_s: Annotated[Distribution | None, distribution_reader()] = None
    from_rad: Annotated[Distribution, distribution_reader(math.radians(1.0))] = ANY_SIDE
    duration_s: Annotated[float, Bounds(0.0, MAX_PUSH_DURATION_S)] = PUSH_DURATION_S
    link: str = ""
    until_s: Annotated[float, Bounds(0.0, MAX_PUSH_TIME_S)] = LAST_PUSH_S

    def __post_init__(self) -> None:
        # raises unless both extremes are valid pushes; then all that is drawn is valid
        for bound in (0, 1):
            Push(
                self.at_s.bounds[bound],
                self.impulse_n_s.bounds[bound],
                self.from_rad.bounds[bound],
                self.duration_s,
                self.link,
            )
        _require_within("until_s", self.until_s, 0.0, MAX_PUSH_TIME_S, "s")
        if self.every_s is not None and self.every_s.bounds[0] < MIN_PUSH_INTERVAL_S:
            raise InputError(
                f"pushes come every {self.every_s.bounds[0]:g} s", hint=f"at least {MIN_PUSH_INTERVAL_S:g} s"
            )

    def draw(self, random: np.random.Generator) -> list[Push]:
        """Return the pushes in the order of their times."""
        pushes = []
        time_s = self.at_s.draw(random)
        while time_s <= self.until_s:
            impulse_n_s = self.impulse_n_s.draw(random)
            from_rad = self.from_rad.draw(random)
            pushes.append(Push(time_s, impulse_n_s, from_rad, self.duration_s, self.link))
            if self.every_s is None:
                break
            time_s += self.every_s.draw(random)
        return pushes


@dataclass(frozen=True, slots=True)
class Plate:
    """A flat square box that is fixed on the floor.

    Attributes:
        x_m: the x of its centre in the field [m].
        y_m: the y of its centre in the field [m].
        yaw_rad: its turn to the left [rad].
        edge_m: the edge of its square [m].
        thickness_m: the height of its upper side above the floor [m].

    Raises:
        InputError: a number is not finite or out of range.
    """

    x_m: float
    y_m: float
    yaw_rad: float
    edge_m: float
    thickness_m: float

    def __post_init__(self) -> None:
        _require_within("a plate's x", self.x_m, -MAX_PLATE_DISTANCE_M, MAX_PLATE_DISTANCE_M, "m")
        _require_within("a plate's y", self.y_m, -MAX_PLATE_DISTANCE_M, MAX_PLATE_DISTANCE_M, "m")
        _require_within("a plate's edge", self.edge_m, MIN_PLATE_EDGE_M, MAX_PLATE_EDGE_M, "m")
        _require_within("a plate's thickness", self.thickness_m, 1e-4, MAX_PLATE_THICKNESS_M, "m")
        if not math.isfinite(self.yaw_rad):
            raise InputError(f"the yaw of a plate is {self.yaw_rad}", hint="a finite angle")

    def distance_m(self, x_m: float, y_m: float) -> float:
        """Return the distance from a point of the floor to the plate; 0 on the plate [m]."""
        dx = x_m - self.x_m
        dy = y_m - self.y_m
        cos_yaw = math.cos(self.yaw_rad)
        sin_yaw = math.sin(self.yaw_rad)
        outside_x = max(abs(cos_yaw * dx + sin_yaw * dy) - self.edge_m / 2.0, 0.0)
        outside_y = max(abs(cos_yaw * dy - sin_yaw * dx) - self.edge_m / 2.0, 0.0)
        return math.hypot(outside_x, outside_y)


@dataclass(frozen=True, slots=True)
class ClearCircle:
    """A circle of the floor without plates: x, y and radius [m]."""

    x_m: float
    y_m: float
    radius_m: float

    @classmethod
    def around_start(cls, x_m: float, y_m: float) -> ClearCircle:
        """Return the circle around a start, in which no plate lies, so that no robot starts on an edge."""
        return cls(x_m, y_m, START_CLEARANCE_M)


def remove_plates(plates: Sequence[Plate], circles: Sequence[ClearCircle]) -> tuple[Plate, ...]:
    """Return the plates that reach into none of the circles."""
    return tuple(
        plate
        for plate in plates
        if all(plate.distance_m(circle.x_m, circle.y_m) >= circle.radius_m for circle in circles)
    )


@dataclass(frozen=True, slots=True)
class RandomPlates:
    """Plates that are scattered over a rectangle of the field, turned at random; they may overlap.

    Attributes:
        count: their number. Those that would lie under a robot's start or under a box are left out.
        thickness_m: height of a plate's upper side above the floor [m].
        edge_m: edge of a plate's square [m].
        x_m: smallest and largest x of a plate's centre [m].
        y_m: smallest and largest y of a plate's centre [m].

    Raises:
        InputError: a number is not finite or out of range.
    """

    count: Annotated[int, Bounds(1, MAX_PLATES)]
    thickness_m: Annotated[Distribution, distribution_reader()]
    edge_m: Annotated[Distribution, distribution_reader()] = PLATE_EDGE
    x_m: tuple[float, float] = DEFAULT_PLATES_X_M
    y_m: tuple[float, float] = DEFAULT_PLATES_Y_M

    def __post_init__(self) -> None:
        # raises unless both extremes are valid plates; then all that is drawn is valid
        for bound in (0, 1):
            Plate(
                self.x_m[bound],
                self.y_m[bound],
                yaw_rad=0.0,
                edge_m=self.edge_m.bounds[bound],
                thickness_m=self.thickness_m.bounds[bound],
            )
        _require_within("the number of plates", self.count, 1, MAX_PLATES, "")
        Uniform(*self.x_m)  # raises unless the lower number comes first
        Uniform(*self.y_m)

    def draw(self, random: np.random.Generator) -> tuple[Plate, ...]:
        """Return the plates, with places, turns and sizes drawn from their distributions in this order."""
        x_distribution = Uniform(*self.x_m)
        y_distribution = Uniform(*self.y_m)
        plates = []
        for _ in range(self.count):
            x_m = x_distribution.draw(random)
            y_m = y_distribution.draw(random)
            yaw_rad = ANY_SIDE.draw(random)  # -pi..pi
            edge_m = self.edge_m.draw(random)
            thickness_m = self.thickness_m.draw(random)
            plates.append(Plate(x_m, y_m, yaw_rad, edge_m, thickness_m))
        return tuple(plates)


def _require_within(name: str, value: float, low: float, high: float, unit: str) -> None:
    """Raise an InputError unless a number is within bounds; NaN is not."""
    if not low <= value <= high:
        raise InputError(f"{name} is {value:g} {unit}".rstrip(), hint=f"{low:g} to {high:g} {unit}".rstrip())
