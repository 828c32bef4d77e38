"""Servos: data of their models, and the conversion between ticks, servo degrees and joint angles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from posewright.arrays import Floats
from posewright.documents import Node
from posewright.errors import InputError, UnknownNameError
from posewright.robots.joint import parse_range
from posewright.units import DEG_PER_RAD, RAD_PER_DEG, RAD_S_PER_RPM

RAD_PER_URAD = 1e-6

MAX_GAIN = 0xFFFF
"""OPEN-R passes gains and shifts as 16-bit words (OPENR::SetJointGain)."""

UNIT_SHIFT = 16
"""The shift that leaves a gain unchanged."""

_PID_TERMS = ("p", "i", "d")
_BUS_SERVO_KEYS = ("ticks", "range_deg", "no_load_speed_rpm", "stall_torque_nm", "compliance_slope")
_ANGLE_SERVO_KEYS = ("tick_urad", "range_deg", "no_load_speed_rad_s", "stall_torque_nm", "stiffness_nm_rad")
_OPTIONAL_KEYS = ("supply_v", "gear_ratio", "mass_kg")

_ALLOWED_RANGES = {
    "range_deg": (1.0, 3600.0),
    "no_load_speed_rpm": (1.0, 10_000.0),
    "no_load_speed_rad_s": (0.1, 1000.0),
    "stall_torque_nm": (0.001, 200.0),
    "compliance_slope": (0.1, 10_000.0),
    "tick_urad": (0.1, 1e6),
    "stiffness_nm_rad": (0.001, 1e5),
    "supply_v": (0.1, 1000.0),
    "gear_ratio": (0.001, 100_000.0),
    "mass_kg": (1e-6, 100.0),
}
"""Least and greatest values of any servo of a small robot; beyond them, the physics would take forever."""

MAX_TICKS = 10_000_000


@dataclass(frozen=True)
class PidGains:
    """A setting of a PID controller, each gain scaled by a power of two.

    Attributes:
        name: the name of the setting.
        p: proportional gain before scaling.
        i: integral gain before scaling.
        d: derivative gain before scaling.
        shifts: the shifts of the three gains: 16 leaves a gain unchanged, 15 halves it.
    """

    name: str
    p: int
    i: int
    d: int
    shifts: tuple[int, int, int]

    @property
    def scaled(self) -> tuple[float, float, float]:
        """The three gains after scaling."""
        p, i, d = (
            gain * 2.0 ** (shift - UNIT_SHIFT)
            for gain, shift in zip((self.p, self.i, self.d), self.shifts, strict=True)
        )
        return p, i, d


def parse_gains(node: Node) -> tuple[PidGains, ...]:
    """Read the named settings of a servo's PID controller, which share their shifts.

    `{shifts: {p: 0x0E, i: 0x02, d: 0x0F}, standard: {p: 0x1C, i: 0x08, d: 0x01}, ...}`
    """
    fields = node.fields(required=("shifts",))
    shifts = _parse_pid_terms(fields.pop("shifts"), UNIT_SHIFT)
    return tuple(
        PidGains(name, *_parse_pid_terms(entry, MAX_GAIN), shifts)
        for name, entry in fields.items()
        if name != "source"
    )


def _parse_pid_terms(node: Node, high: int) -> tuple[int, int, int]:
    """Read `{p: ..., i: ..., d: ...}`, whole numbers from 0 to `high`."""
    fields = node.fields(required=_PID_TERMS, optional=())
    p, i, d = (fields[term].integer(low=0, high=high) for term in _PID_TERMS)
    return p, i, d


@dataclass(frozen=True)
class ServoModel:
    """Data of a servo model.

    Attributes:
        name: the name of the model.
        ticks: number of positions over its whole range.
        range_deg: its range of positions [deg].
        no_load_speed_rad_s: speed without load at `supply_v` [rad/s].
        stall_torque_nm: torque at standstill at `supply_v` [N m].
        compliance_slope: default slope: error in ticks at which the torque is full; None if the stiffness is
            not set by a slope.
        supply_v: voltage at which speed and torque are stated [V].
        gear_ratio: the ratio of the gearbox.
        mass_kg: its mass [kg].
        first_tick: its first position.
        tick_urad: size of a tick of servos that are commanded angles [micro-radian]; None if the ticks divide
            the range.
        stiffness_nm_rad: torque per angle of error [N m/rad]; None if it follows from the slope.
        gains: settings of its controller.
    """

    name: str
    ticks: int
    range_deg: float
    no_load_speed_rad_s: float
    stall_torque_nm: float
    compliance_slope: float | None = field(repr=False)
    supply_v: float | None = field(default=None, repr=False)
    gear_ratio: float | None = field(default=None, repr=False)
    mass_kg: float | None = field(default=None, repr=False)
    first_tick: int = field(default=0, repr=False)
    tick_urad: float | None = field(default=None, repr=False)
    stiffness_nm_rad: float | None = field(default=None, repr=False)
    gains: tuple[PidGains, ...] = field(default=(), repr=False)

    @property
    def centre_range_deg(self) -> tuple[float, float]:
        """Servo degrees of its first and last position, between which a joint's zero can be [deg]."""
        if self.tick_urad is None:
            return 0.0, self.range_deg
        first_deg = self.first_tick * self.tick_urad * RAD_PER_URAD * DEG_PER_RAD
        return first_deg, first_deg + self.range_deg

    def gain(self, name: str) -> PidGains:
        """Return the controller setting of that name, or raise UnknownNameError."""
        for gains in self.gains:
            if gains.name == name:
                return gains
        raise UnknownNameError.among("gains", name, (gains.name for gains in self.gains))


def parse_servo_model(name: str, node: Node) -> ServoModel:
    """Read an entry of `servo_models:`."""
    if "tick_urad" in node.fields():
        return _parse_angle_servo_model(name, node)
    fields = node.fields(required=_BUS_SERVO_KEYS, optional=(*_OPTIONAL_KEYS, "source"))
    return ServoModel(
        name=name,
        ticks=fields["ticks"].integer(low=2, high=MAX_TICKS),
        range_deg=_number(fields, "range_deg"),
        no_load_speed_rad_s=_number(fields, "no_load_speed_rpm") * RAD_S_PER_RPM,
        stall_torque_nm=_number(fields, "stall_torque_nm"),
        compliance_slope=_number(fields, "compliance_slope"),
        supply_v=_optional_number(fields, "supply_v"),
        gear_ratio=_optional_number(fields, "gear_ratio"),
        mass_kg=_optional_number(fields, "mass_kg"),
    )


def _parse_angle_servo_model(name: str, node: Node) -> ServoModel:
    """Read the model of a servo that is commanded angles rather than positions on a bus."""
    fields = node.fields(required=_ANGLE_SERVO_KEYS, optional=(*_OPTIONAL_KEYS, "gains", "source"))
    tick_urad = _number(fields, "tick_urad")
    first_tick, last_tick = (
        int(end_deg * RAD_PER_DEG / (tick_urad * RAD_PER_URAD))
        for end_deg in parse_range(fields["range_deg"])
    )
    return ServoModel(
        name=name,
        ticks=last_tick - first_tick + 1,
        range_deg=math.degrees((last_tick - first_tick) * tick_urad * RAD_PER_URAD),
        no_load_speed_rad_s=_number(fields, "no_load_speed_rad_s"),
        stall_torque_nm=_number(fields, "stall_torque_nm"),
        compliance_slope=None,
        first_tick=first_tick,
        tick_urad=tick_urad,
        stiffness_nm_rad=_number(fields, "stiffness_nm_rad"),
        gains=parse_gains(fields["gains"]) if "gains" in fields else (),
        supply_v=_optional_number(fields, "supply_v"),
        gear_ratio=_optional_number(fields, "gear_ratio"),
        mass_kg=_optional_number(fields, "mass_kg"),
    )


def _optional_number(fields: Mapping[str, Node], key: str) -> float | None:
    return _number(fields, key) if key in fields else None


def _number(fields: Mapping[str, Node], key: str) -> float:
    low, high = _ALLOWED_RANGES[key]
    return fields[key].number(low=low, high=high)


Angles = TypeVar("Angles", float, Floats)
"""A number or an array; of several servos, the last axis is over servos."""

MAX_ID = 253
"""Greatest servo ID on a Dynamixel bus; 254 is the broadcast ID (e-Manual, protocol 1.0)."""

_MOUNTING_KEYS = ("id", "direction", "centre_deg")
"""Keys of a servo's entry about its place on the bus and in the robot."""


_FloatOrFloats: TypeAlias = Any
"""`Any`, because mypy cannot express that a float and an array give an array, and two floats a float."""


@dataclass(frozen=True, slots=True, eq=False)
class ServoScale:
    """Conversion between ticks, servo degrees and joint angles, without rounding or clipping.

    `joint angle = direction * (servo degrees - centre_deg)` and `servo degrees = ticks * tick_deg`. As a tick
    is often a short binary fraction of a degree, whole ticks are converted exactly.

    Attributes are numbers for one servo, or arrays `(n_joints,)` for several.

    Attributes:
        centre_deg: servo degrees at which the joint's angle is zero [deg].
        direction: 1, or -1 if the servo turns against the joint.
        tick_deg: size of a tick [deg].
    """

    centre_deg: _FloatOrFloats = field(repr=False)
    direction: _FloatOrFloats = field(repr=False)
    tick_deg: _FloatOrFloats = field(repr=False)

    def to_servo_deg(self, angle: Angles) -> Angles:
        """Return the servo's own degrees for a joint angle [rad]."""
        servo_deg: Angles = angle * (self.direction * DEG_PER_RAD) + self.centre_deg
        return servo_deg

    def from_servo_deg(self, degrees: Angles) -> Angles:
        """Return the joint angle [rad] for the servo's own degrees."""
        angle: Angles = (degrees - self.centre_deg) * (self.direction * RAD_PER_DEG)
        return angle

    def to_ticks(self, angle: Angles) -> Angles:
        """Return the ticks for a joint angle [rad], not rounded."""
        ticks: Angles = self.to_servo_deg(angle) / self.tick_deg
        return ticks

    def from_ticks(self, ticks: Angles) -> Angles:
        """Return the joint angle [rad] for a number of ticks."""
        servo_deg: Angles = ticks * self.tick_deg
        return self.from_servo_deg(servo_deg)


@dataclass(frozen=True)
class Servo:
    """The servo of a joint: its place on the bus and in the robot, and the data of its model.

    All conversions accept a number or an array of any shape, and do not round or clip. Attributes that are
    not listed are as in `ServoModel`.

    Attributes:
        joint: the joint that it moves.
        id: on the bus; None without a bus.
        model: name of its model.
        centre_deg: servo degrees at which the joint's angle is zero [deg].
        direction: 1, or -1 if the servo turns against the joint.
    """

    joint: str
    id: int | None
    model: str
    centre_deg: float
    direction: int
    no_load_speed_rad_s: float = field(repr=False)
    stall_torque_nm: float = field(repr=False)
    compliance_slope: float | None = field(repr=False)
    ticks: int = field(default=1024, repr=False)
    range_deg: float = field(default=300.0, repr=False)
    first_tick: int = field(default=0, repr=False)
    tick_urad: float | None = field(default=None, repr=False)
    stiffness_nm_rad: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.compliance_slope is None and self.stiffness_nm_rad is None:
            raise InputError(
                f"the servo of {self.joint} has no stiffness",
                hint="state compliance_slope or stiffness_nm_rad",
            )

    @property
    def last_tick(self) -> int:
        """Its last position."""
        return self.first_tick + self.ticks - 1

    @property
    def tick_deg(self) -> float:
        """Size of a tick [deg]."""
        if self.tick_urad is not None:
            return self.tick_urad * RAD_PER_URAD * DEG_PER_RAD
        return self.range_deg / self.ticks

    @property
    def tick_rad(self) -> float:
        """Size of a tick [rad]."""
        return self.tick_deg * RAD_PER_DEG

    @property
    def scale(self) -> ServoScale:
        """The conversion between its ticks and the angle of its joint."""
        return ServoScale(self.centre_deg, self.direction, self.tick_deg)

    @property
    def stiffness(self) -> float:
        """Torque per angle of error [N m/rad]; from a compliance slope, `stall torque / slope`."""
        if self.compliance_slope is None:
            return self.stiffness_nm_rad or 0.0
        return self.stall_torque_nm / (self.compliance_slope * self.tick_rad)

    @property
    def reach_rad(self) -> tuple[float, float]:
        """Joint angles at the first and last tick, lower one first [rad]."""
        ends = (self.from_ticks(float(self.first_tick)), self.from_ticks(float(self.last_tick)))
        return min(ends), max(ends)

    def to_servo_deg(self, angle: Angles) -> Angles:
        """Return the servo's own degrees for a joint angle [rad]."""
        return self.scale.to_servo_deg(angle)

    def from_servo_deg(self, degrees: Angles) -> Angles:
        """Return the joint angle [rad] for the servo's own degrees."""
        return self.scale.from_servo_deg(degrees)

    def to_ticks(self, angle: Angles) -> Angles:
        """Return the ticks for a joint angle [rad], not rounded."""
        return self.scale.to_ticks(angle)

    def from_ticks(self, ticks: Angles) -> Angles:
        """Return the joint angle [rad] for a number of ticks."""
        return self.scale.from_ticks(ticks)


def parse_servo(joint: str, node: Node, models: Mapping[str, ServoModel]) -> Servo:
    """Read `{id: 1, direction: -1, centre_deg: 60, model: AX-12A}`.

    `model` is optional if there is only one model. For servos that are commanded angles all keys are
    optional: they are on no bus, and without `direction` and `centre_deg` their angle is the joint's. Servos
    on a bus may have a `compliance_slope` other than their model's.
    """
    model = _choose_model(node, models)
    if model.tick_urad is None:
        fields = node.fields(required=_MOUNTING_KEYS, optional=("model", "compliance_slope", "source"))
    else:
        fields = node.fields(optional=(*_MOUNTING_KEYS, "model", "source"))
    slope = fields.get("compliance_slope")
    low_deg, high_deg = model.centre_range_deg
    return Servo(
        joint=joint,
        id=fields["id"].integer(low=0, high=MAX_ID) if "id" in fields else None,
        model=model.name,
        centre_deg=fields["centre_deg"].number(low=low_deg, high=high_deg) if "centre_deg" in fields else 0.0,
        direction=_parse_direction(fields["direction"]) if "direction" in fields else 1,
        no_load_speed_rad_s=model.no_load_speed_rad_s,
        stall_torque_nm=model.stall_torque_nm,
        compliance_slope=slope.number(low=1.0, high=model.ticks) if slope else model.compliance_slope,
        ticks=model.ticks,
        range_deg=model.range_deg,
        first_tick=model.first_tick,
        tick_urad=model.tick_urad,
        stiffness_nm_rad=model.stiffness_nm_rad,
    )


def _choose_model(node: Node, models: Mapping[str, ServoModel]) -> ServoModel:
    """Return the model that a servo's entry names; without a name, the only one."""
    fields = node.fields()
    if "model" in fields:
        return models[fields["model"].choice("servo model", models)]
    if len(models) != 1:
        node.fail("'model' is missing", hint=f"one of {', '.join(models)}" if models else "add a servo model")
    return next(iter(models.values()))


def _parse_direction(node: Node) -> int:
    direction = node.integer()
    if direction not in (-1, 1):
        node.fail(f"expected 1 or -1, found {direction}")
    return direction


def require_reachable_limits(servo: Servo, lower_rad: float, upper_rad: float, node: Node) -> None:
    """Raise if joint limits are beyond the range of the servo."""
    lowest, highest = servo.reach_rad
    slack = servo.tick_rad
    if lower_rad < lowest - slack or upper_rad > highest + slack:
        node.fail(
            f"{math.degrees(lower_rad):g}..{math.degrees(upper_rad):g} degrees are beyond the servo's range",
            hint=f"it reaches {math.degrees(lowest):.1f}..{math.degrees(highest):.1f}",
        )
