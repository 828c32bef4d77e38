"""The rules of the vision test, and its random field."""

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
"""Size of a box, as on the obstacle field [m]."""

_PLATE_M = 0.004

_CODE_COLOURS = {"furniture": (0.84, 0.7, 0.53), "marker": (1.0, 1.0, 1.0)}
"""Colours of boxes and codes on a field that has none: red, green, blue 0..1."""
_SIDES = {"L": 1.0, "R": -1.0}


@dataclass(frozen=True, slots=True)
class VisionRules:
    """The rules.

    Attributes:
        wait_s: time the robot stands still at the beginning [s].
        limit_s: time limit of all turns, from the end of the wait [s].
        boxes: number of boxes, evenly around the robot.
        turns: number of turns that are judged.
        angles_deg: turns that codes may request [deg].
        nearest_m: least distance of a code from the middle [m].
        farthest_m: greatest distance of a code from the middle [m].
        marker_m: edge of a code's plate [m].
        marker_height_m: height of the plate's middle [m].
        points: the points for all turns right.
        external_pc_share: share of the points that is lost if another computer than the robot's own decides.
        hold_s: time standing still that completes a turn [s].
        still_rad: greatest change of heading while standing still [rad].
        tolerance_rad: greatest angle between the heading and a box that the robot faces [rad].
        aside_m: greatest distance of the robot from the middle [m].
        moved_rad: change of heading that counts as a move [rad].
        fallen_rad: a base tilted more has fallen [rad].
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
        """Raise an InputError for rules that contradict each other, or cannot be followed."""
        spacing_deg = 360 // self.boxes
        possible_deg = {spacing_deg * step for step in range(1, self.boxes // 2 + 1)}
        if 360 % self.boxes or possible_deg != set(self.angles_deg):
            angles = ", ".join(map(str, sorted(possible_deg)))
            raise InputError(
                f"angles_deg do not lead from box to box with {self.boxes} boxes", hint=f"[{angles}]"
            )
        if self.turns > self.boxes:
            raise InputError(
                f"{self.turns} turns for {self.boxes} boxes", hint="at most one turn for each box"
            )
        if self.nearest_m > self.farthest_m:
            raise InputError("nearest_m is greater than farthest_m", hint="exchange the two")

    @property
    def spacing_rad(self) -> float:
        """Angle from one box to the next [rad]."""
        return 2.0 * math.pi / self.boxes


def format_turn(angle_deg: int, side: str) -> str:
    """Return the text that requests a turn by an angle to a side, `L` or `R`."""
    return f"Turn{angle_deg}{side}"


def parse_turn(text: str, rules: VisionRules) -> float:
    """Return the turn that a text requests, positive to the left [rad].

    Raises:
        InputError: the text is not a turn of the rules.
    """
    turns_deg = {
        format_turn(angle_deg, side): sign * angle_deg
        for angle_deg in rules.angles_deg
        for side, sign in _SIDES.items()
    }
    if text not in turns_deg:
        raise InputError(f"the code {text!r:.40} requests no turn", hint=f"use one of {', '.join(turns_deg)}")
    return math.radians(turns_deg[text])


def create_random_field(empty_arena: Arena, rules: VisionRules, rng: np.random.Generator) -> Arena:
    """Return the field with random codes and distances of the boxes.

    A code on a box states a turn to another one. The codes lead from the box at heading 0 to each of the
    other boxes once, and back.
    """
    tour = [0, *(1 + rng.permutation(rules.boxes - 1)).tolist()]
    texts = [""] * rules.boxes
    for box, next_box in zip(tour, [*tour[1:], tour[0]], strict=True):
        steps_left = (next_box - box) % rules.boxes
        is_opposite = 2 * steps_left == rules.boxes
        # the shorter way round, either for a box that is opposite
        is_left = bool(rng.integers(2)) if is_opposite else 2 * steps_left < rules.boxes
        steps = steps_left if is_left else rules.boxes - steps_left
        texts[box] = format_turn(steps * 360 // rules.boxes, "L" if is_left else "R")
    distances = rng.uniform(rules.nearest_m, rules.farthest_m, rules.boxes)
    shapes: list[Shape] = []
    for number, (text, distance_m) in enumerate(zip(texts, distances.tolist(), strict=True)):
        shapes += _create_box(empty_arena, rules, number, text, distance_m=round(distance_m, 3))
    missing_colours = {role: _CODE_COLOURS[role] for role in _CODE_COLOURS if role not in empty_arena.colours}
    return replace(
        empty_arena,
        shapes=(*empty_arena.shapes, *shapes),
        colours={**empty_arena.colours, **missing_colours},
    )


def _create_box(
    arena: Arena, rules: VisionRules, number: int, text: str, distance_m: float
) -> tuple[Shape, Shape]:
    """Return a box and the plate with its code, which face the middle of the field.

    Args:
        arena: the field.
        rules: the rules of the test.
        number: the number of the box, from 0, which sets its direction from the middle.
        text: the code.
        distance_m: distance of the plate from the middle [m].
    """
    angle = number * rules.spacing_rad
    direction = np.array([math.cos(angle), math.sin(angle)])
    middle = np.array([arena.size_x / 2.0, 0.0])
    box_position = middle + direction * (distance_m + (BOX_M[0] + _PLATE_M) / 2.0)
    code_position = middle + direction * distance_m
    plate_size = (_PLATE_M, rules.marker_m, rules.marker_m)
    plate_base_m = rules.marker_height_m - rules.marker_m / 2.0
    name = f"{number + 1}"
    yaw = round(math.remainder(angle + math.pi, 2.0 * math.pi), 6)
    box_x, box_y = box_position.round(4).tolist()
    code_x, code_y = code_position.round(4).tolist()
    return (
        Shape(f"stand_{name}", Role.FURNITURE, box_x, box_y, size_m=BOX_M, yaw_rad=yaw),
        Shape(
            f"code_{name}",
            Role.MARKER,
            code_x,
            code_y,
            size_m=plate_size,
            yaw_rad=yaw,
            base_m=plate_base_m,
            text=text,
        ),
    )
