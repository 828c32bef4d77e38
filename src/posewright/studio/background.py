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
        self._cancellation = threading.Event()  # is set when the latest task is cancelled
        self._executor = ThreadPoolExecutor(1, "studio background")

    def start(
        self, work: Callable[[IsCancelled], Result], on_result: Callable[[Result | PosewrightError], None]
    ) -> None:
        """Cancel the previous task, and run a new one on the background thread.

        Args:
            work: the task. Its argument returns whether the task has been cancelled meanwhile.
            on_result: called through `post` with the result or error of the task, unless it was cancelled.
        """
        self.cancel()
        cancellation = threading.Event()
        self._cancellation = cancellation

        def run_after_delay() -> Result:
            if cancellation.wait(self._delay_s):
                raise CancelledError
            return work(cancellation.is_set)

        def deliver(finished: Future[Result]) -> None:
            if not cancellation.is_set():
                on_result(result_or_error(finished.result))

        future = self._executor.submit(run_after_delay)
        future.add_done_callback(lambda finished: self._post(lambda: deliver(finished)))

    def cancel(self) -> None:
        """Cancel the task; its result is not used."""
        self._cancellation.set()

    def close(self) -> None:
        """Cancel the task, and wait until its thread has ended."""
        self.cancel()
        self._executor.shutdown()
