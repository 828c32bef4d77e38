"""What joints would be commanded to do is found out before anybody walks."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from posewright.errors import InputError, UnreachableError
from posewright.gaits import (
    FEET,
    GaitCheck,
    GaitConcern,
    PhaseTable,
    QuadrupedGait,
    QuadrupedGenerator,
    VelocityCommand,
    check_gait,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    read_gait,
    steady_walk,
    timing_of,
)
from posewright.gaits.checking import CommandTour
from posewright.gaits.quadruped.phases import CUSTOM
from posewright.gaits.steady import walk_until_steady
from posewright.kinematics import legs_of
from posewright.robots import robot

from .walks import ERS7, EXAMPLE, FRAME_S, walked

BIOLOID = robot("robotis_bioloid")
BIPED = read_gait("biped")

GENTLE = EXAMPLE.with_values(
    {
        "maximum_displacement_m": 0.02,
        "ground_speed_m_s": 0.05,
        "maximum_turn_rad": 0.1,
        "ascent_pairs": 8,
        "equilibrium_m.fore.y": 0.085,
        "equilibrium_m.hind.y": 0.085,
        "equilibrium_m.fore.z": -0.125,
        "equilibrium_m.hind.z": -0.125,
    }
)
"""Feet farther out, legs straighter, small slow steps: well within what an AIBO can do."""


@pytest.fixture(scope="module")
def gentle() -> GaitCheck:
    return check_gait(GENTLE, ERS7)


def steady(check: GaitCheck, concern: GaitConcern) -> float:
    return next(w.value for w in check.worst if w.concern is concern and not w.is_changing)


def test_a_gentle_gait_has_no_findings(gentle: GaitCheck) -> None:
    assert gentle.findings == ()
    assert gentle.n_within_bounds == len(gentle.command_checks)
    assert {entry.concern for entry in gentle.worst} == set(GaitConcern)
    assert len(gentle.worst) == 2 * len(GaitConcern)


def test_the_corners_of_what_may_be_commanded_are_tried_and_each_one_both_ways(gentle: GaitCheck) -> None:
    timing = timing_of(GENTLE.parameters, FRAME_S)
    fastest = greatest_speed_m_s(GENTLE.parameters, timing)
    turn = greatest_turn_rad_s(GENTLE.parameters, timing)
    commands = [entry.command for entry in gentle.command_checks]
    assert VelocityCommand() in commands
    for corner in (
        VelocityCommand(fastest, 0.0, turn),
        VelocityCommand(-fastest, 0.0, turn),
        VelocityCommand(turn_rad_s=-turn),
    ):
        assert any(np.allclose(list(corner.by_name.values()), list(c.by_name.values())) for c in commands)
    for command in commands:
        QuadrupedGenerator(GENTLE, ERS7).request(command)  # none is out of range
        back = [-value for value in command.by_name.values()]
        assert any(np.allclose(back, list(c.by_name.values())) for c in commands)


def test_the_joint_speed_is_that_of_the_frames() -> None:
    check = check_gait(EXAMPLE, ERS7)
    straight = next(
        t for t in check.command_checks if t.command.forward_m_s > 0.25 and not t.command.left_m_s
    )
    rows = walked(EXAMPLE, straight.command, 600)[300:]
    legs = [index for leg in legs_of(ERS7) for index in leg.indices]
    ratios = np.abs(np.diff(rows, axis=0)).max(axis=0)[legs] / FRAME_S / ERS7.max_speeds[legs]
    (speed,) = [entry for entry in straight.steady if entry.concern is GaitConcern.SPEED]
    assert speed.value == pytest.approx(ratios.max(), rel=1e-9)
    assert speed.part == ERS7.joint_names[legs[int(np.argmax(ratios))]]


def test_a_quicker_gait_turns_its_joints_faster(gentle: GaitCheck) -> None:
    hasty = GENTLE.with_values({"ground_speed_m_s": 0.1, "ascent_pairs": 1})
    assert steady(check_gait(hasty, ERS7), GaitConcern.SPEED) > steady(gentle, GaitConcern.SPEED)


def test_a_joint_limit_that_is_passed_is_found_with_joint_command_and_value() -> None:
    knee = ERS7.index("left_front_knee")
    bent = QuadrupedGenerator(GENTLE, ERS7).standing_pose[knee]
    joints = list(ERS7.joints)
    joints[knee] = replace(joints[knee], upper_rad=float(bent) - 0.01)
    check = check_gait(GENTLE, replace(ERS7, joints=tuple(joints)))
    assert check.n_within_bounds == 0
    found = next(entry for entry in check.findings if entry.concern is GaitConcern.LIMIT)
    assert found.part == "left_front_knee"
    assert found.value > 0.01
    assert steady(check, GaitConcern.LIMIT) > 0.01


def test_a_coupled_limit_that_is_passed_is_found_by_its_table() -> None:
    narrow = GENTLE.with_values({"equilibrium_m.fore.y": 0.05})
    found = [entry for entry in check_gait(narrow, ERS7).findings if entry.concern is GaitConcern.COUPLED]
    assert found
    assert all("front_elevator at" in entry.part and entry.value > 0.0 for entry in found)


def stretched() -> QuadrupedGait:
    """Return a gait whose fore feet stand just within reach, so that their strokes lie beyond."""
    low = -0.125
    with contextlib.suppress(UnreachableError):
        while QuadrupedGenerator(GENTLE.with_values({"equilibrium_m.fore.z": low - 0.002}), ERS7):
            low -= 0.002
    return GENTLE.with_values({"equilibrium_m.fore.z": low, "maximum_displacement_m": 0.05})


def test_a_foot_that_cannot_come_to_its_points_is_found_by_how_far_it_stays_away() -> None:
    found = [entry for entry in check_gait(stretched(), ERS7).findings if entry.concern is GaitConcern.REACH]
    assert found
    assert all(entry.part.endswith("front") and 1e-4 < entry.value < 0.05 for entry in found)


def test_a_tour_walks_what_the_gait_walks() -> None:
    tour = CommandTour(EXAMPLE, ERS7)
    way, cycle = tour.walk(VelocityCommand(0.1, 0.0, 0.2))
    frames = timing_of(EXAMPLE.parameters, FRAME_S).n_frames
    rows = walked(EXAMPLE, VelocityCommand(0.1, 0.0, 0.2), len(way.rows) - 1 + frames)
    assert np.array_equal(way.rows[1:], rows[: len(way.rows) - 1])
    assert np.array_equal(cycle.rows[1:], rows[-frames:])
    assert np.array_equal(cycle.rows[0], way.rows[-1])
    assert set(cycle.foot_errors_m) == set(FEET)
    assert max(cycle.foot_errors_m.values()) < 1e-9


def test_a_tour_from_a_command_to_itself_is_steady_at_once() -> None:
    tour = CommandTour(EXAMPLE, ERS7)
    _, cycle = tour.walk(VelocityCommand(0.1))
    way, again = tour.walk(VelocityCommand(0.1))
    assert np.array_equal(again.rows[1:], cycle.rows[1:])
    assert len(way.rows) == len(again.rows)


def test_a_walk_that_does_not_come_to_repeat_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("posewright.gaits.steady.MAX_CYCLES", 2)
    with pytest.raises(InputError, match="does not become periodic"):
        steady_walk(EXAMPLE, ERS7, VelocityCommand(0.2))
    with pytest.raises(InputError, match="within 2 cycles"):
        CommandTour(EXAMPLE, ERS7).walk(VelocityCommand(0.2))


def test_from_any_command_to_its_opposite_a_walk_of_one_step_a_cycle_comes_to_repeat_itself() -> None:
    jump = PhaseTable(CUSTOM, dict.fromkeys(FEET, 0.0))
    gait = replace(EXAMPLE, phases=jump)
    walk = QuadrupedGenerator(gait, ERS7)
    timing = walk.timing
    fastest = greatest_speed_m_s(gait.parameters, timing)
    most = greatest_turn_rad_s(gait.parameters, timing)
    for sign in (1.0, -1.0, 1.0):
        command = VelocityCommand(sign * fastest, 0.0, sign * most)
        coming, cycle = walk_until_steady(walk, command, timing.n_frames)
        assert len(cycle) == 1
        assert len(coming) <= 10


@pytest.fixture(scope="module")
def biped_check() -> GaitCheck:
    return check_gait(BIPED, BIOLOID)


def test_the_shipped_biped_is_within_all_bounds_at_every_extreme(biped_check: GaitCheck) -> None:
    assert biped_check.findings == ()
    assert len(biped_check.command_checks) == 35
    generator = BIPED.generator(BIOLOID)
    for entry in biped_check.command_checks:
        generator.require_in_range(entry.command)
    fastest = BIPED.flat["max_forward_m_s"]
    assert max(entry.command.forward_m_s for entry in biped_check.command_checks) == pytest.approx(fastest)
    slowest = min(entry.command.forward_m_s for entry in biped_check.command_checks)
    assert slowest == pytest.approx(-BIPED.flat["max_backward_m_s"])


def test_the_joint_speed_of_a_biped_is_that_of_its_frames(biped_check: GaitCheck) -> None:
    walk = BIPED.generator(BIOLOID)
    walk.request(VelocityCommand(BIPED.flat["max_forward_m_s"]))
    rows = walk.frames(1200)[600:]
    shares = np.abs(np.diff(rows, axis=0)).max(axis=0) / BIOLOID.frame_period_s / BIOLOID.max_speeds
    assert steady(biped_check, GaitConcern.SPEED) == pytest.approx(shares.max(), rel=1e-9)


def test_a_biped_that_strides_out_of_its_reach_is_found_with_knee_and_distance() -> None:
    tall = BIPED.with_values({"hip_height_m": 0.149})
    check = check_gait(tall, BIOLOID)
    found = next(entry for entry in check.findings if entry.concern is GaitConcern.REACH)
    assert found.part in {"left_knee", "right_knee"}
    assert 1e-4 < found.value < 0.005
    assert check.n_within_bounds < len(check.command_checks)
    with pytest.raises(UnreachableError, match="m from the hip"):
        steady_walk(tall, BIOLOID, found.command)
