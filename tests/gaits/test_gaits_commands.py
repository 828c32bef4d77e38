"""Commands: they take effect where feet lift, nothing ever jumps, and what is too much is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.gaits import (
    CRAWL,
    EXPLANATIONS,
    FEET,
    TROT,
    ParameterKind,
    PhaseTable,
    QuadrupedGait,
    QuadrupedGenerator,
    VelocityCommand,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    timing_of,
)
from posewright.gaits.quadruped.phases import CUSTOM
from posewright.gaits.quadruped.timing import bound_text
from posewright.gaits.steady import walk_until_steady
from posewright.kinematics import legs_of

from .walks import (
    ERS7,
    EXAMPLE,
    FRAME_S,
    VELOCITIES,
    gaits,
    paws,
    velocity,
    walked,
)

REQUESTS = st.lists(st.tuples(st.integers(1, 60), VELOCITIES), min_size=1, max_size=6)


def whole_frames_m(gait: QuadrupedGait) -> float:
    """Return the largest displacement near the gait's that needs no rounding of the cycle to frames."""
    parameters = gait.parameters
    period_s = timing_of(parameters, FRAME_S).period_s
    return period_s / (1.0 + parameters.air_ground_factor) * parameters.ground_speed_m_s


def shortest_transfer_s(gait: QuadrupedGait) -> float:
    """Return how long a foot takes from the end of its ascent to the middle of its way through the air."""
    timing = timing_of(gait.parameters, FRAME_S)
    return timing.air_s / 2.0 - timing.ascent_s


@given(gaits(), REQUESTS)
@settings(max_examples=12, deadline=None)
def test_frames_half_as_long_show_the_same_walk_so_nothing_jumps(
    gait: QuadrupedGait, requests: list[tuple[int, tuple[float, float, float]]]
) -> None:
    """Where something jumped, the greatest difference of two frames would not shrink with the frames.

    It need not shrink in proportion from the robot's own frames on: a foot may be carried over the middle of
    its way in less than one of them. So two frames of a tenth must fit into that.
    """
    gait = gait.with_values({"maximum_displacement_m": whole_frames_m(gait)})
    assume(not 0.0 < shortest_transfer_s(gait) < 2.0 * FRAME_S / 10.0)
    rows = {}
    for finer in (1, 2, 10, 20):
        fine = replace(ERS7, frame_period_s=FRAME_S / finer)
        fine_gait = gait.with_values({"ascent_pairs": gait.parameters.ascent_pairs * finer})
        walk = QuadrupedGenerator(fine_gait, fine)
        parts = [walk.standing_pose[np.newaxis]]
        for frames, wanted in requests:
            walk.request(velocity(gait, wanted))
            parts.append(walk.frames(frames * finer))
        rows[finer] = np.concatenate(parts)
    assert np.abs(rows[2][::2] - rows[1]).max() < 1e-9
    greatest = {finer: np.abs(np.diff(row, axis=0)).max() for finer, row in rows.items()}
    assert greatest[20] < 0.75 * greatest[10] + 1e-9


@given(gaits(), VELOCITIES, VELOCITIES, st.integers(0, 120))
@settings(max_examples=15, deadline=None)
def test_a_command_takes_effect_where_feet_lift_and_not_before(
    gait: QuadrupedGait, first: tuple[float, float, float], then: tuple[float, float, float], asked: int
) -> None:
    other = QuadrupedGenerator(gait, ERS7)
    other.request(velocity(gait, first))
    frames = other.timing.n_frames
    rows = [other.frames(asked)]
    other.request(velocity(gait, then))
    assert other.command == velocity(gait, then)
    rows.append(other.frames(240 - asked))
    changed, unchanged = np.concatenate(rows), walked(gait, velocity(gait, first), 240)
    first_lift = gait.phases.starts[0]
    ends = [
        int(np.floor(((start - first_lift) + cycle) * frames + 1e-6))
        for cycle in range(240 // frames + 2)
        for start in gait.phases.starts
    ]
    boundary = min(end for end in ends if end >= asked)
    assert np.array_equal(changed[:boundary], unchanged[:boundary])


def test_a_command_does_take_effect() -> None:
    walk = QuadrupedGenerator(EXAMPLE, ERS7)
    half = walk.timing.n_frames // 2
    walk.frames(half + 3)
    walk.request(VelocityCommand(0.2))
    rest = walk.frames(half - 3)
    still = walked(EXAMPLE, VelocityCommand(), 3 * half)
    assert np.array_equal(rest, still[half + 3 : 2 * half])
    assert np.abs(walk.frames(half) - still[2 * half :]).max() > 0.01


@given(gaits(), VELOCITIES, st.lists(st.integers(0, 40), max_size=12))
@settings(max_examples=15, deadline=None)
def test_frames_are_the_same_in_whatever_portions_they_are_taken(
    gait: QuadrupedGait, parts: tuple[float, float, float], portions: list[int]
) -> None:
    walk = QuadrupedGenerator(gait, ERS7)
    walk.request(velocity(gait, parts))
    taken = [walk.frames(n) for n in portions]
    assert [len(rows) for rows in taken] == portions
    whole = walked(gait, velocity(gait, parts), sum(portions))
    assert np.array_equal(np.concatenate([*taken, whole[:0]]), whole)


@given(gaits(), VELOCITIES)
@settings(max_examples=15, deadline=None)
def test_a_walk_at_one_command_repeats_itself_to_the_last_bit(
    gait: QuadrupedGait, parts: tuple[float, float, float]
) -> None:
    frames = timing_of(gait.parameters, FRAME_S).n_frames
    rows = walked(gait, velocity(gait, parts), 8 * frames)
    assert np.array_equal(rows[6 * frames : 7 * frames], rows[7 * frames :])


@given(st.data(), VELOCITIES)
@settings(max_examples=20, deadline=None)
def test_whatever_is_legal_walks_and_repeats_itself(
    data: st.DataObject, parts: tuple[float, float, float]
) -> None:
    flat = {}
    for name, told in EXPLANATIONS.items():
        if told.kind is ParameterKind.SINGLE:
            numbers = st.integers if told.is_whole else st.floats
            most = {"maximum_displacement_m": 0.1, "ascent_pairs": 2}.get(name, told.high)
            flat[name] = data.draw(numbers(told.low, most), label=name)
    lift = data.draw(st.lists(st.floats(0.0, 0.999), min_size=4, max_size=4), label="lift")
    table = PhaseTable(CUSTOM, dict(zip(FEET, lift, strict=True)))
    gait = replace(EXAMPLE.with_values(flat), phases=table)
    try:
        frames = timing_of(gait.parameters, FRAME_S).n_frames
    except InputError:
        return
    if frames < 200:
        rows = walked(gait, velocity(gait, parts), 12 * frames)
        assert np.isfinite(rows).all()
        assert np.abs(rows[10 * frames : 11 * frames] - rows[11 * frames :]).max() < 1e-12


def test_what_was_given_out_is_the_askers_own() -> None:
    walk = QuadrupedGenerator(EXAMPLE, ERS7)
    frames = walk.timing.n_frames
    walk.frames(4 * frames)
    first = walk.frames(frames)
    kept = first.copy()
    first[:] = 0.0
    assert np.array_equal(walk.frames(frames), kept)


@pytest.mark.parametrize(
    ("table", "factor", "share"), [(TROT, 1.0, 1 / 8), (CRAWL, 1 / 3, 1 / 6), (CRAWL, 1.0, 1 / 4)]
)
def test_a_change_of_command_carries_no_foot_further_beyond_its_stroke_than_told(
    table: PhaseTable, factor: float, share: float
) -> None:
    gait = replace(EXAMPLE.with_values({"air_ground_factor": factor, "ascent_pairs": 1}), phases=table)
    walk = QuadrupedGenerator(gait, ERS7)
    fastest = greatest_speed_m_s(gait.parameters, walk.timing)
    stroke = gait.parameters.maximum_displacement_m
    equilibria = np.array([gait.parameters.equilibrium_m[foot] for foot in FEET])
    most = 0.0
    for n_before in range(12):  # to the opposite from each moment of the walk
        walk_until_steady(walk, VelocityCommand(fastest), walk.timing.n_frames)
        for forward in (*[fastest] * n_before, *[-fastest] * 12):
            away = walk.take_step(VelocityCommand(forward)).feet_after.positions - equilibria
            most = max(most, np.abs(away[:, 0]).max() / stroke - 0.5)
    assert most == pytest.approx(share, abs=1e-9)


def test_without_a_command_the_robot_steps_on_the_spot() -> None:
    places = paws(walked(EXAMPLE, VelocityCommand(), 300))
    for place, foot in enumerate(FEET):
        away = places[:, place, :2] - EXAMPLE.parameters.equilibrium_m[foot][:2]
        assert np.abs(away).max() < 2e-3
    assert places[..., 2].max() > EXAMPLE.parameters.equilibrium_m["left_front"][2] + 0.01


def test_joints_that_no_leg_has_stay_in_the_pose_of_the_gait() -> None:
    rows = walked(EXAMPLE, VelocityCommand(0.1), 200)
    legs = {index for leg in legs_of(ERS7) for index in leg.indices}
    others = [index for index in range(len(ERS7.joints)) if index not in legs]
    assert (rows[:, others] == np.clip(ERS7.pose(EXAMPLE.pose), *ERS7.limits)[others]).all()


@given(st.floats(-3.15, 3.15), st.floats(1.01, 5.0))
@settings(max_examples=12, deadline=None)
def test_a_command_beyond_what_the_gait_does_is_refused_with_the_range(angle: float, times: float) -> None:
    walk = QuadrupedGenerator(EXAMPLE, ERS7)
    fastest = greatest_speed_m_s(EXAMPLE.parameters, walk.timing)
    turns = greatest_turn_rad_s(EXAMPLE.parameters, walk.timing)
    forward, left = fastest * np.cos(angle), fastest * np.sin(angle)
    walk.request(VelocityCommand(forward, left, turns))
    with pytest.raises(InputError, match=f"m/s is out of range .*0 to {bound_text(fastest)} m/s"):
        walk.request(VelocityCommand(forward * times, left * times))
    with pytest.raises(
        InputError, match=f"rad/s is out of range .*-{bound_text(turns)} to {bound_text(turns)} rad/s"
    ):
        walk.request(VelocityCommand(turn_rad_s=-turns * times))
    assert walk.command == VelocityCommand(forward, left, turns)


def test_a_negative_number_of_frames_is_refused() -> None:
    walk = QuadrupedGenerator(EXAMPLE, ERS7)
    assert walk.frames(0).shape == (0, len(ERS7.joints))
    with pytest.raises(InputError, match="the number of frames is -1"):
        walk.frames(-1)


def test_a_gait_of_another_robot_is_refused() -> None:
    with pytest.raises(InputError, match="sony_ers210"):
        QuadrupedGenerator(replace(EXAMPLE, robot="sony_ers210"), ERS7)


def test_a_point_out_of_reach_is_refused_before_the_first_step() -> None:
    with pytest.raises(InputError, match=r"reach|too far"):
        QuadrupedGenerator(EXAMPLE.with_values({"equilibrium_m.left_front.z": -0.4}), ERS7)


@given(gaits(), st.tuples(*[st.floats(-3.0, 3.0)] * 3))
@settings(max_examples=20, deadline=None)
def test_a_clipped_command_is_in_range_in_the_same_direction_and_as_near_as_can_be(
    gait: QuadrupedGait, wanted: tuple[float, float, float]
) -> None:
    walk, command = QuadrupedGenerator(gait, ERS7), VelocityCommand(*wanted)
    clipped = walk.clip_command(command)
    walk.request(clipped)
    assert walk.clip_command(clipped).by_name == pytest.approx(clipped.by_name, abs=1e-12)
    fastest, turns = (
        greatest(gait.parameters, walk.timing) for greatest in (greatest_speed_m_s, greatest_turn_rad_s)
    )
    asked, got = np.array(wanted), np.array([*clipped.by_name.values()])
    assert np.hypot(*got[:2]) == pytest.approx(min(np.hypot(*asked[:2]), fastest), abs=1e-8)
    assert asked[0] * got[1] == pytest.approx(asked[1] * got[0], abs=1e-8)
    assert got[2] == pytest.approx(np.clip(asked[2], -turns, turns), abs=1e-8)
