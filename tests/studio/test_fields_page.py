"""Fields show what the document holds: after undo, beyond a limit, and when another window changes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.robots import robot

Shipped = Callable[[str], Path]

ROLL = "left hip roll"


@pytest.fixture
def walk(shipped: Shipped, studio_of: Any) -> Any:
    return studio_of(shipped("walk_forward"))


def field(page: Any, label: str) -> Any:
    return page.get_by_label(label, exact=True)


def enter(page: Any, label: str, text: str) -> None:
    """Type a text into a field and press Enter, as a person does."""
    field(page, label).click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def shows(page: Any, label: str, number: float) -> None:
    """Wait until a field shows a number."""
    value = "document.querySelector(`[aria-label='${label}']`).value"
    page.wait_for_function(f"([label, number]) => Math.abs({value} - number) < 0.006", arg=[label, number])


def test_an_undone_number_is_shown_as_it_was_while_its_field_has_the_focus(
    walk: Any, page_of: Any, settled: Any
) -> None:
    page = page_of(walk)
    label = f"{ROLL} [deg]"
    before = float(field(page, label).input_value())
    for _ in range(2):
        enter(page, label, "20")
        settled(page)
        assert field(page, label).input_value() == "20"
        page.keyboard.press("Control+z")
        shows(page, label, before)
    page.keyboard.press("Control+y")
    shows(page, label, 20.0)


def test_a_number_beyond_a_limit_is_shown_as_the_limit_and_that_is_said(
    walk: Any, page_of: Any, settled: Any
) -> None:
    page = page_of(walk)
    limit = round(robot("robotis_bioloid").joint("left_hip_roll").upper_rad * 57.29578, 2)
    enter(page, f"{ROLL} [deg]", "999")
    shows(page, f"{ROLL} [deg]", limit)
    settled(page)
    said = page.locator("#messages .wrong").inner_text()
    assert f"{ROLL} [deg]: 999 is above" in said
    assert f"it is {limit:g} now" in said


def test_what_another_window_does_is_shown_in_a_field_that_has_the_focus(
    walk: Any, page_of: Any, settled: Any
) -> None:
    page, other = page_of(walk), page_of(walk)
    label = f"{ROLL} [deg]"
    before = float(field(page, label).input_value())
    enter(page, label, "20")
    settled(page)
    other.bring_to_front()
    other.click("#undo")
    shows(page, label, before)
    field(page, label).click()
    page.keyboard.type("4")
    half = field(page, label).input_value()
    other.click("#redo")
    settled(other)
    settled(page)
    assert field(page, label).input_value() == half, "what somebody types is theirs"
    page.keyboard.press("Escape")
    shows(page, label, 20.0)


def test_no_undo_takes_away_recovered_edits_or_their_draft(
    shipped: Shipped, studio_of: Any, page_of: Any, window_of: Any, settled: Any
) -> None:
    path = shipped("walk_forward")
    first = studio_of(path)
    window_of(first).edit("set_angles", page=1, keyframe=0, angles_deg={"left_hip_roll": 11.0})
    first.close()
    page = page_of(studio_of(path))
    page.get_by_role("button", name="Recover").click()
    label = f"{ROLL} [deg]"
    shows(page, label, 11.0)
    enter(page, label, "20")
    settled(page)
    page.keyboard.press("Control+z")
    shows(page, label, 11.0)
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.wait_for_timeout(2500)
    shows(page, label, 11.0)
    assert page.evaluate("document.body.dataset.dirty") == "true"
    assert len(list(path.parent.glob(".*.autosave"))) == 1


def test_fields_of_keyframes_and_of_the_motion_show_what_is_too(
    walk: Any, page_of: Any, window_of: Any, settled: Any
) -> None:
    page, window = page_of(walk), window_of(walk)
    name = window.topics["motion"]["name"]
    page.get_by_role("tab", name="Keyframe").click()
    reach = page.get_by_label("Way into it [s]")
    before = reach.input_value()
    reach.fill("0.75")
    reach.press("Enter")
    settled(page)
    page.keyboard.press("Control+z")
    settled(page)
    assert reach.input_value() == before
    reach.fill("-3")
    reach.press("Enter")
    settled(page)
    assert reach.input_value() == before
    page.get_by_role("tab", name="Motion", exact=True).click()
    page.locator("#motion-name").fill("  other ")
    page.locator("#motion-name").press("Enter")
    settled(page)
    assert page.locator("#motion-name").input_value() == "other"
    window.ask("session.undo")
    settled(page)
    assert page.locator("#motion-name").input_value() == name


def test_title_values_and_edits_of_the_pose_are_of_the_same_keyframe_after_playing(
    walk: Any, page_of: Any, window_of: Any, settled: Any
) -> None:
    page, window = page_of(walk), window_of(walk)
    label = f"{ROLL} [deg]"
    page.get_by_role("option", name="Keyframe 2:").click()
    page.get_by_text("Pose of keyframe 2").wait_for()
    settled(page)
    column = window.topics["motion"]["joints"].index("left_hip_roll")
    own = window.topics["motion"]["keyframes"][1]["pose"][column]
    page.get_by_role("button", name="Play", exact=True).click()
    window.until(lambda topics: not topics["player"]["playing"])
    window.ask("player.seek", time_s=window.topics["player"]["duration_s"])
    settled(page)
    assert page.locator("h2:visible").first.inner_text() == "Pose of keyframe 2"
    shows(page, label, own)
    assert page.locator("#pose-elsewhere").is_visible()
    enter(page, label, "7")
    settled(page)
    angles = [frame["pose"][column] for frame in window.topics["motion"]["keyframes"]]
    assert [index for index, angle in enumerate(angles) if angle == 7.0] == [1]
    assert page.locator("#pose-elsewhere").is_hidden()
    index = walk.session.document.robot.index("left_hip_roll")
    assert walk.context.scene.angles[index] == pytest.approx(0.12217, abs=1e-4), "the view shows it"


def test_a_keyframe_that_is_jumped_from_shows_its_own_pose(walk: Any, window_of: Any) -> None:
    """A keyframe without a duration shares the time of the one before it."""
    window = window_of(walk)
    window.edit("set_keyframes", page=1, keyframes=[1], reach_s=0.0)
    window.edit("set_angles", page=1, keyframe=0, angles_deg={"left_hip_roll": 3.0})
    window.edit("set_angles", page=1, keyframe=1, angles_deg={"left_hip_roll": 9.0})
    index = walk.session.document.robot.index("left_hip_roll")
    for keyframe, degrees in ((0, 3.0), (1, 9.0)):
        window.ask("session.look", keyframe=keyframe)
        assert window.topics["pose"][index] == pytest.approx(degrees)
        assert walk.context.scene.angles[index] * 57.29578 == pytest.approx(degrees, abs=1e-3)
