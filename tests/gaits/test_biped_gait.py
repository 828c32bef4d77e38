"""A biped's gait: feet stand still on the ground, joints are continuous, left mirrors right."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posewright.errors import DocumentError, InputError, UnknownNameError
from posewright.gaits import (
    OPEN_LOOP,
    STILL,
    BipedGait,
    BipedGenerator,
    FeedbackGains,
    VelocityCommand,
    chain,
    gait_text,
    parse_gait,
    read_gait,
    se2_exp,
    write_gait,
)
from posewright.gaits.biped.generator import SWING_TILT_SPEED
from posewright.gaits.biped.parameters import EXPLANATIONS
from posewright.gaits.biped.step import OTHER_SIDE
from posewright.gaits.feedback import UPRIGHT, Tilt
from posewright.kinematics import biped_legs_of
from posewright.robots import SIDES, robot

CARD = robot("robotis_bioloid")
_GAIT = read_gait("biped", robot=CARD)
assert isinstance(_GAIT, BipedGait)
GAIT: BipedGait = _GAIT
LEGS = biped_legs_of(CARD)
PARAMETERS = GAIT.parameters

SHARES = st.floats(-0.55, 0.55)
"""Three such shares of the greatest speeds are within the range together."""


def command(shares: tuple[float, float, float]) -> VelocityCommand:
    forward, left, turn = shares
    greatest = PARAMETERS.max_forward_m_s if forward > 0.0 else PARAMETERS.max_backward_m_s
    return VelocityCommand(
        forward * greatest, left * PARAMETERS.max_left_m_s, turn * PARAMETERS.max_turn_rad_s
    )


def generator() -> BipedGenerator:
    return GAIT.generator(CARD)


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_joints_are_continuous_and_within_their_limits_whatever_is_requested(
    requests: list[tuple[float, float, float]],
) -> None:
    walk = generator()
    chunks = [walk.standing_pose[np.newaxis]]
    for shares in requests:
        walk.request(command(shares))
        chunks.append(walk.frames(60))
    walk.halt()
    chunks.append(walk.frames(600))
    rows = np.concatenate(chunks)
    assert np.abs(np.diff(rows, axis=0)).max() / CARD.frame_period_s < 12.0
    lower, upper = CARD.limits
    assert (rows >= lower - 1e-9).all()
    assert (rows <= upper + 1e-9).all()
    assert walk.is_standing
    np.testing.assert_array_equal(rows[-1], walk.standing_pose)


def test_the_greatest_speed_forward_stays_below_that_of_the_servos() -> None:
    walk = generator()
    walk.request(VelocityCommand(PARAMETERS.max_forward_m_s))
    rows = walk.frames(1000)
    speeds = np.abs(np.diff(rows, axis=0)).max(axis=0) / CARD.frame_period_s
    assert (speeds <= CARD.max_speeds).all()


@given(st.tuples(SHARES, SHARES, SHARES))
@settings(max_examples=15, deadline=None)
def test_the_standing_foot_stays_where_it_is_on_the_ground(shares: tuple[float, float, float]) -> None:
    planner = generator().planner
    feet = planner.standing_feet
    step = planner.plan_step(command(shares), feet, swing_side="left", amplitude=1.0)
    sole = step.foot_poses["right"]
    # the trunk's poses on the ground follow from the foot that does not move
    trunk = [chain(feet["right"], _inverse(pose)) for pose in sole]
    again = [chain(place, pose) for place, pose in zip(trunk, sole, strict=True)]
    np.testing.assert_allclose(again, np.tile(feet["right"], (len(sole), 1)), atol=1e-12)
    # they lie on one arc at constant speed
    first = trunk[0]
    place = np.zeros(3)
    for reached in trunk:
        place = chain(place, first)
        np.testing.assert_allclose(place, reached, atol=1e-9)


def _inverse(pose: np.ndarray) -> np.ndarray:
    x, y, turn = pose
    cosine = math.cos(turn)
    sine = math.sin(turn)
    return np.array([-cosine * x - sine * y, sine * x - cosine * y, -turn])


@given(st.tuples(SHARES, SHARES, SHARES))
@settings(max_examples=10, deadline=None)
def test_a_mirrored_command_makes_the_mirrored_walk(shares: tuple[float, float, float]) -> None:
    wanted = command(shares)
    if wanted.left_m_s == wanted.turn_rad_s == 0.0:
        return  # both begin with the left foot
    walk = generator()
    walk.request(wanted)
    rows = walk.frames(100)
    mirrored_walk = generator()
    mirrored_walk.request(wanted.mirrored)
    mirrored = np.array([CARD.mirror(row) for row in mirrored_walk.frames(100)])
    legs = [CARD.index(joint) for leg in LEGS.values() for joint in leg.joints]
    np.testing.assert_allclose(mirrored[:, legs], rows[:, legs], atol=1e-9)


def test_the_soles_are_where_they_were_planned() -> None:
    """The inverse of the kinematics, checked by going forward: flat, level, at their height and place."""
    planner = generator().planner
    step = planner.plan_step(
        VelocityCommand(0.1, 0.02, 0.3), planner.standing_feet, swing_side="right", amplitude=1.0
    )
    cosine = math.cos(PARAMETERS.lean_rad)
    sine = math.sin(PARAMETERS.lean_rad)
    lean = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])
    left = LEGS["left"]
    angles = left.pick_angles(step.joint_angles)
    boost = step.lifts_m / PARAMETERS.lift_m * PARAMETERS.hip_roll_rad
    sole, turn = left.forward(angles._replace(hip_roll=angles.hip_roll - boost))
    hip = np.array([left.hip_m[0] + left.hip_ahead_m, 0.0, left.hip_m[2]])
    level = (sole - hip) @ lean.T
    np.testing.assert_allclose(level[:, :2], step.foot_poses["left"][:, :2], atol=1e-12)
    np.testing.assert_allclose(level[:, 2], left.sole_m[2] - PARAMETERS.hip_height_m, atol=1e-12)
    np.testing.assert_allclose((lean @ turn)[:, :, 2], np.tile([0.0, 0.0, 1.0], (len(sole), 1)), atol=1e-12)


@given(st.floats(-0.5, 0.5), st.floats(-0.3, 0.3), st.sampled_from(SIDES))
@settings(max_examples=10, deadline=None)
def test_the_swinging_foot_of_a_tilted_trunk_is_level_and_where_it_would_be_under_an_upright_one(
    pitch: float, roll: float, side: str
) -> None:
    """By going forward in the trunk's frame, turned by the trunk's true tilt: Ry(lean + pitch) Rx(roll)."""
    planner = generator().planner
    step = planner.plan_step(VelocityCommand(0.1), planner.standing_feet, swing_side=side, amplitude=1.0)
    tilts = {side: np.tile([roll, pitch], (1, 1)), OTHER_SIDE[side]: np.zeros((1, 2))}
    frame = planner.n_frames // 2
    rows = planner.solve_frames(step, slice(frame, frame + 1), tilts)
    leg = LEGS[side]
    sole, turn = leg.forward(leg.pick_angles(rows))
    trunk = Rotation.from_euler("ZYX", [0.0, PARAMETERS.lean_rad + pitch, roll]).as_matrix()
    hips = np.array([leg.hip_m[0] + leg.hip_ahead_m, 0.0, leg.hip_m[2]])
    place = (sole[0] - hips) @ trunk.T
    np.testing.assert_allclose(place[:2], step.foot_poses[side][frame, :2], atol=1e-12)
    height = step.lifts_m[frame] + leg.sole_m[2] - PARAMETERS.hip_height_m
    assert place[2] == pytest.approx(height, abs=1e-12)
    np.testing.assert_allclose((trunk @ turn[0])[:, 2], [0.0, 0.0, 1.0], atol=1e-12)


LEVELLING = replace(GAIT, feedback=FeedbackGains(foot_levelling=1.0))


def tilted_rows(gait: BipedGait, tilts: list[Tilt], n_frames: int) -> np.ndarray:
    """Return the frames of a walk on the spot during which the trunk has the given excess tilts."""
    walk = gait.generator(CARD)
    walk.request(STILL)
    chunks = []
    for tilt in tilts:
        walk.set_excess_tilt(tilt)
        chunks.append(walk.frames(n_frames))
    return np.concatenate(chunks)


def test_a_walk_without_excess_tilt_or_without_levelling_is_as_planned() -> None:
    planned = GAIT.generator(CARD)
    planned.request(STILL)
    rows = planned.frames(60)
    np.testing.assert_array_equal(tilted_rows(LEVELLING, [UPRIGHT] * 15, 4), rows)
    open_loop = replace(GAIT, feedback=OPEN_LOOP)
    np.testing.assert_array_equal(tilted_rows(open_loop, [Tilt(0.2, 0.3)] * 15, 4), rows)


def test_a_tilt_moves_joints_steadily_and_is_forgotten_after_it_has_passed() -> None:
    tilts = [UPRIGHT] * 20 + [Tilt(-0.1, 0.3)] * 20 + [UPRIGHT] * 60
    rows = tilted_rows(LEVELLING, tilts, 4)
    planned = tilted_rows(LEVELLING, [UPRIGHT] * 100, 4)
    assert np.abs(rows[80:160] - planned[80:160]).max() > 0.2
    np.testing.assert_allclose(rows[300:], planned[300:], atol=1e-12)
    speeds = np.abs(np.diff(rows - planned, axis=0)) / CARD.frame_period_s
    assert speeds.max() < 2.0 * SWING_TILT_SPEED  # roll and pitch add up in the ankle
    halves = [tilted_rows(LEVELLING, [Tilt(0.1, 0.2)] * n, 120 // n) for n in (20, 60)]
    np.testing.assert_allclose(*halves, atol=1e-12)  # however the frames are fetched


def test_a_slow_command_is_followed_and_not_rounded_to_nothing() -> None:
    planner = generator().planner
    moved = []
    for forward in (0.0, 0.002, 0.004):
        step = planner.plan_step(
            VelocityCommand(forward), planner.standing_feet, swing_side="left", amplitude=1.0
        )
        moved.append(step.foot_poses["right"][-1, 0])
    assert moved[0] - moved[1] == pytest.approx(moved[1] - moved[2])
    assert moved[0] > moved[1]


@pytest.mark.parametrize(
    "wanted", [VelocityCommand(5.0), VelocityCommand(0.0, 1.0), VelocityCommand(turn_rad_s=-9.0)]
)
def test_a_command_out_of_range_is_an_error_or_clipped(wanted: VelocityCommand) -> None:
    walk = generator()
    with pytest.raises(InputError, match=r"times what this gait follows"):
        walk.request(wanted)
    clipped = walk.clip_command(wanted)
    walk.request(clipped)
    for name, value in clipped.by_name.items():
        assert value * wanted.by_name[name] >= 0.0


def test_a_clipped_command_keeps_what_the_gait_can_do_when_it_cannot_turn() -> None:
    walk = GAIT.with_values({"max_turn_rad_s": 0.0}).generator(CARD)
    assert walk.clip_command(VelocityCommand(0.1, 0.0, 0.3)) == VelocityCommand(0.1)
    no_steps_back = GAIT.with_values({"max_backward_m_s": 0.0}).generator(CARD)
    assert no_steps_back.clip_command(VelocityCommand(-0.1, 0.02)) == VelocityCommand(0.0, 0.02)


def test_a_command_just_out_of_range_or_of_no_range_is_more_than_the_gait_follows() -> None:
    with pytest.raises(InputError, match="is more than what this gait follows"):
        generator().request(VelocityCommand(PARAMETERS.max_forward_m_s * 1.0001))
    with pytest.raises(InputError, match="is more than what this gait follows"):
        GAIT.with_values({"max_turn_rad_s": 0.0}).generator(CARD).request(VelocityCommand(turn_rad_s=0.1))


def test_a_gait_of_a_robot_without_legs_says_so_and_where() -> None:
    with pytest.raises(DocumentError, match="the card of deagostini_robi2 describes no legs") as caught:
        parse_gait("gait: mine\nrobot: deagostini_robi2\nparameters: {}\n")
    assert caught.value.where is not None
    assert caught.value.where.line == 2


def test_a_document_is_read_and_written_without_a_change(tmp_path: Path) -> None:
    again, card = parse_gait(gait_text(GAIT))
    assert card.name == CARD.name
    assert again.flat == GAIT.flat
    assert again.feedback == GAIT.feedback
    assert GAIT.path is not None
    copy = tmp_path / "copy.gait.yaml"
    copy.write_bytes(GAIT.path.read_bytes())
    write_gait(GAIT, copy)
    assert copy.read_bytes() == GAIT.path.read_bytes()


def test_an_entry_that_a_document_lacks_stays_out_of_it_while_it_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "own.gait.yaml"
    keys = ("description", "source", "travel_gain", "trim", "feedback")
    lines = [line for line in gait_text(GAIT).splitlines() if not line.startswith(keys)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = path.read_bytes()
    plain = read_gait(path)
    write_gait(plain, path)
    assert path.read_bytes() == text
    write_gait(replace(plain, feedback=FeedbackGains(heading_1_s=2.0)), path)
    assert read_gait(path).feedback.heading_1_s == 2.0


def test_a_request_that_is_no_command_is_an_error() -> None:
    request: Any = 0.1
    with pytest.raises(InputError, match=r"^0\.1 is not a command"):
        generator().request(request)


def test_values_are_set_by_name_and_checked() -> None:
    changed = GAIT.with_values({"lift_m": 0.02, "travel_gain.forward": 1.5, "trim.forward_m_s": 0.01})
    assert (changed.flat["lift_m"], changed.flat["travel_gain.forward"]) == (0.02, 1.5)
    with pytest.raises(UnknownNameError, match="lift_m"):
        GAIT.with_values({"lift": 0.02})
    with pytest.raises(InputError, match=r"lift_m is 1: a number|lift_m is 1"):
        GAIT.with_values({"lift_m": 1.0})
    for name in EXPLANATIONS:
        assert GAIT.explanation(name).sentence.endswith(".")


def test_a_value_out_of_range_is_an_error_with_its_line() -> None:
    text = gait_text(GAIT).replace(f"lift_m: {PARAMETERS.lift_m:g}", "lift_m: 2")
    line = text.splitlines().index("  lift_m: 2") + 1
    with pytest.raises(DocumentError, match=rf":{line}: parameters.lift_m: 2 is out of range"):
        parse_gait(text, Path("own.gait.yaml"))


def test_standing_feet_are_where_the_gait_has_them() -> None:
    walk = generator()
    assert walk.is_standing
    assert walk.command == STILL
    for side in SIDES:
        assert abs(walk.planner.standing_feet[side][1]) == PARAMETERS.stance_m


def test_a_trunk_that_moves_at_the_command_goes_along_its_arc() -> None:
    """Of a step without gain and trim: the standing foot moves by the opposite of the body's way."""
    plain = GAIT.with_values(
        dict.fromkeys(("travel_gain.forward", "travel_gain.left", "travel_gain.turn"), 1.0)
        | dict.fromkeys(("trim.forward_m_s", "trim.left_m_rad", "trim.turn_rad_m"), 0.0)
    )
    planner = plain.generator(CARD).planner
    wanted = VelocityCommand(0.1, 0.02, 0.4)
    step = planner.plan_step(wanted, planner.standing_feet, swing_side="left", amplitude=1.0)
    way = se2_exp(wanted.components(planner.step_s))
    np.testing.assert_allclose(
        chain(way, step.foot_poses["right"][-1]), planner.standing_feet["right"], atol=1e-12
    )


def test_a_robot_without_a_hip_yaw_turns_while_both_feet_are_down() -> None:
    nova = robot("hitec_robonova1")
    gait = read_gait("nova_walk", robot=nova)
    assert isinstance(gait, BipedGait)
    walk = gait.generator(nova)
    steps = [walk.take_step(VelocityCommand(turn_rad_s=0.3)) for _ in range(12)]
    step = steps[-1]
    # both feet point ahead; to turn left, the left one pushes ahead of the trunk and the right one back
    left = step.foot_poses["left"]
    right = step.foot_poses["right"]
    assert not left[:, 2].any()
    assert not right[:, 2].any()
    standing_foot = left if step.swing_side == "right" else right
    moves_m = np.abs(np.diff(standing_foot[:, 0]))
    is_clear = step.lifts_m > 0.5 * step.lifts_m.max()
    assert moves_m[is_clear[1:]].max() < 1e-9
    for first, second in ((0, 1), (-2, -1)):  # frames in which both feet are down
        assert step.lifts_m[[first, second]].max() < 1e-4  # m
        assert left[second, 0] - left[first, 0] > 1e-4
        assert right[second, 0] - right[first, 0] < -1e-4
    # as far as the body is to turn, by the gain, about the middle between the feet
    turn_rad = walk.planner.step_s * 0.3 * gait.travel_gain.turn
    stance_side = "left" if step.swing_side == "right" else "right"
    way_m = step.feet_after[stance_side][0] - steps[-2].feet_after[stance_side][0]
    assert abs(way_m) == pytest.approx(turn_rad * gait.parameters.stance_m, rel=0.03)


def test_the_greatest_speed_is_reached_in_so_many_steps_and_the_first_ones_lift_less() -> None:
    walk = generator()
    n_steps = round(PARAMETERS.steps_to_full_speed)
    steps = [walk.take_step(VelocityCommand(PARAMETERS.max_forward_m_s)) for _ in range(n_steps + 3)]
    for number, step in enumerate(steps[:4], 1):
        highest = PARAMETERS.lift_m * min(1.0, number / 3.0)
        assert step.lifts_m.max() == pytest.approx(highest, rel=0.01)
    strokes = [np.ptp([poses[:, 0] for poses in step.foot_poses.values()]) for step in steps]
    assert strokes[-1] == pytest.approx(strokes[-2], rel=0.02)
    assert strokes[0] < 0.5 * strokes[-1]
    assert strokes[n_steps - 3] < 0.9 * strokes[-1]


def test_each_foot_lifts_at_its_phase_of_the_cycle() -> None:
    walk = generator()
    steps = [walk.take_step(STILL) for _ in range(6)]
    cycle = GAIT.cycle(CARD)
    lifts = {foot: np.zeros(0) for foot in cycle.lift_phases}
    for number, step in enumerate(steps):
        swinging = CARD.require_biped().feet["left" if number % 2 == 0 else "right"]
        for foot, heights in lifts.items():
            step_lifts = step.lifts_m if foot == swinging else np.zeros_like(step.lifts_m)
            lifts[foot] = np.concatenate([heights, step_lifts])
    for foot, phase in cycle.lift_phases.items():
        first_frame = int(np.flatnonzero(lifts[foot])[0])
        assert first_frame == pytest.approx(phase * cycle.n_frames, abs=1.0)
