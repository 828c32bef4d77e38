"""Cover: few scenarios that go everywhere a chart can go, and say why they go nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, parse_chart, read_chart
from posewright.charts.coverage import Cover, Measure, cover_chart, coverage_of
from posewright.charts.scenarios import read_scenario, run_scenario

NESTED = """\
chart: nested
period_s: 0.1
inputs: {near: bool, left: bool}
events: [start, stop]
local_events: [lost]
outputs: {motion: {enum: [none, walk]}, lamp: bool}
locals: {tries: {int: [0, 1]}}
junctions:
  ask_left:
    - {when: left, go: turning}
    - {when: else, go: walking}
initial: waiting
states:
  waiting:
    - {on: start, when: not near, go: racing}
  racing:
    transitions:
      - {on: stop, go: waiting}
      - {on: lost, go: {history: racing}, do: {lamp: 1}}
    entry: {motion: walk}
    exit: {motion: none}
    initial: walking
    states:
      walking:
        transitions: [{when: near, junction: ask_left}]
        during: [{tries: "min(tries + 1, 1)"}, {if: tries >= 1 and left, do: [{raise: lost}, {tries: 0}]}]
      turning:
        transitions: [{when: not near, go: walking}]
"""

TIMED = """\
chart: timed
period_s: 0.1
inputs: {near: bool, wall: {float: [0, 5], unit: m}, n: uint8, left: bool}
outputs: {motion: {enum: [walk, turn, kick]}}
constants: {arrived: 36 cm, wait: 1.05 s}
functions:
  steer:
    takes: {w: bool, v: bool}
    gives: {enum: [straight, round]}
    rows: [[0, 0, straight], [0, 1, round], [1, X, round]]
initial: walking
states:
  walking:
    entry: {motion: walk}
    transitions:
      - {when: near and wall < arrived, go: kicking}
      - {when: "held(near, 0.3 s) or n > 200", go: turning}
  turning:
    entry: {motion: turn}
    min_s: 0.5
    transitions: [{when: "steer(near, left) == straight", go: walking}]
  kicking:
    entry: {motion: kick}
    transitions: [{when: after(wait), go: over}]
  over: {final: true}
"""

PARALLEL = """\
chart: parallel
period_s: 0.1
steps: completion
inputs: {front: bool, left: bool, n: {int: [0, 20]}}
outputs: {arms: {enum: [down, up]}, legs: {enum: [stand, walk]}}
regions:
  above:
    initial: down
    states:
      down: {entry: {arms: down}, transitions: [{when: in(walking) and front, go: up}]}
      up: {entry: {arms: up}, transitions: [{when: not front, go: down}]}
  below:
    initial: standing
    states:
      standing: {entry: {legs: stand}, transitions: [{when: n >= 7 and n <= 12, go: walking}]}
      walking: {entry: {legs: walk}, transitions: [{when: n < 5, go: standing}]}
"""

DEAD = """\
chart: dead
kind: mealy
period_s: 0.1
priority: ordered
otherwise: stay
inputs: {a: bool, n: {int: [0, 9]}}
outputs: {x: bool}
initial: one
states:
  one:
    - {when: a, do: {x: 1}, go: two}
    - {when: a and n > 3, do: {x: 0}, go: one}
  two: [{when: n > 4 and n < 3, go: one}]
  three: [{when: a, go: one}]
"""


@pytest.fixture(scope="module", params=[NESTED, TIMED, PARALLEL], ids=["nested", "timed", "parallel"])
def cover(request: pytest.FixtureRequest) -> Cover:
    return cover_chart(parse_chart(request.param))


def test_everything_that_can_be_covered_is(cover: Cover) -> None:
    assert cover.complete
    assert cover.coverage.missing == ()
    row = cover.coverage.row(Measure.TRANSITIONS)
    assert row.covered == row.total == len(cover.coverage.obligations.machine.transitions)
    assert cover.infeasible == {}


def test_the_scenarios_say_what_the_chart_does(cover: Cover) -> None:
    for scenario in cover.scenarios:
        result = run_scenario(cover.chart, scenario)
        assert result.passed, [str(one) for one in result.failures]


def test_they_are_few_and_what_they_cover_is_told(cover: Cover) -> None:
    assert 1 <= len(cover.scenarios) <= 8
    again = coverage_of(cover.chart, cover.scenarios)
    assert again.facts == cover.coverage.facts


def test_every_step_expects_all_states_and_all_outputs(cover: Cover) -> None:
    outputs = set(cover.chart.outputs)
    for step in (step for scenario in cover.scenarios for step in scenario.steps):
        seen = step.expect or step.throughout
        assert seen.inside
        assert set(seen.values) == outputs


def test_the_same_chart_gets_the_same_scenarios() -> None:
    one, other = cover_chart(parse_chart(PARALLEL)), cover_chart(parse_chart(PARALLEL))
    assert one.scenarios == other.scenarios
    assert one.data() == other.data()


def test_what_cannot_be_taken_is_named_with_the_reason() -> None:
    cover = cover_chart(parse_chart(DEAD))
    assert {way.line: reason for way, reason in cover.infeasible.items()} == {
        12: "`a and n > 3` never holds when it is evaluated",
        13: "`n > 4 and n < 3` never holds when it is evaluated",
        14: "three is never active",
    }
    assert cover.coverage.missing == ()
    assert cover.coverage.row(Measure.TRANSITIONS).total == 1
    assert len(cover.data()["infeasible_transitions"]) == 3


def test_they_are_kept_as_files_that_find_their_chart(tmp_path: Path) -> None:
    path = tmp_path / "charts" / "parallel.chart.yaml"
    path.parent.mkdir()
    path.write_text(PARALLEL)
    chart = read_chart(path)
    cover = cover_chart(chart)
    beside = cover.save()
    assert [one.name for one in beside][:1] == ["parallel.cover_1.scenario.yaml"]
    elsewhere = tmp_path / "kept"
    elsewhere.mkdir()
    for saved, scenario in zip(cover.save(elsewhere), cover.scenarios, strict=True):
        read = read_scenario(saved)
        assert read.chart == "../charts/parallel.chart.yaml"
        assert read.steps == scenario.steps
        assert run_scenario(chart, read).passed
    assert [read_scenario(one) for one in beside] == list(cover.scenarios)


def test_boundaries_are_among_the_values_that_are_tried() -> None:
    chart = parse_chart(PARALLEL)
    steps = [step for scenario in cover_chart(chart).scenarios for step in scenario.steps]
    tried = {step.set["n"] for step in steps if "n" in step.set}
    assert {4, 5, 6, 7, 12, 13} <= tried


def test_values_at_the_start_are_looked_at_before_they_change() -> None:
    text = "chart: c\nperiod_s: 0.1\ninputs: {x: bool}\ninitial: a\noutputs: {y: {int: [0, 9]}}\n"
    chart = parse_chart(text + "initial_values: {y: 2}\nstates: {a: [{when: x, do: {y: 5}}]}\n")
    first = [scenario.steps[0] for scenario in cover_chart(chart).scenarios]
    assert {"y": 2} in [(step.expect or step.throughout).values for step in first]


def test_a_guard_that_chooses_between_conditions_is_covered_as_far_as_it_can_be() -> None:
    text = "chart: c\nperiod_s: 0.1\ninputs: {a: bool, b: bool, c: bool}\noutputs: {x: bool}\n"
    ways = '[{when: "b if a else c", go: q}], q: [{when: "c if b else c", go: p}]'
    cover = cover_chart(parse_chart(text + f"initial: p\nstates: {{p: {ways}}}\n"))
    assert cover.coverage.missing == ()
    assert {goal.name for goal in cover.coverage.infeasible} == {"b decides in c if b else c"}


def test_no_scenario_asks_for_a_tick_that_fails() -> None:
    text = "chart: c\nperiod_s: 0.1\ninputs: {n: int8}\ninitial: a\noutputs: {x: bool}\n"
    cover = cover_chart(parse_chart(text + "states: {a: [{when: 8 % n == 2, go: b}], b: []}\n"))
    assert all(run_scenario(cover.chart, scenario).passed for scenario in cover.scenarios)
    assert cover.coverage.row(Measure.TRANSITIONS).covered == 1


def test_what_is_not_proved_to_be_impossible_is_not_called_so() -> None:
    chart = parse_chart("""\
chart: c
period_s: 0.1
inputs: {f: {float: [0, 9]}}
outputs: {x: bool}
locals: {kept: float}
initial: a
states:
  a: {during: {kept: f}, transitions: [{when: kept * kept * kept > 700 and kept < 8.8, go: b}]}
  b: []
""")
    cover = cover_chart(chart)
    assert not cover.complete
    assert cover.infeasible == {}
    assert cover.coverage.infeasible == {}


GUARDS = st.sampled_from(
    ["a", "b", "not a", "n > 3", "a and n == 5", "b or n < 2", "after(0.3 s) and a", "false"]
)
WAYS = st.lists(st.tuples(GUARDS, st.sampled_from("pqr"), st.integers(0, 3)), max_size=3)


def chart_of(ways: list[list[tuple[str, str, int]]]) -> Chart:
    lines = [
        "chart: c\nperiod_s: 0.1\npriority: ordered\ninputs: {a: bool, b: bool, n: {int: [0, 9]}}",
        "outputs: {x: {int: [0, 3]}}\ninitial: p\nstates:",
    ]
    for name, out in zip("pqr", ways, strict=True):
        there = ", ".join(f'{{when: "{guard}", go: {goal}, do: {{x: {x}}}}}' for guard, goal, x in out)
        lines.append(f"  {name}: [{there}]")
    return parse_chart("\n".join(lines) + "\n")


@given(ways=st.lists(WAYS, min_size=3, max_size=3))
@settings(max_examples=6, deadline=None)
def test_any_small_chart_is_covered_as_far_as_it_goes(ways: list[list[tuple[str, str, int]]]) -> None:
    cover = cover_chart(chart_of(ways))
    assert cover.complete
    assert cover.coverage.missing == ()
    assert all(run_scenario(cover.chart, scenario).passed for scenario in cover.scenarios)
    ways = cover.coverage.obligations.machine.transitions
    taken = {("transition", way.source, way.index) for way in ways if way not in cover.infeasible}
    assert taken == {fact for fact in cover.coverage.facts if fact[0] == "transition"}
