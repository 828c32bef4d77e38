"""The page's files, in a browser: saved by a key, opened from cards, exported with losses told, dropped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.formats import create_archive, read_motion

Shipped = Callable[[str], Path]


@pytest.fixture
def bow(shipped: Shipped) -> Path:
    return shipped("play_bow")


def turn(page: Any, degrees: str) -> None:
    page.locator("#joints input[type=number][aria-label^='head pan']").fill(degrees)
    page.keyboard.press("Enter")
    page.wait_for_function("document.body.dataset.dirty === 'true'")


DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_an_edit_is_saved_by_a_key_and_a_file_that_changed_is_asked_about(
    bow: Path, studio_of: Any, page_of: Any
) -> None:
    page = page_of(studio_of(bow))
    turn(page, "12.5")
    page.keyboard.press("Control+s")
    page.wait_for_function("document.body.dataset.dirty === 'false'")
    assert read_motion(bow).keyframes[0].pose.angle("head_pan") == pytest.approx(0.21817, abs=1e-4)
    theirs = bow.read_text() + "# theirs\n"
    bow.write_text(theirs)
    page.locator("#notice-changed").wait_for()
    turn(page, "20")
    page.keyboard.press("Control+s")
    page.get_by_role("dialog").get_by_text("somebody else").wait_for()
    page.get_by_role("button", name="Cancel").click()
    assert bow.read_text() == theirs
    page.get_by_role("button", name="Read it again").click()
    page.get_by_role("button", name="Go on without saving").click()
    page.wait_for_function("document.body.dataset.dirty === 'false'")
    page.get_by_role("button", name="Recover").click()
    page.wait_for_function("document.body.dataset.dirty === 'true'")
    with page.expect_event("dialog") as asked:
        page.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.accept()


def test_a_motion_that_could_harm_the_robot_is_asked_about_before_it_is_saved(
    bow: Path, studio_of: Any, page_of: Any
) -> None:
    archive = bow.with_name("MOTION7.ODA")
    create_archive(archive, [bow], accept_loss=True)
    before = archive.read_bytes()
    page = page_of(studio_of(archive))
    page.evaluate(
        """async angles => { const { edit, value } = await import("./link.js");
        await edit("set_angles", { page: value("cursor").page, keyframe: 1, angles_deg: angles }); }""",
        {"left_front_knee": 122.0},
    )
    page.wait_for_function("document.body.dataset.dirty === 'true'")
    page.keyboard.press("Control+s")
    page.get_by_role("dialog").get_by_text("could harm the robot").wait_for()
    page.keyboard.press("Enter")  # presses what does no harm
    page.wait_for_selector("dialog", state="detached")
    assert archive.read_bytes() == before
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Save it all the same").click()
    page.wait_for_function("document.body.dataset.dirty === 'false'")
    assert archive.read_bytes() != before
    assert archive.with_name("MOTION7.ODA.bak").read_bytes() == before
    page.locator("#file-export").click()
    page.get_by_label("Format").select_option("aibo-omtn")
    page.get_by_role("dialog").get_by_text("could harm the robot").wait_for()
    page.get_by_label("File name").press("Enter")
    page.get_by_role("dialog", name="Export: this could harm the robot").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog >> nth=1", state="detached")
    assert [path.name for path in archive.parent.glob("*.omtn")] == []


def test_ctrl_s_saves_what_the_mode_shows(bow: Path, studio_of: Any, page_of: Any) -> None:
    page = page_of(studio_of(bow))
    page.on("dialog", lambda asked: asked.accept("mine.gait.yaml"))
    page.locator("#mode-gait").click()
    page.wait_for_selector("#gait-open:visible")
    page.keyboard.press("Control+s")
    page.wait_for_selector("#messages >> text=Saved mine.gait.yaml")
    assert bow.with_name("mine.gait.yaml").is_file()
    page.locator("#mode-trial").click()
    page.wait_for_selector("body[data-mode=trial]")
    page.keyboard.press("Control+s")
    page.wait_for_selector("#messages >> text=there is no recording to save")


def test_the_page_keeps_to_its_own_policy(bow: Path, studio_of: Any, browser: Any) -> None:
    context = browser.new_context()
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    page.route("**/view?**", lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto(studio_of(bow).url)
    page.locator(".joint").first.wait_for()
    for tab in page.get_by_role("tab").all():
        if tab.is_visible():
            tab.click()
    page.locator("#file-open").click()
    page.locator(".card img").first.wait_for()
    context.close()
    assert wrong == []


def test_files_are_found_by_keyboard_begun_exported_and_dropped(
    bow: Path, shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    shipped("kick_right")
    page = page_of(studio_of(bow))
    page.keyboard.press("Control+o")
    page.locator(".card img").first.wait_for()
    page.keyboard.type("kick")
    assert page.locator(".card:visible").count() == 1
    page.locator(".card:visible").press("Enter")
    page.locator("#file-state", has_text="kick_right.motion.yaml").wait_for()

    page.locator("#file-export").click()
    page.get_by_role("dialog").get_by_label("Format").select_option("ekmoves-h")
    page.locator(".losses li").first.wait_for()
    assert not (bow.parent / "kick_right.h").exists()
    page.locator("dialog button.main").click()
    page.get_by_text("Exported to").wait_for()
    assert read_motion(bow.parent / "kick_right.h").robot == "sony_ers7"

    page.evaluate(DROP, ["bad.mtn", "\0" * 512])
    page.locator("#messages .wrong").wait_for()
    assert page.locator("#file-state").inner_text().startswith("kick_right")
    page.evaluate(DROP, ["walk.motion.yaml", (bow.parent / "play_bow.motion.yaml").read_text()])
    page.locator("#file-state", has_text="walk.motion.yaml · not saved yet").wait_for()

    page.locator("#file-new").click()
    page.get_by_role("dialog").get_by_label("Name").fill("My kick")
    page.get_by_role("dialog").get_by_label("Robot").select_option("robotis_bioloid")
    page.get_by_role("button", name="Begin").click()
    page.locator("#file-state", has_text="My_kick.motion.yaml").wait_for()
