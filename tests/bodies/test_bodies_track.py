"""JointCommands and tracks say when they do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posewright.bodies import GroundTruth, JointCommands, JointStates
from posewright.errors import BodyError, UnsafeCommandError

WORLD = GroundTruth(
    base=np.zeros((5, 7)),
    footprints=np.zeros((5, 2, 4, 3)),
    foot_contacts=np.zeros((5, 2), dtype=np.bool_),
    boxes=np.zeros((5, 6, 7)),
    box_contacts=np.zeros((5, 6), dtype=np.bool_),
)
TRACK = JointStates(np.zeros(5), np.zeros((5, 18)), np.zeros((5, 18)), WORLD)


JOINTS = tuple(f"joint_{number}" for number in range(18))


def test_what_fits_is_taken() -> None:
    TRACK.require_shapes(18)
    JointCommands(np.zeros((5, 18)), np.zeros(18, dtype=np.bool_), np.ones(18)).require_fit(JOINTS)
    assert len(TRACK) == len(WORLD) == len(JointCommands(np.zeros((5, 18)))) == 5


@pytest.mark.parametrize(
    "change", [{"times": np.zeros(4)}, {"positions": np.zeros((5, 17))}, {"efforts": np.zeros(5)}]
)
def test_a_track_of_another_shape_is_told(change: dict[str, np.ndarray]) -> None:
    with pytest.raises(BodyError, match="has the shape"):
        replace(TRACK, **change).require_shapes(18)


@pytest.mark.parametrize(
    "change",
    [{"base": np.zeros((4, 7))}, {"footprints": np.zeros((5, 2, 4))}, {"boxes": np.zeros((5, 5, 7))}],
)
def test_a_world_of_another_shape_is_told(change: dict[str, np.ndarray]) -> None:
    with pytest.raises(BodyError, match="has the shape"):
        replace(TRACK, truth=replace(WORLD, **change)).require_shapes(18)


def test_frames_of_another_robot_are_told() -> None:
    with pytest.raises(BodyError, match=r"angles has the shape \(5, 17\) \(expected \(n, 18\)\)"):
        JointCommands(np.zeros((5, 17))).require_fit(JOINTS)
    with pytest.raises(BodyError, match="free has the shape"):
        JointCommands(np.zeros((5, 18)), free=np.zeros(17, dtype=np.bool_)).require_fit(JOINTS)


def test_a_driven_joint_goes_to_a_finite_angle_and_a_free_one_may_be_asked_for_anything() -> None:
    angles = np.zeros((3, 18))
    angles[1, 4] = np.nan
    with pytest.raises(UnsafeCommandError, match="the command of joint_4 in frame 1 is nan"):
        JointCommands(angles).require_fit(JOINTS)
    free = np.zeros(18, dtype=np.bool_)
    free[4] = True
    JointCommands(angles, free=free).require_fit(JOINTS)
    free[4], free[5] = False, True
    with pytest.raises(UnsafeCommandError, match="joint_4"):
        JointCommands(angles, free=free).require_fit(JOINTS)
