"""Coming to stand: from any walk, without a jump, in the very pose the walk began in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.gaits import (
    STILL,
    GaitGenerator,
    QuadrupedGait,
    QuadrupedGenerator,
    Trim,
    VelocityCommand,
    gait_names,
    greatest_speed_m_s,
    read_gait,
    require_quadruped,
)

from .walks import ERS7, EXAMPLE, FRAME_S, VELOCITIES, gaits, velocity

CYCLES = 7
"""It stands within so many."""


def halted(walk: QuadrupedGenerator) -> np.ndarray:
    """Return the frames from the call of `halt` until it stands, `(n, n_joints)` [rad]."""
    walk.halt()
    rows = []
    while not walk.is_standing:
        rows.append(walk.frames(1))
        assert len(rows) <= CYCLES * walk.timing.n_frames + 1
    return np.concatenate(rows) if rows else walk.frames(0)


@given(gaits(), VELOCITIES, VELOCITIES, st.integers(0, 200), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_whatever_it_does_it_comes_to_stand_and_stays(
    gait: QuadrupedGait,
    first: tuple[float, float, float],
    then: tuple[float, float, float],
    frames: int,
    further: int,
) -> None:
    walk = QuadrupedGenerator(gait, ERS7)
    walk.request(velocity(gait, first))
    walk.frames(frames)
    walk.request(velocity(gait, then))
    walk.frames(further)
    halted(walk)
    assert walk.command == STILL
    assert np.array_equal(walk.frames(9), [walk.standing_pose] * 9)
    assert walk.is_standing


@given(gaits(), VELOCITIES, st.integers(1, 120))
@settings(max_examples=12, deadline=None)
def test_nothing_jumps_on_the_way_to_standing(
    gait: QuadrupedGait, parts: tuple[float, float, float], frames: int
) -> None:
    """Frames a sixteenth as long have steps a sixteenth as large, as of anything that is continuous."""
    parameters = gait.parameters
    period_s = QuadrupedGenerator(gait, ERS7).timing.period_s
    whole_m = period_s / (1.0 + parameters.air_ground_factor) * parameters.ground_speed_m_s
    gait = gait.with_values({"maximum_displacement_m": whole_m})
    greatest = {}
    for finer in (1, 16):
        fine = replace(ERS7, frame_period_s=FRAME_S / finer)
        walk = QuadrupedGenerator(gait.with_values({"ascent_pairs": parameters.ascent_pairs * finer}), fine)
        walk.request(velocity(gait, parts))
        rows = [walk.standing_pose[np.newaxis], walk.frames(frames * finer), halted(walk), walk.frames(3)]
        greatest[finer] = np.abs(np.diff(np.concatenate(rows), axis=0)).max()
    assert greatest[16] < 3.0 * greatest[1] / 16.0 + 1e-9


@pytest.mark.parametrize("name", gait_names("sony_ers7"))
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_no_joint_turns_much_faster_on_the_way_to_standing_than_in_the_walk(name: str, share: float) -> None:
    gait = require_quadruped(read_gait(name))
    walk = QuadrupedGenerator(gait, ERS7)
    walk.request(VelocityCommand(share * greatest_speed_m_s(gait.parameters, walk.timing)))
    walking = walk.frames(8 * walk.timing.n_frames)
    fastest = np.abs(np.diff(walking, axis=0)).max() / FRAME_S
    ending = np.concatenate([walking[-1:], halted(walk), walk.frames(2)])
    assert np.abs(np.diff(ending, axis=0)).max() / FRAME_S < 1.1 * fastest


@given(gaits(), VELOCITIES, VELOCITIES, st.integers(0, 100))
@settings(max_examples=15, deadline=None)
def test_who_stood_or_was_reset_walks_as_the_first_time(
    gait: QuadrupedGait, first: tuple[float, float, float], then: tuple[float, float, float], frames: int
) -> None:
    new, again = QuadrupedGenerator(gait, ERS7), QuadrupedGenerator(gait, ERS7)
    new.request(velocity(gait, then))
    wanted = new.frames(90)
    again.request(velocity(gait, first))
    again.frames(frames)
    halted(again)
    again.request(velocity(gait, then))
    assert np.array_equal(again.frames(90), wanted)
    again.reset()
    assert (again.is_standing, again.command) == (True, STILL)
    again.request(velocity(gait, then))
    assert np.array_equal(again.frames(90), wanted)


def test_it_stands_before_its_first_step_and_halts_there_at_once() -> None:
    walk = QuadrupedGenerator(EXAMPLE, ERS7)
    assert walk.is_standing
    walk.halt()
    assert np.array_equal(walk.frames(50), [walk.standing_pose] * 50)
    assert walk.is_standing


def test_still_is_stepping_on_the_spot_and_not_standing() -> None:
    walk = QuadrupedGenerator(EXAMPLE, ERS7)
    walk.halt()
    walk.frames(5)
    walk.request(STILL)
    assert np.ptp(walk.frames(walk.timing.n_frames), axis=0).max() > 0.01
    assert not walk.is_standing


def test_a_walk_that_trims_itself_stands_all_the_same() -> None:
    """On the spot its feet never rest on their equilibrium points."""
    gait = replace(EXAMPLE, trim=Trim(forward_m_s=0.05))
    walk = QuadrupedGenerator(gait, ERS7)
    walk.frames(3 * walk.timing.n_frames)
    halted(walk)
    assert np.array_equal(walk.frames(1)[0], walk.standing_pose)


def test_who_is_asked_for_more_on_the_way_to_standing_walks_on() -> None:
    walk = QuadrupedGenerator(EXAMPLE, ERS7)
    walk.request(VelocityCommand(0.2))
    walk.frames(100)
    walk.halt()
    walk.frames(walk.timing.n_frames)
    walk.request(VelocityCommand(0.2))
    rows = walk.frames(8 * walk.timing.n_frames)
    assert not walk.is_standing
    last, before = rows[-walk.timing.n_frames :], rows[-2 * walk.timing.n_frames : -walk.timing.n_frames]
    assert np.abs(last - before).max() < 1e-12


def test_a_quadruped_gait_is_a_gait_generator() -> None:
    walk: GaitGenerator = QuadrupedGenerator(EXAMPLE, ERS7)
    assert walk.standing_pose.shape == walk.frames(1)[0].shape
    with pytest.raises(ValueError, match="read-only"):
        walk.standing_pose[0] = 1.0
