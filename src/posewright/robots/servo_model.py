"""A model of servo: what its maker says of every servo of that kind."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.documents import Node
from posewright.units import RAD_S_PER_RPM


@dataclass(frozen=True)
class ServoModel:
    """The facts that all servos of one model share.

    Attributes:
        name: the maker's name of it, `AX-12A`.
        ticks: positions it tells apart over its whole travel.
        range_deg: its whole travel [deg].
        no_load_speed_rad_s: speed without load at `supply_v` [rad/s].
        stall_torque_nm: torque at standstill at `supply_v` [N m].
        compliance_slope: default slope: ticks of error at which the torque is full.
        supply_v: voltage at which speed and torque are given [V].
        gear_ratio: motor turns for one turn of the horn.
        mass_kg: its mass [kg].
    """

    name: str
    ticks: int
    range_deg: float
    no_load_speed_rad_s: float
    stall_torque_nm: float
    compliance_slope: float
    supply_v: float | None = None
    gear_ratio: float | None = None
    mass_kg: float | None = None


REQUIRED = ("ticks", "range_deg", "no_load_speed_rpm", "stall_torque_nm", "compliance_slope")
OPTIONAL = ("supply_v", "gear_ratio", "mass_kg")


def parse_servo_model(name: str, node: Node) -> ServoModel:
    """Read one entry of `servo_models:`.

    Raises:
        DocumentError: a fact is missing, is no number, or is not positive.
    """
    fields = node.fields(required=REQUIRED, optional=(*OPTIONAL, "source"))
    return ServoModel(
        name=name,
        ticks=fields["ticks"].integer(low=2),
        range_deg=_positive(fields["range_deg"]),
        no_load_speed_rad_s=_positive(fields["no_load_speed_rpm"]) * RAD_S_PER_RPM,
        stall_torque_nm=_positive(fields["stall_torque_nm"]),
        compliance_slope=_positive(fields["compliance_slope"]),
        **{key: _positive(fields[key]) for key in OPTIONAL if key in fields},
    )


def _positive(node: Node) -> float:
    number = node.number()
    if number <= 0.0:
        node.fail(f"{number:g} is not positive")
    return number
