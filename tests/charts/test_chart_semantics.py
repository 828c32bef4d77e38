"""What docs/chart-semantics.md says of a tick, sentence by sentence."""

from __future__ import annotations

import pytest

from posewright.charts import Interpreter, parse_chart
from posewright.errors import InputError

HEAD = """\
chart: c
period_s: 0.1
inputs: {a: bool, b: bool}
events: [e, f]
local_events: [x, y]
outputs: {log: {int: [0, 1000000]}, n: {int: [0, 99]}, m: {int: [0, 99]}}
priority: ordered
"""
NOTHING = {"a": False, "b": False}


def interpreter(text: str, head: str = HEAD) -> Interpreter:
    return Interpreter(parse_chart(head + text))


def run(text: str, *rows: str, head: str = HEAD) -> list[str]:
    """Run a chart over rows such as `a e`: which inputs are true and which events come."""
    found = interpreter(text, head)
    return [
        state.state for state in found.run({**NOTHING, **dict.fromkeys(row.split(), True)} for row in rows)
    ]


def log(text: str, *rows: str, head: str = HEAD) -> str:
    """Return the digits that a chart wrote into `log`."""
    found = interpreter(text, head)
    states = list(found.run({**NOTHING, **dict.fromkeys(row.split(), True)} for row in rows))
    return str(states[-1].outputs["log"])


def noting(digit: int) -> str:
    return f"{{log: log * 10 + {digit}}}"


def test_exits_go_from_inside_out_then_the_way_then_entries_from_outside_in() -> None:
    text = f"""
initial: one
states:
  one:
    exit: {noting(2)}
    initial: one_in
    states: {{one_in: {{exit: {noting(1)}, transitions: [{{when: a, do: {noting(3)}, go: two_in}}]}}}}
  two:
    entry: {noting(4)}
    initial: two_in
    states: {{two_in: {{entry: {noting(5)}}}}}
"""
    assert log(text, "a") == "12345"


def test_regions_are_left_backwards_and_entered_forwards() -> None:
    text = f"""
initial: both
states:
  both:
    transitions: [{{on: e, go: over}}]
    regions:
      one: {{entry: {noting(1)}, exit: {noting(4)}, initial: one_in, states: {{one_in: []}}}}
      two: {{entry: {noting(2)}, exit: {noting(3)}, initial: two_in, states: {{two_in: []}}}}
  over: {{entry: {noting(5)}}}
"""
    assert log(text, "", "e") == "12345"


def test_inner_transitions_go_before_outer_ones_and_earlier_before_later() -> None:
    text = """
initial: outer
states:
  outer:
    transitions: [{when: a or b, go: lost}]
    initial: inner
    states:
      inner: [{when: a, go: first}, {when: a, go: second}]
      first: []
      second: []
  lost: []
"""
    assert run(text, "a") == ["first"]
    assert run(text, "b") == ["lost"]


def test_regions_choose_on_the_same_values_and_move_in_one_microstep() -> None:
    text = """
regions:
  left:
    initial: left_0
    states: {left_0: [{when: n == 0 and in(right_0), do: {n: 1}, go: left_1}], left_1: []}
  right:
    initial: right_0
    states: {right_0: [{when: n == 0 and in(left_0), do: {m: 1}, go: right_1}], right_1: []}
"""
    assert run(text, "") == ["left_1+right_1"]


def test_of_transitions_that_leave_the_same_state_the_earlier_region_wins() -> None:
    text = """
initial: both
states:
  both:
    regions:
      left: {initial: left_0, states: {left_0: [{on: e, go: one}]}}
      right: {initial: right_0, states: {right_0: [{on: e, go: two}]}}
  one: []
  two: []
"""
    assert run(text, "", "e") == ["left_0+right_0", "one"]


def test_an_internal_transition_leaves_nothing() -> None:
    text = f"""
initial: one
states:
  one:
    transitions: [{{on: e, do: {noting(3)}}}, {{on: f, go: one}}]
    entry: {noting(1)}
    exit: {noting(2)}
"""
    assert log(text, "e", "e") == "133"
    assert log(text, "", "f") == "121"


def test_a_local_transition_stays_in_its_own_source() -> None:
    text = f"""
initial: out
states:
  out:
    entry: {noting(1)}
    transitions: [{{on: e, go: second, local: LOCAL}}]
    initial: first
    states: {{first: {{exit: {noting(2)}}}, second: {{entry: {noting(3)}}}}}
"""
    assert log(text.replace("LOCAL", "true"), "", "e") == "123"
    assert log(text.replace("LOCAL", "false"), "", "e") == "1213"


def test_a_dwell_holds_back_what_leaves_the_state_and_not_what_stays_inside_it() -> None:
    text = """
initial: out
states:
  out:
    min_s: 0.5
    transitions: [{on: e, go: second, local: LOCAL}]
    initial: first
    states: {first: [], second: []}
"""
    assert run(text.replace("LOCAL", "true"), "", "e") == ["first", "second"]
    assert run(text.replace("LOCAL", "false"), "", "e") == ["first", "first"]


def test_raised_events_are_dealt_with_in_their_order_in_the_same_tick() -> None:
    text = """
initial: one
states:
  one: [{on: e, do: [{raise: x}, {raise: y}], go: two}]
  two: [{on: y, go: wrong}, {on: x, go: three}]
  three: [{on: y, go: four}, {when: true, go: wrong}]
  four: []
  wrong: []
"""
    assert run(text, "", "e") == ["one", "four"]


def test_sampled_transitions_are_asked_once_and_before_events() -> None:
    text = """
initial: one
states:
  one: [{when: a, go: two}, {on: e, go: wrong}]
  two: [{when: a, go: three}, {on: e, go: four}]
  three: []
  four: []
  wrong: []
"""
    assert run(text, "a e") == ["four"]
    assert run(text, "a", "a") == ["two", "three"]


def test_run_to_completion_asks_again_until_nothing_moves() -> None:
    text = """
initial: one
states: {one: [{when: a, go: two}], two: [{when: a, go: three}, {on: x, go: wrong}], three: [], wrong: []}
"""
    assert run("steps: completion\n" + text, "", "a") == ["one", "three"]


def test_a_tick_that_does_not_end_is_an_error_and_not_a_hang() -> None:
    text = "steps: completion\ninitial: one\nstates: {one: [{when: a, go: two}], two: [{when: a, go: one}]}\n"
    with pytest.raises(InputError, match="does not end"):
        run(text, "a")


def test_events_from_outside_come_in_the_order_of_their_declaration() -> None:
    text = "initial: one\nstates: {one: [{on: f, go: two}], two: [{on: e, go: three}], three: []}\n"
    assert run(text, "f e") == ["two"]
    assert run(text, "f e", "f e") == ["two", "three"]


def test_during_acts_in_states_that_stayed_the_whole_tick_outer_ones_first() -> None:
    text = f"""
initial: out
states:
  out:
    during: {noting(1)}
    initial: first
    states:
      first: {{during: {noting(2)}, transitions: [{{when: a, go: second}}]}}
      second: {{during: {noting(3)}}}
"""
    assert log(text, "") == "12"
    assert log(text, "", "a") == "121"
    assert log(text, "", "a", "") == "12113"


def test_a_mapping_is_set_at_once_and_a_list_one_after_the_other() -> None:
    at_once = "initial: one\nstates: {one: [{when: a, do: {n: m, m: n}}]}\ninitial_values: {n: 1, m: 2}\n"
    in_turn = at_once.replace("{n: m, m: n}", "[{n: m}, {m: n}]")
    for text, wanted in ((at_once, (2, 1)), (in_turn, (2, 2))):
        found = interpreter(text)
        after = found.step(found.initial(), {**NOTHING, "a": True})
        assert (after.outputs["n"], after.outputs["m"]) == wanted


@pytest.mark.parametrize(("memory", "back"), [("history", "deep_0"), ("deep_history", "deep_1")])
def test_history_goes_back_to_the_child_deep_history_to_all_below_it(memory: str, back: str) -> None:
    text = f"""
initial: out
states:
  out:
    transitions: [{{on: f, go: away}}]
    initial: first
    states:
      first: [{{on: e, go: deep}}]
      deep: {{initial: deep_0, states: {{deep_0: [{{on: e, go: deep_1}}], deep_1: []}}}}
  away: [{{on: e, go: {{{memory}: out}}}}]
"""
    assert run(text, "", "e", "e", "f", "e") == ["first", "deep_0", "deep_1", "away", back]


def test_history_that_remembers_nothing_takes_its_default_or_the_initial_state() -> None:
    text = """
initial: away
states:
  away: [{on: e, go: {history: out}}, {on: f, go: {history: out, default: second}}]
  out: {initial: first, states: {first: [], second: []}}
"""
    assert run(text, "", "e")[-1] == "first"
    assert run(text, "", "f")[-1] == "second"


def test_history_of_regions_brings_all_of_them_back() -> None:
    text = """
initial: both
states:
  both:
    transitions: [{on: f, go: away}]
    regions:
      left: {initial: left_0, states: {left_0: [{on: e, go: left_1}], left_1: []}}
      right: {initial: right_0, states: {right_0: [{when: a, go: right_1}], right_1: []}}
  away: [{on: e, go: {deep_history: both}}]
"""
    assert run(text, "", "e", "f", "e")[-1] == "left_1+right_0"


def test_a_goal_inside_one_region_brings_the_other_along() -> None:
    text = """
initial: away
states:
  away: [{on: e, go: left_1}, {on: f, go: [left_1, right_1]}]
  both:
    regions:
      left: {initial: left_0, states: {left_0: [], left_1: []}}
      right: {initial: right_0, states: {right_0: [], right_1: []}}
"""
    assert run(text, "", "e")[-1] == "left_1+right_0"
    assert run(text, "", "f")[-1] == "left_1+right_1"


def test_a_goal_in_another_region_of_the_chart_brings_all_regions_along() -> None:
    """As in SCXML, where a state has these regions (W3C SCXML, addAncestorStatesToEnter)."""
    text = """
regions:
  one: {initial: o1, states: {o1: {transitions: [{when: a, go: t2}]}, o2: {}}}
  two: {initial: t1, states: {t1: {}, t2: {transitions: [{when: b, go: o2}]}}}
  three: {initial: h1, states: {h1: {}}}
"""
    assert run(text, "a", "b") == ["o1+t2+h1", "o2+t1+h1"]


def test_done_is_raised_when_a_final_state_is_entered_and_when_all_regions_are_done() -> None:
    text = """
initial: both
states:
  both:
    transitions: [{on: done.both, go: over}]
    regions:
      left: {initial: left_0, states: {left_0: [{on: e, go: left_1}], left_1: {final: true}}}
      right: {initial: right_0, states: {right_0: [{on: f, go: right_1}], right_1: {final: true}}}
  over: []
"""
    assert run(text, "", "e", "", "f") == ["left_0+right_0", "left_1+right_0", "left_1+right_0", "over"]


def test_a_junction_takes_the_first_whole_way_and_acts_only_on_it() -> None:
    text = """
initial: one
junctions:
  ask:
    - {when: b, do: {log: log * 10 + 2}, then: [{when: n == 5, go: wrong}]}
    - {when: else, do: {log: log * 10 + 3}, go: two}
states:
  one: [{when: a, do: {log: 1}, junction: ask}, {when: a, do: {log: 9}, go: three}]
  two: []
  three: []
  wrong: []
"""
    assert (run(text, "a"), log(text, "a")) == (["two"], "13")
    assert (run(text, "a b"), log(text, "a b")) == (["three"], "9")


@pytest.mark.parametrize(
    ("guard", "first"), [("after(0.3 s)", 3), ("every(0.2 s)", 2), ("held(a, 0.2 s)", 3)]
)
def test_time_is_asked_for_in_ticks_since_the_entry(guard: str, first: int) -> None:
    text = f"initial: one\nstates: {{one: [{{when: '{guard}', go: two}}], two: []}}\n"
    assert run(text, *["a"] * 6).index("two") == first


def test_before_is_the_other_side_of_after() -> None:
    text = "initial: one\nstates: {one: [{when: 'a and before(0.2 s)', go: two}], two: []}\n"
    assert run(text, "", "a") == ["one", "two"]
    assert run(text, "", "", "a") == ["one"] * 3


def test_held_begins_again_where_its_condition_breaks() -> None:
    text = "initial: one\nstates: {one: [{when: 'held(a, 0.2 s)', go: two}], two: []}\n"
    assert run(text, "", "a", "a", "", "a", "a", "a") == ["one"] * 6 + ["two"]


def test_every_comes_again_and_again_and_begins_anew_with_its_state() -> None:
    text = (
        "initial: one\nstates: {one: {transitions: [{when: 'every(0.2 s)', do: {n: n + "
        "1}}, {on: e, go: one}]}}\n"
    )
    found = interpreter(text)
    counts = [state.outputs["n"] for state in found.run([NOTHING] * 7)]
    assert counts == [0, 0, 1, 1, 2, 2, 3]
    rows = [NOTHING, {**NOTHING, "e": True}, NOTHING, NOTHING]
    assert [state.outputs["n"] for state in found.run(rows)] == [0, 0, 0, 1]


def test_whole_numbers_saturate_and_what_is_set_fits_its_type() -> None:
    text = "initial: one\nstates: {one: [{when: a, do: {n: 2147483647 * 2 - 2147483600, log: n - 5}}]}\n"
    found = interpreter(text)
    after = found.step(found.initial(), {**NOTHING, "a": True})
    assert after.outputs["n"] == 47
    assert after.outputs["log"] == 0


def test_branches_act_one_way_or_the_other() -> None:
    text = (
        "initial: one\nstates: {one: [{on: e, do: [{if: a, do: {n: 1}, else: [{n: 2}, "
        "{raise: x}]}]}, {on: x, go: two}], two: []}\n"
    )
    assert run(text, "", "a e") == ["one", "one"]
    assert run(text, "", "e") == ["one", "two"]


def test_held_may_ask_for_every_at_the_same_tick() -> None:
    text = (
        "initial: one\nstates: {one: [{when: 'held(not every(0.3 s), 0.1 s)', go: two}], "
        "two: [{when: true, go: one}]}\n"
    )
    assert run(text, *[""] * 4) == ["one", "one", "two", "one"]
    once = (
        "initial: one\nstates: {one: [{when: 'held(every(0.1 s), 0.2 s) and every(0.3 "
        "s)', go: two}], two: []}\n"
    )
    assert run(once, *[""] * 4) == ["one"] * 3 + ["two"]


@pytest.mark.parametrize("order", [("e", "f", "b"), ("f", "b", "e"), ("b", "e", "f")])
def test_done_goes_outwards_through_regions_of_regions_in_whatever_order(order: tuple[str, ...]) -> None:
    text = """
initial: outer
states:
  outer:
    transitions: [{on: done.outer, go: over}]
    regions:
      inner:
        regions:
          one: {initial: one_0, states: {one_0: [{on: e, go: one_1}], one_1: {final: true}}}
          two: {initial: two_0, states: {two_0: [{on: f, go: two_1}], two_1: {final: true}}}
      other: {initial: other_0, states: {other_0: [{when: b, go: other_1}], other_1: {final: true}}}
  over: []
"""
    assert run(text, "", *order)[-1] == "over"


def test_dwell_holds_back_only_ways_that_leave() -> None:
    text = """
initial: one
states:
  one: {min_s: 0.3, transitions: [{when: true, then: [{when: a, go: two}, {when: else, do: {n: n + 1}}]}]}
  two: []
"""
    found = interpreter(text)
    assert [state.outputs["n"] for state in found.run([NOTHING] * 3)] == [1, 2, 3]
    assert run(text, "a", "a", "a", "a") == ["one"] * 3 + ["two"]
