"""Scenarios: inputs over time and what is expected of them, and rows of inputs with events."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, parse_chart, run_chart
from posewright.charts.scenarios import (
    Expectation,
    Scenario,
    ScenarioStep,
    parse_row,
    parse_scenario,
    read_rows,
    read_scenario,
    rows_of,
    run_rows,
    run_scenario,
    run_scenarios,
    save_scenario,
)
from posewright.errors import DocumentError, FormatError, PosewrightError, UnknownNameError

KICKER = """\
chart: kicker
period_s: 0.1
inputs: {near: bool, wall: {float: [0, 5], unit: m}, n: uint8, mode: {enum: [slow, fast]}}
events: [start, stop]
outputs: {motion: {enum: [none, walk, kick]}, count: {int: [0, 9]}}
locals: {tries: {int: [0, 9]}}
constants: {wait: 300 ms, arrived: 36 cm}
promises:
  - {never: in(kicking) and count > 3, name: few}
regions:
  legs:
    initial: waiting
    states:
      waiting:
        - {on: start, go: walking}
      walking:
        transitions:
          - {when: near and wall < arrived, go: kicking, do: {tries: "min(tries + 1, 9)"}}
          - {on: stop, go: waiting}
        entry: {motion: walk}
      kicking:
        transitions: [{when: after(wait), go: waiting, do: {motion: none}}]
        entry: {motion: kick, count: 0}
        during: {count: "min(count + 1, 9)"}
  arms:
    initial: down
    states:
      down: [{when: near, go: up}]
      up: [{when: not near, go: down}]
"""

WALKS = """\
scenario: walks and kicks
chart: kicker.chart.yaml
steps:
  - {send: start, expect: {in: [walking, down], not_in: kicking, motion: walk}}
  - {for: 0.2 s, throughout: {motion: walk}}
  - {set: {near: 1, wall: 0.3}, expect: {in: [kicking, up], motion: kick, tries: 1}}
  - {for: wait, expect: {in: waiting, motion: none, count: 2}}
"""


@pytest.fixture
def chart() -> Chart:
    return parse_chart(KICKER)


def scenario(chart: Chart, steps: str, head: str = "") -> Scenario:
    return parse_scenario(f"scenario: s\n{head}steps:\n{steps}", chart)


def test_a_scenario_says_what_is_set_and_sent_and_what_comes_of_it(chart: Chart) -> None:
    result = run_scenario(chart, parse_scenario(WALKS, chart))
    assert result.passed, [str(one) for one in result.failures]
    assert result.ticks == 1 + 2 + 1 + 3


def test_inputs_keep_their_values_and_events_come_once(chart: Chart) -> None:
    steps = "  - {ticks: 2, set: {n: 7}, send: [start]}\n  - {ticks: 1, set: {near: true}}\n"
    rows = rows_of(scenario(chart, steps), chart)
    assert [row.inputs["n"] for row in rows] == [7, 7, 7]
    assert [row.inputs["near"] for row in rows] == [False, False, True]
    assert [row.inputs.get("start", False) for row in rows] == [True, False, False]


@pytest.mark.parametrize(
    ("lasts", "ticks"),
    [("0.25", 3), ("0.3 s", 3), ("310 ms", 4), ("wait", 3), ("0.0", 1), ("0.01 min", 6)],
)
def test_a_time_is_rounded_up_to_ticks(chart: Chart, lasts: str, ticks: int) -> None:
    assert scenario(chart, f"  - {{for: {lasts}}}\n").ticks == ticks


def test_what_differs_is_told_with_line_tick_and_both_values(chart: Chart) -> None:
    text = WALKS.replace("motion: kick, tries: 1", "motion: walk, tries: 2")
    failed = run_scenario(chart, parse_scenario(text, chart)).failures
    assert [(one.line, one.tick, one.name, one.expected, one.actual) for one in failed] == [
        (6, 3, "motion", "walk", "kick"),
        (6, 3, "tries", 2, 1),
    ]
    assert str(failed[0]) == "line 6, tick 3: expected motion = walk, got kick"


def test_states_that_should_or_should_not_be_active_are_told(chart: Chart) -> None:
    failed = run_scenario(chart, scenario(chart, "  - {expect: {in: [walking, down], not_in: arms}}\n"))
    assert [str(one) for one in failed.failures] == [
        "line 3, tick 0: expected in walking+down, got in waiting+down",
        "line 3, tick 0: expected not in arms, got in legs+waiting+arms+down",
    ]


def test_throughout_holds_at_every_tick_and_expect_at_the_last(chart: Chart) -> None:
    steps = "  - {send: start}\n  - {ticks: 3, set: {near: 1}, %s: {motion: kick}}\n  - {ticks: 1}\n"
    assert run_scenario(chart, scenario(chart, steps % "expect")).passed
    late = "  - {ticks: 5, set: {near: 1, wall: 1.0}, throughout: {in: down}}\n"
    assert [one.tick for one in run_scenario(chart, scenario(chart, late)).failures] == [0, 1, 2, 3, 4]


def test_a_scenario_may_start_in_any_state(chart: Chart) -> None:
    given_state = scenario(chart, "  - {expect: {in: waiting}}\n", head="start: kicking\n")
    assert run_scenario(chart, given_state).passed


def test_a_scenario_watches_the_promises() -> None:
    text = KICKER.replace("after(wait)", "after(1 s)")
    long = "  - {send: start}\n  - {set: {near: 1}, ticks: 8}\n"
    other = parse_chart(text)
    result = run_scenario(other, scenario(other, long))
    assert not result.passed
    assert not result.failures
    assert len(result.broken_promises) == 1
    assert "in(kicking) and count > 3" in result.broken_promises[0]
    assert result.data()["broken"] == list(result.broken_promises)


def test_a_tick_that_fails_fails_the_scenario() -> None:
    text = "chart: c\nperiod_s: 0.1\ninputs: {n: int8}\noutputs: {x: int8}\ninitial: a\n"
    dividing = parse_chart(text + "states: {a: [{when: 8 % n == 2, do: {x: 1}}]}\n")
    result = run_scenario(dividing, scenario(dividing, "  - {set: {n: 3}}\n  - {set: {n: 0}}\n  - {}\n"))
    assert [(one.tick, one.name, one.line) for one in result.failures] == [(1, "tick", 4)]
    assert "zero" in str(result.failures[0].actual)


def test_a_file_names_its_chart_and_is_read_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "kicker.chart.yaml").write_text(KICKER)
    path = tmp_path / "walks.scenario.yaml"
    path.write_text(WALKS)
    read = read_scenario(path)
    assert read.path == path
    assert read.chart == "kicker.chart.yaml"
    (result,) = run_scenarios(parse_chart(KICKER), [path])
    assert result.passed
    ticks = run_chart(parse_chart(KICKER), path)
    assert len(ticks) == 7
    assert not any(tick.unmet_expectations for tick in ticks)


def test_what_is_saved_reads_the_same(tmp_path: Path, chart: Chart) -> None:
    read = parse_scenario(WALKS, chart)
    save_scenario(read, tmp_path / "again.scenario.yaml")
    assert read_scenario(tmp_path / "again.scenario.yaml", chart) == read


STEPS = st.lists(
    st.builds(
        ScenarioStep,
        ticks=st.integers(1, 5),
        set=st.fixed_dictionaries(
            {}, optional={"near": st.booleans(), "n": st.integers(0, 255), "wall": st.floats(0, 5)}
        ),
        send=st.sampled_from([(), ("start",), ("start", "stop")]),
        expect=st.builds(
            Expectation,
            inside=st.sampled_from([(), ("walking",), ("walking", "up")]),
            values=st.fixed_dictionaries({}, optional={"motion": st.sampled_from(["none", "kick"])}),
        ),
    ),
    min_size=1,
    max_size=4,
)


@given(steps=STEPS)
@settings(max_examples=20, deadline=None)
def test_every_scenario_survives_being_saved(
    tmp_path_factory: pytest.TempPathFactory, steps: list[ScenarioStep]
) -> None:
    chart = parse_chart(KICKER)
    path = tmp_path_factory.mktemp("s") / "s.scenario.yaml"
    made = Scenario("s", tuple(steps))
    save_scenario(made, path)
    assert read_scenario(path, chart) == made


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("  - {set: {neer: 1}}\n", "s.yaml:3: unknown input 'neer' (did you mean near?)"),
        ("  - {}\n  - {send: begin}\n", "s.yaml:4: unknown event 'begin'"),
        ("  - {expect: {in: walkin}}\n", "s.yaml:3: unknown state 'walkin' (did you mean walking"),
        ("  - {expect: {motion: run}}\n", "s.yaml:3: steps[0].expect.motion: 'run' is not one of the values"),
        ("  - {expect: {speed: 1}}\n", "s.yaml:3: unknown output or local 'speed'"),
        ("  - {set: {wall: 9}}\n", "out of range"),
        ("  - {set: {near: 2}}\n", "is not a bool (write 0, 1, false or true)"),
        ("  - {ticks: 1, for: 1}\n", "both `ticks` and `for`"),
        ("  - {for: 3 parsec}\n", "there is no unit 'parsec'"),
        ("  - {for: arrived}\n", "arrived is not a time"),
        ("  - {ticks: 0}\n", "0 is out of range"),
        ("  - {ticks: 900000}\n  - {ticks: 900000}\n", "s.yaml:4: steps[1]: more than 1000000 ticks"),
        ("  - {wait: 1}\n", "unknown key 'wait'"),
        ("  []\n", "no step"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(chart: Chart, steps: str, said: str) -> None:
    with pytest.raises((DocumentError, UnknownNameError)) as refused:
        parse_scenario(f"scenario: s\nsteps:\n{steps}", chart, Path("s.yaml"))
    assert said in str(refused.value)


def test_a_chart_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.scenario.yaml"
    path.write_text("scenario: s\nchart: other.chart.yaml\nsteps: [{}]\n")
    with pytest.raises(DocumentError, match="there is no file"):
        read_scenario(path)
    path.write_text("scenario: s\nsteps: [{}]\n")
    with pytest.raises(DocumentError, match="'chart' is missing"):
        read_scenario(path)


def test_rows_of_a_file_may_have_columns_of_events(tmp_path: Path, chart: Chart) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "near,wall,n,mode,start,next,motion\n"
        "0,1,0,slow,1,walking+down,walk\n"
        "0,1,0,slow,0,walking,walk\n"
        "1,1,0,slow,0,legs,kick\n"
    )
    ticks = list(run_rows(chart, read_rows(chart, path)))
    assert [tick.unmet_expectations for tick in ticks] == [{}, {}, {"motion": "kick"}]
    assert "stop" not in ticks[0].row.inputs


def test_a_typed_row_may_send_an_event(chart: Chart) -> None:
    assert parse_row(chart, "near=1, start=1").inputs["start"] is True
    ticks = run_chart(chart, ["start=1", "near=1,wall=0.3"])
    assert [tick.after.state for tick in ticks] == ["walking+down", "kicking+up"]
    assert ticks[1].before == "walking+down"


def test_a_file_that_is_no_table_of_inputs_is_refused(tmp_path: Path, chart: Chart) -> None:
    path = tmp_path / "rows.csv"
    for text, said in [
        ("near,wall,n\n", "the input 'mode' has no column"),
        ("near,wall,n,mode,start,start\n", "the event 'start' has the columns start, start"),
        ("near,wall,n,mode,begin\n", "unknown column 'begin'"),
        ("near,wall,n,mode,start\n0,0,0,slow,2\n", "start: '2' is not a bool"),
        ("near,wall,n,mode,next\n0,0,0,slow,walking+sitting\n", "unknown state 'sitting'"),
    ]:
        path.write_text(text)
        with pytest.raises((FormatError, PosewrightError)) as refused:
            read_rows(chart, path)
        assert said in str(refused.value)
