"""A bar for what may take long: it appears after a second, so that short work shows none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from posewright.cli.console import err

PATIENCE_S = 1.0


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told how much of how much is done."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    task = bar.add_task(what)
    began = time.monotonic()

    def tell(done: int, total: int) -> None:
        if not bar.live.is_started and time.monotonic() - began > PATIENCE_S:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        bar.stop()
