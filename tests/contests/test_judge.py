"""The judge: every rule is a short story of a robot, and what is to be written down for it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from posewright.contests import ObstacleRace, Race, contest_of, judge, read_rules, rules, score
from posewright.contests.obstacle_race.race import Rows
from posewright.errors import InputError
from posewright.recordings import Event, Recording

FAR_EDGE = 2.01
SOLE_REAR = 0.05


def race(story):
    """Wait, cross, turn round, come back: 25 s there, 30 s back with 5 s of turning in them."""
    return (
        story.stand(5.0).walk(2.2, seconds=25.0).turn(math.pi, seconds=5.0).walk(0.3, seconds=25.0).stand(1.0)
    )


def test_both_legs_there_and_back(scenario):
    """The clock runs from the first step after the wait; a leg ends when the last heel is over the line."""
    result = judge(race(scenario()).recording())
    first, second = result.legs
    crossing = (FAR_EDGE + SOLE_REAR - 0.25) / (2.2 - 0.25) * 25.0
    assert first.finished
    assert first.time_s == pytest.approx(crossing, abs=0.1)
    assert second.finished
    coming = 5.0 + (2.2 - (0.49 - SOLE_REAR)) / (2.2 - 0.3) * 25.0
    assert second.ended_at_s == pytest.approx(30.0 + coming, abs=0.1)
    assert second.started_at_s == first.ended_at_s
    assert second.time_s == pytest.approx(second.ended_at_s - first.ended_at_s)
    assert first.distance_cm == second.distance_cm == 150.0
    assert (result.falls, result.penalties, result.warnings) == (0, (), ())
    assert result.finished


def test_points_are_the_formulas_and_totals_are_sums(scenario):
    result = judge(race(scenario()).recording())
    for leg in result.legs:
        by_formula = score(leg.time_s, leg.distance_cm, leg.penalties)
        assert (leg.points, leg.raw_points) == (by_formula.points, by_formula.raw_points)
    assert result.total_points == sum(leg.points for leg in result.legs)
    assert result.raw_total == sum(leg.raw_points for leg in result.legs)


def test_a_heel_on_the_line_has_not_crossed_it(scenario):
    story = scenario().stand(5.0).walk(FAR_EDGE + SOLE_REAR - 0.001, seconds=20.0).fidget(300.0)
    first, second = judge(story.recording()).legs
    assert not first.finished
    assert first.reason == "time out"
    assert first.distance_cm == pytest.approx(150.0)
    assert first.time_s == 300.0
    assert (second.started_at_s, second.points, second.reason) == (None, 0.0, "not begun")


def test_a_leg_may_take_three_hundred_seconds_and_no_more(scenario):
    """The clock of 300 s begins with the first step, not with the start."""
    late = scenario().stand(50.0).walk(1.0, seconds=200.0).walk(2.2, seconds=99.0).fidget(5.0)
    assert judge(late.recording()).legs[0].finished
    too_late = scenario().stand(50.0).walk(1.0, seconds=301.0).walk(2.2, seconds=5.0)
    leg = judge(too_late.recording()).legs[0]
    assert not leg.finished
    assert leg.ended_at_s == pytest.approx(350.0, abs=0.2)
    assert leg.distance_cm == pytest.approx((0.25 + 0.75 * 300 / 301 - SOLE_REAR - 0.5) * 100.0, abs=0.2)


def test_distance_is_to_the_back_of_the_rearmost_foot(scenario):
    leg = judge(scenario().stand(5.0).walk(1.3, seconds=20.0).recording()).legs[0]
    assert leg.distance_cm == pytest.approx((1.3 - SOLE_REAR - 0.5) * 100.0)
    assert (leg.time_s, leg.reason) == (300.0, "the recording ends before")


def test_before_the_line_there_is_no_distance(scenario):
    assert judge(scenario().stand(5.0).walk(0.5, seconds=20.0).recording()).legs[0].distance_cm == 0.0


def test_on_the_way_back_distance_is_measured_from_the_far_line(scenario):
    story = scenario().stand(5.0).walk(2.2, seconds=20.0).turn(math.pi, seconds=4.0).walk(1.4, seconds=10.0)
    assert judge(story.recording()).legs[1].distance_cm == pytest.approx((2.0 - 1.4 - SOLE_REAR) * 100.0)


def test_moving_before_five_seconds_are_over_is_noted_and_the_clock_waits(scenario):
    result = judge(scenario().stand(3.0).walk(2.2, seconds=30.0).recording())
    assert "false start" in result.warnings[0]
    assert "3." in result.warnings[0]
    assert result.legs[0].started_at_s == pytest.approx(5.0, abs=0.1)


def test_a_robot_that_never_moves_gets_nothing(scenario):
    first, second = judge(scenario().stand(310.0).recording()).legs
    assert (first.started_at_s, first.points, first.reason) == (None, 0.0, "the robot never moved")
    assert second.points == 0.0


def test_coming_back_without_turning_round_is_noted(scenario):
    story = scenario().stand(5.0).walk(2.2, seconds=20.0).walk(0.3, seconds=20.0)
    result = judge(story.recording())
    assert result.legs[1].finished
    assert "without turning round" in result.warnings[0]


def test_each_touch_costs_a_penalty_in_its_leg(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).fall().note("fall").touch("fall").put_back()
    story.walk(2.2, seconds=15.0).touch("jam").turn(math.pi, seconds=5.0).touch("jam").walk(0.3, seconds=20.0)
    result = judge(story.recording())
    assert [(penalty.leg, penalty.reason) for penalty in result.penalties] == [
        (1, "fall"),
        (2, "jam"),
        (2, "jam"),
    ]
    assert [leg.penalties for leg in result.legs] == [1, 2]
    assert result.falls == 1
    assert result.legs[0].raw_points == pytest.approx(
        score(result.legs[0].time_s, 150.0, 0).raw_points - 2.0**1.35
    )


def test_what_comes_after_the_end_costs_nothing(scenario):
    story = race(scenario(boxes=((1.0, 0.5),))).walk(0.25, push={0: (1.0, 0.9)}, seconds=3.0).touch("jam")
    result = judge(story.note("fall").recording())
    assert (result.penalties, result.falls) == ((), 0)


def test_a_displaced_box_costs_one_penalty_however_far_it_is_pushed(scenario):
    story = scenario(boxes=((1.0, 0.0),)).stand(5.0)
    story.walk(1.0, seconds=10.0, push={0: (1.4, 0.0)}).fidget(3.0).walk(1.4, seconds=5.0)
    result = judge(story.recording())
    assert [(p.leg, p.reason, p.box) for p in result.penalties] == [(1, "box_moved", 1)]
    assert result.penalties[0].time_s == pytest.approx(5.0 + 10.0 * 0.02 / 0.4, abs=0.05)


def test_a_box_pushed_again_after_it_came_to_rest_costs_again(scenario):
    story = scenario(boxes=((1.0, 0.0), (1.5, 0.5))).stand(5.0)
    story.walk(0.8, seconds=3.0, push={0: (1.1, 0.0)}).fidget(3.0)
    story.walk(0.9, seconds=3.0, push={0: (1.2, 0.0)}).fidget(3.0)
    assert len(judge(story.recording()).penalties) == 2


def test_a_box_nudged_by_less_than_the_threshold_costs_nothing(scenario):
    story = (
        scenario(boxes=((1.0, 0.0),)).stand(5.0).walk(0.8, seconds=3.0, push={0: (1.019, 0.0)}).fidget(3.0)
    )
    assert judge(story.recording()).penalties == ()


def test_a_box_turned_on_the_spot_is_displaced(scenario):
    recording = scenario(boxes=((1.0, 0.0),)).stand(5.0).fidget(5.0).recording()
    boxes = recording.boxes.copy()
    turned = recording.times > 7.0
    boxes[turned, 0, 3], boxes[turned, 0, 6] = math.cos(0.1), math.sin(0.1)
    assert len(judge(dataclasses.replace(recording, boxes=boxes)).penalties) == 1


def test_what_a_leg_lost_is_told_in_points_and_in_words(scenario):
    story = scenario(boxes=((1.0, 0.5), (1.5, -0.5))).stand(5.0).walk(1.0, seconds=3.0, push={1: (1.5, -0.7)})
    result = judge(story.fidget(3.0).recording())
    for leg in result.legs:
        assert leg.raw_points + leg.time_loss + leg.distance_loss + leg.penalty_loss == pytest.approx(15.0)
    assert result.legs[0].penalty_loss == pytest.approx(2.0**1.35)
    notes = result.table().notes
    assert notes[0].startswith("leg 1 lost points: 7.50 to time, ")
    assert notes[0].endswith("2.55 to 1 penalty")
    assert notes[2].endswith("a box was displaced (box 2)")


def test_a_recording_that_was_cut_short_says_why_and_one_that_was_not_says_how_it_ended(scenario):
    stop = Event(7.0, "stop", {"reason": "nothing moved for 30 s"})
    cut = scenario().stand(5.0).walk(1.0, seconds=3.0).recording()
    result = judge(dataclasses.replace(cut, events=(*cut.events, stop)))
    assert [leg.reason for leg in result.legs] == ["nothing moved for 30 s", "not begun"]
    complete = race(scenario()).recording()
    leg = judge(dataclasses.replace(complete, events=(*complete.events, stop))).legs[0]
    assert leg.reason == "line fully crossed"


def test_a_fall_onto_a_box_is_one_incident(scenario):
    story = scenario(boxes=((1.0, 0.0),)).stand(5.0).walk(0.8, seconds=5.0)
    since = story.now_s
    story.fall(push={0: (1.2, 0.0)}).note("fall").touch("fall", since_s=since).put_back().walk(
        0.9, seconds=3.0
    )
    assert [penalty.reason for penalty in judge(story.recording()).penalties] == ["fall"]


def test_a_touch_because_of_a_displaced_box_is_not_counted_twice(scenario):
    story = scenario(boxes=((1.0, 0.0),)).stand(5.0).walk(0.8, seconds=5.0, push={0: (1.2, 0.0)})
    story.fidget(4.0).touch("box_moved", box=1).walk(1.0, seconds=3.0)
    assert [penalty.reason for penalty in judge(story.recording()).penalties] == ["box_moved"]


def test_a_jam_at_one_box_and_another_box_displaced_are_two_incidents(scenario):
    story = scenario(boxes=((1.0, 0.0), (1.5, 0.6))).stand(5.0).walk(0.8, seconds=5.0, push={1: (1.5, 0.8)})
    story.touch("jam", box=1, since_s=story.now_s - 4.0).fidget(2.0)
    assert sorted(penalty.reason for penalty in judge(story.recording()).penalties) == ["box_moved", "jam"]


def test_the_order_in_which_events_are_noted_does_not_matter(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=5.0).touch("jam").walk(1.5, seconds=5.0).touch("jam")
    recording = story.recording()
    shuffled = dataclasses.replace(recording, events=tuple(reversed(recording.events)))
    assert judge(shuffled) == judge(recording)


@pytest.mark.parametrize("length", [1, 7, 300])
def test_how_the_rows_are_cut_does_not_matter(scenario, length):
    story = scenario(boxes=((1.0, 0.0), (1.5, 0.6))).stand(3.0).walk(0.8, seconds=5.0, push={0: (1.2, 0.0)})
    story.fidget(3.0).fall(1.1).put_back()
    story.walk(2.2, seconds=9.0, push={0: (1.3, 0.0), 1: (1.4, 0.7)}).walk(1.5, seconds=5.0).fall(2.0)
    complete = Race(rules())
    pieces = Race(rules())
    rows = Rows.of_recording(story.recording())
    complete.advance(rows)
    for low in range(0, len(rows), length):
        cut = slice(low, low + length)
        pieces.advance(rows[cut])
    assert pieces.result() == complete.result()
    assert len(complete.result().penalties) == 3
    assert complete.result().falls == 2


def test_a_recording_that_does_not_know_the_field_cannot_be_judged(scenario):
    recording = scenario().stand(6.0).recording()
    record = recording.robot()
    unseen = dataclasses.replace(record, footprints=np.full_like(record.footprints, np.nan))
    blind = dataclasses.replace(recording, robots={"soles": unseen})
    with pytest.raises(InputError, match="where the robot's base and feet were"):
        judge(blind)


def test_a_recording_whose_time_stands_still_cannot_be_judged(scenario):
    recording = scenario().stand(6.0).recording()
    with pytest.raises(InputError, match="time"):
        judge(dataclasses.replace(recording, times=np.zeros_like(recording.times)))


def test_a_recording_is_judged_by_the_rules_it_carries(scenario, tmp_path):
    recording = scenario().stand(6.0).recording()
    longer = recording.header.documents["obstacle_race.rules.yaml"].replace("wait_s: 5", "wait_s: 9")
    carrying = dataclasses.replace(recording.header, documents={"x.rules.yaml": longer})
    assert contest_of(carrying, trust_attached_rules=True).rules.clock.wait_s == 9.0
    assert contest_of(dataclasses.replace(recording.header, documents={})).rules == rules()
    (tmp_path / "mine.rules.yaml").write_text(longer)
    assert read_rules(tmp_path / "mine.rules.yaml").clock.wait_s == 9.0


def test_a_recording_without_rules_says_so(scenario):
    header = dataclasses.replace(scenario().header(), documents={}, contest="")
    with pytest.raises(InputError, match="rules"):
        contest_of(header)


def test_a_foreign_touch_event_is_read_with_what_it_has(scenario):
    recording = scenario().stand(5.0).walk(1.0, seconds=3.0).recording()
    odd = (Event(6.0, "touch", {}), Event(7.0, "touch", {"reason": "repair", "box": "left", "since_s": None}))
    result = judge(dataclasses.replace(recording, events=odd))
    assert [(p.reason, p.box) for p in result.penalties] == [("touch", None), ("repair", None)]


def test_a_long_recording_is_judged_whole(scenario):
    story = scenario(boxes=tuple((0.7 + 0.2 * i, 0.5) for i in range(6))).stand(5.0)
    for i in range(6):
        story.walk(0.5 + 0.2 * i, seconds=40.0, push={i: (0.7 + 0.2 * i, 0.9)})
    recording: Recording = story.fidget(70.0).recording()
    assert recording.n_rows > 9_900
    assert len(judge(recording, ObstacleRace(rules())).penalties) == 6


@pytest.mark.parametrize(
    "event",
    [
        Event(-0.5, "touch", {"reason": "jam"}),
        Event(6.0, "touch", {"reason": "jam", "box": 1_000_000_001}),
        Event(6.0, "touch", {"reason": "jam", "box": -1}),
        Event(6.0, "touch", {"reason": "jam", "box": 0}),
        Event(6.0, "touch", {"reason": "jam", "box": 2}),
        Event(6.0, "touch", {"reason": "fall", "since_s": -1e300}),
        Event(600.0, "fall", {}),
    ],
    ids=str,
)
def test_an_event_that_cannot_have_happened_is_refused(scenario, event):
    recording = scenario(boxes=((1.0, 0.5),)).stand(5.0).walk(1.0, seconds=3.0).recording()
    with pytest.raises(InputError, match=f"the event {event.kind} of the recording"):
        judge(dataclasses.replace(recording, events=(event,)))
