"""The simulated body: what it does with commands."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.bodies import Body, JointCommands, Supervisor
from posewright.errors import BodyError, InputError, UnsafeCommandError
from posewright.robots import Robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.placement import sole_corners

from .driving import play

Hold = Callable[..., JointCommands]
AmongBoxes = Callable[..., SimulatedBody]


def swaying(card: Robot, seconds: float, seed: int = 0) -> Floats:
    """Return a pose that every joint leaves a little, each in its own rhythm."""
    times = np.arange(round(seconds * 128)) / 128
    rhythm = np.random.default_rng(seed).uniform(0.5, 2.0, len(card.joints))
    swayed: Floats = card.pose("walk_ready") + 0.06 * np.sin(2 * np.pi * times[:, None] * rhythm)
    return swayed


def test_fulfils_both_doors(bare: SimulatedBody) -> None:
    assert isinstance(bare, Body)
    assert isinstance(bare, Supervisor)


def test_stands_three_seconds(bare: SimulatedBody, hold: Hold) -> None:
    start = bare.world.base.copy()
    track = play(bare, hold(bare.robot.pose("walk_ready"), 3.0))
    assert track.truth is not None
    track.require_shapes(len(bare.robot.joints))
    assert np.abs(track.truth.base[:, :3] - start[:3]).max() < 0.02
    assert track.truth.foot_contacts[-1].all()
    assert abs(track.truth.footprints[-1, :, :, 2]).max() < 0.001


def test_time_is_a_whole_number_of_frames(bare: SimulatedBody, hold: Hold) -> None:
    pose = bare.robot.pose("stand")
    first = play(bare, hold(pose, 13 / 128))
    second = play(bare, hold(pose, 12 / 128))
    assert bare.time_s == 25 / 128
    assert np.array_equal(np.concatenate([first.times, second.times]), np.arange(1, 26) / 128)
    assert bare.read().time_s == bare.time_s


def test_no_frames_take_no_time(bare: SimulatedBody) -> None:
    assert len(play(bare, JointCommands(np.empty((0, 18))))) == 0
    assert bare.time_s == 0.0


def test_equal_commands_give_equal_states_to_the_last_bit(bioloid: Robot, among_boxes: AmongBoxes) -> None:
    angles = swaying(bioloid, 2.0)
    tracks = [play(among_boxes((1.0, 0.5)), JointCommands(angles)) for _ in range(2)]
    one, other = tracks
    assert one.truth is not None
    assert other.truth is not None
    assert np.array_equal(one.positions, other.positions)
    assert np.array_equal(one.efforts, other.efforts)
    assert np.array_equal(one.truth.base, other.truth.base)


def test_reset_begins_again_to_the_last_bit(bioloid: Robot, among_boxes: AmongBoxes) -> None:
    body = among_boxes((0.42, 0.0))
    angles = swaying(bioloid, 1.0)
    first = play(body, JointCommands(angles, stiffness=np.full(18, 3.0)))
    body.place_robot(1.5, 0.2, 1.0)
    play(body, JointCommands(angles))
    body.reset()
    assert body.time_s == 0.0
    again = play(body, JointCommands(angles, stiffness=np.full(18, 3.0)))
    assert first.truth is not None
    assert again.truth is not None
    assert np.array_equal(first.truth.base, again.truth.base)
    assert np.array_equal(first.truth.boxes, again.truth.boxes)


def test_blocks_do_not_matter(bioloid: Robot) -> None:
    angles = swaying(bioloid, 1.0)
    whole, parts = (SimulatedBody(World(bioloid)) for _ in range(2))
    in_one = play(whole, JointCommands(angles)).truth
    in_many = [play(parts, JointCommands(part)).truth for part in np.split(angles, [12, 13, 25, 60])]
    assert in_one is not None
    assert np.array_equal(in_one.base, np.concatenate([part.base for part in in_many if part]))


def test_play_is_the_same_as_stepping_one_by_one(bioloid: Robot, among_boxes: AmongBoxes) -> None:
    body = among_boxes((0.42, 0.0))
    world = body.world
    model, data = world.model, copy.copy(world.data)
    angles = swaying(bioloid, 1.0)
    track = play(body, JointCommands(angles))
    for command in body._tick_grid.round(angles):
        data.ctrl[world.addresses.actuators] = command
        for _ in range(world.n_substeps):
            mujoco.mj_step(model, data)
    assert np.array_equal(data.qpos, world.data.qpos)
    assert np.array_equal(data.qvel, world.data.qvel)
    assert np.array_equal(track.positions[-1], data.qpos[world.addresses.joint_qpos])


def test_footprints_are_those_of_the_frames_very_end(bare: SimulatedBody, bioloid: Robot) -> None:
    track = play(bare, JointCommands(swaying(bioloid, 0.5)))
    assert track.truth is not None
    mujoco.mj_kinematics(bare.world.model, bare.world.data)
    assert np.abs(track.truth.footprints[-1] - sole_corners(bare.instance)).max() < 1e-12


def test_footprint_corners_go_round_from_the_front_left(bare: SimulatedBody) -> None:
    feet = sole_corners(bare.instance)
    right, left = feet[:, :, :2]
    assert right[:, 1].max() < 0.0 < left[:, 1].min()
    for front_left, front_right, rear_right, rear_left in (right, left):
        assert front_left[0] - rear_left[0] == pytest.approx(0.105, abs=2e-3)
        assert front_left[1] - front_right[1] == pytest.approx(0.062, abs=2e-3)
        assert rear_left[1] > rear_right[1]


def test_a_free_joint_goes_limp_and_comes_back(bare: SimulatedBody, hold: Hold) -> None:
    joint = bare.robot.index("right_shoulder_pitch")
    pose = bare.robot.pose("stand")
    pose[joint] = -1.3
    play(bare, hold(pose, 1.0))
    free = np.arange(18) == joint
    asked = pose.copy()
    asked[joint] = np.nan
    track = play(bare, hold(asked, 1.5, free=free))
    assert track.positions[-1, joint] > -0.5
    assert np.all(track.efforts[:, joint] == 0.0)
    play(bare, hold(pose, 1.0))
    assert bare.read().positions[joint] == pytest.approx(-1.3, abs=0.05)


def test_a_softer_joint_sags_more(bare: SimulatedBody, hold: Hold) -> None:
    joint = bare.robot.index("left_shoulder_pitch")
    pose = bare.robot.pose("stand")
    pose[joint] = -1.0
    own = play(bare, hold(pose, 1.0)).positions[-1, joint]
    stiffness = np.full(18, np.nan)
    stiffness[joint] = 0.3
    soft = play(bare, hold(pose, 1.0, stiffness=stiffness)).positions[-1, joint]
    again = play(bare, hold(pose, 1.0)).positions[-1, joint]
    assert soft > own + 0.05
    assert again == pytest.approx(own, abs=0.01)


def test_commands_reach_the_servos_in_whole_ticks(bare: SimulatedBody, bioloid: Robot) -> None:
    play(bare, JointCommands(swaying(bioloid, 0.1)))
    ticks = bioloid.to_ticks(bare.world.data.ctrl[bare.world.addresses.actuators])
    assert np.abs(ticks - np.rint(ticks)).max() < 1e-9


@pytest.mark.parametrize("name", ["right_shoulder_pitch", "left_hip_yaw", "right_knee"])
def test_a_joint_runs_free_at_its_no_load_speed(bare: SimulatedBody, hold: Hold, name: str) -> None:
    joint, world = bare.robot.index(name), bare.world
    world.model.opt.gravity[:] = 0.0
    lower, upper = (limit[joint] for limit in bare.robot.limits)
    pose = bare.robot.pose("stand")
    pose[joint] = lower
    world.show(((0, 0, 2.0, 1, 0, 0, 0), pose))
    pose[joint] = upper
    speeds = np.diff(play(bare, hold(pose, 1.0)).positions[:, joint]) * 128
    no_load = bare.robot.servos[joint].no_load_speed_rad_s
    assert 0.5 * no_load < speeds.max() <= no_load


def test_actuators_are_as_the_card_says(bare: SimulatedBody) -> None:
    model, at = bare.world.model, bare.world.addresses
    for place, servo in enumerate(bare.robot.servos):
        actuator, dof = at.actuators[place], at.joint_qvel[place]
        assert model.actuator_gainprm[actuator, 0] == servo.stiffness
        assert model.actuator_forcerange[actuator, 1] == servo.stall_torque_nm
        assert model.dof_damping[dof] == servo.stall_torque_nm / servo.no_load_speed_rad_s


def test_a_command_that_is_no_number_is_refused(bare: SimulatedBody) -> None:
    angles = np.zeros((4, 18))
    angles[2, 5] = np.nan
    with pytest.raises(UnsafeCommandError, match="frame 2"):
        play(bare, JointCommands(angles))
    with pytest.raises(BodyError, match="shape"):
        play(bare, JointCommands(np.zeros((4, 17))))


def test_a_blown_up_simulation_says_so_and_can_begin_again(bare: SimulatedBody, hold: Hold) -> None:
    bare.world.data.qvel[:] = 1e9
    with pytest.raises(BodyError, match="blew up"):
        play(bare, hold(bare.robot.pose("stand"), 0.1))
    bare.reset()
    assert len(play(bare, hold(bare.robot.pose("stand"), 0.1))) == 13


def test_a_card_without_a_model_is_refused(bioloid: Robot) -> None:
    with pytest.raises(InputError, match="no model"):
        World(replace(bioloid, model_path=None))


def test_a_model_that_does_not_fit_the_card_is_refused(bioloid: Robot) -> None:
    with pytest.raises(InputError, match="does not divide"):
        World(replace(bioloid, frame_period_s=0.01))
    with pytest.raises(InputError, match="no body 'tail'"):
        World(replace(bioloid, feet=("tail",), biped=None))


def test_what_is_said_of_a_blow_up_is_never_another_worlds(bare: SimulatedBody, hold: Hold) -> None:
    complain = mujoco.get_mju_user_warning()
    complain("another world's")
    bare.world.data.qvel[:] = 1e9
    with pytest.raises(BodyError, match=r"blew up before .* s: (?!another)"):
        play(bare, hold(bare.robot.pose("stand"), 0.1))
