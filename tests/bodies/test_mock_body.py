"""The mock body follows its commands and keeps what it was told."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.bodies import Body, JointCommands, MockBody, Supervisor
from posewright.errors import BodyError
from posewright.robots import robot

ROBOT = robot("robotis_bioloid")
STAND = ROBOT.pose("stand")


def frames_at(angles: np.ndarray, n: int = 16, **rest: np.ndarray) -> JointCommands:
    return JointCommands(np.tile(angles, (n, 1)), **rest)


def test_it_is_a_body_and_has_hands() -> None:
    body = MockBody(ROBOT)
    assert isinstance(body, Body)
    assert isinstance(body, Supervisor)


def test_without_lag_it_is_where_it_was_told_to_be() -> None:
    body = MockBody(ROBOT)
    track = body.play(frames_at(STAND))
    track.require_shapes(18)
    assert np.array_equal(track.positions[0], STAND)
    assert np.array_equal(body.read().positions, STAND)


def test_time_is_counted_in_frames() -> None:
    body = MockBody(ROBOT)
    for _ in range(1000):
        body.play(frames_at(STAND, 13))
    assert body.time_s == 13_000 / 128
    assert body.play(frames_at(STAND, 3)).times.tolist() == [13_001 / 128, 13_002 / 128, 13_003 / 128]


def test_with_lag_it_comes_nearer_and_covers_63_percent_in_the_time_constant() -> None:
    body = MockBody(ROBOT, lag_s=0.25)
    track = body.play(frames_at(STAND, 32))
    share = track.positions[:, 12] / STAND[12]
    assert (np.diff(share) > 0.0).all()
    assert share[-1] == pytest.approx(1.0 - np.exp(-1.0))


def test_with_limited_speed_no_joint_is_faster_than_its_servo() -> None:
    body = MockBody(ROBOT, limit_speed=True)
    track = body.play(frames_at(STAND + 2.0, 5))
    moved = np.diff(track.positions, axis=0, prepend=np.zeros((1, 18)))
    assert (np.abs(moved) <= ROBOT.max_speeds * ROBOT.frame_period_s + 1e-12).all()
    assert (np.abs(body.read().velocities) <= ROBOT.max_speeds + 1e-9).all()


def test_a_free_joint_stays_where_it_is() -> None:
    body = MockBody(ROBOT, positions=STAND)
    free = np.arange(18) == 4
    body.play(frames_at(STAND + 0.1, free=free))
    assert np.array_equal(body.positions == STAND, free)


def test_sensors_read_the_script() -> None:
    body = MockBody(ROBOT, readings_at=lambda time_s: {"laser_front": 5.0 - time_s})
    body.play(frames_at(STAND, 128))
    assert body.read().sensors["laser_front"] == 4.0


def test_it_remembers_commands_and_placements() -> None:
    body = MockBody(ROBOT)
    assert body.commands.shape == (0, 18)
    body.play(frames_at(STAND, 128))
    body.place_robot(0.25, 0.0, 1.5)
    (placement,) = body.placements
    assert (placement.time_s, placement.x_m, placement.yaw_rad) == (1.0, 0.25, 1.5)
    assert body.commands.shape == (128, 18)


def test_another_robots_frames_are_refused() -> None:
    with pytest.raises(BodyError, match="shape"):
        MockBody(ROBOT).advance({ROBOT.name: JointCommands(np.zeros((3, 7)))})
