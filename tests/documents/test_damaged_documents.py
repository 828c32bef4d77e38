"""Numbers of any length are refused in an error of ours (other damage: tests/house/test_damaged_files.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import posewright as pw
from posewright.errors import PosewrightError

GAIT = Path(pw.__file__).parent / "robots" / "catalogue" / "sony_ers7" / "gaits" / "trot.gait.yaml"


def test_a_whole_number_may_have_any_number_of_digits(tmp_path: Path) -> None:
    text, count = re.subn(r"(?m)^(  \w+): .*", r"\1: 1" + "0" * 400, GAIT.read_text())
    assert count
    (tmp_path / "x.gait.yaml").write_text(text)
    with pytest.raises(PosewrightError):
        pw.read_gait(tmp_path / "x.gait.yaml")
    for key in re.findall(r"(?m)^  (\w+): ", GAIT.read_text()):
        other = re.sub(rf"(?m)^  {key}: .*", f"  {key}: 1{'0' * 400}", GAIT.read_text())
        (tmp_path / "x.gait.yaml").write_text(other)
        with pytest.raises(PosewrightError):
            pw.read_gait(tmp_path / "x.gait.yaml")
