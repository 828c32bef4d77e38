"""A biped's leg: solving undoes going forward, and MuJoCo's models of the robots agree."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from posewright.errors import UnreachableError
from posewright.kinematics import LegAngles, biped_legs_of
from posewright.robots import SIDES, Robot, robot

CARDS = [robot("robotis_bioloid"), robot("hitec_robonova1")]
LEGS = [(card, side) for card in CARDS for side in SIDES]
LEG_IDS = [f"{card.name}-{side}" for card, side in LEGS]
JOINTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")


def angles(count: int, *, has_yaw: bool) -> LegAngles:
    random = np.random.default_rng(1)
    low, high = [-0.6, -0.4, -1.5, 0.1, -1.2, -0.5], [0.6, 0.4, 0.3, 2.2, 0.5, 0.5]
    rows = random.uniform(low, high, (count, 6))
    if not has_yaw:
        rows[:, 0] = 0.0
    return LegAngles(*rows.T)


@pytest.mark.parametrize(("card", "side"), LEGS, ids=LEG_IDS)
def test_solving_undoes_going_forward(card: Robot, side: str) -> None:
    leg = biped_legs_of(card)[side]
    wanted = angles(200, has_yaw=leg.has_yaw)
    sole, turn = leg.forward(wanted)
    sole_again, turn_again = leg.forward(leg.solve(sole, turn))
    np.testing.assert_allclose(sole_again, sole, atol=1e-12)
    np.testing.assert_allclose(turn_again, turn, atol=1e-12)


@pytest.mark.parametrize(("card", "side"), LEGS, ids=LEG_IDS)
def test_many_frames_are_solved_like_each_alone(card: Robot, side: str) -> None:
    leg = biped_legs_of(card)[side]
    sole, turn = leg.forward(angles(5, has_yaw=leg.has_yaw))
    together = np.array(leg.solve(sole, turn)).T
    alone = [np.array(leg.solve(*frame)) for frame in zip(sole, turn, strict=True)]
    np.testing.assert_allclose(together, alone, atol=1e-15)


@pytest.mark.parametrize(("card", "side"), LEGS, ids=LEG_IDS)
def test_the_model_of_the_robot_agrees(card: Robot, side: str) -> None:
    leg = biped_legs_of(card)[side]
    model = mujoco.MjModel.from_xml_path(str(card.model_path))
    data = mujoco.MjData(model)
    data.qpos[:7] = [0, 0, 0, 1, 0, 0, 0]
    for row in np.array(angles(20, has_yaw=leg.has_yaw)).T:
        wanted = LegAngles(*row)
        for joint, angle in zip(JOINTS[-len(leg.joints) :], row[-len(leg.joints) :], strict=True):
            data.joint(f"{side}_{joint}").qpos[0] = angle
        mujoco.mj_kinematics(model, data)
        sole, turn = leg.forward(wanted)
        np.testing.assert_allclose(data.site(f"{side}_foot_sole").xpos, sole, atol=1e-9)
        np.testing.assert_allclose(data.site(f"{side}_foot_sole").xmat.reshape(3, 3), turn, atol=1e-9)
        knee = data.joint(f"{side}_knee").xanchor
        np.testing.assert_allclose(leg.knee_positions(wanted), knee, atol=1e-9)


@pytest.mark.parametrize(("card", "side"), LEGS, ids=LEG_IDS)
def test_a_sole_is_as_large_as_in_the_model(card: Robot, side: str) -> None:
    model = mujoco.MjModel.from_xml_path(str(card.model_path))
    length, width = card.require_biped().sole_size_m
    np.testing.assert_allclose(2.0 * model.geom(f"{side}_sole").size[:2], (length, width), atol=1e-9)


def test_a_foot_too_far_away_is_refused() -> None:
    legs = biped_legs_of(CARDS[0])
    with pytest.raises(UnreachableError, match=r"from the hip"):
        legs["right"].solve(np.array([0.0, -0.033, -0.5]), np.eye(3))
