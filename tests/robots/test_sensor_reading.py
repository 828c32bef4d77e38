"""Sensors as cards and behaviours describe them."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.documents import parse_document
from posewright.errors import DocumentError, UnknownNameError
from posewright.robots import (
    Accelerometer,
    AnalogTouch,
    Camera,
    Compass,
    FootContact,
    Imu,
    RangeScan,
    RangeSensor,
    SensorSpec,
    TouchSwitch,
    VibrationSensor,
    parse_sensor,
)


def parsed(text: str) -> SensorSpec:
    return parse_sensor("it", parse_document(f"it: {text}").fields()["it"])


@pytest.mark.parametrize(
    ("text", "sensor"),
    [
        (
            "{kind: range, mount: head, yaw_deg: 90, fan_deg: 1, beams: 21, max_range_m: 5, source: us}",
            RangeSensor("it", "head", 5.0, yaw_deg=90.0, fan_deg=1.0, beams=21),
        ),
        (
            "{kind: range, mount: head, max_range_m: 0.8, position_m: [0.1, 0, -0.02], pitch_deg: 30}",
            RangeSensor("it", "head", 0.8, position_m=(0.1, 0.0, -0.02), pitch_deg=30.0),
        ),
        (
            "{kind: range_scan, mount: head, start_deg: -90, step_deg: 5, beams: 37, max_range_m: 4}",
            RangeScan("it", "head", 4.0, start_deg=-90.0, step_deg=5.0, beams=37),
        ),
        ("{kind: imu, mount: imu}", Imu("it", "imu")),
        (
            "{kind: range, mount: head, max_range_m: 0.9, min_range_m: 0.1}",
            RangeSensor("it", "head", 0.9, min_range_m=0.1),
        ),
        ("{kind: compass, mount: imu}", Compass("it", "imu")),
        ("{kind: accelerometer, mount: imu, range_m_s2: 19.6}", Accelerometer("it", "imu", 19.6)),
        ("{kind: touch_switch, place: chin}", TouchSwitch("it", "chin")),
        ("{kind: vibration, place: trunk}", VibrationSensor("it", "trunk")),
        (
            "{kind: analog_touch, place: back, on_above: 14, off_below: 10}",
            AnalogTouch("it", "back", 14.0, 10.0),
        ),
        (
            "{kind: camera, mount: head, width: 64, height: 48, frame_rate_hz: 30}",
            Camera("it", "head", 64, 48, frame_rate_hz=30.0),
        ),
        ("{kind: foot_contact, foot: left_foot}", FootContact("it", "left_foot")),
        ("{kind: camera, mount: head, width: 64, height: 48}", Camera("it", "head", 64, 48)),
    ],
)
def test_every_kind_of_sensor_can_be_described(text: str, sensor: SensorSpec) -> None:
    assert parsed(text) == sensor


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{mount: head}", "'kind' is missing"),
        ("{kind: rnge, mount: head}", "did you mean range"),
        ("{kind: range, mount: head}", "'max_range_m' is missing"),
        ("{kind: range, mount: head, max_range_m: -1}", "out of range"),
        ("{kind: range, mount: head, max_range_m: 5, beams: 0}", "out of range"),
        ("{kind: range, mount: head, max_range_m: 5, position_m: [0, 0]}", "expected three numbers"),
        ("{kind: range, mount: head, max_range_m: 5, min_range_m: 6}", "out of range"),
        ("{kind: accelerometer, mount: imu}", "'range_m_s2' is missing"),
        ("{kind: analog_touch, place: back, on_above: 10, off_below: 14}", "out of range"),
        ("{kind: touch_switch, mount: chin}", "'place' is missing"),
        ("{kind: compass, mount: imu, yaw_deg: 3}", "unknown key 'yaw_deg'"),
        ("{kind: camera, mount: head, width: 6.4, height: 48}", "expected a whole number"),
    ],
)
def test_what_is_wrong_with_a_sensor_is_said_with_its_line(text: str, says: str) -> None:
    with pytest.raises((DocumentError, UnknownNameError), match=says) as caught:
        parsed(text)
    assert caught.value.where is not None
    assert caught.value.where.line == 1


def test_a_fan_is_spread_evenly_about_its_middle() -> None:
    laser = RangeSensor("laser", "head", 5.0, yaw_deg=90.0, fan_deg=1.0, beams=21)
    bearings = np.degrees(laser.bearings_rad)
    np.testing.assert_allclose(np.diff(bearings), 0.05)
    assert bearings.mean() == pytest.approx(90.0)


def test_a_single_beam_looks_at_the_middle_whatever_the_fan() -> None:
    laser = RangeSensor("laser", "head", 5.0, yaw_deg=-30.0, fan_deg=10.0, beams=1)
    assert np.degrees(laser.bearings_rad).tolist() == pytest.approx([-30.0])


def test_a_scan_starts_at_its_first_beam_and_goes_left() -> None:
    scan = RangeScan("ring", "head", 5.0, start_deg=-90.0, step_deg=45.0, beams=5)
    assert np.degrees(scan.bearings_rad).tolist() == pytest.approx([-90.0, -45.0, 0.0, 45.0, 90.0])


def test_channels_name_the_readings_a_body_gives() -> None:
    assert [channel.name for channel in Imu("imu", "chest").channels] == [
        "imu.orientation",
        "imu.angular_velocity",
        "imu.acceleration",
    ]
    assert RangeScan("ring", "head", 5.0, 0.0, 1.0, 360).channels[0].shape == (360,)
    assert Compass("compass", "imu").channels[0].unit == "rad"
    acceleration = Accelerometer("accelerometer", "imu", 19.6).channels[0]
    assert (acceleration.name, acceleration.unit, acceleration.shape) == ("accelerometer", "m/s^2", (3,))


def test_what_a_simulated_body_cannot_sense_has_no_channels() -> None:
    silent = (
        Camera("eye", "head", 64, 48),
        TouchSwitch("chin", "chin"),
        AnalogTouch("back", "back", 14.0, 10.0),
        VibrationSensor("knock", "trunk"),
    )
    assert all(sensor.channels == () for sensor in silent)
