"""A diagnosis says what is wrong with a bus and its servos, and what to do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from itertools import count

import pytest

from posewright.buses.dynamixel import diagnosis
from posewright.buses.dynamixel.answers import PortGoneError
from posewright.buses.dynamixel.diagnosis import Diagnosis, diagnose
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage
from posewright.buses.dynamixel.fake.device import FakeDevice, FakeSensor
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.robots import robot

from .wired import WireUp

BIOLOID = robot("robotis_bioloid")


def quick(servo: int) -> FakeServo:
    one = FakeServo(servo)
    one.poke("return_delay_time", 0)
    return one


Diagnosed = Callable[..., Diagnosis]


@pytest.fixture
def diagnosed(wired: WireUp) -> Diagnosed:
    """Give a function that diagnoses a bus of some devices."""

    def start(*devices: FakeDevice, ids: tuple[int, ...] | None = None) -> Diagnosis:
        bus = wired(FakeBus(devices), retries=4)
        asked = tuple(one.id for one in devices) if ids is None else ids
        return diagnose(bus, BIOLOID, now=bus.port.now, ids=asked, n=20)

    return start


def test_a_bus_that_is_well_needs_no_advice(diagnosed: Diagnosed) -> None:
    found = diagnosed(quick(5), quick(6))
    assert found.advice == ()
    assert [(one.joint, one.differs, one.voltage_v) for one in found.servos] == [
        ("right_elbow", (), 11.1),
        ("left_elbow", (), 11.1),
    ]
    assert found.latency is not None
    assert (found.latency.n, found.latency.byte_s) == (20, pytest.approx(160e-6))  # 8 bytes there, 8 back
    assert found.latency.byte_s < found.latency.p50_s <= found.latency.p99_s <= found.latency.worst_s
    assert json.loads(json.dumps(found.to_dict()))["servos"][0]["device"] == "AX-12A"


def test_what_differs_from_the_card_and_the_manual_is_told(diagnosed: Diagnosed) -> None:
    knee, elbow, hip = quick(13), quick(5), quick(7)
    knee.poke("cw_angle_limit", 400)
    knee.poke("ccw_angle_limit", 600)
    knee.poke("cw_compliance_slope", 40)  # the same step as 32
    elbow.poke("cw_compliance_slope", 128)
    elbow.poke("max_torque", 500)
    hip.poke("ccw_angle_limit", 0)
    told = {one.joint: one.differs for one in diagnosed(knee, elbow, hip).servos}
    assert told["right_knee"] == ("its angle limits are 400..600, but right_knee needs 0..529 by the card",)
    assert told["right_elbow"] == (
        "max_torque is 500, by default 1023",
        "cw_compliance_slope is 128, by the card 32",
    )
    assert told["right_hip_yaw"] == ("it is in wheel mode: both its angle limits are 0",)
    (sensor,) = diagnosed(FakeSensor(5)).servos
    assert sensor.differs == ("its model is AX-S1, by the card AX-12A",)


def test_what_slows_a_bus_and_what_ails_servos_is_advised(
    monkeypatch: pytest.MonkeyPatch, diagnosed: Diagnosed
) -> None:
    hot, quiet, slow = quick(1), quick(2), FakeServo(3)
    hot.temperature_c = 80.0
    quiet.poke("status_return_level", 1)
    monkeypatch.setattr(diagnosis, "latency_timer_ms", lambda _path: 16.0)
    advice = "\n".join(diagnosed(hot, quiet, slow, ids=(1, 2, 3, 4)).advice)
    assert "no answer from ID 4" in advice
    assert "servo 1 reports overheating" in advice
    assert "buffers every answer for 16 ms: echo 1 | sudo tee /sys/bus/usb-serial/devices/" in advice
    assert "0.5 ms for all: `posewright bus write 3 return_delay_time 0`" in advice
    assert "servos 2 do not answer writes" in advice


def test_an_adapter_is_asked_to_hand_bytes_over_at_once(wired: WireUp) -> None:
    assert wired(FakeBus([quick(1)])).port.is_quick


def test_answers_that_are_lost_or_late_are_advised_on(wired: WireUp) -> None:
    bus = wired(FakeBus([quick(1)], damage=BusDamage(dropped=0.01, seed=1)), retries=4)
    advice = "\n".join(diagnose(bus, now=bus.port.now, ids=(1,), n=100).advice)
    assert re.search(r"\d+ of 100 positions were lost: check cable, plugs and supply", advice)
    assert "median" not in advice
    bus = wired(FakeBus([quick(1)]))
    slow = count(step=0.002)
    (told,) = diagnose(bus, now=lambda: next(slow), ids=(1,), n=10).advice
    assert told.startswith(
        "the median answer takes 2.0 ms, of which bytes and the servos' delays take 0.2 ms: close"
    )


def test_where_nobody_answers_that_is_all_there_is_to_say(diagnosed: Diagnosed) -> None:
    found = diagnosed(quick(1), ids=(2, 3))
    assert found.latency is None
    assert found.advice == (
        "no servo answers: check power and baud rate; `posewright bus scan` tries all rates",
    )


def test_answers_that_do_not_come_are_lost_and_not_timed(wired: WireUp) -> None:
    clock = iter(range(100))
    bus = wired(FakeBus([quick(1)]), retries=4)
    asked = diagnosis._measure_latency(bus, [9], 3, lambda: float(next(clock)))
    assert (asked.n, asked.lost) == (3, 3)
    assert math.isnan(asked.p50_s)
    assert bus.retries == 4
    bus.port.plug(False)
    with pytest.raises(PortGoneError):
        diagnose(bus, BIOLOID, now=bus.port.now, ids=(1,))


def test_the_cure_of_a_servo_that_shut_itself_down_is_told(diagnosed: Diagnosed) -> None:
    servo = quick(7)
    servo.poke("torque_limit", 0)
    found = diagnosed(servo)
    assert found.servos[0].differs == ("torque_limit is 0, max_torque 1023",)
    advice = "\n".join(found.advice)
    assert "servo 7 has shut itself down (torque_limit 0)" in advice
    assert "`posewright bus write 7 torque_limit 1023`" in advice


def test_an_ax_18a_is_known_and_differs_from_the_card_in_its_model_only(diagnosed: Diagnosed) -> None:
    servo = quick(7)
    servo.poke("model_number", 18)
    (report,) = diagnosed(servo).servos
    assert (report.device, report.differs) == ("AX-18A", ("its model is AX-18A, by the card AX-12A",))
