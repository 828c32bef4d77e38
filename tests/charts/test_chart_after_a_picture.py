"""A chart is proved in a process that has drawn a picture, whatever libraries drawing brings into it."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
