"""Contests on fields of one's own: what each needs, and what it says before a run where that is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import posewright as pw
from posewright.arenas import (
    BOX,
    Arena,
    Box,
    BoxKind,
    Role,
    Shape,
    obstacle_distances,
    read_arena,
    write_arena,
)
from posewright.contests import check_own_field, contest, contest_names, find_arena, prepare_own_field, rules
from posewright.contests.obstacle_race.put_back import find_clear_place
from posewright.contests.obstacle_race.referee import JamDetector
from posewright.errors import InputError

PAGE = Path(__file__).parents[2] / "docs" / "arenas.md"
GREY = (0.5, 0.5, 0.5)


def printed_arena(folder: Path) -> Arena:
    """Return the arena that the page docs/arenas.md prints."""
    text = PAGE.read_text().split("```yaml\n")[1].split("```")[0]
    path = folder / "mine.arena.yaml"
    path.write_text(text)
    return read_arena(path)


def messages(name: str, field: Arena) -> list[str]:
    return [fault.message for fault in check_own_field(contest(name), field)]


def test_the_arena_that_the_page_prints_suits_the_race_without_a_warning(tmp_path: Path) -> None:
    race = contest("obstacle-race")
    prepared = prepare_own_field(race, printed_arena(tmp_path), "", 0)
    assert prepared.max_boxes == 6
    assert not [fault for fault in check_own_field(race, prepared) if fault.prevents_run]


def test_a_robot_is_put_back_beside_a_hill_and_not_on_it(tmp_path: Path) -> None:
    """On the page's arena it was put on the hill again and again: 42 falls, -383.8 points."""
    field = printed_arena(tmp_path).with_boxes(())
    place = find_clear_place(0.9, 0.0, np.empty((0, 7)), field, rules=rules().put_back, forward=1.0)
    assert obstacle_distances([place], field)[0, 0] >= rules().put_back.clearance_m - 1e-9


def test_a_robot_that_stays_at_a_hill_is_jammed_as_at_a_wall(tmp_path: Path) -> None:
    field = printed_arena(tmp_path).with_boxes(())
    detector = JamDetector(rules().jam, field)
    base = np.array([0.8, 0.0, 0.25, 1.0, 0.0, 0.0, 0.0])
    jams = [detector.advance(0.1 * step, base, np.empty((1, 0), dtype=bool)) for step in range(2000)]
    first_jam = next(jam for jam in jams if jam is not None)
    assert first_jam.box is None


def test_a_race_on_the_page_s_arena_goes_on_after_a_fall(tmp_path: Path) -> None:
    printed_arena(tmp_path)
    outcome = pw.run_trial("obstacle-race", arena=tmp_path / "mine.arena.yaml")
    falls = outcome.recording.events_of("fall")
    assert len(falls) < 10
    assert not [remark for remark in outcome.remarks if "too many" in remark]


def test_a_race_says_everything_that_another_field_lacks(tmp_path: Path) -> None:
    field = replace(find_arena("stairs"), box_kinds={BOX: BoxKind((0.3, 0.3, 0.3), 1.0, 0.5)},
                    colours={**find_arena("stairs").colours, BOX: GREY})  # fmt: skip
    write_arena(tmp_path / "other.arena.yaml", field)
    with pytest.raises(InputError) as error:
        pw.run_trial("obstacle-race", arena=tmp_path / "other.arena.yaml")
    text = str(error.value)
    assert "it is 2.7 x 2 m (ceabot_2013/obstacle_race needs 2.5 x 2 m)" in text
    assert "its lines are at x = 0.5 m, x = 0.7 m" in text
    assert "0.02 m wide, at x = 0.5 m and x = 2 m, in this order" in text
    assert "boxes of the kind box are 0.3 x 0.3 x 0.3 m" in text


def test_a_start_in_furniture_or_at_a_box_is_told_with_its_name() -> None:
    field = find_arena("ceabot_obstacles")
    table = Shape("table", Role.FURNITURE, 0.25, 0.1, (0.3, 0.3, 0.2))
    furnished = replace(
        field, shapes=(*field.shapes, table), colours={**field.colours, "furniture": GREY}
    ).with_boxes([Box(0.25, -0.2)])
    told = messages("obstacle-race", furnished)
    assert "the robot starts at x = 0.25, y = 0 m, 0.000 m from table" in told
    assert "the robot starts at x = 0.25, y = 0 m, 0.100 m from box 1" in told


@pytest.mark.parametrize("name", contest_names())
def test_the_own_field_of_every_contest_suits_it(name: str) -> None:
    shipped = contest(name)
    for seed in range(3):
        assert [
            fault for fault in check_own_field(shipped, shipped.field("", seed)) if fault.prevents_run
        ] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sumo", "it has no ring"),
        ("stairs", "the field has no stairs"),
        ("passivity-test", "it has 0 boxes"),
        ("vision", "it has 0 codes"),
    ],
)
def test_other_contests_say_what_the_field_of_the_race_lacks(name: str, message: str) -> None:
    assert message in messages(name, find_arena("ceabot_obstacles"))


def test_sumo_takes_place_on_a_club_s_ring_of_the_right_size() -> None:
    ring = find_arena("sumo")
    shifted = replace(
        ring,
        name="club_ring",
        size_m=(3.0, 3.0),
        shapes=tuple(replace(shape, x=shape.x + 0.25, y=0.2) for shape in ring.shapes),
        spots={},
    )
    prepared = prepare_own_field(contest("sumo"), shifted, "", 0)
    assert abs(prepared.spots["red_1"].y - 0.2) <= 0.1
    small = replace(shifted, shapes=(replace(shifted.shapes[0], size_m=(1.0, 1.0, 0.0)), *shifted.shapes[1:]))
    with pytest.raises(InputError, match=r"its ring is 1 m across .1\.5 m by"):
        prepare_own_field(contest("sumo"), small, "", 0)


def test_a_layout_on_an_own_field_without_boxes_says_what_is_missing() -> None:
    field = replace(find_arena("ceabot_obstacles"), box_kinds={}, boxes=())
    with pytest.raises(InputError, match="has no kind of boxes"):
        prepare_own_field(contest("obstacle-race"), field, "random", 0)
