"""Commands on poses: what they do to a motion, and that each is one step to undo."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.errors import InputError
from posewright.formats import read_motion_file
from posewright.motions import Motion, Pose, mirror_motion, robot_of_motion
from posewright.studio.commands.motion import ClearStart, SetJoints
from posewright.studio.commands.pose import (
    BlendPose,
    CopyAcross,
    MirrorPose,
    SetAngles,
    UnsetJoints,
    UnsetState,
)
from posewright.studio.document import Command, Document
from posewright.studio.pages import Pages

Shipped = Callable[[str], Path]
LEG = ("left_front_rotator", "left_front_elevator", "left_front_knee")


@pytest.fixture
def kick(shipped: Shipped) -> Document:
    """Sony's dog kicks with its right leg."""
    return opened(shipped("kick_right"))


@pytest.fixture
def walk(shipped: Shipped) -> Document:
    """A humanoid walks."""
    return opened(shipped("walk_forward"))


def opened(path: Path) -> Document:
    file = read_motion_file(path)
    return Document(Pages.of(file), robot_of_motion(file.motion(1)))


def after(document: Document, command: Command) -> Motion:
    """Do it, undo it, do it again: return the motion."""
    before = document.pages
    assert document.do(command)
    changed = document.pages
    document.undo()
    assert document.pages is before
    document.redo()
    assert document.pages is changed
    return changed.motion(1)


def poses(document: Document) -> list[Pose]:
    return [frame.pose for frame in document.pages.motion(1).keyframes]


def test_a_joint_turns_in_all_the_keyframes_that_were_asked_for_and_no_further_than_its_limit(
    walk: Document,
) -> None:
    motion = after(walk, SetAngles(1, 0, {"right_knee": 9.0}, also=(2, 3)))
    upper = walk.robot.joint("right_knee").upper_rad
    knees = [frame.pose.angle("right_knee") for frame in motion.keyframes]
    assert [knee == upper for knee in knees] == [True, False, True, True]


def test_the_other_side_goes_along_as_in_a_mirror(walk: Document) -> None:
    motion = after(walk, SetAngles(1, 0, {"right_knee": 0.5, "right_hip_roll": 0.1}, symmetric=True))
    angles = np.full(len(walk.robot.joints), np.nan)
    angles[[walk.robot.index(name) for name in motion.joints]] = motion.keyframes[0].pose.angles
    for name in ("left_knee", "left_hip_roll"):
        assert angles[walk.robot.index(name)] == pytest.approx(
            walk.robot.mirror(angles)[walk.robot.index(name)]
        )


def test_a_mirrored_pose_is_that_of_the_mirrored_motion_and_two_mirrors_are_none(kick: Document) -> None:
    before = kick.pages.motion(1)
    motion = after(kick, MirrorPose(1, 1, also=(2,)))
    assert motion.keyframes[1:3] == mirror_motion(before).keyframes[1:3]
    assert motion.keyframes[0] == before.keyframes[0]
    assert after(kick, MirrorPose(1, 1, also=(2,))) == before


def test_a_limb_is_copied_to_the_other_side_with_what_it_holds_and_lets_go(kick: Document) -> None:
    kick.do(UnsetJoints(1, 1, LEG[:1], UnsetState.FREE))
    kick.do(UnsetJoints(1, 1, LEG[1:2], UnsetState.HELD))
    pose = after(kick, CopyAcross(1, 1, LEG)).keyframes[1].pose
    assert "right_front_rotator" in pose.free
    assert math.isnan(pose.angle("right_front_elevator"))
    assert pose.angle("right_front_knee") == pose.angle("left_front_knee")
    with pytest.raises(InputError, match="none on the other side"):
        kick.do(CopyAcross(1, 1, ("tail_tilt",)))


def test_a_joint_that_is_held_or_free_has_no_angle_until_it_gets_one(walk: Document) -> None:
    free = after(walk, UnsetJoints(1, 2, ("left_knee",), UnsetState.FREE, symmetric=True)).keyframes[2].pose
    assert free.free == {"left_knee", "right_knee"}
    held = after(walk, UnsetJoints(1, 2, ("left_knee",), UnsetState.HELD)).keyframes[2].pose
    assert held.free == {"right_knee"}
    assert math.isnan(held.angle("left_knee"))
    assert after(walk, SetAngles(1, 2, {"left_knee": 0.3})).keyframes[2].pose.angle("left_knee") == 0.3


def test_a_blend_goes_evenly_from_one_pose_to_the_other(walk: Document) -> None:
    begin, end, *_ = poses(walk)
    half = after(walk, BlendPose(1, 0, share=0.5, other=1)).keyframes[0].pose
    assert half.angles == pytest.approx((begin.angles + end.angles) / 2.0)
    assert after(walk, BlendPose(1, 0, other=1)).keyframes[0].pose == end
    assert not walk.do(BlendPose(1, 0, share=0.0, other=2))


def test_a_blend_of_nothing_changes_nothing_not_even_what_is_held(walk: Document) -> None:
    walk.do(UnsetJoints(1, 1, ("right_knee",), UnsetState.HELD))
    assert not walk.do(BlendPose(1, 1, share=0.0, other=0))


def test_a_blend_fills_in_what_a_pose_holds_and_keeps_what_both_hold(walk: Document) -> None:
    before = poses(walk)
    walk.do(UnsetJoints(1, 1, ("left_knee", "right_knee"), UnsetState.HELD))
    walk.do(UnsetJoints(1, 2, ("left_knee",), UnsetState.HELD))
    pose = after(walk, BlendPose(1, 1, share=0.25, other=2)).keyframes[1].pose
    assert math.isnan(pose.angle("left_knee"))
    begin, end = before[0].angle("right_knee"), before[2].angle("right_knee")
    assert pose.angle("right_knee") == pytest.approx(0.75 * begin + 0.25 * end)


def test_a_pose_of_the_card_is_taken_for_some_joints_and_as_the_start(kick: Document) -> None:
    before = poses(kick)[2]
    pose = after(kick, BlendPose(1, 2, named="sit", joints=LEG)).keyframes[2].pose
    sit = kick.robot.poses["sit"]
    for name, angle, old in zip(pose.joints, pose.angles.tolist(), before.angles.tolist(), strict=True):
        wanted = round(math.degrees(sit[name]), 2) if name in LEG else math.degrees(old)
        assert math.isnan(angle) or math.degrees(angle) == pytest.approx(wanted, abs=1e-9)
    start = after(kick, BlendPose(1, -1, named="sit")).start
    assert start is not None
    assert start.angle(LEG[0]) == pytest.approx(sit[LEG[0]], abs=1e-5)
    assert after(kick, ClearStart(1)).start is None


def test_joints_are_added_held_and_removed_joints_are_forgotten(walk: Document) -> None:
    before = walk.pages.motion(1)
    fewer = after(walk, SetJoints(1, before.joints[2:]))
    assert fewer.joints == before.joints[2:]
    more = after(walk, SetJoints(1, before.joints))
    assert set(more.joints) == set(before.joints)
    assert np.isnan(more.keyframes[0].pose.angle(before.joints[0]))
    with pytest.raises(InputError, match="no joint"):
        walk.do(SetJoints(1, ()))


@pytest.mark.parametrize(
    "command",
    [
        SetAngles(1, 9, {"left_knee": 0.1}),
        SetAngles(1, 0, {"tail": 0.1}),
        UnsetJoints(1, 0, ("tail",), UnsetState.FREE),
        BlendPose(1, 0, other=9),
        BlendPose(1, 0, named="flying"),
        BlendPose(1, 0),
        MirrorPose(1, 9),
        SetJoints(1, ("tail",)),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(walk: Document, command: Any) -> None:
    before = walk.pages
    with pytest.raises(InputError):
        walk.do(command)
    assert walk.pages is before


def test_windows_see_how_far_a_joint_can_go_as_the_others_stand(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(shipped("kick_right")))
    window.edit(
        "set_angles",
        page=1,
        keyframe=0,
        angles_deg={"left_front_rotator": -90.0, "left_front_elevator": -10.0},
    )
    reach = window.topics["reach"]["left_front_elevator"]
    assert reach["lower_deg"] == pytest.approx(-1.0)
    assert "left front rotator at -90.0°" in reach["wrong"]
    window.edit("set_angles", page=1, keyframe=0, angles_deg={"left_front_elevator": 20.0})
    assert window.topics["reach"]["left_front_elevator"]["wrong"] == ""
