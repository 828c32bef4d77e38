"""The time line in a browser: keyframes by keyboard alone, edges by mouse, and the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from posewright.formats import read_motion_file, write_motion

Shipped = Callable[[str], Path]


@pytest.fixture
def bow(shipped: Shipped, studio_of: Any) -> Any:
    return studio_of(shipped("play_bow"))


def wait_for(page: Any, window: Any, is_so: Callable[[], bool]) -> None:
    """Wait until the page has asked for something, and it was done."""
    for _ in range(100):
        if window.studio.session.do_and_wait(is_so):
            return
        page.wait_for_timeout(30)
    pytest.fail("nothing came of it")


def frames_of(window: Any) -> Any:
    return window.topics["motion"]["keyframes"]


def test_keyframes_are_chosen_added_retimed_moved_and_deleted_by_keyboard(
    bow: Any, window_of: Any, page_of: Any
) -> None:
    window, page = window_of(bow), page_of(bow)
    before = window.topics["motion"]
    count = len(frames_of(window))
    page.locator("#keyframes").focus()
    page.keyboard.press("ArrowRight")
    wait_for(page, window, lambda: window.topics["cursor"]["keyframe"] == 1)
    page.keyboard.press("Insert")
    page.wait_for_selector("#keyframe-2[aria-current]")
    assert len(frames_of(window)) == count + 1
    reach_s = frames_of(window)[2]["reach_s"]
    page.keyboard.press("+")
    wait_for(page, window, lambda: frames_of(window)[2]["reach_s"] == pytest.approx(reach_s + 0.01))
    page.keyboard.press("Shift+ArrowRight")
    wait_for(page, window, lambda: window.topics["cursor"]["selected"] == [2, 3])
    page.keyboard.press("Alt+ArrowLeft")
    wait_for(page, window, lambda: window.topics["cursor"]["selected"] == [1, 2])
    page.keyboard.press("Control+d")
    wait_for(page, window, lambda: len(frames_of(window)) == count + 3)
    page.keyboard.press("Delete")
    wait_for(page, window, lambda: len(frames_of(window)) == count + 1)
    while window.topics["history"]["undo"]:
        window.ask("session.undo")
    assert window.topics["motion"] == before


def test_the_mouse_drags_an_edge_and_a_block_and_scrubs(
    bow: Any, window_of: Any, page_of: Any, settled: Any
) -> None:
    window, page = window_of(bow), page_of(bow)
    before = frames_of(window)
    reach_s = before[1]["reach_s"]
    edge = page.locator("#keyframe-1 .edge[data-edge=reach_s]").bounding_box()
    width = page.locator("#keyframe-1").bounding_box()["width"]
    wanted_s = reach_s + 60 / width * (reach_s + before[1]["pause_s"])
    drag(page, edge["x"] + 5, edge["y"] + 5, by=60)
    # A move of the mouse is asked for once the one before it is answered: an earlier one is not the last one.
    wait_for(page, window, lambda: frames_of(window)[1]["reach_s"] == pytest.approx(wanted_s, abs=0.007))
    wait_for(page, window, lambda: window.topics["cursor"]["keyframe"] == 1)
    window.ask("session.undo")
    assert frames_of(window) == before
    settled(page)
    first, last = (page.locator(f"#keyframe-{place}").bounding_box() for place in (2, 4))
    drag(page, first["x"] + 30, first["y"] + 30, by=last["x"] + last["width"] - first["x"])
    wait_for(page, window, lambda: frames_of(window)[4] == before[2])
    settled(page)
    ruler = page.locator("#ruler").bounding_box()
    page.mouse.click(ruler["x"] + 300, ruler["y"] + 8)
    wait_for(page, window, lambda: 0.0 < window.topics["player"]["time_s"] < 1.0)


def drag(page: Any, x: float, y: float, *, by: float) -> None:
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by / 2, y, steps=4)
    page.mouse.move(x + by, y, steps=4)
    page.mouse.up()


def test_keyframes_are_cut_and_pasted_with_the_keys_everybody_knows(
    bow: Any, window_of: Any, page_of: Any
) -> None:
    window, page = window_of(bow), page_of(bow)
    before = frames_of(window)
    page.locator("#keyframe-3").click()
    page.keyboard.press("Control+x")
    wait_for(page, window, lambda: len(frames_of(window)) == len(before) - 1)
    page.keyboard.press("Control+v")
    wait_for(page, window, lambda: len(frames_of(window)) == len(before))
    assert frames_of(window) == [*before[:3], before[4], before[3]]


def test_space_plays_while_the_view_has_the_focus(bow: Any, window_of: Any, page_of: Any) -> None:
    window, page = window_of(bow), page_of(bow)
    pressed = "new KeyboardEvent('keydown', {key: ' ', bubbles: true, cancelable: true})"
    page.frame(url="**/view?**").evaluate(f"document.dispatchEvent({pressed})")
    wait_for(page, window, lambda: window.topics["player"]["playing"])


def test_fields_set_all_that_is_selected(bow: Any, window_of: Any, page_of: Any) -> None:
    window, page = window_of(bow), page_of(bow)
    page.get_by_role("tab", name="Keyframe").click()
    page.locator("#keyframe-2").click()
    page.locator("#keyframe-3").click(modifiers=["Shift"])
    page.get_by_role("heading", name="2 keyframes of").wait_for()
    page.get_by_label("Speed on the way").select_option("trapezoid")
    wait_for(page, window, lambda: frames_of(window)[3]["easing"] == "trapezoid")
    page.get_by_label("Way into it").fill("0.3")
    page.keyboard.press("Enter")
    wait_for(page, window, lambda: [frame["reach_s"] for frame in frames_of(window)[2:4]] == [0.3, 0.3])
    assert frames_of(window)[2]["easing"] == "trapezoid"
    assert page.get_by_label("All of them").input_value() == "0.6"


def test_of_a_thousand_keyframes_only_some_are_drawn(
    shipped: Shipped, studio_of: Any, page_of: Any, tmp_path: Path
) -> None:
    motion = read_motion_file(shipped("walk_forward")).motion()
    long = replace(motion, keyframes=motion.keyframes * 250, origin=None)
    write_motion(long, tmp_path / "long.motion.yaml")
    page = page_of(studio_of(tmp_path / "long.motion.yaml"))
    page.locator("#keyframes").focus()
    page.keyboard.press("End")
    page.wait_for_selector("#keyframe-999[aria-current]")
    assert page.locator(".block").count() < 400
    for _ in range(9):
        page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function("document.querySelectorAll('.block').length < 100")
