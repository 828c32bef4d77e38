"""The work that something takes, counted: the same on every machine, however busy it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from cProfile import Profile
from dataclasses import dataclass


@dataclass
class Work:
    """How much was done.

    Attributes:
        calls: of Python functions.
    """

    calls: int = 0


@contextmanager
def counted_work() -> Iterator[Work]:
    """Count what is done inside; the count is there once it is done, or was given up."""
    work = Work()
    profile = Profile(builtins=False)
    profile.enable()
    try:
        yield work
    finally:
        profile.disable()
        work.calls = sum(entry.callcount for entry in profile.getstats())
