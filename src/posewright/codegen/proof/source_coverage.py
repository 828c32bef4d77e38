"""Coverage of lines and branches of the generated C, as counted by gcov."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from posewright.codegen.targets.target import write_sources
from posewright.codegen.toolchains import run_tool
from posewright.codegen.unit import Records, SourceFile, UnitSpec, read_package_sources
from posewright.errors import InputError

PROGRAM = "unit_on_this_computer"


class MissedLine(NamedTuple):
    """A line that was not run: its file, its number from 1, and its text."""

    file: str
    number: int
    text: str


class _Line(NamedTuple):
    """A line of a file, by its number from 1."""

    file: str
    number: int


class _Branch(NamedTuple):
    """A branch of a line, by its number among the branches of the line."""

    line: _Line
    number: int


@dataclass(frozen=True)
class SourceCoverage:
    """Coverage of generated code.

    Attributes:
        n_lines: number of executable lines.
        n_lines_run: number of lines that were run.
        n_branches: number of branches of all conditions, as the compiler sees them: `a && b` has four.
        n_branches_taken: number of branches that were taken.
        missed: the lines that were not run.
    """

    n_lines: int
    n_lines_run: int
    n_branches: int
    n_branches_taken: int
    missed: tuple[MissedLine, ...]

    @property
    def line_coverage(self) -> float:
        """Fraction of the lines that were run."""
        return self.n_lines_run / self.n_lines if self.n_lines else 1.0

    @property
    def branch_coverage(self) -> float:
        """Fraction of the branches that were taken."""
        return self.n_branches_taken / self.n_branches if self.n_branches else 1.0

    def data(self) -> dict[str, Any]:
        """Return the coverage as plain data, fit for JSON."""
        return {
            "line_coverage": self.line_coverage,
            "branch_coverage": self.branch_coverage,
            "lines": self.n_lines,
            "branches": self.n_branches,
            "missed": [{"file": file, "line": line, "text": text} for file, line, text in self.missed],
        }


def cover_source(unit_spec: UnitSpec, episodes: Iterable[Records]) -> SourceCoverage:
    """Run episodes, each from a reset on, and return the coverage of the generated code.

    `unit.h` and `unit.c` around a chart, which only move records, do not count.

    Raises:
        UnavailableError: there is no gcc, or no gcov.
    """
    sources = unit_spec.sources()
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        program = build_program(sources, folder, ("-O0", "--coverage"))
        run_program(program, unit_spec, episodes)
        count_files = sorted(folder.glob(f"{PROGRAM}-*.gcda"))  # written by the program at its end
        options = ("--json-format", "--stdout", "--branch-probabilities")
        report = run_tool("gcov", *options, *count_files, folder=folder)
    has_chart_file = f"{unit_spec.name}.c" in {source.name for source in sources}
    lines_of_file = {
        source.name: source.lines
        for source in sources
        if not (has_chart_file and source.name.startswith("unit."))
    }
    return _add_up_counts([json.loads(line) for line in report.splitlines() if line.strip()], lines_of_file)


def build_program(sources: Sequence[SourceFile], folder: Path, flags: Sequence[str]) -> Path:
    """Write the sources of a unit into a folder, compile them with the driver, and return the program's path.

    Raises:
        UnavailableError: there is no gcc.
        CompileError: the compiler reports an error.
    """
    write_sources((*sources, *read_package_sources(__package__, ["driver.c"])), folder)
    c_files = ["driver.c", *(source.name for source in sources if source.name.endswith(".c"))]
    run_tool("gcc", "-std=c99", "-ffp-contract=off", *flags, "-o", PROGRAM, *c_files, "-lm", folder=folder)
    return folder / PROGRAM


def run_program(program: Path, unit_spec: UnitSpec, episodes: Iterable[Records]) -> Records:
    """Run a program of `build_program` with episodes, one after the other, and return all states.

    Args:
        program: the program.
        unit_spec: its unit, for the sizes of the records.
        episodes: the inputs, each from a reset on.

    Raises:
        InputError: the program fails.
    """
    driver_input = b"".join(_driver_commands(episode, unit_spec.input_dtype.itemsize) for episode in episodes)
    process = subprocess.run(
        [program], cwd=program.parent, input=driver_input, capture_output=True, check=False
    )
    if process.returncode:
        errors = process.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"{program.name} failed: {errors[0] if errors else process.returncode}")
    return np.frombuffer(process.stdout, unit_spec.state_dtype)


def _driver_commands(episode: Records, size: int) -> bytes:
    """Return the input of the driver for an episode: `R` for a reset, then `S` and each record for a step.

    Args:
        episode: the records of inputs.
        size: bytes of a record; 0 for a unit without inputs.
    """
    step_commands = np.full((len(episode), 1 + size), ord("S"), np.uint8)
    if size:
        step_commands[:, 1:] = np.ascontiguousarray(episode).view(np.uint8).reshape(-1, size)
    return b"R" + step_commands.tobytes()


def _add_up_counts(reports: Sequence[Any], lines_of_file: dict[str, tuple[str, ...]]) -> SourceCoverage:
    """Return the coverage of the generated files, with counts added up over the reports of gcov.

    Args:
        reports: the reports, each with the counts of some files.
        lines_of_file: the lines of the files that count, by name; others are left out.
    """
    line_counts: Counter[_Line] = Counter()
    branch_counts: Counter[_Branch] = Counter()
    covered_files = (file for report in reports for file in report["files"] if file["file"] in lines_of_file)
    for file in covered_files:
        for line_report in file["lines"]:
            line = _Line(file["file"], line_report["line_number"])
            line_counts[line] += line_report["count"]
            for number, branch_report in enumerate(line_report["branches"]):
                branch_counts[_Branch(line, number)] += branch_report["count"]
    missed_lines = [line for line, count in sorted(line_counts.items()) if not count]
    return SourceCoverage(
        len(line_counts),
        n_lines_run=len(line_counts) - len(missed_lines),
        n_branches=len(branch_counts),
        n_branches_taken=sum(count > 0 for count in branch_counts.values()),
        missed=tuple(
            MissedLine(line.file, line.number, lines_of_file[line.file][line.number - 1].strip())
            for line in missed_lines
        ),
    )
