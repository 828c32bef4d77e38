"""How long `import posewright` takes, each time in a fresh interpreter, and what it loads."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

from benchmarks.figure import Figure

HEAVY = ("numpy", "scipy", "mujoco", "matplotlib", "sympy")

_PROGRAM = f"""
import json, sys, time
began = time.perf_counter()
import posewright
seconds = time.perf_counter() - began
print(json.dumps([seconds, [name for name in {HEAVY!r} if name in sys.modules]]))
"""


def measure(times: int) -> tuple[list[float], list[str]]:
    """Return the times of so many imports [s], and which heavy libraries they loaded."""
    results = []
    for _ in range(times):
        process = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)  # noqa: S603  # our own program
        results.append(json.loads(process.stdout))
    return [seconds for seconds, _ in results], sorted({name for _, names in results for name in names})


def figures(times: int = 10) -> list[Figure]:
    """Return the shortest and the median import, and how many heavy libraries it loads."""
    seconds, loaded = measure(times)
    note = f"of {times} fresh processes"
    return [
        Figure("import posewright, shortest", min(seconds), "s", note=note),
        Figure("import posewright, median", statistics.median(seconds), "s", below=0.15, note=note),
        Figure("heavy libraries it loads", float(len(loaded)), below=1.0, note=", ".join(loaded)),
    ]
