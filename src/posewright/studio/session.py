"""The session: a document, the panels around it, and the windows that look at it.

Whatever touches the document runs on the session's own thread, one thing after the other: requests of
windows, drags in the 3-D view, ticks of a player. Windows share all of it, the cursor too, so they agree.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from types import MethodType
from typing import Any, TypeVar

from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.studio.commands import read_command
from posewright.studio.document import Command, Document
from posewright.studio.history import Undoable
from posewright.studio.pages import Pages
from posewright.studio.requests import Anything, action, actions_of, call, read_request

TICK_S = 1.0 / 30.0
"""Panels that ask for it are called this often while something plays."""

MODES = ("motion", "gait", "trial")

Result = TypeVar("Result")

Send = Callable[[str], None]
"""Sends a text to one window; it may be called from any thread."""


class Panel:
    """A part of the studio: methods marked `@action` are what a window may ask of it.

    It is called on the session's thread only. It stores neither document nor robot, as another file may be
    opened. By itself it does nothing.
    """

    name: str

    def changed(self, before: Pages, after: Pages) -> None:
        """Follow a change of the pages; or, with the same pages, of the cursor, the mode or the document."""

    def close(self) -> None:
        """Release threads, ports and files."""


@dataclass(frozen=True)
class Cursor:
    """What all windows look at.

    Attributes:
        page: the number of the page.
        keyframe: of the motion, from 0; -1 is the pose it starts from.
        selected: keyframes that are marked together, rising; the current one is among them.
    """

    page: int
    keyframe: int = 0
    selected: tuple[int, ...] = (0,)


@dataclass
class Session:
    """One document in the studio.

    Attributes:
        mode: what the windows show, one of `MODES`; the 3-D view belongs to the panels of that mode.
        panels: by name; add with `add`.
        topics: what was published last, by topic: what a new window is shown first.
        histories: by mode, what is undone in it where that is not the document.
    """

    document: Document
    cursor: Cursor
    mode: str = MODES[0]
    panels: dict[str, Panel] = field(default_factory=dict)
    topics: dict[str, Any] = field(default_factory=dict)  # Any: plain data that scripts look into
    histories: dict[str, Undoable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._todo: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._windows: dict[int, Send] = {}
        self._actions: dict[str, MethodType] = {}
        self._ticking: dict[str, Callable[[float], None]] = {}
        self._thread = threading.Thread(target=self._run, name="studio session", daemon=True)
        self.document.on_change = self._changed
        for name, method in actions_of(self).items():
            self._actions[f"session.{name}"] = method

    def add(self, panel: Panel) -> None:
        """Add a panel; windows may ask for its actions from now on."""
        self.panels[panel.name] = panel
        for name, method in actions_of(panel).items():
            self._actions[f"{panel.name}.{name}"] = method

    def start(self) -> None:
        """Begin to work, once all panels are there."""
        self.publish("mode", self.mode)
        self.publish_history()
        self._notify_panels()
        self._thread.start()

    def open(self, document: Document, page: int) -> None:
        """Go on with another document, perhaps of another robot; on the session's thread."""
        self.document = document
        document.on_change = self._changed
        self.cursor = Cursor(page)
        self.publish_history()
        self._notify_panels()

    def close(self) -> None:
        """Finish what is waiting, and close the panels."""
        self._todo.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=10.0)
        for panel in self.panels.values():
            panel.close()

    def post(self, work: Callable[[], object]) -> None:
        """Do something on the session's thread, soon; from any thread."""
        self._todo.put(work)

    def do_and_wait(self, work: Callable[[], Result]) -> Result:
        """Do something on the session's thread and return what it returns; from any other thread."""
        done: Future[Result] = Future()
        self.post(lambda: settle(done, work))
        return done.result(timeout=60.0)

    def tick(self, name: str, each: Callable[[float], None] | None) -> None:
        """Call `each` with the time [s] some thirty times a second; None to stop that."""
        if each is None:
            self._ticking.pop(name, None)
        else:
            self._ticking[name] = each

    def publish(self, topic: str, value: object) -> None:
        """Show all windows a value, plain data; the one that was shown before is not shown again."""
        if topic in self.topics and self.topics[topic] == value:
            return
        self.topics[topic] = value
        self._send_all({"topic": topic, "value": value})

    def splice(
        self, topic: str, key: str, *, at: int, removed: int, inserted: Sequence[object], value: object
    ) -> None:
        """Show all windows a change of a long list of a topic; `value` is what the topic is now."""
        self.topics[topic] = value
        self._send_all({"topic": topic, "splice": [key, at, removed, inserted]})

    def join(self, window: int, send: Send) -> None:
        """Show a new window all there is, and from now on every change."""

        def greet() -> None:
            self._windows[window] = send
            for topic, value in self.topics.items():
                send(json.dumps({"topic": topic, "value": value}, allow_nan=False))

        self.post(greet)

    def leave(self, window: int) -> None:
        """Forget a window."""
        self.post(lambda: self._windows.pop(window, None))

    def ask(self, text: str | bytes, send: Send) -> None:
        """Take a window's request; the answer is sent when it is done."""
        self.post(lambda: self._answer(text, send))

    def _answer(self, text: str | bytes, send: Send) -> None:
        request = outcome_of(lambda: read_request(text))
        if isinstance(request, PosewrightError):
            send(json.dumps({"id": None, "error": error_view(request)}))
            return

        def answer(outcome: object) -> None:
            if isinstance(outcome, PosewrightError):
                message = {"id": request.number, "error": error_view(outcome)}
            else:
                message = {"id": request.number, "answer": outcome}
            send(json.dumps(message, allow_nan=False))

        outcome = outcome_of(lambda: self.perform(request.action, request.arguments))
        if isinstance(outcome, Future):
            outcome.add_done_callback(lambda done: answer(outcome_of(done.result)))
        else:
            answer(outcome)

    def perform(self, name: str, arguments: Mapping[str, object]) -> object:
        """Do an action and return the answer, or its `Future`; on the session's thread."""
        if name not in self._actions:
            raise UnknownNameError.among("action", name, self._actions)
        return call(self._actions[name], arguments)

    @action
    def edit(
        self, *, command: str, arguments: Mapping[str, Anything] | None = None, gesture: str = ""
    ) -> bool:
        """Make a change of the document; return whether anything is different now."""
        return self.do(read_command(command, arguments or {}), gesture)

    def do(self, command: Command, gesture: str = "") -> bool:
        """Make a change of the document, on the session's thread."""
        changed = self.document.do(command, gesture)
        self.publish_history()
        return changed

    def mark_saved(self, pages: Pages) -> None:
        """Record that these pages of the document are in its file, on the session's thread."""
        self.document.mark_saved(pages)
        self.publish_history()

    @action
    def choose(self, *, mode: str) -> None:
        """Choose what the studio is used for: `motion`, `gait` or `trial`."""
        if mode not in MODES:
            raise UnknownNameError.among("mode", mode, MODES)
        self.mode = mode
        self.publish("mode", mode)
        self.publish_history()
        self._notify_panels()

    @action
    def undo(self) -> None:
        """Take the last change back."""
        self._history.undo()
        self.publish_history()

    @action
    def redo(self) -> None:
        """Do again what was undone last."""
        self._history.redo()
        self.publish_history()

    @action
    def look(self, *, page: int | None = None, keyframe: int = 0, selected: tuple[int, ...] = ()) -> None:
        """Look at a keyframe of a page, with others marked beside it."""
        number = self.cursor.page if page is None else page
        count = len(self.document.pages.motion(number).keyframes)
        if not -1 <= keyframe < count:
            raise InputError(f"there is no keyframe {keyframe + 1}", hint=f"the page has {count}")
        marked = tuple(sorted({*selected, keyframe}))
        self.cursor = Cursor(number, keyframe, tuple(place for place in marked if -1 <= place < count))
        self._notify_panels()

    def _changed(self, before: Pages, after: Pages) -> None:
        self._clamp_cursor(after)
        for panel in self.panels.values():
            panel.changed(before, after)

    def _notify_panels(self) -> None:
        pages = self.document.pages
        for panel in self.panels.values():
            panel.changed(pages, pages)

    def _clamp_cursor(self, pages: Pages) -> None:
        """Put the cursor on a page and keyframe that there still is."""
        page = self.cursor.page if self.cursor.page in pages.numbers else pages.numbers[0]
        last = len(pages.motion(page).keyframes) - 1
        keyframe = min(self.cursor.keyframe, last)
        selected = {place for place in self.cursor.selected if place <= last} | {keyframe}
        self.cursor = Cursor(page, keyframe, tuple(sorted(selected)))

    @property
    def _history(self) -> Undoable:
        return self.histories.get(self.mode, self.document)

    def publish_history(self) -> None:
        """Show windows what can be undone in this mode, and whether the document is saved."""
        history = self._history
        is_dirty = self.document.is_dirty
        self.publish("history", {"undo": history.undo_label, "redo": history.redo_label, "dirty": is_dirty})

    def _send_all(self, message: Mapping[str, object]) -> None:
        if not self._windows:
            return
        text = json.dumps(message, allow_nan=False)
        for send in list(self._windows.values()):
            send(text)

    def _run(self) -> None:
        next_tick = time.monotonic()
        while True:
            wait = max(0.0, next_tick - time.monotonic()) if self._ticking else None
            with contextlib.suppress(queue.Empty):
                work = self._todo.get(timeout=wait)
                if work is None:
                    return
                self._try(work)
            if self._ticking and time.monotonic() >= next_tick:
                next_tick = max(next_tick + TICK_S, time.monotonic())
                for each in list(self._ticking.values()):
                    self._try(partial(each, time.monotonic()))

    def _try(self, work: Callable[[], object]) -> None:
        """Do something that nobody waits for; an error is shown in all windows."""
        outcome = outcome_of(work)
        if isinstance(outcome, PosewrightError):
            self.warn(outcome)

    def warn(self, error: PosewrightError) -> None:
        """Show an error in all windows, once: the topic `problem`."""
        self._send_all({"topic": "problem", "value": error_view(error)})


def settle(promise: Future[Result], work: Callable[[], Result]) -> None:
    """Let a future be what work returns, or the error it raises."""
    outcome = outcome_of(work)
    if isinstance(outcome, PosewrightError):
        promise.set_exception(outcome)
    else:
        promise.set_result(outcome)


def error_view(error: PosewrightError) -> dict[str, str]:
    """Return an error as windows show it."""
    place = "" if error.where is None else f"{error.where}: "
    return {"message": f"{place}{error.message}", "hint": error.hint or "", "kind": type(error).__name__}


def outcome_of(work: Callable[[], Result]) -> Result | PosewrightError:
    """Return what work returns, or the error it raises.

    A programming error is turned into a `PosewrightError` too: the session must go on, as unsaved work would
    be lost with it.
    """
    try:
        return work()
    except PosewrightError as error:
        return error
    except Exception as error:
        traceback.print_exception(error)
        return PosewrightError(f"a fault of the studio: {error}", hint="what you did before is still there")
