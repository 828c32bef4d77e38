"""Motions and gaits on any body: the same commands, whatever is driven."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.errors import InputError, UnknownNameError
from posewright.formats import read_motion
from posewright.gaits import VelocityCommand, read_gait
from posewright.robots import robot
from posewright.runs import play_gait, play_motion, try_motion

BIOLOID = robot("robotis_bioloid")
TURN = read_motion(BIOLOID.folder / "motions" / "turn_left.motion.yaml")


def test_a_motion_is_commanded_alike_on_a_mock_and_on_a_simulated_robot() -> None:
    records = {body: play_motion(TURN, body=body).robot() for body in ("sim", "mock")}
    assert np.array_equal(records["sim"].commands, records["mock"].commands)
    assert records["sim"].knows_place
    assert not records["mock"].knows_place


def test_a_motion_is_played_as_it_is_checked_under_gravity() -> None:
    """Two roads to the same commands; this motion needs no correction by safety."""
    tried = try_motion(TURN).recording
    played = play_motion(TURN)
    assert np.array_equal(tried.robot().commands, played.robot().commands)
    assert np.allclose(tried.robot().base[-1], played.robot().base[-1], atol=1e-6)


def test_a_gait_walks_on_any_body() -> None:
    walked = play_gait(read_gait("trot"), command=VelocityCommand(0.1), seconds=3.0, body="sim")
    assert walked.robot().base[-1, 0] > 0.15
    assert walked.duration_s == pytest.approx(3.0)


@pytest.mark.parametrize("hold_s", [-1.0, 61.0, float("nan")])
def test_a_time_that_makes_no_sense_is_refused(hold_s: float) -> None:
    with pytest.raises(InputError, match="hold_s"):
        play_motion(TURN, body="mock", hold_s=hold_s)


def test_a_body_that_is_none_is_named() -> None:
    with pytest.raises(UnknownNameError, match="body"):
        play_motion(TURN, body="nobody")
