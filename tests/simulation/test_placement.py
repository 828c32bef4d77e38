"""Putting a robot on its feet."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.arenas import Role, Shape, arena
from posewright.bodies import JointCommands
from posewright.errors import InputError
from posewright.robots import Robot
from posewright.rotation import roll_pitch_yaw_of_matrix
from posewright.simulation import SimulatedBody, World
from posewright.simulation.placement import find_standing_normal, place, sole_corners
from posewright.simulation.resting_pose import find_supports

from .driving import play

Touching = Callable[[World], frozenset[tuple[str, str]]]
AmongBoxes = Callable[..., SimulatedBody]
Hold = Callable[..., JointCommands]

UP = np.array([0.0, 0.0, 1.0])

quickly = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def base_angles(world: World) -> tuple[float, float, float]:
    return roll_pitch_yaw_of_matrix(world.data.xmat[world.addresses.base_body].reshape(3, 3))


def test_walk_ready_leans_forward_with_flat_soles(bare: SimulatedBody) -> None:
    roll, pitch, yaw = np.degrees(base_angles(bare.world))
    assert 8.0 < pitch < 17.0
    assert abs(roll) < 0.5
    assert abs(yaw) < 1e-9
    heights = sole_corners(bare.instance)[:, :, 2]
    assert heights.min() == pytest.approx(0.0, abs=1e-9)
    assert heights.max() < 0.001


@quickly
@given(
    x=st.floats(0.2, 2.3),
    y=st.floats(-0.8, 0.8),
    yaw=st.floats(-3.1, 3.1),
    bend=st.lists(st.floats(-0.2, 0.2), min_size=18, max_size=18),
)
def test_any_pose_stands_on_the_floor_where_it_was_put(
    bare: SimulatedBody, x: float, y: float, yaw: float, bend: list[float]
) -> None:
    world = bare.world
    joints = bare.robot.pose("walk_ready") + bend
    place(world.instance(), x, y, yaw, joints)
    assert world.base[:2] == pytest.approx((x, y))
    assert base_angles(world)[2] == pytest.approx(yaw, abs=1e-9)
    heights = sole_corners(world.instance())[:, :, 2].ravel()
    assert heights.min() == pytest.approx(0.0, abs=1e-9)
    assert np.sort(heights)[2] < 0.002, "it stands on three corners at least"
    assert np.array_equal(world.instance().joint_positions, joints)
    assert not world.data.qvel.any()


def test_hands_put_a_fallen_robot_up_and_leave_boxes_alone(among_boxes: AmongBoxes, hold: Hold) -> None:
    body = among_boxes((0.48, 0.0))
    pose = body.robot.pose("walk_ready")
    fallen = pose.copy()
    for side in ("right", "left"):
        fallen[body.robot.index(f"{side}_ankle_pitch")] -= 0.6
    play(body, hold(fallen, 2.5))
    play(body, hold(pose, 0.5))
    boxes, time_s = body.world.boxes, body.time_s
    body.place_robot(1.5, 0.5, math.radians(135))
    assert body.time_s == time_s
    assert np.array_equal(body.world.boxes, boxes)
    assert body.world.base[:2] == pytest.approx((1.5, 0.5))
    assert base_angles(body.world)[2] == pytest.approx(math.radians(135))
    world = play(body, hold(pose, 1.0)).truth
    assert world is not None
    assert world.base[-1, 2] > 0.18
    assert np.hypot(*(world.base[-1, :2] - (1.5, 0.5))) < 0.03


def test_a_robot_may_be_put_into_a_box(among_boxes: AmongBoxes, hold: Hold) -> None:
    body = among_boxes((1.0, 0.0))
    body.place_robot(1.0, 0.0, 0.0)
    assert body.world.base[:2] == pytest.approx((1.0, 0.0))
    play(body, hold(body.robot.pose("walk_ready"), 0.2))


def test_a_place_that_is_no_number_is_refused(bare: SimulatedBody) -> None:
    with pytest.raises(InputError, match="cannot place"):
        bare.place_robot(math.nan, 0.0, 0.0)


def test_standing_up_finds_the_facet_under_the_centre() -> None:
    square = np.array([(1, 1, 0), (1, -1, 0), (-1, -1, 0), (-1, 1, 0)], dtype=float)
    step = np.array([(3, 1, 1), (3, -1, 1)], dtype=float)
    points = np.concatenate([square, step])
    assert find_standing_normal(points, np.array([0.0, 0.0, 2.0])) == pytest.approx((0, 0, 1))
    up = find_standing_normal(points, np.array([2.0, 0.0, 2.0]))
    assert up == pytest.approx(np.array([-1, 0, 2]) / math.sqrt(5))


def test_who_kneels_is_on_its_knees_and_not_in_the_floor(bare: SimulatedBody, touching: Touching) -> None:
    pose = bare.robot.pose("stand")
    for joint, degrees in {"hip_pitch": -30.0, "knee": 120.0, "ankle_pitch": 0.0}.items():
        for side in ("right", "left"):
            pose[bare.robot.index(f"{side}_{joint}")] = math.radians(degrees)
    bare.put_down(pose)
    assert find_supports(bare.instance).bottom_heights(UP).min() == pytest.approx(0.0, abs=1e-9)
    before = bare.world.base
    bare.settle(pose, 0.5)
    assert {("right_shank", "floor"), ("left_shank", "floor")} <= touching(bare.world)
    assert np.abs(bare.world.base - before).max() < 0.02


@quickly
@given(bend=st.lists(st.floats(-1.5, 1.5), min_size=18, max_size=18))
def test_no_part_is_put_deep_into_the_floor(bare: SimulatedBody, bend: list[float]) -> None:
    place(bare.instance, 0.0, 0.0, 0.0, bare.robot.pose("stand") + bend)
    lowest = find_supports(bare.instance).bottom_heights(UP).min()
    assert -0.001 <= lowest < 1e-9


def test_a_robot_is_put_on_a_step_and_not_into_it(bioloid: Robot, hold: Hold) -> None:
    steps = (
        Shape("tread", Role.STEP, 1.0, 0.0, (0.5, 1.0, 0.03)),
        Shape("wall", Role.WALL, 2.0, 0.0, (0.02, 1.0, 0.5)),
    )
    field = replace(arena(), shapes=steps, colours={**arena().colours, "step": (1.0, 1.0, 1.0)})
    body = SimulatedBody(World(bioloid, field), start=(0.3, 0.0, 0.0))
    on_the_floor = body.world.base
    body.place_robot(1.0, 0.0, 0.5)
    assert body.world.base[2] - on_the_floor[2] == pytest.approx(0.03, abs=2e-4)
    assert sole_corners(body.instance)[:, :, 2].min() == pytest.approx(0.03, abs=2e-4)
    play(body, hold(bioloid.pose("walk_ready"), 1.0))
    assert body.world.base[2] - on_the_floor[2] == pytest.approx(0.03, abs=2e-3)
    body.place_robot(1.95, 0.0, 0.0)
    assert body.world.base[2] == pytest.approx(on_the_floor[2]), "a wall is no place to stand on"
