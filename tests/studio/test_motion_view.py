"""`motion view` plays a file that somebody else edits: it follows every change, and survives a broken one."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from posewright.documents import write_atomically
from posewright.errors import FormatError, InputError
from posewright.studio.motion_view import open_view

Shipped = Callable[[str], Path]


@pytest.fixture
def view_of() -> Iterator[Callable[..., Any]]:
    opened: list[Any] = []

    def open_one(path: Path, *others: Any, **how: Any) -> Any:
        opened.append(open_view(path, *others, **how))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_the_view_follows_its_file_and_goes_on_playing(
    shipped: Shipped, view_of: Any, window_of: Any
) -> None:
    path = shipped("play_bow")
    text = path.read_text()
    window = window_of(view_of(path))
    window.ask("player.manner", loop=True)
    window.ask("player.play")
    write_atomically(path, text.replace("motion: play_bow", "motion: deep_bow").encode())
    window.until(lambda topics: topics["motion"]["name"] == "deep_bow")
    assert window.topics["player"]["playing"]
    path.write_text(text[: len(text) // 2])  # somebody is in the middle of saving it
    window.until(lambda topics: topics["file"]["message"] != "")
    assert window.topics["motion"]["name"] == "deep_bow"
    path.unlink()
    window.until(lambda topics: "no such file" in topics["file"]["message"].lower())
    path.write_text(text)
    window.until(lambda topics: topics["file"]["message"] == "")
    assert window.topics["motion"]["name"] == "play_bow"
    assert path.read_text() == text


def test_the_view_shows_the_page_and_the_robot_that_are_asked_for(
    shipped: Shipped, view_of: Any, window_of: Any
) -> None:
    window = window_of(view_of(shipped("walk_forward"), "deagostini_robi2", page="1"))
    assert window.topics["robot"]["name"] == "deagostini_robi2"
    with pytest.raises(InputError, match="no page"):
        open_view(shipped("kick_right"), page="7")
    (shipped("play_bow").parent / "no.mtn").write_bytes(b"nothing")
    with pytest.raises(FormatError):
        open_view(shipped("play_bow").parent / "no.mtn")


def test_the_page_plays_and_says_when_the_file_is_broken(
    shipped: Shipped, view_of: Any, browser: Any
) -> None:
    path = shipped("play_bow")
    text = path.read_text()
    page = browser.new_page(bypass_csp=True)
    page.route("**/view?**", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(view_of(path).url)
    page.get_by_role("button", name="Pause").wait_for()
    clock = page.locator("#clock").text_content()
    page.wait_for_function("clock => document.getElementById('clock').textContent !== clock", arg=clock)
    path.write_text("motion: [")
    page.get_by_role("alert").get_by_text("cannot be read").wait_for()
    assert page.title() == "play_bow - Posewright view"
    path.write_text(text.replace("motion: play_bow", "motion: deep_bow"))
    page.wait_for_function("document.title.startsWith('deep_bow')")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    page.close()


def test_the_verb_says_where_the_view_is_and_ends_when_it_is_told_to(shipped: Shipped) -> None:
    words = ["motion", "view", str(shipped("play_bow")), "--no-browser", "--json"]
    command = [sys.executable, "-m", "posewright", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:  # noqa: S603 -- our own interpreter
        try:
            assert running.stdout is not None
            told = b"".join(itertools.takewhile(lambda line: line != b"}\n", running.stdout)) + b"}"
            with build_opener(HTTPCookieProcessor()).open(json.loads(told)["url"], timeout=600.0) as answer:
                assert b"view.js" in answer.read()
            running.terminate()
            assert running.wait(timeout=600.0) == 0
        finally:
            running.kill()
