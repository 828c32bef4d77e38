"""Whatever moment a verb that writes is killed at, nothing is lost, and the next run leaves nothing over."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from .kills import VERBS, Shell, knock

KILLS = int(os.environ.get("POSEWRIGHT_KILLS", "10"))
IS_FUZZED = "POSEWRIGHT_KILLS" in os.environ
SLOW = ("contest run", "studio")
"""Verbs that only `make fuzz` kills: a run of them takes seconds."""

KILLED = [name for name in VERBS if IS_FUZZED or name not in SLOW]

QUICK = ("convert", "aibo archive add", "aibo add")


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell()


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be killed so")
@pytest.mark.parametrize("name", KILLED)
def test_a_verb_that_is_killed_loses_nothing_and_leaves_nothing(
    name: str, tmp_path: Path, shell: Shell
) -> None:
    times = max(1, KILLS // 5 if name in QUICK else KILLS // 10)
    rng = random.Random(name)  # noqa: S311 -- nothing secret
    assert knock(VERBS[name], tmp_path, times, rng, shell) == []
