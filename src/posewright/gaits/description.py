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
        "worst": [_worst_case_data(worst_case) for worst_case in check.worst],
        "tried": [
            {
                **command_check.command.by_name,
                "kept": command_check.is_within_bound,
                "steady": {worst.concern.value: worst.value for worst in command_check.steady},
                "changing": {worst.concern.value: worst.value for worst in command_check.changing},
            }
            for command_check in check.command_checks
        ],
    }


def _worst_case_data(worst_case: WorstCase) -> PlainMapping:
    """Return the command at which one concern about a gait is worst, and how it is then, as plain data.

    A concern is a limit of the robot: the distance of a foot from its planned position, the angle of a joint
    beyond its limit, or its speed, for example. `value` and `allowed` are in `unit`.
    """
    return {
        "concern": worst_case.concern.value,
        "when": "changing" if worst_case.is_changing else "steady",
        "kept": worst_case.is_within_bound,
        "part": worst_case.part,
        "value": worst_case.value,
        "allowed": worst_case.concern.allowed,
        "unit": worst_case.concern.unit,
        "command": worst_case.command.by_name,
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
    """Yield lines that summarise a gait, one for each topic, such as its cycle or its commands."""
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
    """Yield a table of parameters with their values and ranges, and below each its title and meaning.

    The names are written in full, because a user types them after `--set`; they fit 80 columns.

    Args:
        parameters: the parameters as returned by `_parameters_data`.
    """
    yield Styled(_parameter_row("parameter", "value", "range"), style="dim")
    for parameter in parameters:
        first_value_text, *further_value_texts = _value_texts(parameter["value"])
        range_text = f"{parameter['low']:g} to {parameter['high']:g} {parameter['unit']}".rstrip()
        yield Styled(_parameter_row(parameter["name"], first_value_text, range_text))
        for value_text in further_value_texts:
            yield Styled(_parameter_row(name="", value_text=value_text, range_text=""))
        title_in_lecture = parameter["document"].capitalize()
        yield Paragraph(f"{title_in_lecture}. {parameter['sentence']}", indent=4)


def _parameter_row(name: str, value_text: str, range_text: str) -> str:
    """Return a row of the table of parameters, in columns of fixed width."""
    return f"{name:<22}  {value_text:<32} {range_text}".rstrip()


def _value_texts(value: float | PlainMapping) -> list[str]:
    """Return the lines that show a parameter's value, one for each foot or pair of feet if they differ.

    Args:
        value: a number; or a number, or a list of coordinates, for each foot or pair of feet.
    """
    if not isinstance(value, Mapping):
        return [f"{value:g}"]
    if set(value) == {"fore", "hind"} and value["fore"] == value["hind"]:
        return [f"{value['fore']:g}"]
    texts = []
    for feet_name, value_of_feet in value.items():
        numbers = value_of_feet if isinstance(value_of_feet, list) else [value_of_feet]
        texts.append(f"{feet_name} {' '.join(f'{number:g}' for number in numbers)}")
    return texts


def _check_lines(check: PlainMapping) -> Iterator[str]:
    """Yield the results of a gait check: for each concern, such as a joint's speed, the worst case.

    The worst cases of steady walks come first, then those of transitions between commands.

    Args:
        check: the check as returned by `_check_data`.
    """
    yield f"joints, without physics: as they should be at {check['kept']} of {check['commands']} commands"
    titles = {"steady": "at the worst", "changing": "at the worst, from one command to another"}
    for when, title in titles.items():
        yield f"  {title}"
        for worst_case in check["worst"]:
            if worst_case["when"] == when:
                yield f"    {_worst_case_line(worst_case)}".rstrip()


def _worst_case_line(worst_case: PlainMapping) -> str:
    """Return the line of a worst case: verdict, concern, distance from the bound, part and command.

    If all points are reached, or all coupled limits met, there is no worst part; then part and command are
    left out.

    Args:
        worst_case: the worst case as returned by `_worst_case_data`.
    """
    is_within_bound = worst_case["kept"]
    has_no_worst_part = is_within_bound and worst_case["concern"] in {
        GaitConcern.REACH.value,
        GaitConcern.COUPLED.value,
    }
    if has_no_worst_part:
        part_and_command = ""
    else:
        # a coupled limit is named after its joint "at" the joints it depends on
        part = worst_case["part"].partition(" at ")[0]
        part_and_command = f"{part:<22} {_command_text(worst_case['command'])}"
    verdict = "ok" if is_within_bound else "BEYOND"
    return f"{verdict:<7} {worst_case['concern']:<14} {_distance_text(worst_case):<20} {part_and_command}"


def _distance_text(worst_case: PlainMapping) -> str:
    """Return how far the value of a worst case is from its bound, in the concern's own unit.

    Args:
        worst_case: the worst case as returned by `_worst_case_data`; its value is a ratio of speeds, a
            distance [m], or an angle [rad].
    """
    concern = GaitConcern(worst_case["concern"])
    value = worst_case["value"]
    is_within_bound = worst_case["kept"]
    if concern is GaitConcern.SPEED:
        return f"{value:.2f} x the largest"
    if concern is GaitConcern.REACH:
        return "all points reached" if is_within_bound else f"{1000.0 * value:.1f} mm away"
    if concern is GaitConcern.COUPLED and is_within_bound:
        return "kept"
    return f"{math.degrees(abs(value)):.1f} deg {'inside' if is_within_bound else 'beyond'}"


def _command_text(command: Mapping[str, float]) -> str:
    """Return a command as a user types it, such as `forward +0.1`."""
    names = {"forward_m_s": "forward", "left_m_s": "left", "turn_rad_s": "turn"}
    texts = (  # bounds are rounded down, so that the typed command is never more than was tried
        f"{names[name]} {'-' if value < 0.0 else '+'}{bound_text(abs(value))}"
        for name, value in command.items()
        if value
    )
    return " ".join(texts) or "on the spot"
