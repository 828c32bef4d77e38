"""A gait is tuned: what is tried is what is written, and a search that is stopped goes on."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import DomainParameters, Push
from posewright.errors import InputError
from posewright.gaits import VelocityCommand, gait_text, read_gait, timing_of, velocity_limits, write_gait
from posewright.runs import GaitProblem, TunedGait, tune_gait, walk_gait
from posewright.runs.tuning.reading import parse_tune
from posewright.runs.tuning.search import require_feet_in_reach
from posewright.runs.tuning.task import STEPS_PER_RANGE, TunedBodies, TunedWalk, VelocityTarget, round_value
from posewright.search import Dimension, TuningResult, read_journal, tune
from posewright.simulation import World

from .gait_tunes import ERS7, MADE_GAIT, QUICK, START, task_of

SEARCH: dict[str, Any] = {"generations": 2, "population": 4, "seed": 1}


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> tuple[TunedGait, Path]:
    """A short search that nothing stopped, and its journal."""
    journal = tmp_path_factory.mktemp("search") / "quick.jsonl"
    return tune_gait(parse_tune(QUICK), journal=journal, **SEARCH), journal


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
    dimension = Dimension("x", low, high, min(low + start * width, high))
    value = min(low + share * width, high)
    tried = round_value(dimension, value)
    assert low <= tried <= high
    assert abs(tried - value) <= width / STEPS_PER_RANGE
    assert round_value(dimension, tried) == tried
    assert round_value(dimension, dimension.start) == dimension.start


def test_the_gait_that_is_written_is_the_one_that_was_tried(
    search: tuple[TunedGait, Path], tmp_path: Path
) -> None:
    tuned = search[0]
    assert tuned.gait is not None
    write_gait(tuned.gait, tmp_path / "quick.gait.yaml")
    again = read_gait(tmp_path / "quick.gait.yaml")
    assert again.parameters.flat == tuned.gait.parameters.flat
    assert again.travel_gain == tuned.gait.travel_gain
    world = World(ERS7, visuals=False)  # the document holds no joint still
    trial = walk_gait(again, ERS7, command=VelocityCommand(0.1), seconds=0.45, settle_s=0.2, world=world)
    assert trial.report.attitude.max_tilt_deg == tuned.result.facts["max_tilt_deg"]
    assert trial.report.travel.speed_m_s == pytest.approx(tuned.result.facts["speed_m_s"], abs=1e-15)
    assert "posewright tune quick" in again.source
    assert f"evaluations {tuned.result.evaluations}" in again.source


@pytest.mark.parametrize(("ground_speed_m_s", "pairs"), [(0.25, 6), (0.4, 3)])
def test_a_foot_that_is_lifted_for_too_long_takes_what_time_there_is(
    ground_speed_m_s: float, pairs: int
) -> None:
    task = parse_tune(QUICK.replace("front_height_m: [0.004, 0.02]", "ascent_pairs: [1, 40]"))
    values = {"ground_speed_m_s": ground_speed_m_s, "ascent_pairs": 30, "travel_gain.forward": 1.0}
    gait = task.candidate(values)
    assert gait.parameters.ascent_pairs == task.round_values(values)["ascent_pairs"] == pairs
    timing_of(gait.parameters, ERS7.frame_period_s)
    with pytest.raises(InputError, match="ascent_pairs"):
        timing_of(gait.with_values({"ascent_pairs": pairs + 1}).parameters, ERS7.frame_period_s)


def test_a_walk_asks_for_a_share_of_the_greatest() -> None:
    parameters = read_gait(MADE_GAIT, robot=ERS7).parameters
    timing = timing_of(parameters, ERS7.frame_period_s)
    walk = TunedWalk(
        VelocityTarget(0.6, is_share=True),
        VelocityTarget(-0.8, is_share=True),
        VelocityTarget(-1.0, is_share=True),
    )
    command = walk.command(velocity_limits(read_gait(MADE_GAIT).generator(ERS7)))
    speed = math.hypot(command.forward_m_s, command.left_m_s) * timing.ground_s
    assert speed == pytest.approx(parameters.maximum_displacement_m)
    assert command.turn_rad_s * timing.ground_s == pytest.approx(-parameters.maximum_turn_rad)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parameters": {"ascent_pairs": 12}}, "ascent_pairs is 12"),
        ({"parameters": {"equilibrium_m.fore.z": -0.3}}, "is too far"),
        ({"walks": (TunedWalk(VelocityTarget(0.5)),)}, "0.5 m/s is out of range"),
        ({"walks": (TunedWalk(turn=VelocityTarget(5.0)),)}, "a turn of 5 rad/s is out of range"),
    ],
)
def test_a_candidate_that_cannot_walk_has_no_score_but_a_reason(
    changes: Mapping[str, Any], reason: str
) -> None:
    other_changes = {name: value for name, value in changes.items() if name != "parameters"}
    task = task_of(**other_changes)
    task = replace(task, gait=task.gait.with_values(changes.get("parameters", {})))
    evaluation = GaitProblem(task).evaluate(START)
    assert evaluation.score == math.inf
    assert reason in str(evaluation.facts["reason"])


def test_feet_that_stay_away_from_their_way_are_refused() -> None:
    far = {"maximum_displacement_m": 0.2, "ground_speed_m_s": 0.4, "equilibrium_m.fore.x": 0.1}
    gait = read_gait(MADE_GAIT, robot=ERS7).with_values(far)
    require_feet_in_reach(gait, ERS7, VelocityCommand(0.0))
    with pytest.raises(InputError, match=r"_front stays \d+\.\d mm away"):
        require_feet_in_reach(gait, ERS7, VelocityCommand(0.39))


def test_a_task_comes_back_whole_from_its_travels() -> None:
    task = parse_tune(QUICK)
    unpickled = pickle.loads(pickle.dumps(task))  # noqa: S301 -- our own
    assert gait_text(unpickled.gait) == gait_text(task.gait)
    assert (unpickled.dimensions, unpickled.terms, unpickled.digest) == (
        task.dimensions,
        task.terms,
        task.digest,
    )


def test_a_problem_in_another_process_is_the_same() -> None:
    task = task_of(locked_joints=("mouth", "tail_tilt", "tail_pan"))
    problem = GaitProblem(task)
    evaluation = problem.evaluate(START)
    unpickled = pickle.loads(pickle.dumps(problem))  # noqa: S301 -- our own
    assert unpickled.fingerprint == problem.fingerprint
    assert unpickled.evaluate(START) == evaluation == problem.evaluate(START)


def test_what_is_held_still_moves_in_the_last_look() -> None:
    search = tune_gait(task_of(locked_joints=("mouth", "tail_tilt", "tail_pan")), generations=1, population=4)
    assert search.unlocked == GaitProblem(task_of()).evaluate(search.result.best)
    assert search.unlocked.score != search.result.score
    assert search.unlocked.score == pytest.approx(search.result.score, rel=0.2)


@pytest.mark.parametrize(
    ("given_text", "instead"),
    [
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
    assert parse_tune(QUICK).fingerprint == parse_tune(f"# a remark\n{QUICK}source: ours\n").fingerprint
    assert parse_tune(QUICK).fingerprint != parse_tune(QUICK.replace(given_text, instead)).fingerprint


def test_journals_of_earlier_versions_can_be_resumed() -> None:
    walk = TunedWalk(VelocityTarget(0.5, is_share=True))
    assert repr(walk.forward) == "Asked(value=0.5, is_share=True)"  # the fingerprint covers this text
    assert repr(walk).startswith("TunedWalk(forward=Asked(value=0.5, is_share=True), left=Asked(")


def test_pushes_and_plates_are_in_the_fingerprint_only_of_bodies_that_have_them() -> None:
    plain = repr(TunedBodies((DomainParameters(friction=0.5),)))
    assert plain == (
        "TunedBodies(variations=(DomainParameters(friction=0.5, mass_scale=1.0, stiffness_scale=1.0, "
        "damping_scale=1.0, armature_scale=1.0, latency_frames=0, com_shift_m=(0.0, 0.0, 0.0), "
        "slope_rad=(0.0, 0.0)),), worst_share=0.0)"
    )
    push = Push(time_s=1.0, impulse_n_s=0.5, from_rad=0.0)
    pushed = repr(TunedBodies((DomainParameters(friction=0.5, pushes=(push,)),)))
    assert pushed == plain.replace("0.0)),)", f"0.0), pushes=({push!r},)),)")


def test_another_gait_to_begin_at_changes_the_fingerprint() -> None:
    task = parse_tune(QUICK)
    changed = replace(task, gait=task.gait.with_values({"ascent_pairs": 4}))
    assert changed.fingerprint != task.fingerprint


# the search


def test_a_search_is_better_than_its_start(search: tuple[TunedGait, Path]) -> None:
    tuned = search[0].result
    assert tuned.score < 0.9 * tuned.generations[0].best_score
    assert search[0].values == search[0].task.round_values(tuned.best)


def same(first: TuningResult, second: TuningResult) -> bool:
    return (first.best, first.score, first.generations) == (second.best, second.score, second.generations)


def test_two_workers_find_what_one_finds(search: tuple[TunedGait, Path], tmp_path: Path) -> None:
    journal = tmp_path / "quick.jsonl"
    with_two = tune_gait(parse_tune(QUICK), journal=journal, workers=2, **SEARCH)
    assert same(with_two.result, search[0].result)
    assert journal.read_bytes() == search[1].read_bytes()


@pytest.mark.parametrize("share", [0.55, 0.9])
def test_a_search_that_was_cut_off_goes_on_to_the_same_gait(
    search: tuple[TunedGait, Path], tmp_path: Path, share: float
) -> None:
    complete = search[1].read_bytes()
    journal = tmp_path / "quick.jsonl"
    journal.write_bytes(complete[: round(share * len(complete))])
    again = tune_gait(parse_tune(QUICK), journal=journal, **SEARCH)
    assert same(again.result, search[0].result)
    assert journal.read_bytes() == complete
    assert again.gait is not None
    assert search[0].gait is not None
    assert again.gait.source == search[0].gait.source


def test_a_journal_of_another_document_is_refused(search: tuple[TunedGait, Path], tmp_path: Path) -> None:
    journal = tmp_path / "quick.jsonl"
    journal.write_bytes(search[1].read_bytes())
    with pytest.raises(InputError, match="the journal of another search"):
        tune_gait(parse_tune(QUICK.replace("fall: 2", "fall: 3")), journal=journal, **SEARCH)
    assert journal.read_bytes() == search[1].read_bytes()


def test_a_search_that_finds_nothing_says_so(tmp_path: Path) -> None:
    task = task_of(walks=(TunedWalk(VelocityTarget(0.9)),))
    search = tune_gait(task, generations=1, population=4, journal=tmp_path / "none.jsonl")
    assert search.gait is None
    assert search.result.score == math.inf
    assert len(read_journal(tmp_path / "none.jsonl").attempts) == 5


def test_the_documents_own_numbers_are_the_default() -> None:
    text = (
        QUICK.replace("settle_s: 0.2", "settle_s: 0")
        + "search: {generations: 1, population: 5, spread: 0.05}\n"
    )
    # no candidate can walk so fast: this is about the numbers of the search
    task = parse_tune(text.replace("forward_m_s: 0.1", "forward_m_s: 9"))
    search = tune_gait(task)
    assert search.result.evaluations == 6
    assert same(search.result, tune(GaitProblem(task), generations=1, population=5, spread=0.05))
