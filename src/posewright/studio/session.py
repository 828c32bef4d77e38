"""The session: a document, its panels, and the windows that show it.

Everything that uses the document runs on the session's own thread, one job at a time: requests of windows,
drags in the 3-D view, ticks of a player. All windows share the document and the cursor.
"""

from __future__ import annotations

import contextlib
import json
import queue
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from types import MethodType
from typing import Any, TypeVar

from posewright.documents.user_code import user_errors
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.studio.commands import read_command
from posewright.studio.document import Command, Document
from posewright.studio.history import Undoable
from posewright.studio.pages import Pages
from posewright.studio.requests import AnyData, action, actions_of, call, read_request

TICK_S = 1.0 / 30.0
"""Time between two calls of a ticker [s]."""

JOB_TIMEOUT_S = 60.0
"""Time that another thread waits for a job of the session [s]."""

MODES = ("motion", "gait", "trial", "arena")

Result = TypeVar("Result")

Send = Callable[[str], None]
"""Sends a text to one window; it may be called from any thread."""


class Panel:
    """Base class of the parts of the studio; windows can request its methods that are marked `@action`.

    Its methods run on the session's thread only. A panel does not store the document or the robot, since
    another file may be opened.
    """

    name: str

    def update(self, before: Pages, after: Pages) -> None:
        """Handle a change of the pages; or, if both are the same, of the cursor, the mode or the document."""

    def count_windows(self, n_windows: int) -> None:
        """Handle that a window was opened or closed; `n_windows` are open now."""

    def close(self) -> None:
        """Release threads, ports and files."""


@dataclass(frozen=True)
class Cursor:
    """The page and keyframes that all windows show.

    Attributes:
        page: number of the page.
        keyframe: index of the current keyframe; -1 is the start pose.
        selected: indices of the selected keyframes, ascending, including the current one.
    """

    page: int
    keyframe: int = 0
    selected: tuple[int, ...] = (0,)


@dataclass
class Session:
    """A document with its panels and windows.

    Attributes:
        document: the open document.
        cursor: the page and keyframes that all windows show.
        mode: one of `MODES`; the panels of this mode use the 3-D view.
        panels: panels by name; `add` adds one.
        topics: the latest value of each topic, which a new window gets first.
        histories: the history that `undo` uses in a mode, if it is not the document's.
    """

    document: Document
    cursor: Cursor
    mode: str = MODES[0]
    panels: dict[str, Panel] = field(default_factory=dict)
    topics: dict[str, Any] = field(default_factory=dict)  # Any: plain data that scripts look into
    histories: dict[str, Undoable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._windows: dict[int, Send] = {}
        self._actions: dict[str, MethodType] = {}
        self._tickers: dict[str, Callable[[float], None]] = {}
        self._thread = threading.Thread(target=self._run, name="studio session", daemon=True)
        self.document.on_change = self._on_document_change
        for name, method in actions_of(self).items():
            self._actions[f"session.{name}"] = method

    def add(self, panel: Panel) -> None:
        """Add a panel, whose actions windows can request from now on."""
        self.panels[panel.name] = panel
        for name, method in actions_of(panel).items():
            self._actions[f"{panel.name}.{name}"] = method

    def start(self) -> None:
        """Start the session's thread, once all panels are added."""
        self.publish("session", {"id": secrets.token_hex(8)})  # first, so that pages notice a restart
        self.publish("mode", self.mode)
        self.publish_history()
        self._notify_panels()
        self._thread.start()

    def open(self, document: Document, page: int) -> None:
        """Replace the document, on the session's thread; its robot may be another one."""
        self.document = document
        document.on_change = self._on_document_change
        self.cursor = Cursor(page)
        self.publish_history()
        self._notify_panels()

    def close(self) -> None:
        """Finish the queued jobs, and close the panels."""
        self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout=10.0)
        for panel in self.panels.values():
            panel.close()

    def post(self, work: Callable[[], object]) -> None:
        """Queue a job for the session's thread; may be called from any thread."""
        self._jobs.put(work)

    def do_and_wait(self, work: Callable[[], Result]) -> Result:
        """Run a job on the session's thread and return its result; must be called from another thread."""
        result: Future[Result] = Future()
        self.post(lambda: resolve_future(result, work))
        return result.result(timeout=JOB_TIMEOUT_S)

    def set_ticker(self, name: str, callback: Callable[[float], None] | None) -> None:
        """Call a function about 30 times a second, on the session's thread.

        Args:
            name: name of the ticker; a new function replaces one of the same name.
            callback: the function, called with the time of `time.monotonic` [s]; None stops the ticker.
        """
        if callback is None:
            self._tickers.pop(name, None)
        else:
            self._tickers[name] = callback

    def publish(self, topic: str, value: object) -> None:
        """Send a topic's value, plain data, to all windows, unless it is unchanged."""
        if topic in self.topics and self.topics[topic] == value:
            return
        self.topics[topic] = value
        self._send_all({"topic": topic, "value": value})

    def splice(
        self, topic: str, key: str, *, at: int, removed: int, inserted: Sequence[object], value: object
    ) -> None:
        """Send a change of a list inside a topic to all windows, instead of the complete topic.

        Args:
            topic: name of the topic.
            key: key of the list in the topic's value.
            at: index of the first changed item.
            removed: number of removed items.
            inserted: items that replace them.
            value: the topic's complete new value.
        """
        self.topics[topic] = value
        self._send_all({"topic": topic, "splice": [key, at, removed, inserted]})

    def add_window(self, window: int, send: Send) -> None:
        """Send all topics to a new window, and every change from now on."""

        def send_all_topics() -> None:
            self._windows[window] = send
            for topic, value in self.topics.items():
                send(json.dumps({"topic": topic, "value": value}, allow_nan=False))
            self._report_windows()

        self.post(send_all_topics)

    def remove_window(self, window: int) -> None:
        """Stop sending to a window."""

        def drop_window() -> None:
            self._windows.pop(window, None)
            self._report_windows()

        self.post(drop_window)  # windows belong to the session's thread

    def _report_windows(self) -> None:
        for panel in self.panels.values():
            panel.count_windows(len(self._windows))

    def handle_request(self, text: str | bytes, send: Send) -> None:
        """Queue a window's request; `send` gets the answer when it is done."""
        self.post(lambda: self._answer(text, send))

    def _answer(self, text: str | bytes, send: Send) -> None:
        """Perform a request of a window, and send its answer or error; for a `Future`, when it is done."""
        request = result_or_error(lambda: read_request(text))
        if isinstance(request, PosewrightError):
            send(json.dumps({"id": None, "error": error_view(request)}))
            return

        def send_answer(answer: object) -> None:
            if isinstance(answer, PosewrightError):
                message = {"id": request.number, "error": error_view(answer)}
            else:
                message = {"id": request.number, "answer": answer}
            send(json.dumps(message, allow_nan=False))

        outcome = result_or_error(lambda: self.perform(request.action, request.arguments))
        if isinstance(outcome, Future):
            outcome.add_done_callback(lambda finished: send_answer(result_or_error(finished.result)))
        else:
            send_answer(outcome)

    def perform(self, name: str, arguments: Mapping[str, object]) -> object:
        """Run an action and return its answer, or a `Future` of it; on the session's thread."""
        if name not in self._actions:
            raise UnknownNameError.among("action", name, self._actions)
        return call(self._actions[name], arguments)

    @action
    def edit(
        self, *, command: str, arguments: Mapping[str, AnyData] | None = None, gesture: str = ""
    ) -> bool:
        """Change the document by a command; return whether anything changed."""
        return self.do(read_command(command, arguments or {}), gesture)

    def do(self, command: Command, gesture: str = "") -> bool:
        """Apply a command to the document, on the session's thread; return whether anything changed."""
        changed = self.document.do(command, gesture)
        self.publish_history()
        return changed

    def mark_saved(self, pages: Pages) -> None:
        """Record that these pages are saved in the document's file, on the session's thread."""
        self.document.mark_saved(pages)
        self.publish_history()

    @action
    def choose(self, *, mode: str) -> None:
        """Switch the mode: `motion`, `gait`, `trial` or `arena`."""
        if mode not in MODES:
            raise UnknownNameError.among("mode", mode, MODES)
        self.mode = mode
        self.publish("mode", mode)
        self.publish_history()
        self._notify_panels()

    @action
    def undo(self) -> None:
        """Undo the last change."""
        self._history.undo()
        self.publish_history()

    @action
    def redo(self) -> None:
        """Redo the change that was undone last."""
        self._history.redo()
        self.publish_history()

    @action
    def look(self, *, page: int | None = None, keyframe: int = 0, selected: tuple[int, ...] = ()) -> None:
        """Move the cursor to a keyframe of a page, and select further keyframes.

        Args:
            page: number of the page; None for the present one.
            keyframe: index of the keyframe; -1 for the start pose.
            selected: indices of further keyframes to select; those that do not exist are ignored.
        """
        page_number = self.cursor.page if page is None else page
        n_keyframes = len(self.document.pages.motion(page_number).keyframes)
        if not -1 <= keyframe < n_keyframes:
            raise InputError(f"there is no keyframe {keyframe + 1}", hint=f"the page has {n_keyframes}")
        indices = tuple(index for index in sorted({*selected, keyframe}) if -1 <= index < n_keyframes)
        self.cursor = Cursor(page_number, keyframe, indices)
        self._notify_panels()

    def _on_document_change(self, before: Pages, after: Pages) -> None:
        self._clamp_cursor(after)
        for panel in self.panels.values():
            panel.update(before, after)

    def _notify_panels(self) -> None:
        pages = self.document.pages
        for panel in self.panels.values():
            panel.update(pages, pages)

    def _clamp_cursor(self, pages: Pages) -> None:
        """Move the cursor to an existing page and keyframe."""
        page = self.cursor.page if self.cursor.page in pages.numbers else pages.numbers[0]
        last_index = len(pages.motion(page).keyframes) - 1
        keyframe = min(self.cursor.keyframe, last_index)
        selected = {index for index in self.cursor.selected if index <= last_index} | {keyframe}
        self.cursor = Cursor(page, keyframe, tuple(sorted(selected)))

    @property
    def _history(self) -> Undoable:
        return self.histories.get(self.mode, self.document)

    def publish_history(self) -> None:
        """Publish what can be undone in this mode, and whether the document has unsaved changes."""
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
        """Run posted jobs one at a time and due tickers, until a None is posted."""
        next_tick_s = time.monotonic()
        while True:
            wait_s = max(0.0, next_tick_s - time.monotonic()) if self._tickers else None  # None: for ever
            with contextlib.suppress(queue.Empty):
                work = self._jobs.get(timeout=wait_s)
                if work is None:
                    return
                self._run_job(work)
            if self._tickers and time.monotonic() >= next_tick_s:
                next_tick_s = max(next_tick_s + TICK_S, time.monotonic())  # ticks that are late are dropped
                for callback in list(self._tickers.values()):
                    self._run_job(partial(callback, time.monotonic()))

    def _run_job(self, work: Callable[[], object]) -> None:
        """Run a job; an error is shown in all windows."""
        outcome = result_or_error(work)
        if isinstance(outcome, PosewrightError):
            self.show_error(outcome)

    def show_error(self, error: PosewrightError) -> None:
        """Show an error in all windows, as the topic `problem`, which is not stored."""
        self._send_all({"topic": "problem", "value": error_view(error)})


def resolve_future(promise: Future[Result], work: Callable[[], Result]) -> None:
    """Set a future to the result of a function, or to the error it raises."""
    outcome = result_or_error(work)
    if isinstance(outcome, PosewrightError):
        promise.set_exception(outcome)
    else:
        promise.set_result(outcome)


def error_view(error: PosewrightError) -> dict[str, str]:
    """Return an error as windows show it."""
    location = "" if error.where is None else f"{error.where}: "
    return {"message": f"{location}{error.message}", "hint": error.hint or "", "kind": type(error).__name__}


def result_or_error(work: Callable[[], Result]) -> Result | PosewrightError:
    """Return the result of a function, or the error it raises.

    Any other exception is turned into a `PosewrightError`: if the session ended, unsaved work would be lost.
    """
    try:
        with user_errors():
            return work()
    except PosewrightError as error:
        return error
    except Exception as error:  # a bug of ours: without this the thread of all edits would end
        traceback.print_exception(error)
        return PosewrightError(f"internal error of the studio: {error}", hint="your edits are still there")
