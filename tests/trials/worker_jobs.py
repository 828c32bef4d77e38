"""Jobs for workers: one that is quick, and some that go wrong; and a clock for what other processes do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import InputError

PATIENCE_S = 60.0
"""How long to wait for what comes in a second, on a machine that has much else to do."""


def eventually(holds: Callable[[], object]) -> bool:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_there(process: int) -> bool:
    """Say whether a process is running, and no zombie."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


class OddError(Exception):
    """An error that cannot be unpickled: it wants more than it passes on."""

    def __init__(self, message: str, more: int) -> None:
        super().__init__(message)
        self.more = more


def squared(number: int) -> tuple[int, int]:
    """Square a number and say who did it; the small ones take longer than the great ones."""
    time.sleep(0.02 / (1 + number))
    return number * number, os.getpid()


@dataclass(frozen=True)
class Breaking:
    """Squares numbers, and goes wrong, in its own way, with one of them."""

    way: str
    number: int = 3

    def __call__(self, number: int) -> object:
        if number != self.number:
            return squared(number)[0]
        if self.way == "raise":
            raise InputError("the leg does not reach", hint="a longer leg")
        if self.way == "odd":
            raise OddError("odd", 1)
        if self.way == "exit":
            os._exit(3)
        if self.way == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        return lambda: number  # which cannot travel


@dataclass(frozen=True)
class Slow:
    """Says when it begins, and then takes a minute."""

    begun: Path

    def __call__(self, number: int) -> int:
        (self.begun / str(os.getpid())).touch()
        time.sleep(60.0)
        return number
