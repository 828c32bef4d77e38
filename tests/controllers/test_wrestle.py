"""The wrestlers: what they do about what their sensors read, by their charts and wiring alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest

from posewright.bodies import BodyState, Decision, Reading
from posewright.charts import check_chart
from posewright.controllers.behaviours import BehaviourController, read_behaviour

FAR: dict[str, Reading] = {
    "sonar_ahead": 1.3,
    "sonar_left": 0.95,
    "sonar_right": 0.95,
    "floor_left": 0.48,
    "floor_right": 0.48,
}
LEVEL: dict[str, Reading] = {"imu.orientation": np.array((0.0, 0.2, 0.0)), "laser_front": 5.0}


def decisions(
    seconds: float, name: str = "wrestle", seed: int = 0, read: Mapping[str, Reading] = MappingProxyType({})
) -> list[Decision]:
    """Return what a wrestler decides tick by tick where its sensors read the same all the time."""
    behaviour = read_behaviour(name)
    controller = BehaviourController(behaviour, seed)
    all_decisions = []
    time_s = 0.0
    n = len(behaviour.robot.joint_names)
    while time_s < seconds:
        zeros = behaviour.start_pose * 0.0
        state = BodyState(time_s, behaviour.start_pose, zeros, sensors={**FAR, **LEVEL, **read})
        rows = controller.next(state, 64)
        assert rows.angles.shape[1] == n
        all_decisions += [rows.decision] if rows.decision is not None else []
        time_s += len(rows) * behaviour.robot.frame_period_s
    return all_decisions


def done(seconds: float, **read: Reading) -> set[str | None]:
    """Return what is asked for after the wait."""
    return {decision.playing for decision in decisions(seconds, read=read)[75:]}


@pytest.mark.parametrize("name", ["wrestle", "wrestle_passive", "wrestle_random"])
def test_the_charts_are_sound(name: str) -> None:
    assert not check_chart(read_behaviour(name).chart)


@pytest.mark.parametrize("name", ["wrestle", "wrestle_random"])
def test_nobody_moves_before_the_five_seconds_are_over(name: str) -> None:
    first_decisions = decisions(7.0, name, read={"sonar_ahead": 0.05})
    assert {decision.playing for decision in first_decisions[:50]} == {None}
    assert {decision.playing for decision in first_decisions} != {None}


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ({"sonar_ahead": 0.6}, {"walk_forward"}),
        ({"sonar_left": 0.4}, {"turn_left"}),
        ({"sonar_right": 0.4}, {"turn_right"}),
        ({"sonar_ahead": 0.5, "sonar_right": 0.4}, {"turn_right"}),
        ({}, {"turn_left"}),
        ({"sonar_ahead": 0.05}, {"push", None}),
    ],
)
def test_it_turns_to_who_is_nearest_walks_there_and_thrusts(
    read: dict[str, Reading], expected: set[str | None]
) -> None:
    assert done(11.0, **read) == expected


@pytest.mark.parametrize(("side", "expected"), [("floor_left", "turn_right"), ("floor_right", "turn_left")])
def test_before_the_edge_it_turns_away_but_not_from_who_is_close(side: str, expected: str) -> None:
    assert expected in done(11.0, sonar_ahead=0.8, **{side: 1.0})
    assert done(11.0, sonar_ahead=0.2, **{side: 1.0}) == {"walk_forward"}


def test_who_has_fallen_lies_still() -> None:
    assert done(11.0, sonar_ahead=0.5, **{"imu.orientation": np.array((0.0, 1.4, 0.0))}) == {None}


def test_two_of_a_kind_do_not_begin_in_step() -> None:
    began = {
        next(
            k
            for k, decision in enumerate(decisions(8.0, seed=s, read={"sonar_ahead": 0.6}))
            if decision.playing
        )
        for s in range(8)
    }
    assert len(began) > 2


def test_the_random_one_does_all_it_can_and_the_passive_one_nothing() -> None:
    motions = {decision.playing for decision in decisions(40.0, "wrestle_random")}
    assert motions == {None, "walk_forward", "turn_left", "turn_right"}
    assert {decision.playing for decision in decisions(10.0, "wrestle_passive")} == {None}
