"""A robot follows a pose that is edited: in a straight line, slowly, and from where a free joint was put."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.bodies import BodySpec
from posewright.control import Block, drive
from posewright.controllers import PoseFollower
from posewright.hazards import find_faults
from posewright.motions import Pose
from posewright.robots import robot
from posewright.runs.plants import make_plant
from posewright.runs.run import ORIGIN

BIOLOID = robot("robotis_bioloid")
STAND = BIOLOID.pose("stand")
ELBOW = BIOLOID.index("left_elbow")
KNEE = BIOLOID.index("left_knee")
SPEED_RAD_S = math.radians(60.0)
"""The documented speed of a joint that follows, docs/studio.md."""


def pose_of(angles: Floats, free: frozenset[str] = frozenset()) -> Pose:
    return Pose(BIOLOID.joint_names, angles, free)


def bent(**offsets: float) -> Floats:
    """Return the angles of the stand with some joints turned [rad]."""
    angles = STAND.copy()
    for joint, offset in offsets.items():
        angles[BIOLOID.index(joint)] += offset
    return angles


def driven(follower: PoseFollower, edit: Callable[[int], None], seconds: float) -> list[Block]:
    """Drive a mock for some seconds; `edit` is called after each block with its number."""
    blocks: list[Block] = []

    class Editor:
        def watch(self, block: Block) -> bool:
            blocks.append(block)
            edit(len(blocks))
            return False

    spec = BodySpec(BIOLOID.name, BIOLOID, start_pose=STAND, start=ORIGIN)
    plant = make_plant("mock", [spec], None)
    drive(plant, {BIOLOID.name: follower}, until_s=seconds, watchers=[Editor()])
    return blocks


def test_joints_go_to_an_edited_pose_together_and_no_faster_than_60_degrees_a_second() -> None:
    follower = PoseFollower(BIOLOID, pose_of(STAND), STAND)
    target = bent(left_elbow=-0.6, left_knee=0.2)

    def edit(n_blocks: int) -> None:
        if n_blocks == 10:
            follower.set_target(pose_of(target), target)

    blocks = driven(follower, edit, seconds=1.0)
    angles = np.concatenate([block.commands.angles for block in blocks])
    assert (angles[:10] == STAND).all()
    assert angles[-1] == pytest.approx(target)
    speeds = np.abs(np.diff(angles, axis=0)) / BIOLOID.frame_period_s
    assert speeds.max() == pytest.approx(SPEED_RAD_S, rel=1e-6)
    moving = angles[10 : 10 + round(0.6 / SPEED_RAD_S / BIOLOID.frame_period_s)] - STAND
    assert moving[:, KNEE] == pytest.approx(moving[:, ELBOW] * 0.2 / -0.6)
    assert all(block.interventions is None for block in blocks), "nothing was left for the safety filter"


def test_a_joint_that_is_slower_than_that_keeps_to_its_own_speed() -> None:
    slow_rad_s = 0.5
    servos = tuple(replace(servo, no_load_speed_rad_s=slow_rad_s) for servo in BIOLOID.servos)
    follower = PoseFollower(replace(BIOLOID, servos=servos), pose_of(STAND), STAND)
    assert follower.plan(pose_of(bent(left_elbow=-0.6))).duration == pytest.approx(0.6 / slow_rad_s)


def test_a_free_joint_has_no_torque_and_starts_from_where_it_was_put() -> None:
    is_free = frozenset({"left_elbow"})
    follower = PoseFollower(BIOLOID, pose_of(STAND, is_free), STAND)
    n_edit = 5

    def edit(n_blocks: int) -> None:
        if n_blocks == n_edit:
            follower.set_target(pose_of(STAND), STAND)

    blocks = driven(follower, edit, seconds=0.2)
    for number, block in enumerate(blocks, 1):
        free = block.commands.free
        assert (free is not None and bool(free[ELBOW])) == (number <= n_edit)


def test_the_way_to_a_pose_is_judged_not_the_pose_alone() -> None:
    follower = PoseFollower(BIOLOID, pose_of(STAND), STAND)
    assert find_faults(follower.plan(pose_of(bent(left_elbow=-0.6))), BIOLOID) == ()
    faults = find_faults(follower.plan(pose_of(bent(left_elbow=3.0))), BIOLOID)
    assert any("left_elbow" in fault and "limit" in fault for fault in faults)
