"""Poses caught by hand become a motion that plays; what is let go floats, and what is held stays."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from posewright.bodies import MockBody, TorquePolicy
from posewright.buses.dynamixel.bus import Bus, joints_of
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.teaching import FIRST_REACH_S, Teacher
from posewright.control import drive
from posewright.controllers import Player
from posewright.errors import InputError, UnknownNameError
from posewright.formats import read_motion, write_motion
from posewright.robots import robot

from .wired import WireUp

BIOLOID = robot("robotis_bioloid")
STAND = BIOLOID.pose("stand")
TICK = BIOLOID.servo("right_elbow").tick_rad
ARM = BIOLOID.group("right_arm")


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def fake() -> FakeBus:
    return FakeBus.of(BIOLOID, MockBody(BIOLOID, positions=STAND))  # a hand is as fast as it likes


@pytest.fixture
def bus(fake: FakeBus, wired: WireUp) -> Bus:
    return wired(fake, joints=joints_of(BIOLOID))


@pytest.fixture
def move(fake: FakeBus, bus: Bus) -> Callable[..., None]:
    """Give a function that puts joints by hand somewhere [deg], and waits until they are there or held."""

    def put(**degrees: float) -> None:
        for joint, angle in degrees.items():
            fake.hold(joint, math.radians(angle))
        bus.port.sleep(8.0 * BIOLOID.frame_period_s)

    return put


def angles(bus: Bus) -> np.ndarray:
    """Return where the servos say the joints are [rad]."""
    ticks = [bus.read(servo.id or 0, "present_position") for servo in BIOLOID.servos]
    return BIOLOID.from_ticks(np.array(ticks, dtype=float))


def at(bus: Bus, joint: str) -> float:
    return math.degrees(angles(bus)[BIOLOID.index(joint)])


def test_three_poses_caught_by_hand_become_a_motion_that_plays(
    bus: Bus, move: Callable[..., None], tmp_path: Path
) -> None:
    clock = Clock()
    with Teacher(bus, BIOLOID, clock) as teacher:
        teacher.hold("all")
        teacher.release("right_arm")
        for elbow_deg, passed_s in ((20.0, 0.0), (60.0, 0.75), (90.0, 0.0)):
            move(right_elbow=elbow_deg, right_shoulder_roll=-elbow_deg)
            clock.now_s += passed_s
            teacher.catch("", None if passed_s else 0.5)
        motion = teacher.motion("wave")
    assert [frame.reach_s for frame in motion.keyframes] == [0.5, 0.75, 0.5]

    path = tmp_path / "wave.motion.yaml"
    write_motion(motion, path)
    again = read_motion(path)
    body = MockBody(BIOLOID, positions=STAND)
    player = Player(BIOLOID, {"wave": again}, STAND)
    player.request("wave")
    drive(body, {BIOLOID.name: player}, until_s=3.0)
    elbow, roll = BIOLOID.index("right_elbow"), BIOLOID.index("right_shoulder_roll")
    for reached_s, caught_deg in zip((0.5, 1.25, 1.75), (20.0, 60.0, 90.0), strict=True):
        pose = again.at(reached_s)
        assert math.degrees(pose.angle("right_elbow")) == pytest.approx(caught_deg, abs=0.3)
        assert math.degrees(pose.angle("right_shoulder_roll")) == pytest.approx(-caught_deg, abs=0.3)
    for caught_deg in (20.0, 60.0, 90.0):
        near = np.abs(np.rad2deg(body.commands[:, [elbow, roll]]) - (caught_deg, -caught_deg)).max(axis=1)
        assert near.min() < 1.0
    others = [BIOLOID.index(joint) for joint in BIOLOID.joint_names if joint not in ARM]
    assert np.ptp(body.commands[:, others], axis=0).max() < 2.0 * TICK


def test_a_limb_that_is_let_go_floats_and_the_others_stay(bus: Bus, move: Callable[..., None]) -> None:
    with Teacher(bus, BIOLOID, Clock()) as teacher:
        teacher.hold("all")
        assert teacher.free == ()
        teacher.release("right_arm")
        assert teacher.free == ARM
        move(right_elbow=60.0, left_elbow=60.0)
        assert at(bus, "right_elbow") == pytest.approx(60.0, abs=0.3)
        assert at(bus, "left_elbow") == pytest.approx(
            math.degrees(STAND[BIOLOID.index("left_elbow")]), abs=0.6
        )


def test_a_limb_that_is_held_again_stays_where_it_was_put(bus: Bus, move: Callable[..., None]) -> None:
    with Teacher(bus, BIOLOID, Clock()) as teacher:
        teacher.release("right_arm")
        move(right_elbow=60.0)
        teacher.hold("right_elbow")
        move(right_elbow=10.0)
        assert at(bus, "right_elbow") == pytest.approx(60.0, abs=0.6)
        assert "right_elbow" not in teacher.free


def test_the_time_into_a_pose_is_what_passed_unless_it_is_asked_for(bus: Bus) -> None:
    clock = Clock()
    with Teacher(bus, BIOLOID, clock) as teacher:
        first = teacher.catch("first")
        clock.now_s += 1.25
        reach = [first, teacher.catch("second"), teacher.catch("third", 0.4)]
    assert [pose.reach_s for pose in reach] == [FIRST_REACH_S, 1.25, 0.4]
    motion = teacher.motion("m")
    assert motion.source == "taught by hand: first, second, third"
    for caught in motion.keyframes:  # a tick is 0.29 degrees: what is finer is noise in the file
        degrees = np.rad2deg(caught.pose.angles)
        assert np.allclose(degrees, np.round(degrees, 2), atol=1e-9, rtol=0.0)


def test_a_pose_beyond_the_limits_is_told_and_caught_at_them(bus: Bus, move: Callable[..., None]) -> None:
    with Teacher(bus, BIOLOID, Clock()) as teacher:
        teacher.release("right_knee")
        move(right_knee=-30.0)
        pose = teacher.catch()
    knee = BIOLOID.index("right_knee")
    assert math.degrees(pose.angles[knee]) == pytest.approx(-5.0)
    (told,) = pose.warnings
    assert told == "right_knee stands at -29.9 deg: caught at its limit, -5.0"


def test_a_way_that_no_servo_goes_so_fast_is_told(bus: Bus, move: Callable[..., None]) -> None:
    with Teacher(bus, BIOLOID, Clock()) as teacher:
        teacher.catch()
        teacher.release("right_elbow")
        move(right_elbow=100.0)
        pose = teacher.catch("", 0.1)
    assert len(pose.warnings) == 1
    assert pose.warnings[0].startswith("right_elbow cannot move there in 0.1 s: it needs at least 0.")


def test_a_pose_can_be_forgotten(bus: Bus) -> None:
    with Teacher(bus, BIOLOID, Clock()) as teacher:
        teacher.catch("one", 1.0)
        teacher.catch("two", 1.0)
        assert teacher.undo().name == "two"
        assert [pose.name for pose in teacher.captured_poses] == ["one"]
        teacher.undo()
        for nothing in (teacher.undo, lambda: teacher.motion("m")):
            with pytest.raises(InputError, match="no pose was caught"):
                nothing()


@pytest.mark.parametrize("policy", TorquePolicy)
def test_at_the_end_torque_is_off_unless_it_was_to_stay(bus: Bus, policy: TorquePolicy) -> None:
    with Teacher(bus, BIOLOID, Clock()) as teacher:
        teacher.hold("all")
        if policy is TorquePolicy.HOLD:
            teacher.close(policy)
    on = [bus.read(servo.id or 0, "torque_enable") for servo in BIOLOID.servos]
    assert on == [int(policy is TorquePolicy.HOLD)] * 18


def test_an_error_leaves_torque_off(bus: Bus) -> None:
    teacher = Teacher(bus, BIOLOID, Clock())
    teacher.hold("all")
    with pytest.raises(UnknownNameError, match="limb"), teacher:
        teacher.release("tail")
    assert not any(bus.read(servo.id or 0, "torque_enable") for servo in BIOLOID.servos)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-4, 1e9, math.nan, math.inf])
def test_a_way_takes_time(bus: Bus, seconds: float) -> None:
    with Teacher(bus, BIOLOID, Clock()) as teacher, pytest.raises(InputError, match="above 0"):
        teacher.catch("", seconds)
