"""Every kind of input reads what it says, in the unit the chart counts in."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from posewright.bodies import BodyState, Reading
from posewright.controllers.behaviours import Behaviour, BehaviourRunner, read_behaviour
from posewright.errors import BodyError

RING = np.full(72, 2.0)


def state(time_s: float = 0.0, **sensors: Reading) -> BodyState:
    positions = np.arange(18.0) / 10.0
    loads = -np.arange(18.0)
    return BodyState(time_s, positions, loads, sensors={"ring": RING, "compass": 0.0, **sensors})


def read(behaviour: Behaviour, sensors: Mapping[str, Reading] | None = None) -> object:
    return BehaviourRunner(behaviour).step(state(**(sensors or {}))).inputs["x"]


@pytest.mark.parametrize(
    ("entry", "sensors", "value"),
    [
        ("{sensor: laser_left}", {"laser_left": 0.42}, 0.42),
        ("{sensor: laser_left, unit: cm}", {"laser_left": 0.42}, 42.0),
        ("{sensor: compass, unit: deg}", {"compass": math.radians(30.0)}, 30.0),
        ("{sensor: compass}", {"compass": 0.5}, 0.5),
        (
            "{sensor: compass, unit: deg, relative_to_deg: 180}",
            {"compass": math.radians(-170.0)},
            10.0,
        ),
        (
            "{sensor: imu.orientation.pitch, unit: deg}",
            {"imu.orientation": np.radians([1.0, 15.0, 3.0])},
            15.0,
        ),
        ("{sensor: imu.acceleration.z}", {"imu.acceleration": np.array([0.0, 0.0, 9.81])}, 9.81),
        (
            "{sensor: imu.angular_velocity.y, unit: deg_s}",
            {"imu.angular_velocity": np.radians([0.0, 90.0, 0.0])},
            90.0,
        ),
        ("{joint: right_shoulder_roll}", {}, 0.2),
        ("{joint: left_shoulder_pitch, unit: deg}", {}, round(math.degrees(0.1), 9)),
        ("{load: right_shoulder_roll}", {}, -2.0),
        ("{clock: since_start}", {}, 0.0),
        ("{sensor: ring, corridor: {width_m: 0.1}}", {}, pytest.approx(2.0)),
        ("{sensor: ring, corridor: {width_m: 0.1}, unit: cm}", {}, pytest.approx(200.0)),
        ("{sensor: ring, farthest_along: {towards_deg: 90, within_deg: 20}}", {}, pytest.approx(2.0)),
        ("{sensor: ring, free_course: {side: left, width_m: 0.4, length_m: 1}, unit: deg}", {}, 0.0),
        ("{sensor: ring, free_course: {side: left, width_m: 0.4, length_m: 4}, unit: deg}", {}, 999.0),
        (
            "{sensor: ring, free_course: {side: left, width_m: 0.4, length_m: 4}, unit: deg, none: -1}",
            {},
            -1.0,
        ),
    ],
)
def test_a_number_comes_in_the_unit_asked_for(desk, entry, sensors, value) -> None:
    assert read(desk.wired(entry), sensors) == value


@pytest.mark.parametrize(
    ("entry", "sensors", "value"),
    [
        ("{sensor: laser_left, below_cm: 50}", {"laser_left": 0.42}, True),
        ("{sensor: laser_left, above_m: 0.5}", {"laser_left": 0.42}, False),
        ("{sensor: right_foot_contact}", {"right_foot_contact": True}, True),
        ("{sensor: imu.orientation.roll, above_deg: 50}", {"imu.orientation": np.array([1.0, 0, 0])}, True),
        ("{sensor: imu, fallen: front}", {"imu.orientation": np.radians([170.0, 80.0, 0.0])}, True),
        ("{sensor: imu, fallen: front}", {"imu.orientation": np.radians([0.0, 59.0, 0.0])}, False),
        ("{sensor: imu, fallen: back}", {"imu.orientation": np.radians([0.0, -61.0, 0.0])}, True),
        ("{sensor: imu, fallen: back}", {"imu.orientation": np.radians([0.0, 61.0, 0.0])}, False),
        ("{sensor: imu, fallen: side}", {"imu.orientation": np.radians([-41.0, 0.0, 0.0])}, True),
        ("{sensor: imu, fallen: any}", {"imu.orientation": np.radians([39.0, 20.0, 0.0])}, False),
        ("{sensor: imu, fallen: any}", {"imu.orientation": np.radians([0.0, 180.0, 0.0])}, True),
        ("{load: right_shoulder_roll, below_nm: -1.5}", {}, True),
        ("{clock: since_start, above_s: 5}", {}, False),
        ("{sensor: ring, corridor: {width_m: 0.4}, below_m: 2.1}", {}, True),
        ("{sensor: ring, free_course: {side: right, width_m: 0.4, length_m: 4}, below_deg: 90}", {}, False),
        ("{standing: true}", {}, True),
        ("{playing: walk}", {}, False),
        ("{random: uniform, below: 1}", {}, True),
    ],
)
def test_a_flag_is_true_where_it_says(desk, entry, sensors, value) -> None:
    assert read(desk.wired(entry, "bool", "x"), sensors) is value


@pytest.mark.parametrize(
    ("acceleration", "side"),
    [
        ((-9.8, 0.5, -1.0), "front"),
        ((8.0, 5.0, 1.0), "back"),
        ((1.0, -9.0, 2.0), "side"),
        ((0, 0, 5.0), None),
    ],
)
def test_an_accelerometer_tells_on_which_side_the_robot_lies(desk, acceleration, side) -> None:
    for asked in ("front", "back", "side"):
        path = desk.write(INPUTS="{x: bool}", GUARD="x", INPUT=f"x: {{sensor: tilt, fallen: {asked}}}")
        tilt = "tilt: {kind: accelerometer, mount: imu, range_m_s2: 20}"
        text = path.read_text().replace("  compass: {", f"  {tilt},\n  compass: {{")
        path.write_text(text)
        assert read(read_behaviour(path), {"tilt": np.array(acceleration)}) is (asked == side)


def test_a_robot_whose_imu_fails_lies_or_stands_as_before(desk) -> None:
    runner = BehaviourRunner(desk.wired("{sensor: imu, fallen: any}", "bool", "x"))
    for roll_deg, lies in ((90.0, True), (math.nan, True), (0.0, False), (math.inf, False)):
        orientation = np.radians([roll_deg, 0.0, 0.0])
        assert runner.step(state(**{"imu.orientation": orientation})).inputs["x"] is lies


def test_a_whole_number_is_rounded_and_kept_in_its_range(desk) -> None:
    behaviour = desk.wired("{sensor: laser_left, unit: cm}", "{int: [0, 100]}")
    for reading, value in ((0.426, 43), (5.0, 100)):
        assert read(behaviour, {"laser_left": reading}) == value


def test_the_clock_counts_from_the_first_tick(desk) -> None:
    runner = BehaviourRunner(desk.wired("{clock: since_start, unit: ms}"))
    runner.step(state(100.0))
    assert runner.step(state(100.5)).inputs["x"] == 500.0


def test_playing_and_standing_tell_what_the_player_does(desk) -> None:
    playing = BehaviourRunner(desk.wired("{playing: walk}", "bool", "x"))
    standing = BehaviourRunner(desk.wired("{standing: true}", "bool", "x"))
    for name in ("walk", "walk#2", None):
        assert playing.step(state(), name).inputs["x"] is (name == "walk")
        assert standing.step(state(), name).inputs["x"] is (name is None)


def test_chance_is_drawn_from_the_seed(desk) -> None:
    behaviour = desk.wired("{random: uniform}")

    def draw(seed: int) -> list[object]:
        runner = BehaviourRunner(behaviour, seed)
        return [runner.step(state()).inputs["x"] for _ in range(5)]

    assert draw(7) == draw(7)
    assert draw(7) != draw(8)
    assert all(0.0 <= x < 1.0 for x in draw(7))


def test_a_laser_that_answers_nothing_has_met_nothing(desk) -> None:
    assert read(desk.wired("{sensor: laser_front}"), {"laser_front": math.nan}) == 5.0
    assert read(desk.read(), {"laser_front": math.inf}) is False


def test_another_sensor_that_answers_nothing_keeps_its_last_value(desk) -> None:
    runner = BehaviourRunner(desk.wired("{sensor: compass}"))
    assert runner.step(state(compass=0.5)).inputs["x"] == 0.5
    assert runner.step(state(compass=math.nan)).inputs["x"] == 0.5
    with pytest.raises(BodyError, match="has no first value"):
        read(desk.wired("{sensor: compass}"), {"compass": math.nan})


def test_a_direction_may_be_an_output_of_the_chart(desk) -> None:
    ranges = np.full(72, 3.0)
    ranges[0] = 1.5  # behind
    entry = "{sensor: ring, corridor: {towards_deg: goal_deg, width_m: 0.1}}"
    path = desk.write(INPUTS="{x: float}", GUARD="x > 2", INPUT=f"x: {entry}")
    chart = path.with_name("tiny.chart.yaml")
    chart.write_text(chart.read_text().replace("{go_on: 1}", "{go_on: 1, goal_deg: 180}"))
    runner = BehaviourRunner(read_behaviour(path))
    values = [runner.step(state(ring=ranges)).inputs["x"] for _ in range(2)]
    assert values == [pytest.approx(3.0), pytest.approx(1.5)]


def test_with_a_compass_a_direction_is_the_fields(desk) -> None:
    ranges = np.full(72, 3.0)
    ranges[36 + 6] = 1.0  # 30 degrees to the left
    for heading_deg, free in ((0.0, 3.0), (-30.0, 1.0)):
        behaviour = desk.wired("{sensor: ring, compass: compass, corridor: {towards_deg: 0, width_m: 0.1}}")
        sensors = {"ring": ranges, "compass": math.radians(heading_deg)}
        assert read(behaviour, sensors) == pytest.approx(free)


def test_a_body_without_the_sensor_is_told(desk) -> None:
    with pytest.raises(BodyError, match=r"no channel 'laser_front'.*it has compass, ring"):
        read(desk.read())


def test_a_body_whose_scanner_has_other_beams_is_told(desk) -> None:
    behaviour = desk.wired("{sensor: ring, corridor: {width_m: 0.4}}")
    with pytest.raises(BodyError, match="it has 72 beams"):
        read(behaviour, {"ring": np.ones(36)})
