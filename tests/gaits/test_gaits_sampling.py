"""A gait sampled as a motion plays what the gait does, and goes into the files that AIBOs have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.controllers import Player
from posewright.errors import InputError
from posewright.formats import losses, read_motion, write_motion
from posewright.gaits import (
    QuadrupedGait,
    QuadrupedGenerator,
    VelocityCommand,
    gait_names,
    read_gait,
    sample_gait,
    steady_walk,
)
from posewright.hazards import check_motion
from posewright.motions import Level
from posewright.robots import robot
from posewright.runs import try_motion

from .walks import ERS7, EXAMPLE, FRAME_S, VELOCITIES, gaits, velocity, walked

COMMAND = VelocityCommand(0.1, 0.02, 0.3)


@given(gaits(), VELOCITIES, st.integers(1, 3))
@settings(max_examples=12, deadline=None)
def test_played_frame_by_frame_it_is_the_steady_walk(
    gait: QuadrupedGait, parts: tuple[float, float, float], cycles: int
) -> None:
    command = velocity(gait, parts)
    motion = sample_gait(gait, ERS7, command=command)
    frames = round(motion.duration / FRAME_S)
    steady = walked(gait, command, (8 + cycles) * frames)[8 * frames :]
    times = np.arange(1, cycles * frames + 1) * FRAME_S
    assert motion.repeat is None
    assert np.abs(motion.sample_at(times).angles - steady).max() < 1e-12
    written_out = sample_gait(gait, ERS7, command=command, cycles=cycles)
    assert written_out.repeat == 1
    assert np.abs(written_out.sample_at(times).angles - steady).max() < 1e-12


@pytest.mark.parametrize("name", gait_names("sony_ers7"))
def test_a_player_sends_just_the_frames_of_the_gait(name: str) -> None:
    gait = read_gait(name)
    walk = steady_walk(gait, ERS7, VelocityCommand(0.05))
    motion = sample_gait(gait, ERS7, command=VelocityCommand(0.05))
    player = Player(ERS7, {"walk": motion}, walk.cycle[-1])
    player.request("walk")
    sent = player.frames(3 * len(walk.cycle)).angles
    assert np.abs(sent - np.tile(walk.cycle, (3, 1))).max() < 1e-9


def test_with_a_lead_in_it_begins_standing_and_is_what_the_gait_does_from_the_first_frame() -> None:
    motion = sample_gait(EXAMPLE, ERS7, command=COMMAND, cycles=2, lead_in=True)
    frames = round(motion.duration / FRAME_S)
    rows = np.array([keyframe.pose.angles for keyframe in motion.keyframes])
    assert np.array_equal(rows[0], QuadrupedGenerator(EXAMPLE, ERS7).standing_pose)
    assert np.array_equal(rows[1:], walked(EXAMPLE, COMMAND, frames))


def test_to_a_pose_it_slows_down_stands_and_only_then_leaves_the_stance() -> None:
    motion = sample_gait(EXAMPLE, command=COMMAND, cycles=2, from_pose="stand", to_pose="sit")
    rows = np.array([keyframe.pose.angles for keyframe in motion.keyframes])
    led_in = sample_gait(EXAMPLE, command=COMMAND, cycles=2, lead_in=True)
    walker = QuadrupedGenerator(EXAMPLE, ERS7)
    walker.request(COMMAND)
    walker.frames(len(led_in.keyframes) - 1)
    walker.halt()
    halting = walker.frames(len(rows) - 2 - len(led_in.keyframes))
    assert np.array_equal(rows[0], ERS7.pose("stand"))
    assert np.array_equal(rows[1:-1], [*(k.pose.angles for k in led_in.keyframes), *halting])
    assert np.array_equal(rows[-2], walker.standing_pose)
    assert np.array_equal(rows[-1], ERS7.pose("sit"))


@pytest.mark.parametrize("name", gait_names("sony_ers7"))
@pytest.mark.parametrize("pose", sorted(ERS7.poses))
def test_from_any_pose_and_back_the_hardware_rules_find_no_error(name: str, pose: str) -> None:
    gait, command = read_gait(name), VelocityCommand(0.06)
    motion = sample_gait(gait, command=command, cycles=1, every_frames=2, from_pose=pose, to_pose=pose)
    assert not [finding for finding in check_motion(motion) if finding.level is Level.ERROR]
    assert motion.keyframe_times / (2 * FRAME_S) == pytest.approx(
        np.rint(motion.keyframe_times / (2 * FRAME_S))
    )


def test_from_sitting_the_dog_gets_up_through_lying_and_stays_on_its_feet() -> None:
    motion = sample_gait(EXAMPLE, command=COMMAND, cycles=1, from_pose="sit", to_pose="stand")
    assert np.array_equal(motion.keyframes[1].pose.angles, ERS7.pose("sleep"))
    played = try_motion(motion)
    assert not played.falls
    assert played.figures()["last_tilt_deg"] < 10.0


@pytest.mark.parametrize("every", [2, 3, 5, 42])
def test_fewer_keyframes_are_some_of_all_and_always_the_last(every: int) -> None:
    all_of_them = sample_gait(EXAMPLE, ERS7, command=COMMAND, cycles=1)
    some = sample_gait(EXAMPLE, ERS7, command=COMMAND, cycles=1, every_frames=every)
    assert some.duration == pytest.approx(all_of_them.duration)
    frames = len(all_of_them.keyframes) - 1
    places = sorted({*range(0, frames, every), frames})
    assert [keyframe.pose for keyframe in some.keyframes] == [all_of_them.keyframes[k].pose for k in places]
    assert some.keyframe_times == pytest.approx(np.array(places) * FRAME_S)


def test_it_says_where_it_comes_from_and_moves_all_joints() -> None:
    motion = sample_gait(EXAMPLE, ERS7, command=COMMAND)
    assert motion.joints == ERS7.joint_names
    assert motion.robot == "sony_ers7"
    assert "trot at forward 0.1 m/s, left 0.02 m/s, turn 0.3 rad/s" in motion.source


@pytest.mark.parametrize("name", ["walk.mtn", "EKMoves.h", "walk.motion", "walk.motion.yaml"])
def test_it_goes_into_every_file_an_aibo_or_its_simulator_has_and_comes_back(
    name: str, tmp_path: Path
) -> None:
    motion = sample_gait(EXAMPLE, ERS7, command=COMMAND, cycles=2, every_frames=2)
    write_motion(
        motion, tmp_path / name, accept_loss=name == "walk.motion"
    )  # which says its name by the file's
    again = read_motion(tmp_path / name, robot=ERS7)
    assert again.duration == pytest.approx(motion.duration, abs=0.02)
    places = [motion.joints.index(joint) for joint in again.joints]
    for time in np.linspace(0.1, 0.6, 7):
        back = again.at(time).angles
        told = ~np.isnan(back)
        assert back[told] == pytest.approx(motion.at(time).angles[places][told], abs=2e-3)
        assert told.sum() >= 16


@pytest.mark.parametrize("format", ["aibo-omtn", "aibo-oda", "ekmoves-h"])
@pytest.mark.parametrize("name", ["crawl", "trot", "fast"])
def test_nothing_is_lost_of_cycles_written_out(name: str, format: str) -> None:  # noqa: A002 -- the word people use
    motion = sample_gait(
        read_gait(name), ERS7, command=VelocityCommand(0.05), cycles=2, every_frames=2, lead_in=True
    )
    assert losses(motion, format) == ()


def test_the_design_rules_find_no_jump_in_it() -> None:
    found = check_motion(
        sample_gait(EXAMPLE, ERS7, command=VelocityCommand(0.05), cycles=2, lead_in=True), ERS7
    )
    assert not [finding for finding in found if finding.rule == "step"]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"cycles": 0}, "cycles is 0"),
        ({"cycles": 100_000}, "1 to 10,000"),
        ({"every_frames": 0}, "every_frames is 0"),
        ({"every_frames": 10_000}, "the range is 1 to"),
        ({"lead_in": True}, "set the number of cycles"),
        ({"to_pose": "stand"}, "set the number of cycles"),
        ({"cycles": 1, "from_pose": "kneel"}, "unknown pose 'kneel'"),
    ],
)
def test_what_makes_no_motion_is_refused(how: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        sample_gait(EXAMPLE, ERS7, command=COMMAND, **how)


def test_a_command_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match="out of range"):
        sample_gait(EXAMPLE, ERS7, command=VelocityCommand(2.0))


def test_a_biped_begins_in_a_pose_walks_as_its_generator_does_and_stops() -> None:
    bioloid = robot("robotis_bioloid")
    gait = read_gait("biped")
    command = VelocityCommand(0.1, 0.0, 0.2)
    motion = sample_gait(gait, command=command, cycles=2, from_pose="sit", to_pose="sit")
    rows = np.array([keyframe.pose.angles for keyframe in motion.keyframes])
    walk = gait.generator(bioloid)
    walk.request(command)
    n_walking = len(sample_gait(gait, command=command, cycles=2, lead_in=True).keyframes) - 1
    walking = walk.frames(n_walking)
    walk.halt()
    halting = walk.frames(len(rows) - 3 - n_walking)
    assert np.array_equal(rows[1:-1], [walk.standing_pose, *walking, *halting])
    assert walk.is_standing
    assert np.array_equal(rows[[0, -1]], [bioloid.pose("sit")] * 2)


def test_a_steady_walk_of_a_biped_repeats_its_cycle() -> None:
    gait = read_gait("biped")
    motion = sample_gait(gait, command=VelocityCommand(0.15, 0.02, -0.2))
    walk = gait.generator(robot("robotis_bioloid"))
    walk.request(VelocityCommand(0.15, 0.02, -0.2))
    n_frames = len(motion.keyframes) - 1
    steady = walk.frames(20 * n_frames)[-n_frames:]
    assert motion.repeat is None
    rows = np.array([keyframe.pose.angles for keyframe in motion.keyframes])
    assert np.abs(rows[1:] - steady).max() < 1e-12
    assert np.abs(rows[0] - rows[-1]).max() < 1e-12
