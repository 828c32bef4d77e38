"""Jobs for workers: one that is quick, and some that go wrong; and a clock for what other processes do."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posewright.control.loop import sigterm_raises
from posewright.errors import InputError

PATIENCE_S = 600.0
"""How long to wait for what comes in a second, on a machine that has much else to do."""


PROCESSES = Path("/proc")
"""Where Linux tells of every process; others have only `ps`."""


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
    if PROCESSES.is_dir():
        try:
            return ") Z " not in (PROCESSES / str(process) / "stat").read_text()
        except OSError:
            return False
    told = subprocess.run(  # noqa: S603 -- a number
        ["ps", "-o", "stat=", "-p", str(process)],  # noqa: S607 -- wherever the system has it
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip()[:1] not in ("", "Z")


class OddError(Exception):
    """An error that cannot be unpickled: it wants more than it passes on."""

    def __init__(self, message: str, more: int) -> None:
        super().__init__(message)
        self.more = more


def squared(number: int) -> tuple[int, int]:
    """Square a number and say who did it; the small ones take longer than the great ones."""
    time.sleep(0.02 / (1 + number))
    return number * number, os.getpid()


def ignores_sigint(_: int) -> bool:
    """Say whether this process began with Ctrl-C blocked: nobody unblocks it."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


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


@dataclass(frozen=True)
class Slower:
    """Is quick with the first thing, and takes a minute for any other; each is told of when it is begun."""

    begun: Path

    def __call__(self, number: int) -> int:
        (self.begun / f"{number}-{os.getpid()}").touch()
        if number > 0:
            time.sleep(60.0)
        return number


@dataclass(frozen=True)
class Driving:
    """Begins each thing as a drive begins, which turns SIGTERM into SystemExit, and takes a minute for it."""

    begun: Path

    def __call__(self, number: int) -> int:
        with sigterm_raises():
            return Slow(self.begun)(number)


@dataclass(frozen=True)
class Dying:
    """Its number 1 ends its process, once number 0 is done and its answer is on the way."""

    done: Path

    def __call__(self, number: int) -> int:
        if number == 1:
            eventually((self.done / "0").exists)
            time.sleep(0.5)
            os._exit(3)
        (self.done / str(number)).touch()
        return number
