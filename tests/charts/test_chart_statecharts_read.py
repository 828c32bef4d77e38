"""The whole language of charts, read: hierarchy, regions, events, actions, time, functions, promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.charts import (
    ChartKind,
    EnumType,
    FloatType,
    IntType,
    Otherwise,
    Priority,
    parse_chart,
    read_chart,
)
from posewright.charts.expression import InState, TemporalCondition, nodes_of
from posewright.charts.model import (
    Assign,
    Branch,
    Chart,
    HistoryKind,
    PromiseKind,
    Raise,
    StateTarget,
    StepMode,
)
from posewright.errors import PosewrightError

RACE = """\
chart: race
period_s: 0.1
steps: completion
inputs:
  near: bool
  left: bool
  wall: {float: [0, 5], unit: m}
  pace: {enum: [slow, fast]}
  n: {type: uint8, unit: mm}
events: [start, stop]
local_events: [lost]
outputs: {s1: bool, motion: {enum: [none, walk, kick]}}
locals: {tries: {int: [0, 9]}, mean: {float32: [0, 5]}}
constants: {arrived: 36 cm, wait: 5.05 s, tolerance_deg: 18}
initial_values: {motion: walk, tries: 2}
functions:
  steer:
    takes: {w: bool, v: bool, u: bool}
    gives: {enum: [straight, to_left, to_right]}
    rows:
      - [0, 0, 0, straight]
      - [0, 0, 1, to_left]
      - [0, 1, X, to_right]
      - [1, X, X, to_left]
  level:
    takes: {x: float, p: {enum: [slow, fast]}}
    gives: float
    rows:
      - [< 5, slow, x + 1]
      - [5..tolerance_deg, X, 2]
      - {when: x > 7 and p == fast, give: 9}
resources: [motion]
promises:
  - {never: s1 and in(over)}
  - {always: tries <= 9, name: few_tries}
  - {when: start, leads_to: in(racing), within: 500 ms}
  - {when: start, leads_to: in(racing), within: wait}
priority: ordered
initial: waiting
junctions:
  ask_left:
    - {when: left, go: turning}
    - {when: else, go: racing}
states:
  waiting:
    - {on: start, when: not near, go: racing}
    - {when: near, then: [{when: left, go: arms}, {when: else, junction: ask_left}]}
    - {when: 'steer(near, left, s1) == to_left and held(near, 300 ms)', do: {tries: tries + 1}}
    - {when: else, do: {tries: tries + 1}}
  racing:
    transitions:
      - {on: done.racing, go: over}
      - {on: [stop, lost], go: {deep_history: racing, default: turning}, local: true}
      - {when: n > 3 mm, go: [left_down, right_down], description: both arms down}
    entry: {motion: walk}
    during: [{tries: tries + 1}, {raise: lost}, {if: tries > 3, do: {tries: 0}, else: [{raise: lost}]}]
    exit: {motion: none}
    initial: walking
    min_s: 0.5
    priority: exclusive
    states:
      walking:
        - {when: wall < arrived, go: turned}
      turning: {}
      turned: {final: true}
  arms:
    regions:
      left_arm: {initial: left_up, states: {left_up: [], left_down: []}}
      right_arm: {initial: {history: right_arm, default: right_up}, states: {right_up: [], right_down: []}}
  over: {final: true}
"""


@pytest.fixture(scope="module")
def race() -> Chart:
    return parse_chart(RACE, Path("race.chart.yaml"))


def test_a_chart_without_a_kind_is_a_statechart_that_may_stay(race: Chart) -> None:
    assert (race.kind, race.steps, race.otherwise) == (
        ChartKind.STATECHART,
        StepMode.COMPLETION,
        Otherwise.STAY,
    )
    assert (race.priority, race.state("racing").priority) == (Priority.ORDERED, Priority.EXCLUSIVE)
    mealy = RACE.replace("steps: completion", "kind: mealy")
    with pytest.raises(PosewrightError, match="a mealy chart has no events"):
        parse_chart(mealy)


def test_types_have_ranges_units_and_widths(race: Chart) -> None:
    assert race.inputs["wall"] == FloatType(0.0, 5.0)
    assert (race.inputs["wall"].unit, race.inputs["n"].unit) == ("m", "mm")  # type: ignore[union-attr]
    assert race.inputs["n"] == IntType(0, 255)
    assert race.locals == {"tries": IntType(0, 9), "mean": FloatType(0.0, 5.0, single=True)}
    assert (race.constants["arrived"], race.units["arrived"]) == (36, "cm")
    assert "tolerance_deg" not in race.units
    assert race.initial_values == {"motion": "walk", "tries": 2}


def test_states_stand_inside_states(race: Chart) -> None:
    assert race.parents["walking"] == "racing"
    assert race.parents["left_down"] == "left_arm"
    assert race.state("arms").parallel
    assert race.state("racing").is_compound
    assert race.state("racing").min_s == 0.5
    assert race.state("turned").final
    assert race.state("right_arm").initial == (StateTarget("right_arm", HistoryKind.SHALLOW, ("right_up",)),)


def test_transitions_wait_for_events_and_lead_through_junctions(race: Chart) -> None:
    start, junction, counted, other = race.state("waiting").transitions
    assert (start.on, start.goal) == (("start",), "racing")
    assert [segment.junction for segment in junction.then] == [None, "ask_left"]
    assert not counted.go
    assert counted.when.names == {"near", "left", "s1"}  # the function is put in
    assert other.is_else
    done, back, apart = race.state("racing").transitions
    assert done.on == ("done.racing",)
    assert back.on == ("stop", "lost")
    assert back.local
    assert back.go == (StateTarget("racing", HistoryKind.DEEP, ("turning",)),)
    assert [target.state for target in apart.go] == ["left_down", "right_down"]
    assert apart.description == "both arms down"


def test_else_holds_where_no_elder_of_the_same_event_does(race: Chart) -> None:
    *_, other = race.state("waiting").transitions
    assert "near" in other.when.names  # the first transition waits for an event, and does not count
    assert [node.seconds for node in nodes_of(other.when.tree) if isinstance(node, TemporalCondition)] == [
        0.3
    ]
    first, second = race.junctions["ask_left"]
    assert first.when.evaluate({"left": True}) is True
    assert second.when.evaluate({"left": True}) is False
    assert second.when.evaluate({"left": False}) is True


def test_an_else_after_a_wait_asks_for_the_time_as_well() -> None:
    text = "chart: x\nperiod_s: 1\ninitial: a\nstates:\n  a: [{after_s: 3, go: a}, {when: else, go: a}]\n"
    other = parse_chart(text).state("a").transitions[1]
    assert [node.seconds for node in nodes_of(other.when.tree) if isinstance(node, TemporalCondition)] == [
        3.0
    ]


def test_actions_are_done_one_after_the_other(race: Chart) -> None:
    racing = race.state("racing")
    assert [type(action) for action in racing.during] == [Assign, Raise, Branch]
    branch = racing.during[2]
    assert isinstance(branch, Branch)
    assert branch.otherwise == (Raise("lost"),)
    (walk,) = racing.entry
    assert isinstance(walk, Assign)
    assert str(walk.values["motion"]) == "walk"


def test_truth_tables_are_functions(race: Chart) -> None:
    steer, level = race.functions["steer"], race.functions["level"]
    assert steer.return_type == EnumType(("straight", "to_left", "to_right"))
    assert [str(row.when) for row in steer.rows] == [
        "not w and not v and not u",
        "not w and not v and u",
        "not w and v",
        "w",
    ]
    assert [str(row.when) for row in level.rows] == [
        "x < 5 and p == slow",
        "x >= 5 and x <= tolerance_deg",
        "x > 7 and p == fast",
    ]
    assert level.rows[1].cells == ("5..tolerance_deg", "X")
    assert level.rows[2].cells == ()


def test_promises_may_ask_for_events_and_states(race: Chart) -> None:
    assert [promise.name for promise in race.promises] == ["never 1", "few_tries", "leads_to 3", "leads_to 4"]
    assert [promise.kind for promise in race.promises][:3] == [
        PromiseKind.NEVER,
        PromiseKind.ALWAYS,
        PromiseKind.LEADS_TO,
    ]
    assert [promise.within_s for promise in race.promises] == [0.0, 0.0, 0.5, 5.05]
    assert race.promises[2].when.names == {"start"}
    assert any(isinstance(node, InState) for node in nodes_of(race.promises[0].when.tree))


def test_a_function_may_stand_in_a_table_beside_the_chart(tmp_path: Path) -> None:
    rows = RACE[RACE.index("    rows:\n      - [0, 0, 0") : RACE.index("  level:")]
    path = tmp_path / "race.chart.yaml"
    path.write_text(RACE.replace(rows, "    table: tables/steer.csv\n"))
    (tmp_path / "tables").mkdir()
    table = tmp_path / "tables" / "steer.csv"
    table.write_text("w,v,u,way\n0,0,0,straight\n0,0,1,to_left\n\n0,1,X,to_right\n1,x,-,to_left\n")
    assert read_chart(path).functions == parse_chart(RACE).functions
    for bad, line, message in [
        ("w,v,way\n0,0,straight\n", 1, "the columns are w, v, u"),
        ("w,v,u,way\n", 1, "the table has no rows"),
        ("w,v,u,way\n0,0,0,straight\n0,0,2,to_left\n", 3, "a number where a truth value"),
        ("w,v,u,way\n0,0,straight\n", 2, "3 cells where 4 are needed"),
        ("w,v,u,way\n0,0,0,straigt\n", 2, "straigt"),
    ]:
        table.write_text(bad)
        with pytest.raises(PosewrightError, match=message) as caught:
            read_chart(path)
        assert caught.value.where is not None
        assert (caught.value.where.path, caught.value.where.line) == (table, line)
    for name in ("/etc/passwd", "../steer.csv", "tables/none.csv", "tables"):
        path.write_text(RACE.replace(rows, f"    table: {name}\n"))
        with pytest.raises(PosewrightError, match="in the chart's folder"):
            read_chart(path)


def line_of(text: str) -> int:
    return RACE[: RACE.index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{on: start, ", "{on: strat, ", "unknown event 'strat' (did you mean start"),
        ("{on: start, ", "{on: near, ", "is an input, not an event (write `when: near`)"),
        ("on: done.racing", "on: done.rasing", "did you mean racing"),
        ("on: done.racing", "on: done.left_arm", "left_arm is never done"),
        ("{on: done.racing, go: over}", "{on: done.racing}", "it has no effect"),
        ("{on: done.racing, go: over}", "{go: over}", "'when' is missing"),
        (
            "{on: done.racing, go: over}",
            "{on: stop, go: over, junction: ask_left}",
            "both 'go' and 'junction'",
        ),
        ("junction: ask_left}", "junction: ask_let}", "did you mean ask_left"),
        ("junction: ask_left}", "junction: ask_left, on: start}", "unknown key 'on'"),
        ("{when: left, go: turning}", "{when: else, go: turning}", "no transition comes before this `else`"),
        ("{when: left, go: turning}", "{when: left, go: turnin}", "did you mean turning"),
        ("[left_down, right_down]", "[left_down, left_up]", "never active together"),
        ("default: turning}", "default: waiting}", "not inside racing"),
        ("deep_history: racing", "deep_history: over", "no states inside and therefore no history"),
        (
            "{deep_history: racing, default: turning}",
            "{default: turning}",
            "expected a state, or its history",
        ),
        ("initial: walking", "initial: waiting", "not inside it"),
        ("    initial: walking", "    description: x", "'initial' is missing"),
        ("entry: {motion: walk}", "entry: {motion: wlak}", "did you mean walk"),
        ("entry: {motion: walk}", "entry: {near: 1}", "inputs come from outside"),
        ("entry: {motion: walk}", "entry: {arrived: 1}", "is a constant"),
        ("entry: {motion: walk}", "entry: {lost: 1}", "write {raise: lost}"),
        ("entry: {motion: walk}", "entry: {raise: los}", "did you mean lost"),
        ("entry: {motion: walk}", "entry: {raise: lost, motion: walk}", "'raise' cannot be combined"),
        ("entry: {motion: walk}", "entry: {raise: done.racing}", "cannot be raised"),
        ("entry: {motion: walk}", "entry: walk", "expected an action"),
        ("entry: {motion: walk}", "do: {motion: walk}", "only a Moore state has 'do'"),
        ("exit: {motion: none}", "exit: [{if: near}]", "'do' is missing"),
        ("exit: {motion: none}", "leave: {motion: none}", "unknown key 'leave'"),
        ("turning: {}", "waiting: {}", "there are two states called 'waiting' (first in line"),
        ("turning: {}", "ask_left: {}", "'ask_left' is a state and a junction"),
        ("turning: {}", "a-b: {}", "not a valid name for a state"),
        ("turned: {final: true}", "turned: {final: true, transitions: [{when: near, go: over}]}", "is final"),
        ("left_up: [], ", "left_up: {states: {}}, ", "there is no state"),
        ("wall < arrived", "wall < arived", "did you mean arrived"),
        ("wall < arrived", "wall < wait", "length"),
        ("in(over)", "in(ower)", "did you mean over"),
        ("held(near, 300 ms)", "held(near, 300 mm)", "needs a time"),
        ("within: 500 ms", "within: 500 mm", "mm is not a unit of time"),
        ("{always: tries <= 9, name: few_tries}", "{name: few_tries}", "the promise has no condition"),
        ("{always: tries <= 9, name: few_tries}", "{always: tries, name: few}", "a truth value is needed"),
        (
            "{always: tries <= 9, name: few_tries}",
            "{always: near, name: never 1}",
            "two promises called 'never 1'",
        ),
        ("resources: [motion]", "resources: [moton]", "did you mean motion"),
        (
            "{tries: {int: [0, 9]}, ",
            "{near: {int: [0, 9]}, ",
            "'near' occurs twice, in inputs and in locals",
        ),
        ("local_events: [lost]", "local_events: lost", "expected a list"),
        ("local_events: [lost]", "local_events: [wall]", "occurs twice"),
        ("local_events: [lost]", "local_events: [in]", "a reserved word"),
        ("local_events: [lost]", "local_events: [lost, lost]", "'lost' occurs twice"),
        ("{enum: [none, walk, kick]}", "{enum: [none, walk, fast]}", "'fast' occurs twice"),
        ("36 cm", "36 ccm", "there is no unit 'ccm'"),
        ("36 cm", "long", "is not a number with a unit"),
        ("{float: [0, 5], unit: m}", "{float: [0, 5], unit: metre}", "unknown unit 'metre'"),
        ("{float: [0, 5], unit: m}", "{float: [0, 5], int: [0, 5]}", "both 'int' and 'float'"),
        ("pace: {enum: [slow, fast]}", "pace: {enum: [slow, fast], unit: m}", "cannot have a unit"),
        ("uint8", "uint9", "did you mean uint8"),
        ("- [0, 1, X, to_right]", "- [0, 1, to_right]", "3 cells where 4 are needed"),
        ("- [0, 1, X, to_right]", "- [0, 7, X, to_right]", "a number where a truth value is needed"),
        ("- [0, 1, X, to_right]", "- [0, 1, X, walk]", "straight"),
        ("- [0, 1, X, to_right]", "- [0, v, X, to_right]", "'v' is not a valid cell"),
        ("- [< 5, slow, x + 1]", "- [< 5, slo, x + 1]", "did you mean slow"),
        ("- [< 5, slow, x + 1]", "- [< x, slow, x + 1]", "'< x' is not a valid cell"),
        ("- [< 5, slow, x + 1]", "- [< five, slow, x + 1]", "'five'"),
        ("- [< 5, slow, x + 1]", "- [< 5, slow, y + 1]", "'y'"),
        ("takes: {x: float, ", "takes: {wait: float, ", "'wait' is a constant"),
        ("{when: x > 7 and p == fast, give: 9}", "{when: x > 7 and p == fast}", "'give' is missing"),
        ("steps: completion", "steps: two", "unknown steps 'two'"),
        ("initial: waiting", "initial: [waiting, racing]", "never active together"),
        ("initial: waiting", "initial: wating", "did you mean waiting"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, message: str) -> None:
    text = RACE.replace(old, new, 1)
    assert text != RACE
    with pytest.raises(PosewrightError) as caught:
        parse_chart(text, Path("race.chart.yaml"))
    assert message in str(caught.value)
    assert caught.value.where is not None
    expected = line_of(old)
    if message in ("not inside it", "never active together", "'initial' is missing"):
        expected = caught.value.where.line or 0  # of the state or the entry that it is said of
    assert caught.value.where.line == expected
    assert str(caught.value).startswith("race.chart.yaml:")


def test_a_column_is_said_where_an_expression_stands() -> None:
    for old, new, column in [
        ("wall < arrived", "wall < arived", 25),
        ("{tries: tries + 1}, {raise", "{tries: trie + 1}, {raise", 22),
        ("- [< 5, slow, x + 1]", "- [< five, slow, x + 1]", 12),
        ("- [< 5, slow, x + 1]", "- [< 5, slow, y + 1]", 21),
        ("{never: s1 and", "{never: s2 and", 13),
    ]:
        with pytest.raises(PosewrightError) as caught:
            parse_chart(RACE.replace(old, new, 1), Path("race.chart.yaml"))
        assert caught.value.where is not None
        assert (caught.value.where.line, caught.value.where.column) == (line_of(old), column)


def test_regions_may_stand_at_the_top() -> None:
    chart = parse_chart(
        "chart: x\nperiod_s: 1\nregions:\n  a: {initial: b, states: {b: []}}\n  c: [{after_s: 1, go: c}]\n"
    )
    assert chart.parallel
    assert chart.initial == ()
    with pytest.raises(PosewrightError, match="both 'states' and 'regions'"):
        parse_chart("chart: x\nperiod_s: 1\nregions: {a: []}\nstates: {b: []}\n")
