"""Every clause of the rules has a case: a story, and the score that a judge must give for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.contests.stories import differences, drifting, dropping, recording_of

from posewright.contests import judge

CASES = Path(__file__).parent / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/scenario.yaml"))
IDS = [f"{folder.parent.name}-{folder.name}" for folder in FOLDERS]


def expected(folder: Path) -> object:
    return yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_the_judge_gives_what_the_rules_say(folder: Path) -> None:
    assert (folder / "README.md").read_text(encoding="utf-8").strip()
    assert differences(judge(recording_of(folder)).to_dict(), expected(folder)) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
@pytest.mark.parametrize("disturbed", [drifting, dropping])
def test_a_base_that_drifts_or_is_lost_for_100_ms_changes_nothing(folder: Path, disturbed: object) -> None:
    told = disturbed(recording_of(folder))  # type: ignore[operator]  # one of the two
    found = judge(told).to_dict()
    wanted = expected(folder)
    assert differences(found, wanted) == []
