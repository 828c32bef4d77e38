"""The formula: `(300 - T) 7.5/300 + d/150 * 7.5 - (2 pen)^1.35`."""

from __future__ import annotations

import itertools
import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.cli.batch import summary_lines
from posewright.contests import ObstacleRace, ScoreTable, contest, rank, rules, score
from posewright.contests.obstacle_race.race import Race
from posewright.errors import InputError
from posewright.runs import Batch, BatchRun, report_of

TIMES = st.floats(0.0, 300.0)
DISTANCES = st.floats(0.0, 150.0)
PENALTIES = st.integers(0, 50)


def test_the_twelve_cases_of_the_rules_rank_as_printed_there():
    """A..D reach 0.5 m, E..H 1 m, I..L 1.5 m, with 0..3 penalties, all in the same time."""
    cases = itertools.product((50.0, 100.0, 150.0), range(4))
    points = {
        name: score(300.0, distance, penalties).raw_points
        for name, (distance, penalties) in zip(string.ascii_uppercase, cases, strict=False)
    }
    assert [standing.name for standing in rank(points)] == list("IEJAFKBGLCHD")


def test_a_perfect_leg_in_no_time_earns_fifteen():
    assert score(0.0, 150.0, 0).points == pytest.approx(15.0)


def test_one_penalty_costs_two_to_the_power_of_1_35():
    assert score(300.0, 150.0, 1).raw_points == pytest.approx(7.5 - 2.0**1.35)


@given(TIMES, DISTANCES, PENALTIES)
def test_the_terms_add_up_and_points_are_never_negative(time_s, distance_cm, penalties):
    leg = score(time_s, distance_cm, penalties)
    assert leg.raw_points == pytest.approx(leg.time_points + leg.distance_points - leg.penalty_points)
    assert leg.points == max(0.0, leg.raw_points)


@given(*[st.tuples(each, each).map(sorted) for each in (TIMES, DISTANCES, PENALTIES)])
def test_slower_shorter_or_more_often_touched_never_earns_more(times, distances, penalties):
    better = score(times[0], distances[1], penalties[0])
    worse = score(times[1], distances[0], penalties[1])
    assert better.raw_points >= worse.raw_points
    assert better.points >= worse.points


@given(TIMES, DISTANCES, st.integers(0, 49))
def test_every_further_penalty_costs_more_than_the_one_before(time_s, distance_cm, penalties):
    first, second, third = (score(time_s, distance_cm, penalties + added).raw_points for added in range(3))
    assert first - second < second - third


@pytest.mark.parametrize(
    ("time_s", "distance_cm", "penalties", "message"),
    [
        (-1.0, 10.0, 0, "0..300"),
        (300.5, 10.0, 0, "0..300"),
        (float("nan"), 10.0, 0, "0..300"),
        (10.0, 150.5, 0, "0..150"),
        (10.0, float("inf"), 0, "0..150"),
        (10.0, 10.0, -1, "0..1000"),
        (10.0, 10.0, 1.5, "whole number"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(time_s, distance_cm, penalties, message):
    with pytest.raises(InputError, match=message):
        score(time_s, distance_cm, penalties)


def test_places_earn_what_the_rules_say_and_ties_share_a_place():
    standings = rank({"a": 3.0, "b": 5.0, "c": 3.0, "d": -1.0})
    assert [(s.place, s.name, s.place_points) for s in standings] == [
        (1, "b", 35.0),
        (2, "a", 27.0),
        (2, "c", 27.0),
        (4, "d", 21.0),
    ]


def test_the_tenth_place_earns_nothing():
    standings = rank({f"robot {i}": -float(i) for i in range(10)})
    assert [s.place_points for s in standings] == [35, 29, 25, 21, 17, 13, 9, 5, 2, 0]
    assert rules().scoring.place_points == (35, 29, 25, 21, 17, 13, 9, 5, 2)


def test_who_gets_nowhere_earns_no_points_of_a_place():
    race = contest("obstacle-race")
    assert isinstance(race, ObstacleRace)
    nobody_moved = Race(race.rules).result()
    got_somewhere = replace(
        nobody_moved,
        legs=(replace(nobody_moved.legs[0], distance_cm=10.0), nobody_moved.legs[1]),
        raw_total=0.5,
    )
    penalised = replace(got_somewhere, raw_total=-3.0)
    assert nobody_moved.raw_total == 0.0
    assert race.earned([nobody_moved, got_somewhere, penalised]) == (0.0, 35.0, 25.0)


def test_raw_points_stand_beside_points_as_they_decide_the_place():
    result = replace(Race(rules()).result(), total_points=0.0, raw_total=-5.6)
    assert result.ranking == (-5.6,)
    assert result.figures["raw_points"] == -5.6
    run = BatchRun("8", figures=result.figures, ranking=result.ranking)
    other = BatchRun("9", figures={**result.figures, "points": 3.0, "raw_points": -1.0}, ranking=(-1.0,))
    batch = Batch("seed", measure="points", settings={}, runs=(run, other))
    assert "raw_points" in batch.csv()
    worst = next(line for line in summary_lines(batch, "") if line.startswith("worst"))
    assert worst.startswith("worst seed 8  points 0.00  raw points -5.60")
    assert "seed 8, raw points -5.60" in report_of(batch, with_pictures=False)


def test_an_entry_without_points_cannot_be_ranked():
    with pytest.raises(InputError, match="finite"):
        rank({"a": float("nan")})


def test_a_score_shows_itself_in_a_notebook():
    score_table = ScoreTable(("", "points"), (("leg <1>", "3"),), total=("total", "3"), notes=("a & b",))
    html = score_table._repr_html_()
    assert "<td>leg &lt;1&gt;</td>" in html
    assert "<th>total</th>" in html
    assert "<p>a &amp; b</p>" in html
