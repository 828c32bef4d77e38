"""`posewright motion new`: a file to begin with, and never in the place of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.cli.app import run
from posewright.formats import read_motion
from posewright.robots import robot


def test_a_new_motion_is_one_keyframe_in_a_named_pose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["motion", "new", "high five", "--robot", "sony_ers7", "--pose", "sit"]
    assert run(words) == 0
    made = read_motion("high_five.motion.yaml")
    assert made.name == "high five"
    (frame,) = made.keyframes
    assert frame.pose.angles == pytest.approx(robot("sony_ers7").pose("sit"), abs=2e-4)
    before = Path("high_five.motion.yaml").read_bytes()
    assert run(words) == 2
    assert "already" in capsys.readouterr().err
    assert Path("high_five.motion.yaml").read_bytes() == before


@pytest.mark.parametrize(
    "words", [["--robot", "nobody"], ["--robot", "sony_ers7", "--pose", "headstand"], []]
)
def test_a_wrong_word_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["motion", "new", "x", *words]) == 2
    assert list(tmp_path.iterdir()) == []
