"""Self-collisions: links that a motion would drive into each other are an error before anything moves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.formats import read_motion, read_motion_file
from posewright.hazards import check_motion, find_faults, find_self_collisions
from posewright.hazards.self_collision import MAX_OVERLAP_MM
from posewright.motions import Keyframe, Level, Motion, Pose
from posewright.robots import robot, robot_names

BIOLOID = robot("robotis_bioloid")
HIPS = ("left_hip_roll", "right_hip_roll")


def closing_legs(angle_deg: float, **changes: object) -> Motion:
    """Return a motion in which both legs of a Bioloid go inwards in a second, and back."""
    angle = np.radians(angle_deg)
    poses = [Pose(HIPS, np.array([-a, a])) for a in (0.0, angle, 0.0)]
    keyframes = tuple(Keyframe(pose, reach_s=1.0) for pose in poses)
    motion = Motion("closing", "robotis_bioloid", HIPS, keyframes)
    return replace(motion, **changes)  # type: ignore[arg-type]


def test_legs_that_cross_collide_from_the_moment_they_overlap_too_far() -> None:
    findings = list(find_self_collisions(closing_legs(25.0), BIOLOID))
    assert {(finding.level, finding.rule) for finding in findings} == {(Level.ERROR, "collision")}
    (shanks,) = (finding for finding in findings if finding.message.startswith("left_shank and right_shank"))
    assert "collide from 1." in shanks.message
    assert shanks.limit == MAX_OVERLAP_MM
    assert shanks.value is not None
    assert shanks.value > MAX_OVERLAP_MM
    (deepest_s,) = shanks.times_s
    assert 1.0 < deepest_s < 3.0  # while both legs are inwards
    assert list(find_self_collisions(closing_legs(5.0), BIOLOID)) == []


def test_the_deeper_overlap_is_the_farther_command() -> None:
    depths = [
        max(finding.value or 0.0 for finding in find_self_collisions(closing_legs(angle), BIOLOID))
        for angle in (20.0, 25.0)
    ]
    assert depths[0] < depths[1]


@pytest.mark.parametrize("name", robot_names())
def test_no_motion_that_ships_and_no_named_pose_collides(name: str) -> None:
    card = robot(name)
    for pose in card.poses:
        held = Motion(
            "held", name, card.joint_names, (Keyframe(Pose(card.joint_names, card.pose(pose)), 1.0),)
        )
        assert list(find_self_collisions(held, card)) == []
    for path in sorted((card.folder or Path()).glob("motions/*.motion.yaml")):
        assert list(find_self_collisions(read_motion(path), card)) == []


def test_no_page_of_the_makers_own_file_collides() -> None:
    folder = Path(__file__).parents[2] / "../shared/samples/robotis_mtn_text"
    paths = sorted(folder.glob("robkwan_*.mtn"))
    if not paths:
        pytest.skip("there are no sample files beside this checkout")
    for motion in read_motion_file(paths[0]).motions[:60]:
        assert not [finding for finding in check_motion(motion) if finding.rule == "collision"]


def test_a_free_joint_stays_where_it_was() -> None:
    crossing = closing_legs(25.0)
    first, middle, last = crossing.keyframes
    free = Pose(HIPS, np.full(2, np.nan), frozenset(HIPS))
    released = replace(crossing, keyframes=(first, replace(middle, pose=free), last))
    assert list(find_self_collisions(released, BIOLOID)) == []


def test_a_motion_with_an_angle_that_is_no_number_has_that_error_alone() -> None:
    infinite = closing_legs(0.0)
    first, middle, last = infinite.keyframes
    middle = replace(middle, pose=Pose(HIPS, np.array([np.inf, 0.0])))
    findings = check_motion(replace(infinite, keyframes=(first, middle, last)))
    assert "finite" in {finding.rule for finding in findings}
    assert "collision" not in {finding.rule for finding in findings}


def test_a_robot_without_a_model_has_no_shapes_to_collide() -> None:
    card = replace(BIOLOID, model_path=None)
    assert list(find_self_collisions(closing_legs(25.0), card)) == []
    assert find_faults(closing_legs(25.0), card) == ()
