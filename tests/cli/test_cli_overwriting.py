"""No verb writes its result over the file it reads, and a result lost at a closed stdout is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from posewright.arenas import Box, write_layout

TABLE = "a,next_a,out\n0,1,1\n1,0,0\n"


@pytest.mark.parametrize("arguments", [("chart", "draw"), ("chart", "table"), ("chart", "minimise")])
def test_a_chart_is_not_overwritten_by_what_is_made_of_it(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    chart = tmp_path / "machine.svg"
    chart.write_text(TABLE)
    assert _run(*arguments, chart, "-o", chart) == 2
    assert chart.read_text() == TABLE


def test_a_layout_is_not_overwritten_by_the_recording(tmp_path: Path) -> None:
    layout = tmp_path / "lay.mcap"
    write_layout(layout, [Box(1.2, 0.0)])
    before = layout.read_bytes()
    assert _run("run", "--layout", layout, "--record", layout) == 2
    assert layout.read_bytes() == before


@pytest.mark.parametrize("words", ["robots list --json", "--help"])
def test_a_result_that_cannot_be_written_to_a_closed_stdout_is_an_error(words: str) -> None:
    command = f"{sys.executable} -m posewright {words} >&-"
    process = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)  # noqa: S603, S607 -- our own program
    assert (process.returncode, process.stderr) == (1, "error: stdout: not writable\n")


def _run(*arguments: object) -> int:
    command = [sys.executable, "-m", "posewright", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False).returncode  # noqa: S603 -- our own program
