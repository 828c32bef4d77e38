"""Every verb that writes a file names its endings before it works, and writes no other file."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright import robots
from posewright.cli.app import run
from posewright.formats import write_motion
from posewright.motions import create_motion

CHART = "chart: light\nperiod_s: 0.1\ninputs: {go: bool}\ninitial: off\nstates: {'off': {}}\n"

WRITING = {
    "motion new wave --robot sony_ers7 -o": ".motion.yaml",
    "motion convert walk.motion.yaml": ".mtn",
    "motion plot walk.motion.yaml -o": ".svg",
    "motion film walk.motion.yaml -o": ".mp4",
    "motion sample walk.motion.yaml --rate 8 -o": ".csv",
    "motion check walk.motion.yaml --physics --record": ".mcap",
    "motion play walk.motion.yaml --record": ".mcap",
    "gait sample trot --forward 0.1 -o": ".motion.yaml",
    "gait plot trot -o": ".svg",
    "gait run trot --plot": ".svg",
    "gait run trot --record": ".mcap",
    "tune trot --journal": ".jsonl",
    "tune trot -o": ".yaml",
    "tune trot --plot": ".svg",
    "chart draw light.chart.yaml -o": ".svg",
    "chart convert light.chart.yaml -o": ".scxml",
    "chart table light.chart.yaml -o": ".csv",
    "chart minimise light.chart.yaml -o": ".csv",
    "chart diff light.chart.yaml light.chart.yaml -o": ".csv",
    "chart run light.chart.yaml -o": ".csv",
    "chart run light.chart.yaml --input go=1 --plot": ".svg",
    "chart cover light.chart.yaml --draw": ".svg",
    "run --record": ".mcap",
    "run --plot": ".svg",
    "run --controller arduino-uno --states-plot": ".svg",
    "run --video": ".mp4",
    "rank no.mcap --csv": ".csv",
    "contest rank . --csv": ".csv",
    "robots export sony_ers7 --to urdf -o": ".urdf",
    "arena plot sumo -o": ".svg",
    "arena export sumo": ".xml",
    "arena import box.obj -o": ".yaml",
    "aibo run move_head --diagram": ".mmd",
    "aibo run move_head --record": ".mcap",
    "basic run walk --record": ".mcap",
    "basic motions walk.motion.yaml -o": ".bas",
    "basic format own.bas -o": ".bas",
    "robi assemble dance.lst -o": ".rm4",
    "robi list dance -o": ".lst",
    "robi list dance --motion": ".motion.yaml",
    "bus calibrate --pose stand -o": ".yaml",
    "bus teach -o": ".motion.yaml",
    "serve sony_ers7 --record": ".mcap",
}
"""Verbs with the option that names the file to write, and one of the endings that they must name."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_motion(create_motion("walk", robots.robot("sony_ers7")), tmp_path / "walk.motion.yaml")
    (tmp_path / "light.chart.yaml").write_text(CHART)
    (tmp_path / "own.bas").write_text("MOVE G6A,100,76,145,93,100,100\n")
    (tmp_path / "dance.lst").write_text("")
    (tmp_path / "box.obj").write_text("o floor\nv 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n")
    return tmp_path


@pytest.mark.parametrize("words", WRITING)
def test_another_ending_is_an_error_that_names_the_endings(
    folder: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    code = run([*words.split(), "out.exe"])
    error = capsys.readouterr().err.splitlines()[-1]
    assert code == 2
    assert error.startswith("error: out.exe: '.exe' is not the ending of ")
    assert WRITING[words] in error
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("words", ["motion convert walk.motion.yaml", "motion plot walk.motion.yaml -o"])
@pytest.mark.parametrize("name", ["CON", "aux:", "a\\b"])
def test_a_name_that_windows_does_not_allow_is_not_written(folder: Path, words: str, name: str) -> None:
    before = sorted(folder.iterdir())
    assert run([*words.split(), f"{name}{WRITING[words]}"]) == 2
    assert sorted(folder.iterdir()) == before
