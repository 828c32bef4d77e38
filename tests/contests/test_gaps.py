"""A robot that is lost for a moment: what is taken for granted, and what is not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from tests.contests.stories import recording_of

from posewright.contests import judge
from posewright.contests.dropouts import fill_short_dropouts
from posewright.errors import InputError
from posewright.recordings import Recording

CASES = Path(__file__).parent / "cases"


def lost(recording: Recording, begin_s: float, end_s: float) -> Recording:
    rows = (recording.times > begin_s) & (recording.times < end_s)
    robots = {}
    for name, record in recording.robots.items():
        base = record.base.copy()
        feet = record.footprints.copy()
        base[rows], feet[rows] = np.nan, np.nan
        robots[name] = dataclasses.replace(record, base=base, footprints=feet)
    return dataclasses.replace(recording, robots=robots)


def test_a_robot_that_walks_moves_evenly_through_a_short_gap():
    recording = recording_of(CASES / "obstacle_race" / "there_and_back")
    filled = fill_short_dropouts(lost(recording, 10.0, 10.2)).robot()
    complete = recording.robot()
    assert filled.base == pytest.approx(complete.base, abs=1e-9)
    assert filled.footprints == pytest.approx(complete.footprints, abs=1e-9)


def test_at_the_beginning_and_the_end_it_stands_where_it_is_seen_next():
    recording = recording_of(CASES / "stairs" / "all_six_steps")
    end_s = float(recording.times[-1])
    for gap in ((-1.0, 0.1), (end_s - 0.1, end_s + 1.0)):
        assert fill_short_dropouts(lost(recording, *gap)).robot().base == pytest.approx(
            recording.robot().base, abs=1e-9
        )


@pytest.mark.parametrize("begin_s", [16.85, 16.9, 16.95, 16.99])
def test_a_robot_that_was_put_behind_a_line_while_it_was_lost_has_not_walked_there(begin_s):
    recording = recording_of(CASES / "obstacle_race" / "carried_over_the_line")
    with_gap = lost(recording, begin_s, begin_s + 0.15)
    assert not judge(with_gap).to_dict()["legs"][0]["finished"]
    assert fill_short_dropouts(with_gap).robot().base == pytest.approx(recording.robot().base, abs=0.02)


@pytest.mark.parametrize("gap", [(10.0, 11.0), (-1.0, 1000.0)])
def test_a_long_gap_stays_and_such_a_recording_is_not_judged(gap):
    recording = lost(recording_of(CASES / "obstacle_race" / "there_and_back"), *gap)
    assert fill_short_dropouts(recording) is recording
    with pytest.raises(InputError, match="where the robot's base"):
        judge(recording)
