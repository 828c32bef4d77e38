"""The pose list and the teach tab in a real browser, by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shipped = Callable[[str], Path]

KNEE, ELEVATOR = "left front knee", "left front elevator"


@pytest.fixture
def kick(shipped: Shipped, studio_of: Any) -> Any:
    return studio_of(shipped("kick_right"))


def angle(studio: Any, joint: str) -> float:
    """Return where a joint is asked to in the first keyframe [deg]."""
    topic = studio.session.topics["motion"]
    return float(topic["keyframes"][0]["pose"][topic["joints"].index(joint)])


def test_a_slider_is_dragged_and_one_undo_takes_it_back(kick: Any, page_of: Any, settled: Any) -> None:
    page = page_of(kick)
    before = angle(kick, "left_front_knee")
    slider = page.get_by_label(f"{KNEE}, slider")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    x, y = box["x"], box["y"] + box["height"] / 2.0
    page.mouse.move(x + box["width"] * 0.375, y)
    page.mouse.down()
    for share in (0.5, 0.6, 0.7, 0.8):
        page.mouse.move(x + box["width"] * share, y)
    page.mouse.up()
    page.wait_for_function("document.querySelector('#undo').title.includes('left_front_knee')")
    settled(page)
    assert angle(kick, "left_front_knee") == pytest.approx(97.0, abs=6.0)
    page.click("#undo")
    page.wait_for_function("document.querySelector('#undo').disabled")
    settled(page)
    assert angle(kick, "left_front_knee") == before
    assert page.get_by_label(f"{KNEE} [deg]").input_value() == f"{before:g}"


def test_numbers_states_and_both_sides_are_reached_by_keyboard(kick: Any, page_of: Any) -> None:
    page = page_of(kick)
    page.get_by_label("Both sides").focus()
    page.keyboard.press("Space")
    page.get_by_label("left front rotator [deg]").fill("-90")
    page.keyboard.press("Enter")
    page.get_by_label(f"{ELEVATOR} [deg]").fill("-10")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('.beyond:not([hidden])').length === 2")
    told = page.locator(".beyond:visible").first.text_content()
    assert "with left front rotator at -90.0° it goes no lower than -1.0°" in told
    assert angle(kick, "right_front_elevator") == -10.0
    page.get_by_label(f"{KNEE} is").select_option("free")
    page.wait_for_selector(".joint[data-state=free] >> nth=1")
    page.get_by_label("left ear is").select_option("angle")
    page.wait_for_function("!document.querySelector('[aria-label=\"left ear, slider\"]').disabled")
    assert "left_ear" in kick.session.topics["motion"]["joints"]
    page.click("#undo")
    page.wait_for_function("document.querySelector('[aria-label=\"left ear, slider\"]').disabled")


def test_a_pose_is_caught_from_a_body_without_touching_the_mouse(kick: Any, page_of: Any) -> None:
    page = page_of(kick)
    page.get_by_role("tab", name="Teach").click()
    page.get_by_label("Body").select_option("mock")
    page.locator("#teach-connect").press("Enter")
    page.locator("#teach-limbs").wait_for()
    page.get_by_label("Let go of head").press("Enter")
    page.get_by_label("Joint that the hand turns").select_option("head_pan")
    page.get_by_label("Where the hand turns it").fill("40")
    kick.session.do_and_wait(lambda: None)
    place = kick.session.document.robot.index("head_pan")
    for _ in range(200):
        if abs(kick.session.topics["body"][place] - 40.0) < 0.5:
            break
        page.wait_for_timeout(20)
    page.locator("#teach-into").press("Enter")
    page.get_by_text("caught into keyframe 1").wait_for()
    assert angle(kick, "head_pan") == pytest.approx(40.0, abs=0.5)
