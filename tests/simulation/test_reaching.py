"""A robot that is taken hold of: the point comes to where it is wanted, and the rest stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.kinematics import legs_of
from posewright.robots import Robot, robot
from posewright.rotation import rotation_matrices
from posewright.simulation.mannequin import Limb, Mannequin, Stance

pytest.importorskip("mink")
from tests.work import Calls

from posewright.simulation.reaching import Reach

BESIDE = np.array([0.01, 0.005, 0.02])
ROBOTS = ("robotis_bioloid", "sony_ers7", "deagostini_robi2")


def _posed(name: str) -> tuple[Mannequin, Floats, Stance]:
    card = robot(name)
    mannequin = Mannequin(card)
    angles = card.pose("stand" if "stand" in card.poses else next(iter(card.poses)))
    return mannequin, angles, mannequin.stand(angles)


def _place(mannequin: Mannequin, stance: Stance, limb: Limb) -> Floats:
    link = mannequin.links.index(limb.link)
    placed: Floats = stance.positions[link] + rotation_matrices(stance.rotations[link]) @ limb.point
    return placed


@pytest.fixture(scope="module", params=ROBOTS)
def posed(request: pytest.FixtureRequest) -> tuple[Mannequin, Floats, Stance]:
    return _posed(request.param)


def test_every_robot_has_limbs_to_take_it_by(posed: tuple[Mannequin, Floats, Stance]) -> None:
    mannequin, _, _ = posed
    assert set(mannequin.robot.feet) <= {limb.link for limb in mannequin.limbs}


def test_only_the_limb_moves_and_it_comes_back(posed: tuple[Mannequin, Floats, Stance]) -> None:
    mannequin, angles, stance = posed
    card: Robot = mannequin.robot
    lower, upper = card.limits
    for limb in mannequin.limbs:
        reach = Reach(mannequin, stance, angles, limb.link, limb.point, moving=card.joint_names)
        start = _place(mannequin, stance, limb)
        there = reach.to(start + BESIDE)
        turned = {name for name, old, new in zip(card.joint_names, angles, there.angles, strict=True)
                  if abs(old - new) > 1e-9}  # fmt: skip
        assert turned <= set(mannequin.chain(limb.link))
        assert np.all((there.angles > lower - 1e-6) & (there.angles < upper + 1e-6))
        shown = _place(mannequin, mannequin.take(there.base, there.angles), limb)
        assert np.linalg.norm(shown - start - BESIDE) == pytest.approx(there.missed_m, abs=1e-9)
        assert reach.to(start).angles == pytest.approx(angles, abs=0.05)


def test_planted_feet_stay_even_where_the_point_cannot_be_reached(
    posed: tuple[Mannequin, Floats, Stance],
) -> None:
    mannequin, angles, stance = posed
    limb = mannequin.limbs[-1]
    feet = mannequin.robot.feet
    moving = mannequin.robot.joint_names
    reach = Reach(mannequin, stance, angles, limb.link, limb.point, moving=moving, planted=feet)
    reached = reach.to(_place(mannequin, stance, limb) + 1.0)
    assert reached.missed_m > 0.5
    links = [mannequin.links.index(foot) for foot in feet]
    moved = mannequin.take(reached.base, reached.angles).positions[links] - stance.positions[links]
    assert np.abs(moved).max() < 3e-3


def test_a_foot_comes_to_where_the_closed_form_has_it() -> None:
    mannequin, angles, stance = _posed("sony_ers7")
    card, random = mannequin.robot, np.random.default_rng(18)
    trunk = rotation_matrices(stance.base[3:])
    for leg in legs_of(card):
        columns = list(leg.indices)
        lower, upper = (limit[columns] for limit in card.limits)
        reach = Reach(mannequin, stance, angles, leg.foot, (0.0, 0.0, 0.0), moving=card.joint_names)
        turned = np.clip(angles[columns] + random.uniform(-0.5, 0.5, (20, 3)), lower, upper)
        feet = leg.forward(turned)
        bent = np.isclose(leg.inverse(feet), turned, atol=1e-6).all(
            axis=-1
        )  # the knee also bends the other way
        for foot in feet[bent]:
            found = reach.to(stance.base[:3] + trunk @ foot).angles[columns]
            assert np.linalg.norm(leg.forward(found) - foot) < 5e-4


def test_a_step_of_a_drag_is_little_work() -> None:
    mannequin, angles, stance = _posed("sony_ers7")
    limb, feet = mannequin.limbs[0], mannequin.robot.feet
    moving = mannequin.robot.joint_names
    reach = Reach(mannequin, stance, angles, limb.link, limb.point, moving=moving, planted=feet)
    start = _place(mannequin, stance, limb)
    n_calls = []
    for step in range(20):
        with Calls() as calls:
            reach.to(start - np.array([0.0, 0.0, 0.003 * step]))
        n_calls.append(calls.count)
    assert np.median(n_calls) < 5_000
