"""One way a body differs from its model: a wearier servo, a smoother floor, a heavier shell, a slow bus."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from posewright.errors import InputError

MAX_SLOPE_RAD = math.radians(45.0)
"""A ground may lean so far: nothing that walks here stands on a steeper one."""

MAX_SHIFT_M = 0.1
MAX_LATENCY_FRAMES = 1000

_SCALES = ("mass_scale", "stiffness_scale", "damping_scale", "armature_scale")


@dataclass(frozen=True, slots=True)
class DomainParameters:
    """How one body differs from the model of its robot.

    What has walked on one body only may fall on the next one: a gait is tried on many of these. Which
    numbers are sensible, `domain_randomization()` says.

    Attributes:
        friction: coefficient of sliding friction of the ground under everything; None for what the model and
            the arena say.
        mass_scale: all masses of the robot over those of its model; its inertias go with them.
        stiffness_scale: stiffness of all servos over the servos' own, or over what the frames ask for.
        damping_scale: damping of all servos over that of their torque-speed lines.
        armature_scale: inertia of all rotors over that of the model.
        latency_frames: so many frames a command waits before it takes effect; until then the pose in which
            the robot was put down is held.
        com_shift_m: how far the base's centre of mass is from where the model has it, in the base's frame,
            x y z [m].
        slope_rad: how the ground leans: roll and pitch about the field's axes [rad]. With a positive pitch
            the field falls away along +x, with a positive roll to the right.

    Raises:
        InputError: a number is not finite, or is out of its range.
    """

    friction: float | None = None
    mass_scale: float = 1.0
    stiffness_scale: float = 1.0
    damping_scale: float = 1.0
    armature_scale: float = 1.0
    latency_frames: int = 0
    com_shift_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    slope_rad: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name in _SCALES:
            scale = getattr(self, name)
            _expect(math.isfinite(scale) and scale > 0.0, name, scale, "a positive number; 1 changes nothing")
        friction = self.friction
        _expect(
            friction is None or (math.isfinite(friction) and friction >= 0.0),
            "friction",
            friction,
            "0 or more, or None for the model's own",
        )
        latency = self.latency_frames
        _expect(
            0 <= latency <= MAX_LATENCY_FRAMES and latency == int(latency),
            "latency_frames",
            latency,
            f"a whole number, 0..{MAX_LATENCY_FRAMES}",
        )
        _expect_all("com_shift_m", self.com_shift_m, 3, MAX_SHIFT_M)
        _expect_all("slope_rad", self.slope_rad, 2, MAX_SLOPE_RAD)

    @property
    def is_nominal(self) -> bool:
        """Whether it changes nothing."""
        return self == NOMINAL

    def __str__(self) -> str:
        told = (f"{name} {value}" for name, value in _differences(self))
        return ", ".join(told) or "nominal"


def _differences(domain: DomainParameters) -> list[tuple[str, str]]:
    """Return the name and the value, as people read it, of each field that is not the nominal one's."""
    return [
        (field.name, _shown(getattr(domain, field.name)))
        for field in fields(DomainParameters)
        if getattr(domain, field.name) != field.default
    ]


def _shown(value: float | tuple[float, ...]) -> str:
    return " ".join(f"{part:.4g}" for part in value) if isinstance(value, tuple) else f"{value:.4g}"


def _expect_all(name: str, values: tuple[float, ...], count: int, limit: float) -> None:
    right = len(values) == count and all(abs(value) <= limit for value in values)
    _expect(right, name, values, f"{count} numbers within {-limit:.4g}..{limit:.4g}")


def _expect(right: bool, name: str, value: object, hint: str) -> None:
    if not right:
        raise InputError(f"a body's {name} cannot be {value}", hint=hint)


NOMINAL = DomainParameters()
"""The body as its model says."""
