"""Tangents in the studio: handles and numbers of the curves, and edits that keep a curve as it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.motions import Motion, Tangent

JOINT = "left_elbow"


@pytest.fixture
def studio(shipped: Callable[[str], Path], studio_of: Any) -> Any:
    """A walk that goes through its keyframes on splines, slowly."""
    path = shipped("walk_forward")
    path.write_text(
        path.read_text().replace("easing: linear", "easing: pchip").replace("reach_s: 0.125", "reach_s: 0.5")
    )
    return studio_of(path)


def motion_of(studio: Any) -> Motion:
    motion: Motion = studio.session.document.pages.motion(1)
    return motion


def tangent_of(studio: Any, keyframe: int, joint: str = JOINT) -> Tangent | None:
    return (motion_of(studio).keyframes[keyframe].tangents or {}).get(joint)


def test_one_speed_of_a_tangent_is_set_and_the_other_stays_as_computed_until_both_are_again(
    studio: Any, window_of: Any
) -> None:
    window = window_of(studio)
    arriving, leaving = motion_of(studio).spline_tangents()
    column = motion_of(studio).joints.index("left_knee")
    window.edit("set_tangent", page=1, keyframe=1, joint="left_knee", arrive_deg_s=30.0)
    assert tangent_of(studio, 1, "left_knee") == pytest.approx((math.radians(30.0), leaving[1, column]))
    sampled = window.ask("curves.sample", joints=["left_knee"])["joints"]["left_knee"]
    assert sampled["tangents_deg_s"][1] == pytest.approx([30.0, math.degrees(leaving[1, column])], abs=1e-3)
    assert window.topics["motion"]["keyframes"][1]["tangents"]["left_knee"][0] == 30.0
    window.edit("set_tangent", page=1, keyframe=1, joint="left_knee", is_computed=True)
    assert tangent_of(studio, 1, "left_knee") is None
    assert (motion_of(studio).spline_tangents()[0] == arriving).all()
    assert (
        "left_tail"
        in window.answer(
            "session.edit", command="set_tangent", arguments={"page": 1, "keyframe": 1, "joint": "left_tail"}
        )["error"]["message"]
    )


def test_a_keyframe_added_on_a_curve_and_a_stretched_curve_keep_its_shape(
    studio: Any, window_of: Any
) -> None:
    window = window_of(studio)
    for keyframe, speed in ((1, 40.0), (2, -25.0)):
        window.edit(
            "set_tangent", page=1, keyframe=keyframe, joint=JOINT, arrive_deg_s=speed, leave_deg_s=speed
        )
    column = motion_of(studio).joints.index(JOINT)
    times = np.linspace(1.0, 1.5, 60)
    before = motion_of(studio).sample_at(times).angles[:, column]
    window.ask("player.seek", time_s=1.2)
    window.ask("timeline.add")
    assert len(motion_of(studio).keyframes) == 5
    assert motion_of(studio).sample_at(times).angles[:, column] == pytest.approx(before, abs=1e-6)
    window.edit("stretch_keyframes", page=1, keyframes=[0, 1, 2, 3, 4], factor=2.0)
    assert motion_of(studio).sample_at(2.0 * times).angles[:, column] == pytest.approx(before, abs=1e-6)
    copied = window.ask("timeline.copy")
    window.ask("timeline.paste", text=copied)
    assert tangent_of(studio, studio.session.cursor.keyframe) is not None
    window.edit("set_joints", page=1, joints=["left_knee", "right_knee"])
    assert all(frame.tangents is None for frame in motion_of(studio).keyframes)


def test_handles_are_dragged_both_at_once_or_one_and_numbers_typed(
    studio: Any, page_of: Any, settled: Callable[[Any], None]
) -> None:
    page = page_of(studio)
    page.get_by_role("option", name="Keyframe 2:").click()
    page.get_by_role("tab", name="Curves").click()
    page.wait_for_selector("circle.handle")
    joint = page.locator("#curve-rows [data-joint]").first.get_attribute("data-joint")

    def drag_handle(side: int, pixels: float) -> None:
        box = page.locator(f"circle.handle[data-side='{side}']").first.bounding_box()
        x, y = box["x"] + box["width"] / 2.0, box["y"] + box["height"] / 2.0
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + pixels, steps=3)
        page.mouse.up()
        settled(page)

    drag_handle(1, -20.0)
    both = tangent_of(studio, 1, joint)
    assert both is not None
    assert both.arrive_rad_s == both.leave_rad_s > 0.0
    page.keyboard.down("Alt")
    drag_handle(1, -15.0)
    page.keyboard.up("Alt")
    alone = tangent_of(studio, 1, joint)
    assert alone is not None
    assert alone.arrive_rad_s == both.arrive_rad_s
    assert alone.leave_rad_s > both.leave_rad_s
    arrives = page.locator("#curve-rows input").first
    arrives.fill("12")
    arrives.press("Enter")
    settled(page)
    typed = tangent_of(studio, 1, joint)
    assert typed == pytest.approx((math.radians(12.0), alone.leave_rad_s))
    for expected in (alone, both, None):
        page.locator("#undo").click()
        settled(page)
        assert tangent_of(studio, 1, joint) == expected
