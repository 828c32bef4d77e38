"""Monitoring: what every servo says of itself, against the limits in its own control table."""

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

WARM_C = 10
"""So far below its limit a servo is called hot [degrees Celsius]; ours."""

LOADED = 0.9
"""Share of its torque limit from which a servo is called overloaded; ours. A fifth is what ROBOTIS recommends
(e-Manual, AX-12A: note below the specifications)."""

FULL_LOAD = 1023
A_VOLT = 10
FIRST = "present_position"
LAST = "present_temperature"


@dataclass(frozen=True, slots=True)
class ServoLimits:
    """What a servo's own control table allows.

    Attributes:
        temperature_c: beyond it, it switches off [degrees Celsius].
        voltage_v: least and most [V].
        torque: share of its full torque that it may give, 0..1.
    """

    temperature_c: int
    voltage_v: tuple[float, float]
    torque: float


@dataclass(frozen=True, slots=True)
class ServoReading:
    """What a servo says of itself.

    Attributes:
        load: share of its full torque with which it drives its joint up (above 0) or down, as far as its
            controller knows: there is no torque sensor.
        errors: bits of its error byte, in words.
    """

    position_rad: float
    speed_rad_s: float
    load: float
    voltage_v: float
    temperature_c: int
    errors: str


@dataclass(frozen=True, slots=True)
class ServoSample:
    """A servo at one time.

    Attributes:
        reading: None where it did not answer.
        warnings: what is beyond its limits, or near, in words.
    """

    time_s: float
    joint: str
    id: int
    reading: ServoReading | None
    warnings: tuple[str, ...]


Round = tuple[ServoSample, ...]
"""All servos once, in the order of the card's joints."""


def read_limits(bus: Bus, robot: Robot) -> Mapping[str, ServoLimits]:
    """Return the limits in each servo's control table, by joint; a servo that is silent has none.

    Raises:
        BodyError: the port is gone, or answers stay damaged.
    """
    limits: dict[str, ServoLimits] = {}
    for joint, number in servo_ids(robot).items():
        try:
            temperature, low, high, torque = (
                bus.read(number, name)
                for name in ("temperature_limit", "min_voltage_limit", "max_voltage_limit", "torque_limit")
            )
        except ServoSilentError:
            continue
        limits[joint] = ServoLimits(temperature, (low / A_VOLT, high / A_VOLT), torque / FULL_LOAD)
    return limits


def sample(bus: Bus, robot: Robot, limits: Mapping[str, ServoLimits], time_s: float) -> Round:
    """Return what all servos say of themselves, one read each."""
    ids = servo_ids(robot)
    return tuple(
        _sample(bus, robot.servo(joint), number, limits.get(joint), time_s) for joint, number in ids.items()
    )


def watch(
    bus: Bus,
    robot: Robot,
    seconds: float,
    *,
    now: Callable[[], float],
    sleep: Callable[[float], None],
    period_s: float = 0.5,
    on_round: Callable[[Round], None] | None = None,
) -> list[Round]:
    """Return what all servos said of themselves again and again, at least once; nothing moves.

    Each round begins `period_s` [s] after the one before, or at once where that took longer; `on_round` is
    given it as it comes. `now` gives the time, `sleep` lets it pass [s]; samples count from the first. Where
    `seconds` is infinite, Ctrl-C ends it, and nothing is kept.
    """
    limits = read_limits(bus, robot)
    began_s = now()
    rounds = list[Round]()
    due_s = began_s
    while True:
        one = sample(bus, robot, limits, now() - began_s)
        if on_round is not None:
            on_round(one)
        if math.isfinite(seconds):
            rounds.append(one)
        due_s = max(due_s + period_s, now())
        if due_s - began_s > seconds:
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
    return {
        "position_deg": round(math.degrees(reading.position_rad), 2),
        "speed_deg_s": round(math.degrees(reading.speed_rad_s), 2),
        "load": round(reading.load, 3),
        "voltage_v": round(reading.voltage_v, 1),
        "temperature_c": reading.temperature_c,
        "errors": reading.errors,
    }


def _sample(bus: Bus, servo: Servo, number: int, limits: ServoLimits | None, time_s: float) -> ServoSample:
    try:
        reading = _read(bus, servo, number)
    except ServoSilentError:
        return ServoSample(time_s, servo.joint, number, None, ("no answer",))
    except BodyError as error:  # damaged answers, one servo's: the others can be read all the same
        return ServoSample(time_s, servo.joint, number, None, (error.message,))
    return ServoSample(time_s, servo.joint, number, reading, _warnings(reading, limits))


def _read(bus: Bus, servo: Servo, number: int) -> ServoReading:
    table = control_table("AX-12A")
    first = table.register(FIRST)
    last = table.register(LAST)
    block = bus.read_block(number, first.address, last.address + last.size - first.address)

    def value(name: str) -> int:
        register = table.register(f"present_{name}")
        at = register.address - first.address
        return register.decode(block[at : at + register.size])

    return ServoReading(
        servo.from_ticks(float(value("position"))),
        servo.direction * signed(value("speed")) * SPEED_RAD_S,
        servo.direction * signed(value("load")) / FULL_LOAD,
        value("voltage") / A_VOLT,
        value("temperature"),
        bus.errors.get(number, StatusError(0)).words,
    )


def _warnings(reading: ServoReading, limits: ServoLimits | None) -> tuple[str, ...]:
    told = [reading.errors] if reading.errors else []
    if limits is None:
        return tuple(told)
    low, high = limits.voltage_v
    if reading.temperature_c >= limits.temperature_c:
        told.append(f"too hot: its limit is {limits.temperature_c} C")
    elif reading.temperature_c >= limits.temperature_c - WARM_C:
        told.append(f"hot: its limit is {limits.temperature_c} C")
    if not low <= reading.voltage_v <= high:
        told.append(f"voltage: its limits are {low:g}..{high:g} V")
    if limits.torque > 0.0 and abs(reading.load) >= LOADED * limits.torque:
        told.append(f"load: {abs(reading.load) / limits.torque:.0%} of its torque limit")
    return tuple(told)
