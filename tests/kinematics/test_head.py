"""The head of the ERS-7 against its model's camera, and against what looking at something means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.errors import InputError, UnreachableError
from posewright.kinematics import Head, head_of
from posewright.robots import Robot, robot
from posewright.simulation import World


@pytest.fixture(scope="module")
def ers7() -> Robot:
    return robot("sony_ers7")


@pytest.fixture(scope="module")
def head(ers7: Robot) -> Head:
    return head_of(ers7)


def off_the_middle(head: Head, angles: Floats, points: Floats) -> Floats:
    """Return the angles between the line of sight and the points [rad]."""
    place, way = head.forward(angles)
    towards = points - place
    across = np.linalg.norm(np.cross(way, towards), axis=-1)
    return np.asarray(np.arctan2(across, (way * towards).sum(axis=-1)))


def test_the_camera_is_where_mujoco_has_it_and_looks_the_same_way(ers7: Robot, head: Head) -> None:
    world = World(ers7)
    lower, upper = ers7.limits
    for pose in np.random.default_rng(1).uniform(lower, upper, (100, len(lower))):
        world.show(([0, 0, 0, 1, 0, 0, 0], pose))
        place, way = head.forward(pose[list(head.indices)])
        site = world.data.site("camera")
        np.testing.assert_allclose(place, site.xpos, rtol=0, atol=1e-9)
        np.testing.assert_allclose(way, site.xmat.reshape(3, 3)[:, 0], rtol=0, atol=1e-9)


def seen_points(head: Head, n: int, seed: int) -> tuple[Floats, Floats]:
    """Return angles within the limits, and points that lie in the middle of the picture there."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(*np.array(head.limits.ranges).T, (4 * n, 3))
    angles = angles[head.limits.are_within(angles)][:n]
    place, way = head.forward(angles)
    return angles, place + way * rng.uniform(0.05, 3.0, (len(angles), 1))


def test_with_the_neck_given_the_angles_come_back(head: Head) -> None:
    angles, points = seen_points(head, 300, seed=2)
    for expected, point in zip(angles, points, strict=True):
        found = head.look_at(point, neck_tilt=expected[0])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_what_can_be_seen_is_brought_to_the_middle_within_all_limits(head: Head) -> None:
    _, points = seen_points(head, 300, seed=3)
    found = head.look_at(points)
    assert off_the_middle(head, found, points).max() < 1e-9
    assert head.limits.are_within(found).all()


def test_the_neck_stays_as_near_to_rest_as_can_be(head: Head) -> None:
    _, points = seen_points(head, 40, seed=4)
    turned = np.abs(head.look_at(points)[:, 0] - head.rest_rad)
    assert (turned > 0.0).any()
    for neck in np.linspace(*head.limits.ranges.neck, 151).tolist():
        angles = head.look_at(points, neck_tilt=neck, nearest=True)
        seen = off_the_middle(head, angles, points) < 1e-9
        assert (turned[seen] <= abs(neck - head.rest_rad) + 1e-9).all()


def test_straight_ahead_the_neck_rests(ers7: Robot, head: Head) -> None:
    assert head.rest_rad == ers7.poses["stand"]["neck_tilt"]
    found = head.look_at((2.0, 0.0, 0.1))
    assert found[0] == head.rest_rad
    assert found[1] == 0.0
    assert head.look_at((1.0, 0.2, 0.0))[1] > 0.0  # pan + is left
    assert head_of(ers7, rest_rad=-0.5).look_at((2.0, 0.0, 0.1))[0] == -0.5


def test_looking_left_and_right_are_mirror_images(head: Head) -> None:
    _, points = seen_points(head, 50, seed=5)
    np.testing.assert_allclose(
        head.look_at(points) * (1, -1, 1), head.look_at(points * (1, -1, 1)), rtol=0, atol=1e-12
    )


def test_what_is_out_of_sight_is_refused_by_name(head: Head) -> None:
    with pytest.raises(UnreachableError, match=r"cannot look at \(-1, 0, 0\) m, the first at index 1"):
        head.look_at([[1.0, 0.0, 0.1], [-1.0, 0.0, 0.0]])
    with pytest.raises(UnreachableError, match="cannot look at"):
        head.look_at((0.0675, 0.0, 0.09))  # inside the head
    with pytest.raises(InputError, match=r"the range is -75..0"):
        head.look_at((1.0, 0.0, 0.0), neck_tilt=0.5)
    with pytest.raises(InputError, match="not finite"):
        head.look_at((math.nan, 0.0, 0.0))


def test_the_nearest_look_keeps_the_limits_and_loses_little(head: Head) -> None:
    points = np.random.default_rng(6).uniform([0.2, -1.0, -0.3], [1.5, 1.0, 1.5], (60, 3))
    found = head.look_at(points, nearest=True)
    assert head.limits.are_within(found).all()
    tried = np.random.default_rng(7).uniform(*np.array(head.limits.ranges).T, (20_000, 3))
    tried = tried[head.limits.are_within(tried)]
    for angles, point in zip(found, points, strict=True):
        best = off_the_middle(head, tried, np.tile(point, (len(tried), 1))).min()
        assert off_the_middle(head, angles, point) <= best + math.radians(3.0)


def test_a_card_without_a_head_says_so() -> None:
    with pytest.raises(InputError, match="robotis_bioloid has no head"):
        head_of(robot("robotis_bioloid"))
