"""A walk holds its heading: the turn that is added leads back, within bounds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from posewright.bodies import BodyState, Reading
from posewright.controllers.gait_player import GaitController, GaitProgram
from posewright.controllers.heading import HeadingHold, heading_sensors
from posewright.errors import InputError
from posewright.gaits import OPEN_LOOP, FeedbackGains, VelocityCommand, read_gait
from posewright.robots import Compass, robot

BIOLOID = robot("robotis_bioloid")
GAINS = FeedbackGains(heading_1_s=2.0, max_heading_turn_rad_s=0.5)
AHEAD = VelocityCommand(0.1)
(IMU,) = heading_sensors(BIOLOID)
COMPASS = Compass("compass", IMU.mount)
ORIENTATION = f"{IMU.name}.orientation"
WITH_COMPASS = replace(BIOLOID, sensors=(IMU, COMPASS))


def state(time_s: float, **sensors: Reading) -> BodyState:
    n_joints = len(BIOLOID.joints)
    return BodyState(time_s, np.zeros(n_joints), np.zeros(n_joints), sensors=sensors)


def heading(time_s: float, angle_rad: float) -> BodyState:
    """Return a state of which compass and IMU say the same heading."""
    return state(time_s, **{COMPASS.name: angle_rad, ORIENTATION: np.array([9.0, 9.0, angle_rad])})


def test_a_heading_that_is_off_is_turned_back_by_the_gain_and_at_most_by_the_limit() -> None:
    hold = HeadingHold(BIOLOID, GAINS)
    assert hold.correct(AHEAD, heading(0.0, 1.0)) == AHEAD  # the heading at the start is the commanded one
    assert hold.correct(AHEAD, heading(0.1, 1.1)).turn_rad_s == pytest.approx(-0.2)
    assert hold.correct(AHEAD, heading(0.2, 0.9)).turn_rad_s == pytest.approx(0.2)
    assert hold.correct(AHEAD, heading(0.3, 0.0)).turn_rad_s == 0.5


def test_the_commanded_heading_turns_with_the_commands() -> None:
    hold = HeadingHold(BIOLOID, GAINS)
    turning = VelocityCommand(0.1, turn_rad_s=0.4)
    hold.correct(turning, heading(0.0, 0.0))
    # in half a second the robot is to turn by 0.2, and turned by 0.1
    assert hold.correct(turning, heading(0.5, 0.1)).turn_rad_s == pytest.approx(0.4 + 2.0 * 0.1)


def test_a_robot_that_does_not_turn_for_a_while_is_not_turned_for_long_after_the_command() -> None:
    """Integral windup: the hold answers at most 0.5 rad/s at a gain of 2, thus an error of 0.25 rad."""
    hold = HeadingHold(BIOLOID, GAINS)
    turning = VelocityCommand(0.1, turn_rad_s=0.4)
    for k in range(100):
        turn_rad_s = hold.correct(turning, heading(0.1 * k, 0.0)).turn_rad_s
    assert turn_rad_s == pytest.approx(0.9)
    hold.correct(AHEAD, heading(10.0, 0.25))
    assert hold.correct(AHEAD, heading(10.1, 0.25)).turn_rad_s == pytest.approx(0.08)


def test_the_way_back_is_the_short_one_across_half_a_turn() -> None:
    hold = HeadingHold(BIOLOID, GAINS)
    hold.correct(AHEAD, heading(0.0, math.pi - 0.05))
    assert hold.correct(AHEAD, heading(0.1, 0.05 - math.pi)).turn_rad_s == pytest.approx(-0.2)


def test_the_heading_is_that_of_the_compass_or_else_the_yaw_of_the_imu() -> None:
    both = {COMPASS.name: 0.1, ORIENTATION: np.array([9.0, 9.0, 0.2])}
    for card, turn_rad_s in ((WITH_COMPASS, -0.2), (BIOLOID, -0.4)):
        hold = HeadingHold(card, GAINS)
        hold.correct(AHEAD, heading(0.0, 0.0))
        assert hold.correct(AHEAD, state(0.1, **both)).turn_rad_s == pytest.approx(turn_rad_s)
    with pytest.raises(InputError, match="neither a compass nor an imu"):
        HeadingHold(replace(BIOLOID, sensors=()), GAINS)


def walk_a_second(controller: GaitController, *, start_rad: float, later_rad: float) -> np.ndarray:
    """Return the frames of a new try in which the heading changes after the first call."""
    controller.restart()
    chunks: list[np.ndarray] = []
    n_frames = 0
    while n_frames < 128:
        state = heading(n_frames / 128, later_rad if chunks else start_rad)
        chunks.append(controller.next(state, 128 - n_frames).angles)
        n_frames += len(chunks[-1])
    return np.concatenate(chunks)


def test_a_walk_with_feedback_turns_back_and_takes_its_heading_anew_at_each_try() -> None:
    gait = read_gait("biped", robot=BIOLOID)
    commands = ((0.0, AHEAD),)
    assert GaitProgram(gait, BIOLOID, commands).sensors == (IMU,)
    plain_controller = GaitController(replace(gait, feedback=OPEN_LOOP), BIOLOID, commands)
    plain_rows = walk_a_second(plain_controller, start_rad=0.0, later_rad=0.2)
    controller = GaitController(gait, BIOLOID, commands)
    for start_rad in (0.0, 2.0):
        rows = walk_a_second(controller, start_rad=start_rad, later_rad=start_rad)
        np.testing.assert_array_equal(rows, plain_rows)
    turned_rows = walk_a_second(controller, start_rad=0.0, later_rad=0.2)
    assert np.abs(turned_rows - plain_rows).max() > 0.01
