"""Gaits of two legs are tuned as those of four are, and the result is tested on bodies nobody tuned it on."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from posewright.bodies import NOMINAL, domain_randomization, draw_domain
from posewright.errors import InputError
from posewright.gaits import BipedGait, FeedbackGains, read_gait, write_gait
from posewright.robots import robot
from posewright.runs import GaitProblem, TunedGait, TuneOverrides, read_tune, tune_gait, walk_gait
from posewright.runs.tuning.reading import DEFAULT_HELD_OUT, parse_tune
from posewright.runs.tuning.task import TunedBodies, TunedWalk, VelocityTarget

BIOLOID = robot("robotis_bioloid")
MADE_BIPED = Path(__file__).with_name("made_biped.gait.yaml")
START = {"cycle_s": 0.45, "hip_height_m": 0.11, "max_forward_m_s": 0.2}

TUNING = f"""\
tune: quick_biped
robot: robotis_bioloid
gait: {MADE_BIPED.as_posix()}
parameters:
  cycle_s: [0.3, 0.6]
  hip_height_m: [0.1, 0.12]
  max_forward_m_s: [0.1, 0.3]
walks:
  - {{forward_m_s: greatest, seconds: 1, settle_s: 0.5}}
score: {{speed: 1, tilt_deg: {{weight: 0.02, over: 20}}, fall: 2}}
"""
RANDOM_BODIES = "bodies: {random: 1, seed: 5, held_out: 3}\n"


@pytest.fixture(scope="module")
def tuned() -> TunedGait:
    """A short search on the model's body and a random one."""
    return tune_gait(parse_tune(TUNING + RANDOM_BODIES), generations=1, population=4, seed=1)


def test_a_tuned_biped_is_a_document_that_walks_as_in_the_search(tuned: TunedGait, tmp_path: Path) -> None:
    assert isinstance(tuned.gait, BipedGait)
    write_gait(tuned.gait, tmp_path / "quick.gait.yaml")
    gait = read_gait(tmp_path / "quick.gait.yaml")
    assert gait.name == "quick_biped"
    assert {name: gait.flat[name] for name in START} == tuned.values
    assert tuned.result.score <= tuned.result.generations[0].best_score
    task = replace(tuned.task, gait=gait)
    evaluation = GaitProblem(task).evaluate(tuned.values)
    assert evaluation.score == tuned.result.score


def test_greatest_is_the_candidates_own_limit_forward_and_backward() -> None:
    walk = TunedWalk(VelocityTarget(-0.5, is_share=True))
    task = replace(parse_tune(TUNING), walks=(walk,))
    evaluation = GaitProblem(task).evaluate(START)
    assert evaluation.is_judged, evaluation.facts
    assert 0.01 < float(evaluation.facts["speed_m_s"]) < 0.1  # half of max_backward_m_s is 0.05


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"hip_height_m": 0.3}, "from the hip"),
        ({"max_forward_m_s": 1.9, "cycle_s": 1.0}, "from the hip"),
        ({"cycle_s": -1.0}, "cycle_s is -1"),
    ],
)
def test_a_candidate_whose_legs_are_too_short_has_no_score_but_a_reason(
    values: dict[str, float], reason: str
) -> None:
    task = parse_tune(TUNING)
    task = replace(task, dimensions=tuple(replace(entry, low=-2.0, high=2.0) for entry in task.dimensions))
    evaluation = GaitProblem(task).evaluate(START | values)
    assert evaluation.score == math.inf
    assert reason in str(evaluation.facts["reason"])


def test_joints_faster_than_the_servo_cost_score() -> None:
    text = TUNING.replace("score: {", "score: {joint_speed_ratio: {weight: 1, over: 0.5}, ")
    slow = GaitProblem(parse_tune(text)).evaluate(START)
    fast = GaitProblem(parse_tune(text)).evaluate(START | {"cycle_s": 0.3, "max_forward_m_s": 0.3})
    assert fast.is_judged
    assert float(fast.facts["max_joint_speed_ratio"]) > float(slow.facts["max_joint_speed_ratio"])
    assert float(fast.facts["score_joint_speed_ratio"]) == pytest.approx(
        float(fast.facts["max_joint_speed_ratio"]) - 0.5, abs=0.1
    )


def test_a_change_of_the_feedback_changes_the_fingerprint() -> None:
    task = parse_tune(TUNING)
    assert isinstance(task.gait, BipedGait)
    holding = replace(task, gait=replace(task.gait, feedback=FeedbackGains(heading_1_s=1.0)))
    assert holding.fingerprint != task.fingerprint


# bodies


def test_the_result_is_tested_beside_the_start_on_bodies_the_search_did_not_see(tuned: TunedGait) -> None:
    bodies = tuned.task.bodies
    random = domain_randomization()
    assert bodies == TunedBodies(
        (NOMINAL, draw_domain(random, 5)),
        seeds=(0, 5),
        held_out=tuple((seed, draw_domain(random, seed)) for seed in (6, 7, 8)),
    )
    start, best = tuned.held_out_walks
    assert start.gait is tuned.task.gait
    assert best.gait is tuned.gait
    data = best.to_dict()
    assert (data["bodies"], data["fallen"]) == (3, 0)
    command = best.command
    assert command.forward_m_s == tuned.values["max_forward_m_s"]
    speeds = [
        walk_gait(best.gait, BIOLOID, command=command, seconds=1, settle_s=0.5, domain=domain).report.travel
        for _, domain in bodies.held_out
    ]
    assert data["min_speed_m_s"] == min(travel.speed_m_s or 0.0 for travel in speeds)
    assert data["max_heading_drift_deg"] == max(abs(travel.heading_drift_deg) for travel in speeds)


def test_a_walk_that_the_start_cannot_walk_is_tested_with_the_best_alone() -> None:
    text = TUNING.replace("forward_m_s: greatest", "forward_m_s: 0.25")
    text = text.replace("max_forward_m_s: [0.1, 0.3]", "max_forward_m_s: {range: [0.1, 0.3], start: 0.26}")
    tuned = tune_gait(parse_tune(text + "bodies: {held_out: 1}\n"), generations=1, population=4)
    assert [walk.gait for walk in tuned.held_out_walks] == [tuned.gait]


def test_bodies_are_drawn_from_several_sets_in_turn(tmp_path: Path) -> None:
    (tmp_path / "icy.bodies.yaml").write_text(
        "bodies: icy\nranges: {friction: {low: 0.2, high: 0.3, source: a guess}}\n"
    )
    text = TUNING + "bodies: {nominal: false, random: 3, ranges: [icy.bodies.yaml, random]}\n"
    bodies = parse_tune(text, tmp_path / "my.tune.yaml").bodies
    random = domain_randomization()
    icy = domain_randomization(tmp_path / "icy.bodies.yaml")
    assert bodies.variations == (draw_domain(icy, 0), draw_domain(random, 1), draw_domain(icy, 2))
    assert bodies.seeds == (0, 1, 2)
    assert bodies.held_out[0] == (3, draw_domain(random, 3))
    assert len(bodies.held_out) == DEFAULT_HELD_OUT


def test_only_a_tuning_on_random_bodies_is_tested_on_others_unless_it_says_so() -> None:
    assert parse_tune(TUNING).bodies.held_out == ()
    assert len(parse_tune(TUNING + "bodies: {random: 1, held_out: 0}\n").bodies.held_out) == 0
    assert len(parse_tune(TUNING + "bodies: {held_out: 2}\n").bodies.held_out) == 2


# what replaces parts of a document


def test_a_gait_and_bodies_of_ones_own_replace_those_of_a_tuning(tmp_path: Path) -> None:
    mine = read_gait(MADE_BIPED).with_values({"lift_m": 0.013})
    write_gait(mine, tmp_path / "mine.gait.yaml")
    overrides = TuneOverrides(str(tmp_path / "mine.gait.yaml"), ranges=("random",), n_random=2, n_held_out=4)
    task = read_tune("biped", overrides=overrides)
    assert task.gait.flat == mine.flat
    assert task.robot.name == "robotis_bioloid"
    starts = {dimension.name: dimension.start for dimension in task.dimensions}
    assert starts["lift_m"] == 0.013
    assert len(task.bodies.variations) == 3
    assert len(task.bodies.held_out) == 4


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"n_random": -1}, "-1 random bodies"),
        ({"n_held_out": 10**9}, "1000000000 held-out bodies"),
        ({"ranges": ("mars",)}, "unknown set of bodies 'mars'"),
        ({"gait": "trott"}, "unknown gait 'trott'"),
        ({"gait": "trot"}, "unknown gait parameter 'cycle_s'"),
    ],
)
def test_what_cannot_replace_is_reported(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_tune("biped", overrides=TuneOverrides(**overrides))  # type: ignore[arg-type]


def test_candidates_walk_over_plates_and_are_pushed_each_on_its_own_body(tmp_path: Path) -> None:
    (tmp_path / "pushed.bodies.yaml").write_text(
        "bodies: pushed\npushes:\n  - {impulse_n_s: 0.3, at_s: 1.0}\n"
    )
    bodies = "bodies: {random: 2, held_out: 0, ranges: [plates_3mm, pushed.bodies.yaml]}\n"
    text = TUNING.replace("seconds: 1,", "seconds: 3,") + bodies
    problem = GaitProblem(parse_tune(text, tmp_path / "my.tune.yaml"))
    together = problem.evaluate(START)
    assert problem.evaluate(START) == together
    scores = []
    for domain in problem.task.bodies.variations:
        alone = replace(problem.task, bodies=TunedBodies((domain,)))
        scores.append(GaitProblem(alone).evaluate(START).score)
    assert together.score == pytest.approx(sum(scores) / 3)
    assert len(set(scores)) == 3
