"""A gait is tuned by its document: what that says is searched, walked and judged; the rest is refused."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import NOMINAL, random_variation, variation_ranges
from posewright.errors import InputError
from posewright.gaits import VelocityCommand, gait_names, read_gait, timing_of, write_gait
from posewright.robots import robot
from posewright.trials import GaitProblem, GaitTask, TunedGait, read_tune, tune_gait, tune_names, walk_gait
from posewright.trials.gait_tuning.reach import refuse_out_of_reach
from posewright.trials.gait_tuning.reading import OPTIONAL, tune_in
from posewright.trials.gait_tuning.score import (
    NOWHERE_COST,
    TERMS,
    CostOfTransport,
    Drift,
    Fall,
    Following,
    JointMargin,
    JointSpeed,
    Slip,
    Speed,
    Term,
    Tilt,
    judged,
)
from posewright.trials.gait_tuning.task import FINENESS, rounded
from posewright.trials.gait_tuning.walk import Asked, TunedBodies, TunedWalk, Walked
from posewright.trials.tuning import Dimension, Tuned, read_journal, tune

ERS7 = robot("sony_ers7")

QUICK = """\
tune: quick
robot: sony_ers7
gait: trot
parameters:
  ground_speed_m_s: [0.25, 0.4]
  front_height_m: [0.004, 0.02]
  travel_gain.forward: {range: [0.9, 1.8], start: 1.2}
walks:
  - {forward_m_s: 0.1, seconds: 0.45, settle_s: 0.2}
score: {following: 1, tilt_deg: {weight: 0.02, over: 5}, fall: 2}
"""
SEARCH: dict[str, Any] = {"generations": 2, "population": 4, "seed": 1}
START = {"ground_speed_m_s": 0.3, "front_height_m": 0.012, "travel_gain.forward": 1.2}


def task_of(**changes: Any) -> GaitTask:
    return replace(tune_in(QUICK), **changes)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[TunedGait, Path]:
    """A short search that nothing stopped, and its journal."""
    journal = tmp_path_factory.mktemp("search") / "quick.jsonl"
    return tune_gait(tune_in(QUICK), journal=journal, **SEARCH), journal


@pytest.fixture(scope="module")
def walked() -> Walked:
    """A short walk of a real robot, to make others from."""
    walk = TunedWalk(Asked(0.1), seconds=0.4, settle_s=0.1)
    trial = walk_gait(
        read_gait("trot", robot=ERS7),
        ERS7,
        VelocityCommand(0.1),
        seconds=walk.seconds,
        settle_s=walk.settle_s,
    )
    return Walked(walk, trial.report)


def as_if(walked: Walked, **figures: Any) -> Walked:
    """Return a walk with other figures in its report."""
    return Walked(walked.walk, replace(walked.report, **figures))


def going(walked: Walked, measured: tuple[float, float, float], asked: tuple[float, float, float]) -> Walked:
    names = ("commanded_forward_m_s", "commanded_left_m_s", "commanded_turn_rad_s")
    there = dict(zip(("speed_m_s", "left_m_s", "turn_rad_s"), measured, strict=True))
    return as_if(walked, **there, **dict(zip(names, asked, strict=True)))


# the documents


@pytest.mark.parametrize("name", ["crawl", "fast", "trot"])
def test_every_tuning_that_ships_begins_at_a_gait_and_walks_it(name: str) -> None:
    task = read_tune(name)
    assert task.name == name == task.gait.name
    assert set(tune_names("sony_ers7")) == set(tune_names()) == set(gait_names("sony_ers7"))
    assert tune_names(robot("robotis_bioloid")) == ()
    assert task.held == ("mouth", "left_ear", "right_ear", "tail_tilt", "tail_pan")
    assert all(term.weight > 0.0 for term in task.terms)
    evaluation = GaitProblem(
        replace(
            task,
            walks=tuple(replace(walk, seconds=0.2, settle_s=0.1) for walk in task.walks[:1]),
            bodies=TunedBodies(),
        )
    ).evaluate({one.name: one.start for one in task.dimensions})
    assert evaluation.is_judged, evaluation.facts


def test_a_document_says_what_is_searched_and_walked() -> None:
    task = tune_in(
        QUICK.replace(
            "  - {forward_m_s: 0.1, seconds: 0.45, settle_s: 0.2}\n",
            "  - {forward_m_s: greatest, weight: 2}\n  - {left_m_s: {greatest: -0.5}, turn_rad_s: 0.3}\n"
            "bodies: {nominal: true, random: 2, seed: 7, worst_share: 0.5}\nhold: [mouth, tail]\n"
            "search: {generations: 5, population: 8, spread: 0.1}\ndescription: a quick one\n",
        )
    )
    assert task.dimensions == (
        Dimension("ground_speed_m_s", 0.25, 0.4, 0.3),
        Dimension("front_height_m", 0.004, 0.02, 0.012),
        Dimension("travel_gain.forward", 0.9, 1.8, 1.2),
    )
    assert task.walks == (
        TunedWalk(Asked(1.0, is_share=True), weight=2.0),
        TunedWalk(left=Asked(-0.5, is_share=True), turn=Asked(0.3)),
    )
    drawn = [random_variation(variation_ranges(), seed) for seed in (7, 8)]
    assert task.bodies == TunedBodies((NOMINAL, *drawn), 0.5)
    assert task.terms == (Following(weight=1.0), Tilt(weight=0.02, over=5.0), Fall(weight=2.0))
    assert task.held == ("mouth", "tail_tilt", "tail_pan")
    assert (task.search.generations, task.search.population, task.search.spread) == (5, 8, 0.1)
    assert task.description == "a quick one"


def test_the_page_names_every_key_and_what_it_is_by_default() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to-tune.md").read_text(encoding="utf-8")
    text = re.search(r"```yaml\n(# quick.*?)```", page, re.DOTALL)
    assert text is not None
    task = tune_in(text[1])
    assert (task.name, len(task.dimensions), len(task.walks), len(task.terms)) == ("quick", 4, 2, 4)
    for name, term in TERMS.items():
        rows = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        assert len(rows) == 1, name
        for entry in fields(term):  # type: ignore[arg-type]
            if entry.name != "weight":
                assert f"`{entry.name}` ({entry.default:g})" in rows[0], (name, entry.name)
    for key in (*OPTIONAL, "forward_m_s", "seconds", "settle_s", "worst_share", "ranges", "population"):
        assert f"`{key}`" in page


def test_the_search_begins_at_the_gaits_own_values_or_at_the_nearest_bound() -> None:
    values = "  ascent_pairs: [4, 6]\n  equilibrium_m.hind.y: [0.05, 0.08]\n  shape_factor: [0, 0.25]\n"
    task = tune_in(QUICK.replace("  front_height_m: [0.004, 0.02]\n", values))
    assert [(one.name, one.start, one.is_whole) for one in task.dimensions[1:4]] == [
        ("ascent_pairs", 4, True),
        ("equilibrium_m.hind.y", 0.067, False),
        ("shape_factor", 0.25, False),
    ]
    gait = task.candidate({one.name: one.low for one in task.dimensions})
    feet = gait.parameters.equilibrium_m
    assert (feet["left_rear"][1], feet["right_rear"][1], gait.parameters.ascent_pairs) == (0.05, -0.05, 4)


@pytest.mark.parametrize(
    ("given_text", "instead", "line", "message"),
    [
        ("tune: quick", "tune: a/b", 1, "'a/b' is no name"),
        ("robot: sony_ers7", "robot: sony_ers8", 2, "no robot is called 'sony_ers8'"),
        ("robot: sony_ers7", "robot: robotis_bioloid", 2, "legs"),
        ("gait: trot", "gait: trott", 3, "no gait of sony_ers7 is called 'trott' (did you mean trot?)"),
        ("gait: trot\n", "", 1, "'gait' is missing"),
        ("gait: trot\n", "gait: trot\nspeed: 3\n", 4, "no key here is called 'speed'"),
        ("ground_speed_m_s:", "ground_speed:", 5, "no gait parameter is called 'ground_speed'"),
        ("travel_gain.forward:", "travel_gain.up:", 7, "no travel_gain is called 'up'"),
        ("[0.25, 0.4]", "[0.25, 4]", 5, "ground_speed_m_s is 4 (the range is 0.01 to 1 m/s)"),
        ("[0.25, 0.4]", "[0.4, 0.25]", 5, "the range goes from 0.4 to 0.25"),
        ("[0.25, 0.4]", "[0.25, 0.25]", 5, "what is fixed is not searched"),
        ("[0.25, 0.4]", "[0.25, 0.3, 0.4]", 5, "expected two numbers, found 3"),
        ("[0.25, 0.4]", "[0.25, fast]", 5, "expected a number, found 'fast'"),
        ("[0.25, 0.4]", "[0.25, .nan]", 5, "expected a finite number"),
        ("[0.25, 0.4]", "0.3", 5, "expected a list"),
        ("ground_speed_m_s: [0.25, 0.4]", "ascent_pairs: [1.5, 4]", 5, "a whole number"),
        ("start: 1.2", "start: 2", 7, "is out of range (the range is 0.9..1.8)"),
        (
            "ground_speed_m_s: [0.25, 0.4]",
            "front_height_m.hind: [0.01, 0.02]",
            6,
            "front_height_m.hind is set by",
        ),
        ("forward_m_s: 0.1", "forward_m_s: fastest", 9, "no velocity is called 'fastest'"),
        ("forward_m_s: 0.1", "forward_m_s: {greatest: 1.5}", 9, "1.5 is out of range (the range is -1..1)"),
        ("forward_m_s: 0.1", "forward_m_s: greatest, left_m_s: greatest", 9, "1.41 times the greatest speed"),
        ("forward_m_s: 0.1", "forward_m_s: 99", 9, "is out of range (the range is -10..10)"),
        ("forward_m_s: 0.1", "ahead: 0.1", 9, "no key here is called 'ahead'"),
        ("seconds: 0.45", "seconds: 0", 9, "is out of range (the range is 0.1..600)"),
        ("seconds: 0.45", "weight: 0", 9, "a walk that does not count"),
        ("  - {forward_m_s: 0.1, seconds: 0.45, settle_s: 0.2}", "  []", 8, "0 walks"),
        (", fall: 2}", "}", 10, "'fall' is missing"),
        ("following: 1, tilt_deg: {weight: 0.02, over: 5}, ", "", 10, "nothing but falls is looked at"),
        ("following: 1", "speeed: 1", 10, "did you mean speed?"),
        ("following: 1", "following: -1", 10, "-1"),
        ("following: 1", "following: {worst: 1}", 10, "'weight' is missing"),
        ("following: 1", "following: {weight: 1, worst: 2}", 10, "2.0 is out of range (the range is 0..1)"),
        ("following: 1", "slip: {weight: 1, over: 2}", 10, "no key here is called 'over'"),
        ("fall: 2}\n", "fall: 2}\nhold: [left_front_leg]\n", 11, "only what no leg has can be held still"),
        ("fall: 2}\n", "fall: 2}\nhold: [nose]\n", 11, "no joint or group of joints is called 'nose'"),
        ("fall: 2}\n", "fall: 2}\nbodies: {nominal: false}\n", 11, "no body walks"),
        ("fall: 2}\n", "fall: 2}\nbodies: {random: -1}\n", 11, "-1"),
        ("fall: 2}\n", "fall: 2}\nbodies: {ranges: mars}\n", 11, "no set of bodies is called 'mars'"),
        ("fall: 2}\n", "fall: 2}\nsearch: {population: 3}\n", 11, "3 is out of range"),
        ("fall: 2}\n", "fall: 2}\nsearch: {spread: 0.5}\n", 11, "0.5 is out of range"),
    ],
)
def test_what_a_document_must_not_say_is_refused_with_its_place(
    given_text: str, instead: str, line: int, message: str
) -> None:
    assert QUICK.count(given_text) >= 1
    with pytest.raises(InputError) as caught:
        tune_in(QUICK.replace(given_text, instead, 1), Path("quick.tune.yaml"))
    told = str(caught.value)
    assert message in told
    where = f"quick.tune.yaml:{line}: "
    assert told.startswith(where) or (line == 1 and told.startswith("quick.tune.yaml"))


def test_nothing_to_search_is_refused() -> None:
    head, _, rest = QUICK.partition("parameters:\n")
    with pytest.raises(InputError, match="nothing is searched"):
        tune_in(f"{head}parameters: {{}}\n{rest[rest.index('walks:') :]}")


def test_a_tuning_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no tuning is called 'fst'.*fast"):
        read_tune("fst")
    with pytest.raises(InputError, match=r"gone.tune.yaml"):
        read_tune(tmp_path / "gone.tune.yaml")


def test_paths_in_a_document_are_seen_from_it(tmp_path: Path) -> None:
    write_gait(replace(read_gait("trot", robot=ERS7), name="mine"), tmp_path / "mine.gait.yaml")
    (tmp_path / "my.tune.yaml").write_text(QUICK.replace("gait: trot", "gait: mine.gait.yaml"))
    task = read_tune(tmp_path / "my.tune.yaml")
    assert (task.gait.name, task.path) == ("mine", tmp_path / "my.tune.yaml")


# what is tried


@given(
    low=st.floats(-1.0, 1.0),
    width=st.floats(1e-4, 100.0),
    share=st.floats(0.0, 1.0),
    start=st.floats(0.0, 1.0),
)
def test_values_are_tried_in_steps_finer_than_a_thousandth_of_their_range(
    low: float, width: float, share: float, start: float
) -> None:
    high = low + width
    one = Dimension("x", low, high, min(low + start * width, high))
    value = min(low + share * width, high)
    tried = rounded(one, value)
    assert low <= tried <= high
    assert abs(tried - value) <= width / FINENESS
    assert rounded(one, tried) == tried
    assert rounded(one, one.start) == one.start


def test_the_gait_that_is_written_is_the_one_that_was_tried(
    found: tuple[TunedGait, Path], tmp_path: Path
) -> None:
    tuned = found[0]
    assert tuned.gait is not None
    write_gait(tuned.gait, tmp_path / "quick.gait.yaml")
    again = read_gait(tmp_path / "quick.gait.yaml")
    assert again.parameters.flat == tuned.gait.parameters.flat
    assert again.travel_gain == tuned.gait.travel_gain
    trial = walk_gait(again, ERS7, VelocityCommand(0.1), seconds=0.45, settle_s=0.2)
    assert trial.report.max_tilt_deg == tuned.tuned.facts["max_tilt_deg"]
    assert trial.report.speed_m_s == pytest.approx(tuned.tuned.facts["speed_m_s"], abs=1e-15)
    assert "posewright tune quick" in again.source
    assert f"evaluations {tuned.tuned.evaluations}" in again.source


@pytest.mark.parametrize(("ground_speed_m_s", "pairs"), [(0.25, 6), (0.4, 3)])
def test_a_foot_that_is_lifted_for_too_long_takes_what_time_there_is(
    ground_speed_m_s: float, pairs: int
) -> None:
    task = tune_in(QUICK.replace("front_height_m: [0.004, 0.02]", "ascent_pairs: [1, 40]"))
    values = {"ground_speed_m_s": ground_speed_m_s, "ascent_pairs": 30, "travel_gain.forward": 1.0}
    gait = task.candidate(values)
    assert gait.parameters.ascent_pairs == task.tried(values)["ascent_pairs"] == pairs
    timing_of(gait.parameters, ERS7.frame_period_s)
    with pytest.raises(InputError, match="ascent_pairs"):
        timing_of(gait.changed({"ascent_pairs": pairs + 1}).parameters, ERS7.frame_period_s)


def test_a_walk_asks_for_a_share_of_the_greatest() -> None:
    parameters = read_gait("trot", robot=ERS7).parameters
    timing = timing_of(parameters, ERS7.frame_period_s)
    walk = TunedWalk(Asked(0.6, is_share=True), Asked(-0.8, is_share=True), Asked(-1.0, is_share=True))
    command = walk.command(parameters, timing)
    speed = math.hypot(command.forward_m_s, command.left_m_s) * timing.ground_s
    assert speed == pytest.approx(parameters.maximum_displacement_m)
    assert command.turn_rad_s * timing.ground_s == pytest.approx(-parameters.maximum_turn_rad)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parameters": {"ascent_pairs": 12}}, "ascent_pairs is 12"),
        ({"parameters": {"equilibrium_m.fore.z": -0.3}}, "is too far"),
        ({"walks": (TunedWalk(Asked(0.5)),)}, "0.5 m/s is out of range"),
        ({"walks": (TunedWalk(turn=Asked(5.0)),)}, "a turn of 5 rad/s is out of range"),
    ],
)
def test_a_candidate_that_cannot_walk_has_no_score_but_a_reason(
    changes: Mapping[str, Any], reason: str
) -> None:
    others = {name: value for name, value in changes.items() if name != "parameters"}
    task = task_of(**others)
    task = replace(task, gait=task.gait.changed(changes.get("parameters", {})))
    evaluation = GaitProblem(task).evaluate(START)
    assert evaluation.score == math.inf
    assert reason in str(evaluation.facts["reason"])


def test_feet_that_stay_away_from_their_way_are_refused() -> None:
    far = {"maximum_displacement_m": 0.2, "ground_speed_m_s": 0.4, "equilibrium_m.fore.x": 0.1}
    gait = read_gait("trot", robot=ERS7).changed(far)
    refuse_out_of_reach(gait, ERS7, VelocityCommand(0.0))
    with pytest.raises(InputError, match=r"_front stays \d+\.\d mm away"):
        refuse_out_of_reach(gait, ERS7, VelocityCommand(0.39))


def test_a_problem_in_another_process_is_the_same() -> None:
    task = task_of(held=("mouth", "tail_tilt", "tail_pan"))
    problem = GaitProblem(task)
    evaluation = problem.evaluate(START)
    there = pickle.loads(pickle.dumps(problem))  # noqa: S301 -- our own
    assert there.fingerprint == problem.fingerprint
    assert there.evaluate(START) == evaluation == problem.evaluate(START)


def test_what_is_held_is_free_in_the_last_look() -> None:
    found = tune_gait(task_of(held=("mouth", "tail_tilt", "tail_pan")), generations=1, population=4)
    assert found.whole == GaitProblem(task_of()).evaluate(found.tuned.best)
    assert found.whole.score != found.tuned.score
    assert found.whole.score == pytest.approx(found.tuned.score, rel=0.2)


@pytest.mark.parametrize(
    ("given_text", "instead"),
    [
        ("gait: trot", "gait: crawl"),
        ("[0.25, 0.4]", "[0.25, 0.41]"),
        ("start: 1.2", "start: 1.3"),
        ("seconds: 0.45", "seconds: 0.5"),
        ("following: 1", "following: 2"),
        ("following: 1", "slip: 1"),
        ("fall: 2}\n", "fall: 2}\nbodies: {random: 1}\n"),
        ("fall: 2}\n", "fall: 2}\nhold: [mouth]\n"),
    ],
)
def test_whatever_changes_the_score_changes_the_fingerprint(given_text: str, instead: str) -> None:
    assert tune_in(QUICK).fingerprint == tune_in(f"# a remark\n{QUICK}source: ours\n").fingerprint
    assert tune_in(QUICK).fingerprint != tune_in(QUICK.replace(given_text, instead)).fingerprint


# the score


def test_every_term_that_a_document_can_name_is_known() -> None:
    for name, term in TERMS.items():
        named = f"score: {{{name}: 0.5, {'slip: 1' if name == 'fall' else 'fall: 2'}}}"
        task = tune_in(QUICK[: QUICK.index("score:")] + named)
        assert term(weight=0.5) in task.terms  # type: ignore[call-arg]


def test_speed_counts_along_the_command_and_less_where_joints_are_overtaxed(walked: Walked) -> None:
    straight = going(walked, (0.3, 0.1, 0.0), (0.4, 0.0, 0.0))
    aside = going(walked, (0.3, 0.4, 0.0), (0.0, -0.2, 0.0))
    term = Speed(weight=1.0, joint_speed_ratio=0.97, power=2.0)
    assert term.value(as_if(straight, max_joint_speed_ratio=0.9)) == pytest.approx(-0.3)
    assert term.value(as_if(straight, max_joint_speed_ratio=1.94)) == pytest.approx(-0.3 / 4.0)
    assert term.value(as_if(aside, max_joint_speed_ratio=1.94)) == pytest.approx(0.4)
    assert term.value(going(walked, (0.3, 0.1, 1.0), (0.0, 0.0, 1.0))) == 0.0


def test_following_is_the_relative_error_of_three_components(walked: Walked) -> None:
    one = going(walked, (0.15, 0.01, 0.5), (0.2, 0.0, 1.0))
    assert Following(weight=1.0, worst=0.0).value(one) == pytest.approx((0.25 + 0.1 + 0.5) / 3.0)
    assert Following(weight=1.0, worst=1.0).value(one) == pytest.approx(0.5)
    assert Following(weight=1.0, worst=1.0, scale_m_s=0.01).value(one) == pytest.approx(1.0)
    perfect = going(walked, (0.2, 0.0, 1.0), (0.2, 0.0, 1.0))
    assert Following(weight=1.0).value(perfect) == 0.0


def test_a_robot_that_fell_at_once_has_followed_nothing(walked: Walked) -> None:
    nothing = as_if(walked, speed_m_s=None, left_m_s=None, turn_rad_s=None)
    assert Following(weight=1.0, worst=1.0).value(nothing) == 1.0
    assert Speed(weight=1.0).value(nothing) == 0.0
    assert CostOfTransport(weight=1.0).value(as_if(walked, cost_of_transport=None)) == NOWHERE_COST


def test_drift_is_across_the_command_and_the_turn_beside_it(walked: Walked) -> None:
    drift = Drift(weight=1.0, turn_m=0.5)
    assert drift.value(going(walked, (0.1, 0.03, 0.2), (0.4, 0.0, 0.0))) == pytest.approx(0.03 + 0.1)
    assert drift.value(going(walked, (0.02, 0.3, 0.5), (0.0, 0.1, 0.5))) == pytest.approx(0.02)
    assert drift.value(going(walked, (0.03, 0.04, 1.0), (0.0, 0.0, 1.0))) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("term", "figures", "value"),
    [
        (Tilt(weight=1.0, over=6.0), {"max_tilt_deg": 9.0}, 3.0),
        (Tilt(weight=1.0, over=6.0), {"max_tilt_deg": 5.0}, 0.0),
        (Slip(weight=1.0), {"slip_m": 0.2, "path_m": 0.5}, 0.4),
        (Slip(weight=1.0), {"slip_m": 0.2, "path_m": 0.0}, 4.0),
        (CostOfTransport(weight=1.0), {"cost_of_transport": 1.5}, 1.5),
        (JointSpeed(weight=1.0, over=0.9), {"max_joint_speed_ratio": 1.4}, 0.5),
        (JointSpeed(weight=1.0, over=0.9), {"max_joint_speed_ratio": 0.4}, 0.0),
        (JointMargin(weight=1.0, under=1.0), {"limit_margin_deg": 3.0, "coupled_margin_deg": -2.0}, 3.0),
        (JointMargin(weight=1.0, under=1.0), {"limit_margin_deg": 0.5, "coupled_margin_deg": None}, 0.5),
        (JointMargin(weight=1.0), {"limit_margin_deg": 0.5, "coupled_margin_deg": 0.1}, 0.0),
        (Fall(weight=1.0), {}, 0.0),
        (Fall(weight=1.0), {"falls": 1, "fall_times_s": (0.0,)}, 2.0),
        (Fall(weight=1.0), {"falls": 2, "fall_times_s": (0.5, 0.5)}, 1.0),
    ],
)
def test_a_term_is_what_its_name_says(
    walked: Walked, term: Term, figures: Mapping[str, Any], value: float
) -> None:
    assert term.value(as_if(walked, **figures)) == pytest.approx(value)


def test_walks_count_by_their_weight_and_bodies_by_their_worst(walked: Walked) -> None:
    def leaning(tilt_deg: float, weight: float) -> Walked:
        one = as_if(walked, max_tilt_deg=tilt_deg)
        return Walked(replace(walked.walk, weight=weight), one.report)

    walks = [[leaning(1.0, 3.0), leaning(3.0, 3.0)], [leaning(8.0, 1.0), leaning(10.0, 1.0)]]
    terms = (Tilt(weight=0.5), Fall(weight=1.0))
    assert judged(walks, terms, TunedBodies(worst_share=0.0)).score == pytest.approx(0.5 * (3 * 2 + 9) / 4)
    worst = judged(walks, terms, TunedBodies(worst_share=1.0))
    assert worst.score == pytest.approx(0.5 * (3 * 3 + 10) / 4)
    assert worst.facts["max_tilt_deg"] == 10.0
    assert worst.facts["score_tilt_deg"] == pytest.approx(0.5 * (3 * 2 + 9) / 4)
    assert (worst.facts["walks"], worst.facts["falls"]) == (4, 0)


# the search


def test_a_search_is_better_than_its_start(found: tuple[TunedGait, Path]) -> None:
    tuned = found[0].tuned
    assert tuned.score < 0.9 * tuned.generations[0].best_score
    assert found[0].values == found[0].task.tried(tuned.best)


def same(one: Tuned, other: Tuned) -> bool:
    return (one.best, one.score, one.generations) == (other.best, other.score, other.generations)


def test_two_workers_find_what_one_finds(found: tuple[TunedGait, Path], tmp_path: Path) -> None:
    journal = tmp_path / "quick.jsonl"
    with_two = tune_gait(tune_in(QUICK), journal=journal, workers=2, **SEARCH)
    assert same(with_two.tuned, found[0].tuned)
    assert journal.read_bytes() == found[1].read_bytes()


@pytest.mark.parametrize("share", [0.55, 0.9])
def test_a_search_that_was_cut_off_goes_on_to_the_same_gait(
    found: tuple[TunedGait, Path], tmp_path: Path, share: float
) -> None:
    whole, journal = found[1].read_bytes(), tmp_path / "quick.jsonl"
    journal.write_bytes(whole[: round(share * len(whole))])
    again = tune_gait(tune_in(QUICK), journal=journal, **SEARCH)
    assert same(again.tuned, found[0].tuned)
    assert journal.read_bytes() == whole
    assert again.gait is not None
    assert found[0].gait is not None
    assert again.gait.source == found[0].gait.source


def test_a_journal_of_another_document_is_refused(found: tuple[TunedGait, Path], tmp_path: Path) -> None:
    journal = tmp_path / "quick.jsonl"
    journal.write_bytes(found[1].read_bytes())
    with pytest.raises(InputError, match="the journal of another search"):
        tune_gait(tune_in(QUICK.replace("fall: 2", "fall: 3")), journal=journal, **SEARCH)
    assert journal.read_bytes() == found[1].read_bytes()


def test_a_search_that_finds_nothing_says_so(tmp_path: Path) -> None:
    task = task_of(walks=(TunedWalk(Asked(0.9)),))
    found = tune_gait(task, generations=1, population=4, journal=tmp_path / "none.jsonl")
    assert found.gait is None
    assert found.tuned.score == math.inf
    assert len(read_journal(tmp_path / "none.jsonl").attempts) == 5


def test_the_documents_own_numbers_are_the_default() -> None:
    text = (
        QUICK.replace("settle_s: 0.2", "settle_s: 0")
        + "search: {generations: 1, population: 5, spread: 0.05}\n"
    )
    task = tune_in(text.replace("forward_m_s: 0.1", "forward_m_s: 9"))  # nothing walks: this is about numbers
    found = tune_gait(task)
    assert found.tuned.evaluations == 6
    assert same(found.tuned, tune(GaitProblem(task), generations=1, population=5, spread=0.05))
