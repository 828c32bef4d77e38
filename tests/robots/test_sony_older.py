"""The cards of the older AIBOs, which have no model, against Sony's files and each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from posewright.robots import robot

OLDER = ("sony_ers110", "sony_ers210", "sony_ers220")


def test_a_motion_of_the_ers111_lists_the_joints_in_the_cards_order(omtn: Callable[[str], Any]) -> None:
    label, locators, keyframes = omtn("aibo_mtn/ers111_cd_1.mtn")
    ers110 = robot("sony_ers110")
    assert [ers110.naming("open_r")[locator] for locator in locators] == list(ers110.design(label))
    assert keyframes[0].tolist() == np.rint(ers110.to_ticks(ers110.pose("stand"))).tolist()
    angles = ers110.from_ticks(keyframes.astype(np.float64))
    assert ((ers110.limits[0] <= angles) & (angles <= ers110.limits[1])).all()


def test_that_motion_tilts_the_head_to_a_side(omtn: Callable[[str], Any]) -> None:
    keyframes = omtn("aibo_mtn/ers111_cd_1.mtn").keyframes
    moving = np.ptp(keyframes, axis=0).argmax()
    assert robot("sony_ers110").joint_names[moving] == "head_roll"


@pytest.mark.parametrize("name", OLDER)
def test_what_has_the_same_name_means_the_same_as_on_the_ers7(name: str) -> None:
    shared = set(robot(name).joint_names) & set(robot("sony_ers7").joint_names)
    assert len(shared) >= 14
    assert set(robot(name).joint_names) - shared == {"head_roll"}
    for pair in robot(name).mirror_pairs:
        if pair.left in shared:
            assert pair in robot("sony_ers7").mirror_pairs


@pytest.mark.parametrize("name", OLDER)
def test_parts_of_a_design_are_named_after_the_whole(name: str) -> None:
    design, *parts = robot(name).designs
    assert all(part.startswith(f"{design}_") for part in parts)
    assert robot(name).design(f"{design}_Legs") == robot(name).group("legs")
    assert len(robot(name).design(f"{design}_Legs")) == 12


def test_the_ers210_and_the_ers220_differ_in_ears_mouth_and_tail() -> None:
    extra_joints = set(robot("sony_ers210").joint_names) - set(robot("sony_ers220").joint_names)
    assert extra_joints == {"left_ear", "right_ear", "mouth", "tail_pan", "tail_tilt"}
    ers210, ers220 = robot("sony_ers210").naming("open_r"), robot("sony_ers220").naming("open_r")
    assert all(ers210[locator] == joint for locator, joint in ers220.items())
