"""What one parameter of a gait does: the same gait with several values of it, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.figures.gait.content import GaitContent
from posewright.figures.gait.file import save_drawing
from posewright.figures.gait.multiples import multiples_page
from posewright.gaits import (
    Gait,
    VelocityCommand,
    explanation,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    timing_of,
)
from posewright.robots import Robot

DPI = 100

TURNS = "maximum_turn_rad"
"""The one parameter that shows in a turn on the spot; all others show in a walk straight ahead."""


@dataclass(frozen=True)
class Variant:
    """A gait with one value of a parameter.

    Attributes:
        label: what stands above its picture.
        content: what it does.
    """

    label: str
    content: GaitContent


def parameter_variants(
    gait: Gait, robot: Robot, name: str, values: Sequence[float] | Mapping[str, Mapping[str, float]]
) -> list[Variant]:
    """Return a gait with several values of a parameter, at its greatest speed ahead or greatest turn.

    Args:
        gait: all its other parameters stay.
        robot: who walks.
        name: of the parameter, as in `GaitParameters`.
        values: of it; or, by what they are called, values of dotted names below it.

    Raises:
        UnknownNameError: there is no such parameter.
        InputError: a value is out of its range.
    """
    told: Mapping[str, Mapping[str, float]] = (
        values if isinstance(values, Mapping) else {_label(name, value): {name: value} for value in values}
    )
    return [Variant(label, _content(gait.changed(changes), robot, name)) for label, changes in told.items()]


def draw_parameter(
    gait: Gait,
    robot: Robot,
    name: str,
    values: Sequence[float] | Mapping[str, Mapping[str, float]],
    path: str | Path,
) -> None:
    """Draw what a parameter of a gait does into a picture file: a small picture for each value.

    Args:
        gait: all its other parameters stay.
        robot: who walks.
        name: of the parameter, as in `GaitParameters`.
        values: of it; or, by what they are called, values of dotted names below it.
        path: ends in .png, .svg or .pdf.

    Raises:
        UnknownNameError: there is no such parameter.
        InputError: a value is out of its range, or another ending.
        UnreachableError: a foot cannot stand on its equilibrium point.
        MissingExtraError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    variants = parameter_variants(gait, robot, name, values)
    panels = {variant.label: variant.content for variant in variants}
    save_drawing(lambda: multiples_page(name, panels), path, text=described(name, variants), dpi=DPI)


def described(name: str, variants: Sequence[Variant]) -> str:
    """Return what a picture says of itself, so that one of other values is found out."""
    return f"{name}: {', '.join(variant.label for variant in variants)}"


def _label(name: str, value: float) -> str:
    unit = explanation(name).unit
    return f"{value:.3g} {unit.replace('pairs', 'pair') if value == 1 else unit}".strip()


def _content(gait: Gait, robot: Robot, name: str) -> GaitContent:
    timing = timing_of(gait.parameters, robot.frame_period_s)
    if name.partition(".")[0] == TURNS:
        command = VelocityCommand(turn_rad_s=greatest_turn_rad_s(gait.parameters, timing))
    else:
        command = VelocityCommand(forward_m_s=greatest_speed_m_s(gait.parameters, timing))
    return GaitContent(gait, robot, command)
