"""Runs over time: equal neighbours taken together, every state and signal in its lane."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.charts.drawing.timeline import draw_timeline, envelope, state_levels, timeline_svg, value_runs
from posewright.charts.model import Chart, ChartKind, State, to
from posewright.charts.types import BoolType, EnumType, FloatType, Value
from posewright.errors import InputError

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Tick:
    active: tuple[str, ...]
    inputs: Mapping[str, Value] = field(default_factory=dict)
    outputs: Mapping[str, Value] = field(default_factory=dict)


def compound(name: str, *states: str) -> State:
    return State(name, states=tuple(map(State, states)), initial=to(states[0]))


CHART = Chart(
    "run",
    ChartKind.STATECHART,
    0.1,
    {"near": BoolType(), "wall": FloatType(0.0, 5.0)},
    {"gait": EnumType(("stand", "walk"))},
    to("idle"),
    (
        State("idle"),
        State(
            "moving",
            parallel=True,
            states=(compound("legs", "left", "right"), compound("head", "up", "down")),
        ),
    ),
    events=("start",),
)


def run(count: int) -> list[Tick]:
    ticks = []
    for i in range(count):
        inputs: dict[str, Value] = {"near": i % 4 == 0, "wall": i / 7, "start": i % 5 == 0}
        active = ("moving", "legs", "left" if i % 20 < 10 else "right", "head", "up")
        ticks.append(Tick(("idle",) if i < 5 else active, inputs, {"gait": "walk" if i >= 5 else "stand"}))
    return ticks


def texts(picture: str) -> list[str]:
    return [text.text or "" for text in ET.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 -- our own text


@pytest.mark.parametrize("count", [1, 10, 300, 5000])
def test_a_run_of_any_length_is_drawn_within_a_page(count: int) -> None:
    picture = timeline_svg(CHART, run(count))
    width = float(ET.fromstring(picture).get("width", "0"))  # noqa: S314 -- our own text
    assert width < 1300
    assert {"near", "wall", "start", "gait", "inputs", "outputs", "idle", "stand"} <= set(texts(picture))
    assert len(picture) < 300 * count + 20_000


def test_states_are_bars_by_level_and_region() -> None:
    found = texts(timeline_svg(CHART, run(40)))
    assert {"states", "states of legs", "states of head"} <= set(found)
    assert found.count("moving") == 1, "35 ticks in one bar"
    assert found.count("left") == 2
    levels = [(level.region, level.depth, level.states) for level in state_levels(CHART)]
    assert levels == [
        ("", 0, ("idle", "moving")),
        ("legs", 0, ("left", "right")),
        ("head", 0, ("up", "down")),
    ]


def test_what_is_too_narrow_for_its_name_is_explained() -> None:
    picture = timeline_svg(CHART, run(5000))
    assert texts(picture).count("left") == 1
    assert 'class="in-legend"' in picture


def test_time_is_in_seconds() -> None:
    found = texts(timeline_svg(CHART, run(100)))
    assert "run, 10 s" in found
    assert [text for text in found if re.fullmatch(r"\d+ s", text)] == [f"{s} s" for s in range(11)]


def test_an_input_that_a_tick_does_not_name_keeps_its_value() -> None:
    picture = timeline_svg(CHART, [Tick(("idle",), {"wall": 2.5}), Tick(("idle",))])
    assert "2.5" in texts(picture)


def test_a_run_without_ticks_and_a_file_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the run of run has no ticks"):
        timeline_svg(CHART, [])
    with pytest.raises(InputError, match="not the ending of a drawing"):
        draw_timeline(CHART, run(3), tmp_path / "x.png")
    draw_timeline(CHART, run(3), tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text().startswith("<svg")


@given(st.lists(st.sampled_from(["a", "b", None]), max_size=30))
def test_runs_are_the_values_again(values: list[str | None]) -> None:
    runs = value_runs(values)
    assert [run.value for run in runs for _ in range(run.start_tick, run.end_tick)] == values
    assert all(one.end_tick == other.start_tick and one.value != other.value for one, other in pairwise(runs))


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=60), st.integers(1, 20))
def test_an_envelope_holds_every_extreme(values: list[float], columns: int) -> None:
    parts = envelope(values, columns)
    assert min(low for _, low, _, _ in parts) == min(values)
    assert max(high for _, _, high, _ in parts) == max(values)
    assert (parts[0][0], parts[-1][3]) == (values[0], values[-1])
