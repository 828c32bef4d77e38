"""Small charts with hard questions: what a check may spend is counted, and what stays open is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any, SupportsIndex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import (
    FloatType,
    IntType,
    Report,
    Scope,
    inspect_chart,
    parse_any_chart,
    parse_expression,
)
from posewright.charts.checks import Rule, analysis
from posewright.charts.proof import Effort, Prover, SolverBudget
from posewright.charts.reachability import DEFAULT_LIMITS, ExplorationLimits, Spans, partition
from posewright.charts.types import Type

CHART = """
chart: small
period_s: 0.1
inputs: {{{inputs}}}
outputs: {{o: {{int: [0, 3]}}}}
initial: a
states:
  a:
    transitions:
      - {{when: '{one}', do: {{o: 1}}, go: b}}
      - {{when: '{other}', do: {{o: 2}}, go: b}}
  b:
    transitions: [{{when: '{back}', go: a}}]
"""

CLEAN = """
chart: clean
period_s: 0.1
inputs: {x: {float: [-10, 10]}, n: int16, k: bool}
outputs: {o: {int: [0, 30]}, v: {float: [0, 20]}}
initial: a
states:
  a:
    otherwise: refuse
    entry: {v: 'abs(x)', o: 'min(o + 1, 30)'}
    transitions:
      - {when: 'x * x < 4', go: b}
      - {when: 'x * x >= 4', go: a}
  b:
    transitions:
      - {when: 'n % 2 == 0 and n > 5 and k', go: a}
      - {when: 'n % 2 == 1 and n > 5', do: {v: 'max(v - 0.5, 0)', o: 0}, go: a}
"""

TWO = "a1: int16, b1: int16"
THREE = "a1: int16, b1: int16, c1: int16"
FRACTIONS = "a1: {float: [-10, 10]}, b1: {float: [-10, 10]}, c1: {float: [-10, 10]}"

FACTORS = (
    THREE,
    "a1 * b1 == 1022117 and a1 > 1 and b1 > a1",
    "a1 - 1009 == c1 and c1 == 0 and b1 % 1013 == 0",
)
FACTOR = (TWO, "a1 * b1 == 1022117 and a1 > 1", "a1 == 1009")
CUBES = (THREE, "a1*a1*a1 + b1*b1*b1 == c1*c1*c1 + 33", "a1*a1*a1 + b1*b1*b1 + c1*c1*c1 == 42")
ROUNDED = (FRACTIONS, "a1*a1*a1 + b1*b1*b1 == c1*c1*c1 and a1 > 1 and b1 > 1", "a1 / b1 / c1 == b1 / a1")


def _steps(
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    effort: Effort | None = None,
    limits: ExplorationLimits = DEFAULT_LIMITS,
) -> tuple[Report, SolverBudget]:
    """Return what the check of a chart came to, and the effort that it took."""
    pools: list[SolverBudget] = []

    def noted() -> SolverBudget:
        pools.append(SolverBudget(effort))
        return pools[-1]

    monkeypatch.setattr(analysis, "SolverBudget", noted)
    report = inspect_chart(parse_any_chart(text, Path("small.chart.yaml")), limits=limits)
    return report, pools[0]


def _asked(names: str, one: str, other: str) -> str:
    return CHART.format(inputs=names, one=one, other=other, back="a1 < b1")


@pytest.mark.parametrize("asked", [FACTORS, FACTOR])
def test_the_factors_of_a_number_are_no_hard_question(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[str, str, str]
) -> None:
    report, pool = _steps(monkeypatch, _asked(*asked))
    (found,) = report.findings
    assert found.rule is Rule.OVERLAP
    assert found.trace
    assert found.counterexample is not None
    assert found.counterexample.inputs["a1"] == 1009
    assert report.complete
    assert pool.steps_taken < 10_000


def test_a_chart_of_many_spans_is_looked_through_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    report, pool = _steps(monkeypatch, CLEAN)
    assert not report.findings
    assert report.complete
    assert pool.steps_taken < 10_000


@pytest.mark.parametrize("asked", [CUBES, ROUNDED])
def test_what_is_too_hard_is_said_within_the_effort(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[str, str, str]
) -> None:
    effort = Effort(max_steps_per_question=300, max_steps_in_all=600, min_steps_per_question=10)
    report, pool = _steps(monkeypatch, _asked(*asked), effort, ExplorationLimits(max_work=50_000))
    assert any(finding.rule is Rule.NOT_PROVED for finding in report.findings)
    assert not report.complete
    assert pool.steps_taken < effort.max_steps_in_all + 100 * effort.min_steps_per_question


def test_the_harder_the_questions_before_the_less_the_next_may_take() -> None:
    pool = SolverBudget(Effort(max_steps_per_question=100, max_steps_in_all=850, min_steps_per_question=10))
    assert pool.steps_allowed == 100
    pool.steps_taken = 750
    assert pool.steps_allowed == 50
    pool.steps_taken = 2000
    assert pool.steps_allowed == 10


def test_a_case_found_for_more_is_an_answer_to_less() -> None:
    types: dict[str, Type] = {"x": FloatType(-10.0, 10.0), "n": IntType(-32768, 32767)}
    pool = SolverBudget(Effort(max_steps_per_question=1))
    scope = Scope(types)
    odd = parse_expression("n * n * n - n * x > 17000 and n % 13 == 5 and x * n > 7.77", scope)
    assert Prover(types, budget=pool).satisfiable(true=[odd]).possible is None
    pool.remember({"x": 1.5, "n": 31})
    assert Prover(types, budget=pool).satisfiable(true=[odd]).case == {"x": 1.0, "n": 31}


@pytest.mark.parametrize("value", [-12, 0, 1, 7, 12, 30, 36])
def test_products_come_to_a_number_as_trying_everything_says(value: int) -> None:
    types: dict[str, Type] = {"n": IntType(-9, 9), "m": IntType(-4, 12)}
    prover = Prover(types, Effort(max_combinations=0))
    for guard in (
        f"n * m == {value} and n < m",
        f"n * n == {value}",
        f"n * m != {value} and m * m == {value}",
    ):
        one = parse_expression(guard, Scope(types))
        cases = [{"n": n, "m": m} for n in range(-9, 10) for m in range(-4, 13)]
        assert prover.satisfiable(true=[one]).possible is any(one.evaluate(case) for case in cases)


class _Counted(tuple[Any, ...]):
    """Spans that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        """Return one of them."""
        type(self).looks += 1
        return super().__getitem__(at)


def test_sets_of_many_spans_are_parted_in_one_pass() -> None:
    spans: Spans = tuple((i, i) for i in range(0, 40_000, 2))
    by = _Counted((i, i) for i in range(0, 40_000, 4))
    inside, outside = partition.__wrapped__(spans, by)
    assert len(inside) == len(outside) == 10_000
    assert _Counted.looks < 200_000


SETS = st.sets(st.integers(0, 30), max_size=20)


@given(SETS, SETS)
@settings(max_examples=60)
def test_sets_are_parted_into_what_is_inside_and_what_is_not(one: set[int], other: set[int]) -> None:
    inside, outside = partition(_spans(one), _spans(other))
    assert _values(inside) == one & other
    assert _values(outside) == one - other


def _spans(values: set[int]) -> Spans:
    found: list[tuple[int, int]] = []
    for value in sorted(values):
        if found and found[-1][1] == value - 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return tuple(found)


def _values(spans: Spans) -> set[int]:
    return {value for low, high in spans for value in range(low, high + 1)}
