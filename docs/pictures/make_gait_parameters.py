"""Draw the pictures of docs/gait-parameters.md: what each parameter of a walk does, with three values of it.

Run it from anywhere after a change of how gaits are made or drawn, and look at the pictures:

    python docs/pictures/make_gait_parameters.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright.figures import draw_parameter, save_figure
from posewright.gaits import TROT, ForeHind, GaitParameters, Interpolation, QuadrupedGait
from posewright.robots import robot

FOLDER = Path(__file__).parent / "gait_parameters"

ROBOT = robot("sony_ers7")

HEIGHT = ForeHind(0.02, 0.02)

GAIT = QuadrupedGait(
    name="of the pictures",
    robot=ROBOT.name,
    parameters=GaitParameters(
        ground_speed_m_s=0.2,
        ascent_pairs=3,
        ground_points=8,
        front_height_m=HEIGHT,
        central_height_m=HEIGHT,
        rear_height_m=HEIGHT,
        shape_factor=0.0,
        ascent_factor=0.3,
        turn_multiplier_rad_m=0.0,
        air_ground_factor=1.0,
        equilibrium_m={
            "left_front": (0.06, 0.067, -0.115),
            "right_front": (0.06, -0.067, -0.115),
            "left_rear": (-0.075, 0.067, -0.115),
            "right_rear": (-0.075, -0.067, -0.115),
        },
        maximum_displacement_m=0.06,
        maximum_turn_rad=0.4,
    ),
    phases=TROT,
    interpolation=Interpolation.LINEAR,
)
"""A gait of its own, so that no picture goes stale when a gait that ships is tuned."""

VALUES: Mapping[str, Sequence[float] | Mapping[str, Mapping[str, float]]] = {
    "ground_speed_m_s": (0.1, 0.2, 0.4),
    "ascent_pairs": (1, 4, 9),
    "ground_points": (2, 4, 8),
    "front_height_m": (0.01, 0.02, 0.03),
    "central_height_m": (0.01, 0.02, 0.03),
    "rear_height_m": (0.01, 0.02, 0.03),
    "shape_factor": (0.0, 0.5, 1.0),
    "ascent_factor": (0.0, 0.5, 1.0),
    "turn_multiplier_rad_m": (-5.0, 0.0, 5.0),
    "air_ground_factor": {
        "1/3": {"air_ground_factor": 1.0 / 3.0},
        "1": {"air_ground_factor": 1.0},
        "2": {"air_ground_factor": 2.0},
    },
    "equilibrium_m": {
        "close and high": {
            "equilibrium_m.fore.x": 0.045,
            "equilibrium_m.hind.x": -0.055,
            "equilibrium_m.fore.y": 0.055,
            "equilibrium_m.hind.y": 0.055,
            "equilibrium_m.fore.z": -0.13,
            "equilibrium_m.hind.z": -0.13,
        },
        "as in the other pictures": {},
        "wide, low, hind end up": {
            "equilibrium_m.fore.x": 0.075,
            "equilibrium_m.hind.x": -0.09,
            "equilibrium_m.fore.y": 0.085,
            "equilibrium_m.hind.y": 0.085,
            "equilibrium_m.fore.z": -0.095,
            "equilibrium_m.hind.z": -0.115,
        },
    },
    "maximum_displacement_m": (0.02, 0.04, 0.08),
    "maximum_turn_rad": (0.1, 0.3, 0.6),
}
"""By parameter, the values drawn: low, middle, high."""


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, values in VALUES.items():
        save_figure(draw_parameter(GAIT, name, values, robot=ROBOT), FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
