"""Legs and heads on a card: what contradicts itself is refused with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import InputError
from posewright.kinematics import legs_of
from posewright.robots import describe, read_robot, robot

CARD = Path(robot("sony_ers7").folder or ".") / "robot.yaml"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    folder = tmp_path / "sony_ers7"
    folder.mkdir()
    (folder / "model.xml").write_text("<mujoco/>")
    return folder / "robot.yaml"


@pytest.mark.parametrize(
    ("old", "new", "saying"),
    [
        ("outer_end: front", "outer_end: top", "unknown end 'top'"),
        ("foot: left_front_paw\n", "foot: left_fron_paw\n", "did you mean left_front_paw"),
        (
            "joints: [left_front_rotator, left_front_elevator, left_front_knee]",
            "joints: []",
            "at least one joint",
        ),
        (
            "joints: [left_front_rotator, left_front_elevator,",
            "joints: [left_front_knee, left_front_elevator,",
            "twice",
        ),
        (
            "joints: [left_rear_rotator, left_rear_e",
            "joints: [left_front_rotator, left_rear_e",
            "already in left_front_leg",
        ),
        ("shoulder_m: [0.065, 0.0625, 0]", "shoulder_m: [0.065, 0.0625]", "expected three numbers"),
        (
            "{knee_m: [0.009, 0, -0.0695], foot_m: [-0.0049929",
            "{knee_m: [0, 0.1, 0], foot_m: [-0.0049929",
            "on the axis",
        ),
        ("head_m: [0, 0, 0.08]", "head_m: [0, 0.01, 0.08]", "middle plane"),
        ("camera: head_camera\n  source", "camera: infrared_near\n  source", "unknown camera"),
    ],
)
def test_what_contradicts_itself_is_refused(card: Path, old: str, new: str, saying: str) -> None:
    text = CARD.read_text()
    assert old in text
    card.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=saying) as refused:
        read_robot(card)
    assert refused.value.where is not None
    assert refused.value.where.line is not None


def test_a_leg_is_a_chain_of_any_number_of_joints_and_a_closed_form_of_three(card: Path) -> None:
    old = "joints: [left_front_rotator, left_front_elevator, left_front_knee]"
    card.write_text(CARD.read_text().replace(old, "joints: [left_front_rotator, left_front_knee]", 1))
    read = read_robot(card)
    assert read.legs[0].joints == ("left_front_rotator", "left_front_knee")
    with pytest.raises(InputError, match="left_front_leg has 2 joints"):
        legs_of(read)


def test_legs_come_in_the_order_of_the_feet_and_are_described() -> None:
    ers7 = robot("sony_ers7")
    assert tuple(leg.foot for leg in ers7.legs) == ers7.feet
    described = describe(ers7)
    assert [leg["name"] for leg in described["legs"]][:2] == ["left_front_leg", "left_rear_leg"]
    assert described["head"]["joints"] == ["neck_tilt", "head_pan", "head_tilt"]
    assert describe(robot("robotis_bioloid"))["head"] is None


def test_front_and_rear_and_left_and_right_have_their_own_signs() -> None:
    signs = {leg.name: leg.mirror for leg in robot("sony_ers7").legs}
    assert signs["left_front_leg"] == (1, 1, 1)
    assert signs["right_rear_leg"] == (-1, -1, 1)
