"""Monitoring: the states of all servos, compared with the limits in their own control tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from posewright.buses.dynamixel.answers import ServoSilentError
from posewright.buses.dynamixel.control_table import StatusError, control_table, signed
from posewright.buses.dynamixel.packets import SPEED_RAD_S
from posewright.buses.dynamixel.torque import servo_ids
from posewright.documents.plain import PlainMapping
from posewright.errors import BodyError

if TYPE_CHECKING:
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot, Servo

HOT_MARGIN_C = 10
"""A servo is reported as hot so far below its limit [degrees Celsius]; ours."""

HIGH_LOAD = 0.9
"""Share of its torque limit from which a servo is reported as loaded; ours. ROBOTIS recommends a fifth
(e-Manual, AX-12A: note below the specifications)."""

FULL_LOAD = 1023
COUNTS_PER_VOLT = 10
"""Register value of 1 V."""

FIRST_REGISTER = "present_position"
LAST_REGISTER = "present_temperature"


@dataclass(frozen=True, slots=True)
class ServoLimits:
    """The limits in a servo's own control table.

    Attributes:
        temperature_c: temperature at which it switches off [degrees Celsius].
        voltage_v: lowest and highest voltage [V].
        torque: share of its full torque that it may exert, 0..1.
    """

    temperature_c: int
    voltage_v: tuple[float, float]
    torque: float


@dataclass(frozen=True, slots=True)
class ServoReading:
    """The state of a servo.

    Attributes:
        load: share of its full torque, positive if it drives the joint's angle up; estimated by its
            controller, as it has no torque sensor.
        errors: names of the bits in its error byte.
    """

    position_rad: float
    speed_rad_s: float
    load: float
    voltage_v: float
    temperature_c: int
    errors: str


@dataclass(frozen=True, slots=True)
class ServoSample:
    """The state of a servo at one time.

    Attributes:
        reading: None if it did not answer.
        warnings: quantities that are beyond, or close to, its limits.
    """

    time_s: float
    joint: str
    id: int
    reading: ServoReading | None
    warnings: tuple[str, ...]


MonitoringRound = tuple[ServoSample, ...]
"""One sample of each servo, in the order of the card's joints."""


def read_limits(bus: Bus, robot: Robot) -> Mapping[str, ServoLimits]:
    """Read the limits in the control tables of all servos, by joint; silent servos are left out.

    Raises:
        BodyError: the port is gone, or all answers of a servo are damaged.
    """
    limits: dict[str, ServoLimits] = {}
    for joint, servo_id in servo_ids(robot).items():
        try:
            temperature, low, high, torque = (
                bus.read(servo_id, name)
                for name in ("temperature_limit", "min_voltage_limit", "max_voltage_limit", "torque_limit")
            )
        except ServoSilentError:
            continue
        limits[joint] = ServoLimits(
            temperature, (low / COUNTS_PER_VOLT, high / COUNTS_PER_VOLT), torque / FULL_LOAD
        )
    return limits


def sample(bus: Bus, robot: Robot, limits: Mapping[str, ServoLimits], time_s: float) -> MonitoringRound:
    """Read the states of all servos, one read each."""
    ids = servo_ids(robot)
    return tuple(
        _sample_servo(bus, robot.servo(joint), servo_id, limits=limits.get(joint), time_s=time_s)
        for joint, servo_id in ids.items()
    )


def watch(
    bus: Bus,
    robot: Robot,
    seconds: float,
    *,
    now: Callable[[], float],
    sleep: Callable[[float], None],
    period_s: float = 0.5,
    on_round: Callable[[MonitoringRound], None] | None = None,
) -> list[MonitoringRound]:
    """Read the states of all servos periodically, at least once; nothing moves.

    Args:
        bus: the open bus.
        robot: the robot whose servos are read.
        seconds: for how long [s]. If infinite, Ctrl-C ends it, and no rounds are stored.
        now: a clock [s]; the time of a sample counts from the start.
        sleep: waits for a time [s].
        period_s: time from one round to the next [s]; a round that takes longer is followed at once.
        on_round: is called with each round.

    Returns:
        The rounds.
    """
    limits = read_limits(bus, robot)
    start_s = now()
    rounds = list[MonitoringRound]()
    due_s = start_s
    while True:
        samples = sample(bus, robot, limits, time_s=now() - start_s)
        if on_round is not None:
            on_round(samples)
        if math.isfinite(seconds):
            rounds.append(samples)
        due_s = max(due_s + period_s, now())
        if due_s - start_s > seconds:
            return rounds
        sleep(max(due_s - now(), 0.0))


def sample_data(sample: ServoSample) -> PlainMapping:
    """Return a sample as plain data, angles in degrees."""
    return {
        "time_s": round(sample.time_s, 3),
        "joint": sample.joint,
        "id": sample.id,
        "reading": None if sample.reading is None else _reading_data(sample.reading),
        "warnings": list(sample.warnings),
    }


def _reading_data(reading: ServoReading) -> PlainMapping:
    """Return a servo's reading as plain data, rounded."""
    return {
        "position_deg": round(math.degrees(reading.position_rad), 2),
        "speed_deg_s": round(math.degrees(reading.speed_rad_s), 2),
        "load": round(reading.load, 3),
        "voltage_v": round(reading.voltage_v, 1),
        "temperature_c": reading.temperature_c,
        "errors": reading.errors,
    }


def _sample_servo(
    bus: Bus, servo: Servo, servo_id: int, limits: ServoLimits | None, time_s: float
) -> ServoSample:
    """Read a servo; return the reading with warnings, or without a reading the reason as a warning.

    Args:
        bus: the bus.
        servo: the servo by the card.
        servo_id: its ID.
        limits: its own limits; None if they are unknown.
        time_s: the time of the sample [s].
    """
    try:
        reading = _read(bus, servo, servo_id)
    except ServoSilentError:
        return ServoSample(time_s, servo.joint, id=servo_id, reading=None, warnings=("no answer",))
    except BodyError as error:  # damaged answers of this servo; the others can still be read
        return ServoSample(time_s, servo.joint, id=servo_id, reading=None, warnings=(error.message,))
    return ServoSample(time_s, servo.joint, id=servo_id, reading=reading, warnings=_warnings(reading, limits))


def _read(bus: Bus, servo: Servo, servo_id: int) -> ServoReading:
    """Read the present values of a servo in one block."""
    table = control_table("AX-12A")
    first = table.register(FIRST_REGISTER)
    last = table.register(LAST_REGISTER)
    block = bus.read_block(servo_id, first.address, last.address + last.size - first.address)

    def present_value(quantity: str) -> int:
        register = table.register(f"present_{quantity}")
        offset = register.address - first.address
        return register.decode(block[offset : offset + register.size])

    return ServoReading(
        servo.from_ticks(float(present_value("position"))),
        speed_rad_s=servo.direction * signed(present_value("speed")) * SPEED_RAD_S,
        load=servo.direction * signed(present_value("load")) / FULL_LOAD,
        voltage_v=present_value("voltage") / COUNTS_PER_VOLT,
        temperature_c=present_value("temperature"),
        errors=bus.errors.get(servo_id, StatusError(0)).words,
    )


def _warnings(reading: ServoReading, limits: ServoLimits | None) -> tuple[str, ...]:
    """Return a warning for each value near or beyond a limit of the servo."""
    warnings = [reading.errors] if reading.errors else []
    if limits is None:
        return tuple(warnings)
    low, high = limits.voltage_v
    if reading.temperature_c >= limits.temperature_c:
        warnings.append(f"too hot: its limit is {limits.temperature_c} C")
    elif reading.temperature_c >= limits.temperature_c - HOT_MARGIN_C:
        warnings.append(f"hot: its limit is {limits.temperature_c} C")
    if not low <= reading.voltage_v <= high:
        warnings.append(f"voltage: its limits are {low:g}..{high:g} V")
    if limits.torque == 0.0:
        warnings.append("shut down: its torque limit is 0; `posewright bus diagnose` tells what to do")
    elif abs(reading.load) >= HIGH_LOAD * limits.torque:
        warnings.append(f"load: {abs(reading.load) / limits.torque:.0%} of its torque limit")
    return tuple(warnings)
