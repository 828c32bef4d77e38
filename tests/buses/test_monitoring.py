"""What servos say of themselves is told in a robot's units, and marked where it is beyond their limits."""

from __future__ import annotations

import itertools
import json
import math
import struct
from typing import Any

import numpy as np
import pytest

from posewright.bodies import MockBody
from posewright.buses.dynamixel.bus import Bus, joints_of
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage, BusFault, ScheduledFault
from posewright.buses.dynamixel.monitoring import (
    MonitoringRound,
    ServoSample,
    read_limits,
    sample,
    sample_data,
    watch,
)
from posewright.robots import robot

from .wired import WireUp

BIOLOID = robot("robotis_bioloid")


@pytest.fixture
def fake() -> FakeBus:
    return FakeBus.of(BIOLOID, MockBody(BIOLOID, positions=BIOLOID.pose("stand")))


@pytest.fixture
def bus(fake: FakeBus, wired: WireUp) -> Bus:
    return wired(fake, joints=joints_of(BIOLOID))


def of(samples: MonitoringRound, joint: str) -> ServoSample:
    return next(one for one in samples if one.joint == joint)


@pytest.fixture
def one_round(bus: Bus) -> MonitoringRound:
    return sample(bus, BIOLOID, read_limits(bus, BIOLOID), 1.5)


def test_every_servo_is_told_with_its_joint_in_its_own_units(one_round: MonitoringRound) -> None:
    assert [one.joint for one in one_round] == list(BIOLOID.joint_names)
    knee = of(one_round, "right_knee")
    assert (knee.id, knee.time_s, knee.warnings) == (13, 1.5, ())
    assert knee.reading is not None
    stand = BIOLOID.pose("stand")[BIOLOID.index("right_knee")]
    assert knee.reading.position_rad == pytest.approx(stand, abs=BIOLOID.servo("right_knee").tick_rad)
    assert (knee.reading.speed_rad_s, knee.reading.load, knee.reading.errors) == (0.0, 0.0, "")
    assert 9.0 <= knee.reading.voltage_v <= 12.6
    assert 10 <= knee.reading.temperature_c <= 50


def test_a_silent_servo_is_told_and_the_others_are_read_all_the_same(wired: WireUp) -> None:
    silence = BusDamage(events=(ScheduledFault(BusFault.SILENT, 0.0, math.inf, 9),))
    bus = wired(FakeBus.of(BIOLOID, damage=silence))
    samples = sample(bus, BIOLOID, read_limits(bus, BIOLOID), 0.0)
    silent = of(samples, "right_hip_roll")
    assert silent.reading is None
    assert silent.warnings == ("no answer",)
    assert sum(one.reading is not None for one in samples) == 17
    assert sample_data(silent)["reading"] is None


@pytest.mark.parametrize(
    ("temperature_c", "told"),
    [(59, ()), (60, ("hot: its limit is 70 C",)), (70, ("too hot: its limit is 70 C",))],
)
def test_a_hot_servo_is_marked_by_its_own_limit(
    fake: FakeBus, bus: Bus, temperature_c: int, told: tuple[str, ...]
) -> None:
    servo = fake.joint("left_knee")
    servo.temperature_c = temperature_c
    assert of(sample(bus, BIOLOID, read_limits(bus, BIOLOID), 0.0), "left_knee").warnings == told


def test_a_weak_supply_is_marked_and_so_is_what_the_servo_says_itself(fake: FakeBus, bus: Bus) -> None:
    servo = fake.joint("left_elbow")
    servo.voltage_v = 5.5
    told = of(sample(bus, BIOLOID, read_limits(bus, BIOLOID), 0.0), "left_elbow")
    assert told.reading is not None
    assert told.reading.errors == "input voltage"
    assert told.warnings == ("input voltage", "voltage: its limits are 6..14 V")


@pytest.mark.parametrize(("joint", "sign"), [("right_elbow", -1), ("left_shoulder_pitch", 1)])
def test_speed_and_load_have_the_sign_of_the_joint(
    bus: Bus, monkeypatch: pytest.MonkeyPatch, joint: str, sign: int
) -> None:
    assert BIOLOID.servo(joint).direction == sign
    clockwise = 1 << 10
    present = struct.pack("<HHHBB", 512, clockwise | 90, clockwise | 1000, 111, 30)
    limits = read_limits(bus, BIOLOID)
    monkeypatch.setattr(bus, "read_block", lambda *_: present)
    told = of(sample(bus, BIOLOID, limits, 0.0), joint)
    assert told.reading is not None
    assert told.reading.speed_rad_s == pytest.approx(-sign * 90 * 0.111 * 2.0 * np.pi / 60.0)
    assert told.reading.load == pytest.approx(-sign * 1000 / 1023)
    assert told.warnings == ("load: 98% of its torque limit",)


def test_rounds_come_at_their_period_and_moves_nothing(fake: FakeBus, bus: Bus) -> None:
    now_s, slept = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now_s[0] += seconds

    seen: list[MonitoringRound] = []
    how: dict[str, Any] = {"now": lambda: now_s[0], "sleep": sleep, "period_s": 0.5, "on_round": seen.append}
    written = [servo.peek("goal_position") for servo in fake.joints.values()]
    rounds = watch(bus, BIOLOID, 1.0, **how)
    assert rounds == seen
    assert [samples[0].time_s for samples in rounds] == [0.0, 0.5, 1.0]
    assert slept == [0.5, 0.5]
    assert [servo.peek("goal_position") for servo in fake.joints.values()] == written
    assert len(watch(bus, BIOLOID, 0.0, **how)) == 1


def test_samples_are_json(one_round: MonitoringRound) -> None:
    told = json.loads(json.dumps([sample_data(one) for one in one_round], allow_nan=False))
    assert told[12]["joint"] == "right_knee"
    assert set(told[12]["reading"]) == {
        "position_deg", "speed_deg_s", "load", "voltage_v", "temperature_c", "errors"
    }  # fmt: skip


def test_a_round_that_takes_longer_than_the_period_is_followed_at_once(bus: Bus) -> None:
    ticking, slept = itertools.count(0.0, 0.1), list[float]()
    watch(bus, BIOLOID, 1.0, now=lambda: next(ticking), sleep=slept.append, period_s=0.0)
    assert slept
    assert set(slept) == {0.0}
