"""The page comes back after a restart, fits a phone, and is used by keyboard without sixty stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.studio.known_addresses import start_server

Shipped = Callable[[str], Path]


@pytest.fixture
def addresses(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "addresses.json"


def test_a_page_connects_again_after_a_restart(
    shipped: Shipped, studio_of: Any, page_of: Any, addresses: Path
) -> None:
    path = shipped("walk_forward")
    first = studio_of(path, address_file=addresses)
    page = page_of(first)
    page.get_by_label("left hip roll [deg]").fill("12")
    page.keyboard.press("Enter")
    page.wait_for_function("document.body.dataset.dirty === 'true'")
    first.close()
    page.wait_for_selector("body[data-link=closed]")
    second = studio_of(path, address_file=addresses)
    assert second.url == first.url
    page.wait_for_selector("body[data-link=open]")
    page.get_by_role("button", name="Recover").click()
    page.wait_for_function("document.querySelector(\"[aria-label='left hip roll [deg]']\").value === '12'")


def test_the_address_is_kept_for_its_owner_only_and_not_taken_from_a_running_studio(
    tmp_path: Path, addresses: Path
) -> None:
    pytest.importorskip("viser")
    first = start_server("127.0.0.1", 0, shown_path=tmp_path, address_file=addresses)
    assert addresses.stat().st_mode & 0o077 == 0
    beside = start_server("127.0.0.1", 0, shown_path=tmp_path, address_file=addresses)
    assert (beside.port, beside.token) != (first.port, first.token)
    beside.close()
    first.close()
    again = start_server("127.0.0.1", 0, shown_path=tmp_path, address_file=addresses)
    assert (again.port, again.token) == (first.port, first.token)
    other = start_server("127.0.0.1", 0, shown_path=tmp_path / "other", address_file=addresses)
    assert other.token != first.token
    other.close()
    again.close()
    addresses.write_text("{damaged")
    start_server("127.0.0.1", 0, shown_path=tmp_path, address_file=addresses).close()


def test_on_a_phone_the_view_the_time_and_the_controls_are_reached_by_scrolling(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    page = page_of(studio_of(shipped("walk_forward")), size=(390, 844))
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390, "nothing is beside the screen"
    for selector in ("#stage", "#play", "#keyframes", "#joints .joint >> nth=-1"):
        part = page.locator(selector)
        part.scroll_into_view_if_needed()
        box = part.bounding_box()
        assert box["x"] >= 0.0
        assert box["x"] + box["width"] <= 391.0
        assert box["y"] < 844.0


def test_skip_links_and_f6_go_to_the_parts_of_the_page(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    page = page_of(studio_of(shipped("walk_forward")))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To: 3-D view"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "bottom"
    page.keyboard.press("F6")
    assert page.evaluate("document.activeElement.id") == "bar"
    page.keyboard.press("Shift+F6")
    assert page.evaluate("document.activeElement.id") == "bottom"


def test_play_is_beside_every_tab_of_the_time(shipped: Shipped, studio_of: Any, page_of: Any) -> None:
    page = page_of(studio_of(shipped("play_bow")))
    for tab in ("Time line", "Curves", "Lights"):
        page.get_by_role("tab", name=tab).click()
        assert page.locator("#play").is_visible()


def test_curves_begin_with_joints_that_move(shipped: Shipped, studio_of: Any, page_of: Any) -> None:
    """Also where another motion of the same robot was open before, whose joints stand still here."""
    path = shipped("play_bow")
    studio = studio_of(path.parent, "sony_ers7")
    page = page_of(studio)
    page.get_by_role("tab", name="Curves").click()
    page.locator("#curve-rows svg").first.wait_for()
    page.keyboard.press("Control+o")
    page.locator(".card", has_text="play_bow.motion.yaml").click()
    page.locator("#file-state", has_text="play_bow").wait_for()
    motion = studio.session.topics["motion"]
    page.wait_for_function("document.querySelectorAll('#curve-joints input:checked').length === 2")
    chosen = page.eval_on_selector_all("#curve-joints input:checked", "boxes => boxes.map(box => box.value)")
    for name in chosen:
        column = motion["joints"].index(name)
        assert len({frame["pose"][column] for frame in motion["keyframes"]}) > 1, name


def test_enter_replaces_nothing_where_a_file_has_changed(
    shipped: Shipped, studio_of: Any, page_of: Any
) -> None:
    path = shipped("play_bow")
    page = page_of(studio_of(path))
    page.get_by_label("head pan [deg]").fill("12")
    page.keyboard.press("Enter")
    page.wait_for_function("document.body.dataset.dirty === 'true'")
    theirs = path.read_text() + "# theirs\n"
    path.write_text(theirs)
    page.keyboard.press("Control+s")
    page.get_by_role("dialog").get_by_text("somebody else").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")
    assert path.read_text() == theirs


def test_a_bare_folder_offers_shipped_motions_by_name(tmp_path: Path, studio_of: Any, page_of: Any) -> None:
    studio = studio_of(tmp_path)
    page = page_of(studio)
    page.get_by_role("dialog").get_by_text("Begin a motion, or open a copy").wait_for()
    page.get_by_role("dialog").get_by_label("Find by name").fill("kick_right")
    page.locator(".card:visible").click()
    page.locator("#file-state", has_text="kick_right.motion.yaml · not saved yet").wait_for()
    assert studio.session.topics["robot"]["name"] == "sony_ers7"
    page.keyboard.press("Control+s")
    page.get_by_text("Saved kick_right.motion.yaml.").wait_for()
    assert (tmp_path / "kick_right.motion.yaml").exists()
