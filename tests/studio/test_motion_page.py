"""In the browser: a motion's fields, pages, curves and lights are worked by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.formats import FORMATS, WriteOptions, read_motion_file

Shipped = Callable[[str], Path]


def pose_of(studio: Any, keyframe: int, joint: str) -> float:
    motion = studio.session.topics["motion"]
    return float(motion["keyframes"][keyframe]["pose"][motion["joints"].index(joint)])


def test_a_mark_of_a_curve_is_dragged_and_turned_by_keys_and_one_undo_takes_the_drag_back(
    shipped: Shipped, studio_of: Any, page_of: Any, settled: Any
) -> None:
    studio = studio_of(shipped("walk_forward"))
    page = page_of(studio)
    page.get_by_role("tab", name="Curves").click()
    page.get_by_role("checkbox", name="right knee", exact=True).check()
    mark = page.locator('[data-joint=right_knee] [data-keyframe="1"]')
    mark.wait_for()
    box = mark.evaluate("mark => mark.getBoundingClientRect().toJSON()")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = pose_of(studio, 1, "right_knee")
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x, y - 3 * step)
    page.mouse.up()
    page.wait_for_function("document.getElementById('undo').title.includes('right_knee')")
    page.wait_for_selector('[data-joint=right_knee] .mark.now[data-keyframe="1"]')
    settled(page)
    dragged = pose_of(studio, 1, "right_knee")
    assert dragged > before + 1.0
    page.locator("[data-joint=right_knee] .mark.now").focus()
    page.keyboard.press("ArrowDown")
    told = page.locator("[data-joint=right_knee] .mark.now[tabindex]")
    page.wait_for_function("([mark, was]) => document.querySelector(mark).ariaValueNow < was", arg=[
        "[data-joint=right_knee] .mark.now", dragged,
    ])  # fmt: skip
    assert told.evaluate("mark => mark === document.activeElement")
    assert pose_of(studio, 1, "right_knee") == pytest.approx(dragged - 1.0, abs=0.02)
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("#undo:disabled")
    assert pose_of(studio, 1, "right_knee") == pytest.approx(before)


def test_what_is_too_fast_is_said_in_words_and_a_click_looks_at_it(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    page = page_of(studio_of(shipped("walk_forward")))
    page.get_by_role("tab", name="Motion").last.click()
    page.locator("#motion-speed").fill("9")
    page.locator("#motion-speed").press("Enter")
    page.get_by_role("tab", name="Curves").click()
    found = page.get_by_role("button", name="too fast into").first
    found.click()
    place = found.inner_text().split("too fast into ")[1].split(":")[0]
    page.wait_for_selector(f'#curve-rows .mark.now[data-keyframe="{int(place) - 1}"]')


def test_pages_are_searched_chosen_and_duplicated_and_what_they_lead_to_is_drawn(
    shipped: Shipped, tmp_path: Path, studio_of: Any, page_of: Any
) -> None:
    motion = read_motion_file(shipped("walk_forward")).motion()
    path = tmp_path / "opened" / "walk.mtn"
    path.write_bytes(FORMATS["roboplus-mtn"].render(motion, path, WriteOptions()).data)
    studio = studio_of(path)
    page = page_of(studio)
    page.get_by_role("tab", name="Motion").last.click()
    page.locator("#page-duplicate").click()
    page.wait_for_function("document.getElementById('page-number').value === '2'")
    page.locator("#motion-name").fill("second")
    page.locator("#motion-name").press("Tab")
    page.get_by_label("Search pages").fill("sec")
    page.wait_for_function("document.querySelectorAll('#page-list option').length === 1")
    page.get_by_role("checkbox", name="for ever").uncheck()
    page.get_by_label("Then plays").fill("1")
    page.get_by_label("Then plays").press("Tab")
    page.locator("#page-graph").get_by_role("button", name="walk_forward").click()
    page.wait_for_function("document.getElementById('page-number').value === '1'")
    links = studio.session.topics["links"]["links"]
    assert links["2"] == {"repeat": 1, "next": "1", "exit": None}


def test_a_light_is_given_a_colour_at_the_keyframe_looked_at(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    studio = studio_of(shipped("play_bow"))
    page = page_of(studio)
    page.get_by_role("tab", name="Lights").click()
    page.get_by_label("Colour of face 13").fill("#ff0000")
    page.wait_for_selector("#lights .lit")
    assert studio.session.topics["motion"]["keyframes"][0]["lights"] == {"face_13": (255.0, 0.0, 0.0)}
    page.get_by_label("Set face 13 at this keyframe").uncheck()
    page.wait_for_selector("#lights .lit", state="detached")
    assert studio.session.topics["motion"]["keyframes"][0]["lights"] is None


def test_a_robot_without_lights_has_no_track_of_them(shipped: Shipped, studio_of: Any, page_of: Any) -> None:
    page = page_of(studio_of(shipped("walk_forward")))
    assert page.get_by_role("tab", name="Lights").is_hidden()
