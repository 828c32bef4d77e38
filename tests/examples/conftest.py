"""What the tests of examples and pages share."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from posewright.control import drive

RACE_S = 5.0
"""Enough of a race, or of another contest, to record, draw, film and judge it."""


@pytest.fixture
def short_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """End every run of this process after a few seconds."""

    def drive_shortly(*arguments: Any, until_s: float, **options: Any) -> None:
        drive(*arguments, until_s=min(until_s, RACE_S), **options)

    run_module = importlib.import_module("posewright.runs.run")  # `posewright.runs.run` is the function
    monkeypatch.setattr(run_module, "drive", drive_shortly)
