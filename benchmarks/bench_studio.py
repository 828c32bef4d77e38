"""The studio, from a window's message to the 3-D view's: what a browser would see, without its drawing.

Two sockets stand for the browser: one asks, one is shown the scene as viser sends it. A slider is one angle
of one keyframe; the picture is there when the view is told where the links are.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.cookies import SimpleCookie
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from benchmarks.figure import Figure
from posewright.formats import read_motion, write_motion
from posewright.motions import Motion
from posewright.robots import robot

STEPS, PLAYED_S, IDLE_S, MANY = 200, 5.0, 5.0, 1000


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def cookie_of(url: str) -> str:
    """Return the cookie that the studio's address gives a browser."""
    import urllib.error

    try:
        build_opener(_Stay).open(Request(url))  # noqa: S310 - our own server
    except urllib.error.HTTPError as answer:
        morsel = next(iter(SimpleCookie(answer.headers["Set-Cookie"]).values()))
        return f"{morsel.key}={morsel.value}"
    raise RuntimeError("the studio gave no cookie")


class Browser:
    """The two sockets of a page: `ask` waits for the answer, `views` are the times the scene changed."""

    def __init__(self, url: str) -> None:
        from websockets.sync.client import connect

        site = url.partition("/?")[0]
        how: Any = {"origin": site, "additional_headers": {"Cookie": cookie_of(url)}, "max_size": None}
        address = site.replace("http", "ws")
        self.views: list[float] = []
        self.topics: dict[str, list[float]] = {}
        self._number = 0
        import viser

        self._view = connect(f"{address}/view/socket", subprotocols=[f"viser-v{viser.__version__}"], **how)  # type: ignore[list-item]
        Thread(target=self._watch, daemon=True).start()
        self._socket = connect(f"{address}/socket", **how)

    def _watch(self) -> None:
        for _ in self._view:
            self.views.append(time.perf_counter())

    def ask(self, action: str, **arguments: Any) -> Any:
        """Return the answer; what topics say meanwhile is noted with its time."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "do": action, "with": arguments}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                return message["answer"]
            self.topics.setdefault(message.get("topic", ""), []).append(time.perf_counter())

    def listen(self, seconds: float) -> None:
        """Note topics for some time [s]."""
        ends = time.perf_counter() + seconds
        while (left := ends - time.perf_counter()) > 0:
            try:
                message = json.loads(self._socket.recv(timeout=left))
            except TimeoutError:
                return
            self.topics.setdefault(message.get("topic", ""), []).append(time.perf_counter())

    def close(self) -> None:
        """Close both."""
        self._socket.close()
        self._view.close()


def vendor_walk() -> Motion:
    """Return a walk of the Bioloid."""
    folder = robot("robotis_bioloid").folder or Path()
    return read_motion(folder / "motions" / "walk_forward.motion.yaml")


def long_motion() -> Motion:
    """Return the Bioloid's walk with a thousand keyframes."""
    walk = vendor_walk()
    return replace(walk, name="long", keyframes=walk.keyframes * (MANY // len(walk.keyframes)), repeat=1)


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Browser]]:
    """Open a file in a studio, and a browser on it."""
    from posewright.studio.studio import open_studio

    studio = open_studio(path)
    browser = Browser(studio.url)
    try:
        browser.listen(1.5)
        yield studio, browser
    finally:
        browser.close()
        studio.close()


def slide(browser: Browser, keyframe: int) -> list[float]:
    """Return how long each step of a slider takes until the view is told [s]."""
    browser.ask("session.look", page=1, keyframe=keyframe)
    browser.listen(0.3)
    taken = []
    for step in range(STEPS):
        begun = time.perf_counter()
        arguments = {"page": 1, "keyframe": keyframe, "angles_deg": {"right_knee": 20.0 + 0.2 * (step % 100)}}
        browser.ask("session.edit", command="set_angles", arguments=arguments, gesture="slide")
        while not (browser.views and browser.views[-1] > begun) and time.perf_counter() < begun + 1.0:
            time.sleep(0.0005)
        taken.append(browser.views[-1] - begun)
        time.sleep(0.02)
    return taken


def figures() -> list[Figure]:
    """Return the figures of the studio."""
    folder = Path(tempfile.mkdtemp())
    walk = folder / "walk.motion.yaml"
    write_motion(vendor_walk(), walk)
    found: list[Figure] = []
    with opened(walk) as (_, browser):
        taken = slide(browser, 1)
        worst = f"95 of 100 below {np.percentile(taken, 95) * 1e3:.0f} ms"
        found.append(
            Figure("slider to picture", statistics.median(taken) * 1e3, "ms", below=50.0, note=worst)
        )
        browser.ask("player.manner", speed=0.1, loop=True)
        browser.topics.clear()
        browser.views.clear()
        browser.ask("player.play")
        browser.listen(PLAYED_S)
        browser.ask("player.pause")
        found.append(Figure("poses played", len(browser.views) / PLAYED_S, "/s", at_least=29.0))
        browser.listen(1.0)
        begun = time.process_time()
        time.sleep(IDLE_S)
        found.append(Figure("idle", 100.0 * (time.process_time() - begun) / IDLE_S, "% CPU", below=5.0))
    long = folder / "long.motion.yaml"
    write_motion(long_motion(), long)
    with opened(long) as (_, browser):
        taken = slide(browser, 700)
        found.append(Figure("slider, 1000 keyframes", statistics.median(taken) * 1e3, "ms", below=50.0))
    return [*found, *vendor_file()]


def vendor_file() -> Iterator[Figure]:
    """Yield how long a file of 255 pages takes to open, where one is told by POSEWRIGHT_VENDOR_FILE."""
    path = os.environ.get("POSEWRIGHT_VENDOR_FILE")
    if path is None:
        yield Figure("255 pages open", None, "s", below=2.0, note="POSEWRIGHT_VENDOR_FILE names none")
        return
    begun = time.perf_counter()
    from posewright.studio.studio import open_studio

    studio = open_studio(path)
    browser = Browser(studio.url)
    browser.ask("session.look", page=studio.session.cursor.page, keyframe=0)
    yield Figure("vendor file opens", time.perf_counter() - begun, "s", below=2.0)
    browser.close()
    studio.close()
