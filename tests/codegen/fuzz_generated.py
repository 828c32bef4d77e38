"""Millions of steps of the example charts' C under sanitizers: `make fuzz` takes ten million.

python -m tests.codegen.fuzz_generated STEPS
"""

from __future__ import annotations

import secrets
import sys
import tempfile
import time
from pathlib import Path

from posewright.charts import read_chart
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.source_coverage import build_program, run_program
from posewright.errors import InputError

CHARTS = sorted(Path("examples/charts").glob("*/*.chart.yaml"))
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
AT_ONCE = 100_000
"""Steps of a run of the program, whose answers are kept in memory."""


def fuzz(path: Path, steps: int, seed: int) -> int:
    """Take so many steps of a chart from a seed; return how many were taken.

    Raises:
        InputError: a sanitizer found something; its message is the first line of what it said.
    """
    unit_spec = ChartUnitSpec(read_chart(path))
    episodes = chart_stream(unit_spec.format).episodes(seed)
    taken = 0
    with tempfile.TemporaryDirectory() as folder:
        program = build_program(unit_spec.sources(), Path(folder), SANITIZED)
        while taken < steps:
            batch = [next(episodes)]
            while sum(map(len, batch)) < min(AT_ONCE, steps - taken):
                batch.append(next(episodes))
            taken += len(run_program(program, unit_spec, batch))
    return taken


def main(steps: int) -> int:
    """Share the steps among the charts; return how many charts had a finding."""
    found, began = 0, time.monotonic()
    for path in CHARTS:
        seed = secrets.randbelow(2**32)
        try:
            said = f"{fuzz(path, -(-steps // len(CHARTS)), seed)} steps, nothing found"
        except InputError as error:
            found += 1
            said = f"seed {seed}: {error}"
        sys.stdout.write(f"{path.stem}: {said}\n")
        sys.stdout.flush()
    took_s = time.monotonic() - began
    sys.stdout.write(f"{found} of {len(CHARTS)} charts had a finding, in {took_s:.0f} s\n")
    return found


if __name__ == "__main__":
    sys.exit(1 if main(int(float(sys.argv[1]))) else 0)
