"""Options shared by the gait verbs, and the function that opens a gait."""

from __future__ import annotations

from typing import Annotated

from posewright import gaits, robots
from posewright.cli.options import argument, option
from posewright.errors import InputError, UnreachableError

GaitName = Annotated[str, argument("GAIT", "A gait of `posewright gait list`, or the path of a *.gait.yaml.")]
RobotOption = Annotated[
    str | None,
    option(
        "--robot R", "A robot of `posewright robots list`, or a card's path. Default: the gait's own robot."
    ),
]
Forward = Annotated[float, option("--forward M/S", "Speed forwards; negative is backwards.")]
Left = Annotated[float, option("--left M/S", "Speed to the left; negative is to the right.")]
Turn = Annotated[float, option("--turn RAD/S", "Turn rate to the left; negative is to the right.")]
ParameterSettings = Annotated[
    list[str] | None,
    option(
        "--set NAME=VALUE",
        "Change a parameter, such as shape_factor=0.5, front_height_m.fore=0.02 or "
        "equilibrium_m.hind.x=-0.08; `gait show` lists all. Repeat for more.",
        show_default=False,
    ),
]

SET_EXAMPLE = "shape_factor=0.5"


def open_gait(
    name: str, robot_name: str | None = None, settings: list[str] | None = None
) -> tuple[gaits.ParametricGait, robots.Robot]:
    """Return a gait with changed parameters, and the robot that walks it.

    Args:
        name: name or path of the gait.
        robot_name: name or card of the robot; None for the gait's own.
        settings: values of `--set`, such as `shape_factor=0.5`.

    Raises:
        UnknownNameError: there is no such gait, robot or parameter.
        DocumentError: the gait's document has an error.
        InputError: a value is no number or out of its range, or the gait is for another robot.
        UnreachableError: a foot cannot reach its equilibrium point.
    """
    robot = None if robot_name is None else robots.robot(robot_name)
    gait, robot = gaits.read_gait_and_robot(name, robot=robot)
    gait = gait.with_values(parse_settings(settings))
    if isinstance(gait, gaits.QuadrupedGait):
        _require_reachable(gait, robot)
    return gait, robot


def _require_reachable(gait: gaits.QuadrupedGait, robot: robots.Robot) -> None:
    """Raise UnreachableError, with the parameter's name, if a foot cannot reach its equilibrium point."""
    legs = gaits.walking_legs(robot)
    for foot, point in gait.parameters.equilibrium_m.items():
        leg = legs[foot]
        x, y, z = leg.foot_centres(point).tolist()
        out_of_reach = leg.out_of_reach(x, y, z)
        if out_of_reach is None:
            continue
        shoulder = "({:g}, {:g}, {:g}) m".format(*leg.shoulder_m)
        if out_of_reach.is_far:
            hint = f"use a point closer to the leg's first joint, which is at {shoulder} in the base frame"
        else:
            hint = f"use another point; the leg's first joint is at {shoulder} in the base frame"
        position = "({:g}, {:g}, {:g}) m".format(*point)
        raise UnreachableError(f"equilibrium_m.{foot} is {position}: {out_of_reach.reason}", hint=hint)


def parse_settings(settings: list[str] | None, example: str = SET_EXAMPLE) -> dict[str, float]:
    """Return the numbers of texts `NAME=VALUE` by name; the last one counts if a name repeats.

    Args:
        settings: the texts.
        example: a valid text, for messages.

    Raises:
        InputError: a text has no value, or its value is no number.
    """
    hint = f"write --set NAME=VALUE, such as --set {example}"
    values: dict[str, float] = {}
    for text in settings or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if not value:
            raise InputError(f"--set {text} has no value", hint=hint)
        try:
            values[name] = float(value)
        except ValueError:
            raise InputError(f"--set {text}: {value} is not a number", hint=hint) from None
    return values
