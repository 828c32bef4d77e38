"""`posewright bus fake` and its Python twin: a simulated robot behind a bus, and in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from posewright.buses.dynamixel.control_table import Instruction
from posewright.buses.dynamixel.fake.damage import BusDamage
from posewright.buses.dynamixel.fake.physics import PlantPhysics
from posewright.buses.dynamixel.packets import InstructionPacket, goal_positions
from posewright.errors import InputError, UnknownNameError
from posewright.robots import robot
from posewright.runs import fake_bus, fake_counts, fake_port

serial = pytest.importorskip("serial")

BIOLOID = robot("robotis_bioloid")
STAND = np.rint(BIOLOID.to_ticks(BIOLOID.pose("stand"))).astype(int).tolist()
IDS = [servo.id or 0 for servo in BIOLOID.servos]


def test_a_simulated_robot_stands_held_then_by_its_servos_and_falls_without_torque() -> None:
    bus = fake_bus(BIOLOID)
    assert isinstance(bus.physics, PlantPhysics)
    (body,) = bus.physics.plant.bodies.values()

    def loads() -> set[int]:
        return {bus.joint(joint).peek("present_load") & 1023 for joint in BIOLOID.joint_names}

    def height_m() -> float:
        truth = body.observe().truth
        assert truth is not None
        return float(truth.base[-1, 2])

    begin_m = height_m()
    bus.advance(0.5)
    assert height_m() == pytest.approx(begin_m, abs=0.02)  # somebody holds it
    assert loads() == {0}
    bus.exchange(goal_positions(IDS, STAND))
    bus.advance(1.5)
    assert height_m() == pytest.approx(begin_m, abs=0.02)  # it holds itself
    assert bus.joint("right_knee").peek("present_load") & 1023 > 0
    bus.exchange(InstructionPacket(0xFE, Instruction.WRITE, b"\x18\x00").encode())
    bus.advance(3.0)
    assert height_m() < 0.7 * begin_m
    assert loads() == {0}


def test_what_cannot_be_faked_is_refused() -> None:
    with pytest.raises(InputError, match="no servo bus"):
        fake_bus(robot("sony_ers7"))
    with pytest.raises(UnknownNameError):
        fake_bus(BIOLOID, body="nothing")
    with pytest.raises(InputError, match="12345"):
        fake_bus(BIOLOID, baud=12_345)


def test_the_counts_are_plain_data() -> None:
    bus = fake_bus(BIOLOID, damage=BusDamage(flipped=0.05, seed=1), senses=dict)
    assert len(bus.devices) == 19
    for _ in range(100):
        bus.exchange(InstructionPacket(1, Instruction.PING).encode())
    port = fake_port(bus)
    port.close()
    counts = json.loads(json.dumps(fake_counts(port)))
    assert counts["byte_errors"]["flipped"] > 20
    assert counts["packets"] >= counts["broken"] > 0


def test_the_command_says_its_port_first_and_its_counts_in_the_end() -> None:
    arguments = [
        "bus",
        "fake",
        "--robot",
        "robotis_bioloid",
        "--fault",
        "silent:7",
        "--json",
        "--seconds",
        "30",
    ]
    with subprocess.Popen(  # noqa: S603 -- our own interpreter
        [sys.executable, "-m", "posewright", *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        start = json.loads(process.stdout.readline())
        assert start["ids"] == IDS
        with serial.Serial(start["port"], start["baud"], timeout=5.0) as line:
            line.write(InstructionPacket(7, Instruction.PING).encode())
            line.write(InstructionPacket(8, Instruction.PING).encode())
            assert line.read(6) == bytes.fromhex("ff ff 08 02 00 f5")
        process.send_signal(signal.SIGINT)
        counts = json.loads(process.stdout.readline())
        assert process.wait(10.0) == 0
    assert (counts["packets"], counts["answers"]) == (2, 1)
    assert not os.path.exists(start["port"])  # noqa: PTH110 -- the link itself
