"""The race with its chart on the emulated UNO: as in process on a sound line, on its feet on a bad one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import posewright as pw
from posewright.arrays import Floats
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.hil.boards import Board, chart_controller, emulate_board
from posewright.codegen.hil.controllers import BoardController
from posewright.codegen.hil.damage import DamagedLine, LineDamage
from posewright.codegen.targets.arduino_uno import EmulatedUno
from posewright.control import Block, Seed
from posewright.controllers.behaviours import Behaviour
from posewright.recordings.falls import tilt
from posewright.runs import Outcome

from .conftest import need_tool

UPRIGHT_RAD = 0.5
"""A walking Bioloid leans up to 0.42 rad on a sound line, one that has fallen 1.2 rad and more."""


@pytest.fixture(autouse=True)
def _tools() -> None:
    need_tool("avr-gcc")
    need_tool("simavr")


def until(time_s: float) -> Callable[[Any], Any]:
    """Make what ends a trial at a time."""

    class Limit:
        def __init__(self, plant: Any) -> None:
            pass

        def watch(self, block: Block) -> bool:
            return bool(block.states.times[-1] >= time_s)

    return Limit


def on_uno(damage: LineDamage) -> Board:
    """Return an emulated UNO with a behaviour's chart on it, at the end of a bad line."""

    def switch_on(behaviour: Behaviour, seed: Seed) -> BoardController:
        uno = emulate_board(EmulatedUno, "arduino-uno", ChartUnitSpec(behaviour.chart))
        return chart_controller(DamagedLine(uno, damage), behaviour, seed)

    return Board("arduino-uno", switch_on)


def raced(until_s: float, **how: Any) -> Outcome:
    race = {"behaviour": "document_mealy", "layout": "example_1", "make_watcher": until(until_s)}
    return pw.run_trial("obstacle-race", **race, **how)


def told(outcome: Outcome) -> list[str]:
    return [str(event.data["what"]) for event in outcome.recording.events_of("board")]


def base_from(outcome: Outcome, time_s: float) -> Floats:
    """Return where the robot's base was from a time on: x y z qw qx qy qz."""
    base: Floats = outcome.recording.robot().base[outcome.recording.times >= time_s]
    return base


def assert_on_its_feet(outcome: Outcome) -> None:
    """The body never leans as one that falls does, and never sinks."""
    base = outcome.recording.robot().base
    assert tilt(base).max() < UPRIGHT_RAD
    assert base[:, 2].min() > 0.9 * base[0, 2]
    assert not outcome.recording.events_of("fall")


def test_a_leg_of_the_race_is_finished_by_the_chart_on_the_uno_as_in_process() -> None:
    here, there = raced(31.5), raced(31.5, controller="arduino-uno")
    leg = there.score.legs[0]
    assert (leg.finished, leg.distance_cm) == (True, 150.0)
    assert leg == here.score.legs[0]
    assert there.recording.digest() == here.recording.digest()
    assert there.to_dict()["parity"] == {
        "ticks": 264,
        "mismatches": 0,
        "missed": 0,
        "late": 0,
        "pace": 1.0,
    }
    assert there.all_remarks == ()


def test_a_bad_line_and_a_reset_in_mid_walk_leave_the_robot_on_its_feet_and_it_walks_on() -> None:
    damage = LineDamage(0.02, 0.02, 0.02, resets=(7.2,), seed=3)
    outcome = raced(10.0, controller=on_uno(damage))
    assert_on_its_feet(outcome)
    assert "was reset and begins anew" in told(outcome)
    counts = outcome.to_dict()
    assert counts["parity"]["mismatches"] == 0
    assert counts["link"]["resets"] == 1
    assert counts["link"]["damaged"] > 0
    assert counts["link"]["retries"] > 0
    assert any("the line to the board has faults" in remark for remark in outcome.all_remarks)
    after = base_from(outcome, 8.0)
    assert np.linalg.norm(after[-1, :2] - after[0, :2]) > 0.05
    assert outcome.recording.robot().decisions.states[-1] != "stopped"


def test_a_line_that_is_dead_for_three_seconds_lets_the_robot_stand_and_then_walk_on() -> None:
    outcome = raced(12.5, controller=on_uno(LineDamage(silent=((7.0, 10.0),))))
    assert_on_its_feet(outcome)
    times, base = outcome.recording.times, outcome.recording.robot().base
    still = base[(times > 9.0) & (times < 10.0)]
    assert np.ptp(still[:, :3], axis=0).max() < 0.002
    assert told(outcome)[0] == "no answer in time"
    assert told(outcome)[-1] == "answers again"
    assert (
        outcome.to_dict()["link"]["resets"] == 1
    )  # the board has begun anew: nobody spoke to it for two seconds
    assert outcome.to_dict()["parity"]["mismatches"] == 0
    after = base_from(outcome, 10.5)
    assert np.linalg.norm(after[-1, :2] - after[0, :2]) > 0.05
