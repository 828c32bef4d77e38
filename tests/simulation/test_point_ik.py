"""A robot that is taken hold of: the point comes to where it is wanted, and the rest stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.kinematics import legs_of
from posewright.robots import Robot, robot
from posewright.rotation import rotation_matrices
from posewright.simulation.kinematic_model import KinematicModel, Limb, LinkPoses

pytest.importorskip("mink")
from tests.work import Calls

from posewright.simulation.point_ik import PointIk

BESIDE = np.array([0.01, 0.005, 0.02])
ROBOTS = ("robotis_bioloid", "sony_ers7", "deagostini_robi2")


def _posed(name: str) -> tuple[KinematicModel, Floats, LinkPoses]:
    card = robot(name)
    model = KinematicModel(card)
    angles = card.pose("stand" if "stand" in card.poses else next(iter(card.poses)))
    return model, angles, model.stand(angles)


def _place(model: KinematicModel, link_poses: LinkPoses, limb: Limb) -> Floats:
    link = model.links.index(limb.link)
    placed: Floats = link_poses.positions[link] + rotation_matrices(link_poses.rotations[link]) @ limb.point
    return placed


@pytest.fixture(scope="module", params=ROBOTS)
def posed(request: pytest.FixtureRequest) -> tuple[KinematicModel, Floats, LinkPoses]:
    return _posed(request.param)


def test_every_robot_has_limbs_to_take_it_by(posed: tuple[KinematicModel, Floats, LinkPoses]) -> None:
    model, _, _ = posed
    assert set(model.robot.feet) <= {limb.link for limb in model.limbs}


def test_only_the_limb_moves_and_it_comes_back(posed: tuple[KinematicModel, Floats, LinkPoses]) -> None:
    model, angles, link_poses = posed
    card: Robot = model.robot
    lower, upper = card.limits
    for limb in model.limbs:
        ik = PointIk(model, link_poses, angles, limb.link, limb.point, movable_joints=card.joint_names)
        start = _place(model, link_poses, limb)
        there = ik.solve(start + BESIDE)
        turned = {name for name, old, new in zip(card.joint_names, angles, there.angles, strict=True)
                  if abs(old - new) > 1e-9}  # fmt: skip
        assert turned <= set(model.joint_chain(limb.link))
        assert np.all((there.angles > lower - 1e-6) & (there.angles < upper + 1e-6))
        shown = _place(model, model.set_pose(there.base, there.angles), limb)
        assert np.linalg.norm(shown - start - BESIDE) == pytest.approx(there.error_m, abs=1e-9)
        assert ik.solve(start).angles == pytest.approx(angles, abs=0.05)


def test_planted_feet_stay_even_where_the_point_cannot_be_reached(
    posed: tuple[KinematicModel, Floats, LinkPoses],
) -> None:
    model, angles, link_poses = posed
    limb = model.limbs[-1]
    feet = model.robot.feet
    moving = model.robot.joint_names
    ik = PointIk(model, link_poses, angles, limb.link, limb.point, movable_joints=moving, planted=feet)
    solution = ik.solve(_place(model, link_poses, limb) + 1.0)
    assert solution.error_m > 0.5
    links = [model.links.index(foot) for foot in feet]
    moved = model.set_pose(solution.base, solution.angles).positions[links] - link_poses.positions[links]
    assert np.abs(moved).max() < 3e-3


def test_a_foot_comes_to_where_the_closed_form_has_it() -> None:
    model, angles, link_poses = _posed("sony_ers7")
    card, random = model.robot, np.random.default_rng(18)
    trunk = rotation_matrices(link_poses.base[3:])
    for leg in legs_of(card):
        columns = list(leg.indices)
        lower, upper = (limit[columns] for limit in card.limits)
        ik = PointIk(model, link_poses, angles, leg.foot, (0.0, 0.0, 0.0), movable_joints=card.joint_names)
        turned = np.clip(angles[columns] + random.uniform(-0.5, 0.5, (20, 3)), lower, upper)
        feet = leg.forward(turned)
        bent = np.isclose(leg.inverse(feet), turned, atol=1e-6).all(
            axis=-1
        )  # the knee also bends the other way
        for foot in feet[bent]:
            found = ik.solve(link_poses.base[:3] + trunk @ foot).angles[columns]
            assert np.linalg.norm(leg.forward(found) - foot) < 5e-4


def test_a_step_of_a_drag_is_little_work() -> None:
    model, angles, link_poses = _posed("sony_ers7")
    limb, feet = model.limbs[0], model.robot.feet
    moving = model.robot.joint_names
    ik = PointIk(model, link_poses, angles, limb.link, limb.point, movable_joints=moving, planted=feet)
    start = _place(model, link_poses, limb)
    n_calls = []
    for step in range(20):
        with Calls() as calls:
            ik.solve(start - np.array([0.0, 0.0, 0.003 * step]))
        n_calls.append(calls.count)
    assert np.median(n_calls) < 5_000
