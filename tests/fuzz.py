"""Search with fresh seeds for what the random tests deny: `make fuzz SECONDS=600`.

Each round runs every hypothesis test with a seed of its own. What fails is kept: the examples in
`build/fuzz/examples`, which the next `make fuzz` tries first, and a report in `build/fuzz/seed-N.txt`.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from pathlib import Path

KEPT = Path("build/fuzz")
NOTHING_COLLECTED = 5


def main(seconds: float, tests: list[str]) -> int:
    """Search for so long [s]; return how many rounds found something."""
    KEPT.mkdir(parents=True, exist_ok=True)
    ends, found, rounds = time.monotonic() + seconds, 0, 0
    while (left := ends - time.monotonic()) > 0.0:
        seed = secrets.randbelow(2**32)
        command = [sys.executable, "-m", "pytest", "-m", "hypothesis", "-n", "2", "-q", *tests]
        options = ["--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(  # noqa: S603 -- our own interpreter and tests
                [*command, *options], capture_output=True, text=True, check=False, timeout=left
            )
        except subprocess.TimeoutExpired:
            break
        rounds += 1
        if done.returncode == NOTHING_COLLECTED:
            sys.exit(f"no random tests in {' '.join(tests)}")
        if done.returncode:
            found += 1
            report = KEPT / f"seed-{seed}.txt"
            report.write_text(done.stdout + done.stderr, encoding="utf-8")
            failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
            print(f"seed {seed}: see {report}", *failed, sep="\n  ", flush=True)
        else:
            print(f"seed {seed}: nothing found", flush=True)
    print(f"{found} of {rounds} rounds found something")
    return found


if __name__ == "__main__":
    sys.exit(1 if main(float(sys.argv[1]), sys.argv[2:] or ["tests"]) else 0)
