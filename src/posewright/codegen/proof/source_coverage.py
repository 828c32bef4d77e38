"""Which lines and branches of the generated C a stream of inputs runs, as gcov counts them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from posewright.codegen.targets.target import write_sources
from posewright.codegen.toolchains import run_tool
from posewright.codegen.unit import Records, SourceFile, Subject, shipped
from posewright.errors import InputError

PROGRAM = "unit_on_this_computer"


@dataclass(frozen=True)
class SourceCoverage:
    """How much of the generated code was run.

    Attributes:
        lines: that do something.
        lines_run: of them.
        branches: ways out of all conditions, as the compiler sees them: `a && b` has four.
        branches_taken: of them.
        missed: lines that were not run: file, number, text.
    """

    lines: int
    lines_run: int
    branches: int
    branches_taken: int
    missed: tuple[tuple[str, int, str], ...]

    @property
    def line_coverage(self) -> float:
        """The part of the lines that were run, 0 to 1."""
        return self.lines_run / self.lines if self.lines else 1.0

    @property
    def branch_coverage(self) -> float:
        """The part of the branches that were taken, 0 to 1."""
        return self.branches_taken / self.branches if self.branches else 1.0

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "line_coverage": self.line_coverage,
            "branch_coverage": self.branch_coverage,
            "lines": self.lines,
            "branches": self.branches,
            "missed": [{"file": file, "line": line, "text": text} for file, line, text in self.missed],
        }


def cover_source(subject: Subject, episodes: Iterable[Records]) -> SourceCoverage:
    """Run episodes, each from a reset on, and return how much of the generated code they run.

    The unit around a chart, which moves records and is not on a robot, does not count.

    Raises:
        UnavailableError: there is no gcc, or no gcov.
    """
    sources = subject.sources()
    with TemporaryDirectory() as name:
        folder = Path(name)
        program = build_program(sources, folder, ("-O0", "--coverage"))
        run_program(program, subject, episodes)
        counted = sorted(folder.glob(f"{PROGRAM}-*.gcda"))
        report = run_tool(
            "gcov", "--json-format", "--stdout", "--branch-probabilities", *counted, folder=folder
        )
    own = f"{subject.name}.c" in {source.name for source in sources}  # then the unit only moves records
    texts = {one.name: one.lines for one in sources if not (own and one.name.startswith("unit."))}
    return _counted([json.loads(line) for line in report.splitlines() if line.strip()], texts)


def build_program(sources: Sequence[SourceFile], folder: Path, flags: Sequence[str]) -> Path:
    """Write a unit into a folder and compile it for this computer, with the driver; return the program.

    Raises:
        UnavailableError: there is no gcc.
        CompileError: the compiler finds something to say.
    """
    write_sources((*sources, *shipped(__package__, ["driver.c"])), folder)
    units = ["driver.c", *(source.name for source in sources if source.name.endswith(".c"))]
    run_tool("gcc", "-std=c99", "-ffp-contract=off", *flags, "-o", PROGRAM, *units, "-lm", folder=folder)
    return folder / PROGRAM


def run_program(program: Path, subject: Subject, episodes: Iterable[Records]) -> Records:
    """Return what a program of `build_program` does with episodes, one after the other.

    Raises:
        InputError: it fails, and says why.
    """
    given = b"".join(_commands(episode, subject.inputs.itemsize) for episode in episodes)
    done = subprocess.run([program], cwd=program.parent, input=given, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"{program.name} failed: {said[0] if said else done.returncode}")
    return np.frombuffer(done.stdout, subject.states)


def _commands(episode: Records, size: int) -> bytes:
    """Return what the driver reads for an episode."""
    commands = np.full((len(episode), size + 1), ord("S"), np.uint8)
    if size:
        commands[:, 1:] = np.ascontiguousarray(episode).view(np.uint8).reshape(-1, size)
    return b"R" + commands.tobytes()


def _counted(reports: Sequence[Any], texts: dict[str, tuple[str, ...]]) -> SourceCoverage:
    """Return what gcov reports of the generated files: a line's counts, from all objects it is in."""
    lines: dict[tuple[str, int], int] = {}
    branches: dict[tuple[str, int, int], int] = {}
    for report in reports:
        for file in report["files"]:
            for line in file["lines"] if file["file"] in texts else ():
                place = (file["file"], line["line_number"])
                lines[place] = lines.get(place, 0) + line["count"]
                for number, branch in enumerate(line["branches"]):
                    way = (*place, number)
                    branches[way] = branches.get(way, 0) + branch["count"]
    missed = [place for place, count in sorted(lines.items()) if not count]
    return SourceCoverage(
        len(lines),
        len(lines) - len(missed),
        len(branches),
        sum(count > 0 for count in branches.values()),
        tuple((file, number, texts[file][number - 1].strip()) for file, number in missed),
    )
