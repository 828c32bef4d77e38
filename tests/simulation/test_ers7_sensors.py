"""The sensors of the ERS-7: three infrareds, an accelerometer, paws and a camera."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.bodies import JointCommands
from posewright.robots import Accelerometer, RangeSensor, Robot
from posewright.simulation import SimulatedBody, World, sensor_poses

from .driving import play


def before_a_box(robot: Robot, gap_m: float) -> SimulatedBody:
    """Return a dog whose camera is so far from the face of a box."""
    box = replace(arena(), boxes=(Box(1.5, 0.0),))
    body = SimulatedBody(World(robot, box), start=(0.8, 0.0, 0.0))
    ahead = body.world.data.site("camera").xpos[0] - 0.8
    body.place_robot(1.4 - gap_m - ahead, 0.0, 0.0)
    return body


def test_both_infrareds_of_the_head_measure_to_a_box(ers7: Robot) -> None:
    sensors = before_a_box(ers7, 0.30).read().sensors
    assert sensors["infrared_near"] == pytest.approx(0.30, abs=0.03)
    assert sensors["infrared_far"] == sensors["infrared_near"]


def test_what_is_too_near_or_too_far_reads_the_end_of_the_range(ers7: Robot) -> None:
    sensors = before_a_box(ers7, 0.10).read().sensors
    assert sensors["infrared_near"] == pytest.approx(0.10, abs=0.03)
    assert sensors["infrared_far"] == 0.2
    far = before_a_box(ers7, 0.55).read().sensors
    assert far["infrared_near"] == 0.5
    assert far["infrared_far"] == pytest.approx(0.55, abs=0.05)


def test_the_chest_infrared_sees_the_floor_thirty_degrees_down(dog: SimulatedBody) -> None:
    world = dog.world
    chest = world.data.site("chest_ir")
    steepness = -chest.xmat.reshape(3, 3)[2, 0]
    assert steepness == pytest.approx(0.5, abs=0.03)
    assert dog.read().sensors["infrared_chest"] == pytest.approx(chest.xpos[2] / steepness, abs=1e-3)


def test_a_nearest_range_holds_for_every_beam(ers7: Robot) -> None:
    wide = RangeSensor("wide", "chest_ir", 2.0, fan_deg=20.0, beams=5, min_range_m=0.9)
    body = SimulatedBody(World(ers7, sensors=(wide,)))
    assert body.read().sensors["wide"] == 0.9


def test_the_accelerometer_feels_gravity_along_its_own_axes(dog: SimulatedBody) -> None:
    dog.settle(dog.robot.pose("sit"), 1.5)
    ahead, left, up = np.asarray(dog.read().sensors["accelerometer"])
    assert math.hypot(ahead, left, up) == pytest.approx(9.81, abs=0.05)
    assert math.degrees(math.atan2(ahead, up)) == pytest.approx(37.0, abs=2.0)
    assert left == pytest.approx(0.0, abs=0.05)


def test_the_accelerometer_feels_nothing_in_free_fall_and_saturates(ers7: Robot) -> None:
    narrow = Accelerometer("narrow", "imu", range_m_s2=2.0)
    body = SimulatedBody(World(ers7, sensors=(narrow,)))
    pose = ers7.pose("stand")
    body.settle(pose, 0.5)
    assert np.asarray(body.read().sensors["narrow"])[2] == 2.0
    body.world.show(((0, 0, 2.0, 1, 0, 0, 0), pose))
    play(body, JointCommands(np.tile(pose, (20, 1))))
    assert np.abs(np.asarray(body.read().sensors["accelerometer"])).max() < 0.5


def test_paws_tell_whether_they_stand(dog: SimulatedBody) -> None:
    dog.settle(dog.robot.pose("stand"), 0.5)
    paws = [name for name in dog.read().sensors if name.endswith("paw_contact")]
    assert len(paws) == 4
    assert all(dog.read().sensors[name] is True for name in paws)
    dog.world.show(((0, 0, 1.0, 1, 0, 0, 0), dog.robot.pose("stand")))
    assert not any(dog.read().sensors[name] for name in paws)


def test_a_trace_knows_where_sensors_sit_that_no_joint_moves(ers7: Robot) -> None:
    poses = sensor_poses(World(ers7).instance())
    assert set(poses) == {"infrared_chest", "accelerometer"}
    assert poses["infrared_chest"][:3] == pytest.approx((0.10914, 0.0, -0.00338))
    assert 2.0 * math.asin(poses["infrared_chest"][5]) == pytest.approx(math.radians(30.0))
