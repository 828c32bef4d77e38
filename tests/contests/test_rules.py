"""Rules as data: every number has its source, what is wrong in a document is said by line."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import pytest

from posewright.arenas import arena
from posewright.contests import Measures, contest, contest_names, inspect_measures, parse_rules, rules
from posewright.contests.obstacle_race.leg import LegCourse
from posewright.documents import parse_document
from posewright.errors import DocumentError, InputError, UnknownNameError


def pickled(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 -- our own bytes


DATED = ("obstacle-race", "obstacle-race-2017", "passivity-test", "passivity-test-2017")


@pytest.mark.parametrize("name", [*DATED, "stairs", "stairs-2017", "sumo", "sumo-2017"])
def test_every_number_of_every_rules_document_has_its_source(name):
    document = dict(parse_document(contest(name).rules_text).value)
    sources = document.pop("sources")
    sections = {name: part for name, part in document.items() if name not in {"rules", "title", "arena"}}
    numbers = {name for name, part in sections.items() if not isinstance(part, dict)}
    numbers |= {f"{name}.{key}" for name, part in sections.items() if isinstance(part, dict) for key in part}
    assert set(sources) == numbers


def test_rules_and_field_agree():
    field = arena(rules().arena)
    course = rules().course
    first = field.lines[course.first_line - 1]
    second = field.lines[course.second_line - 1]
    assert rules().put_back.least_m < rules().put_back.clearance_m < field.gap_m / 2
    assert second.x - first.x == rules().scoring.distance_limit_cm / 100
    assert 0.0 < course.start_x_m < first.x


def test_legs_lead_between_the_lines_of_the_arenas_own_document():
    first, second = arena(rules().arena).lines
    leg_1 = LegCourse.from_rules(rules(), 1)
    leg_2 = LegCourse.from_rules(rules(), 2)
    assert (leg_1.from_x_m, leg_1.to_x_m) == (first.x, second.x + second.width_m / 2)
    assert (leg_2.from_x_m, leg_2.to_x_m) == (second.x, first.x - first.width_m / 2)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, dataclasses.replace, pickled])
def test_rules_cannot_be_written_to_and_can_be_copied_and_sent(again):
    """A pool of processes sends them by pickling."""
    with pytest.raises(TypeError):
        rules().sources["clock.wait_s"] = "me"
    assert again(rules()) == rules()
    with pytest.raises(TypeError):
        again(rules()).sources["clock.wait_s"] = "me"


def test_angles_are_degrees_in_the_document_and_radians_inside():
    assert rules().fall.turn_rad == pytest.approx(math.pi / 4)


def test_rules_survive_their_own_text():
    assert parse_rules(rules().text) == rules()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("wait_s: 5", "wait_s: soon", "clock.wait_s: expected a number"),
        ("wait_s: 5", "wait_m: 5", "wait_s"),
        ("second_line: 2", "second_line: 1", "not beyond"),
        ("second_line: 2", "second_line: 3", "two of the 2 lines"),
        ("first_line: 1 ", "first_line: 0.5 ", "course.first_line"),
        ("arena: ceabot_obstacles", "arena: ceabot_sumo", "there is no arena 'ceabot_sumo'"),
        ("time_limit_s: 300", "time_limit_s: 0", "above 0"),
        ("penalty_exponent: 1.35", "penalty_exponent: 1e5", "out of range"),
        ("place_points: [35, 29", "place_points: [-35, 29", "out of range"),
    ],
)
def test_a_damaged_document_is_refused_by_name(old, new, message):
    with pytest.raises(InputError, match=message):
        parse_rules(rules().text.replace(old, new), "mine.rules.yaml")


def test_an_unknown_contest_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="obstacle-race"):
        contest("obstacle-rase")
    assert {"obstacle-race", "passivity-test"} <= set(contest_names())


def test_a_contest_is_found_by_the_name_of_its_rules_too():
    assert contest("ceabot_2013/obstacle_race").rules == rules()


def test_rules_cannot_be_read_from_outside_the_folder():
    with pytest.raises(UnknownNameError):
        contest("../../etc/passwd")
    with pytest.raises(DocumentError):
        parse_rules("just text")


def test_a_bioloid_may_enter_and_a_giant_may_not():
    assert inspect_measures("bioloid", Measures(0.397, 1.9, 0.105, 2)).passed
    giant = inspect_measures("giant", Measures(0.51, 3.5, 0.115, 4))
    broken = [verdict for verdict in giant.verdicts if not verdict.passed]
    assert [verdict.measure for verdict in broken] == ["height", "foot length", "mass", "legs"]
    assert str(broken[2]) == "mass 3.5 kg: at most 3 kg, failed"
    assert all(verdict.source.startswith("CEABOT rules 2013") for verdict in giant.verdicts)


def test_the_limits_themselves_are_allowed_and_nonsense_is_refused():
    assert inspect_measures("limit", Measures(0.5, 3.0, 0.11, 2)).passed
    with pytest.raises(InputError, match="mass"):
        inspect_measures("nothing", Measures(0.4, float("nan"), 0.1, 2))


def test_rules_of_before_that_do_not_tell_the_legs_mean_two():
    lines = [line for line in rules().text.splitlines() if "legs:" not in line]
    assert parse_rules("\n".join(lines)).entry.legs == 2
