"""Laws of every walk: symmetry, time reversed, strokes as long as the way of the body, one rigid ground."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.gaits import (
    CRAWL,
    FEET,
    PHASE_TABLES,
    TROT,
    Interpolation,
    QuadrupedGait,
    TravelGain,
    VelocityCommand,
    greatest_speed_m_s,
    timing_of,
)
from posewright.gaits.quadruped.foot_timeline import build_timelines
from posewright.gaits.quadruped.step import StepPlanner
from posewright.kinematics import legs_of

from .arcs import integrated, seen_from_before
from .walks import (
    ERS7,
    EXAMPLE,
    FRAME_S,
    VELOCITIES,
    down,
    gaits,
    ground_points,
    mirrored,
    paws,
    velocity,
    walked,
)


@given(gaits(), VELOCITIES)
@settings(max_examples=15, deadline=None)
def test_a_mirrored_command_makes_the_mirrored_motion(
    gait: QuadrupedGait, parts: tuple[float, float, float]
) -> None:
    command = velocity(gait, parts)
    seen = walked(gait, command, 100)
    other = walked(mirrored(gait), command.mirrored, 100)
    assert np.abs(ERS7.mirror(seen) - other).max() < 1e-9


@pytest.mark.parametrize("name", ["trot", "crawl", "pace"])
def test_straight_ahead_each_side_does_what_the_other_did_half_a_cycle_before(name: str) -> None:
    gait = replace(EXAMPLE, phases=PHASE_TABLES[name])
    frames = timing_of(gait.parameters, FRAME_S).n_frames
    assert frames % 2 == 0
    cycles = walked(gait, VelocityCommand(0.1), 8 * frames)
    steady = cycles[-2 * frames :]
    assert np.abs(ERS7.mirror(steady[: frames // 2]) - steady[frames // 2 : frames]).max() < 1e-9


@given(gaits(), VELOCITIES)
@settings(max_examples=15, deadline=None)
def test_the_opposite_command_leads_over_the_same_ground_the_other_way(
    gait: QuadrupedGait, parts: tuple[float, float, float]
) -> None:
    command = velocity(gait, parts)
    back = VelocityCommand(-command.forward_m_s, -command.left_m_s, -command.turn_rad_s)
    lasts = timing_of(gait.parameters, FRAME_S).ground_s
    there, again = ground_points(gait, command), ground_points(gait, back)
    shared = 0
    for foot in FEET:
        times, points = there[foot]
        apart = np.abs(times[:, np.newaxis] - (lasts - again[foot][0]))
        for one, other in zip(*np.nonzero(apart < 1e-6), strict=True):
            assert np.abs(points[one] - again[foot][1][other]).max() < 1e-6
            shared += 1  # ends of steps are points too, and those lie elsewhere the other way
    assert shared >= 4 * gait.parameters.ground_points


@given(
    gaits(),
    VELOCITIES,
    st.tuples(st.floats(0.5, 1.5), st.floats(0.5, 1.5), st.floats(0.5, 1.5)).map(lambda g: TravelGain(*g)),
)
@settings(max_examples=15, deadline=None)
def test_each_foot_is_left_behind_by_just_the_way_of_the_body(
    gait: QuadrupedGait, parts: tuple[float, float, float], gain: TravelGain
) -> None:
    gait = replace(gait, travel_gain=gain)
    command = velocity(gait, parts)
    timing = timing_of(gait.parameters, FRAME_S)
    way = command.components(timing.ground_s)
    way[2] += gait.parameters.turn_multiplier_rad_m * way[0]
    body = integrated(way * (gain.forward, gain.left, gain.turn))
    for foot, (times, points) in ground_points(gait, command).items():
        assert times[0] == pytest.approx(0.0, abs=1e-8)
        assert times[-1] == pytest.approx(timing.ground_s, abs=1e-8)
        assert np.abs(seen_from_before(points[-1], body) - points[0][:2]).max() < 1e-9
        assert points[:, 2] == pytest.approx(gait.parameters.equilibrium_m[foot][2], abs=1e-12)


def test_the_way_of_a_foot_is_the_commanded_way_and_ground_speed_at_the_greatest() -> None:
    timing = timing_of(EXAMPLE.parameters, FRAME_S)
    fastest = greatest_speed_m_s(EXAMPLE.parameters, timing)
    for times, points in ground_points(EXAMPLE, VelocityCommand(fastest)).values():
        assert points[0][0] - points[-1][0] == pytest.approx(EXAMPLE.parameters.maximum_displacement_m)
        speeds = -np.diff(points[:, 0]) / np.diff(times)
        assert speeds == pytest.approx(EXAMPLE.parameters.ground_speed_m_s, rel=0.03)


@given(gaits(), VELOCITIES)
@settings(max_examples=15, deadline=None)
def test_a_stroke_lies_around_its_equilibrium_point(
    gait: QuadrupedGait, parts: tuple[float, float, float]
) -> None:
    command = velocity(gait, parts)
    way = command.components(timing_of(gait.parameters, FRAME_S).ground_s)
    way[2] += gait.parameters.turn_multiplier_rad_m * way[0]
    half = integrated(way / 2.0)
    for foot, (_, points) in ground_points(gait, command).items():
        equilibrium = np.array(gait.parameters.equilibrium_m[foot])
        assert np.abs(seen_from_before(equilibrium, half) - points[0][:2]).max() < 1e-9
        assert np.abs(seen_from_before(points[-1], half) - equilibrium[:2]).max() < 1e-9


@given(gaits(), st.lists(VELOCITIES, min_size=3, max_size=8))
@settings(max_examples=15, deadline=None)
def test_feet_on_the_ground_move_as_one_rigid_body_whatever_is_commanded(
    gait: QuadrupedGait, wanted: list[tuple[float, float, float]]
) -> None:
    planner = StepPlanner(gait, ERS7)
    lines = build_timelines(gait, planner.timing, FRAME_S)
    feet, pairs = planner.standing_feet, 0
    for number, parts in enumerate([*wanted, *wanted]):
        start = number % planner.n_steps_per_cycle
        step = planner.plan_step(velocity(gait, parts), feet, start)
        stay = [
            place
            for place, line in enumerate(lines)
            if (not feet.have_lifted[place] and not line.windows[start].lifts_at_start)
            or not len(line.windows[start].air_points)
        ]
        for one, other in combinations(stay, 2):
            before = np.linalg.norm(feet.positions[one] - feet.positions[other])
            after = np.linalg.norm(step.feet_after.positions[one] - step.feet_after.positions[other])
            assert after == pytest.approx(before, abs=1e-12)
            pairs += 1
        feet = step.feet_after
    assert pairs or gait.parameters.air_ground_factor >= 1.0


def test_paws_on_the_ground_hardly_slip_against_each_other_between_their_points() -> None:
    gait = EXAMPLE.with_values({"ground_points": 40, "air_ground_factor": 0.5})
    places = paws(walked(gait, VelocityCommand(0.1, 0.02, 0.3), 300))
    stands = down(gait, 300, margin=0.05)
    worst = 0.0
    for one, other in combinations(range(4), 2):
        both = stands[:, one] & stands[:, other]
        both &= np.roll(both, 1)
        apart = np.linalg.norm(places[:, one] - places[:, other], axis=1)
        worst = max(worst, np.abs(np.diff(apart))[both[1:]].max(initial=0.0))
    assert worst < 1e-6


@pytest.mark.parametrize("factor", [1.0 / 3.0, 0.25])
def test_a_crawl_has_three_feet_down_at_any_time(factor: float) -> None:
    gait = EXAMPLE.with_values({"air_ground_factor": factor, "ground_points": 30, "ascent_pairs": 1})
    gait = replace(gait, phases=CRAWL)
    for table, least in ((CRAWL, 3), (TROT, 2)):
        walk = replace(gait, phases=table)
        heights = paws(walked(walk, VelocityCommand(0.1), 400))[..., 2]
        stands = heights < heights.min() + 5e-4
        assert stands.sum(axis=1).min() == least


@given(gaits(), VELOCITIES)
@settings(max_examples=15, deadline=None)
def test_lines_and_splines_lead_through_the_same_points(
    gait: QuadrupedGait, parts: tuple[float, float, float]
) -> None:
    ends = []
    for way in Interpolation:
        planner = StepPlanner(replace(gait, interpolation=way), ERS7)
        feet = planner.standing_feet
        for number in range(2 * planner.n_steps_per_cycle):
            step = planner.plan_step(velocity(gait, parts), feet, number % planner.n_steps_per_cycle)
            feet = step.feet_after
        ends.append((step, feet))
    (line, _), (spline, _) = ends
    for one, other in zip(line.foot_points, spline.foot_points, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(line.feet_after.positions, spline.feet_after.positions)


def test_lines_go_straight_between_points_and_splines_do_not() -> None:
    gait = EXAMPLE.with_values({"ground_points": 2})
    straight, curved = (
        walked(replace(gait, interpolation=way), VelocityCommand(0.2), 200)
        for way in (Interpolation.LINEAR, Interpolation.SPLINE)
    )
    legs = [index for leg in legs_of(ERS7) for index in leg.indices]
    bends = np.abs(np.diff(straight[:, legs], n=2, axis=0)) < 1e-12
    assert bends.mean() > 0.4
    assert (np.abs(np.diff(curved[:, legs], n=2, axis=0)) < 1e-12).mean() < 0.1
