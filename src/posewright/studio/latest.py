"""Work beside the session: of what is asked for, only the last counts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TypeVar

from posewright.errors import PosewrightError
from posewright.studio.session import outcome_of

Result = TypeVar("Result")

IsStale = Callable[[], bool]
"""Tells whether nobody waits for a piece of work any more: it may raise CancelledError then."""


def beside(work: Callable[[], Result]) -> Future[Result]:
    """Do `work` on a thread of its own, to its end."""
    thread = ThreadPoolExecutor(1, "studio beside")
    done = thread.submit(work)
    thread.shutdown(wait=False)
    return done


class Latest:
    """Work that takes long and is asked for again and again; it is done on one thread of its own.

    Args:
        post: hands a result to the thread that asks.
        delay_s: work begins once nothing else was asked for so long [s].
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], delay_s: float = 0.0) -> None:
        self._post, self._delay_s = post, delay_s
        self._stale = threading.Event()
        self._thread = ThreadPoolExecutor(1, "studio beside")

    def ask(
        self, work: Callable[[IsStale], Result], then: Callable[[Result | PosewrightError], None]
    ) -> None:
        """Do `work` in place of what was asked for before; hand its result, or its error, to `then`."""
        self.drop()
        self._stale = stale = threading.Event()

        def run() -> Result:
            if stale.wait(self._delay_s):
                raise CancelledError
            return work(stale.is_set)

        def finish(result: Callable[[], Result]) -> None:
            if not stale.is_set():
                then(outcome_of(result))

        self._thread.submit(run).add_done_callback(lambda done: self._post(lambda: finish(done.result)))

    def drop(self) -> None:
        """Let go of what was asked for; its result is not wanted any more."""
        self._stale.set()

    def close(self) -> None:
        """Drop it, and wait until it has ended."""
        self.drop()
        self._thread.shutdown()
