"""Options that the gait verbs share, and how they open a gait."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from posewright import formats, gaits, robots
from posewright.cli.options import argument, option
from posewright.errors import DocumentError, FormatError, InputError, UnreachableError, Where

GaitName = Annotated[
    str, argument("GAIT", "A gait of `posewright gait list`, or the path of your own *.gait.yaml.")
]
RobotOption = Annotated[
    str | None, option("--robot R", "A robot of `posewright robots list`, or a card; default the gait's own.")
]
Forward = Annotated[float, option("--forward M/S", "Speed forwards; negative is backwards.")]
Left = Annotated[float, option("--left M/S", "Speed to the left; negative is to the right.")]
Turn = Annotated[float, option("--turn RAD/S", "Speed of turning to the left; negative is to the right.")]
Sets = Annotated[
    list[str] | None,
    option(
        "--set NAME=VALUE",
        "Give a parameter another value; `gait show` names them: shape_factor=0.5, "
        "front_height_m.fore=0.02, equilibrium_m.hind.x=-0.08. Repeat for more.",
        show_default=False,
    ),
]

SET_HINT = "--set NAME=VALUE, as in --set shape_factor=0.5"


def open_gait(
    name: str, robot: str | None = None, sets: list[str] | None = None
) -> tuple[gaits.Gait, robots.Robot]:
    """Return a gait with the values that were set, and the robot that walks it.

    Raises:
        UnknownNameError: there is no such gait, robot or parameter.
        DocumentError: the gait's document is not what it should be.
        FormatError: the file is of a kind that is known, and no gait.
        InputError: a value is no number or out of its range, or the gait is another robot's.
        UnreachableError: a foot cannot stand where it is to stand.
    """
    card = None if robot is None else robots.robot(robot)
    try:
        gait, card = gaits.read_gait_and_robot(name, robot=card)
    except DocumentError as error:
        if error.where is not None and error.where.path == Path(name):  # else its card is at fault
            _refuse_other_kinds(error.where.path)
        raise
    gait = gait.with_values(values_set(sets))
    _refuse_unreachable(gait, card)
    return gait, card


def _refuse_unreachable(gait: gaits.Gait, robot: robots.Robot) -> None:
    """Raise UnreachableError, by the parameter's name, where a foot cannot stand on its equilibrium point."""
    legs = gaits.walking_legs(robot)
    for foot, point in gait.parameters.equilibrium_m.items():
        missed = legs[foot].out_of_reach(*legs[foot].foot_centres(point).tolist())
        if missed is not None:
            told = "({:g}, {:g}, {:g}) m".format(*point)
            shoulder = "({:g}, {:g}, {:g}) m".format(*legs[foot].shoulder_m)
            raise UnreachableError(
                f"equilibrium_m.{foot} is {told}: {missed.reason}",
                hint=f"a point, seen from the base, nearer to where that leg begins: {shoulder}"
                if missed.is_far
                else f"another point, seen from the base; that leg begins at {shoulder}",
            )


def _refuse_other_kinds(path: Path) -> None:
    """Raise the error that says what a file is, if it is of a known kind and no gait."""
    try:
        kind = formats.detect_kind(formats.read_file_bytes(path), path)
    except FormatError:
        return  # not there, or of no known kind: what is wrong with it as a gait says more
    if kind.name != formats.GAIT:
        hint = "`posewright motion info` shows motions; " if kind.is_motion else ""
        what = f"this is {kind.title}: no gait"
        raise FormatError(what, where=Where(path=path), hint=f"{hint}`posewright gait list` has gaits")


def values_set(sets: list[str] | None) -> dict[str, float]:
    """Return what `NAME=VALUE` texts say, the last one of a name, or raise InputError."""
    values: dict[str, float] = {}
    for text in sets or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if not value:
            raise InputError(f"--set {text}: there is no value", hint=SET_HINT)
        try:
            values[name] = float(value)
        except ValueError:
            raise InputError(f"--set {text}: {value} is no number", hint=SET_HINT) from None
    return values
