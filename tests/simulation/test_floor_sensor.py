"""The floor sensor: how bright what is painted below it is, by the arena's shapes and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import posewright
from posewright.arenas import Arena, Role, Shape, arena, read_arena
from posewright.robots import FloorSensor, Robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.floor_paint import FloorPaint

RING = Path(posewright.__file__).parent / "contests" / "sumo" / "sumo.arena.yaml"
WHITE, GREEN, GREY = 1.0, (0.299 * 22 + 0.587 * 198 + 0.114 * 6) / 255.0, 0.299 * 70 + 0.587 * 74 + 0.114 * 80
BEFORE_THE_TOES = FloorSensor("floor", "right_foot_sole", position_m=(0.06, 0.0, 0.01))


def ring() -> Arena:
    return read_arena(RING)


@pytest.mark.parametrize(
    ("from_middle_m", "bright"),
    [
        (0.05, GREEN),
        (0.10, WHITE),
        (0.5, GREEN),
        (0.69, GREEN),
        (0.71, WHITE),
        (0.74, WHITE),
        (0.76, GREY / 255),
    ],
)
@pytest.mark.parametrize("towards", [0.0, math.pi])
def test_the_ring_its_edge_and_its_lines_are_told_apart(
    from_middle_m: float, bright: float, towards: float
) -> None:
    x, y = 1.25 + from_middle_m * math.cos(towards), from_middle_m * math.sin(towards)
    assert FloorPaint(ring()).reflectance(x, y) == pytest.approx(bright)


def test_a_round_edge_is_as_far_in_every_direction() -> None:
    paint = FloorPaint(ring())
    for degrees in range(0, 360, 7):
        x, y = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        told = [paint.reflectance(1.25 + r * x, r * y) for r in (0.69, 0.72, 0.77)]
        assert told == pytest.approx([GREEN, WHITE, GREY / 255])


def test_a_line_that_is_turned_is_met_where_it_lies() -> None:
    line = Shape("slanting", Role.LINE, 1.0, 0.0, (0.02, 0.4, 0.0), yaw_rad=math.pi / 4)
    floor = arena("ceabot_obstacles")
    paint = FloorPaint(replace(floor, shapes=(*floor.walls, line)))
    assert paint.reflectance(0.9, 0.1) > paint.reflectance(1.1, 0.1)


def test_a_foot_that_goes_out_sees_green_then_white_then_what_is_around(bioloid: Robot) -> None:
    body = SimulatedBody(World(bioloid, ring(), sensors=[BEFORE_THE_TOES], visuals=False))
    seen = []
    for x in np.arange(1.5, 2.1, 0.01):
        body.place_robot(float(x), 0.0, 0.0)
        seen.append(round(float(body.read().sensors["floor"]), 3))
    assert list(dict.fromkeys(seen)) == [round(GREEN, 3), WHITE, round(GREY / 255, 3)]
    assert 4 <= seen.count(WHITE) <= 6  # the edge is 5 cm wide


def test_who_is_lifted_or_lies_on_the_back_sees_no_floor(bioloid: Robot) -> None:
    body = SimulatedBody(
        World(bioloid, ring(), sensors=[BEFORE_THE_TOES], visuals=False), start=(1.25, 0.3, 0.0)
    )
    base, joints = body.world.base, body.instance.joint_positions
    lifted, turned = base + np.array((0, 0, 0.2, 0, 0, 0, 0)), (*base[:3], 0.0, 1.0, 0.0, 0.0)
    for pose in (lifted, turned):
        body.world.show((pose, joints))
        assert body.read().sensors["floor"] == 0.0


def test_on_a_bare_floor_it_reads_one_and_the_same(bioloid: Robot) -> None:
    body = SimulatedBody(World(bioloid, sensors=[BEFORE_THE_TOES], visuals=False))
    here = body.read().sensors["floor"]
    body.place_robot(1.0, -0.5, 1.0)
    assert 0.5 < here < 1.0
    assert body.read().sensors["floor"] == here


def test_who_stands_on_a_step_has_its_top_below_the_feet() -> None:
    step = Shape("step", Role.STEP, 1.0, 0.0, (0.5, 0.5, 0.03))
    floor = arena("ceabot_obstacles")
    paint = FloorPaint(replace(floor, shapes=(step,), colours={**floor.colours, "step": (0.0, 0.0, 0.0)}))
    assert (paint.height_m(1.0, 0.0), paint.reflectance(1.0, 0.0)) == (0.03, 0.0)
    assert paint.height_m(0.5, 0.0) == 0.0
