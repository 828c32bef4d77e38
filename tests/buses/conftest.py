"""Threads take turns more often here: a fake bus and its client share one interpreter."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from .wired import WireUp, wire_up


@pytest.fixture(autouse=True)
def quick_turns() -> Iterator[None]:
    """Let a thread that waits have its turn after 0.5 ms, not 5: clients that poll give up after 34 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-4)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> WireUp:
    """Give a function that opens a `Bus` on a fake one, in the latter's own time."""
    return wire_up(monkeypatch)
