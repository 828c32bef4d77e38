"""A chart is proved in a process that has drawn a picture.

Mesa's LLVM may bring a second, older Z3 into the process; the two must not be mixed up.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from posewright.charts.proof.smt import own_symbols

SCRIPT = """
from posewright.errors import UnavailableError
from posewright.robots import robot
from posewright.simulation import Film, World
try:
    Film(World(robot("robotis_bioloid")), 32, 24).close()
except UnavailableError:
    raise SystemExit(77)
from posewright.charts import FloatType, Scope, parse_expression
from posewright.charts.proof import Prover
TYPES = {"d": FloatType(0.0, 5.0)}
answer = Prover(TYPES).satisfiable(true=[parse_expression("d > 0.25 and d < 0.5", Scope(TYPES))])
print(answer.case["d"])
"""


def test_a_number_is_found_after_a_picture_was_drawn() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)  # noqa: S603 -- our own words
    if done.returncode == 77:
        pytest.skip("nothing can be drawn here")
    assert done.returncode == 0, done.stderr
    assert 0.25 < float(done.stdout) < 0.5


@pytest.mark.skipif(not hasattr(os, "RTLD_DEEPBIND"), reason="libraries are loaded here as z3 says")
def test_a_library_that_does_not_load_is_left_to_z3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "libz3.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr(own_symbols, "_library", lambda: broken)
    own_symbols.keep_own_symbols()
