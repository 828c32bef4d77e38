"""Latency and load of the studio, from a window's message to the update of the 3-D view, without rendering.

Two sockets replace the browser: one sends requests, one receives the scene from viser. A slider changes one
angle of one keyframe; its latency ends when the view receives the poses of the links.
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

STEPS = 200
PLAYED_S = 5.0
IDLE_S = 5.0
MANY = 1000


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
        options: Any = {"origin": site, "additional_headers": {"Cookie": cookie_of(url)}, "max_size": None}
        address = site.replace("http", "ws")
        self.views: list[float] = []
        self.topics: dict[str, list[float]] = {}
        self._number = 0
        import viser

        self._view = connect(
            f"{address}/view/socket", subprotocols=[f"viser-v{viser.__version__}"], **options
        )  # type: ignore[list-item]
        Thread(target=self._watch, daemon=True).start()
        self._socket = connect(f"{address}/socket", **options)

    def _watch(self) -> None:
        for _ in self._view:
            self.views.append(time.perf_counter())

    def ask(self, action: str, **arguments: Any) -> Any:
        """Send a request and return its answer; the times of topics received meanwhile are stored."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "do": action, "with": arguments}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                return message["answer"]
            self.topics.setdefault(message.get("topic", ""), []).append(time.perf_counter())

    def listen(self, seconds: float) -> None:
        """Receive topics for some time [s], and store the times."""
        ends = time.perf_counter() + seconds
        while (left := ends - time.perf_counter()) > 0:
            try:
                message = json.loads(self._socket.recv(timeout=left))
            except TimeoutError:
                return
            self.topics.setdefault(message.get("topic", ""), []).append(time.perf_counter())

    def close(self) -> None:
        """Close both sockets."""
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
    """Open a file in a studio, and connect a browser."""
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
    """Return the latency of each step of a slider [s]."""
    browser.ask("session.look", page=1, keyframe=keyframe)
    browser.listen(0.3)
    durations_s = []
    for step in range(STEPS):
        start_s = time.perf_counter()
        arguments = {"page": 1, "keyframe": keyframe, "angles_deg": {"right_knee": 20.0 + 0.2 * (step % 100)}}
        browser.ask("session.edit", command="set_angles", arguments=arguments, gesture="slide")
        while not (browser.views and browser.views[-1] > start_s) and time.perf_counter() < start_s + 1.0:
            time.sleep(0.0005)
        durations_s.append(browser.views[-1] - start_s)
        time.sleep(0.02)
    return durations_s


def figures() -> list[Figure]:
    """Return the figures of the studio."""
    folder = Path(tempfile.mkdtemp())
    walk = folder / "walk.motion.yaml"
    write_motion(vendor_walk(), walk)
    results: list[Figure] = []
    with opened(walk) as (_, browser):
        durations_s = slide(browser, 1)
        worst = f"95 of 100 below {np.percentile(durations_s, 95) * 1e3:.0f} ms"
        results.append(
            Figure("slider to picture", statistics.median(durations_s) * 1e3, "ms", below=50.0, note=worst)
        )
        browser.ask("player.manner", speed=0.1, loop=True)
        browser.topics.clear()
        browser.views.clear()
        browser.ask("player.play")
        browser.listen(PLAYED_S)
        browser.ask("player.pause")
        results.append(Figure("poses played", len(browser.views) / PLAYED_S, "/s", at_least=29.0))
        browser.listen(1.0)
        start_s = time.process_time()
        time.sleep(IDLE_S)
        results.append(Figure("idle", 100.0 * (time.process_time() - start_s) / IDLE_S, "% CPU", below=5.0))
    long = folder / "long.motion.yaml"
    write_motion(long_motion(), long)
    with opened(long) as (_, browser):
        durations_s = slide(browser, 700)
        results.append(
            Figure("slider, 1000 keyframes", statistics.median(durations_s) * 1e3, "ms", below=50.0)
        )
    return [*results, *vendor_file()]


def vendor_file() -> Iterator[Figure]:
    """Yield the time to open a file of 255 pages, if POSEWRIGHT_VENDOR_FILE names one."""
    path = os.environ.get("POSEWRIGHT_VENDOR_FILE")
    if path is None:
        yield Figure("255 pages open", None, "s", below=2.0, note="POSEWRIGHT_VENDOR_FILE names none")
        return
    start_s = time.perf_counter()
    from posewright.studio.studio import open_studio

    studio = open_studio(path)
    browser = Browser(studio.url)
    browser.ask("session.look", page=studio.session.cursor.page, keyframe=0)
    yield Figure("vendor file opens", time.perf_counter() - start_s, "s", below=2.0)
    browser.close()
    studio.close()
