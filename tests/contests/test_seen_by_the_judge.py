"""What the judge sees for itself: moves, falls, carries, and whether it looks at the right field."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from posewright.arenas import arena
from posewright.contests import ObstacleRace, RaceReferee, judge, rules
from posewright.errors import InputError, UnknownNameError

FALSE_START = "false start"


def with_rows(recording, **rows):
    """Return the recording with other rows of its robot, or another header."""
    if "header" in rows:
        return dataclasses.replace(recording, **rows)
    return dataclasses.replace(recording, robots={"soles": dataclasses.replace(recording.robot(), **rows)})


# --- the start is seen in what the joints do


def test_a_robot_that_moves_without_being_told_to_has_moved(scenario):
    recording = scenario().stand(3.0).walk(1.0, seconds=10.0).recording()
    silent = with_rows(recording, commands=np.zeros_like(recording.robot().commands))
    assert judge(silent) == judge(recording)
    assert FALSE_START in judge(silent).warnings[0]


def test_a_robot_that_is_told_to_move_and_stands_still_has_not_moved(scenario):
    recording = scenario().stand(3.0).walk(1.0, seconds=10.0).recording()
    stuck = with_rows(recording, positions=np.zeros_like(recording.robot().positions))
    assert judge(stuck).legs[0].started_at_s is None
    assert judge(stuck).warnings == ()


def test_where_nobody_measured_the_joints_what_they_were_told_counts(scenario):
    recording = scenario().stand(5.0).walk(1.0, seconds=10.0).recording()
    blind = with_rows(recording, positions=np.full_like(recording.robot().positions, np.nan))
    assert judge(blind) == judge(recording)


def test_servos_that_settle_under_the_robots_weight_are_no_false_start(scenario):
    """Simulated servos give way by 1.1 degrees at most when the robot is set down."""
    recording = scenario().stand(5.0).walk(1.0, seconds=10.0).recording()
    sag = np.radians(1.2) * (1.0 - np.exp(-recording.times / 0.1))[:, None]
    settling = with_rows(recording, positions=recording.robot().positions + sag)
    assert judge(settling).warnings == ()
    assert judge(settling).legs[0].started_at_s == pytest.approx(5.0, abs=0.3)


# --- falls are seen in the rows


def test_a_fall_that_nobody_noted_is_counted_and_said(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).fall(3.0).put_back().walk(1.5, seconds=5.0)
    result = judge(story.recording())
    assert (result.falls, result.penalties) == (1, ())
    assert result.warnings == ("the robot lay from 15.16 to 18.00 s and nobody touched it",)


def test_a_fall_that_was_noted_and_answered_is_one_fall(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).fall(2.0).note("fall").touch("fall").put_back()
    result = judge(story.walk(1.5, seconds=5.0).recording())
    assert (result.falls, len(result.penalties), result.warnings) == (1, 1, ())


def test_a_touch_answers_a_fall_that_nobody_called_one(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).fall(2.0).put_back().stand(1.0).touch("repair")
    result = judge(story.walk(1.5, seconds=5.0).recording())
    assert (result.falls, len(result.penalties), result.warnings) == (1, 1, ())


def test_of_two_falls_shortly_after_each_other_the_one_that_nobody_noted_is_said(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).fall(1.0).put_back().stand(0.5).fall(1.0)
    result = judge(story.note("fall").touch("fall").put_back().walk(1.5, seconds=5.0).recording())
    assert result.falls == 2
    assert [warning[:21] for warning in result.warnings] == ["the robot lay from 15"]


def test_a_stumble_is_no_fall_and_a_fall_after_the_end_is_none_either(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).fall(0.5).put_back().walk(2.2, seconds=10.0)
    story.turn(math.pi, seconds=4.0).walk(0.3, seconds=20.0).fall(3.0)
    result = judge(story.recording())
    assert result.finished
    assert (result.falls, result.warnings) == (0, ())


def test_a_robot_that_lies_until_its_time_is_over_lay_until_then(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=295.0).fall(20.0)
    (warning,) = judge(story.recording()).warnings
    ended_at_s = judge(story.recording()).legs[0].ended_at_s
    assert f"to {ended_at_s:.2f} s" in warning


# --- a line is walked over


def carried(scenario, *, reason="fall"):
    """Tell of a robot that falls before the far line and is put down behind it."""
    story = scenario().stand(5.0).walk(1.9, seconds=20.0).fall(1.0).note("fall").touch(reason)
    return story.put_back(moved_x=0.3)


def test_being_carried_over_the_line_wins_nothing(scenario):
    leg = judge(carried(scenario).fidget(2.0).walk(2.4, seconds=5.0).recording()).legs[0]
    assert (leg.finished, leg.reason) == (False, "the recording ends before")


def test_a_robot_that_was_carried_over_may_go_back_and_walk(scenario):
    story = carried(scenario).fidget(2.0).walk(1.9, seconds=5.0).walk(2.2, seconds=5.0)
    leg = judge(story.recording()).legs[0]
    assert leg.finished
    assert leg.ended_at_s == pytest.approx(story.now_s - 5.0 * (2.2 - 2.06) / 0.3, abs=0.1)


def test_without_a_touch_the_same_jump_is_a_crossing(scenario):
    """Nobody held it: however it got there, it did so by itself."""
    story = scenario().stand(5.0).walk(1.9, seconds=20.0).put_back(moved_x=0.3).fidget(2.0)
    assert judge(story.recording()).legs[0].finished


def test_a_touch_long_before_or_after_the_crossing_takes_nothing_away(scenario):
    story = scenario().stand(5.0).walk(1.9, seconds=20.0).touch("jam").walk(2.2, seconds=5.0).touch("jam")
    assert judge(story.recording()).legs[0].finished


def test_being_carried_home_wins_nothing(scenario):
    story = scenario().stand(5.0).walk(2.2, seconds=20.0).turn(math.pi, seconds=4.0).walk(0.6, seconds=15.0)
    story.fall(1.0).note("fall").touch("fall").put_back(moved_x=-0.3).fidget(2.0)
    first, second = judge(story.recording()).legs
    assert (first.finished, second.finished) == (True, False)


# --- the field is the one the rules name


def on_field(recording, **changes):
    told_of = {**arena(rules().arena).to_dict(), **changes}
    return with_rows(recording, header=dataclasses.replace(recording.header, arena=told_of))


def test_a_trace_from_another_arena_is_refused_unless_it_is_measured_alike(scenario):
    recording = scenario().stand(6.0).recording()
    assert judge(on_field(recording)) == judge(recording)
    assert judge(on_field(recording, name="our_gym", size_m=[2.503, 1.998])) == judge(recording)
    with pytest.raises(InputError, match=r"'living_room'.*is run on 'ceabot_obstacles'"):
        judge(on_field(recording, name="living_room", size_m=[3.0, 2.0]))


@pytest.mark.parametrize(
    "changes",
    [{"lines": [{"x": 0.5, "width_m": 0.02}, {"x": 1.0, "width_m": 0.02}]}, {"box_size_m": [0.1, 0.1, 0.1]}],
    ids=["lines", "boxes"],
)
def test_a_trace_whose_arena_is_measured_otherwise_is_refused(scenario, changes):
    with pytest.raises(InputError, match=next(iter(changes))):
        judge(on_field(scenario().stand(6.0).recording(), **changes))


@pytest.mark.parametrize("lost", ["name", "size_m", "lines", "box_size_m"])
def test_a_trace_that_leaves_out_a_measure_of_its_arena_is_refused(lost, scenario):
    recording = scenario().stand(6.0).recording()
    remaining = {key: value for key, value in recording.header.arena.items() if key != lost}
    for arena_of in (remaining, {}):
        with pytest.raises(InputError, match=r"has no arena|is missing"):
            judge(with_rows(recording, header=dataclasses.replace(recording.header, arena=arena_of)))


def test_a_referee_does_not_work_on_another_field():
    elsewhere = dataclasses.replace(arena(), name="living_room", size_m=(3.0, 2.0))
    with pytest.raises(InputError, match="living_room"):
        RaceReferee(rules(), elsewhere, None, lambda _: None)  # type: ignore[arg-type]  # no hands are needed


def test_rules_of_an_arena_that_does_not_ship_judge_nothing(scenario):
    with pytest.raises(UnknownNameError):
        judge(
            on_field(scenario().stand(6.0).recording(), name="living_room"),
            ObstacleRace(dataclasses.replace(rules(), arena="living_room")),
        )
