"""A scan finds who is on a bus and what is wrong with it; a servo that gets another ID or rate has it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from posewright.buses.dynamixel.bus import Bus
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage, BusFault, ScheduledFault
from posewright.buses.dynamixel.fake.device import FakeSensor
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.scanning import scan, set_id, set_rate
from posewright.buses.serial_port import SerialPort
from posewright.errors import BodyError, InputError
from posewright.robots import robot

from .wired import WireUp, plug_in

BIOLOID = robot("robotis_bioloid")
Plug = Callable[..., Bus]


@pytest.fixture
def plug(wired: WireUp) -> Plug:
    """Give a function that puts devices on a fake bus and returns a bus to it."""
    return lambda *devices, damage=None: wired(FakeBus(devices, damage=damage))


def test_every_servo_is_found_at_its_rate_and_with_its_joint(plug: Plug) -> None:
    bus = plug(FakeServo(3), FakeServo(5, baud=57600), FakeSensor(100), FakeServo(4, baud=9600))
    told: list[tuple[int, int]] = []
    ids, rates = (3, 4, 5, 6, 100), (1_000_000, 57600, 9600)
    found = scan(
        bus, BIOLOID, ids=ids, rates=rates, on_progress=lambda done, total, _: told.append((done, total))
    )
    assert [(one.id, one.baud, one.device) for one in found.servos] == [
        (3, 1_000_000, "AX-12A"),
        (100, 1_000_000, "AX-S1"),
        (5, 57600, "AX-12A"),
        (4, 9600, "AX-12A"),
    ]
    right, sensor, slow, _ = found.servos
    assert (right.joint, right.remark) == ("right_shoulder_roll", "")
    assert sensor.remark == "no joint of the robot has this ID"
    assert slow.remark == "its rate is 57600, not 1000000: `posewright bus set-baud 5 1000000 --baud 57600`"
    assert found.missing == {6: "left_elbow"}
    assert told == [(n, 15) for n in range(15)]
    assert bus.baud == 1_000_000


def test_one_stranger_and_one_missing_servo_are_brought_together(plug: Plug) -> None:
    ids, cure = (
        (5, 6, 30, 31),
        "no joint of the robot has this ID; if it is that of left_elbow: `posewright bus set-id 30 6",
    )
    for rate, ending in ((1_000_000, "`"), (57600, " --baud 57600`")):
        bus = plug(FakeServo(5), FakeServo(30, baud=rate))
        found = scan(bus, BIOLOID, ids=ids, rates=(1_000_000, 57600)).servos
        assert found[1].remark.endswith(cure + ending)
    for others in ((FakeServo(30), FakeServo(31)), (FakeSensor(30),)):  # which one, nobody knows
        found = scan(plug(FakeServo(5), *others), BIOLOID, ids=ids, rates=(1_000_000,)).servos
        assert not any("set-id" in one.remark for one in found)


def test_two_servos_with_one_id_garble_only_each_other(plug: Plug) -> None:
    twins = FakeServo(5, position_ticks=100.0), FakeServo(5, position_ticks=900.0)
    found = scan(plug(*twins, FakeServo(6)), ids=(5, 6), rates=(1_000_000,))
    assert [one.id for one in found.servos] == [5, 6]
    assert found.servos[0].remark.startswith("two servos may have the ID 5")
    assert found.servos[1].remark == "no joint of the robot has this ID"


@pytest.mark.parametrize("seed", range(5))
def test_a_bad_cable_garbles_every_servo_and_none_is_called_two(plug: Plug, seed: int) -> None:
    bus = plug(*map(FakeServo, (1, 2, 3, 4)), damage=BusDamage(flipped=0.1, seed=seed))
    found = scan(bus, BIOLOID, ids=(1, 2, 3, 4), rates=(1_000_000,)).servos
    assert len(found) > 1
    assert all(one.remark.startswith("garbled answers: check cable") for one in found)


def test_two_servos_that_answer_one_after_the_other_are_found_too(plug: Plug) -> None:
    first, second = FakeServo(5), FakeServo(5)
    first.poke("return_delay_time", 0)
    (found,) = scan(plug(first, second), ids=(5,), rates=(1_000_000,)).servos
    assert found.remark.startswith("two servos may have the ID 5")


def test_a_servo_says_in_a_scan_what_ails_it(plug: Plug) -> None:
    damage = BusDamage(
        events=(ScheduledFault(BusFault.OVERLOAD, id=5), ScheduledFault(BusFault.SILENT, id=6))
    )
    found = scan(plug(FakeServo(5), FakeServo(6), damage=damage), BIOLOID, ids=(5, 6), rates=(1_000_000,))
    assert [(one.id, one.reports) for one in found.servos] == [(5, "overload")]
    assert found.to_dict()["missing"] == [{"id": 6, "joint": "left_elbow"}]


def test_a_servo_gets_an_id_that_nobody_has(plug: Plug) -> None:
    one, other = FakeServo(1), FakeServo(2)
    bus = plug(one, other)
    assert set_id(bus, 1, 7).id == 7
    assert (one.id, other.id) == (7, 2)
    for old, new, why in (
        (7, 2, "belongs to servo 2"),
        (7, 7, "already has the ID 7"),
        (7, 254, "no servo can have the ID"),
    ):
        with pytest.raises(InputError, match=why):
            set_id(bus, old, new)
    assert (one.id, other.id) == (7, 2)
    with pytest.raises(BodyError, match="no answer from servo 9"):
        set_id(bus, 9, 10)


def test_a_servo_whose_torque_is_on_keeps_its_id_and_rate(plug: Plug) -> None:
    servo = FakeServo(1)
    servo.poke("torque_enable", 1)
    bus = plug(servo)
    with pytest.raises(InputError, match="torque of servo 1 is on"):
        set_id(bus, 1, 7)
    with pytest.raises(InputError, match="torque of servo 1 is on"):
        set_rate(bus, 1, 57600)
    assert (servo.id, servo.baud) == (1, 1_000_000)


@pytest.mark.parametrize("rate", [57600, 200_000, 115_200])
def test_a_servo_gets_another_rate_and_the_bus_keeps_its_own(plug: Plug, rate: int) -> None:
    servo, other = FakeServo(1), FakeServo(2)
    bus = plug(servo, other)
    assert set_rate(bus, 1, rate).id == 1
    assert (servo.baud, other.baud, bus.baud) == (rate, 1_000_000, 1_000_000)
    assert bus.ping(2).id == 2
    with pytest.raises(InputError, match="cannot be set to 38400"):
        set_rate(bus, 2, 38400)
    bus.set_baud(rate)
    assert set_rate(bus, 1, 1_000_000).id == 1  # and back


@pytest.mark.parametrize("pause_every", [2, 3, 5, 7])
def test_answers_that_a_busy_computer_cuts_in_two_are_no_fault_of_the_cable(
    monkeypatch: pytest.MonkeyPatch, pause_every: int
) -> None:
    line = plug_in(FakeBus([FakeServo(servo) for servo in range(1, 7)]), monkeypatch)
    line.pause_every, line.pause_s = pause_every, 0.08
    bus = Bus(SerialPort(line.name, 1_000_000), answer_timeout_s=0.02)
    scanned = scan(bus, BIOLOID, ids=range(1, 7), rates=(1_000_000,))
    assert [(servo.id, servo.remark) for servo in scanned.servos] == [(servo, "") for servo in range(1, 7)]


def test_on_a_bad_line_ids_change_all_the_same(plug: Plug) -> None:
    servo = FakeServo(1)
    bus = plug(servo, damage=BusDamage(dropped=0.01, flipped=0.01, seed=2))
    bus.retries = 9
    for new in (2, 3, 4):
        set_id(bus, servo.id, new)
        assert servo.id == new
    assert bus.counts.faults
