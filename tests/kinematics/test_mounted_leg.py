"""The legs of the ERS-7 on their trunk, against the robot's model in MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.errors import InputError, UnreachableError
from posewright.kinematics import Knee, MountedLeg, legs_by_foot, legs_of
from posewright.robots import Robot, robot
from posewright.simulation import World


@pytest.fixture(scope="module")
def ers7() -> Robot:
    return robot("sony_ers7")


@pytest.fixture(scope="module")
def legs(ers7: Robot) -> tuple[MountedLeg, ...]:
    return legs_of(ers7)


def random_poses(ers7: Robot, n: int) -> Floats:
    lower, upper = ers7.limits
    return np.random.default_rng(1).uniform(lower, upper, (n, len(lower)))


def test_feet_are_where_mujoco_has_them(ers7: Robot, legs: tuple[MountedLeg, ...]) -> None:
    world = World(ers7)
    for pose in random_poses(ers7, 100):
        world.show(([0, 0, 0, 1, 0, 0, 0], pose))
        for leg in legs:
            angles = pose[list(leg.indices)]
            paw = world.data.body(leg.foot)
            np.testing.assert_allclose(leg.forward(angles), paw.xpos, rtol=0, atol=1e-9)
            np.testing.assert_allclose(leg.forward_scalar(*angles.tolist()), paw.xpos, rtol=0, atol=1e-9)
            np.testing.assert_allclose(leg.shank_rotations(angles), paw.xmat.reshape(3, 3), rtol=0, atol=1e-9)


def test_paws_are_as_large_as_mujoco_has_them(ers7: Robot, legs: tuple[MountedLeg, ...]) -> None:
    world = World(ers7)
    for leg in legs:
        assert leg.foot_radius_m == world.model.geom(leg.foot).size[0]


def test_legs_come_in_the_order_of_the_feet(ers7: Robot, legs: tuple[MountedLeg, ...]) -> None:
    assert tuple(leg.foot for leg in legs) == ers7.feet
    for leg in legs:
        assert tuple(ers7.joint_names[place] for place in leg.indices) == leg.joints
        assert [name.rsplit("_", 1)[1] for name in leg.joints] == ["rotator", "elevator", "knee"]


def test_left_and_right_are_mirror_images(legs: tuple[MountedLeg, ...]) -> None:
    left_front, left_rear, right_front, right_rear = legs
    angles = np.random.default_rng(2).uniform(-0.5, 1.0, (50, 3))
    for left, right in ((left_front, right_front), (left_rear, right_rear)):
        np.testing.assert_array_equal(left.forward(angles) * (1, -1, 1), right.forward(angles))


def test_front_and_rear_shoulders_are_mirror_images(legs: tuple[MountedLeg, ...]) -> None:
    left_front, left_rear, *_ = legs
    np.testing.assert_array_equal(left_front.shoulder_m * (-1, 1, 1), left_rear.shoulder_m)


def test_angles_come_back_in_the_trunks_frame(legs: tuple[MountedLeg, ...]) -> None:
    rng = np.random.default_rng(3)
    for leg in legs:
        angles = rng.uniform([-1.0, -0.1, 0.6], [1.0, 1.0, 2.0], (1000, 3))
        points = leg.forward(angles)
        np.testing.assert_allclose(leg.inverse(points), angles, rtol=0, atol=1e-13)
        one = leg.inverse_scalar(*points[0].tolist())
        np.testing.assert_allclose(one, angles[0], rtol=0, atol=1e-13)
        other = leg.inverse(points, knee=Knee.NEGATIVE, nearest=True)
        assert (np.linalg.norm(leg.forward(other) - points, axis=1) < 1e-12).mean() > 0.9


def test_the_jacobian_is_what_central_differences_say(legs: tuple[MountedLeg, ...]) -> None:
    angles = np.random.default_rng(4).uniform(-0.5, 1.0, (50, 3))
    for leg in legs:
        columns = [(leg.forward(angles + d) - leg.forward(angles - d)) / 2e-5 for d in 1e-5 * np.eye(3)]
        np.testing.assert_allclose(leg.jacobian(angles), np.stack(columns, axis=-1), rtol=0, atol=1e-10)


def test_turns_are_rotations(legs: tuple[MountedLeg, ...]) -> None:
    for leg in legs:
        turns = leg.shank_rotations(np.random.default_rng(5).uniform(-1.0, 1.0, (20, 3)))
        np.testing.assert_allclose(
            turns @ turns.transpose(0, 2, 1), np.tile(np.eye(3), (20, 1, 1)), atol=1e-15
        )
        np.testing.assert_allclose(np.linalg.det(turns), 1.0, atol=1e-14)


def test_a_card_without_legs_says_so() -> None:
    with pytest.raises(InputError, match="robotis_bioloid has no legs"):
        legs_of(robot("robotis_bioloid"))


def test_a_point_out_of_reach_is_refused(legs: tuple[MountedLeg, ...]) -> None:
    with pytest.raises(UnreachableError, match="too far"):
        legs[0].inverse((0.0, 0.0, -0.5))
    with pytest.raises(ValueError, match="read-only"):
        legs[0].shoulder_m[0] = 1.0


def test_a_point_is_out_of_reach_where_it_is_refused_and_for_the_reason_that_is_told(
    legs: tuple[MountedLeg, ...],
) -> None:
    points = np.random.default_rng(8).uniform(-0.2, 0.2, (200, 3)).tolist()
    for leg in legs:
        for x, y, z in points:
            missed = leg.out_of_reach(x, y, z)
            try:
                leg.inverse((x, y, z))
            except UnreachableError as error:
                assert missed is not None
                assert error.message.endswith(f" is {missed.reason}")  # noqa: PT017 -- many are in reach
            else:
                assert missed is None


def test_a_point_too_far_may_be_brought_nearer_and_one_too_near_may_not(legs: tuple[MountedLeg, ...]) -> None:
    x, y, z = legs[0].shoulder_m.tolist()
    far, near = legs[0].out_of_reach(x, y, z - 0.3), legs[0].out_of_reach(x, y, z)
    assert far is not None
    assert near is not None
    assert (far.is_far, near.is_far) == (True, False)
    with pytest.raises(InputError, match="not finite"):
        legs[0].out_of_reach(x, y, float("nan"))


def test_the_knee_is_a_shank_from_the_foot_and_goes_with_the_upper_leg(legs: tuple[MountedLeg, ...]) -> None:
    angles = np.random.default_rng(6).uniform(-1.0, 1.0, (40, 3))
    for leg in legs:
        knees = leg.knee_positions(angles)
        shanks, uppers = (
            np.linalg.norm(leg.shank_m),
            np.linalg.norm(leg.knee_positions([0.0, 0.0, 0.0]) - leg.shoulder_m),
        )
        np.testing.assert_allclose(np.linalg.norm(leg.forward(angles) - knees, axis=1), shanks, atol=1e-15)
        np.testing.assert_allclose(np.linalg.norm(knees - leg.shoulder_m, axis=1), uppers, atol=1e-15)
        np.testing.assert_allclose(
            leg.knee_positions(angles * (1, 1, 0)), knees, atol=1e-15
        )  # whatever the knee's angle
        np.testing.assert_allclose(leg.knee_positions(angles[0]), knees[0], rtol=0, atol=1e-15)


def test_knees_are_where_mujoco_has_them(ers7: Robot, legs: tuple[MountedLeg, ...]) -> None:
    world = World(ers7)
    for pose in random_poses(ers7, 10):
        world.show(([0, 0, 0, 1, 0, 0, 0], pose))
        for leg in legs:
            axis = world.data.xanchor[world.model.joint(leg.joints[2]).id]
            np.testing.assert_allclose(leg.knee_positions(pose[list(leg.indices)]), axis, rtol=0, atol=1e-9)


def test_a_foot_misses_no_point_in_reach_and_others_by_how_far_they_are_away(ers7: Robot) -> None:
    for foot, leg in legs_by_foot(ers7).items():
        assert leg.name == f"{foot}_leg"
        below = leg.shoulder_m - (0.0, 0.0, 0.11)
        np.testing.assert_allclose(
            leg.foot_centres(below) - below, (0.0, 0.0, leg.foot_radius_m), rtol=0, atol=1e-15
        )
        assert leg.distances_to_ground(below) < 1e-12
        deep = np.array([[0.02, 0.01, -0.3], [0.0, 0.0, -0.4]]) * leg.mirror + leg.shoulder_m
        beyond = np.linalg.norm(leg.foot_centres(deep) - leg.shoulder_m, axis=1) - leg.leg.reach_m[1]
        np.testing.assert_allclose(leg.distances_to_ground(deep), beyond, atol=1e-12)
