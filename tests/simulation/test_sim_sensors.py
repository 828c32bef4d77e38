"""Sensors of the simulated body, against geometry worked out by hand."""

from __future__ import annotations

import math
import timeit
from collections.abc import Callable

import mujoco
import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.errors import UnknownNameError
from posewright.robots import Compass, FootContact, RangeScan, RangeSensor, Robot
from posewright.simulation import SimulatedBody, World

from .driving import play

AmongBoxes = Callable[..., SimulatedBody]
Hold = Callable[..., JointCommands]

LASER_OFFSET = np.array([0.06, 0.0, 0.08])
FAN = np.radians(np.linspace(-0.5, 0.5, 21))


def turned(quaternion: Floats, vectors: Floats) -> Floats:
    """Return vectors `(n, 3)` turned by a unit quaternion, by its textbook formula."""
    w, axis = quaternion[0], quaternion[1:]
    across = 2.0 * np.cross(axis, vectors)
    return vectors + w * across + np.cross(axis, across)


def laser(body: SimulatedBody, yaw: float, planes: list[tuple[Floats, float]]) -> float:
    """Return the nearest distance from the laser mount to planes n.p = d in front of it."""
    base = body.world.base
    origin = base[:3] + turned(base[3:], LASER_OFFSET[None])[0]
    bearings = yaw + FAN
    beams = turned(base[3:], np.stack([np.cos(bearings), np.sin(bearings), 0.0 * bearings], -1))
    nearest = math.inf
    for normal, offset in planes:
        steepness = beams @ normal
        with np.errstate(divide="ignore"):
            distances = (offset - origin @ normal) / steepness
        nearest = min(nearest, float(distances[distances > 0].min(initial=math.inf)))
    return nearest


X, Y, Z = np.eye(3)


@pytest.mark.parametrize(("gap", "yaw"), [(0.3, 0.0), (0.55, 0.0), (0.4, 0.15), (0.4, -0.15)])
def test_front_laser_measures_to_the_face_of_a_box(among_boxes: AmongBoxes, gap: float, yaw: float) -> None:
    body = among_boxes((1.0 + gap + 0.1, 0.0))
    body.place_robot(1.0, 0.0, yaw)
    expected = laser(body, 0.0, [(X, 1.0 + gap)])
    assert body.read().sensors["laser_front"] == pytest.approx(expected, abs=1e-3)


def test_front_laser_of_a_leaning_robot_meets_the_floor(among_boxes: AmongBoxes) -> None:
    body = among_boxes()
    body.place_robot(0.3, 0.0, 0.0)
    floor = laser(body, 0.0, [(Z, 0.0)])
    assert floor < 2.0
    assert body.read().sensors["laser_front"] == pytest.approx(floor, abs=1e-3)


@pytest.mark.parametrize("yaw", [0.0, 0.3, -0.4])
def test_side_lasers_measure_to_the_walls(among_boxes: AmongBoxes, yaw: float) -> None:
    body = among_boxes()
    body.place_robot(1.2, 0.25, yaw)
    sensors = body.read().sensors
    left = laser(body, math.pi / 2, [(Y, 1.0), (Z, 0.0)])
    right = laser(body, -math.pi / 2, [(Y, -1.0), (Z, 0.0)])
    assert sensors["laser_left"] == pytest.approx(left, abs=1e-3)
    assert sensors["laser_right"] == pytest.approx(right, abs=1e-3)


def test_nearest_beam_of_a_fan_counts(bioloid: Robot) -> None:
    field = arena().with_boxes([Box(1.6, 0.12)])
    wide = RangeSensor("wide", "laser_mount", 5.0, fan_deg=30.0, beams=31, pitch_deg=-10.0)
    narrow = RangeSensor("narrow", "laser_mount", 5.0, pitch_deg=-10.0)
    body = SimulatedBody(World(bioloid, field, sensors=(wide, narrow)), start=(1.0, 0.0, 0.0))
    sensors = body.read().sensors
    assert sensors["wide"] < 0.48
    assert sensors["narrow"] > 1.0


def test_nothing_in_reach_reads_the_greatest_range(bioloid: Robot) -> None:
    up = RangeSensor("up", "laser_mount", 3.0, pitch_deg=-60.0)
    ring = RangeScan("sky", "head", 4.0, start_deg=-180.0, step_deg=10.0, beams=36, pitch_deg=-10.0)
    body = SimulatedBody(World(bioloid, sensors=(up, ring)), start=(0.0, 0.0, 0.0))
    sensors = body.read().sensors
    assert sensors["laser_left"] == 5.0
    assert sensors["up"] == 3.0
    assert isinstance(sensors["sky"], np.ndarray)
    assert sensors["sky"].shape == (36,)
    assert sensors["sky"].max() == 4.0


def test_a_scan_that_undoes_the_lean_sees_all_four_walls(bioloid: Robot) -> None:
    lean_deg = -math.degrees(2 * math.asin(SimulatedBody(World(bioloid)).world.base[5]))
    ring = RangeScan("ring", "head", 5.0, start_deg=-180.0, step_deg=90.0, beams=4, pitch_deg=lean_deg)
    body = SimulatedBody(World(bioloid, arena(), sensors=(ring,)), start=(1.0, 0.3, 0.0))
    mount = body.world.data.site("head").xpos
    back, right, front, left = np.asarray(body.read().sensors["ring"])
    assert front == pytest.approx(2.5 - mount[0], abs=2e-3)
    assert back == pytest.approx(mount[0], abs=2e-3)
    assert left == pytest.approx(1.0 - mount[1], abs=2e-3)
    assert right == pytest.approx(1.0 + mount[1], abs=2e-3)


def test_beams_look_past_the_robot_itself(bioloid: Robot) -> None:
    inside = RangeScan("inside", "imu", 5.0, start_deg=-180.0, step_deg=10.0, beams=36)
    body = SimulatedBody(World(bioloid, arena(), sensors=(inside,)), start=(1.25, 0.0, 0.0))
    assert np.asarray(body.read().sensors["inside"]).min() > 0.9


def test_imu_at_rest_feels_gravity_and_its_lean(bare: SimulatedBody, hold: Hold) -> None:
    play(bare, hold(bare.robot.pose("walk_ready"), 2.0))
    sensors = bare.read().sensors
    roll, pitch, _ = np.asarray(sensors["imu.orientation"])
    felt = np.asarray(sensors["imu.acceleration"])
    assert 0.08 < pitch < 0.3
    assert np.linalg.norm(felt) == pytest.approx(9.81, abs=0.05)
    assert math.atan2(-felt[0], felt[2]) == pytest.approx(pitch, abs=0.01)
    assert math.atan2(felt[1], felt[2]) == pytest.approx(roll, abs=0.01)
    assert np.abs(np.asarray(sensors["imu.angular_velocity"])).max() < 0.01


def test_imu_feels_nothing_in_free_fall(bare: SimulatedBody, hold: Hold) -> None:
    pose = bare.robot.pose("stand")
    bare.world.show(((0, 0, 2.0, 1, 0, 0, 0), pose))
    play(bare, hold(pose, 0.25))
    assert np.abs(np.asarray(bare.read().sensors["imu.acceleration"])).max() < 0.5


def test_imu_tells_how_fast_it_turns(bare: SimulatedBody) -> None:
    world = bare.world
    world.show(((0, 0, 2.0, 1, 0, 0, 0), bare.robot.pose("stand")))
    world.data.qvel[world.addresses.base_qvel][3:] = (0.1, -0.2, 0.7)
    mujoco.mj_forward(world.model, world.data)
    assert np.asarray(bare.read().sensors["imu.angular_velocity"]) == pytest.approx((0.1, -0.2, 0.7))


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5, 3.1])
def test_compass_and_imu_agree_on_the_heading(bioloid: Robot, yaw: float) -> None:
    world = World(bioloid, sensors=(Compass("compass", "imu"),))
    sensors = SimulatedBody(world, start=(0.0, 0.0, yaw)).read().sensors
    assert sensors["compass"] == pytest.approx(yaw)
    assert np.asarray(sensors["imu.orientation"])[2] == pytest.approx(yaw)


def test_feet_tell_whether_they_stand(bare: SimulatedBody, hold: Hold) -> None:
    pose = bare.robot.pose("walk_ready")
    play(bare, hold(pose, 0.5))
    sensors = bare.read().sensors
    assert sensors["right_foot_contact"] is True
    assert sensors["left_foot_contact"] is True
    bare.world.show(((0, 0, 1.0, 1, 0, 0, 0), pose))
    assert bare.read().sensors["right_foot_contact"] is False


def test_positions_are_read_in_whole_ticks(bare: SimulatedBody, hold: Hold) -> None:
    track = play(bare, hold(bare.robot.pose("stand"), 0.3))
    state = bare.read()
    ticks = bare.robot.to_ticks(state.positions)
    assert np.abs(ticks - np.rint(ticks)).max() < 1e-9
    assert np.abs(state.positions - track.positions[-1]).max() <= 0.51 * bare.robot.servos[0].tick_rad
    assert np.array_equal(state.efforts, track.efforts[-1])


def test_noise_is_added_where_asked_and_depends_on_the_seed(bioloid: Robot) -> None:
    def readings(seed: int) -> list[float]:
        body = SimulatedBody(World(bioloid, arena()), noise={"laser_left": 0.01}, seed=seed)
        return [float(np.asarray(body.read().sensors["laser_left"])) for _ in range(50)]

    assert readings(1) == readings(1) != readings(2)
    assert 0.005 < np.std(readings(1)) < 0.02
    with pytest.raises(UnknownNameError, match="laser_lefft"):
        SimulatedBody(World(bioloid), noise={"laser_lefft": 0.01})


def test_unknown_mounts_and_feet_are_named(bioloid: Robot) -> None:
    with pytest.raises(UnknownNameError, match="hed"):
        SimulatedBody(World(bioloid, sensors=(Compass("c", "hed"),)))
    with pytest.raises(UnknownNameError, match="third_foot"):
        SimulatedBody(World(bioloid, sensors=(FootContact("c", "third_foot"),)))


def test_reading_everything_is_quick(bioloid: Robot) -> None:
    ring = RangeScan("ring", "head", 5.0, start_deg=-180.0, step_deg=5.0, beams=72, pitch_deg=-10.0)
    field = arena().with_boxes([Box(1.0 + 0.3 * i, 0.5 * (-1) ** i) for i in range(4)])
    body = SimulatedBody(World(bioloid, field, sensors=(ring, Compass("compass", "imu"))))
    fastest = min(timeit.repeat(body.read, number=100, repeat=5)) / 100
    assert fastest < 500e-6, "measured 55 us; a loaded machine gets some slack"
