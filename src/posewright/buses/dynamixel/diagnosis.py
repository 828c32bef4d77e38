"""Diagnosis of a bus: programs that hold the port, causes of latency, servos that differ from the card."""

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
from posewright.buses.serial_port import find_port_holders, latency_timer_file, latency_timer_ms
from posewright.documents.plain import PlainData
from posewright.errors import BodyError
from posewright.robots import Robot, Servo

TRANSACTIONS = 200
"""How many answers are timed by default."""

GOOD_LATENCY_MS = 1.0
"""The smallest value of FTDI's latency timer [ms]."""

SLOW_S = 1.5e-3
"""Time that the computer and its USB may take for an answer, besides bytes and waits [s]; ours."""

ANSWERS_ALL = 2
"""The status return level at which every instruction is answered (e-Manual, AX-12A)."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long reads of a servo's position take.

    Attributes:
        n: number of reads.
        lost: number of reads without a valid answer.
        byte_s: time of the bytes alone on the wire [s].
        p50_s: median of the answers [s]; NaN if none came, as the following.
        p99_s: 99th percentile [s].
        worst_s: longest time [s].
    """

    n: int
    lost: int
    byte_s: float
    p50_s: float
    p99_s: float
    worst_s: float


@dataclass(frozen=True, slots=True)
class ServoReport:
    """The settings and the state of one servo.

    Attributes:
        answers: whether it answered; if not, the other attributes are defaults.
        max_torque: the torque limit that it has after its power was switched on; 0 for a sensor.
        is_shut_down: whether it has no torque until its torque limit is written, as after an overload.
        differs: differences from the robot's card, and from the manual's defaults.
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
    max_torque: int = 0
    is_shut_down: bool = False
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of a diagnosis.

    Attributes:
        held_by: other programs that have the port open.
        latency_timer_ms: how long the adapter buffers bytes [ms]; None if it is unknown.
        advice: what to do, most urgent first.
        counts: counters of the bus, as `BusCounts.to_dict()`.
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
        """Return the result as plain data; unknown numbers are None."""
        plain = asdict(self)
        if self.latency is not None:
            latency = plain["latency"]
            plain["latency"] = {key: None if math.isnan(value) else value for key, value in latency.items()}
        return plain


def diagnose(
    bus: Bus,
    robot: Robot | None = None,
    *,
    now: Callable[[], float],
    ids: Collection[int] | None = None,
    n: int = TRANSACTIONS,
    on_progress: OnProgress | None = None,
) -> Diagnosis:
    """Read the settings of servos, and measure how long their answers take.

    Args:
        bus: the bus.
        robot: the robot whose document the servos are compared with.
        now: a clock [s], such as `time.perf_counter`.
        ids: the IDs of the servos to read; None for those of the robot.
        n: how many answers are timed.
        on_progress: is called before each servo, and before the timing.

    Raises:
        BodyError: the port is gone.
    """
    servos_by_id = {servo.id: servo for servo in robot.servos} if robot else {}
    joints_by_id = joints_of(robot) if robot else bus.joints
    queried_ids = sorted(joints_by_id) if ids is None else list(ids)
    n_steps = len(queried_ids) + 1  # the last is the timing
    reports: list[ServoReport] = []
    for n_done, servo_id in enumerate(queried_ids):
        if on_progress:
            on_progress(n_done, n_steps, bus.name(servo_id))
        reports.append(
            _report(
                bus,
                servo_id,
                joint=joints_by_id.get(servo_id),
                card_servo=servos_by_id.get(servo_id),
                robot=robot,
            )
        )
    # an AX-S1 has no torque, and no position to read
    timed_ids = [report.id for report in reports if report.answers and report.torque_on is not None]
    if on_progress:
        on_progress(len(queried_ids), n_steps, "timing")
    latency = _measure_latency(bus, timed_ids, n, now) if timed_ids else None
    path = bus.address.path
    return Diagnosis(
        port=path,
        baud=bus.baud,
        held_by=tuple(map(str, find_port_holders(path))),
        latency_timer_ms=latency_timer_ms(path),
        latency=latency,
        servos=tuple(reports),
        advice=tuple(_advice(bus, reports, latency)),
        counts=bus.counts.to_dict(),
    )


def _report(
    bus: Bus, servo_id: int, joint: str | None, card_servo: Servo | None, robot: Robot | None
) -> ServoReport:
    """Read the control table of a servo, and compare it with the robot's card.

    Args:
        bus: the bus.
        servo_id: its ID.
        joint: the joint that it moves; None if it moves none.
        card_servo: the servo on the card; None without a card, or for a servo that is not on it.
        robot: the robot; None without a card.
    """
    try:
        ping = bus.ping(servo_id)
        table = table_of_model(ping.model_number or 0) or control_table("AX-12A")
        data = bus.read_block(servo_id, 0, table.size)
    except PortGoneError:
        raise
    except BodyError:
        return ServoReport(servo_id, joint, answers=False)
    registers = table.decode(data)
    return ServoReport(
        id=servo_id,
        joint=joint,
        answers=True,
        device=ping.device,
        firmware=ping.firmware or 0,
        return_delay_s=registers["return_delay_time"] * DELAY_STEP_S,
        status_return_level=registers["status_return_level"],
        voltage_v=registers.get("present_voltage", 0) / 10.0,
        temperature_c=registers.get("present_temperature", 0),
        torque_on=bool(registers["torque_enable"]) if "torque_enable" in registers else None,
        reports=ping.error.words,
        max_torque=registers.get("max_torque", 0),
        is_shut_down=registers.get("torque_limit") == 0,
        differs=tuple(_differences(registers, table, ping.device, card_servo, robot)),
    )


_COMPARED_WITH_DEFAULT = (
    "max_torque",
    "status_return_level",
    "shutdown",
    "temperature_limit",
    "min_voltage_limit",
    "max_voltage_limit",
)
"""Registers in the EEPROM that are reported if they differ from the factory default."""


def _differences(
    registers: Mapping[str, int],
    table: ControlTable,
    device: str,
    card_servo: Servo | None,
    robot: Robot | None,
) -> list[str]:
    """Return how a servo differs from the factory defaults and from the robot's card.

    Args:
        registers: its registers by name.
        table: the control table of its model.
        device: the name of its model.
        card_servo: the servo on the card; None to compare with the defaults only.
        robot: the robot; None as well.
    """
    differences: list[str] = []
    for name in _COMPARED_WITH_DEFAULT:
        default = table.registers[name].initial if name in registers else None
        if name in registers and default is not None and registers[name] != default:
            differences.append(f"{name} is {registers[name]}, by default {default}")
    if "torque_limit" in registers and registers["torque_limit"] < registers["max_torque"] - 1:
        differences.append(
            f"torque_limit is {registers['torque_limit']}, max_torque {registers['max_torque']}"
        )
    if registers["lock"]:
        differences.append("its EEPROM is locked until its power is switched off")
    if card_servo is None or robot is None:
        return differences
    if device != card_servo.model:
        differences.append(f"its model is {device}, by the card {card_servo.model}")
    if "cw_angle_limit" not in registers:
        return differences
    low = registers["cw_angle_limit"]
    high = registers["ccw_angle_limit"]
    joint = robot.joint(card_servo.joint)
    needed_low, needed_high = sorted(
        card_servo.to_ticks(angle) for angle in (joint.lower_rad, joint.upper_rad)
    )
    if not low and not high:
        differences.append("it is in wheel mode: both its angle limits are 0")
    elif low > needed_low + 1 or high < needed_high - 1:
        differences.append(
            f"its angle limits are {low}..{high}, but {card_servo.joint} needs "
            f"{needed_low:.0f}..{needed_high:.0f} by the card"
        )
    if card_servo.compliance_slope is not None:
        for name in ("cw_compliance_slope", "ccw_compliance_slope"):
            if slope_step(registers[name]) != slope_step(int(card_servo.compliance_slope)):
                differences.append(
                    f"{name} is {registers[name]}, by the card {card_servo.compliance_slope:g}"
                )
    return differences


def _measure_latency(bus: Bus, ids: Collection[int], n: int, now: Callable[[], float]) -> Latency:
    """Time `n` reads of positions, one servo after the other, without retries."""
    ordered_ids = sorted(ids)
    register = control_table("AX-12A").register("present_position")
    durations_s: list[float] = []
    n_lost = 0
    retries = bus.retries
    bus.retries = 0
    try:
        for turn in range(n):
            start_s = now()
            try:
                bus.read_block(ordered_ids[turn % len(ordered_ids)], register.address, register.size)
                durations_s.append(now() - start_s)
            except PortGoneError:
                raise
            except BodyError:
                n_lost += 1
    finally:
        bus.retries = retries
    request_bytes = OVERHEAD + 2  # with an address and a size
    answer_bytes = OVERHEAD + register.size
    p50, p99 = np.percentile(durations_s, [50, 99]) if durations_s else (math.nan, math.nan)
    worst_s = max(durations_s, default=math.nan)
    return Latency(
        n,
        n_lost,
        byte_s=(request_bytes + answer_bytes) * bus.byte_s,
        p50_s=float(p50),
        p99_s=float(p99),
        worst_s=worst_s,
    )


def _advice(bus: Bus, servos: Collection[ServoReport], latency: Latency | None) -> list[str]:
    """Return what to do, most urgent first."""
    advice: list[str] = []
    path = bus.address.path
    silent = [str(servo.id) for servo in servos if not servo.answers]
    answering = [servo for servo in servos if servo.answers]
    if not answering:
        advice.append("no servo answers: check power and baud rate; `posewright bus scan` tries all rates")
    elif silent:
        advice.append(f"no answer from ID {', '.join(silent)}: `posewright bus scan` looks for them")
    advice += [f"servo {servo.id} reports {servo.reports}" for servo in answering if servo.reports]
    advice += [
        f"servo {servo.id} has shut itself down (torque_limit 0): take the load off, let it cool, then "
        f"`posewright bus write {servo.id} torque_limit {servo.max_torque}`"
        for servo in answering
        if servo.is_shut_down
    ]
    timer_ms = latency_timer_ms(path)
    if timer_ms is not None and timer_ms > GOOD_LATENCY_MS:
        file = latency_timer_file(path)
        advice.append(
            f"the adapter buffers every answer for {timer_ms:g} ms: "
            f"echo {GOOD_LATENCY_MS:g} | sudo tee {file}"
        )
    default_delay_s = (control_table("AX-12A").register("return_delay_time").initial or 0) * DELAY_STEP_S
    # Other delays are set on purpose, by a body that reads staggered.
    delayed = [servo for servo in answering if servo.return_delay_s == default_delay_s]
    if delayed:
        total_ms = sum(servo.return_delay_s for servo in delayed) * MS
        ids = ",".join(str(servo.id) for servo in delayed)
        advice.append(
            f"servos wait before they answer, {total_ms:.1f} ms for all: "
            f"`posewright bus write {ids} return_delay_time 0`"
        )
    silent_after_writes = [str(servo.id) for servo in answering if servo.status_return_level < ANSWERS_ALL]
    if silent_after_writes:
        advice.append(
            f"servos {', '.join(silent_after_writes)} do not answer writes: "
            "`posewright bus write ID status_return_level 2`"
        )
    n_damaged = bus.counts.faults - bus.counts.timeouts
    if n_damaged:
        advice.append(f"{n_damaged} of {bus.counts.sent} answers were damaged: check cable, plugs and supply")
    if latency is not None:
        advice += _latency_advice(latency, answering, timer_ms)
    return advice


def _latency_advice(
    latency: Latency, answering: Collection[ServoReport], timer_ms: float | None
) -> Iterator[str]:
    """Yield what to do about answers that are lost, or late beyond the known delays."""
    if latency.lost:
        yield (
            f"{latency.lost} of {latency.n} positions were lost: check cable, plugs and supply; close other "
            "programs; plug the adapter in without a hub"
        )
    mean_delay_s = sum(servo.return_delay_s for servo in answering) / len(answering)
    expected_s = latency.byte_s + mean_delay_s + (timer_ms or 0.0) / MS
    if latency.p50_s > expected_s + SLOW_S:
        yield (
            f"the median answer takes {latency.p50_s * MS:.1f} ms, of which bytes and the servos' delays "
            f"take {expected_s * MS:.1f} ms: close other programs; plug the adapter in without a hub"
        )
