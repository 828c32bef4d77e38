"""Orientations made for the viewer agree with SciPy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posewright.recordings.turns import from_roll_pitch_yaw, quaternions, sole_poses

seeds = st.integers(0, 2**32 - 1)
SOLE = np.array([[0.06, 0.03, 0.0], [0.06, -0.03, 0.0], [-0.04, -0.03, 0.0], [-0.04, 0.03, 0.0]])


def same_turn(ours: np.ndarray, theirs: Rotation) -> None:
    np.testing.assert_allclose(Rotation.from_quat(ours).as_matrix(), theirs.as_matrix(), atol=1e-12)


@given(seed=seeds)
def test_quaternions_of_matrices(seed: int) -> None:
    turns = Rotation.random(20, rng=np.random.default_rng(seed))
    same_turn(quaternions(turns.as_matrix()), turns)


def test_half_turns_have_quaternions_too() -> None:
    turns = Rotation.from_euler("xyz", [[180, 0, 0], [0, 180, 0], [0, 0, 180], [0, 0, 0]], degrees=True)
    same_turn(quaternions(turns.as_matrix()), turns)


@given(seed=seeds)
def test_roll_pitch_yaw(seed: int) -> None:
    angles = np.random.default_rng(seed).uniform(-3, 3, size=(10, 3))
    same_turn(from_roll_pitch_yaw(angles), Rotation.from_euler("xyz", angles))


@given(seed=seeds)
def test_a_sole_is_where_its_corners_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turns, places = Rotation.random(10, rng=rng), rng.normal(size=(10, 3))
    corners = np.stack([turn.apply(SOLE) for turn in turns]) + places[:, None]
    centres, orientations = sole_poses(corners)
    np.testing.assert_allclose(centres, places + turns.apply(SOLE.mean(axis=0)))
    same_turn(orientations, turns)


def test_corners_that_make_no_sole_have_no_turn() -> None:
    centres, orientations = sole_poses(np.zeros((1, 4, 3)))
    assert orientations.tolist() == [[0.0, 0.0, 0.0, 1.0]]
    assert not centres.any()
