"""A gait walked with its feedback: what it reads, when it reacts, and that it stands a push."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from posewright.bodies import BodyState
from posewright.control import Controller, drive
from posewright.controllers.excess_tilt import ExcessTiltMeter
from posewright.controllers.gait_player import GaitController
from posewright.controllers.walker import REACTION_FRAMES, Walker, feedback_sensors
from posewright.errors import DocumentError, InputError
from posewright.gaits import OPEN_LOOP, FeedbackGains, Gait, VelocityCommand, parse_gait, read_gait
from posewright.gaits.feedback import UPRIGHT
from posewright.robots import Compass, Imu, robot
from posewright.runs.walking.walk import make_walking_world
from posewright.simulation import SimulatedBody

BIOLOID = robot("robotis_bioloid")
GAIT = read_gait("biped", robot=BIOLOID)
IMU = next(sensor for sensor in BIOLOID.sensors if isinstance(sensor, Imu))


def state(time_s: float, roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0) -> BodyState:
    n_joints = len(BIOLOID.joints)
    orientation = {f"{IMU.name}.orientation": np.array([roll, pitch, yaw])}
    return BodyState(time_s, np.zeros(n_joints), np.zeros(n_joints), sensors=orientation)


def test_rocking_is_no_excess_and_more_of_it_is_to_either_side() -> None:
    meter = ExcessTiltMeter(BIOLOID, rocking_rad=0.1)
    assert meter.measure(state(0.0, roll=0.02, pitch=0.25)) == UPRIGHT  # the first reading is the mean
    assert meter.measure(state(0.0, roll=-0.07, pitch=0.34)) == UPRIGHT
    assert meter.measure(state(0.0, roll=0.32, pitch=-0.05)) == pytest.approx((0.2, -0.2))
    meter.restart()
    assert meter.measure(state(5.0, roll=0.32, pitch=-0.05)) == UPRIGHT


def test_a_slope_is_usual_after_a_while() -> None:
    meter = ExcessTiltMeter(BIOLOID, rocking_rad=0.0)
    for k in range(60):
        meter.measure(state(0.03 * k))
    excess = [meter.measure(state(1.8 + 0.03 * k, pitch=0.3)).pitch for k in range(1, 300)]
    assert excess[0] > 0.28
    assert excess == sorted(excess, reverse=True)
    # the mean's time constant is 1.5 s
    assert excess[49] == pytest.approx(0.3 * math.exp(-1.0), rel=0.05)
    assert excess[-1] < 0.001


def test_the_mean_is_that_of_all_readings_at_first() -> None:
    meter = ExcessTiltMeter(BIOLOID, rocking_rad=0.0)
    readings = [0.3, 0.1, 0.2, 0.3, 0.2]
    excess = [meter.measure(state(0.1 * k, pitch=pitch)).pitch for k, pitch in enumerate(readings)]
    # that of the pose at the start, before the first step, has no weight
    means = [0.3, 0.1, 0.15, 0.2, 0.2]
    assert excess == pytest.approx([pitch - mean for pitch, mean in zip(readings, means, strict=True)])


def test_a_walk_reads_the_sensors_of_its_feedback_only() -> None:
    compass = Compass("compass", IMU.mount)
    card = replace(BIOLOID, sensors=(IMU, compass))
    for gains, sensors in (
        (OPEN_LOOP, ()),
        (FeedbackGains(heading_1_s=1.0), (compass,)),
        (FeedbackGains(foot_levelling=1.0), (IMU,)),
        (FeedbackGains(heading_1_s=1.0, foot_levelling=1.0), (compass, IMU)),
    ):
        gait = replace(GAIT, feedback=gains)
        assert feedback_sensors(gait, card) == sensors
        assert Walker(gait, card).reads_sensors == bool(sensors)
    with pytest.raises(InputError, match="has no imu"):
        Walker(replace(GAIT, feedback=FeedbackGains(foot_levelling=1.0)), replace(card, sensors=(compass,)))


def test_without_feedback_frames_are_not_cut_and_with_it_a_few_come_at_a_time() -> None:
    assert len(Walker(replace(GAIT, feedback=OPEN_LOOP), BIOLOID).frames(state(0.0), 50)) == 50
    assert len(Walker(GAIT, BIOLOID).frames(state(0.0), 50)) == REACTION_FRAMES


def test_a_walker_halts_with_its_feedback_in_the_standing_pose() -> None:
    walker = Walker(GAIT, BIOLOID)
    walker.request(VelocityCommand(0.1))
    for k in range(60):
        walker.frames(state(k / 30, pitch=0.3 * (k % 7), yaw=0.2), 4)
    walker.halt()
    for k in range(200):
        rows = walker.frames(state(2.0 + k / 30, yaw=0.2), 4)
    assert walker.is_standing
    np.testing.assert_array_equal(rows[-1], walker.standing_pose)


def test_while_the_imu_reads_no_number_the_walk_goes_on_as_corrected_last() -> None:
    walker = Walker(GAIT, BIOLOID)
    silent = Walker(GAIT, BIOLOID)
    silent.frames(state(0.0, roll=math.nan, pitch=math.nan, yaw=math.nan), 4)
    np.testing.assert_array_equal(
        silent.frames_without_reaction(60),
        Walker(replace(GAIT, feedback=OPEN_LOOP), BIOLOID).frames(state(0.0), 64)[4:],
    )
    walker.frames(state(0.0), 4)
    walker.frames(state(4 / 128, pitch=0.3, yaw=0.4), 4)
    unchanged = Walker(GAIT, BIOLOID)
    unchanged.frames(state(0.0), 4)
    unchanged.frames(state(4 / 128, pitch=0.3, yaw=0.4), 4)
    walker.react(state(8 / 128, roll=math.nan, pitch=math.nan, yaw=math.nan))
    np.testing.assert_array_equal(walker.frames_without_reaction(60), unchanged.frames_without_reaction(60))


def test_a_robot_that_lies_comes_to_stand_all_the_same() -> None:
    walker = Walker(GAIT, BIOLOID)
    walker.request(VelocityCommand(0.1))
    for k in range(30):
        walker.frames(state(k / 30), 4)
    walker.halt()
    for k in range(30, 80):
        walker.frames(state(k / 30, pitch=1.5), 4)
    assert walker.is_standing


def test_a_dog_has_no_feet_to_level() -> None:
    text = "gait: slow\nrobot: sony_ers7\nfeedback: {foot_levelling: 0.5}\nphases: crawl\nparameters: {}\n"
    with pytest.raises(DocumentError, match="only a walk on two legs levels its feet"):
        parse_gait(text)


PUSH_S = 2.256
"""When the robot is pushed [s]: the middle of a swing."""


class Pushed(Controller):
    """Walks a gait, and is pushed forward while it walks."""

    def __init__(self, gait: Gait, impulse_n_s: float) -> None:
        self.world = make_walking_world(gait, BIOLOID)
        SimulatedBody(self.world, start_pose=gait.generator(BIOLOID).standing_pose)
        self._walk = GaitController(gait, BIOLOID, [(0.0, VelocityCommand(0.2))])
        self._force_n = impulse_n_s / 0.1

    def restart(self) -> None:
        self._walk.restart()

    def next(self, state: BodyState, n: int):
        is_pushed = PUSH_S <= state.time_s < PUSH_S + 0.1
        trunk = self.world.model.body("trunk").id
        self.world.data.xfrc_applied[trunk, 0] = self._force_n if is_pushed else 0.0
        return self._walk.next(state, min(n, REACTION_FRAMES))

    def final_height_m(self) -> float:
        drive(self.world, {BIOLOID.name: self}, until_s=4.5)
        return float(self.world.data.qpos[2])


def test_a_push_that_fells_an_open_loop_is_survived_with_level_feet() -> None:
    """0.7 N s from behind: a robot of 1.9 kg is 0.37 m/s faster after it."""
    open_loop = replace(GAIT, feedback=replace(GAIT.feedback, foot_levelling=0.0))
    assert Pushed(open_loop, 0.7).final_height_m() < 0.1
    assert Pushed(GAIT, 0.7).final_height_m() > 0.15
