"""Work on threads of its own, beside the session; a task that is started again replaces the one before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TypeVar

from posewright.errors import PosewrightError
from posewright.studio.session import outcome_of

Result = TypeVar("Result")

IsCancelled = Callable[[], bool]
"""Returns whether the result is not needed any more; the work may raise CancelledError then."""


def run_in_background(work: Callable[[], Result]) -> Future[Result]:
    """Do `work` on a thread of its own, to its end."""
    executor = ThreadPoolExecutor(1, "studio background")
    future = executor.submit(work)
    executor.shutdown(wait=False)
    return future


class LatestTask:
    """Work that takes long and is started again and again; it is done on one thread of its own.

    Args:
        post: hands a result to the thread that starts the work.
        delay_s: work begins once nothing else was started for so long [s].
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], delay_s: float = 0.0) -> None:
        self._post = post
        self._delay_s = delay_s
        self._cancelled = threading.Event()
        self._executor = ThreadPoolExecutor(1, "studio background")

    def start(
        self, work: Callable[[IsCancelled], Result], then: Callable[[Result | PosewrightError], None]
    ) -> None:
        """Do `work` in place of what was started before; hand its result, or its error, to `then`."""
        self.cancel()
        cancelled = threading.Event()
        self._cancelled = cancelled

        def run() -> Result:
            if cancelled.wait(self._delay_s):
                raise CancelledError
            return work(cancelled.is_set)

        def finish(result: Callable[[], Result]) -> None:
            if not cancelled.is_set():
                then(outcome_of(result))

        future = self._executor.submit(run)
        future.add_done_callback(lambda done: self._post(lambda: finish(done.result)))

    def cancel(self) -> None:
        """Drop what was started; its result is not used."""
        self._cancelled.set()

    def close(self) -> None:
        """Cancel the work, and wait until it has ended."""
        self.cancel()
        self._executor.shutdown()
