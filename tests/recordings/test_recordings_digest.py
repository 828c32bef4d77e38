"""Same run, same digest; the least difference in what happened, another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.recordings import Decisions, Event, Recording
from posewright.recordings.recording import ROBOT_ARRAY_NAMES

Make = Callable[..., Recording]


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from([*ROBOT_ARRAY_NAMES, "times", "boxes"]), place=st.integers(0, 10_000))
def test_the_last_bit_of_any_number_counts(
    make_recording: Make, altered: Callable[..., Recording], name: str, place: int
) -> None:
    recording = make_recording()
    assert altered(recording, name, place).digest() != recording.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"times": np.arange(4.0)},
        {"states": ("other", "state_1", "state_2", "state_0")},
        {"playing": (None, None, None, None)},
        {"inputs": ({"front": 1},) * 4},
        {"outputs": ({},) * 4},
        {"sensors": {}},
    ],
)
def test_decisions_and_sensors_count(make_recording: Make, changed: Make, change: dict[str, Any]) -> None:
    recording = make_recording()
    decisions = replace(recording.robot().decisions, **change)
    assert changed(recording, decisions=decisions).digest() != recording.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"decisions": Decisions()},
        {"contacts": None},
        {"requests": None},
        {"free": None},
        {"slips": None},
        {"events": ()},
        {
            "events": (
                Event(0.0, "start"),
                Event(0.2, "touch", {"reason": "jam", "x_m": 1.25, "yaw_deg": -3.0}),
            )
        },
    ],
)
def test_contacts_requests_and_events_count(
    make_recording: Make, changed: Make, change: dict[str, Any]
) -> None:
    recording = make_recording()
    assert changed(recording, **change).digest() != recording.digest()


def headed(recording: Recording, **change: Any) -> str:
    return replace(recording, header=replace(recording.header, **change)).digest()


@pytest.mark.parametrize(
    "change",
    [
        {"contest": "other"},
        {"boxes": ((0.0, 0.0, 0.0),) * 6},
        {"seed": 8},
        {"arena": {"size_m": [2.5, 2.1]}},
        {"documents": {"race.rules.yaml": "rules: kinder\n"}},
        {"documents": {}},
    ],
)
def test_what_makes_the_run_counts(make_recording: Make, change: dict[str, Any]) -> None:
    recording = make_recording()
    assert headed(recording, **change) != recording.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"robot": "other"},
        {"controller": "other"},
        {"joints": tuple(f"knee_{i}" for i in range(18))},
        {"feet": ("left", "right")},
        {"facts": {"mass_kg": 2.0}},
    ],
)
def test_what_a_robot_is_counts(make_recording: Make, change: dict[str, Any]) -> None:
    recording = make_recording()
    robots = {name: replace(robot, **change) for name, robot in recording.header.robots.items()}
    assert headed(recording, robots=robots) != recording.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"version": "9.9"},
        {"documents": {"race.rules.yaml": "rules: race\n", "race.behaviour.yaml": "behaviour: other\n"}},
        {"extras": {"wall_s": 3.2}},
        {"layout": "a/path.yaml"},
    ],
)
def test_versions_paths_texts_and_wall_time_do_not_count(
    make_recording: Make, change: dict[str, Any]
) -> None:
    recording = make_recording()
    assert headed(recording, **change) == recording.digest()


def test_true_is_not_one_and_one_is_not_one_point_zero(make_recording: Make, changed: Make) -> None:
    recording = make_recording(decisions=1)
    decisions = recording.robot().decisions
    digests = {
        changed(recording, decisions=replace(decisions, inputs=({"front": value},))).digest()
        for value in (True, 1, 1.0, "1")
    }
    assert len(digests) == 4


def test_the_order_in_which_inputs_are_named_does_not_count(make_recording: Make, changed: Make) -> None:
    recording = make_recording(decisions=1)
    decisions = recording.robot().decisions
    first, second = (
        changed(recording, decisions=replace(decisions, inputs=(inputs,)))
        for inputs in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert first.digest() == second.digest()
