"""Fuzzes every reader with damaged files, in child processes with limits: `python -m tests.house.fuzz`.

    python -m tests.house.fuzz [--seconds S | --inputs N] [--from NUMBER] [READER ...]

Each input is drawn by its number, so that a finding can be repeated. A finding is an exception that is not
ours, a message that is not fit for a terminal, or a reader that needs more than 10 s of processor time or
400 MB; it is stored with the damaged file in `build/fuzz/readers`. Shrink the file, and make it
a case of `test_found_by_fuzzing.py`.
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
from dataclasses import dataclass
from pathlib import Path

from .damaged_files import damaged_file, describe_bad_message, error_in
from .reached import unreached_functions
from .readers import READERS, Reader

FINDINGS = Path("build/fuzz/readers")
SLICE = 200
"""Inputs of a child process, after which another reader has its turn."""

MAX_CPU_S = 10.0
MAX_BYTES = 400_000_000
MAX_GROWTH_BYTES = 3_000_000_000
"""What a child may allocate in all, so that a bomb ends it and not the machine."""

RECORD = 6
"""Numbers that a child tells its parent: the present input, how many were refused, the longest processor time
[us] and its input, the largest memory [bytes] and its input."""


@dataclass
class Tally:
    """What was tried on a reader."""

    inputs: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    slowest_input: int = 0
    largest_bytes: int = 0
    largest_input: int = 0


class Child:
    """Runs a slice of the inputs of a reader in this process, which has been forked for that.

    Args:
        kind: name of the reader.
        numbers: a shared memory of `RECORD` numbers.
    """

    def __init__(self, kind: str, numbers: memoryview) -> None:
        self._kind = kind
        self._reader = READERS[kind]
        self._numbers = numbers

    def run(self, first: int, count: int) -> None:
        """Try inputs; the process ends when one of them needs too much processor time."""
        faulthandler.register(signal.SIGPROF, chain=True)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used_bytes + MAX_GROWTH_BYTES,) * 2)
        warnings.simplefilter("error")
        logging.disable()
        with tempfile.TemporaryDirectory() as folder:
            self._reader.laid_out(Path(folder))
            for number in range(first, first + count):
                self._numbers[0] = number
                self._try(number, Path(folder))

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


def run_slice(kind: str, first: int, count: int, tally: Tally) -> None:
    """Try a slice of inputs in child processes, each of which ends at the first input that takes too long."""
    end = first + count
    while first < end:
        with mmap.mmap(-1, 8 * RECORD) as shared, memoryview(shared) as raw, raw.cast("q") as numbers:
            numbers[0] = first
            process = os.fork()
            if process == 0:
                status = 1
                try:
                    Child(kind, numbers).run(first, end - first)
                    status = 0
                except BaseException:  # a child must not go on as its parent
                    traceback.print_exc()
                finally:
                    os._exit(status)
            _, status = os.waitpid(process, 0)
            last, refused, slowest_us, slowest_input, largest_bytes, largest_input = numbers
        if status:
            reason = (
                signal.Signals(os.WTERMSIG(status)).name
                if os.WIFSIGNALED(status)
                else f"status {status >> 8}"
            )
            store(kind, last, f"the process ended by {reason}: SIGPROF means over {MAX_CPU_S:g} s")
        tally.inputs += last + 1 - first
        tally.refused += refused
        if slowest_us > 1e6 * tally.slowest_s:
            tally.slowest_s, tally.slowest_input = slowest_us / 1e6, slowest_input
        if largest_bytes > tally.largest_bytes:
            tally.largest_bytes, tally.largest_input = largest_bytes, largest_input
        first = last + 1


def describe(kind: str, tally: Tally) -> str:
    folder = FINDINGS / kind.replace(" ", "_").replace("'", "")
    n_findings = len(list(folder.iterdir())) if folder.is_dir() else 0
    return (
        f"{kind}: {tally.inputs} inputs, {tally.refused} refused, {n_findings} findings; slowest "
        f"{tally.slowest_s:.2f} s (input {tally.slowest_input}), largest {tally.largest_bytes / 1e6:.0f} MB "
        f"(input {tally.largest_input})"
    )


def main() -> int:
    """Fuzz the readers; return whether anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", default=list(READERS))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--inputs", type=int, default=0, help="of each reader; default: until the time is up")
    parser.add_argument("--from", dest="first", type=int, default=None, help="number of the first input")
    options = parser.parse_args()
    first = random.randrange(10**9) if options.first is None else options.first  # noqa: S311
    shutil.rmtree(FINDINGS, ignore_errors=True)
    readers: dict[str, Reader] = {kind: READERS[kind] for kind in options.readers if READERS[kind].seeds()}
    if unreached := unreached_functions() if len(readers) == len(READERS) else set():
        sys.exit(f"no reader of the table calls {', '.join(sorted(unreached))}")
    tallies = {kind: Tally() for kind in readers}
    ends_s = time.monotonic() + options.seconds
    most = options.inputs or sys.maxsize
    while time.monotonic() < ends_s and any(tally.inputs < most for tally in tallies.values()):
        for kind, tally in tallies.items():
            count = min(SLICE, most - tally.inputs)
            if count > 0 and time.monotonic() < ends_s:
                run_slice(kind, first + tally.inputs, count, tally)
                sys.stdout.write(describe(kind, tally) + "\n")
                sys.stdout.flush()
    total = sum(tally.inputs for tally in tallies.values())
    n_findings = len(list(FINDINGS.glob("*/*")))
    sys.stdout.write(f"{total} inputs from number {first}, {n_findings} findings in {FINDINGS}\n")
    return int(n_findings > 0)


if __name__ == "__main__":
    sys.exit(main())
