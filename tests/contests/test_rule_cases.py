"""Every clause of the rules has a case: a story, and the score that a judge must give for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contests.stories import differences, drifting, dropping, recording_of
from tests.contests.sums import sum_of

from posewright.contests import judge

CASES = Path(__file__).parent / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/scenario.yaml"))
IDS = [f"{folder.parent.name}-{folder.name}" for folder in FOLDERS]


def read_case(folder: Path, name: str) -> Any:
    return yaml.load((folder / name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


STORIES = [folder for folder in FOLDERS if "contest" in read_case(folder, "scenario.yaml")]
STORY_IDS = [f"{folder.parent.name}-{folder.name}" for folder in STORIES]


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_the_judge_gives_what_the_rules_say(folder: Path) -> None:
    assert (folder / "README.md").read_text(encoding="utf-8").strip()
    actual = sum_of(read_case(folder, "scenario.yaml")) or judge(recording_of(folder)).to_dict()
    assert differences(actual, read_case(folder, "expected.yaml")) == []


@pytest.mark.parametrize("folder", STORIES, ids=STORY_IDS)
@pytest.mark.parametrize("disturbed", [drifting, dropping])
def test_a_base_that_drifts_or_is_lost_for_100_ms_changes_nothing(folder: Path, disturbed: Any) -> None:
    actual = judge(disturbed(recording_of(folder))).to_dict()
    assert differences(actual, read_case(folder, "expected.yaml")) == []
