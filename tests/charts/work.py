"""Work that some code does, counted in calls of Python functions: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class CallCounter:
    """Calls of Python functions that were counted so far."""

    calls = 0

    def __call__(self, _frame: FrameType, event: str, _arg: object) -> None:
        """Count a call; a profile function."""
        self.calls += event == "call"


@contextmanager
def counted() -> Iterator[CallCounter]:
    """Count the calls inside a `with` block."""
    counter = CallCounter()
    before = sys.getprofile()
    sys.setprofile(counter)
    try:
        yield counter
    finally:
        sys.setprofile(before)
