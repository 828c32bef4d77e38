"""Same trial, same digest; the least difference in what happened, another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.recordings import Event, Recording
from posewright.recordings.digest import ROW_ARRAYS

MakeTrace = Callable[..., Recording]


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from([*ROW_ARRAYS, "tick_times"]), place=st.integers(0, 10_000))
def test_the_last_bit_of_any_number_counts(
    make_trace: MakeTrace, altered: Callable[..., Recording], name: str, place: int
) -> None:
    trace = make_trace()
    assert altered(trace, name, place).digest() != trace.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"chart_states": ("other", "state_1", "state_2", "state_0")},
        {"playing": (None, None, None, None)},
        {"chart_inputs": ({"front": 1},) * 4},
        {"chart_outputs": ({},) * 4},
        {"sensors": {}},
        {"events": ()},
        {
            "events": (
                Event(0.0, "start"),
                Event(0.2, "touch", {"reason": "jam", "x_m": 1.25, "yaw_deg": -3.0}),
            )
        },
    ],
)
def test_ticks_sensors_and_events_count(make_trace: MakeTrace, change: dict[str, Any]) -> None:
    trace = make_trace()
    assert replace(trace, **change).digest() != trace.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"robot": "other"},
        {"behaviour": "other"},
        {"contest": "other"},
        {"boxes": ((0.0, 0.0, 0.0),) * 6},
        {"seed": 8},
        {"joints": tuple(f"knee_{i}" for i in range(18))},
        {"feet": ("left", "right")},
    ],
)
def test_what_makes_the_trial_counts(make_trace: MakeTrace, change: dict[str, Any]) -> None:
    trace = make_trace()
    assert replace(trace, header=replace(trace.header, **change)).digest() != trace.digest()


@pytest.mark.parametrize(
    "change",
    [{"version": "9.9"}, {"documents": {}}, {"extras": {"wall_s": 3.2}}, {"layout": "a/path.yaml"}],
)
def test_versions_paths_texts_and_wall_time_do_not_count(
    make_trace: MakeTrace, change: dict[str, Any]
) -> None:
    trace = make_trace()
    assert replace(trace, header=replace(trace.header, **change)).digest() == trace.digest()


def test_true_is_not_one_and_one_is_not_one_point_zero(make_trace: MakeTrace) -> None:
    trace = make_trace(ticks=1)
    digests = {replace(trace, chart_inputs=({"front": value},)).digest() for value in (True, 1, 1.0, "1")}
    assert len(digests) == 4


def test_the_order_in_which_inputs_are_named_does_not_count(make_trace: MakeTrace) -> None:
    trace = make_trace(ticks=1)
    one = replace(trace, chart_inputs=({"a": 1, "b": 2},))
    assert replace(trace, chart_inputs=({"b": 2, "a": 1},)).digest() == one.digest()
