"""The search finds what is to be found, asks the same every time, and leaves no trace outside."""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError, MissingExtraError
from posewright.search import Attempt, Dimension, EndReason, Evaluation, Generation, tune

from .tuning_problems import BOX, LOWEST, Bowl, Cliffs, Gears, Valley


def candidates(problem: Any, **options: Any) -> list[Mapping[str, float]]:
    seen: list[Attempt] = []
    tune(problem, after=seen.append, **options)
    return [attempt.values for attempt in seen]


def test_the_bottom_of_a_bowl_is_found() -> None:
    tuned = tune(Bowl(), generations=60)
    assert tuned.best == pytest.approx(LOWEST, abs=2e-3)
    assert tuned.score < 1e-6


def test_a_curved_valley_is_followed_to_its_end() -> None:
    assert tune(Valley(), generations=220, population=10).best == pytest.approx(
        dict.fromkeys(("x0", "x1", "x2", "x3"), 1.0), abs=1e-2
    )


def test_whole_numbers_are_whole_and_found_at_a_bound_too() -> None:
    tuned = tune(Gears(), generations=60)
    assert (tuned.best["teeth"], tuned.best["turns"]) == (7, 40)
    assert {type(tuned.best[name]) for name in ("teeth", "turns")} == {int}
    assert tuned.best["length"] == pytest.approx(0.25, abs=0.01)


def test_whole_numbers_alone_can_be_searched() -> None:
    class Whole(Gears):
        def evaluate(self, values: Mapping[str, float]) -> Evaluation:
            return Evaluation(abs(values["teeth"] - 7) + abs(values["turns"] - 40) / 4.0)

    tuned = tune(Whole(dimensions=Gears.dimensions[:2]), generations=40)
    assert dict(tuned.best) == {"teeth": 7, "turns": 40}


def test_a_single_dimension_can_be_searched() -> None:
    tuned = tune(Bowl(dimensions=BOX[:1]), generations=40)
    assert dict(tuned.best) == {"length_m": pytest.approx(0.03, abs=1e-4)}


def test_the_bottom_is_found_though_many_candidates_cannot_be_judged() -> None:
    tuned = tune(Cliffs(), generations=80, population=12)
    assert tuned.score < 1e-3
    assert any(one.judged < 12 for one in tuned.generations[1:])
    assert tuned.facts["speed"] == pytest.approx(10.0, rel=0.02)


def test_where_nothing_can_be_judged_the_search_goes_on_and_says_so() -> None:
    class Nowhere(Bowl):
        def evaluate(self, values: Mapping[str, float]) -> Evaluation:
            return Evaluation(math.inf, {"reason": "fell", "phase": values["phase"]})

    tuned = tune(Nowhere(), generations=30)
    assert (tuned.score, tuned.facts, dict(tuned.best)) == (
        math.inf,
        {"reason": "fell", "phase": 1.0},
        {one.name: one.start for one in BOX},
    )
    assert all(one.judged == 0 and one.spread > 0.1 for one in tuned.generations[1:])


def test_an_island_is_found_from_far_off() -> None:
    """Until something can be judged, the search keeps looking as widely as it began."""

    class Island(Bowl):
        def evaluate(self, values: Mapping[str, float]) -> Evaluation:
            height = super().evaluate(values).score
            return Evaluation(height if height < 0.05 else math.inf)

    assert tune(Island(), generations=80).score < 1e-3


@pytest.mark.parametrize("score", [1e308, 1e-308, -1e308])
def test_scores_of_any_size_are_searched_quietly(score: float) -> None:
    class Steep(Bowl):
        def evaluate(self, values: Mapping[str, float]) -> Evaluation:
            height = super().evaluate(values).score
            return Evaluation(math.copysign(score, height - 0.2) if height < 0.4 else math.inf)

    assert tune(Steep(), generations=6).evaluations == 1 + 6 * 7


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**63 - 1),
    population=st.integers(4, 9),
    spread=st.floats(0.01, 1.0 / 3.0),
    problem=st.sampled_from([Bowl(), Gears(), Cliffs()]),
)
def test_no_candidate_lies_outside_its_range_and_the_same_plan_asks_for_the_same_ones(
    seed: int, population: int, spread: float, problem: Bowl | Gears
) -> None:
    options = {"generations": 3, "seed": seed, "population": population, "spread": spread}
    asked = candidates(problem, **options)
    assert len(asked) == 1 + 3 * population
    assert all(one.low <= values[one.name] <= one.high for values in asked for one in problem.dimensions)
    assert candidates(problem, **options) == asked


def test_another_seed_asks_for_other_candidates() -> None:
    first, second = (candidates(Bowl(), generations=2, seed=seed) for seed in (0, 1))
    assert first[0] == second[0]
    assert all(one != other for one, other in zip(first[1:], second[1:], strict=True))


def test_the_start_is_tried_first_and_the_result_is_never_worse() -> None:
    lowest = tuple(replace(one, start=LOWEST[one.name]) for one in BOX)
    tuned = tune(Bowl(dimensions=lowest), generations=3)
    assert (tuned.score, dict(tuned.best)) == (0.0, LOWEST)
    assert tuned.generations[0] == Generation(0, 0.0, 0.0, 0.0, tuned.best, 0.0, 1, 1)


def test_generations_say_what_was_in_them() -> None:
    seen: list[Attempt] = []
    tuned = tune(Cliffs(), generations=12, seed=4, after=seen.append)
    assert tuned.evaluations == len(seen) == 1 + 12 * 7
    for one in tuned.generations:
        own = [attempt for attempt in seen if attempt.generation == one.number]
        so_far = [attempt for attempt in seen if attempt.generation <= one.number]
        assert [attempt.index for attempt in own] == list(range(len(own)))
        assert one.best_score == min(attempt.score for attempt in own)
        assert one.median_score == sorted(attempt.score for attempt in own)[len(own) // 2]
        assert one.best_so_far == min(attempt.score for attempt in so_far)
        assert one.best in [attempt.values for attempt in so_far if attempt.score == one.best_so_far]
        assert one.evaluations == len(so_far)
        shares = [[(a.values[d.name] - d.low) / d.width for a in own] for d in BOX]
        assert one.spread == pytest.approx(np.mean(np.std(shares, axis=1)))


def test_the_search_ends_when_its_candidates_no_longer_differ() -> None:
    tuned = tune(Bowl(), generations=100_000)
    assert tuned.ending is EndReason.CONVERGED
    assert tuned.generations[-1].spread < 1e-8


def test_whoever_watches_may_end_it() -> None:
    tuned = tune(Bowl(), generations=50, watch=lambda one: one.number < 4)
    assert tuned.ending is EndReason.STOPPED
    assert [one.number for one in tuned.generations] == [0, 1, 2, 3, 4]


def test_numpys_random_state_is_nobodys_business_but_its_owners() -> None:
    class Drawing(Bowl):
        def evaluate(self, values: Mapping[str, float]) -> Evaluation:
            drawn.append(float(np.random.random()))  # noqa: NPY002 -- what must not be disturbed
            return super().evaluate(values)

    drawn: list[float] = []
    before = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(5)  # noqa: NPY002
        tune(Drawing(), generations=4)
        np.random.seed(5)  # noqa: NPY002
        assert drawn == np.random.random(len(drawn)).tolist()  # noqa: NPY002
    finally:
        np.random.set_state(before)  # noqa: NPY002


def test_nothing_is_printed_and_no_file_is_left(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cma_signals.in").write_text("{'timeout': 0}")  # an order that cma would follow
    assert tune(Gears(), generations=8).ending is EndReason.COMPLETE
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["cma_signals.in"]


def test_without_cma_one_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    genuine = builtins.__import__

    def without_cma(name: str, *rest: Any, **named: Any) -> Any:
        if name == "cma":
            raise ImportError(name)
        return genuine(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_cma)
    with pytest.raises(MissingExtraError, match=r"posewright\[tune\]"):
        tune(Bowl(), generations=1, journal=tmp_path / "journal.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"generations": 0},
        {"population": 3},
        {"spread": 0.0},
        {"spread": 0.4},
        {"spread": math.nan},
        {"seed": -1},
        {"seed": 2**63},
        {"workers": 0},
    ],
)
def test_a_number_out_of_its_range_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError):
        tune(Bowl(), **{"generations": 1, "journal": tmp_path / "journal.jsonl", **options})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": 2.0}, "goes from 2.0 to 1.0"),
        ({"start": 1.5}, "starts at 1.5"),
        ({"high": math.inf}, "high is inf"),
        ({"low": -1e308, "high": 1e308}, "too wide"),
        ({"name": ""}, "no name"),
        ({"is_whole": True}, "start is 0.5"),
        ({"is_whole": True, "start": 0, "high": 2.0**60}, "high is"),
    ],
)
def test_a_range_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(Dimension("x", -1.0, 1.0, 0.5), **change)


def test_a_box_without_dimensions_or_with_two_of_one_name_is_refused() -> None:
    for dimensions in ((), (BOX[0], BOX[1], BOX[0])):
        with pytest.raises(InputError, match="dimension"):
            tune(Bowl(dimensions=dimensions), generations=1)


def test_numpys_numbers_become_plain_ones() -> None:
    made = Evaluation(np.float32(0.5), {"a": np.int64(3), "b": np.bool_(True), "c": np.float64(0.25)})  # type: ignore[arg-type]
    assert [type(fact) for fact in (made.score, *made.facts.values())] == [float, int, int, float]
    assert type(Dimension("n", np.int64(0), np.int64(5), np.int64(1), is_whole=True).start) is int


@pytest.mark.parametrize("score", [math.nan, -math.inf])
def test_a_score_that_is_no_number_cannot_be_judged(score: float) -> None:
    assert Evaluation(score) == Evaluation(math.inf, {"not_judged": f"the score was {score}"})


@pytest.mark.parametrize(("score", "facts"), [("0.5", {}), (None, {}), (0.5, {"a": [1]}), (0.5, {"a": None})])
def test_what_is_no_evaluation_is_refused(score: Any, facts: Any) -> None:
    with pytest.raises(InputError):
        Evaluation(score, facts)
