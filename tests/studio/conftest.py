"""A studio with a file in it, a window that asks without a browser, and a real browser."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from posewright.robots import robot
from posewright.studio.studio import Studio, open_studio

pytest.importorskip("viser")

SHIPPED = {
    "walk_forward": "robotis_bioloid",
    "turn_left": "robotis_bioloid",
    "play_bow": "sony_ers7",
    "kick_right": "sony_ers7",
    "sit_down": "deagostini_robi2",
}


@pytest.fixture
def shipped(tmp_path: Path) -> Callable[[str], Path]:
    """Give a copy of a motion that ships, in a folder of its own."""

    def copy(name: str) -> Path:
        folder = robot(SHIPPED[name]).folder
        assert folder is not None
        target = tmp_path / "opened" / f"{name}.motion.yaml"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(folder / "motions" / target.name, target)
        return target

    return copy


@pytest.fixture
def studio_of() -> Iterator[Callable[..., Studio]]:
    """Open studios, and close them after the test."""
    opened: list[Studio] = []

    def open_one(path: Path, *others: Any, **how: Any) -> Studio:
        opened.append(open_studio(path, *others, **how))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


class Window:
    """A window without a browser: it asks, waits for answers, and keeps the topics it is shown."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.topics: dict[str, Any] = {}
        self.messages: list[dict[str, Any]] = []
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._number = 0
        studio.session.add_window(id(self), self._take)
        self.settle()

    def _take(self, text: str) -> None:
        message = json.loads(text)
        self.messages.append(message)
        if "topic" not in message:
            self._answers.put(message)
        elif "splice" in message:
            key, at, removed, inserted = message["splice"]
            whole = dict(self.topics[message["topic"]])
            whole[key] = [*whole[key][:at], *inserted, *whole[key][at + removed :]]
            self.topics[message["topic"]] = whole
        else:
            self.topics[message["topic"]] = message["value"]

    def settle(self) -> None:
        """Wait until the session has done what it was asked so far."""
        self.studio.session.do_and_wait(lambda: None)

    def until(self, is_so: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Wait until the topics are so, looked at between two steps of the session; return them."""
        for _ in range(30_000):  # ten minutes: only what hangs takes so long
            if self.studio.session.do_and_wait(lambda: is_so(self.topics)):
                return self.topics
            time.sleep(0.02)
        pytest.fail(f"nothing came of it: {self.topics.keys()}")

    def answer(self, action: str, **arguments: Any) -> dict[str, Any]:
        """Ask, and return the whole answer, which may be an error."""
        self._number += 1
        self.send(json.dumps({"id": self._number, "do": action, "with": arguments}))
        return self._answers.get(timeout=600.0)

    def send(self, text: str | bytes) -> None:
        self.studio.session.handle_request(text, self._take)

    def ask(self, action: str, **arguments: Any) -> Any:
        """Ask, and return the answer; an error fails the test."""
        told = self.answer(action, **arguments)
        assert "error" not in told, told["error"]
        return told["answer"]

    def edit(self, command: str, gesture: str = "", **arguments: Any) -> bool:
        """Make a change; return whether anything is different now."""
        return bool(self.ask("session.edit", command=command, arguments=arguments, gesture=gesture))


@pytest.fixture
def window_of() -> Callable[[Studio], Window]:
    """Open a window of a studio, without a browser."""
    return Window


BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs that are a Chromium, the one that needs least time first: a page is loaded in a third of it."""


def chromium() -> str:
    """Return the browser, or skip; continuous integration may not skip."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("there is no chromium on this machine")
        pytest.skip("there is no chromium on this machine")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One headless Chromium for all tests of a worker.

    Its driver has a session of its own: Ctrl-C in a terminal goes to this process, which ends them in order.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    path = chromium()
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            start = partial(asyncio.create_subprocess_exec, start_new_session=True)
            patch.setattr(asyncio, "create_subprocess_exec", start)
            running = stack.enter_context(playwright.sync_playwright())
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        started = running.chromium.launch(executable_path=path, args=arguments)
        yield started
        started.close()


PATIENCE_MS = 600_000
"""A page on a busy machine may take its time: only what hangs takes so long [ms]."""

ANSWERED = """async () => {
    const { ask } = await import("./link.js");
    for (let round = 0; round < 3; round++) {  // the last place of a drag is asked for after an answer
        await ask("").catch(() => {});
        await new Promise(requestAnimationFrame);
    }
}"""
"""Requests are answered in their order: once these are refused, whatever was asked before them is done."""


@pytest.fixture
def settled() -> Callable[[Any], None]:
    """Wait until all that was done in a page is done by the session, and is seen in the page."""
    return lambda page: page.evaluate(ANSWERED)


def is_ours(told: Any) -> bool:
    """Tell whether the console was told of an error; viser's page tells of one at every drag.

    A page whose studio was stopped tells of connections that were refused.
    """
    expected = ("passive event listener", "ERR_CONNECTION_REFUSED")
    return bool(told.type == "error" and not any(text in told.text for text in expected))


@pytest.fixture
def page_of(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a studio's page; without the 3-D view, slow on a machine without a GPU, unless asked."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def open_page(studio: Studio, *, with_view: bool = False, size: tuple[int, int] = (1366, 768)) -> Any:
        width, height = size
        viewport = {"width": width, "height": height}
        # `wait_for_function` evaluates text, which the page forbids
        context = browser.new_context(viewport=viewport, bypass_csp=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda told: wrong.append(told.text) if is_ours(told) else None)
        if not with_view:
            empty = "<!doctype html><html lang=en><title>No 3-D view</title>"
            page.route("**/view?**", lambda route: route.fulfill(body=empty, content_type="text/html"))
        page.goto(studio.url)
        page.wait_for_selector("body[data-link=open]")
        page.wait_for_function("document.querySelectorAll('.joint').length > 0")
        page.evaluate(ANSWERED)
        if with_view:
            page.frame_locator("#view").locator("canvas").first.wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
