"""The sumo: what its referee stops the judge finds again; who wins what; what a bout must be known by.

What earns which points is in `cases/sumo`, a folder a clause.
"""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest
from tests.contests.stories import recording_of

import posewright as pw
from posewright.contests import Duel, RankedScore, contest, judge
from posewright.contests.sumo.bout import Bout
from posewright.contests.sumo.contest import Sumo
from posewright.contests.sumo.exchange import Award, ExchangeEnd, Reason, judge_exchange
from posewright.contests.sumo.incidents import Ring
from posewright.contests.sumo.wrestler_rows import rows_of_recording
from posewright.errors import DocumentError, InputError, UnknownNameError
from posewright.recordings import read_mcap, write_mcap
from posewright.runs.trial import Trial

CASES = Path(__file__).parent / "cases" / "sumo"
SEED = 3
RULES = contest("sumo").rules_text


def point(to, points=2, at_s=1.0):
    return ExchangeEnd("point", at_s, at_s, (Award(to, points, Reason.KNOCKED_DOWN, at_s, ""),))


def bout_of(*stops):
    """Return a bout with those stops, restarted after each."""
    bout = Bout(Sumo().rules.bout, ("red", "blue"))
    for stop in stops:
        bout.add(stop)
        bout.restart(0.0)
    return bout


@pytest.fixture(scope="module")
def fought(tmp_path_factory):
    """A short bout: two points win a round, and two rounds the bout."""
    path = tmp_path_factory.mktemp("sumo") / "short.rules.yaml"
    text = RULES.replace("win_points: 5", "win_points: 2")
    path.write_text(text.replace("get_up_s: 10", "get_up_s: 1").replace("ceabot_2013/sumo", "short/sumo"))
    trial = Trial(
        "short", "robotis_bioloid", "passivity_test", "sumo", rules=str(path), still_s=0.0, seed=SEED
    )
    return pw.run_trial(trial)


# --- a real bout


def test_the_judge_finds_in_the_recording_what_the_referee_awarded(fought):
    noted = [(event.data["to"], event.data["points"]) for event in fought.recording.events_of("yuhkoh")]
    awards = fought.score.to_dict()["yuhkoh"]
    assert noted
    assert [(award["to"], award["points"]) for award in awards] == noted
    assert [award["text"] for award in awards] == [
        e.data["text"] for e in fought.recording.events_of("yuhkoh")
    ]
    since = [event.data["since_s"] for event in fought.recording.events_of("yuhkoh")]
    assert [award["time_s"] for award in awards] == pytest.approx(since, abs=1e-3)


def test_a_bout_ends_when_one_has_won(fought):
    assert fought.score.winner in {"red", "blue"}
    assert [event.data["reason"] for event in fought.recording.events_of("stop")] == ["2 points"]
    assert fought.recording.duration_s < Sumo().longest_s


def test_a_bout_of_several_rounds_does_not_contradict_itself(fought):
    assert [event.data["points"] for event in fought.recording.events_of("yuhkoh")] == [2, 2]  # a round each
    assert pw.find_inconsistencies(fought.recording) == ()


def test_a_written_bout_is_judged_alike(fought, tmp_path):
    path = tmp_path / "bout.mcap"
    write_mcap(fought.recording, path)
    read = read_mcap(path)
    assert judge(read, contest("sumo", fought.recording.header.documents["sumo.rules.yaml"])).to_dict() == (
        fought.score.to_dict()
    )


def test_every_point_is_explained_with_its_time(fought):
    for row in fought.score.table().rows:
        assert re.fullmatch(r"\d+\.\d\d s", row[1])
        assert "fell" in row[4]


def test_robots_are_put_back_on_their_spots_after_a_halt(fought):
    recording = fought.recording
    field = contest("sumo").field("", SEED)
    halted = recording.events_of("halt")[0].time_s
    again = recording.events_of("try")[0].time_s
    assert again - halted == pytest.approx(1.5, abs=0.15)
    row = int(np.searchsorted(recording.times, again)) + 1
    for role, record in recording.robots.items():
        spot = field.spot(f"{role}_2")
        assert record.base[row, :2] == pytest.approx([spot.x, spot.y], abs=0.03)


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_who_sees_rows_come_decides_as_who_has_them_all(folder):
    """A referee stops on the rows so far; a judge of a recording that goes on finds the same."""
    sumo = Sumo()
    recording = recording_of(folder)
    rules = sumo.rules
    ring = Ring(1.25, 0.0, 0.75)
    end_s = min((event.time_s for event in recording.events_of("halt")), default=recording.duration_s)
    sides = {name: side.select(side.times <= end_s) for name, side in rows_of_recording(recording).items()}
    for now_s in np.arange(5.25, end_s, 0.5):
        visible = {name: side.select(side.times <= now_s) for name, side in sides.items()}
        stop = judge_exchange(rules, ring, visible, 5.0, rules.bout.round_s, is_complete=False)
        if stop is not None:
            assert stop == judge_exchange(rules, ring, sides, 5.0, rules.bout.round_s, is_complete=True)
            break


# --- rounds


def test_who_has_two_rounds_has_won_and_no_third_is_fought():
    bout = bout_of(*[point("red")] * 6)
    assert (bout.winner, bout.is_over, len(bout.rounds)) == ("red", True, 3)


def test_after_a_tied_round_one_more_win_does_not_end_a_bout():
    tie = ExchangeEnd("time", 120.0, 120.0)
    assert not bout_of(tie, *[point("red")] * 3).is_over
    assert bout_of(tie, *[point("red")] * 3, tie).winner == "red"
    assert bout_of(tie, tie, tie).winner is None


def test_at_one_round_each_and_a_tie_more_points_win():
    bout = bout_of(
        *[point("red")] * 3, point("red", 1), *[point("blue")] * 3, ExchangeEnd("time", 120.0, 120.0)
    )
    assert bout.rounds_of("red") == bout.rounds_of("blue") == 1
    assert bout.winner == "red"


# --- the contest


def test_it_is_a_duel_whose_places_earn_points():
    sumo = contest("sumo")
    assert isinstance(sumo, Duel)
    assert sumo.earned_by_places((1, 2, 3, 10)) == (30.0, 25.0, 21.0, 0.0)
    assert sumo.earned_by_places((1, 2, 2)) == (30.0, 23.0, 23.0)
    assert contest("sumo-2017").earned_by_places((1,)) == (25.0,)


def test_a_score_says_who_has_won():
    score = judge(recording_of(CASES / "two_rounds_win"))
    assert isinstance(score, RankedScore)
    assert contest("sumo").winner(score) == "red"
    assert score.ranking == (2.0, 10.0)
    assert score.figures["won"] is True
    assert score.incidents == ()


def test_the_seed_draws_where_robots_are_set_down_face_to_face():
    sumo = contest("sumo")
    starts = [sumo.start(role, sumo.field("", seed)) for seed in range(5) for role in ("red", "blue")]
    assert len(set(starts)) == len(starts)
    assert sumo.field("", 1).spots == sumo.field("", 1).spots
    for (red_x, red_y, red_yaw), (blue_x, blue_y, blue_yaw) in zip(starts[::2], starts[1::2], strict=True):
        assert 0.31 < blue_x - red_x < 0.37
        assert abs(red_y) < 0.011
        assert abs(blue_y) < 0.011
        assert abs(red_yaw) < math.radians(4)
        assert abs(blue_yaw - math.pi) < math.radians(4)


def test_a_picture_has_rounds_and_a_mark_an_award():
    picture = contest("sumo").picture(recording_of(CASES / "five_points_win_a_round"))
    assert [span.label for span in picture.spans] == ["round 1", "round 2"]
    assert len(picture.marks) == 5
    assert [series.title for series in picture.series] == ["red", "blue"]
    assert picture.headline == "red wins, 1:0 rounds"


@pytest.mark.parametrize(("layout", "seed", "message"), [("example_1", 0, "no layout"), ("", -1, "negative")])
def test_a_field_that_cannot_be_is_refused(layout, seed, message):
    with pytest.raises(InputError, match=message):
        contest("sumo").field(layout, seed)


def test_what_a_judge_cannot_know_is_said():
    sumo = contest("sumo")
    recording = recording_of(CASES / "hand")
    blind = {name: dataclasses.replace(record, contacts=None) for name, record in recording.robots.items()}
    with pytest.raises(InputError, match="what red touched"):
        sumo.judge(dataclasses.replace(recording, robots=blind))
    lost = {
        name: dataclasses.replace(record, base=np.full_like(record.base, np.nan))
        for name, record in recording.robots.items()
    }
    with pytest.raises(InputError, match="where red's base"):
        sumo.judge(dataclasses.replace(recording, robots=lost))
    alone = dataclasses.replace(recording.header, robots={"red": recording.header.robots["red"]})
    with pytest.raises(InputError, match="1 robots"):
        sumo.judge(dataclasses.replace(recording, header=alone, robots={"red": recording.robots["red"]}))
    with pytest.raises(InputError, match="arena"):
        sumo.judge(dataclasses.replace(recording, header=dataclasses.replace(recording.header, arena={})))


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("rounds: 3", "rounds: 0", "rounds"),
        ("push_m: 0.02", "push_m: far", "push_m"),
        ("hand: 1", "", "hand"),
    ],
)
def test_rules_that_cannot_be_are_refused_by_their_key(right, wrong, message):
    with pytest.raises((DocumentError, UnknownNameError), match=message):
        contest("sumo", RULES.replace(right, wrong, 1))
