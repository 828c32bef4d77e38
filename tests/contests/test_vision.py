"""The vision test: what a seed draws, and that a referee says what the judge says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.contests.stories import recording_of

from posewright.contests import contest
from posewright.contests.vision.contest import Vision
from posewright.contests.vision.rules import parse_turn
from posewright.contests.vision.scorekeeper import VisionScorekeeper
from posewright.errors import DocumentError, InputError

CASE = Path(__file__).parent / "cases" / "vision" / "all_right"
VISION = Vision()


@pytest.mark.parametrize("seed", range(12))
def test_the_codes_lead_to_each_box_once_and_back(seed: int) -> None:
    markers = VISION.field("", seed).markers
    box = 0
    boxes = []
    for _ in markers:
        boxes.append(box)
        box = (box + round(np.degrees(parse_turn(markers[box].text, VISION.rules)) / 45.0)) % 8
    assert (sorted(boxes), box) == (list(range(8)), 0)


@pytest.mark.parametrize("seed", range(12))
def test_codes_stand_every_45_degrees_as_far_away_as_the_rules_say(seed: int) -> None:
    arena = VISION.field("", seed)
    x, y, _ = VISION.start("robot", arena)
    places = np.array([(marker.x - x, marker.y - y) for marker in arena.markers])
    away = np.hypot(*places.T)
    assert np.allclose(np.degrees(np.arctan2(*places.T[::-1])) % 360.0, np.arange(8) * 45.0, atol=0.1)
    assert (away >= VISION.rules.nearest_m - 1e-3).all()
    assert (away <= VISION.rules.farthest_m + 1e-3).all()


def test_the_same_seed_draws_the_same_field_and_another_one_another() -> None:
    assert VISION.field("", 3) == VISION.field("", 3)
    assert VISION.field("", 3) != VISION.field("", 4)


@pytest.mark.parametrize("rows", [1, 7, 100])
def test_what_is_found_does_not_hang_on_how_rows_come_in_blocks(rows: int) -> None:
    recording = recording_of(CASE)
    account = VisionScorekeeper(VISION.rules, VISION.field("", 0))
    for begin in range(0, len(recording.times), rows):
        part = slice(begin, begin + rows)
        if account.advance(recording.times[part], recording.robot().base[part]):
            break
    assert tuple(account.turns) == VISION.judge(recording).turns


def test_right_turns_rank_before_time() -> None:
    recording = recording_of(CASE)
    complete = VISION.judge(recording)
    cut = VISION.judge(recording_of(CASE.parent / "fall"))
    assert complete.ranking > cut.ranking
    assert VISION.earned([complete, cut]) == (20.0, 2.5)
    assert "8 of 8" in complete.table().total[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("angles_deg: [45, 90, 135, 180]", "angles_deg: [45, 90]", "do not lead from box to box"),
        ("turns: 8", "turns: 9", "9 turns for 8 boxes"),
        ("nearest_m: 0.7", "nearest_m: 2.0", "nearest_m is greater than farthest_m"),
        ("points: 20", "points: many", "points"),
    ],
)
def test_rules_that_make_no_sense_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises((DocumentError, InputError), match=message):
        Vision(VISION.rules_text.replace(old, new))


def test_it_has_no_layouts_and_no_negative_seeds() -> None:
    with pytest.raises(InputError, match="no layout 'example_1'"):
        VISION.field("example_1", 0)
    with pytest.raises(InputError, match="negative"):
        VISION.field("", -1)


def test_it_is_found_by_its_name_and_that_of_its_rules() -> None:
    assert contest("vision").name == contest("ceabot_2017/vision").name == "ceabot_2017/vision"


def test_its_picture_shows_the_turns() -> None:
    picture = VISION.picture(recording_of(CASE))
    assert (picture.headline, len(picture.marks), len(picture.spans)) == ("8 of 8 turns right", 8, 8)
