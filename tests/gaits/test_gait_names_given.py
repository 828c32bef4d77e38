"""A gait's name where a gait is wanted is refused, and what reads it is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import posewright as pw

COMMAND = pw.VelocityCommand(0.1)


@pytest.mark.parametrize(
    "door",
    [
        pw.check_gait,
        pw.draw_gait,
        lambda gait: pw.walk_gait(gait, command=COMMAND),
        lambda gait: pw.sample_gait(gait, command=COMMAND),
    ],
)
def test_the_name_of_a_gait_is_no_gait(door: Callable[[Any], Any]) -> None:
    with pytest.raises(pw.PosewrightError, match=r"'trot' is the name of a gait.*read_gait"):
        door("trot")


def test_legs_are_found_by_a_robots_name() -> None:
    assert len(pw.legs_of("sony_ers7")) == 4
