"""Layouts that break the contest's rules are raced on and spoken of, or refused where that is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import posewright as pw
from posewright.arenas import Box, write_layout
from posewright.errors import InputError


def test_a_narrow_gap_beside_the_way_is_remarked_on(tmp_path: Path) -> None:
    write_layout(tmp_path / "narrow.layout.yaml", [Box(1.2, 0.5)])
    run = pw.run_trial(layout=tmp_path / "narrow.layout.yaml")
    assert any("gap" in remark for remark in run.remarks)
    assert run.score.finished
    with pytest.raises(InputError, match="gap"):
        pw.run_trial(layout=tmp_path / "narrow.layout.yaml", legal=True)


def test_a_legal_layout_needs_no_remark() -> None:
    assert pw.run_trial(layout="random", seed=21).remarks == ()


def test_boxes_in_one_another_are_refused_always(tmp_path: Path) -> None:
    write_layout(tmp_path / "odd.layout.yaml", [Box(1.2, 0.5), Box(1.25, 0.5)])
    with pytest.raises(InputError, match="overlap"):
        pw.run_trial(layout=tmp_path / "odd.layout.yaml")
