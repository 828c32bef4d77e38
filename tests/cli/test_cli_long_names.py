"""A name that no disk takes is a person's mistake, whichever verb it is given to."""

from __future__ import annotations

from pathlib import Path

import pytest

import posewright as pw
from posewright.cli.app import EXIT_BAD_INPUT, run

MOTION = str(Path(pw.robot("sony_ers7").folder or "") / "motions" / "nod.motion.yaml")
LONG = "n" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ("motion", "info", LONG),
        ("motion", "convert", MOTION, f"{LONG}.mtn"),
        ("motion", "plot", MOTION, "-o", f"{LONG}.png"),
        ("motion", "film", MOTION, "-o", f"{LONG}.png"),
        ("motion", "sample", MOTION, "--rate", "8", "-o", f"{LONG}.csv"),
        ("aibo", "archive", "list", LONG),
        ("aibo", "archive", "create", f"{LONG}.oda", MOTION),
        ("aibo", "archive", "extract", LONG, "-o", "x"),
        ("aibo", "check", LONG),
        ("aibo", "add", MOTION, "--id", "1", "--stick", LONG),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_it_is_one_line_and_nothing_is_written(
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(list(arguments)) == EXIT_BAD_INPUT
    assert capsys.readouterr().err.count("error: ") == 1
    assert list(tmp_path.iterdir()) == []
