"""A model of servo: what its maker says of every servo of that kind.

Two kinds are told apart by how their positions are counted. A bus servo divides its travel into so many
`ticks`, counted from its first stop, and its stiffness follows from the slope of its compliance. A servo of
the kind Sony's robots have is told an angle, in whole steps of so many micro-radians about zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from posewright.documents import Node
from posewright.errors import UnknownNameError
from posewright.robots.joint import parse_range
from posewright.units import DEG_PER_RAD, RAD_PER_DEG, RAD_S_PER_RPM

RAD_PER_URAD = 1e-6

MAX_GAIN = 0xFFFF
"""OPEN-R hands gains and shifts over as 16-bit words (OPENR::SetJointGain)."""

TERMS = ("p", "i", "d")

BUS = ("ticks", "range_deg", "no_load_speed_rpm", "stall_torque_nm", "compliance_slope")

ANGLE = ("tick_urad", "range_deg", "no_load_speed_rad_s", "stall_torque_nm", "stiffness_nm_rad")

OPTIONAL = ("supply_v", "gear_ratio", "mass_kg")


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
        gear_ratio: motor turns for one turn of the horn.
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
        ticks=fields["ticks"].integer(low=2),
        range_deg=_positive(fields["range_deg"]),
        no_load_speed_rad_s=_positive(fields["no_load_speed_rpm"]) * RAD_S_PER_RPM,
        stall_torque_nm=_positive(fields["stall_torque_nm"]),
        compliance_slope=_positive(fields["compliance_slope"]),
        **_optional(fields),
    )


def _angle_servo(name: str, node: Node) -> ServoModel:
    fields = node.fields(required=ANGLE, optional=(*OPTIONAL, "gains", "source"))
    tick_urad = _positive(fields["tick_urad"])
    first, last = (
        int(end * RAD_PER_DEG / (tick_urad * RAD_PER_URAD)) for end in parse_range(fields["range_deg"])
    )
    return ServoModel(
        name=name,
        ticks=last - first + 1,
        range_deg=math.degrees((last - first) * tick_urad * RAD_PER_URAD),
        no_load_speed_rad_s=_positive(fields["no_load_speed_rad_s"]),
        stall_torque_nm=_positive(fields["stall_torque_nm"]),
        compliance_slope=None,
        first_tick=first,
        tick_urad=tick_urad,
        stiffness_nm_rad=_positive(fields["stiffness_nm_rad"]),
        gains=parse_gains(fields["gains"]) if "gains" in fields else (),
        **_optional(fields),
    )


def _optional(fields: Mapping[str, Node]) -> dict[str, Any]:
    return {key: _positive(fields[key]) for key in OPTIONAL if key in fields}


def _positive(node: Node) -> float:
    number = node.number()
    if number <= 0.0:
        node.fail(f"{number:g} is not positive")
    return number
