"""Mutation: every single fault that can be made in a chart, and whether scenarios find it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, Interpreter, parse_chart
from posewright.charts.coverage import cover_chart
from posewright.charts.mutation import (
    Distinguisher,
    Mutant,
    MutantStatus,
    MutationKind,
    explore_small_variables,
    mutants,
    mutate_chart,
)
from posewright.charts.scenarios import Expectation, Scenario, ScenarioStep, parse_scenario
from posewright.errors import InputError

HEAD = """\
chart: c
period_s: 0.1
inputs: {a: bool, b: bool, n: {int: [0, 9]}, d: {float: [0, 2], unit: m}}
events: [go, halt]
outputs: {x: bool, y: {int: [0, 9]}, m: {enum: [none, walk, kick]}}
"""


def chart(states: str, head: str = HEAD) -> Chart:
    return parse_chart(head + states)


def said(made: Chart) -> list[str]:
    return [mutant.description for mutant in mutants(made)]


TIMED = chart("""\
constants: {near: 36 cm}
initial: out
states:
  out: [{on: go, when: a or b, go: moving}]
  moving:
    transitions:
      - {on: halt, go: out}
      - {when: d < near and n > 3, go: kicking}
    entry: {m: walk}
    exit: {m: none}
    initial: slow
    states:
      slow: [{when: after(0.4 s), go: fast}]
      fast: {during: {x: not x}, transitions: [{when: b, go: slow}]}
  kicking:
    min_s: 0.3
    entry: {m: kick, y: 1}
    transitions: [{when: not a, go: {history: moving}, do: {y: 0}}, {when: else, go: out}]
""")


def test_a_guard_is_got_wrong_in_every_single_way() -> None:
    made = said(chart("initial: p\nstates:\n  p: [{when: a and n < 4, do: {x: 1}}]\n"))
    assert {
        "`a and n < 4` becomes `a or n < 4`",
        "`a` becomes `true`",
        "`a` becomes `false`",
        "`a` becomes `not a`",
        "`n < 4` becomes `true`",
        "`n < 4` becomes `false`",
        "`n < 4` becomes `n <= 4`",
        "`n < 4` becomes `n != 4`",
        "`4` becomes `5`",
        "`4` becomes `3`",
        "`a and n < 4` becomes `not (a and n < 4)`",
    } <= set(made)
    assert len(made) == len(set(made))


def test_states_transitions_and_actions_are_got_wrong() -> None:
    made = set(said(TIMED))
    assert {
        "it goes to kicking instead of moving",
        "it waits for halt instead of go",
        "the only transition of out is left out",
        "the transition to out is left out",
        "m is not set to `walk`",
        "m: `walk` becomes `kick`",
        "x is not set to `not x`",
        "x: `not x` becomes `x`",
        "the initial state is fast instead of slow",
        "moving is entered without its history",
        "kicking lasts 0.4 s instead of 0.3 s",
        "`after(0.4 s)` becomes `after(0.5 s)`",
        "`after(0.4 s)` becomes `after(0.3 s)`",
        "y: `1` becomes `2`",
        "`near` becomes `37.0 cm`",
        "the initial state is moving instead of out",
    } <= made


def test_what_is_got_wrong_is_told_with_its_line() -> None:
    lines = {mutant.description: mutant.line for mutant in mutants(TIMED)}
    assert lines["`near` becomes `37.0 cm`"] == 13
    assert lines["m is not set to `walk`"] == 14
    assert str(next(iter(mutants(TIMED)))) == "line 9: `a or b` becomes `a and b`"


def test_every_mutant_is_another_chart_that_runs() -> None:
    row = {"a": True, "b": False, "n": 5, "d": 0.1, "go": True}
    for mutant in mutants(TIMED):
        assert mutant.chart != TIMED, str(mutant)
        list(Interpreter(mutant.chart).run([row] * 5))


def test_an_else_denies_what_stands_before_it_then() -> None:
    states = "initial: p\nstates:\n  p: [{when: a, go: q}, {when: else, do: {x: 1}}]\n  q: []\n"
    (made,) = (one for one in mutants(chart(states)) if one.description == "`a` becomes `not a`")
    guards = [str(one.when.tree) for one in made.chart.state("p").transitions]
    assert guards[1] == f"Unary(operator=<Operator.NOT: 'not'>, operand={guards[0]}, offset=0)"


def test_a_fault_in_a_table_is_in_all_that_calls_it() -> None:
    made = chart("""\
functions:
  side: {takes: {p: bool}, gives: {enum: [left, right]}, rows: [[0, left], [1, right]]}
initial: p
states:
  p: [{when: side(a) == right, go: q}]
  q: [{when: side(b) == right, go: p}]
""")
    (fault,) = (one for one in mutants(made) if one.description == "side: `right` becomes `left`")
    assert fault.line == 7
    states = Interpreter(fault.chart).run([{"a": True, "b": True, "n": 0, "d": 0.0}] * 2)
    assert [state.state for state in states] == ["p", "p"]
    assert {one.kind for one in mutants(made)} >= {
        MutationKind.ROW,
        MutationKind.NEGATION,
        MutationKind.CONDITION,
    }


def test_order_matters_only_where_the_first_one_wins() -> None:
    two = "initial: p\nstates:\n  p: [{when: a, go: q}, {when: b, do: {x: 1}}, {on: go, go: q}]\n  q: []\n"
    ordered = chart(two, HEAD + "priority: ordered\n")
    assert [one.kind for one in mutants(ordered)].count(MutationKind.ORDER) == 1
    assert MutationKind.ORDER not in {one.kind for one in mutants(chart(two))}


def test_a_scenario_that_expects_nothing_finds_nothing() -> None:
    result = mutate_chart(TIMED, [Scenario("idle", (ScenarioStep(ticks=5),))])
    assert result.killed == 0
    assert result.score == 0.0
    assert len(result.survived) + len(result.equivalent) == result.total


def test_a_scenario_finds_the_fault_that_it_looks_at() -> None:
    seen = parse_scenario(
        "scenario: s\nsteps:\n  - {set: {a: 1}, send: go, expect: {in: moving, m: walk}}\n", TIMED
    )
    survived = {str(one) for one in mutate_chart(TIMED, [seen]).survived}
    assert "line 14: m: `walk` becomes `kick`" not in survived
    assert "line 14: m is not set to `walk`" not in survived
    assert "line 15: m is not set to `none`" in survived


def test_the_scenarios_of_cover_find_every_fault_that_can_be_found() -> None:
    result = mutate_chart(TIMED, cover_chart(TIMED).scenarios)
    assert result.survived == ()
    assert result.score == 1.0
    assert result.killed == result.total - len(result.equivalent) > 60
    data = result.data()
    assert (data["total"], data["killed"], data["score"]) == (result.total, result.killed, 1.0)


def test_a_fault_that_makes_no_difference_does_not_count() -> None:
    made = chart("""\
initial: p
states:
  p: [{when: a, go: q, do: {x: 1, y: 3}}]
  q: [{when: b, go: r, do: {x: 1}}]
  r: []
""")
    result = mutate_chart(made, cover_chart(made).scenarios)
    assert [str(one) for one in result.equivalent] == ["line 9: x is not set to `1`"]
    assert result.survived == ()


def test_an_expression_makes_no_difference_where_no_value_of_its_names_shows_one() -> None:
    made = chart("""\
initial: p
states:
  p: [{when: not (n > 9), go: q, do: {y: n}}, {when: in(p), go: q}, {when: after(1 s), go: q}]
  q: [{when: n * 2 < 20 and d < 3, go: p, do: {y: 'min(n + 1, 9)'}}]
""")
    faults = [one for one in mutants(made) if one.change is not None]
    same = [one.description for one in faults if one.change and one.change.makes_no_difference]
    assert same == ["`n > 9` becomes `false`", "`9` becomes `10`", "y: `9` becomes `10`"]
    timed = {"`in(p)` becomes `not in(p)`", "`after(1 s)` becomes `after(1.1 s)`"}
    assert timed <= {one.description for one in faults}


def rows(seed: int, count: int) -> list[dict[str, object]]:
    draw = random.Random(seed)  # noqa: S311 -- not for secrets
    return [
        {
            "a": draw.random() < 0.5,
            "b": draw.random() < 0.5,
            "n": draw.randint(0, 9),
            "d": draw.choice([0.0, 0.35, 0.36, 0.37, 1.0]),
            "go": draw.random() < 0.6,
            "halt": draw.random() < 0.1,
        }
        for _ in range(count)
    ]


def shown(made: Chart, given: list[dict[str, object]]) -> list[tuple[str, dict[str, object]]]:
    return [(state.state, dict(state.outputs)) for state in Interpreter(made).run(given)]


@pytest.fixture(scope="module")
def told() -> list[tuple[Mutant, MutantStatus, list[dict[str, object]]]]:
    distinguisher = Distinguisher(explore_small_variables(TIMED))
    found = []
    for mutant in mutants(TIMED):
        one = distinguisher.distinguish(mutant)
        before = distinguisher.exploration.trace_to(one.start_state) if one.start_state is not None else ()
        trace: list[dict[str, object]] = [dict(row) for row in (*before, *one.inputs)]
        found.append((mutant, one.status, trace))
    return found


def test_inputs_that_tell_a_mutant_do_tell_it(
    told: list[tuple[Mutant, MutantStatus, list[dict[str, object]]]],
) -> None:
    apart = [(mutant, trace) for mutant, verdict, trace in told if verdict is MutantStatus.DISTINGUISHED]
    assert len(apart) > 60
    for mutant, trace in apart:
        assert shown(mutant.chart, trace) != shown(TIMED, trace), str(mutant)


def test_what_is_proved_alike_is_never_seen_apart(
    told: list[tuple[Mutant, MutantStatus, list[dict[str, object]]]],
) -> None:
    given = rows(1, 400)
    wanted = shown(TIMED, given)
    assert not [mutant for mutant, verdict, _ in told if verdict is MutantStatus.UNKNOWN]
    for mutant, verdict, _ in told:
        if verdict is MutantStatus.EQUIVALENT:
            assert shown(mutant.chart, given) == wanted, str(mutant)


WAITING = chart("""\
initial_values: {y: 2}
initial: p
states:
  p: [{when: a, do: {y: 5}}]
""")


def beginnings(made: Chart) -> dict[str, MutantStatus]:
    distinguisher = Distinguisher(explore_small_variables(made))
    faults = (one for one in mutants(made) if one.description.startswith("the initial value of y is"))
    return {one.description: distinguisher.distinguish(one).status for one in faults}


def test_a_fault_in_a_value_at_the_start_is_told_where_it_shows() -> None:
    assert beginnings(WAITING) == {
        "the initial value of y is 3 instead of 2": MutantStatus.DISTINGUISHED,
        "the initial value of y is 1 instead of 2": MutantStatus.DISTINGUISHED,
    }
    later = parse_scenario("scenario: s\nsteps: [{set: {a: 1}, expect: {y: 5}}]\n", WAITING)
    result = mutate_chart(WAITING, [later])
    assert {"the initial value of y is 3 instead of 2", "the initial value of y is 1 instead of 2"} <= {
        str(one) for one in result.survived
    }
    assert mutate_chart(WAITING, cover_chart(WAITING).scenarios).survived == ()


@pytest.mark.parametrize("kind", ["{int: [0, 9]}", "{int: [0, 5000]}", "float"])
def test_a_fault_in_a_value_at_the_start_that_is_never_seen_does_not_count(kind: str) -> None:
    head = HEAD.replace("y: {int: [0, 9]}", f"y: {kind}")
    states = "initial: p\nstates: {p: {entry: {y: 5}, transitions: [{when: a, do: {y: 6}}]}}\n"
    made = chart("initial_values: {y: 2}\n" + states, head)
    assert len(beginnings(made)) == 2
    assert set(beginnings(made).values()) == {MutantStatus.EQUIVALENT}
    assert mutate_chart(made, cover_chart(made).scenarios).score == 1.0


def test_a_fault_in_a_value_at_the_start_that_goes_on_unseen_is_not_called_alike() -> None:
    head = HEAD.replace("y: {int: [0, 9]}", "y: {int: [0, 5000]}, z: float")
    states = "initial: p\nstates: {p: {entry: [{z: 'min(y, d)'}, {y: 5}]}}\n"
    made = chart("initial_values: {y: 1}\n" + states, head)
    assert len(beginnings(made)) == 2
    assert MutantStatus.EQUIVALENT not in beginnings(made).values()


STARTS = st.fixed_dictionaries(
    {}, optional={"y": st.integers(0, 9), "k": st.integers(0, 9), "m": st.sampled_from(["walk", "kick"])}
)
DOINGS = st.lists(
    st.sampled_from(["{y: 5}", "{y: k}", "{k: 3}", "{k: y + 1}", "{m: walk}", "{x: k > 4}", "{y: k, k: y}"]),
    max_size=2,
)


@given(start=STARTS, entry=DOINGS, first=DOINGS, second=DOINGS)
@settings(max_examples=8, deadline=None)
def test_what_is_proved_alike_from_any_start_is_never_seen_apart(
    start: dict[str, object], entry: list[str], first: list[str], second: list[str]
) -> None:
    begins = ", ".join(f"{name}: {value}" for name, value in start.items())
    acts = [f"[{', '.join(one)}]" for one in (entry, first, second)]
    ways = f"[{{when: a and n > 4, go: q, do: {acts[1]}}}, {{when: b, do: {acts[2]}}}]"
    made = chart(
        f"locals: {{k: {{int: [0, 9]}}}}\ninitial_values: {{{begins}}}\npriority: ordered\ninitial: p\n"
        f"states:\n  p: {{entry: {acts[0]}, transitions: {ways}}}\n  q: [{{when: k > 6, go: p}}]\n"
    )
    distinguisher = Distinguisher(explore_small_variables(made))
    found = [
        (one, distinguisher.distinguish(one))
        for one in mutants(made)
        if one.kind in (MutationKind.INITIAL, MutationKind.ACTION)
    ]
    given_rows = [rows(seed, 12) for seed in range(30)]
    for mutant, one in found:
        if one.status is MutantStatus.EQUIVALENT:
            assert all(shown(mutant.chart, run) == shown(made, run) for run in given_rows), str(mutant)


def test_without_a_complete_exploration_nothing_is_called_alike() -> None:
    made = chart(
        """\
locals: {best: float}
initial: p
states:
  p: [{when: d < best, go: q}, {when: d > 1, do: {best: d * 0.5}}]
  q: [{when: a or not a, go: p}]
"""
    )
    seen = explore_small_variables(made)
    distinguisher = Distinguisher(seen)
    assert not seen.complete
    told = [
        distinguisher.distinguish(mutant)
        for mutant in mutants(made)
        if mutant.kind is MutationKind.COMPARISON
    ]
    assert MutantStatus.EQUIVALENT not in {one.status for one in told}


def test_a_chart_that_fails_its_own_scenario_is_refused() -> None:
    wrong = Scenario("wrong", (ScenarioStep(expect=Expectation(inside=("kicking",))),))
    with pytest.raises(InputError, match="itself fails the scenario 'wrong'"):
        mutate_chart(TIMED, [wrong])
    with pytest.raises(InputError, match="no scenario"):
        mutate_chart(TIMED, [])


def test_mutants_are_made_of_the_text_even_where_it_was_changed_before() -> None:
    first = next(iter(mutants(TIMED)))
    assert len(list(mutants(first.chart))) > 60
    renamed = replace(TIMED, name="other")
    assert said(renamed) == said(TIMED)
