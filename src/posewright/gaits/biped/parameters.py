"""The parameters of a biped's walk: explanations with units and bounds, and their values by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType

from posewright.errors import UnknownNameError
from posewright.gaits.explanation import Explanation, find_explanation

EXPLANATIONS: Mapping[str, Explanation] = MappingProxyType(
    {
        "cycle_s": Explanation(
            "cycle", "s", 0.2, 3.0,
            "The time of two steps, one of each foot.",
        ),
        "swing_share": Explanation(
            "swing share", "", 0.3, 1.0,
            "The share of a step in which a foot is in the air; in the rest both feet are down.",
        ),
        "swing_ramp": Explanation(
            "swing ramp", "", 0.05, 0.5,
            "The share of its swing in which a foot speeds up, and as long slows down: 0.5 never goes at a "
            "constant speed, less moves the joints more slowly but starts and lands harder.",
        ),
        "lift_m": Explanation(
            "lift", "m", 0.0, 0.06,
            "The height of a foot in the middle of its swing: higher clears bumps but moves the joints "
            "faster.",
        ),
        "hip_height_m": Explanation(
            "hip height", "m", 0.02, 0.5,
            "The height of the hips over the ankles: lower bends the knees more and leaves room for long "
            "steps.",
        ),
        "lean_rad": Explanation(
            "lean", "rad", -0.3, 0.8,
            "How far the trunk leans forward.",
        ),
        "feet_ahead_m": Explanation(
            "feet ahead", "m", -0.1, 0.1,
            "How far the soles stand in front of the hips, or behind if negative: it balances the lean.",
        ),
        "stance_m": Explanation(
            "stance", "m", 0.01, 0.3,
            "The distance of each sole's middle from the middle plane of the robot.",
        ),
        "hip_roll_rad": Explanation(
            "hip roll", "rad", 0.0, 0.6,
            "How far the hip of the standing leg rolls the trunk towards it in the middle of a step: it "
            "shifts the weight and makes up for servos that give way.",
        ),
        "max_forward_m_s": Explanation(
            "greatest speed forward", "m/s", 0.01, 2.0,
            "Faster commands forward are out of range.",
        ),
        "max_backward_m_s": Explanation(
            "greatest speed backward", "m/s", 0.0, 2.0,
            "Faster commands backward are out of range.",
        ),
        "max_left_m_s": Explanation(
            "greatest speed sideways", "m/s", 0.0, 1.0,
            "Faster commands to the left or right are out of range.",
        ),
        "max_turn_rad_s": Explanation(
            "greatest turn", "rad/s", 0.0, 6.0,
            "Faster turns are out of range.",
        ),
        "steps_to_full_speed": Explanation(
            "steps to full speed", "", 1.0, 20.0,
            "How many steps it takes at least from stepping on the spot to the greatest command.",
        ),
    }
)  # fmt: skip


def explanation(name: str) -> Explanation:
    """Return the explanation of a parameter by its name, or raise UnknownNameError."""
    return find_explanation(name, EXPLANATIONS)


@dataclass(frozen=True, slots=True)
class BipedParameters:
    """The parameters of a biped's walk; `EXPLANATIONS` gives the meaning, unit and bounds of each.

    Raises:
        InputError: a value is out of its range.
    """

    cycle_s: float
    swing_share: float = field(repr=False)
    swing_ramp: float = field(repr=False)
    lift_m: float
    hip_height_m: float
    lean_rad: float = field(repr=False)
    feet_ahead_m: float = field(repr=False)
    stance_m: float = field(repr=False)
    hip_roll_rad: float = field(repr=False)
    max_forward_m_s: float
    max_backward_m_s: float = field(repr=False)
    max_left_m_s: float = field(repr=False)
    max_turn_rad_s: float = field(repr=False)
    steps_to_full_speed: float = field(repr=False)

    def __post_init__(self) -> None:
        for name, value in self.flat.items():
            explanation(name).check(name, value)
            object.__setattr__(self, name, float(value))

    @property
    def flat(self) -> dict[str, float]:
        """All values by name."""
        return asdict(self)

    def with_values(self, values: Mapping[str, float]) -> BipedParameters:
        """Return the parameters with other values for some names."""
        for name in values:
            if name not in EXPLANATIONS:
                raise UnknownNameError.among("gait parameter", name, EXPLANATIONS)
        return replace(self, **values)
