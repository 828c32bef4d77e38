"""Descriptions of a gait: plain data for programs, and lines and tables of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from posewright.display import Lines, Paragraph, Styled, Table, table
from posewright.documents.plain import PlainMapping
from posewright.gaits.checking import GaitCheck, GaitConcern, WorstCase
from posewright.gaits.command import bound_text
from posewright.gaits.gait import ParametricGait
from posewright.robots import Robot


def gait_lines(gait: ParametricGait, robot: Robot, check: GaitCheck | None) -> Lines:
    """Yield the lines of a gait's description; without results if `check` is None."""
    yield from _summary_lines(gait, robot)
    yield ""
    yield from _parameter_lines(_parameters_data(gait))
    if check is not None:
        yield ""
        yield from _check_lines(_check_data(check))


def describe_gait(gait: ParametricGait, robot: Robot, check: GaitCheck | None) -> PlainMapping:
    """Return all values of a gait; `check` is null if it was not checked."""
    return {
        **gait.describe_briefly(robot),
        "source": gait.source,
        "path": None if gait.path is None else str(gait.path),
        "pose": gait.pose,
        "travel_gain": asdict(gait.travel_gain),
        "trim": asdict(gait.trim),
        "feedback": asdict(gait.feedback),
        **gait.describe_walk(robot),
        "parameters": _parameters_data(gait),
        "check": None if check is None else _check_data(check),
    }


def _parameters_data(gait: ParametricGait) -> list[PlainMapping]:
    """Return the parameters with their explanations as plain data."""
    parameters: list[PlainMapping] = []
    for name, value in gait.parameter_values.items():
        explanation = gait.explanation(name)
        parameters.append(
            {
                "name": name,
                "document": explanation.title,
                "value": value,
                "unit": explanation.unit,
                "low": explanation.low,
                "high": explanation.high,
                "sentence": explanation.sentence,
            }
        )
    return parameters


def _check_data(check: GaitCheck) -> PlainMapping:
    """Return a gait check as plain data: counts, worst cases and all tried commands."""
    return {
        "commands": len(check.command_checks),
        "kept": check.n_within_bounds,
        "findings": len(check.findings),
        "worst": [_worst_data(entry) for entry in check.worst],
        "tried": [
            {
                **entry.command.by_name,
                "kept": entry.is_within_bound,
                "steady": {worst.concern.value: worst.value for worst in entry.steady},
                "changing": {worst.concern.value: worst.value for worst in entry.changing},
            }
            for entry in check.command_checks
        ],
    }


def _worst_data(entry: WorstCase) -> PlainMapping:
    """Return a worst case as plain data."""
    return {
        "concern": entry.concern.value,
        "when": "changing" if entry.is_changing else "steady",
        "kept": entry.is_within_bound,
        "part": entry.part,
        "value": entry.value,
        "allowed": entry.concern.allowed,
        "unit": entry.concern.unit,
        "command": entry.command.by_name,
    }


def gait_table(briefs: Sequence[PlainMapping]) -> Table:
    """Return a table with a row for each gait, given what `ParametricGait.describe_briefly` returns."""
    columns = ("gait", "robot", "m/s", "rad/s", "cycle s", "what it is")
    rows = []
    for gait in briefs:
        speed = bound_text(gait["greatest_speed_m_s"])
        turn = bound_text(gait["greatest_turn_rad_s"], 2)
        cycle = f"{gait['period_s']:.3f}"
        rows.append((gait["gait"], gait["robot"], speed, turn, cycle, gait["description"]))
    return table(columns, rows, text_columns=("gait", "robot", "what it is"))


def _summary_lines(gait: ParametricGait, robot: Robot) -> Iterator[str]:
    """Yield the lines of text that summarise a gait."""
    yield f"{gait.name}: {gait.robot}" + (f", {gait.description}" if gait.description else "")
    gain = gait.travel_gain
    topics = {
        **gait.summarise_walk(robot),
        "travel gain": f"forward {gain.forward:g}, left {gain.left:g}, turn {gain.turn:g}",
    }
    trim = gait.trim
    if any(asdict(trim).values()):
        topics["trim"] = (
            f"forward {trim.forward_m_s:g} m/s, left {trim.left_m_rad:g} m a radian of turn, "
            f"turn {trim.turn_rad_m:g} rad a metre to the left"
        )
    feedback = gait.feedback
    reactions = []
    if feedback.holds_heading:
        reactions.append(
            f"turns {feedback.heading_1_s:g} rad/s for each radian its heading is off, "
            f"at most {feedback.max_heading_turn_rad_s:g} rad/s"
        )
    if feedback.levels_feet:
        reactions.append(
            f"levels the swinging foot by {feedback.foot_levelling:g} of the tilt "
            f"that exceeds {feedback.rocking_rad:g} rad of rocking"
        )
    if reactions:
        topics["feedback"] = "; ".join(reactions)
    if gait.source:
        topics["source"] = gait.source
    for topic, text in topics.items():
        yield f"  {topic:<13}  {text}"


def _parameter_lines(parameters: Sequence[PlainMapping]) -> Lines:
    """Yield each parameter's value and range, and below them its name in the lecture and its meaning.

    Nothing is cut: the names are those of `--set`, and fit 80 columns.
    """
    yield Styled(_row("parameter", "value", "range"), style="dim")
    for entry in parameters:
        first_text, *other_texts = _value_texts(entry["value"])
        limits = f"{entry['low']:g} to {entry['high']:g} {entry['unit']}".rstrip()
        yield Styled(_row(entry["name"], first_text, limits))
        for text in other_texts:
            yield Styled(_row("", text, limits=""))
        yield Paragraph(f"{entry['document'].capitalize()}. {entry['sentence']}", indent=4)


def _row(name: str, value: str, limits: str) -> str:
    return f"{name:<22}  {value:<32} {limits}".rstrip()


def _value_texts(value: float | PlainMapping) -> list[str]:
    """Return the texts of a parameter's value, one per foot or pair of feet that differ."""
    if not isinstance(value, Mapping):
        return [f"{value:g}"]
    if set(value) == {"fore", "hind"} and value["fore"] == value["hind"]:
        return [f"{value['fore']:g}"]
    texts = []
    for name, component in value.items():
        numbers = component if isinstance(component, list) else [component]
        texts.append(f"{name} {' '.join(f'{number:g}' for number in numbers)}")
    return texts


def _check_lines(check: PlainMapping) -> Iterator[str]:
    """Yield the results of the check: the worst of each concern, with its value, place and command.

    Those of steady walks come first, then those of transitions between commands.
    """
    yield f"joints, without physics: as they should be at {check['kept']} of {check['commands']} commands"
    titles = {"steady": "at the worst", "changing": "at the worst, from one command to another"}
    for when, title in titles.items():
        yield f"  {title}"
        for entry in check["worst"]:
            if entry["when"] == when:
                yield f"    {_worst_line(entry)}".rstrip()


def _worst_line(entry: PlainMapping) -> str:
    """Return the line of a worst case: verdict, concern, distance from the bound, part and command.

    Where a bound of these concerns is met, no part is nearest to it, so part and command are left out.
    """
    has_no_worst_part = entry["kept"] and entry["concern"] in {
        GaitConcern.REACH.value,
        GaitConcern.COUPLED.value,
    }
    if has_no_worst_part:
        part_and_command = ""
    else:
        part = entry["part"].partition(" at ")[0]  # a coupling table is named after its joint "at" a place
        part_and_command = f"{part:<22} {_command_text(entry['command'])}"
    verdict = "ok" if entry["kept"] else "BEYOND"
    return f"{verdict:<7} {entry['concern']:<14} {_format_distance(entry):<20} {part_and_command}"


def _format_distance(entry: PlainMapping) -> str:
    """Return the text of a worst value's distance from its bound."""
    value = entry["value"]
    if entry["concern"] == GaitConcern.SPEED.value:
        return f"{value:.2f} x the largest"
    if entry["concern"] == GaitConcern.REACH.value:
        return "all points reached" if entry["kept"] else f"{1000.0 * value:.1f} mm away"
    if entry["concern"] == GaitConcern.COUPLED.value and entry["kept"]:
        return "kept"
    return f"{math.degrees(abs(value)):.1f} deg {'inside' if entry['kept'] else 'beyond'}"


def _command_text(command: Mapping[str, float]) -> str:
    """Return a command as a user types it, such as `forward +0.1`."""
    names = {"forward_m_s": "forward", "left_m_s": "left", "turn_rad_s": "turn"}
    texts = (  # bounds are rounded down, so that the typed command is never more than was tried
        f"{names[name]} {'-' if value < 0.0 else '+'}{bound_text(abs(value))}"
        for name, value in command.items()
        if value
    )
    return " ".join(texts) or "on the spot"
