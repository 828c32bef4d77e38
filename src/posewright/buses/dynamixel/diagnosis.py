"""What is wrong with a bus: who holds the port, how slow it is and why, what servos and the card say."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

from posewright.buses.dynamixel.answers import PortGoneError
from posewright.buses.dynamixel.bus import MS, Bus, joints_of
from posewright.buses.dynamixel.control_table import (
    DELAY_STEP_S,
    ControlTable,
    control_table,
    slope_step,
    table_of_model,
)
from posewright.buses.dynamixel.packets import OVERHEAD
from posewright.buses.dynamixel.scanning import OnProgress
from posewright.buses.serial_port import holders, latency_timer_file, latency_timer_ms
from posewright.documents.plain import PlainData
from posewright.errors import BodyError
from posewright.robots import Robot, Servo

TRANSACTIONS = 200

GOOD_LATENCY_MS = 1.0
"""The least that FTDI's latency timer can be set to."""

SLOW_S = 1.5e-3
"""What a computer and its USB may take for an answer besides bytes and waits [s]; ours."""

ANSWERS_ALL = 2
"""The status return level at which every instruction is answered (e-Manual, AX-12A)."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long it takes to ask a servo for its position.

    Attributes:
        n: how often it was asked.
        lost: how often no whole answer came.
        byte_s: what the bytes alone take on the wire [s].
        p50_s: half of the answers took no longer [s]; NaN where none came, as the following.
        p99_s: 99 of 100 took no longer [s].
        worst_s: the longest [s].
    """

    n: int
    lost: int
    byte_s: float
    p50_s: float
    p99_s: float
    worst_s: float


@dataclass(frozen=True, slots=True)
class ServoReport:
    """One servo, as it describes itself.

    Attributes:
        answers: whether it answered; where not, nothing else is known.
        differs: in what it is not as the robot's card, or the manual for a new one, says.
    """

    id: int
    joint: str | None
    answers: bool
    device: str = ""
    firmware: int = 0
    return_delay_s: float = 0.0
    status_return_level: int = ANSWERS_ALL
    voltage_v: float = 0.0
    temperature_c: int = 0
    torque_on: bool | None = None
    reports: str = ""
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found out about a bus.

    Attributes:
        held_by: other programs that have the port open.
        latency_timer_ms: how long the adapter keeps bytes [ms]; None where nobody says.
        advice: what to do, the worst first.
        counts: what happened on the bus, as `BusCounts.to_dict()`.
    """

    port: str
    baud: int
    held_by: tuple[str, ...]
    latency_timer_ms: float | None
    latency: Latency | None
    servos: tuple[ServoReport, ...]
    advice: tuple[str, ...]
    counts: Mapping[str, PlainData] = field(default_factory=dict)

    def to_dict(self) -> dict[str, PlainData]:
        """Return it as plain data; what is not known is None."""
        told = asdict(self)
        if self.latency is not None:
            latency = told["latency"]
            told["latency"] = {key: None if math.isnan(value) else value for key, value in latency.items()}
        return told


def diagnose(
    bus: Bus,
    robot: Robot | None = None,
    *,
    now: Callable[[], float],
    ids: Collection[int] | None = None,
    n: int = TRANSACTIONS,
    on_progress: OnProgress | None = None,
) -> Diagnosis:
    """Ask servos how they are set, and measure how long they take.

    Args:
        bus: the bus.
        robot: whose card the servos are compared with.
        now: a clock [s], such as `time.perf_counter`.
        ids: of the servos that are asked; the robot's where none are given.
        n: how many answers are timed.
        on_progress: is told how far it is.

    Raises:
        BodyError: the port is gone.
    """
    of_joints = {servo.id: servo for servo in robot.servos} if robot else {}
    names = joints_of(robot) if robot else bus.joints
    asked = sorted(names) if ids is None else list(ids)
    servos: list[ServoReport] = []
    for place, servo in enumerate(asked):
        if on_progress:
            on_progress(place, len(asked) + 1, bus.name(servo))
        servos.append(_report(bus, servo, names.get(servo), of_joints.get(servo), robot))
    there = [one for one in servos if one.answers and one.torque_on is not None]
    if on_progress:
        on_progress(len(asked), len(asked) + 1, "timing")
    latency = _time(bus, [one.id for one in there], n, now) if there else None
    path = bus.where.path
    return Diagnosis(
        port=path,
        baud=bus.baud,
        held_by=tuple(map(str, holders(path))),
        latency_timer_ms=latency_timer_ms(path),
        latency=latency,
        servos=tuple(servos),
        advice=tuple(_advice(bus, servos, latency)),
        counts=bus.counts.to_dict(),
    )


def _report(bus: Bus, servo: int, joint: str | None, card: Servo | None, robot: Robot | None) -> ServoReport:
    try:
        told = bus.ping(servo)
        table = (table_of_model(told.model_number or 0)) or control_table("AX-12A")
        data = bus.read_block(servo, 0, table.size)
    except PortGoneError:
        raise
    except BodyError:
        return ServoReport(servo, joint, answers=False)
    held = table.decode(data)
    differs = tuple(_differences(held, table, told.device, card, robot))
    on = bool(held["torque_enable"]) if "torque_enable" in held else None
    return ServoReport(
        id=servo,
        joint=joint,
        answers=True,
        device=told.device,
        firmware=told.firmware or 0,
        return_delay_s=held["return_delay_time"] * DELAY_STEP_S,
        status_return_level=held["status_return_level"],
        voltage_v=held.get("present_voltage", 0) / 10.0,
        temperature_c=held.get("present_temperature", 0),
        torque_on=on,
        reports=told.error.words,
        differs=differs,
    )


_AS_NEW = (
    "max_torque",
    "status_return_level",
    "shutdown",
    "temperature_limit",
    "min_voltage_limit",
    "max_voltage_limit",
)
"""What is in the EEPROM and is worth a word where it is not as delivered."""


def _differences(
    held: Mapping[str, int], table: ControlTable, device: str, card: Servo | None, robot: Robot | None
) -> list[str]:
    """Return in what a servo is not as the robot's card, and the manual, say."""
    told = [
        f"{name} is {held[name]}, as delivered {new}"
        for name in _AS_NEW
        if name in held and held[name] != (new := table.registers[name].initial)
    ]
    if held["lock"]:
        told.append("its EEPROM is locked until its power is switched off")
    if card is None or robot is None:
        return told
    if device != card.model:
        told.append(f"it is of the kind {device}, by the card {card.model}")
    if "cw_angle_limit" not in held:
        return told
    low = held["cw_angle_limit"]
    high = held["ccw_angle_limit"]
    joint = robot.joint(card.joint)
    needed = sorted(card.to_ticks(angle) for angle in (joint.lower_rad, joint.upper_rad))
    if not low and not high:
        told.append("it turns endlessly: both its angle limits are 0")
    elif low > needed[0] + 1 or high < needed[1] - 1:
        told.append(
            f"it goes to {low}..{high}, and {card.joint} by the card to {needed[0]:.0f}..{needed[1]:.0f}"
        )
    if card.compliance_slope is not None:
        for name in ("cw_compliance_slope", "ccw_compliance_slope"):
            if slope_step(held[name]) != slope_step(int(card.compliance_slope)):
                told.append(f"{name} is {held[name]}, by the card {card.compliance_slope:g}")
    return told


def _time(bus: Bus, ids: Collection[int], n: int, now: Callable[[], float]) -> Latency:
    """Ask for positions, one servo after the other, each once and no more."""
    order = sorted(ids)
    register = control_table("AX-12A").register("present_position")
    took: list[float] = []
    lost = 0
    retries = bus.retries
    bus.retries = 0
    try:
        for turn in range(n):
            began = now()
            try:
                bus.read_block(order[turn % len(order)], register.address, register.size)
                took.append(now() - began)
            except PortGoneError:
                raise
            except BodyError:
                lost += 1
    finally:
        bus.retries = retries
    n_bytes = OVERHEAD + 2 + OVERHEAD + register.size
    p50, p99 = np.percentile(took, [50, 99]) if took else (math.nan, math.nan)
    return Latency(n, lost, n_bytes * bus.byte_s, float(p50), float(p99), max(took, default=math.nan))


def _advice(bus: Bus, servos: Collection[ServoReport], latency: Latency | None) -> list[str]:
    """Return what to do, the worst first."""
    told: list[str] = []
    path = bus.where.path
    silent = [str(one.id) for one in servos if not one.answers]
    there = [one for one in servos if one.answers]
    if not there:
        told.append(
            "nobody answers: is the power on, is the rate right? `posewright bus scan` tries all rates"
        )
    elif silent:
        told.append(f"no answer from ID {', '.join(silent)}: `posewright bus scan` looks for them")
    told += [f"servo {one.id} reports {one.reports}" for one in there if one.reports]
    timer_ms = latency_timer_ms(path)
    if timer_ms is not None and timer_ms > GOOD_LATENCY_MS:
        file = latency_timer_file(path)
        told.append(
            f"the adapter keeps every answer for {timer_ms:g} ms: echo {GOOD_LATENCY_MS:g} | sudo tee {file}"
        )
    new_s = (control_table("AX-12A").register("return_delay_time").initial or 0) * DELAY_STEP_S
    slow = [one for one in there if one.return_delay_s == new_s]  # a body that staggers answers sets its own
    if slow:
        share_ms = sum(one.return_delay_s for one in slow) * MS
        ids = ",".join(str(one.id) for one in slow)
        told.append(
            f"servos wait before they answer, {share_ms:.1f} ms for all: "
            f"`posewright bus write {ids} return_delay_time 0`"
        )
    quiet = [str(one.id) for one in there if one.status_return_level < ANSWERS_ALL]
    if quiet:
        told.append(f"servos {', '.join(quiet)} do not answer writes: `bus write ID status_return_level 2`")
    faults = bus.counts.faults - bus.counts.timeouts
    if faults:
        told.append(f"{faults} of {bus.counts.sent} answers were damaged: look at cable, plugs and supply")
    return told + ([] if latency is None else list(_slowness(latency, there, timer_ms)))


def _slowness(latency: Latency, there: Collection[ServoReport], timer_ms: float | None) -> Iterator[str]:
    """Yield what to do about answers that were lost or late for no reason told before."""
    if latency.lost:
        yield (
            f"{latency.lost} of {latency.n} positions did not come: look at cable, plugs and supply; let the "
            "computer do less; plug the adapter in without a hub"
        )
    waits_s = sum(one.return_delay_s for one in there) / len(there) + (timer_ms or 0.0) / MS
    if latency.p50_s > latency.byte_s + waits_s + SLOW_S:
        yield (
            f"the median answer takes {latency.p50_s * MS:.1f} ms, its bytes and the servos' wait "
            f"{(latency.byte_s + waits_s) * MS:.1f} ms: let the computer do less; plug the adapter in "
            "without a hub"
        )
