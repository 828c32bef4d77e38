"""Nothing reaches a body that its servos must not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import JointCommands
from posewright.control import Safety, SafetyLimit
from posewright.errors import BodyError, UnsafeCommandError
from posewright.robots import robot

ROBOT = robot("robotis_bioloid")
STAND = ROBOT.pose("stand")
STEP = ROBOT.max_speeds * ROBOT.frame_period_s


def still(n: int = 12) -> np.ndarray:
    return np.tile(STAND, (n, 1))


def test_what_is_safe_passes_untouched() -> None:
    frames = JointCommands(still())
    safe = Safety(ROBOT).filter(frames, STAND)
    assert safe.commands is frames
    assert safe.interventions is None


def test_a_command_beyond_a_joint_limit_is_clipped_and_told_of_frame_by_frame() -> None:
    knee = ROBOT.index("right_knee")
    angles = still()
    lower = ROBOT.limits[0][knee]
    angles[:, knee] = np.linspace(STAND[knee], lower - 0.2, 12)
    safe = Safety(ROBOT).filter(JointCommands(angles), STAND)
    told = safe.interventions
    assert told is not None
    at_limit = [k for k, guard in enumerate(told.guards) if guard is SafetyLimit.JOINT_LIMIT]
    assert set(told.joints[at_limit]) == {knee}
    assert told.limits[at_limit] == pytest.approx(lower)
    assert told.values[at_limit].min() == pytest.approx(lower - 0.2)
    assert list(told.frames[at_limit]) == [row for row in range(12) if angles[row, knee] < lower]
    assert safe.commands.angles[:, knee].min() >= lower


def test_what_is_told_can_be_cut_like_the_commands_themselves() -> None:
    elbow = ROBOT.index("left_elbow")
    angles = still(30)
    angles[:, elbow] += 1.0
    told = Safety(ROBOT).filter(JointCommands(angles), STAND).interventions
    assert told is not None
    parts = [told.within(begin, begin + 7) for begin in range(0, 30, 7)]
    frames = [begin * 7 + frame for begin, part in enumerate(parts) if part for frame in part.frames]
    assert frames == sorted(told.frames)


def test_a_jump_becomes_a_way_at_the_servos_greatest_speed() -> None:
    elbow = ROBOT.index("left_elbow")
    angles = still(30)
    angles[:, elbow] += 1.0
    safe = Safety(ROBOT).filter(JointCommands(angles), STAND)
    moved = np.diff(safe.commands.angles[:, elbow], prepend=STAND[elbow])
    assert moved[0] == pytest.approx(STEP[elbow])
    assert safe.commands.angles[-1, elbow] == pytest.approx(STAND[elbow] + 1.0)
    told = safe.interventions
    assert told is not None
    assert (told.guards[0], told.joints[0], told.frames[0]) == (SafetyLimit.SPEED_LIMIT, elbow, 0)
    assert told.values.max() == pytest.approx(1.0 / ROBOT.frame_period_s)
    assert told.limits == pytest.approx(ROBOT.max_speeds[elbow])


@given(st.integers(0, 2**32 - 1))
def test_whatever_is_asked_what_passes_is_within_limits_and_speeds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles = STAND + rng.normal(0.0, 1.0, (13, len(STAND))) * rng.integers(0, 3)
    safe = Safety(ROBOT).filter(JointCommands(angles), STAND).commands.angles
    lower, upper = ROBOT.limits
    assert ((safe >= lower - 1e-9) & (safe <= upper + 1e-9)).all()
    assert (np.abs(np.diff(safe, axis=0, prepend=STAND[np.newaxis])) <= STEP + 1e-9).all()


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused_by_name(strange: float) -> None:
    angles = still()
    angles[3, ROBOT.index("right_hip_yaw")] = strange
    with pytest.raises(UnsafeCommandError, match=r"right_hip_yaw in frame 3"):
        Safety(ROBOT).filter(JointCommands(angles), STAND)


def test_another_robots_frames_are_refused() -> None:
    with pytest.raises(BodyError, match=r"\(n, 18\)"):
        Safety(ROBOT).filter(JointCommands(np.zeros((12, 20))), STAND)


def test_for_a_motion_as_it_was_written_only_the_mechanism_stops_a_joint() -> None:
    angles = still(3)
    knee = ROBOT.index("right_knee")
    angles[:, knee] += 9.0
    safe = Safety(ROBOT, hardware=True).filter(JointCommands(angles), STAND)
    assert (safe.commands.angles[:, knee] == ROBOT.hardware_limits[1][knee]).all()


@pytest.mark.parametrize("strange", [np.nan, -5.0, np.inf])
def test_a_stiffness_that_is_no_number_is_refused(strange: float) -> None:
    commands = JointCommands(still(), stiffness=np.full(len(STAND), strange))
    with pytest.raises(UnsafeCommandError, match="stiffness"):
        Safety(ROBOT).filter(commands, STAND)


def test_a_joint_without_torque_may_be_asked_for_nothing() -> None:
    elbow = ROBOT.index("left_elbow")
    angles, free = still(), np.zeros(len(STAND), dtype=np.bool_)
    angles[:, elbow], free[elbow] = np.nan, True
    safe = Safety(ROBOT).filter(JointCommands(angles, free), STAND).commands
    assert np.array_equal(safe.angles, still())
