"""The rules of the vision test, and the field that a seed draws by them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from posewright.arenas import Arena, Role, Shape
from posewright.documents import Bounds
from posewright.errors import InputError

Time = Annotated[float, Bounds(0.1, 3600.0)]
Length = Annotated[float, Bounds(0.01, 5.0)]
Angle = Annotated[float, Bounds(0.0, math.pi)]
Share = Annotated[float, Bounds(0.0, 1.0)]

BOX_M = (0.2, 0.2, 0.5)
"""A box as on the obstacle field."""

_PLATE_M = 0.004
_SIDES = {"L": 1.0, "R": -1.0}


@dataclass(frozen=True, slots=True)
class VisionRules:
    """The rules.

    Attributes:
        wait_s: how long the robot stands still at the beginning [s].
        limit_s: for all turns, counted from the end of the wait [s].
        boxes: how many stand around the robot, evenly.
        turns: how many are judged.
        angles_deg: what codes may ask for [deg].
        nearest_m: from the middle to the code of the nearest box there may be [m].
        farthest_m: to that of the farthest [m].
        marker_m: edge of a code's plate [m].
        marker_height_m: how high its middle is [m].
        points: for all turns right.
        external_pc_share: of the points, lost where another computer than the robot's own decides.
        hold_s: a robot that stands still for so long has finished its turn [s].
        still_rad: it stands still while its heading changes by no more [rad].
        tolerance_rad: it looks at a box if it is no farther aside [rad].
        aside_m: it stays so near to the middle [m].
        moved_rad: the turn that is a move [rad].
        fallen_rad: a base that leans farther has fallen [rad].
    """

    rules: str
    title: str
    wait_s: Annotated[float, Bounds(0.0, 60.0)]
    limit_s: Time
    boxes: Annotated[int, Bounds(3, 36)]
    turns: Annotated[int, Bounds(1, 36)]
    angles_deg: tuple[Annotated[int, Bounds(1, 180)], ...]
    nearest_m: Length
    farthest_m: Length
    marker_m: Length
    marker_height_m: Length
    points: Annotated[float, Bounds(0.0, 1000.0)]
    external_pc_share: Share
    hold_s: Time
    still_rad: Angle
    tolerance_rad: Angle
    aside_m: Length
    moved_rad: Angle
    fallen_rad: Angle
    sources: Mapping[str, str] = field(repr=False)

    def __post_init__(self) -> None:
        spacing = 360 // self.boxes
        wanted = {spacing * step for step in range(1, self.boxes // 2 + 1)}
        if 360 % self.boxes or wanted != set(self.angles_deg):
            told = ", ".join(map(str, sorted(wanted)))
            raise InputError(f"angles_deg do not lead from box to box: {self.boxes} boxes", hint=f"[{told}]")
        if self.turns > self.boxes:
            raise InputError(f"{self.turns} turns for {self.boxes} boxes", hint="at most one a box")
        if self.nearest_m > self.farthest_m:
            raise InputError("nearest_m is more than farthest_m", hint="the nearest box is not the farthest")

    @property
    def spacing_rad(self) -> float:
        """From one box to the next [rad]."""
        return 2.0 * math.pi / self.boxes


def text_of(angle_deg: int, side: str) -> str:
    """Return the text that asks to turn by so much to the side, `L` or `R`."""
    return f"Turn{angle_deg}{side}"


def turn_of(text: str, rules: VisionRules) -> float:
    """Return the turn to the left that a text asks for [rad].

    Raises:
        InputError: it asks for none that these rules know.
    """
    turns = {text_of(a, side): sign * a for a in rules.angles_deg for side, sign in _SIDES.items()}
    if text not in turns:
        raise InputError(f"the code {text!r:.40} asks for no turn", hint=f"one of {', '.join(turns)}")
    return math.radians(turns[text])


def drawn(empty: Arena, rules: VisionRules, rng: np.random.Generator) -> Arena:
    """Return the field with boxes and codes, drawn.

    The codes lead from the box at heading 0 to each of the others once, and back.
    """
    way = [0, *(1 + rng.permutation(rules.boxes - 1)).tolist()]
    texts = [""] * rules.boxes
    for here, there in zip(way, [*way[1:], way[0]], strict=True):
        steps = (there - here) % rules.boxes
        is_left = bool(rng.integers(2)) if 2 * steps == rules.boxes else 2 * steps < rules.boxes
        steps = steps if is_left else rules.boxes - steps
        texts[here] = text_of(steps * 360 // rules.boxes, "L" if is_left else "R")
    distances = rng.uniform(rules.nearest_m, rules.farthest_m, rules.boxes)
    shapes: list[Shape] = []
    for number, (text, away) in enumerate(zip(texts, distances.tolist(), strict=True)):
        shapes += _box(empty, rules, number, text, round(away, 3))
    return replace(empty, shapes=tuple(shapes))


def _box(empty: Arena, rules: VisionRules, number: int, text: str, away_m: float) -> tuple[Shape, Shape]:
    angle = number * rules.spacing_rad
    ahead = np.array([math.cos(angle), math.sin(angle)])
    middle = np.array([empty.size_x / 2.0, 0.0])
    box = middle + ahead * (away_m + (BOX_M[0] + _PLATE_M) / 2.0)
    code = middle + ahead * away_m
    size = (_PLATE_M, rules.marker_m, rules.marker_m)
    base_m = rules.marker_height_m - rules.marker_m / 2.0
    name = f"{number + 1}"
    yaw = round(math.remainder(angle + math.pi, 2.0 * math.pi), 6)
    (bx, by), (cx, cy) = box.round(4).tolist(), code.round(4).tolist()
    return (
        Shape(f"stand_{name}", Role.FURNITURE, bx, by, BOX_M, yaw),
        Shape(f"code_{name}", Role.MARKER, cx, cy, size, yaw, base_m, text=text),
    )
