"""The dog that crosses the field of boxes by its own infrared, and comes back."""

from __future__ import annotations

import pytest

import posewright as pw
from posewright.controllers.behaviours import Behaviour, read_behaviour


@pytest.fixture(scope="module")
def behaviour() -> Behaviour:
    return read_behaviour("cross_field")


def test_it_has_no_sensors_but_those_of_its_card_and_an_imu(behaviour: Behaviour) -> None:
    own = {sensor.name for sensor in behaviour.robot.sensors}
    assert [sensor.kind for sensor in behaviour.sensors if sensor.name not in own] == ["imu"]


@pytest.mark.parametrize("seed", [3, 2026])
def test_the_dog_crosses_there_and_back_without_touching_a_box(seed: int) -> None:
    outcome = pw.run_trial("dog-crossing", layout="random", seed=seed)
    assert [leg.finished for leg in outcome.score.legs] == [True, True]
    assert not outcome.recording.robot().box_contacts.any()
    assert (outcome.score.penalties, outcome.score.warnings) == ((), ())
