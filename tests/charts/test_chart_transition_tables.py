"""State-transition tables: a row a transition, in CSV, out and in again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import posewright
from posewright.charts import BoolType, Chart, ChartKind, Interpreter, parse_chart, read_chart
from posewright.charts.formats import (
    is_transition_table,
    parse_transition_table,
    save_transition_table,
    transition_table_text,
)
from posewright.errors import InputError

from .random_charts import charts

BEHAVIOURS = Path(posewright.__file__).parent / "robots/catalogue/robotis_bioloid/behaviours"

GATE = """\
## A gate that opens for a while.
# period_s: 0.1
# inputs: {near: bool, n: {int: [0, 9]}}
# events: [push, stop]
# outputs: {lamp: bool, motion: {enum: [none, lift, drop]}}
# priority: ordered
state,on,when,after_s,do,go
shut,push,not near,,"motion: lift, lamp: true",open
open,,,2,motion: drop,shut
,push stop,n > 3,,motion: none,stuck
,push,else,,lamp: not lamp,
stuck,stop,,,{},shut
"""

NESTED = """\
# events: [a, b]
# outputs: {n: {int: [0, 9]}}
state,parent,initial,final,on,when,do,go,entry
off,,,,a,,,on,
*on,,{history: on},,b,,n: 0,off,n: n + 1
one,on,,,a,,,two,
*two,on,,,a,n > 2,,end,
end,on,,true,,,,,
"""

FLAT_ROWS = st.one_of(
    charts(parallel=False, junctions=False, promises=True, completion=True),
    charts(parallel=False, floats=True),
    charts(kind=ChartKind.MEALY, junctions=False),
    charts(kind=ChartKind.MOORE, junctions=False),
)


def is_a_table(chart: Chart) -> bool:
    return not any(one.then for state in chart.every_state for one in state.transitions)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(FLAT_ROWS.filter(is_a_table))
def test_a_chart_written_as_a_table_and_read_again_is_the_same_chart(chart: Chart) -> None:
    text = transition_table_text(chart)
    assert is_transition_table(text)
    again = parse_transition_table(text)
    assert again == chart
    assert transition_table_text(again) == text


@pytest.mark.parametrize("path", sorted(BEHAVIOURS.glob("*.chart.yaml")), ids=lambda path: path.name)
def test_a_chart_that_ships_comes_back_the_same(path: Path) -> None:
    chart = read_chart(path)
    assert parse_transition_table(transition_table_text(chart)) == chart


def test_a_table_is_read_row_by_row() -> None:
    chart = parse_transition_table(GATE, Path("gate.csv"))
    assert (chart.name, chart.period_s, chart.inputs["near"]) == ("gate", 0.1, BoolType())
    assert chart.state_names == ("shut", "open", "stuck")
    timed, pushed, otherwise = chart.state("open").transitions
    assert (timed.after_s, timed.goal, timed.line) == (2.0, "shut", 9)
    assert (pushed.on, str(pushed.when), pushed.goal) == (("push", "stop"), "n > 3", "stuck")
    assert (otherwise.is_else, otherwise.go) == (True, ())
    assert chart.state("open").line == 9


def test_a_table_runs_like_the_chart_it_stands_for() -> None:
    chart = parse_transition_table(GATE, Path("gate.csv"))
    rows = [{"near": False, "n": 1, "push": push} for push in (False, True, True, *[False] * 20)]
    states = [state.state for state in Interpreter(chart).run(rows)]
    assert states == ["shut", *["open"] * 20, "shut", "shut"]


def test_states_stand_inside_others_and_a_star_marks_the_first() -> None:
    chart = parse_transition_table(NESTED)
    assert [one.state for one in chart.initial] == ["on"]
    assert chart.parents == {"off": None, "on": None, "one": "on", "two": "on", "end": "on"}
    assert chart.state("on").initial[0].history is not None
    assert chart.state("end").final
    assert parse_transition_table(transition_table_text(chart)) == chart


def test_the_head_is_that_of_a_native_document_and_may_be_as_long() -> None:
    text = GATE.replace(
        "# inputs: {near: bool, n: {int: [0, 9]}}", "# inputs:\n#   near: bool\n#   n: {int: [0, 9]}"
    )
    assert parse_transition_table(text, Path("gate.csv")) == parse_transition_table(GATE, Path("gate.csv"))


def test_a_table_is_told_by_its_header() -> None:
    assert is_transition_table(GATE)
    assert not is_transition_table("q1,q0,front,q1_next,q0_next\n0,0,1,0,1\n")
    assert not is_transition_table("state,front,next\na,1,b\n")
    assert not is_transition_table("chart: x\nstates: {a: []}\n")


def test_a_table_is_saved_whole(tmp_path: Path) -> None:
    chart = parse_transition_table(GATE, Path("gate.csv"))
    save_transition_table(chart, tmp_path / "gate.csv")
    text = (tmp_path / "gate.csv").read_text(encoding="utf-8")
    assert parse_transition_table(text, tmp_path / "gate.csv") == chart


REFUSED = {
    GATE.replace("go\n", "to\n"): "gate.csv:7: unknown column 'to'",
    GATE.replace("do,go\n", "do,do\n"): "gate.csv:7: the column 'do' occurs twice",
    GATE.replace(",go\n", "\n"): "gate.csv:7: the column 'go' is missing",
    GATE.replace("not near", "not neer"): "gate.csv:8: unknown input, output or constant 'neer'",
    GATE.replace(",open\n", ",opem\n"): "gate.csv:8: unknown state 'opem'",
    GATE.replace("push stop", "pull"): "gate.csv:10: unknown event 'pull'",
    GATE.replace("lamp: true", "lamp: {"): "gate.csv:8: not valid YAML",
    GATE.replace("motion: none", "motion: fly"): "gate.csv:10: ",
    GATE.replace("stuck,stop,,,{},shut", "stuck,stop,,,{},shut,,,"): "gate.csv:12: 9 cells in 6 columns",
    GATE.replace(",2,", ",soon,"): "gate.csv:9: ",
    GATE.replace("# events: [push", "# evens: [push"): "gate.csv:4: unknown key 'evens'",
    GATE.replace(
        "# priority: ordered", "# states: {a: []}"
    ): "gate.csv:6: states: the states of a table are its",
    GATE.replace("shut,push", ",push"): "gate.csv:8: the first row has no state",
    GATE[: GATE.index("shut,push")]: "gate.csv:7: the table has no rows",
    NESTED.replace("one,on", "one,om"): "gate.csv:6: unknown state 'om'",
    NESTED.replace("off,,", "off,one,").replace("*on,,", "on,off,"): "is inside itself",
    NESTED.replace("off,,", "*off,,"): "gate.csv:5: both off and on are marked",
    NESTED + "two,off,,,a,,,one,\n": "gate.csv:9: 'parent' of two is not in its first row",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_a_malformed_table_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_transition_table(text, Path("gate.csv"))
    assert REFUSED[text] in str(caught.value)


REGIONS = """
chart: two
period_s: 0.1
outputs: {n: bool}
regions: {one: {initial: a, states: {a: []}}, two: {initial: b, states: {b: []}}}
"""
JUNCTION = """
chart: one
period_s: 0.1
inputs: {near: bool}
outputs: {n: bool}
initial: a
states: {a: [{when: near, then: [{when: n, go: a}, {when: else, go: a}]}]}
"""


@pytest.mark.parametrize(
    ("text", "reason"), [(REGIONS, "two has regions"), (JUNCTION, "a has a junction without a name")]
)
def test_a_chart_that_a_table_has_no_place_for_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        transition_table_text(parse_chart(text))
