"""Frames of 18 servos on the fake bus against the time their bytes take, ours and dynamixel-sdk's own loop.

The fake runs in a process of its own and watches the clock all the time: with less than two free cores the
figures say how busy the machine is, not how fast the loop is.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import numpy as np

from benchmarks.figure import Figure
from posewright.bodies import TorquePolicy
from posewright.buses.dynamixel.body import DynamixelPlant
from posewright.buses.dynamixel.frames import UNLIMITED_SPEED, GoalPacket, ReadScope
from posewright.buses.dynamixel.packets import BITS_A_BYTE, OVERHEAD
from posewright.buses.dynamixel.servos import BusSettings
from posewright.buses.serial_port import SerialPort
from posewright.robots import robot

BAUD = 1_000_000
CARD = "robotis_bioloid"
REQUEST = 8
RATE_HZ = 128.0


def _run_fake(pipe: Connection) -> None:
    from posewright.buses.dynamixel.fake.bus import FakeBus
    from posewright.buses.dynamixel.fake.port import FakePort

    with FakePort(FakeBus.of(robot(CARD)), now=time.perf_counter, precise=True) as port:
        pipe.send(port.path)
        pipe.recv()


@contextmanager
def fake_port() -> Iterator[str]:
    """Run a fake bus in a process of its own meanwhile; give its path."""
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    process = context.Process(target=_run_fake, args=(its,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def wire_s(reads: ReadScope) -> float:
    """Return how long the bytes of a frame take: a write to all, and a read of each [s]."""
    n = len(robot(CARD).servos)
    return (8 + 5 * n + n * (REQUEST + OVERHEAD + reads.value)) * BITS_A_BYTE / BAUD


def plant_at(path: str, reads: ReadScope, *, staggered: bool) -> DynamixelPlant:
    """Return an open plant that frames can be sent to."""
    card = robot(CARD)
    settings = BusSettings(staggered=staggered, reads=reads, on_kill=TorquePolicy.HOLD)
    clocks = {"now": time.perf_counter, "sleep": time.sleep}
    plant = DynamixelPlant(
        card, SerialPort(path, BAUD), start_pose=card.pose("stand"), settings=settings, **clocks
    )
    plant.open()
    return plant


def frame_times(plant: DynamixelPlant, n: int) -> tuple[list[float], int]:
    """Return how long each of some frames takes on the wire, a frame each 1/128 s [s], and answers missed."""
    goal = np.rint(plant.robot.to_ticks(plant.robot.pose("stand"))).astype(np.intp)
    loop = plant.servos.frame_loop
    speeds = np.full(len(goal), UNLIMITED_SPEED)
    packet = GoalPacket([servo.id for servo in plant.robot.servos if servo.id is not None])
    times: list[float] = []
    missed = 0
    due = time.perf_counter()
    for k in range(n):
        goal[0] += (-1) ** k
        due += 1.0 / RATE_HZ
        goals = packet.encode(goal, speeds)
        while time.perf_counter() < due:
            pass
        start_s = time.perf_counter()
        missed += len(loop.exchange(goals, BITS_A_BYTE / BAUD).missing)
        times.append(time.perf_counter() - start_s)
    return times, missed


def sdk_times(path: str, n: int) -> list[float]:
    """Return the times of frames with dynamixel-sdk's own functions [s]."""
    from dynamixel_sdk import GroupSyncWrite, PortHandler, Protocol1PacketHandler

    port = PortHandler(path)
    packets = Protocol1PacketHandler()
    port.setBaudRate(BAUD)
    ids = [servo.id for servo in robot(CARD).servos]
    times = []
    for _ in range(n):
        start_s = time.perf_counter()
        group = GroupSyncWrite(port, packets, 30, 4)
        for servo_id in ids:
            group.addParam(servo_id, [0, 2, 100, 0])
        group.txPacket()
        for servo_id in ids:
            packets.readTxRx(port, servo_id, 36, ReadScope.POSITION.value)
        times.append(time.perf_counter() - start_s)
    port.closePort()
    return times


def figures(n: int = 300) -> list[Figure]:
    """Return the time on the wire as a share of the loop time, for each kind of reading and order."""
    results = []
    for reads in ReadScope:
        for staggered in (True, False):
            with fake_port() as path:
                plant = plant_at(path, reads, staggered=staggered)
                times, missed = frame_times(plant, n)
                plant.stop(TorquePolicy.RELEASE)
                plant.close()
            order = "staggered" if staggered else "one by one"
            median = statistics.median(times)
            note = (
                f"{median * 1e3:.2f} of {wire_s(reads) * 1e3:.2f} ms, {1.0 / median:.0f} Hz, {missed} missed"
            )
            aim = 0.95 if staggered else None
            name = f"bus, {reads.name.lower()} of all, {order}"
            results.append(Figure(name, wire_s(reads) / median, at_least=aim, note=note))
    with fake_port() as path:
        median = statistics.median(sdk_times(path, n // 3))
    note = f"{median * 1e3:.2f} ms, {1.0 / median:.0f} Hz"
    results.append(
        Figure("bus, position of all, dynamixel-sdk", wire_s(ReadScope.POSITION) / median, note=note)
    )
    return results


if __name__ == "__main__":
    from benchmarks.figure import table

    print(table(figures()))
