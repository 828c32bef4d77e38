"""Servos: what their maker says of a model, and how ticks, degrees and the angle of a joint relate."""

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
"""OPEN-R hands gains and shifts over as 16-bit words (OPENR::SetJointGain)."""

TERMS = ("p", "i", "d")
BUS = ("ticks", "range_deg", "no_load_speed_rpm", "stall_torque_nm", "compliance_slope")
ANGLE = ("tick_urad", "range_deg", "no_load_speed_rad_s", "stall_torque_nm", "stiffness_nm_rad")
OPTIONAL = ("supply_v", "gear_ratio", "mass_kg")

RANGES = {
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
"""The least and the most that any servo of a small robot has; beyond it the physics would never end."""

MOST_TICKS = 10_000_000


@dataclass(frozen=True)
class PidGains:
    """One setting of a controller: its three gains, each scaled by a power of two.

    Attributes:
        shifts: of the three gains, in that order; a shift of 16 leaves a gain as it is, one less halves it.
    """

    name: str
    p: int
    i: int
    d: int
    shifts: tuple[int, int, int]

    @property
    def scaled(self) -> tuple[float, float, float]:
        """The three gains as they act, shifts applied."""
        p, i, d = (
            gain * 2.0 ** (shift - 16)
            for gain, shift in zip((self.p, self.i, self.d), self.shifts, strict=True)
        )
        return p, i, d


def parse_gains(node: Node) -> tuple[PidGains, ...]:
    """Read `{shifts: {p: 0x0E, i: 0x02, d: 0x0F}, standard: {p: 0x1C, i: 0x08, d: 0x01}, ...}`."""
    fields = node.fields(required=("shifts",))
    shifts = _terms(fields.pop("shifts"), 16)
    return tuple(
        PidGains(name, *_terms(entry, MAX_GAIN), shifts) for name, entry in fields.items() if name != "source"
    )


def _terms(node: Node, high: int) -> tuple[int, int, int]:
    fields = node.fields(required=TERMS, optional=())
    p, i, d = (fields[term].integer(low=0, high=high) for term in TERMS)
    return p, i, d


@dataclass(frozen=True)
class ServoModel:
    """The facts that all servos of one model share.

    Attributes:
        ticks: positions it tells apart over its whole travel.
        no_load_speed_rad_s: speed without load at `supply_v` [rad/s].
        stall_torque_nm: torque at standstill at `supply_v` [N m].
        compliance_slope: default slope: ticks of error at which the torque is full; None where its stiffness
            is not set so.
        supply_v: voltage at which speed and torque are given [V].
        tick_urad: size of a tick, where it is told angles [micro-radian]; None where ticks divide its travel.
        stiffness_nm_rad: torque per angle of error, where no slope says it [N m/rad].
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
        """The servo degrees of its first stop and its last [deg]."""
        if self.tick_urad is None:
            return 0.0, self.range_deg
        first = self.first_tick * self.tick_urad * RAD_PER_URAD * DEG_PER_RAD
        return first, first + self.range_deg

    def gain(self, name: str) -> PidGains:
        """Return the setting of that name, or raise UnknownNameError."""
        for gains in self.gains:
            if gains.name == name:
                return gains
        raise UnknownNameError.among("gains", name, (gains.name for gains in self.gains))


def parse_servo_model(name: str, node: Node) -> ServoModel:
    """Read one entry of `servo_models:`."""
    if "tick_urad" in node.fields():
        return _angle_servo(name, node)
    fields = node.fields(required=BUS, optional=(*OPTIONAL, "source"))
    return ServoModel(
        name=name,
        ticks=fields["ticks"].integer(low=2, high=MOST_TICKS),
        range_deg=_number(fields, "range_deg"),
        no_load_speed_rad_s=_number(fields, "no_load_speed_rpm") * RAD_S_PER_RPM,
        stall_torque_nm=_number(fields, "stall_torque_nm"),
        compliance_slope=_number(fields, "compliance_slope"),
        supply_v=_optional_number(fields, "supply_v"),
        gear_ratio=_optional_number(fields, "gear_ratio"),
        mass_kg=_optional_number(fields, "mass_kg"),
    )


def _angle_servo(name: str, node: Node) -> ServoModel:
    fields = node.fields(required=ANGLE, optional=(*OPTIONAL, "gains", "source"))
    tick_urad = _number(fields, "tick_urad")
    first, last = (
        int(end * RAD_PER_DEG / (tick_urad * RAD_PER_URAD)) for end in parse_range(fields["range_deg"])
    )
    return ServoModel(
        name=name,
        ticks=last - first + 1,
        range_deg=math.degrees((last - first) * tick_urad * RAD_PER_URAD),
        no_load_speed_rad_s=_number(fields, "no_load_speed_rad_s"),
        stall_torque_nm=_number(fields, "stall_torque_nm"),
        compliance_slope=None,
        first_tick=first,
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
    low, high = RANGES[key]
    return fields[key].number(low=low, high=high)


Angles = TypeVar("Angles", float, Floats)
"""One number, or an array of them; of several servos, the last axis is theirs."""

MAX_ID = 253
"""Largest servo ID on a Dynamixel bus; 254 is the broadcast (e-Manual, protocol 1.0)."""

PLACE = ("id", "direction", "centre_deg")
"""What a servo's entry says of how it sits on the bus and in the robot."""


_OneOrEach: TypeAlias = Any
"""A float or `Floats`; `Any`, as no checker knows that an array of angles meets one number or as many."""


@dataclass(frozen=True, slots=True, eq=False)
class ServoScale:
    """`joint angle = direction * (servo degrees - centre_deg)`, `servo degrees = ticks * tick_deg`.

    Each of the three is a number for one servo, or `(n_joints,)` for several side by side. Nothing rounds or
    clips. Degrees come between, as a tick is often a short binary fraction of one: whole ticks stay exact.

    Attributes:
        centre_deg: servo degrees at which the joint's angle is zero [deg].
        tick_deg: size of a tick [deg].
    """

    centre_deg: _OneOrEach = field(repr=False)
    direction: _OneOrEach = field(repr=False)
    tick_deg: _OneOrEach = field(repr=False)

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
    """One servo: how its ticks relate to the angle of its joint, and what it can do.

    All conversions take a number or an array of any shape, and none rounds or clips. What its model says of
    it is as in `ServoModel`.

    Attributes:
        id: its number on the bus; None where it has none.
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
                f"nothing says how stiff the servo of {self.joint} is",
                hint="give it a compliance slope or a stiffness",
            )

    @property
    def last_tick(self) -> int:
        """The highest of its positions."""
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
        """How its ticks and the angle of its joint relate."""
        return ServoScale(self.centre_deg, self.direction, self.tick_deg)

    @property
    def stiffness(self) -> float:
        """Torque per angle of error [N m/rad]: all of it at the edge of the slope (`stall / slope`)."""
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

    `model` may be left out where there is only one. Servos that are told angles need nothing else: they are
    on no bus, and their angle is the joint's unless `direction` and `centre_deg` say otherwise. Of those on
    a bus `compliance_slope` may be given where it is set otherwise than its model's default.
    """
    model = _model(node, models)
    if model.tick_urad is None:
        fields = node.fields(required=PLACE, optional=("model", "compliance_slope", "source"))
    else:
        fields = node.fields(optional=(*PLACE, "model", "source"))
    slope = fields.get("compliance_slope")
    low, high = model.centre_range_deg
    return Servo(
        joint=joint,
        id=fields["id"].integer(low=0, high=MAX_ID) if "id" in fields else None,
        model=model.name,
        centre_deg=fields["centre_deg"].number(low=low, high=high) if "centre_deg" in fields else 0.0,
        direction=_direction(fields["direction"]) if "direction" in fields else 1,
        no_load_speed_rad_s=model.no_load_speed_rad_s,
        stall_torque_nm=model.stall_torque_nm,
        compliance_slope=slope.number(low=1.0, high=model.ticks) if slope else model.compliance_slope,
        ticks=model.ticks,
        range_deg=model.range_deg,
        first_tick=model.first_tick,
        tick_urad=model.tick_urad,
        stiffness_nm_rad=model.stiffness_nm_rad,
    )


def _model(node: Node, models: Mapping[str, ServoModel]) -> ServoModel:
    fields = node.fields()
    if "model" in fields:
        return models[fields["model"].choice("servo model", models)]
    if len(models) != 1:
        node.fail("'model' is missing", hint=f"there is {', '.join(models) or 'none'}")
    return next(iter(models.values()))


def _direction(node: Node) -> int:
    direction = node.integer()
    if direction not in (-1, 1):
        node.fail(f"expected 1 or -1, found {direction}")
    return direction


def check_reach(servo: Servo, lower_rad: float, upper_rad: float, node: Node) -> None:
    """Refuse joint limits beyond what the servo can reach."""
    first, last = servo.reach_rad
    slack = servo.tick_rad
    if lower_rad < first - slack or upper_rad > last + slack:
        node.fail(
            f"{math.degrees(lower_rad):g}..{math.degrees(upper_rad):g} degrees are beyond the servo",
            hint=f"it reaches {math.degrees(first):.1f}..{math.degrees(last):.1f}",
        )
