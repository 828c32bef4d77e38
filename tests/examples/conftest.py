"""What the tests of examples and pages share."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from posewright.contests import Contest, find_inconsistencies
from posewright.control import drive
from posewright.recordings import Inconsistency, Recording

RACE_S = 7.5
"""Enough of a race to record, draw, film and judge it; the passivity test is passed after 7 s."""


@pytest.fixture
def short_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """End every run after a few seconds; many runs take place in this process unless they ask for workers."""

    def drive_shortly(*arguments: Any, until_s: float, **options: Any) -> None:
        drive(*arguments, until_s=min(until_s, RACE_S), **options)

    monkeypatch.setattr("os.cpu_count", lambda: 1)
    run_module = importlib.import_module("posewright.runs.run")  # `posewright.runs.run` is the function
    monkeypatch.setattr(run_module, "drive", drive_shortly)

    def find_others(recording: Recording, contest: Contest | None = None) -> tuple[Inconsistency, ...]:
        """Return the contradictions besides that of a run that was cut short: no referee stopped it."""
        found = find_inconsistencies(recording, contest)
        return tuple(inconsistency for inconsistency in found if inconsistency.rule != "stop")

    monkeypatch.setattr("posewright.runs.ranking.find_inconsistencies", find_others)
