"""The examples that `posewright gait VERB --help` gives can be typed as they stand."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer

from posewright.cli import gait, gait_run, gait_sample
from posewright.cli.app import run
from posewright.gaits import QuadrupedGait, QuadrupedGenerator, gait_text, read_gait
from posewright.robots import Robot, robot

VERBS = (
    gait.list_gaits,
    gait.show,
    gait.plot,
    gait_sample.sample,
    gait_run.run,
    gait_run.compare,
)
EXAMPLES = [
    line
    for verb in VERBS
    for line in re.findall(r"^ +posewright (gait .+)$", verb.__doc__ or "", re.MULTILINE)
]


def only_asked_for(opened: QuadrupedGait, card: Robot, options: gait_run.WalkOptions, *_: object) -> NoReturn:
    """Ask a gait for a command instead of walking it, which takes its time."""
    QuadrupedGenerator(opened, card).request(options.command)
    raise typer.Exit(0)


def only_planned(opened: QuadrupedGait, card: Robot, *, command: Any) -> None:
    """Ask a gait for a command instead of drawing it."""
    if command is not None:
        QuadrupedGenerator(opened, card).request(command)


def test_every_verb_has_examples() -> None:
    told = {line.split()[1] for line in EXAMPLES}
    assert told == {"list", "show", "plot", "sample", "run", "compare"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_help_is_not_refused(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = robot("sony_ers7").folder
    assert folder is not None
    shutil.copytree(folder, "my_robot")
    Path("my_gaits").mkdir()
    for name in ("my", "my_trot", "my_gaits/slow"):
        Path(f"{name}.gait.yaml").write_text(gait_text(read_gait("trot")), encoding="utf-8")
    monkeypatch.setattr(gait_run, "_walk", only_asked_for)
    monkeypatch.setattr(gait_run, "_run_on_many_bodies", only_asked_for)
    monkeypatch.setattr(gait_run, "_run_on_other_body", only_asked_for)
    monkeypatch.setattr("posewright.figures.draw_gait", only_planned)
    monkeypatch.setattr("posewright.figures.save_figure", lambda _figure, _path: None)
    assert run(shlex.split(example.partition(" >")[0])) == 0, capsys.readouterr().err
