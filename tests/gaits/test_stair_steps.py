"""Steps on stairs: what ships is what the gait makes, and feet and joints go where they should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posewright.errors import DocumentError, UnknownNameError
from posewright.formats import read_motion
from posewright.gaits import StairSteps, stair_gait
from posewright.kinematics import biped_legs_of
from posewright.motions import Motion
from posewright.robots import robot, robot_folder

CARD = robot("robotis_bioloid")
FOLDER = robot_folder(CARD.name)
MADE = StairSteps(stair_gait("climb"), CARD).motions()


def soles(motion: Motion, keyframe: int) -> dict[str, np.ndarray]:
    """Return where the soles are in the trunk's frame."""
    pose = motion.keyframes[keyframe].pose
    return {side: leg.forward(leg.pick_angles(pose.angles))[0] for side, leg in biped_legs_of(CARD).items()}


@pytest.mark.parametrize("name", sorted(MADE))
def test_what_ships_is_what_the_gait_makes(name: str) -> None:
    shipped = read_motion(FOLDER / "motions" / f"{name}.motion.yaml")
    assert len(shipped.keyframes) == len(MADE[name].keyframes)
    for ours, theirs in zip(MADE[name].keyframes, shipped.keyframes, strict=True):
        np.testing.assert_allclose(ours.pose.angles, theirs.pose.angles, atol=np.radians(0.011))


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_step_ends_with_both_feet_side_by_side(name: str) -> None:
    ends = soles(MADE[name], -1)
    assert ends["right"][0] == pytest.approx(ends["left"][0], abs=1e-3)
    assert ends["right"][2] == pytest.approx(ends["left"][2], abs=1e-3)


@pytest.mark.parametrize("name", sorted(MADE))
def test_no_joint_is_asked_for_more_than_it_can(name: str) -> None:
    lower, upper = CARD.hardware_limits
    angles = MADE[name].sample(128.0).angles
    assert (angles >= lower).all()
    assert (angles <= upper).all()


def test_a_step_up_lifts_the_foot_over_the_riser() -> None:
    steps = [soles(MADE["step_up"], index) for index in range(len(MADE["step_up"].keyframes))]
    assert max(float(ends["right"][2] - ends["left"][2]) for ends in steps) > 0.06


def test_a_gait_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="stair gait"):
        stair_gait("leap")


def test_what_is_wrong_in_a_gait_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.stair.yaml"
    text = (FOLDER / "gaits" / "climb.stair.yaml").read_text()
    path.write_text(text.replace("stance_m: 0.0403", "stance_m: -1"))
    with pytest.raises(DocumentError, match=r"stance_m") as told:
        stair_gait(path)
    assert str(path) in str(told.value)
