"""A biped's leg: solving undoes going forward, and MuJoCo's model of the robot says the same."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from posewright.errors import UnreachableError
from posewright.kinematics import LegAngles, biped_legs_of
from posewright.robots import robot

LEGS = biped_legs_of(robot("robotis_bioloid"))
JOINTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")


def angles(count: int) -> list[LegAngles]:
    random = np.random.default_rng(1)
    low, high = [-0.6, -0.4, -1.5, 0.1, -1.2, -0.5], [0.6, 0.4, 0.3, 2.2, 0.5, 0.5]
    return [LegAngles(*row) for row in random.uniform(low, high, (count, 6)).tolist()]


@pytest.mark.parametrize("side", ["right", "left"])
def test_solving_undoes_going_forward(side: str) -> None:
    for wanted in angles(200):
        sole, turn = LEGS[side].forward(wanted)
        again = LEGS[side].forward(LEGS[side].solve(sole, turn))
        np.testing.assert_allclose(again[0], sole, atol=1e-12)
        np.testing.assert_allclose(again[1], turn, atol=1e-12)


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_model_of_the_robot_says_the_same(side: str) -> None:
    card = robot("robotis_bioloid")
    model = mujoco.MjModel.from_xml_path(str(card.model_path))
    data = mujoco.MjData(model)
    data.qpos[:7] = [0, 0, 0, 1, 0, 0, 0]
    for wanted in angles(20):
        for joint, angle in zip(JOINTS, wanted, strict=True):
            data.joint(f"{side}_{joint}").qpos[0] = angle
        mujoco.mj_kinematics(model, data)
        sole, turn = LEGS[side].forward(wanted)
        np.testing.assert_allclose(data.site(f"{side}_foot_sole").xpos, sole, atol=1e-9)
        np.testing.assert_allclose(data.site(f"{side}_foot_sole").xmat.reshape(3, 3), turn, atol=1e-9)


def test_a_foot_too_far_away_is_refused() -> None:
    with pytest.raises(UnreachableError, match=r"from the hip"):
        LEGS["right"].solve(np.array([0.0, -0.033, -0.5]), np.eye(3))
