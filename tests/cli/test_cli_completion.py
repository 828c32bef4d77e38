"""A shell that asks what it may offer gets names, quickly, and never an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from posewright.cli.app import run
from posewright.cli.completion import MOTION_FILES
from posewright.formats import FORMATS
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]
AIBO = Path(robot("sony_ers7").folder or "")
MEALY = Path(robot("robotis_bioloid").folder or "") / "behaviours/obstacle_mealy.chart.yaml"
HEAVY = ("mujoco", "matplotlib", "scipy", "cma", "sympy", "imageio_ffmpeg")


@pytest.fixture
def complete(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> object:
    def complete_line(line: str) -> list[str]:
        monkeypatch.setenv("_POSEWRIGHT_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", f"posewright {line}")
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) + line.endswith(" ")))
        run([])
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out.split()

    return complete_line


@pytest.mark.parametrize(
    ("line", "expected_name"),
    [
        ("robots show ", "sony_ers7"),
        ("gait run ", "trot"),
        ("gait list --robot so", "sony_ers7"),
        ("gait show --robot sony_ers7 ", "crawl"),
        ("gait run trot --body ", "random"),
        ("run ", "obstacle-race"),
        ("run --layout ", "random"),
        ("run --layout ex", "example_1"),
        ("run obstacle-race --behaviour ", "obstacle_race"),
        ("run --body m", "mock"),
        ("replay --camera ", "chase"),
        ("tune ", "fast"),
        ("stress ", "biped"),
        ("gait report ", "biped"),
        ("stress biped --factors sl", "slope"),
        ("stress biped --contest obst", "obstacle-race"),
        ("inspect ", "robotis_bioloid"),
        ("motion convert --to ", "aibo-omtn"),
        ("motion check --robot sony_ers7 --pose ", "broad_base"),
        (f"motion check {AIBO}/motions/nod.motion.yaml --pose ", "broad_base"),
        (f"motion info {AIBO}/motions/nod.motion.yaml --page ", "nod"),
        (f"chart run {MEALY} --from ", "turning_left"),
        ("aibo add --model ", "ERS-7"),
        ("gait sample trot --to ", "stand"),
        ("robots show sony_ers7 --section s", "servos"),
        ("basic check --strict ", "walk"),
    ],
)
def test_names_are_offered(complete: object, line: str, expected_name: str) -> None:
    names = complete(line)  # type: ignore[operator]  # the fixture's function
    assert expected_name in names
    assert len(set(names)) == len(names)
    assert all(name.startswith(line.rpartition(" ")[2]) for name in names)


def test_files_are_offered_by_how_they_end(
    complete: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("race.mcap", "b.chart.yaml", "kick.MTN", ".hidden.mcap", "with space.mcap", "notes.txt"):
        Path(name).touch()
    Path("folder").mkdir()
    assert complete("judge ") == ["folder/", "race.mcap"]  # type: ignore[operator]  # the fixture's function
    assert complete("judge ra") == ["race.mcap"]  # type: ignore[operator]  # as above
    assert complete("judge fo") == []  # type: ignore[operator]  # a shell goes into a folder by itself
    assert complete("motion info ./k") == ["./kick.MTN"]  # type: ignore[operator]  # as above
    assert complete("chart check b") == ["b.chart.yaml"]  # type: ignore[operator]  # as above


def test_whatever_ends_a_motion_file_is_offered() -> None:
    suffixes = {
        suffix for motion_format in FORMATS.values() for suffix in getattr(motion_format, "suffixes", ())
    }
    assert {suffix for suffix in suffixes if suffix not in (".yaml", ".yml")} <= set(MOTION_FILES)


@pytest.mark.parametrize(
    "line",
    [
        "motion info nowhere.mtn --page ",
        "motion check /dev/null --pose ",
        "gait show --robot nobody ",
        "chart run /dev/null --from ",
        "judge /nowhere/",
        "judge \x1b",
    ],
)
def test_where_nothing_can_be_offered_nothing_is_said(complete: object, line: str) -> None:
    assert complete(line) == []  # type: ignore[operator]  # the fixture's function


@pytest.mark.parametrize("line", ["run --layout ", "gait run ", "motion convert --to ", "robots show "])
def test_nothing_heavy_is_loaded_to_offer_a_name(line: str) -> None:
    variables = {"COMP_WORDS": f"posewright {line}", "COMP_CWORD": str(len(line.split()) + 1)}
    program = (
        "import sys\nfrom posewright.cli.app import run\nrun([])\n"
        f"print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    )
    environment = os.environ | variables | {"_POSEWRIGHT_COMPLETE": "complete_bash"}
    process = subprocess.run(  # noqa: S603 -- our own program
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert process.stdout
    assert process.stderr == "\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_answered(shell: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_POSEWRIGHT_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    variables = {"COMP_WORDS": "posewright gait run tr", "COMP_CWORD": "3"}
    if shell != "bash":
        variables = {"_TYPER_COMPLETE_ARGS": "posewright gait run tr"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    run([])
    assert "trot" in capsys.readouterr().out
