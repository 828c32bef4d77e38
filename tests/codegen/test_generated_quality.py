"""Generated code under a static analyser, strict compilers and sanitizers, and how much of it is run."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import read_chart
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.proof.input_generation import chart_stream
from posewright.codegen.proof.proving import source_coverage
from posewright.codegen.proof.source_coverage import build_program, run_program
from posewright.codegen.proof.verification import compare_records, run_from_reset
from posewright.codegen.toolchains import STRICT

from .conftest import need_tool
from .fuzz_generated import fuzz

CHARTS = sorted(Path("examples/charts").glob("*/*.chart.yaml"))

ALLOWED = {
    "knownConditionTrueFalse": "guards stand as the chart has them, also where one follows from another",
    "duplicateCondition": "the same: two transitions may ask the same",
    "redundantCondition": "the same: a transition asks for a time that another one in the guard is within",
    "variableScope": "declarations stand at the head of a function, as MISRA's users have them",
    "unusedFunction": "what a chart offers is called by others",
    "missingIncludeSystem": "the headers of the standard library are not analysed",
}
"""What cppcheck may find, and why."""


def written(path: Path, folder: Path) -> ChartUnitSpec:
    unit_spec = ChartUnitSpec(read_chart(path))
    for source in unit_spec.sources():
        (folder / source.name).write_text(source.text)
    return unit_spec


def said_by(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.parametrize("path", CHARTS, ids=lambda path: path.stem)
def test_generated_code_is_clean_as_c99_as_c_plus_plus_and_for_a_static_analyser(
    path: Path, tmp_path: Path
) -> None:
    for tool in ("gcc", "g++", "cppcheck"):
        need_tool(tool)
    unit_spec = written(path, tmp_path)
    assert said_by(["gcc", *STRICT, "-Wshadow", "-c", f"{unit_spec.name}.c", "unit.c"], tmp_path) == ""
    header = ["g++", "-std=c++11", "-Wall", "-Wextra", "-fsyntax-only", "-xc++", f"{unit_spec.name}.h"]
    assert said_by(header, tmp_path) == ""
    rules = ["--enable=warning,style,performance,portability", "--std=c99", "--error-exitcode=1", "--quiet"]
    rules += [f"--suppress={name}" for name in ALLOWED]
    assert said_by(["cppcheck", *rules, "."], tmp_path) == ""


@pytest.mark.parametrize("path", CHARTS, ids=lambda path: path.stem)
def test_sanitizers_find_nothing_and_states_are_the_interpreters(path: Path, tmp_path: Path) -> None:
    need_tool("gcc")
    unit_spec = ChartUnitSpec(read_chart(path))
    flags = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = build_program(unit_spec.sources(), tmp_path, flags)
    episodes = list(islice(chart_stream(unit_spec.format, covering=False).episodes(4), 20))
    reference = unit_spec.reference()
    expected = np.concatenate([run_from_reset(reference, episode) for episode in episodes])
    assert not compare_records(expected, run_program(program, unit_spec, episodes)).any()


def test_what_make_fuzz_does_takes_all_steps_it_is_asked_for() -> None:
    need_tool("gcc")
    path = next(path for path in CHARTS if "sumo" in path.stem)
    assert 5_000 <= fuzz(path, 5_000, seed=6) < 10_000


@pytest.mark.parametrize("name", ["document/obstacle_mealy", "button_lamp/button_lamp"])
def test_the_generated_scenarios_run_every_line_of_a_flat_chart(name: str) -> None:
    need_tool("gcov")
    covered = source_coverage(
        ChartUnitSpec(read_chart(Path(f"examples/charts/{name}.chart.yaml"))), steps=2000
    )
    assert covered.missed == ()
    assert covered.line_coverage == 1.0
    assert 0.9 < covered.branch_coverage <= 1.0
