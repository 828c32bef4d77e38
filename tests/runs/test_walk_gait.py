"""A gait walks on a simulated body and is measured."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from posewright.bodies import DomainParameters, JointCommands
from posewright.controllers import gait_player as gait_control
from posewright.errors import InputError
from posewright.evaluation import WalkResult, evaluate_walk
from posewright.evaluation.walking.feet import foot_trajectories, knee_positions, slips
from posewright.evaluation.walking.joints import drives_of
from posewright.evaluation.walking.walk import CORRECTION_WINDOW_FRAMES, fall_limits
from posewright.gaits import TROT, ForeHind, GaitParameters, QuadrupedGait, VelocityCommand
from posewright.recordings.falls import FallDetector
from posewright.robots import robot
from posewright.runs.walking.walk import MAX_LYING_S, make_walking_world, walk_gait
from posewright.simulation import SimulatedBody, World

CARD = robot("sony_ers7")


def made_gait(**changes: Any) -> QuadrupedGait:
    """Return a trot of our own, which no tuning of the presets changes."""
    lift = ForeHind(0.012, 0.012)
    points = {"left_front": (0.06, 0.067, -0.115), "left_rear": (-0.075, 0.067, -0.115)}
    mirrored = {name.replace("left", "right"): (x, -y, z) for name, (x, y, z) in points.items()}
    parameters = GaitParameters(
        ground_speed_m_s=0.3,
        ascent_pairs=3,
        ground_points=6,
        front_height_m=lift,
        central_height_m=lift,
        rear_height_m=lift,
        shape_factor=0.5,
        ascent_factor=0.3,
        turn_multiplier_rad_m=0.0,
        air_ground_factor=1.0,
        equilibrium_m={**points, **mirrored},
        maximum_displacement_m=0.05,
        maximum_turn_rad=0.4,
    )
    return QuadrupedGait(
        **{"name": "trot", "robot": CARD.name, "parameters": parameters, "phases": TROT, **changes}
    )


GAIT = made_gait()
AHEAD = VelocityCommand(0.12)


@pytest.fixture(scope="module")
def world() -> World:
    return World(CARD, visuals=False)


@pytest.fixture(scope="module")
def trial(world: World) -> WalkResult:
    return walk_gait(GAIT, CARD, command=AHEAD, seconds=3.0, world=world)


def test_the_robot_walks_ahead_and_stays_up(trial: WalkResult) -> None:
    report = trial.report
    assert report.is_upright
    assert report.travel.speed_m_s is not None
    assert 0.01 < report.travel.speed_m_s < 0.2
    assert report.travel.measured_s == pytest.approx(3.0)
    assert trial.simulated_s == pytest.approx(4.0)


def test_the_same_walk_gives_the_same_report_to_the_last_bit(trial: WalkResult, world: World) -> None:
    again = walk_gait(GAIT, CARD, command=AHEAD, seconds=3.0, world=world)
    anew = walk_gait(GAIT, CARD, command=AHEAD, seconds=3.0, world=World(CARD, visuals=False))
    assert again.to_dict() == trial.to_dict() == anew.to_dict()
    assert np.array_equal(again.walk.trajectory.base, trial.walk.trajectory.base)


def test_what_carries_next_to_nothing_is_held_still_and_that_is_told() -> None:
    trial = walk_gait(GAIT, CARD, command=AHEAD, seconds=0.5)
    held_joints = trial.to_dict()["held_joints"]
    assert set(held_joints) == {"mouth", *CARD.group("ears"), *CARD.group("tail")}
    columns = [CARD.index(joint) for joint in held_joints]
    pose = np.clip(CARD.pose(GAIT.pose), *CARD.limits)
    assert np.array_equal(
        trial.walk.trajectory.positions[:, columns],
        np.tile(pose[columns], (len(trial.walk.trajectory.base), 1)),
    )
    again = walk_gait(GAIT, CARD, command=AHEAD, seconds=0.5, world=make_walking_world(GAIT, CARD))
    assert again.to_dict() == trial.to_dict()


def test_the_gait_is_made_as_the_robot_walks_and_is_the_one_made_beforehand(trial: WalkResult) -> None:
    from posewright.gaits import QuadrupedGenerator

    walker = QuadrupedGenerator(GAIT, CARD)
    walker.request(AHEAD)
    assert np.array_equal(trial.walk.requested_angles[1:], walker.frames(500))


def test_on_the_spot_it_stays_near_the_spot(world: World) -> None:
    report = walk_gait(GAIT, CARD, command=VelocityCommand(), seconds=3.0, world=world).report
    assert report.travel.speed_m_s == pytest.approx(0.0, abs=0.03)
    assert report.travel.left_m_s == pytest.approx(0.0, abs=0.03)
    assert report.travel.turn_rad_s == pytest.approx(0.0, abs=0.2)
    assert report.travel.distance_m < 0.1
    assert (report.travel.forward_error, report.travel.left_error, report.travel.turn_error) == (
        None,
        None,
        None,
    )


@pytest.mark.parametrize("command", [VelocityCommand(0.08, 0.05, 0.4), VelocityCommand(0.0, 0.08, -0.5)])
def test_the_mirrored_gait_with_the_mirrored_command_goes_the_mirrored_way(
    command: VelocityCommand, world: World
) -> None:
    mirrored_gait = replace(GAIT, phases=GAIT.phases.mirrored)
    original = walk_gait(GAIT, CARD, command=command, seconds=2.0, world=world)
    two = walk_gait(mirrored_gait, CARD, command=command.mirrored, seconds=2.0, world=world)
    assert CARD.mirror(original.walk.requested_angles) == pytest.approx(two.walk.requested_angles, abs=1e-9)
    ours = original.report
    theirs = two.report
    assert theirs.travel.speed_m_s == pytest.approx(ours.travel.speed_m_s, abs=0.01)
    assert theirs.travel.left_m_s == pytest.approx(-(ours.travel.left_m_s or 0.0), abs=0.01)
    assert theirs.travel.turn_rad_s == pytest.approx(-(ours.travel.turn_rad_s or 0.0), abs=0.08)


@pytest.mark.parametrize(
    "domain",
    [DomainParameters(), DomainParameters(friction=0.4, slope_rad=(0.02, 0.01), latency_frames=5)],
)
def test_feet_are_where_the_simulation_has_them_and_slide_as_the_recorder_says(
    domain: DomainParameters,
) -> None:
    command = VelocityCommand(0.15, 0.0, 0.5)
    world = World(CARD, visuals=False, contacts=True)
    walk = walk_gait(GAIT, CARD, command=command, seconds=1.2, settle_s=0.3, domain=domain, world=world).walk
    SimulatedBody(world, start_pose=walk.requested_angles[0], domain=domain)
    replayed = world.advance({CARD.name: JointCommands(walk.commanded_angles[1:])})[CARD.name]
    assert np.array_equal(replayed.positions, walk.trajectory.positions[1:])
    feet = foot_trajectories(walk)
    truth = replayed.truth
    assert truth is not None
    lowest = feet.points[1:, :, 0] - np.array([0.0, 0.0, 1.0]) * feet.radii[:, np.newaxis]
    assert truth.footprints.mean(axis=2) == pytest.approx(lowest, abs=1e-12)
    joints = [world.model.joint(leg.joints[2]).id for leg in CARD.legs]
    assert world.data.xanchor[joints] == pytest.approx(knee_positions(walk)[-1], abs=1e-12)
    recorded = walk.trajectory.record.slips  # it leaves out frames at whose one end only a foot touches
    assert recorded is not None
    assert truth.slips is not None
    assert np.array_equal(recorded, truth.slips)
    assert recorded.sum() > 0.01
    both_ends = walk.trajectory.foot_contacts[:-1] & walk.trajectory.foot_contacts[1:]
    assert np.where(both_ends, slips(walk, feet), 0.0) == pytest.approx(recorded, abs=1e-12)
    assert slips(walk, feet).sum() > recorded.sum()


def test_the_work_of_whole_frames_is_that_of_every_step_of_the_physics(world: World) -> None:
    walk = walk_gait(GAIT, CARD, command=VelocityCommand(0.15), seconds=1.5, settle_s=0.0, world=world).walk
    SimulatedBody(world, start_pose=walk.requested_angles[0])
    model = world.model
    data = world.data
    at = world.addresses
    places = at.joint_qpos[walk.trajectory.leg_columns]
    drives = at.actuators[walk.trajectory.leg_columns]
    damping = np.asarray(walk.trajectory.read_body_value("damping"))[walk.trajectory.leg_columns]
    work_j = 0.0
    for row in walk.commanded_angles[1:]:
        data.ctrl[at.actuators] = row
        for _ in range(world.n_substeps):
            before = data.qpos[places].copy()
            mujoco.mj_step(model, data)
            turned = data.qpos[places] - before
            work = data.actuator_force[drives] * turned - damping * turned**2 / model.opt.timestep
            work_j += float(np.maximum(work, 0.0).sum())
    assert world.instance().joint_positions == pytest.approx(walk.trajectory.positions[-1], abs=1e-3)
    assert np.maximum(drives_of(walk).work_j, 0.0).sum() == pytest.approx(work_j, rel=0.03)


def push(world: World, at_s: float) -> Callable[[float], None]:
    """Return a watcher that throws the robot over sideways once that time has come."""
    done: list[float] = []

    def watch(time_s: float) -> None:
        if time_s >= at_s and not done:
            done.append(time_s)
            start = world.addresses.base_qvel.start
            world.data.qvel[start + 2 : start + 4] = 1.2, 12.0

    return watch


def test_a_robot_that_is_pushed_over_is_reported_and_walks_no_further(world: World) -> None:
    trial = walk_gait(GAIT, CARD, command=AHEAD, seconds=6.0, world=world, on_progress=push(world, 2.0))
    report = trial.report
    assert len(report.falls) == 1
    assert 2.0 < report.falls[0].time_s < 2.6
    assert trial.simulated_s < report.falls[0].time_s + 1.0
    assert report.travel.measured_s == pytest.approx(report.falls[0].time_s - 1.0, abs=0.01)
    assert report.travel.speed_m_s is not None
    assert report.falls[0].side in ("to the right", "to the left", "forward", "back")


@pytest.mark.parametrize(("block", "at_s"), [(64, 2.0), (64, 2.2), (16, 2.1)])
def test_a_walk_ends_with_the_block_in_which_the_robot_has_lain_for_long(
    block: int, at_s: float, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It falls amid a block, and lies over two or more."""
    monkeypatch.setattr(gait_control, "BLOCK_FRAMES", block)
    walk = walk_gait(GAIT, CARD, command=AHEAD, seconds=6.0, world=world, on_progress=push(world, at_s)).walk
    track = walk.trajectory
    detector = FallDetector(fall_limits(walk.frame_s), up=track.up_in_field)
    up = np.flatnonzero(~detector.find_down_rows(track.base))
    n = walk.last_row
    long = MAX_LYING_S / walk.frame_s
    assert n % block == 0
    assert up[-1] % block != 0
    assert n - block - up[-1] < long <= n - up[-1]


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("measuring-a-gait.md", f"{gait_control.BLOCK_FRAMES} frames at a time"),
        ("measuring-a-gait.md", f"counts once in {CORRECTION_WINDOW_FRAMES} frames"),
        ("architecture.md", f"a gait every {gait_control.BLOCK_FRAMES} frames"),
    ],
)
def test_the_pages_say_in_which_portions_it_is_walked_and_counted(page: str, says: str) -> None:
    assert says in (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")


def test_all_figures_follow_from_the_recording_alone(trial: WalkResult) -> None:
    again = evaluate_walk(trial.recording)
    assert again.figures() == trial.figures()
    assert again.figures()["recording_digest"] == trial.recording.digest()


def test_a_change_of_command_is_followed_from_the_next_step_on(world: World) -> None:
    schedule = [(0.0, VelocityCommand()), (2.0, VelocityCommand(0.0, 0.0, 0.8))]
    trial = walk_gait(GAIT, CARD, command=schedule, seconds=3.0, world=world)
    still, turning = trial.report.travel.stretches
    assert still.measured is not None
    assert turning.measured is not None
    assert abs(still.measured[2]) < 0.2 < turning.measured[2]
    assert trial.report.travel.commanded_turn_rad_s == pytest.approx(0.8 * 2.0 / 3.0)
    steady = walk_gait(GAIT, CARD, command=VelocityCommand(), seconds=3.0, world=world)
    assert np.array_equal(steady.walk.trajectory.base[:251], trial.walk.trajectory.base[:251])


def test_what_safety_holds_back_is_told_and_speeds_are_those_before_it(world: World) -> None:
    hasty = made_gait().with_values({"front_height_m": 0.03, "central_height_m": 0.03, "rear_height_m": 0.03})
    report = walk_gait(hasty, CARD, command=AHEAD, seconds=0.5, world=world).report
    assert report.loads.commanded_speed_ratio > 1.0
    assert report.loads.max_joint_speed_ratio == max(
        report.loads.commanded_speed_ratio, report.loads.measured_speed_ratio
    )
    held_back = {
        correction.joint for correction in report.loads.corrections if correction.guard == "speed limit"
    }
    too_fast = {joint.joint for joint in report.loads.joints if joint.commanded_speed_ratio > 1.0}
    assert held_back >= too_fast
    assert report.loads.interventions >= len(report.loads.corrections)


@pytest.mark.parametrize("block", [9, 64])
def test_no_figure_depends_on_how_the_walk_is_cut_into_blocks(
    block: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = made_gait().with_values({"front_height_m": 0.03, "central_height_m": 0.03, "rear_height_m": 0.03})
    monkeypatch.setattr(gait_control, "BLOCK_FRAMES", 32)
    complete = walk_gait(hasty, CARD, command=AHEAD, seconds=1.0, world=world)
    monkeypatch.setattr(gait_control, "BLOCK_FRAMES", block)
    again = [(0.0, AHEAD), (0.1, AHEAD), (0.5, AHEAD)]  # the same command, which cuts anew
    cut = walk_gait(hasty, CARD, command=again, seconds=1.0, world=world)
    assert complete.report.loads.interventions > 2 * len(complete.report.loads.corrections)
    assert cut.report.loads.interventions == complete.report.loads.interventions
    assert cut.report.loads.corrections == complete.report.loads.corrections
    assert np.array_equal(cut.walk.trajectory.base, complete.walk.trajectory.base)


def test_the_report_is_json_without_nan_and_real_time_is_that_of_the_clock(world: World) -> None:
    ticks = iter([10.0, 10.5])
    trial = walk_gait(GAIT, CARD, command=AHEAD, seconds=1.0, world=world, clock=lambda: next(ticks))
    data = json.loads(json.dumps(trial.to_dict(), allow_nan=False))
    assert data["real_time_factor"] == pytest.approx(4.0)
    assert set(data["feet"]) == set(CARD.feet)
    assert set(data["joints"]) == set(CARD.group("legs"))
    assert data["variation"]["mass_scale"] == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seconds": 0.0}, "seconds is 0.0"),
        ({"seconds": -1.0}, "seconds"),
        ({"seconds": math.nan}, "seconds is nan"),
        ({"seconds": math.inf}, "seconds is inf"),
        ({"seconds": 1e9}, "seconds"),
        ({"settle_s": -0.1}, "settle_s"),
        ({"settle_s": math.nan}, "settle_s"),
        ({"seed": -1}, f"the seed is -1 .*0 to {2**63 - 1}"),
        ({"seed": True}, "the seed is True"),
        ({"command": VelocityCommand(2.0)}, "out of range"),
        ({"command": []}, "schedule"),
        ({"command": 0.2}, r"0.2 is not a command \(VelocityCommand\(0.2\) goes ahead at 0.2 m/s"),
        ({"command": [(0.0, 0.2)]}, r"has the entry \(0.0, 0.2\) .*VelocityCommand"),
        ({"command": [AHEAD]}, "the schedule has the entry"),
        ({"command": [(0.0, AHEAD), ("1", AHEAD)]}, "the schedule has the entry"),
        ({"command": [(False, AHEAD)]}, "the schedule has the entry"),
        ({"command": [(0.0, AHEAD, AHEAD)]}, "the schedule has the entry"),
        ({"command": [(0.5, AHEAD)]}, "schedule"),
        ({"command": [(0.0, AHEAD), (0.0, AHEAD)]}, "0 s"),
        ({"command": [(0.0, AHEAD), (99.0, AHEAD)]}, "99 s"),
        ({"command": [(0.0, AHEAD), (1.0, VelocityCommand(turn_rad_s=50.0))]}, "out of range"),
    ],
)
def test_what_cannot_be_walked_is_refused(changes: dict[str, Any], message: str, world: World) -> None:
    with pytest.raises(InputError, match=message):
        walk_gait(**{"gait": GAIT, "robot": CARD, "command": AHEAD, "world": world, **changes})
