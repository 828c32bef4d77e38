"""Counts become readings as the sensors' makers say, and what is only an estimate says so."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.buses.dynamixel.bus import Bus
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.device import FakeSensor
from posewright.buses.dynamixel.sensors import (
    AXS1_CHANNELS,
    DMS80,
    GS12_NEW,
    GS12_OLD,
    MAX_COUNTS,
    AxS1,
    BusSensors,
    ControllerSensor,
    GyroAxis,
    dms_distance,
)
from posewright.errors import BodyError, InputError, UnknownNameError

from .wired import WireUp

GYROS = pytest.mark.parametrize("gyro", [GS12_OLD, GS12_NEW], ids=["old", "new"])
counts = st.integers(0, MAX_COUNTS)


@pytest.mark.parametrize(
    ("gyro", "told", "deg_s"),
    [
        *((GS12_NEW, 100, -300), (GS12_NEW, 300, 0), (GS12_NEW, 510, 300)),
        *((GS12_OLD, 45, -300), (GS12_OLD, 250, 0), (GS12_OLD, 455, 300)),
    ],
)
def test_a_gyro_reads_what_the_manual_prints(gyro: GyroAxis, told: int, deg_s: float) -> None:
    assert math.degrees(gyro.rate(told)) == pytest.approx(deg_s)


@GYROS
@given(one=counts, other=counts)
def test_more_counts_are_more_to_the_left(gyro: GyroAxis, one: int, other: int) -> None:
    assert (gyro.rate(one) < gyro.rate(other)) is (one < other)


@GYROS
@given(shift=st.integers(-20, 20), turned=st.integers(-200, 200))
def test_a_zero_that_was_measured_shifts_all_readings(gyro: GyroAxis, shift: int, turned: int) -> None:
    zeroed = gyro.calibrated([gyro.zero + shift] * 10)
    assert zeroed.rate(gyro.zero + shift + turned) == pytest.approx(gyro.rate(gyro.zero + turned))


@GYROS
def test_a_zero_is_measured_at_rest_only(gyro: GyroAxis) -> None:
    low, high = gyro.range_at_rest
    for samples in ([], [gyro.zero] * 9 + [high + 1], [low - 1]):
        with pytest.raises(InputError, match="the gyro reads"):
            gyro.calibrated(samples)


def test_the_other_version_of_the_gyro_is_noticed() -> None:
    with pytest.raises(InputError, match=r"300\.\.300"):
        GS12_OLD.calibrated([GS12_NEW.zero] * 10)


@given(one=counts, other=counts)
def test_the_nearer_the_more_counts_within_the_range_of_a_dms(one: int, other: int) -> None:
    fewer, more = sorted((one, other))
    assert 0.06 <= dms_distance(more) <= dms_distance(fewer) <= 0.80


def test_a_dms_reads_the_ends_of_its_range_and_lies_near_the_usual_formula_between() -> None:
    assert dms_distance(82) == pytest.approx(0.80)
    assert dms_distance(500) == pytest.approx(0.10)
    assert dms_distance(0) == 0.80
    for told in (120, 200, 300, 400):  # 4800 / (counts - 20) cm is what many use for such a Sharp sensor
        assert dms_distance(told) == pytest.approx(48.0 / (told - 20), rel=0.03)
    assert DMS80.is_estimate
    assert "graph" in DMS80.source


# --- read by ports, and on the bus

GYRO_Y = ControllerSensor("gyro_y", "port4", GS12_OLD.conversion)
DISTANCE = ControllerSensor("distance", "port1", DMS80)


def test_ports_are_read_once_for_all_sensors() -> None:
    asked: list[int] = []

    def ports() -> dict[str, int]:
        asked.append(1)
        return {"port1": 500, "port4": 250}

    assert BusSensors(None, (GYRO_Y, DISTANCE), ports)() == pytest.approx({"gyro_y": 0.0, "distance": 0.1})
    assert asked == [1]


@pytest.mark.parametrize("told", [-1, MAX_COUNTS + 1])
def test_counts_that_no_port_gives_are_refused(told: int) -> None:
    with pytest.raises(BodyError, match="port1 of distance reads"):
        BusSensors(None, (DISTANCE,), lambda: {"port1": told})()


def test_a_port_that_nobody_reads_is_told() -> None:
    with pytest.raises(UnknownNameError, match="port1"):
        BusSensors(None, (DISTANCE,), lambda: {"port2": 1})()
    with pytest.raises(InputError, match="cannot be read"):
        BusSensors(None, (DISTANCE,))
    with pytest.raises(InputError, match="without a bus"):
        BusSensors(None, (AxS1(),))


SENSED = dict(zip(AXS1_CHANNELS, (10, 20, 30, 40, 50, 60, 70, 3), strict=True))


@pytest.fixture
def bus(wired: WireUp) -> Bus:
    return wired(FakeBus([FakeSensor(senses=lambda: SENSED)]))


def test_an_ax_s1_is_read_on_the_bus_beside_the_ports(bus: Bus) -> None:
    sensors = BusSensors(bus, (AxS1(name="head"), DISTANCE), lambda: {"port1": 500})
    read = sensors()
    assert {name: read[f"head.{name}"] for name in AXS1_CHANNELS} == SENSED
    assert read["distance"] == pytest.approx(0.1)
    assert bus.counts.answered == 1  # all eight with one request


def test_an_ax_s1_that_is_not_there_is_told(bus: Bus) -> None:
    with pytest.raises(BodyError, match="servo 101"):
        BusSensors(bus, (AxS1(id=101),))()
