"""What `posewright gait list` and `show` say: as data for programs, as lines and tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from posewright.cli.console import printable
from posewright.gaits import (
    EXPLANATIONS,
    Concern,
    ForeHind,
    Gait,
    GaitCheck,
    Worst,
    bound_text,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    timing_of,
)
from posewright.robots import Robot

DIGITS = 9


def describe_briefly(gait: Gait, robot: Robot) -> dict[str, Any]:
    """Return what a list shows of a gait."""
    timing = timing_of(gait.parameters, robot.frame_period_s)
    return {
        "gait": gait.name,
        "robot": gait.robot,
        "description": gait.description,
        "phases": gait.phases.name,
        "period_s": round(timing.period_s, DIGITS),
        "greatest_speed_m_s": round(greatest_speed_m_s(gait.parameters, timing), DIGITS),
        "greatest_turn_rad_s": round(greatest_turn_rad_s(gait.parameters, timing), DIGITS),
    }


def describe(gait: Gait, robot: Robot, check: GaitCheck | None) -> dict[str, Any]:
    """Return all of a gait; `check` is null where it was not checked."""
    timing = timing_of(gait.parameters, robot.frame_period_s)
    return {
        **describe_briefly(gait, robot),
        "source": gait.source,
        "path": None if gait.path is None else str(gait.path),
        "phase_offsets": dict(gait.phases.offsets),
        "interpolation": gait.interpolation.value,
        "pose": gait.pose,
        "travel_gain": asdict(gait.travel_gain),
        "trim": asdict(gait.trim),
        "timing": {
            "frames": timing.frames,
            "frame_s": robot.frame_period_s,
            "period_s": round(timing.period_s, DIGITS),
            "ground_s": round(timing.ground_s, DIGITS),
            "air_s": round(timing.air_s, DIGITS),
            "ascent_s": round(timing.ascent_s, DIGITS),
        },
        "parameters": [
            _parameter(entry.name, getattr(gait.parameters, entry.name)) for entry in fields(gait.parameters)
        ],
        "check": None if check is None else _check(check),
    }


def _parameter(name: str, value: object) -> dict[str, Any]:
    told = EXPLANATIONS[name]
    if isinstance(value, ForeHind):
        value = asdict(value)
    elif isinstance(value, Mapping):
        value = {foot: list(point) for foot, point in value.items()}
    return {
        "name": name,
        "document": told.document,
        "value": value,
        "unit": told.unit,
        "low": told.low,
        "high": told.high,
        "sentence": told.sentence,
    }


def _check(check: GaitCheck) -> dict[str, Any]:
    return {
        "commands": len(check.tried),
        "kept": check.kept,
        "findings": len(check.findings),
        "worst": [_worst(entry) for entry in check.worst],
        "tried": [
            {
                **entry.command.by_name,
                "kept": entry.is_kept,
                "steady": {worst.concern.value: worst.value for worst in entry.steady},
                "changing": {worst.concern.value: worst.value for worst in entry.changing},
            }
            for entry in check.tried
        ],
    }


def _worst(entry: Worst) -> dict[str, Any]:
    return {
        "concern": entry.concern.value,
        "when": "changing" if entry.is_changing else "steady",
        "kept": entry.is_kept,
        "part": entry.part,
        "value": entry.value,
        "allowed": entry.concern.allowed,
        "unit": entry.concern.unit,
        "command": entry.command.by_name,
    }


def list_table(told: Iterable[dict[str, Any]]) -> Table:
    """Return one row a gait."""
    columns = ("gait", "robot", "m/s", "rad/s", "cycle s", "what it is")
    rows = [
        (
            entry["gait"],
            entry["robot"],
            bound_text(entry["greatest_speed_m_s"]),
            bound_text(entry["greatest_turn_rad_s"], 2),
            f"{entry['period_s']:.3f}",
            printable(entry["description"]),
        )
        for entry in told
    ]
    return _table(columns, rows, right=("m/s", "rad/s", "cycle s"))


def gait_lines(told: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that describe a gait to a person."""
    timing, gain = told["timing"], told["travel_gain"]
    description = printable(told["description"])
    yield f"{told['gait']}: {told['robot']}" + (f", {description}" if description else "")
    offsets = ", ".join(f"{foot} {phase:g}" for foot, phase in told["phase_offsets"].items())
    yield f"  feet lift      {told['phases']}: {offsets} of a cycle"
    yield (
        f"  cycle          {timing['period_s']:.3f} s, {timing['frames']} frames: a foot is down"
        f" {timing['ground_s']:.3f} s and up {timing['air_s']:.3f} s, {timing['ascent_s']:.3f} s of these"
        " rising and as long sinking"
    )
    yield (
        f"  commands       0 to {bound_text(told['greatest_speed_m_s'])} m/s in any direction,"
        f" -{bound_text(told['greatest_turn_rad_s'])} to {bound_text(told['greatest_turn_rad_s'])} rad/s"
    )
    yield f"  interpolation  {told['interpolation']}; other joints as in pose {told['pose']}"
    yield f"  travel gain    forward {gain['forward']:g}, left {gain['left']:g}, turn {gain['turn']:g}"
    trim = told["trim"]
    if any(trim.values()):
        yield (
            f"  trim           forward {trim['forward_m_s']:g} m/s, left {trim['left_m_rad']:g} m a radian of"
            f" turn, turn {trim['turn_rad_m']:g} rad a metre to the left"
        )
    if told["source"]:
        yield f"  source         {printable(told['source'])}"


def parameter_lines(parameters: Iterable[dict[str, Any]]) -> Iterator[RenderableType]:
    """Yield of each parameter its value and range, and below, what it does after the name in the document.

    Nothing is cut: the names are those that `--set` wants, and they fit 80 columns.
    """
    yield Text(_row("parameter", "value", "range"), style="dim")
    for entry in parameters:
        first, *more = _value_texts(entry["value"])
        limits = f"{entry['low']:g} to {entry['high']:g} {entry['unit']}".rstrip()
        yield Text(_row(entry["name"], first, limits))
        for further in more:
            yield Text(_row("", further, ""))
        yield Padding(Text(f"{entry['document'].capitalize()}. {entry['sentence']}"), (0, 0, 0, 4))


def _row(name: str, value: str, limits: str) -> str:
    return f"{name:<22}  {value:<32} {limits}".rstrip()


def _value_texts(value: Any) -> list[str]:
    if not isinstance(value, Mapping):
        return [f"{value:g}"]
    if set(value) == {"fore", "hind"} and value["fore"] == value["hind"]:
        return [f"{value['fore']:g}"]
    texts = {
        name: " ".join(f"{at:g}" for at in part) if isinstance(part, list) else f"{part:g}"
        for name, part in value.items()
    }
    return [f"{name} {text}" for name, text in texts.items()]


def check_lines(check: dict[str, Any]) -> Iterator[str]:
    """Yield what the joints would have to do: the worst of each concern, how bad, where, at which command."""
    yield f"joints, without physics: as they should be at {check['kept']} of {check['commands']} commands"
    for when, title in (
        ("steady", "at the worst"),
        ("changing", "at the worst, from one command to another"),
    ):
        yield f"  {title}"
        for entry in check["worst"]:
            if entry["when"] == when:
                yield f"    {_worst_line(entry)}".rstrip()


def _worst_line(entry: dict[str, Any]) -> str:
    is_none = entry["kept"] and entry["concern"] in {Concern.REACH.value, Concern.COUPLED.value}
    place = "" if is_none else f"{entry['part'].partition(' at ')[0]:<22} {_command_text(entry['command'])}"
    return f"{'ok' if entry['kept'] else 'BEYOND':<7} {entry['concern']:<14} {_how_far(entry):<20} {place}"


def _how_far(entry: dict[str, Any]) -> str:
    value = entry["value"]
    if entry["concern"] == Concern.SPEED.value:
        return f"{value:.2f} x the largest"
    if entry["concern"] == Concern.REACH.value:
        return "all points reached" if entry["kept"] else f"{1000.0 * value:.1f} mm away"
    if entry["concern"] == Concern.COUPLED.value and entry["kept"]:
        return "kept"
    return f"{math.degrees(abs(value)):.1f} deg {'inside' if entry['kept'] else 'beyond'}"


def _command_text(command: Mapping[str, float]) -> str:
    names = {"forward_m_s": "forward", "left_m_s": "left", "turn_rad_s": "turn"}
    return (
        " ".join(f"{names[name]} {_signed(value)}" for name, value in command.items() if value)
        or "on the spot"
    )


def _signed(value: float) -> str:
    """Return part of a command as it may be typed: never more than was tried."""
    return f"{'-' if value < 0.0 else '+'}{bound_text(abs(value))}"


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]], *, right: Iterable[str] = ()) -> Table:
    """Return a table; cells are never read as markup."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(
            column, justify="right" if column in right else "left", header_style="dim", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
