"""The checks: every planted fault is found, with a case that shows it; clean charts are clean."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import (
    Finding,
    Level,
    Rule,
    check_chart,
    equivalent,
    inspect_chart,
    parse_chart,
    require_sound,
)
from posewright.charts.formats import chart_data
from posewright.charts.reachability import ExplorationLimits
from posewright.errors import InputError

from .checked import BACK, HEAD, chart, found
from .replay import Replay, shows
from .work import counted

UNMENTIONED = (Rule.UNUSED_CONSTANT, Rule.UNUSED_FUNCTION)


def test_an_overlap_is_an_error_with_a_case_in_which_both_guards_hold() -> None:
    text = "  one: [{when: a, go: two}, {when: b, go: one}, {when: not a and not b, go: one}]\n" + BACK
    (finding,) = found(text, Rule.OVERLAP)
    assert finding.level is Level.ERROR
    assert Replay(chart(text), finding).holding() == 2
    assert "in one with a=1, b=1" in finding.message
    assert "line 8" in finding.message


def test_an_overlap_is_no_fault_where_order_is_said_to_count() -> None:
    text = "  one: [{when: a, go: two}, {when: b, go: one}, {when: not a and not b, go: one}]\n" + BACK
    assert found(text, Rule.OVERLAP, extra="priority: ordered\n") == []
    one = "  one: {priority: ordered, transitions: [{when: a, go: two}, {when: true, go: one}]}\n" + BACK
    assert found(one, Rule.OVERLAP) == []


def test_an_overlap_with_one_and_the_same_effect_is_only_noted() -> None:
    text = """\
  one: [{when: a, do: {x: 1}, go: two}, {when: b, do: {x: 1}, go: two}, {when: not a and not b, go: one}]
"""
    (finding,) = found(text + BACK, Rule.OVERLAP)
    assert finding.level is Level.NOTE


def test_an_overlap_at_a_single_value_of_a_long_range_is_found() -> None:
    text = "  one: [{when: n <= 12345, go: two}, {when: n >= 12345, go: one}]\n" + BACK
    (finding,) = found(text, Rule.OVERLAP)
    assert finding.counterexample is not None
    assert finding.counterexample.inputs["n"] == 12345


def test_an_overlap_at_a_single_fraction_is_found() -> None:
    text = """\
  one: [{when: abs(d - 0.1) <= 0.25, go: two}, {when: d < -0.15, go: one}, {when: d >= 0.35, go: one}]
"""
    findings = check_chart(chart(text + BACK))
    rules = {finding.rule for finding in findings if finding.level is Level.ERROR}
    assert rules == {Rule.OVERLAP}


def test_a_gap_is_an_error_with_a_case_in_which_no_guard_holds() -> None:
    text = "  one: [{when: a, go: two}, {when: not a and b, go: one}]\n" + BACK
    (finding,) = found(text, Rule.GAP)
    assert finding.level is Level.ERROR
    assert "a=0, b=0" in finding.message
    assert "1 of 4 cases" in finding.message
    assert shows(chart(text), finding)


def test_a_gap_is_no_fault_where_staying_is_said_to_be_meant() -> None:
    text = "  one: [{when: a, go: two}]\n" + BACK
    assert found(text, Rule.GAP, extra="otherwise: stay\n") == []
    assert found("  one: {otherwise: stay, transitions: [{when: a, go: two}]}\n" + BACK, Rule.GAP) == []


def test_a_gap_that_opens_only_with_some_held_output_is_found() -> None:
    text = """\
  one:
    - {when: a and k == 0, do: {k: 2}, go: one}
    - {when: not a and k == 0, go: one}
    - {when: k == 2 and a, go: one}
"""
    (finding,) = found(text, Rule.GAP)
    assert finding.counterexample is not None
    assert finding.counterexample.outputs == {"k": 2}
    assert found(text.replace("k == 2 and a", "k == 2"), Rule.GAP) == []


STAYS = """\
chart: c
period_s: 0.1
inputs:
  {n: int16, near: {float: [0, 5]}, dim: {float32: [0, 5]}, on: bool, off: bool, m: {enum: [p, q, r, s]}}
outputs: {x: {enum: [u, v]}}
initial: one
states:
  one: [WAYS]
  two: {transitions: [{when: on and off, go: one}], entry: {x: v}}
"""


def needles(ways: str, *, extra: str = "") -> list[Finding]:
    text = STAYS.replace("WAYS", ways).replace("initial:", f"{extra}initial:")
    return [one for one in check_chart(parse_chart(text)) if one.rule is Rule.GAP]


@pytest.mark.parametrize(
    ("ways", "case"),
    [
        ("{when: n < 100, go: two}, {when: n > 100, go: two}", {"n": 100}),
        ("{when: n <= 99 and on, go: two}, {when: n * 2 > 200, go: two}", {"n": 100, "on": True}),
        ("{when: near < 0.1, go: two}, {when: near > 0.1, go: two}", {"near": 0.1}),
        ("{when: dim < 0.5, go: two}, {when: dim > 0.5, go: two}", {"dim": 0.5}),
        ("{when: m == p, go: two}, {when: m == q, go: two}, {when: m == r, go: two}", {"m": "s"}),
        ("{when: not on, go: two}, {when: on and not off, go: two}", {"on": True, "off": True}),
    ],
)
def test_a_single_case_that_is_left_out_is_warned_of_where_staying_was_not_said(
    ways: str, case: dict[str, object]
) -> None:
    (finding,) = needles(ways)
    assert finding.level is Level.WARNING
    assert finding.counterexample is not None
    assert case.items() <= dict(finding.counterexample.inputs).items()
    assert shows(parse_chart(STAYS.replace("WAYS", ways)), finding)
    assert needles(ways, extra="otherwise: stay\n") == []


@pytest.mark.parametrize(
    "ways",
    [
        "{when: n < 100, go: two}, {when: n > 101, go: two}",
        "{when: n <= 100, go: two}, {when: n > 100, go: two}",
        "{when: n != 100 and on, go: two}, {when: n == 0 and off and not on, go: one}",
        "{when: n < 100, go: two}",
        "{when: m == q, go: two}, {when: m == r, go: two}, {when: m == s, go: two}",
        "{when: near < 1, go: two}, {when: near > 2, go: two}",
    ],
    ids=["two values", "none", "said by !=", "one way", "nothing to do", "a band"],
)
def test_a_gap_that_looks_meant_is_not_warned_of(ways: str) -> None:
    assert needles(ways) == []


def test_that_staying_is_meant_outlives_writing() -> None:
    text = STAYS.replace("WAYS", "{when: on, go: two}")
    assert "otherwise" not in chart_data(parse_chart(text))
    said = parse_chart(text.replace("initial:", "otherwise: stay\ninitial:"))
    assert chart_data(said)["otherwise"] == "stay"


def test_an_overlap_that_could_not_be_excluded_names_its_state_once() -> None:
    text = """\
  one: [{when: true, do: {x: d * d > n}, go: two}]
  two: [{when: n <= 12000, go: one}, {when: n >= 12000, go: two}]
"""
    report = inspect_chart(chart(text), limits=ExplorationLimits(max_states=1, max_cases=1))
    (finding,) = [one for one in report.findings if one.rule is Rule.OVERLAP]
    assert (finding.level, finding.proved) == (Level.ERROR, False)
    assert "both hold in two with n=12000; it is not known whether a run leads there" in finding.message


def test_constants_and_functions_that_nothing_names_are_warned_of() -> None:
    declared = """\
constants: {pause: 2 s, far: 3, low: 1}
functions:
  f: {takes: {w: bool}, gives: bool, rows: [[0, 2 < low], [1, true]]}
  g: {takes: {w: bool}, gives: bool, rows: [[X, true]]}
"""
    text = STAYS.replace("WAYS", "{when: after(pause) and f(on), go: two}")
    text = text.replace("initial:", f"{declared}initial:")
    found = [one for one in check_chart(parse_chart(text)) if one.rule in UNMENTIONED]
    assert [(one.message, one.level) for one in found] == [
        ("nothing uses the constant far", Level.WARNING),
        ("nothing calls the function g", Level.WARNING),
    ]
    assert all(one.line is not None for one in found)


def test_a_wait_is_no_gap_as_long_as_it_ends() -> None:
    assert found("  one: [{after_s: 2, go: two}]\n" + BACK, Rule.GAP) == []


def test_a_state_that_nothing_leads_to_is_unreachable() -> None:
    text = "  one: [{when: true, go: one}]\n" + BACK
    (finding,) = found(text, Rule.UNREACHABLE)
    assert (finding.level, finding.state, finding.line) == (Level.ERROR, "two", 9)
    assert "no transition leads there" in finding.message


def test_a_state_behind_a_guard_that_never_holds_is_unreachable() -> None:
    text = (
        "  one: [{when: n > 5 and n < 3, go: two}, {when: n <= 5, go: one}, {when: n > 5, go: one}]\n" + BACK
    )
    (finding,) = found(text, Rule.UNREACHABLE)
    assert "from one when n > 5 and n < 3" in finding.message
    assert [never.line for never in found(text, Rule.NEVER)] == [8]


def test_a_state_behind_an_output_that_is_never_set_is_unreachable() -> None:
    text = "  one: [{when: k == 3, go: two}, {when: k != 3, do: {k: 1}, go: one}]\n" + BACK
    assert [finding.state for finding in found(text, Rule.UNREACHABLE)] == ["two"]
    assert found(text.replace("{k: 1}", "{k: 'min(k + 1, 3)'}"), Rule.UNREACHABLE) == []


def test_a_transition_behind_an_earlier_one_is_shadowed() -> None:
    text = "  one: [{when: a or b, go: two}, {when: a, go: one}, {when: not a and not b, go: one}]\n" + BACK
    (finding,) = found(text, Rule.SHADOWED, extra="priority: ordered\n")
    assert Replay(chart(text), finding).holding() == 2
    assert "`a or b` (line 9) always wins" in finding.message


def test_a_short_wait_lets_a_later_transition_pass_before_an_earlier_one() -> None:
    text = "  one: [{when: true, after_s: 1, go: two}, {when: a, go: two}]\n" + BACK
    assert found(text, Rule.SHADOWED, extra="priority: ordered\n") == []


def test_unused_inputs_and_outputs_are_named() -> None:
    text = "  one: [{when: a and b, go: two}, {when: a and not b, go: two}, {when: not a, go: one}]\n" + BACK
    assert [finding.message for finding in found(text, Rule.UNUSED_INPUT)] == [
        "the input b makes no difference in any state",
        "the input n is read by no guard and no action",
        "the input d is read by no guard and no action",
    ]
    assert [finding.message for finding in found(text, Rule.UNUSED_OUTPUT)] == [
        "nothing ever sets the output k"
    ]


def test_an_output_that_leaves_its_range_is_found() -> None:
    text = """\
  one: [{when: n > 0 and n < 9, do: {k: n - 5}, go: one}, {when: n <= 0, go: one}, {when: n >= 9, go: one}]
"""
    (finding,) = found(text, Rule.RANGE)
    assert finding.level is Level.ERROR
    assert finding.counterexample is not None
    value = finding.counterexample.inputs["n"]
    assert isinstance(value, int)
    assert not 0 <= value - 5 <= 3


def test_a_division_by_zero_is_found_and_one_asked_about_before_is_not() -> None:
    (finding,) = found("  one: [{when: 10 / (n - 7) > 2, go: one}]\n", Rule.DIVISION)
    assert finding.counterexample is not None
    assert finding.counterexample.inputs["n"] == 7
    assert found("  one: [{when: n != 7 and 10 / (n - 7) > 2, go: one}]\n", Rule.DIVISION) == []


def test_an_unsound_chart_is_refused_with_its_case_and_its_place() -> None:
    with pytest.raises(InputError, match=r":8: chart c has errors: no transition in one with a=0"):
        require_sound(chart("  one: [{when: a, go: two}]\n" + BACK))
    require_sound(chart("  one: [{when: a, go: two}, {when: not a, go: one}]\n" + BACK))


Cut = st.lists(st.integers(-30000, 30000), min_size=1, max_size=5, unique=True).map(sorted)


@settings(max_examples=40, deadline=None)
@given(Cut, st.integers(-2, 2), st.data())
def test_ranges_that_fit_are_clean_and_one_end_moved_is_found(
    cuts: list[int], shift: int, data: st.DataObject
) -> None:
    ends = [-30000, *cuts, 30001]
    pieces = [[low, high] for low, high in pairwise(ends)]
    moved = data.draw(st.integers(0, len(pieces) - 1))
    pieces[moved][1] += shift
    rows = ", ".join(
        f"{{when: n >= {low} and n < {high}, do: {{k: {i % 4}}}, go: one}}"
        for i, (low, high) in enumerate(pieces)
    )
    rules = {f.rule for f in check_chart(chart(f"  one: [{rows}]\n")) if f.level is Level.ERROR}
    tried = {end + step for end in ends for step in range(-3, 4) if -30000 <= end + step <= 30000}
    holding = [sum(low <= n < high for low, high in pieces) for n in tried]
    assert (Rule.GAP in rules) == (0 in holding)
    assert (Rule.OVERLAP in rules) == any(count > 1 for count in holding)


def test_a_chart_of_contest_size_is_checked_with_little_work() -> None:
    states = "".join(
        f"  s{i}:\n    - {{when: a and n > {i}, do: {{k: {i % 4}}}, go: s{(i + 1) % 20}}}\n"
        f"    - {{when: not a or n <= {i}, go: s{i}}}\n"
        for i in range(20)
    )
    machine = parse_chart(HEAD.replace("initial: one", "initial: s0") + states)
    with counted() as work:
        assert all(finding.level is not Level.ERROR for finding in check_chart(machine))
    assert work.calls < 2_000_000  # a second; what it is there for would take minutes


def test_two_charts_that_differ_are_told_apart_by_the_shortest_inputs() -> None:
    one = chart("  one: [{when: a, go: two}, {when: not a, go: one}]\n" + BACK)
    other = chart("  one: [{when: a, go: two}, {when: not a, go: one}]\n" + BACK.replace("{x: 0}", "{x: 1}"))
    assert equivalent(one, replace(one))
    told = equivalent(one, other)
    assert not told
    assert [row["a"] for row in told.counterexample] == [True, True]
    assert told.outputs is not None
    assert [outputs["x"] for outputs in told.outputs] == [False, True]


def test_a_different_least_time_is_a_difference() -> None:
    one = chart("  one: {min_s: 0.2, transitions: [{when: true, do: {x: 1}, go: one}]}\n")
    other = chart("  one: {min_s: 0.3, transitions: [{when: true, do: {x: 1}, go: one}]}\n")
    assert len(equivalent(one, other).counterexample) == 3


def test_a_walk_that_was_given_up_proves_nothing() -> None:
    one = chart("  one: [{when: a, go: two}, {when: not a, go: one}]\n" + BACK)
    other = chart("  one: [{when: a or a, go: two}, {when: not a, go: one}]\n" + BACK)
    assert equivalent(one, other).equal is True
    told = equivalent(one, other, limits=ExplorationLimits(max_cases=2))
    assert (told.equal, told.proved, bool(told)) == (None, False, False)


def test_a_difference_is_known_however_few_cases_were_tried() -> None:
    one = chart("  one: [{when: d * d > n, do: {x: 1}, go: one}, {when: d * d <= n, go: one}]\n")
    other = chart("  one: [{when: d * d > n, go: one}, {when: d * d <= n, go: one}]\n")
    told = equivalent(one, other)
    assert (told.equal, told.proved, bool(told)) == (False, True, False)


def test_charts_with_different_inputs_are_not_compared() -> None:
    with pytest.raises(InputError, match="different inputs"):
        equivalent(chart("  one: []\n"), parse_chart(HEAD.replace("a: bool", "c: bool") + "  one: []\n"))


FREE = """\
chart: free
period_s: 0.1
inputs: {p: bool, q: bool, r: bool, n: {int: [0, 9]}}
outputs: {x: bool, k: {int: [0, 9]}, i: {int: [0, 9]}, j: {int: [0, 9]}}
initial: a
states:
"""


def told(states: str, rule: Rule, *, extra: str = "") -> list[Finding]:
    drawn = parse_chart(FREE.replace("initial:", f"{extra}initial:") + states)
    return [finding for finding in check_chart(drawn) if finding.rule is rule]


@pytest.mark.parametrize("where", ["entry", "during", "exit"])
def test_a_variable_that_leaves_its_range_inside_a_condition_is_found(where: str) -> None:
    act = f"{where}: [{{if: p, do: {{k: k + 1}}}}], transitions: [{{when: q, go: b}}]"
    (finding,) = told(f"  a: {{{act}}}\n  b: [{{when: not q, go: a}}]\n", Rule.RANGE)
    assert "`k + 1` is 10" in finding.message


def test_a_variable_that_leaves_its_range_inside_a_condition_of_a_transition_is_found() -> None:
    states = "  a: [{when: q, do: [{if: p, do: {k: 1}, else: {k: k + 1}}], go: a}]\n"
    (finding,) = told(states, Rule.RANGE)
    assert "`k + 1` is 10" in finding.message


def test_an_overlap_is_found_behind_ways_that_part_at_the_same_place_and_never_meet() -> None:
    states = """\
  a:
    - when: p
      then: [{when: q, go: b}, {when: not q, go: a}]
    - {when: p and not q and r, go: b}
  b: [{when: true, go: a}]
"""
    (finding,) = told(states, Rule.OVERLAP)
    assert finding.level is Level.ERROR
    assert "p=1, q=0, r=1" in finding.message


def test_a_local_transition_does_not_do_the_same_as_one_that_leaves_its_state() -> None:
    states = """\
  a:
    transitions: [{when: p, go: v, local: true}, {when: not p or q, go: v}]
    exit: {x: not x}
    initial: u
    states: {u: [], v: [{when: r, go: u}]}
"""
    (finding,) = told(states, Rule.OVERLAP)
    assert finding.level is Level.ERROR
    unread = told(states.replace("not p or q", "true"), Rule.UNUSED_INPUT, extra="priority: ordered\n")
    assert not any("input p" in finding.message for finding in unread)


def test_two_transitions_that_set_what_other_variables_hold_do_not_do_the_same() -> None:
    states = """\
  a: [{when: true, do: {i: 5, j: 3}, go: b}]
  b: [{when: p, do: {k: i}, go: a}, {when: p, do: {k: j}, go: a}]
"""
    (finding,) = told(states, Rule.OVERLAP)
    assert finding.level is Level.ERROR
    (same,) = told(states.replace("j: 3", "j: 5"), Rule.OVERLAP)
    assert same.level is Level.NOTE


TRAPPED = """\
  a: [{when: p, go: b}]
  b: [{when: q, go: a}, {when: p and not q, go: c}]
  c: [{when: p, go: d}]
  d: [{when: not p, go: c}]
"""


def test_states_that_only_lead_to_each_other_are_a_trap() -> None:
    (finding,) = told(TRAPPED, Rule.TRAP)
    assert (finding.level, finding.state, finding.line) == (Level.WARNING, "c", 9)
    assert "c and d only lead to each other: once there, a run never comes to a or b again" in finding.message
    assert len(finding.trace) == 2


@pytest.mark.parametrize(
    "states",
    [
        TRAPPED.replace("go: c}]", "go: c}, {when: p and q, go: a}]", 2),
        TRAPPED.replace("{when: q, go: a}, ", ""),
        TRAPPED.replace("d: [{when: not p, go: c}]", "d: [{when: not p, go: c}, {when: p and q, go: e}]")
        + "  e: {final: true}\n",
    ],
    ids=["a way out", "what is left when it starts", "an end"],
)
def test_states_that_can_be_left_or_come_once_only_are_no_trap(states: str) -> None:
    assert not told(states, Rule.TRAP)


@pytest.mark.parametrize("guard", ["n >= 0", "p or not p", "n + 1 > n - 1"])
def test_a_guard_that_always_holds_is_told(guard: str) -> None:
    (finding,) = told(f"  a: [{{when: {guard}, go: a}}]\n", Rule.ALWAYS)
    assert (finding.level, finding.line) == (Level.WARNING, 7)


@pytest.mark.parametrize("guard", ["true", "n > 0", "n != 0 or k / n > 1"])
def test_a_guard_that_says_that_it_always_holds_or_may_fail_is_not(guard: str) -> None:
    assert not told(f"  a: [{{when: {guard}, go: a}}]\n", Rule.ALWAYS)
    assert not told("  a: [{when: p, go: a}, {when: else, go: a}]\n", Rule.ALWAYS)


SIDES = "functions: {side: {takes: {m: {int: [0, 5]}}, gives: bool, rows: [[0..2, 1], [3..5, 0]]}}\n"


@pytest.mark.parametrize("guard", ["side(n)", "p and side(n)", "n != 6 and side(n)"])
def test_an_argument_out_of_its_parameters_range_is_found(guard: str) -> None:
    (finding,) = told(f"  a: [{{when: '{guard}', go: a}}]\n", Rule.RANGE, extra=SIDES)
    assert "the parameter m of side leaves its range 0..5" in finding.message
    assert (finding.level, finding.line) == (Level.ERROR, 8)


def test_an_argument_that_is_asked_for_in_its_range_only_is_none() -> None:
    assert not told("  a: [{when: n < 6 and side(n), go: a}]\n", Rule.RANGE, extra=SIDES)


UNBOUNDED = """\
chart: unbounded
period_s: 0.1
inputs: {x: float, y: float}
outputs: {z: float}
initial: a
states:
  a: [{when: GUARD, do: {z: VALUE}, go: a}]
"""


@pytest.mark.parametrize(
    ("guard", "value", "count"),
    [
        ("x > 3", "x * x - y * y", 1),
        ("x * x - y * y < 3", "x", 1),
        ("x > 3", "x - y", 0),
        ("x > 3", "x * x", 0),
        ("x < 1e9 and x > -1e9 and y < 1e9 and y > -1e9 and x * x - y * y < 3", "x", 0),
    ],
)
def test_what_is_computed_and_has_no_value_is_found(guard: str, value: str, count: int) -> None:
    drawn = parse_chart(UNBOUNDED.replace("GUARD", guard).replace("VALUE", value))
    levels = [finding.level for finding in check_chart(drawn) if finding.rule is Rule.UNDEFINED]
    assert levels == [Level.WARNING] * count


def test_a_check_ends_when_the_time_is_over_and_says_that_not_everything_was_proved() -> None:
    states = "".join(
        f"  s{i}: [{{when: n * k > {i} or after({i + 3} s), do: {{k: n, i: k, j: i}}, go: s{(i + 1) % 9}}}]\n"
        for i in range(9)
    )
    drawn = parse_chart(FREE.replace("initial: a", "initial: s0") + states)
    looks = count()  # at the clock: it has run out at the hundredth
    report = inspect_chart(
        drawn, limits=ExplorationLimits(is_time_over=lambda: next(looks) >= 100), within_s=60.0
    )
    (note,) = [finding for finding in report.findings if finding.rule is Rule.NOT_PROVED]
    assert "not everything was proved within 60 s" in note.message
    assert not report.complete
    assert next(looks) < 200


def test_a_chart_in_which_all_wait_for_events_has_a_gap_where_staying_is_refused() -> None:
    events = "events: [e]\notherwise: refuse\n"
    (finding,) = told("  a: [{on: e, when: p, go: a}]\n", Rule.GAP, extra=events)
    assert (finding.level, finding.state) == (Level.ERROR, "a")


def test_a_check_that_has_no_time_at_all_says_so() -> None:
    report = inspect_chart(parse_chart(FREE + "  a: [{when: p, go: a}]\n"), within_s=0.0)
    assert not report.complete
    assert [one.rule for one in report.findings if one.rule is Rule.NOT_PROVED] == [Rule.NOT_PROVED]


SAME = """\
chart: same
period_s: 0.1
inputs: {{x: {{int: [0, 9]}}}}
outputs: {{u: {{int: [0, 9]}}}}
initial_values: {{u: 0}}
initial: a
states:
  a:
    - {{when: x > 3, do: {one}, go: a}}
    - {{when: x > 4, do: {other}, go: a}}
"""


def test_what_a_range_makes_the_same_is_the_same() -> None:
    drawn = parse_chart(SAME.format(one="{u: 'min(u + 1, 9)'}", other="{u: u + 1}"))
    (finding,) = [one for one in check_chart(drawn) if one.rule is Rule.OVERLAP]
    assert (finding.level, finding.message.endswith("both have the same effect")) == (Level.NOTE, True)


def test_an_overlap_is_not_proved_to_matter_where_its_case_comes_to_the_same() -> None:
    same = SAME.format(one="{if: x > 5, do: {u: 1}, else: {u: 2}}", other="{u: 1 if x > 5 else 2}")
    other = SAME.format(one="{if: x > 5, do: {u: 1}, else: {u: 2}}", other="{u: 3}")
    for text, proved in ((same, False), (other, True)):
        (finding,) = [one for one in check_chart(parse_chart(text)) if one.rule is Rule.OVERLAP]
        assert (finding.level, finding.proved) == (Level.ERROR, proved)
