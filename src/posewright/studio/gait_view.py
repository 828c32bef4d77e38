"""Gaits and results of walks as plain data for windows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from posewright.evaluation import FIGURES
from posewright.evaluation.walking.report import WalkResult
from posewright.figures.gait.content import COLOURS, ORDER, SHORT_FOOT_NAMES
from posewright.gaits import (
    PHASE_TABLES,
    GaitTiming,
    Interpolation,
    QuadrupedGait,
    VelocityCommand,
    greatest_speed_m_s,
    greatest_turn_rad_s,
)
from posewright.gaits.quadruped.writing import pair_mirrored_points
from posewright.robots import Robot
from posewright.studio.requests import View


class DisplayUnit(NamedTuple):
    """The unit in which a parameter is displayed, and the factor from its value to the displayed value."""

    name: str
    factor: float


DISPLAY_UNITS = {
    "m": DisplayUnit("mm", 1000.0),
    "rad": DisplayUnit("deg", math.degrees(1.0)),
    "rad/m": DisplayUnit("deg/m", math.degrees(1.0)),
}
"""Display unit by the unit of a parameter; parameters with other units are displayed as they are."""

DIGITS = 6
"""Decimals of displayed values."""

VALUE_DIGITS = 9
"""Decimals of the values that a gait gets from displayed ones."""

SLIDER_STEPS = 500.0
"""The minimum number of steps of a slider over its range."""


def display_unit(name: str) -> DisplayUnit:
    """Return the display unit of a gait parameter; `name` as in `QuadrupedGait.with_values`."""
    unit = QuadrupedGait.explanation(name).unit
    return DISPLAY_UNITS.get(unit, DisplayUnit(unit, 1.0))


def with_displayed_values(gait: QuadrupedGait, displayed: Mapping[str, float]) -> QuadrupedGait:
    """Return the gait with new values of some parameters; the same object if no value changes.

    Args:
        gait: the gait.
        displayed: new values by parameter, in display units.
    """
    values = {
        name: round(value / display_unit(name).factor, VALUE_DIGITS) for name, value in displayed.items()
    }
    new_gait = gait.with_values(values)
    return gait if new_gait.flat == gait.flat else new_gait


def gait_view(gait: QuadrupedGait, robot: Robot, timing: GaitTiming | None) -> View:
    """Return a gait as plain data: its settings, the choices for each of them, its feet and parameters.

    Args:
        gait: the gait.
        robot: its robot.
        timing: the durations in its cycle; None if the gait cannot walk.
    """
    timing_view = None
    if timing is not None:
        timing_view = {
            "period_s": timing.period_s,
            "air_share": timing.air_share,
            "speed_m_s": greatest_speed_m_s(gait.parameters, timing),
            "turn_deg_s": math.degrees(greatest_turn_rad_s(gait.parameters, timing)),
        }
    return {
        "name": gait.name,
        "description": gait.description,
        "phases": gait.phases.name,  # that of the phase table
        "tables": sorted({*PHASE_TABLES, gait.phases.name}),
        "interpolation": gait.interpolation.value,
        "interpolations": [kind.value for kind in Interpolation],
        "pose": gait.pose,
        "poses": list(robot.poses),
        "feet": [
            {
                "foot": foot,
                "short": SHORT_FOOT_NAMES[foot],
                "colour": COLOURS[foot],
                "lifts": gait.phases.offsets[foot],  # share of the gait cycle at which the foot lifts
            }
            for foot in ORDER
        ],
        "groups": list(_parameter_groups(gait)),
        "timing": timing_view,
    }


def _parameter_groups(gait: QuadrupedGait) -> Iterator[View]:
    """Yield the parameters that share the part of their name before a dot, each group with its sliders."""
    groups: dict[str, list[str]] = {}
    parameters = _displayed_parameters(gait)
    for name in parameters:
        base, _, _ = name.partition(".")
        groups.setdefault(base, []).append(name)
    for base, names in groups.items():
        explanations = [QuadrupedGait.explanation(name) for name in names]
        sentences = dict.fromkeys(explanation.sentence for explanation in explanations)
        yield {
            "name": base,
            "title": explanations[0].title,
            "sentence": next(iter(sentences)) if len(sentences) == 1 else "",
            "entries": [_slider_view(name, parameters[name]) for name in names],
        }


def _slider_view(name: str, value: float) -> View:
    """Return the slider of a gait parameter with its present value, as plain data in display units."""
    explanation = QuadrupedGait.explanation(name)
    unit, factor = display_unit(name)
    low = explanation.low * factor
    high = explanation.high * factor
    _, _, name_in_group = name.partition(".")  # "" for a parameter outside a group
    # outside a group, the label is the name that the lecture about this walk uses
    label = name_in_group.replace(".", " ").replace("_", " ") or explanation.title
    return {
        "name": name,
        "label": label,
        "sentence": explanation.sentence,
        "value": round(value * factor, DIGITS),
        "unit": unit,
        "low": round(low, DIGITS),
        "high": round(high, DIGITS),
        "step": 1.0 if explanation.is_whole else _slider_step(low, high),
    }


def _slider_step(low: float, high: float) -> float:
    """Return the largest power of ten that divides a range into at least `SLIDER_STEPS` steps."""
    largest_step = (high - low) / SLIDER_STEPS
    return 10.0 ** math.floor(math.log10(largest_step))


def _displayed_parameters(gait: QuadrupedGait) -> dict[str, float]:
    """Return the parameters of a gait; mirrored feet share theirs, such as `equilibrium_m.fore.x`."""
    points = {
        f"equilibrium_m.{feet}.{axis}": value
        for feet, point in pair_mirrored_points(gait.parameters.equilibrium_m).items()
        for axis, value in zip("xyz", point, strict=True)
    }
    other_parameters = {
        name: value for name, value in gait.flat.items() if not name.startswith("equilibrium_m.")
    }
    return other_parameters | points


def command_view(command: VelocityCommand | None) -> dict[str, float] | None:
    """Return a velocity in display units."""
    if command is None:
        return None
    turn = math.degrees(command.turn_rad_s)
    values = {"forward_m_s": command.forward_m_s, "left_m_s": command.left_m_s, "turn_deg_s": turn}
    return {name: round(value, 4) + 0.0 for name, value in values.items()}  # + 0.0 turns -0.0 into 0.0


def result_view(result: WalkResult) -> View:
    """Return the falls and figures of a walk as plain data."""
    report = result.report
    figures = [
        {
            "words": figure.label.strip(),
            "value": figure.text(figure.value_in(report)),
            "unit": figure.unit,
            "asked": figure.text(report.figures[figure.commanded]) if figure.commanded else "",
            "limit": "" if figure.limit is None else f"{figure.limit:g}",
            "kept": figure.is_within_limit(figure.value_in(report)),
        }
        for figure in FIGURES
    ]
    falls = [{"time_s": fall.time_s, "side": fall.side} for fall in report.falls]
    return {"falls": falls, "figures": figures, "seconds": result.simulated_s}
