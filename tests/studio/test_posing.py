"""Limbs that are taken hold of, and what the 3-D view says of how the robot stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.studio.studio import Studio

Shipped = Callable[[str], Path]


@pytest.fixture
def walk(shipped: Shipped, studio_of: Any) -> Studio:
    studio: Studio = studio_of(shipped("walk_forward"))
    return studio


def test_a_foot_that_is_moved_takes_its_leg_along_and_nothing_else(walk: Studio, window_of: Any) -> None:
    window = window_of(walk)
    before = window.topics["motion"]
    assert window.ask("posing.move", limb="right_leg", up_mm=15.0) < 0.5
    turned = {
        name
        for name, old, new in zip(
            before["joints"], before["keyframes"][0]["pose"], window.topics["motion"]["keyframes"][0]["pose"],
            strict=True,
        )
        if old != new
    }  # fmt: skip
    assert "right_knee" in turned
    assert turned <= set(walk.session.document.robot.group("right_leg"))
    window.ask("session.undo")
    assert window.topics["motion"] == before


def test_steps_of_one_gesture_are_undone_as_one(walk: Studio, window_of: Any) -> None:
    window = window_of(walk)
    before = window.topics["motion"]
    for _ in range(3):
        window.ask("posing.move", limb="left_arm", forward_mm=10.0, gesture="keys 1")
    window.ask("session.undo")
    assert window.topics["motion"] == before


def test_held_and_free_joints_stay(walk: Studio, window_of: Any) -> None:
    window = window_of(walk)
    joints = window.topics["motion"]["joints"]
    arm = walk.session.document.robot.group("left_arm")
    window.edit("leave_joints", page=1, keyframe=0, joints=list(arm[:1]), left="held")
    before = window.topics["motion"]["keyframes"][0]["pose"]
    window.ask("posing.move", limb="left_arm", up_mm=20.0)
    after = window.topics["motion"]["keyframes"][0]["pose"]
    assert after[joints.index(arm[0])] is None
    assert after[joints.index(arm[2])] != before[joints.index(arm[2])]
    window.edit("leave_joints", page=1, keyframe=0, joints=list(arm), left="held")
    refused = window.answer("posing.move", limb="left_arm", up_mm=20.0)
    assert "held, free" in refused["error"]["message"]


def test_a_body_that_is_pulled_down_bends_its_legs_over_feet_that_stay(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    studio = studio_of(shipped("kick_right"))
    window, stage = window_of(studio), studio.context.scene
    window.ask("session.look", keyframe=1)
    feet = [stage.kinematic_model.links.index(foot) for foot in stage.robot.feet]
    apart = np.diff(stage.stance.positions[feet], axis=0)
    height = stage.stance.base[2]
    assert window.ask("posing.move", limb="body", up_mm=-20.0) < 0.5
    assert stage.stance.base[2] == pytest.approx(height - 0.020, abs=0.001)
    assert np.diff(stage.stance.positions[feet], axis=0) == pytest.approx(apart, abs=2e-3)


def test_balance_is_said_in_words(walk: Studio, window_of: Any) -> None:
    window = window_of(walk)
    assert window.topics["balance"]["margin_mm"] > 0
    assert "inside the support" in window.topics["balance"]["words"]
    robot = walk.session.document.robot
    bent = dict(zip(robot.joint_names, np.rad2deg(robot.pose("stand")).tolist(), strict=True))
    bent |= {"right_hip_pitch": -125.0, "left_hip_pitch": -125.0}
    window.edit("set_angles", page=1, keyframe=0, angles_deg=bent)
    assert window.topics["balance"]["margin_mm"] < 0
    assert "outside the support" in window.topics["balance"]["words"]


def test_ghosts_are_there_while_wanted_and_do_not_move_the_robot(walk: Studio, window_of: Any) -> None:
    window = window_of(walk)
    scene, stance = walk.context.scene.viser.scene, walk.context.scene.stance
    window.ask("session.look", keyframe=1)
    there = walk.context.scene.stance
    window.ask("posing.ghosts", on=True)
    assert "/ghost1" in scene._handle_from_node_name
    assert walk.context.scene.stance is there is not stance
    window.ask("posing.ghosts", on=False)
    assert "/ghost1" not in scene._handle_from_node_name


@pytest.mark.parametrize("view", ["front", "side", "top", "whole"])
def test_the_camera_goes_where_it_is_told(walk: Studio, window_of: Any, view: str) -> None:
    assert window_of(walk).ask("posing.camera", view=view) is None
    assert "error" in window_of(walk).answer("posing.camera", view="below")


def test_a_stance_foot_is_chosen_and_the_margin_is_said_for_it(walk: Studio, window_of: Any) -> None:
    window = window_of(walk)
    assert set(window.topics["posing"]["stances"]) == {"left_foot", "right_foot"}
    window.ask("posing.stand_on", foot="left_foot")
    assert window.topics["posing"]["stance"] == "left_foot"
    assert "the left foot" in window.topics["balance"]["words"]
    assert "its sole" in window.topics["balance"]["words"]
    assert "unknown foot" in window.answer("posing.stand_on", foot="left_ear")["error"]["message"]
    window.ask("posing.stand_on", foot="")
    assert "the support" in window.topics["balance"]["words"]
