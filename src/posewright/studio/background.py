"""Work on threads other than the session's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TypeVar

from posewright.errors import PosewrightError
from posewright.studio.session import result_or_error

Result = TypeVar("Result")

IsCancelled = Callable[[], bool]
"""Returns whether the result is no longer needed; the work may then raise CancelledError."""


def run_in_background(work: Callable[[], Result]) -> Future[Result]:
    """Run a function on a new thread."""
    executor = ThreadPoolExecutor(1, "studio background")
    future = executor.submit(work)
    executor.shutdown(wait=False)
    return future


class LatestTask:
    """A slow task on a background thread; starting it again cancels the previous one.

    Args:
        post: runs a function on the thread that starts the task.
        delay_s: delay before a task begins [s]; it begins only if no other was started meanwhile.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], delay_s: float = 0.0) -> None:
        self._post = post
        self._delay_s = delay_s
        self._cancelled = threading.Event()
        self._executor = ThreadPoolExecutor(1, "studio background")

    def start(
        self, work: Callable[[IsCancelled], Result], then: Callable[[Result | PosewrightError], None]
    ) -> None:
        """Run `work` instead of what was started before, then `then` with its result or error."""
        self.cancel()
        cancelled = threading.Event()
        self._cancelled = cancelled

        def run() -> Result:
            if cancelled.wait(self._delay_s):
                raise CancelledError
            return work(cancelled.is_set)

        def finish(result: Callable[[], Result]) -> None:
            if not cancelled.is_set():
                then(result_or_error(result))

        future = self._executor.submit(run)
        future.add_done_callback(lambda done: self._post(lambda: finish(done.result)))

    def cancel(self) -> None:
        """Cancel the task; its result is not used."""
        self._cancelled.set()

    def close(self) -> None:
        """Cancel the task, and wait until its thread has ended."""
        self.cancel()
        self._executor.shutdown()
