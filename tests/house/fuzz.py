"""Fuzzes every reader with damaged files, in child processes with limits: `python -m tests.house.fuzz`.

    python -m tests.house.fuzz [--seconds S | --inputs N | --total N] [--jobs N] [--from NUMBER] [READER ...]

Readers take turns of `TURN_INPUTS` inputs or `TURN_S` seconds of processor time, so that slow ones do not
hold up the others. Each input is drawn by its number, so that a finding can be repeated. A finding is an
exception that is not ours, a message that is not fit for a terminal, or a reader that needs more than 10 s of
processor time or 400 MB; it is stored with the damaged file in `build/fuzz/readers`. Shrink the file, and
make it a case of `test_found_by_fuzzing.py`.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import mmap
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from .damaged_files import damaged_file, describe_bad_message, error_in
from .reached import unreached_functions
from .readers import READERS, Reader

FINDINGS = Path("build/fuzz/readers")
TURN_INPUTS = 200
TURN_S = 2.0
MIN_TURN_INPUTS = 20
"""A child process ends after `TURN_INPUTS` inputs, or when its processor time [s] is used up, but not before
`MIN_TURN_INPUTS`, as the first of some readers takes seconds to fill caches."""

MAX_CPU_S = 10.0
MAX_BYTES = 400_000_000
MAX_GROWTH_BYTES = 3_000_000_000
"""What a child may allocate in all, so that a bomb ends it and not the machine."""

RECORD = 6
"""Numbers that a child tells its parent: the present input, how many were refused, the longest processor time
[us] and its input, the largest memory [bytes] and its input."""


@dataclass
class Tally:
    """What was tried on a reader, and the processor time of its child processes [s]."""

    inputs: int = 0
    used_s: float = 0.0
    refused: int = 0
    slowest_s: float = 0.0
    slowest_input: int = 0
    largest_bytes: int = 0
    largest_input: int = 0


class Child:
    """Runs a turn of a reader in this process, which has been forked for that.

    Args:
        kind: name of the reader.
        numbers: a shared memory of `RECORD` numbers.
    """

    def __init__(self, kind: str, numbers: memoryview) -> None:
        self._kind = kind
        self._reader = READERS[kind]
        self._numbers = numbers

    def run(self, first: int, count: int) -> None:
        """Try inputs until the turn is over; the process is killed if one needs too much processor time."""
        faulthandler.register(signal.SIGPROF, chain=True)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used_bytes + MAX_GROWTH_BYTES,) * 2)
        warnings.simplefilter("error")
        logging.disable()
        end_s = time.process_time() + TURN_S
        with tempfile.TemporaryDirectory() as folder:
            self._reader.laid_out(Path(folder))
            for number in range(first, first + count):
                self._numbers[0] = number
                self._try(number, Path(folder))
                if time.process_time() > end_s and number >= first + MIN_TURN_INPUTS - 1:
                    return

    def _try(self, number: int, folder: Path) -> None:
        name, data = input_of(self._kind, number)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        start_bytes, start_s = peak_bytes(), time.process_time()
        signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
        finding = ""
        try:
            message = error_in(self._reader, folder, name, data)
            finding = describe_bad_message(message)
            self._numbers[1] += bool(message)
        except BaseException:  # any exception that is not ours is a finding
            finding = traceback.format_exc()
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        taken_us, grown_bytes = int(1e6 * (time.process_time() - start_s)), peak_bytes() - start_bytes
        if taken_us > self._numbers[2]:
            self._numbers[2], self._numbers[3] = taken_us, number
        if grown_bytes > self._numbers[4]:
            self._numbers[4], self._numbers[5] = grown_bytes, number
        if grown_bytes > MAX_BYTES:
            finding = finding or f"it needs {grown_bytes / 1e6:.0f} MB"
        if finding:
            store(self._kind, number, finding)


def input_of(kind: str, number: int) -> tuple[str, bytes]:
    """Return the name and the content of a numbered input of a reader."""
    rng = random.Random(f"{kind} {number}")  # noqa: S311 -- nothing secret
    return damaged_file(READERS[kind], READERS[kind].seeds(), rng)


def peak_bytes() -> int:
    """Return the largest memory that this process has used since its peak was reset."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status[status.index("VmHWM:") + 6 :].split()[0])


def store(kind: str, number: int, finding: str) -> None:
    """Store a finding with its input."""
    name, data = input_of(kind, number)
    folder = FINDINGS / kind.replace(" ", "_").replace("'", "") / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / Path(name).name).write_bytes(data)
    (folder / "finding.txt").write_text(finding, encoding="utf-8", errors="backslashreplace")


class Turn:
    """A turn of a reader: a child process that tries some inputs, and ends at the first that takes too long.

    Args:
        kind: name of the reader.
        first: number of the first input.
        count: largest number of inputs.

    Attributes:
        kind: name of the reader.
        process: ID of the child process.
    """

    def __init__(self, kind: str, first: int, count: int) -> None:
        self.kind = kind
        self._first = first
        self._shared = mmap.mmap(-1, 8 * RECORD)
        with memoryview(self._shared) as raw, raw.cast("q") as numbers:
            numbers[0] = first
            self.process = os.fork()
            if self.process != 0:
                return
            status = 1
            try:
                Child(kind, numbers).run(first, count)
                status = 0
            except BaseException:  # a child must not go on as its parent
                traceback.print_exc()
            finally:
                os._exit(status)

    def finish(self, status: int, tally: Tally) -> None:
        """Add the results to a tally, after the child process has ended with a wait status."""
        with self._shared, memoryview(self._shared) as raw, raw.cast("q") as numbers:
            last, refused, slowest_us, slowest_input, largest_bytes, largest_input = numbers
        if status:
            reason = (
                signal.Signals(os.WTERMSIG(status)).name
                if os.WIFSIGNALED(status)
                else f"status {status >> 8}"
            )
            store(self.kind, last, f"the process ended by {reason}: SIGPROF means over {MAX_CPU_S:g} s")
        tally.inputs += last + 1 - self._first
        tally.refused += refused
        if slowest_us > 1e6 * tally.slowest_s:
            tally.slowest_s, tally.slowest_input = slowest_us / 1e6, slowest_input
        if largest_bytes > tally.largest_bytes:
            tally.largest_bytes, tally.largest_input = largest_bytes, largest_input


def describe(kind: str, tally: Tally) -> str:
    folder = FINDINGS / kind.replace(" ", "_").replace("'", "")
    n_findings = len(list(folder.iterdir())) if folder.is_dir() else 0
    return (
        f"{kind}: {tally.inputs} inputs, {tally.inputs / max(tally.used_s, 1e-9):.0f} a second, "
        f"{tally.refused} refused, {n_findings} findings; slowest "
        f"{tally.slowest_s:.2f} s (input {tally.slowest_input}), largest {tally.largest_bytes / 1e6:.0f} MB "
        f"(input {tally.largest_input})"
    )


def main() -> int:
    """Fuzz the readers; return whether anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", default=list(READERS))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="of each reader")
    parser.add_argument("--total", type=int, default=sys.maxsize, help="number of inputs of all readers")
    parser.add_argument("--jobs", type=int, default=1, help="number of child processes at a time")
    parser.add_argument("--from", dest="first", type=int, default=None, help="number of the first input")
    options = parser.parse_args()
    first = random.randrange(10**9) if options.first is None else options.first  # noqa: S311
    shutil.rmtree(FINDINGS, ignore_errors=True)
    readers: dict[str, Reader] = {kind: READERS[kind] for kind in options.readers if READERS[kind].seeds()}
    if unreached := unreached_functions() if len(readers) == len(READERS) else set():
        sys.exit(f"no reader of the table calls {', '.join(sorted(unreached))}")
    tallies = {kind: Tally() for kind in readers}
    ends_s = time.monotonic() + options.seconds
    waiting = deque(tallies)
    running: dict[int, Turn] = {}
    while True:
        total = sum(tally.inputs for tally in tallies.values())
        is_over = time.monotonic() >= ends_s or total >= options.total
        while waiting and len(running) < options.jobs and not is_over:
            kind = waiting.popleft()
            n_done = tallies[kind].inputs
            turn = Turn(kind, first + n_done, min(TURN_INPUTS, options.inputs - n_done))
            running[turn.process] = turn
        if not running:
            break
        process, status, usage = os.wait3(0)
        turn = running.pop(process)
        tally = tallies[turn.kind]
        turn.finish(status, tally)
        tally.used_s += usage.ru_utime + usage.ru_stime
        sys.stdout.write(describe(turn.kind, tally) + "\n")
        sys.stdout.flush()
        if tally.inputs < options.inputs:
            waiting.append(turn.kind)
    n_findings = len(list(FINDINGS.glob("*/*")))
    sys.stdout.write(f"{total} inputs from number {first}, {n_findings} findings in {FINDINGS}\n")
    return int(n_findings > 0)


if __name__ == "__main__":
    sys.exit(main())
