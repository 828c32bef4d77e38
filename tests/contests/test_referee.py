"""The referee: what it does to a robot, and that its account is the judge's."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.contests import ObstacleRace, RaceReferee, judge, rules
from posewright.errors import BodyError, DocumentError


class Person:
    """Supervisor that write down where they put the robot."""

    def __init__(self) -> None:
        self.placed: list[tuple[float, float, float]] = []

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        self.placed.append((x_m, y_m, yaw_rad))


def watched(story, race_rules=None):
    """Let a referee watch a story; return it, its hands, its events and the recording up to its stop."""
    hands = Person()
    recorder = story.recorder()
    field = arena().with_boxes([Box(x, y) for x, y in story.boxes])
    referee = RaceReferee(race_rules or rules(), field, hands, recorder.note)
    for block in story.blocks():
        recorder.watch(block)
        if referee.watch(block):
            break
    return referee, hands, recorder.recording()


def kinds(recording):
    return [(event.kind, event.data.get("reason")) for event in recording.events]


def test_a_clean_race_is_left_alone_and_stopped_at_its_end(scenario):
    story = scenario().stand(5.0).walk(2.2, seconds=20.0).turn(math.pi, seconds=4.0).walk(0.3, seconds=20.0)
    referee, hands, recording = watched(story.stand(5.0))
    assert hands.placed == []
    assert kinds(recording) == [("stop", "finished")]
    assert recording.duration_s < story.now_s - 4.9
    assert referee.result == judge(recording)


def test_a_race_whose_first_leg_is_not_finished_is_stopped_there(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=20.0)
    for _ in range(30):
        story.walk(1.3, seconds=5.0).walk(1.0, seconds=5.0)
    referee, _, recording = watched(story)
    assert kinds(recording) == [("stop", "time out")]
    assert recording.duration_s == pytest.approx(305.1, abs=0.3)
    assert referee.result == judge(recording)


def test_a_fallen_robot_is_put_back_where_it_last_stood(scenario):
    story = scenario().stand(5.0).walk(1.0, 0.3, seconds=10.0).fall(0.9).put_back().walk(1.2, seconds=3.0)
    _, hands, recording = watched(story)
    assert kinds(recording) == [("fall", None), ("touch", "fall")]
    ((x, y, yaw),) = hands.placed
    assert (x, y, yaw) == (pytest.approx(1.0, abs=0.02), pytest.approx(0.3, abs=0.01), 0.0)
    fall = recording.events[0]
    assert fall.data["pitch_deg"] == pytest.approx(90.0, abs=1.0)
    assert fall.time_s - fall.data["since_s"] >= 0.5


@pytest.mark.parametrize(
    ("looks_deg", "put_deg"), [(0, 0), (30, 0), (45, 0), (90, 45), (-100, -55), (170, 125)]
)
def test_it_is_turned_towards_the_legs_goal_by_forty_five_degrees_at_most(scenario, looks_deg, put_deg):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).turn(math.radians(looks_deg), seconds=3.0)
    _, hands, _ = watched(story.fall(0.9))
    assert math.degrees(hands.placed[0][2]) == pytest.approx(put_deg, abs=1e-6)


def test_on_the_second_leg_it_is_turned_towards_the_start(scenario):
    story = scenario().stand(5.0).walk(2.2, seconds=20.0).turn(math.radians(100), seconds=4.0)
    _, hands, recording = watched(story.fall(0.9))
    assert math.degrees(hands.placed[0][2]) == pytest.approx(145.0)
    assert judge(recording).legs[1].penalties == 1


def test_a_stumble_shorter_than_half_a_second_is_no_fall(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0).fall(0.6).put_back().walk(1.2, seconds=3.0)
    _, hands, recording = watched(story)
    assert (hands.placed, recording.events) == ([], ())


def test_a_robot_that_gets_up_in_the_time_it_has_is_not_touched(scenario):
    race = ObstacleRace().with_get_up_time(3.0)
    story = scenario().stand(5.0).walk(1.0, seconds=10.0)
    story.fall(2.5).put_back().walk(1.2, seconds=3.0).fall(3.5).put_back().walk(1.4, seconds=3.0)
    referee, hands, recording = watched(story, race.rules)
    assert kinds(recording) == [("fall", None), ("got_up", None), ("fall", None), ("touch", "fall")]
    first_fall, got_up, second_fall, touch = recording.events
    assert got_up.data["since_s"] == first_fall.data["since_s"]
    assert touch.time_s - second_fall.data["since_s"] == pytest.approx(3.0, abs=0.1)
    assert len(hands.placed) == 1
    assert (referee.result.falls, len(referee.result.penalties)) == (2, 1)
    assert referee.result == race.judge(recording)


def test_the_time_to_get_up_is_in_the_rules_that_a_recording_carries():
    race = ObstacleRace().with_get_up_time(3.0)
    assert ObstacleRace(race.rules_text).rules == race.rules
    changed = set(race.rules_text.splitlines()) - set(ObstacleRace().rules_text.splitlines())
    assert {line.split(":")[0].strip() for line in changed} == {"get_up_s", "fall.get_up_s"}
    with pytest.raises(DocumentError, match="get_up_s"):
        ObstacleRace().with_get_up_time(-1.0)


def test_each_fall_is_a_penalty_of_its_own(scenario):
    story = scenario().stand(5.0).walk(1.0, seconds=10.0)
    for x in (1.2, 1.4, 1.6):
        story.fall(0.75).put_back().walk(x, seconds=5.0)
    referee, _, recording = watched(story)
    assert referee.result.falls == len(referee.result.penalties) == 3
    assert referee.result == judge(recording)


def test_a_robot_that_fell_beside_a_box_is_put_clear_of_it(scenario):
    story = scenario(boxes=((1.2, 0.0),)).stand(5.0).walk(1.0, 0.05, seconds=10.0).fall(0.9)
    _, hands, _ = watched(story)
    ((x, y, _),) = hands.placed
    assert math.hypot(max(1.1 - x, 0.0), max(abs(y) - 0.1, 0.0)) >= rules().put_back.clearance_m - 1e-9
    assert math.hypot(x - 1.0, y - 0.05) < 0.12


def test_a_robot_that_pushes_and_gets_nowhere_is_put_back_along_its_way(scenario):
    story = scenario(boxes=((1.2, 0.0),)).stand(5.0).walk(1.0, 0.05, seconds=10.0)
    story.walk(1.0, seconds=12.0, touching=0)
    referee, hands, recording = watched(story)
    assert kinds(recording) == [("jam", None), ("touch", "jam")]
    assert recording.events[1].data["box"] == 1
    assert hands.placed[0][0] < 0.9
    assert referee.result == judge(recording)


def test_a_robot_at_a_wall_is_jammed_too_but_not_one_that_turns_there(scenario):
    story = scenario().stand(5.0).walk(1.0, 0.92, seconds=10.0)
    _, hands, recording = watched(story.fidget(12.0))
    assert kinds(recording) == [("jam", None), ("touch", "jam")]
    assert hands.placed[0][1] <= 0.8
    turning = scenario().stand(5.0).walk(1.0, 0.92, seconds=10.0).turn(2.0, seconds=12.0)
    assert watched(turning)[2].events == ()


def test_a_displaced_box_is_noted_when_it_is_seen(scenario):
    story = scenario(boxes=((1.2, 0.0),)).stand(5.0).walk(1.0, seconds=10.0, push={0: (1.3, 0.0)}).fidget(3.0)
    referee, hands, recording = watched(story)
    ((event),) = recording.events
    assert (event.kind, event.data["box"], hands.placed) == ("box_moved", 1, [])
    assert event.data["displacement_m"] == pytest.approx(0.02, abs=0.001)
    assert event.time_s == judge(recording).penalties[0].time_s
    assert referee.result == judge(recording)


def told_by_chance(story, seed, *, carry_m=0.0):
    """A race of walks, falls, pushes and jams, whatever the dice say; after a fall it may be carried on."""
    rng = np.random.default_rng(seed)
    story.stand(float(rng.uniform(4.0, 6.0)))
    x = 0.25
    for leg in range(2):
        while 0.3 < x + 0.1 < 2.25 or x == 0.25:
            x += (1.0 - 2.0 * leg) * float(rng.uniform(0.05, 0.5))
            push = {int(rng.integers(2)): tuple(rng.uniform((0.95, 0.75), (1.05, 0.85)))}
            story.walk(
                float(np.clip(x, 0.2, 2.3)),
                seconds=float(rng.uniform(1.0, 5.0)),
                push=push if rng.random() < 0.3 else None,
            )
            if rng.random() < (0.6 if carry_m else 0.25):
                story.fall(float(rng.uniform(0.4, 1.2))).put_back(moved_x=(1.0 - 2.0 * leg) * carry_m)
            if rng.random() < 0.15:
                story._go(13.0, story._at, swing=0.3, touching=0)
        if leg == 0:
            story.turn(math.pi, seconds=4.0)
    return story


@pytest.mark.parametrize("carry_m", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(12))
def test_the_referees_account_of_a_trial_is_the_judges_of_its_trace(scenario, seed, carry_m):
    story = told_by_chance(scenario(boxes=((1.0, 0.8), (1.5, -0.6))), seed, carry_m=carry_m)
    referee, _, recording = watched(story)
    result = referee.result
    assert judge(recording) == result
    lay_untouched = sum("nobody touched" in warning for warning in result.warnings)
    assert result.falls == len(recording.events_of("fall")) + lay_untouched
    assert sum(leg.penalties for leg in result.legs) == len(result.penalties)
    assert referee.race.leg == 1 + result.legs[0].finished


def test_stories_by_chance_hold_what_they_should(scenario):
    """The proof above is worth something only if falls, jams, pushes and both legs occur in it."""
    reasons = set()
    for seed in range(12):
        result = watched(told_by_chance(scenario(boxes=((1.0, 0.8), (1.5, -0.6))), seed))[0].result
        reasons |= {penalty.reason for penalty in result.penalties} | {leg.reason for leg in result.legs}
    assert {"fall", "jam", "box_moved", "line fully crossed"} <= reasons


def test_progress_can_be_read_while_the_trial_runs(scenario):
    story = scenario().stand(5.0).walk(1.5, seconds=10.0)
    referee = RaceReferee(rules(), arena(), Person(), lambda _: None)
    for block in story.blocks():
        assert not referee.watch(block)
    assert (referee.race.leg, referee.result.legs[0].penalties) == (1, 0)
    assert referee.race.distance_cm == pytest.approx(95.0, abs=0.5)
    assert referee.race.clock_s == pytest.approx(10.0, abs=0.1)


def test_a_body_that_does_not_know_its_world_cannot_be_refereed(scenario):
    block = next(scenario().stand(1.0).blocks())
    blind = dataclasses.replace(block, states=dataclasses.replace(block.states, truth=None))
    with pytest.raises(BodyError, match="does not report where it is"):
        RaceReferee(rules(), arena(), Person(), lambda _: None).watch(blind)


def test_a_race_that_was_carried_over_the_line_goes_on_for_referee_and_judge_alike(scenario):
    """The referee's hands are heavy here: they put the robot down behind the line."""
    story = scenario().stand(5.0).walk(1.9, seconds=20.0).fall(0.7).put_back(moved_x=0.3).fidget(5.0)
    referee, _, recording = watched(story.walk(1.8, seconds=5.0).walk(2.2, seconds=5.0))
    result = referee.result
    assert kinds(recording) == [("fall", None), ("touch", "fall")]
    assert judge(recording) == result
    assert result.legs[0].finished
    assert result.legs[0].ended_at_s > 35.0


def test_a_jammed_robot_is_not_put_ahead_though_its_way_led_from_there(scenario):
    story = scenario(boxes=((1.2, 0.0),)).stand(5.0).walk(1.5, 0.4, seconds=10.0).walk(1.3, 0.4, seconds=2.0)
    _, hands, recording = watched(story._go(13.0, story._at, swing=0.3, touching=0))
    jam = next(event for event in recording.events if event.kind == "jam")
    assert jam.data["box"] == 1
    assert hands.placed[0][0] <= 1.3
