"""`posewright gait`: walks made from a velocity command, listed and shown; its other verbs lie beside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from posewright import figures, gaits, robots
from posewright.cli.console import give, say, table
from posewright.cli.gait_options import GaitName, Left, RobotOption, Sets, Turn, open_gait
from posewright.cli.gait_run import compare, run
from posewright.cli.gait_sample import sample
from posewright.cli.options import AsJson, add_group, add_verb, option, refuse_overwriting

DIGITS = 9
TIMES = ("period_s", "ground_s", "air_s", "ascent_s")

Ahead = Annotated[
    float | None,
    option(
        "--forward M/S",
        "Speed forwards; negative is backwards. Default half the greatest speed, or 0 with --left or --turn.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "gait")
    add_verb(group, "list", list_gaits, twins="gait_names")
    add_verb(group, "show", show, twins="read_gait check_gait")
    add_verb(group, "plot", plot, twins="draw_gait")
    add_verb(group, "sample", sample, twins="sample_gait write_motion")
    add_verb(group, "run", run, twins="walk_gait walk_many play_gait draw_walk")
    add_verb(group, "compare", compare, twins="walk_gait")


def list_gaits(
    robot: Annotated[
        str | None, option("--robot R", "Only the gaits of this robot; a name or a card.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the gaits that come with Posewright, with their top speeds and the time of a cycle.

    [bold]Examples[/]
      posewright gait list
      posewright gait list --robot sony_ers7 --json
    """
    cards = [robots.robot(name) for name in (robots.robot_names() if robot is None else (robot,))]
    told = [
        describe_briefly(*gaits.read_gait_and_robot(name, robot=card))
        for card in cards
        for name in gaits.gait_names(card)
    ]
    give(told, [list_table(told) if told else "no gait ships for this robot"], as_json=as_json)


def show(
    gait: GaitName,
    robot: RobotOption = None,
    sets: Sets = None,
    no_check: Annotated[bool, option("--no-check", "Skip the check of reach, limits and speeds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a gait: what each parameter does, the resulting times, and whether the joints can follow.

    The check needs no physics: it tries the joints at every extreme of the command, and from each to its
    opposite, for reach, limits, coupled limits and speeds.

    [bold]Examples[/]
      posewright gait show trot
      posewright gait show trot --set maximum_turn_rad=0.05 --set front_height_m.fore=0.012
      posewright gait show my.gait.yaml --robot my_robot/robot.yaml --json
    """
    opened, card = open_gait(gait, robot, sets)
    told = describe(opened, card, None if no_check else gaits.check_gait(opened, card))
    give(told, _shown(told), as_json=as_json)


def plot(
    gait: GaitName,
    output: Annotated[Path, option("--output -o PICTURE", "A .png, .svg or .pdf file.")],
    forward: Ahead = None,
    left: Left = 0.0,
    turn: Turn = 0.0,
    robot: RobotOption = None,
    sets: Sets = None,
) -> None:
    """Draw a gait: the ways of the feet, which are down when, and the joints beside their limits.

    One page of a steady cycle: each foot from the side, with its waypoints and the path between them;
    all of them from above, with where the robot goes; phases; angles and speeds of the joints of two legs.
    Nothing is simulated. Without a command it goes ahead at half the greatest speed.

    [bold]Examples[/]
      posewright gait plot trot -o trot.png
      posewright gait plot crawl --forward 0.03 --turn 0.2 -o arc.svg
      posewright gait plot trot --forward 0 --set shape_factor=1 -o on_the_spot.pdf
    """
    opened, card = open_gait(gait, robot, sets)
    refuse_overwriting(output, gait, opened.path)
    figures.refuse_unsavable(output)
    is_asked = forward is not None or left != 0.0 or turn != 0.0
    command = gaits.VelocityCommand(forward or 0.0, left, turn) if is_asked else None
    figures.save_figure(figures.draw_gait(opened, card, command=command), output)
    say(f"{opened.name} -> {output}")


def _shown(told: dict[str, Any]) -> Iterator[RenderableType]:
    yield from _gait_lines(told)
    yield ""
    yield from _parameter_lines(told["parameters"])
    if told["check"] is not None:
        yield ""
        yield from _check_lines(told["check"])


def describe_briefly(gait: gaits.Gait, robot: robots.Robot) -> dict[str, Any]:
    """Return what a list shows of a gait."""
    timing = gaits.timing_of(gait.parameters, robot.frame_period_s)
    return {
        "gait": gait.name,
        "robot": gait.robot,
        "description": gait.description,
        "phases": gait.phases.name,
        "period_s": round(timing.period_s, DIGITS),
        "greatest_speed_m_s": round(gaits.greatest_speed_m_s(gait.parameters, timing), DIGITS),
        "greatest_turn_rad_s": round(gaits.greatest_turn_rad_s(gait.parameters, timing), DIGITS),
    }


def describe(gait: gaits.Gait, robot: robots.Robot, check: gaits.GaitCheck | None) -> dict[str, Any]:
    """Return all of a gait; `check` is null where it was not checked."""
    timing = gaits.timing_of(gait.parameters, robot.frame_period_s)
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
            **{name: round(getattr(timing, name), DIGITS) for name in TIMES},
        },
        "parameters": [
            _parameter(entry.name, getattr(gait.parameters, entry.name)) for entry in fields(gait.parameters)
        ],
        "check": None if check is None else _check(check),
    }


def _parameter(name: str, value: object) -> dict[str, Any]:
    told = gaits.EXPLANATIONS[name]
    if isinstance(value, gaits.ForeHind):
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


def _check(check: gaits.GaitCheck) -> dict[str, Any]:
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


def _worst(entry: gaits.Worst) -> dict[str, Any]:
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


def list_table(told: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row a gait."""
    columns = ("gait", "robot", "m/s", "rad/s", "cycle s", "what it is")
    rows = []
    for one in told:
        speed, turn = one["greatest_speed_m_s"], one["greatest_turn_rad_s"]
        fastest = (gaits.bound_text(speed), gaits.bound_text(turn, 2), f"{one['period_s']:.3f}")
        rows.append((one["gait"], one["robot"], *fastest, one["description"]))
    return table(columns, rows, words=("gait", "robot", "what it is"))


def _gait_lines(told: dict[str, Any]) -> Iterator[str]:
    timing, gain = told["timing"], told["travel_gain"]
    description = told["description"]
    yield f"{told['gait']}: {told['robot']}" + (f", {description}" if description else "")
    offsets = ", ".join(f"{foot} {phase:g}" for foot, phase in told["phase_offsets"].items())
    yield f"  feet lift      {told['phases']}: {offsets} of a cycle"
    yield (
        f"  cycle          {timing['period_s']:.3f} s, {timing['frames']} frames: a foot is down"
        f" {timing['ground_s']:.3f} s and up {timing['air_s']:.3f} s, {timing['ascent_s']:.3f} s of these"
        " rising and as long sinking"
    )
    speed, turn = (gaits.bound_text(told[key]) for key in ("greatest_speed_m_s", "greatest_turn_rad_s"))
    yield f"  commands       0 to {speed} m/s in any direction, -{turn} to {turn} rad/s"
    yield f"  interpolation  {told['interpolation']}; other joints as in pose {told['pose']}"
    yield f"  travel gain    forward {gain['forward']:g}, left {gain['left']:g}, turn {gain['turn']:g}"
    trim = told["trim"]
    if any(trim.values()):
        yield (
            f"  trim           forward {trim['forward_m_s']:g} m/s, left {trim['left_m_rad']:g} m a radian of"
            f" turn, turn {trim['turn_rad_m']:g} rad a metre to the left"
        )
    if told["source"]:
        yield f"  source         {told['source']}"


def _parameter_lines(parameters: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
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


def _check_lines(check: dict[str, Any]) -> Iterator[str]:
    """Yield what the joints would have to do: the worst of each concern, how bad, where, at which command."""
    yield f"joints, without physics: as they should be at {check['kept']} of {check['commands']} commands"
    titles = {"steady": "at the worst", "changing": "at the worst, from one command to another"}
    for when, title in titles.items():
        yield f"  {title}"
        for entry in check["worst"]:
            if entry["when"] == when:
                yield f"    {_worst_line(entry)}".rstrip()


def _worst_line(entry: dict[str, Any]) -> str:
    is_none = entry["kept"] and entry["concern"] in {gaits.Concern.REACH.value, gaits.Concern.COUPLED.value}
    place = "" if is_none else f"{entry['part'].partition(' at ')[0]:<22} {_command_text(entry['command'])}"
    return f"{'ok' if entry['kept'] else 'BEYOND':<7} {entry['concern']:<14} {_how_far(entry):<20} {place}"


def _how_far(entry: dict[str, Any]) -> str:
    value = entry["value"]
    if entry["concern"] == gaits.Concern.SPEED.value:
        return f"{value:.2f} x the largest"
    if entry["concern"] == gaits.Concern.REACH.value:
        return "all points reached" if entry["kept"] else f"{1000.0 * value:.1f} mm away"
    if entry["concern"] == gaits.Concern.COUPLED.value and entry["kept"]:
        return "kept"
    return f"{math.degrees(abs(value)):.1f} deg {'inside' if entry['kept'] else 'beyond'}"


def _command_text(command: Mapping[str, float]) -> str:
    names = {"forward_m_s": "forward", "left_m_s": "left", "turn_rad_s": "turn"}
    told = (  # as it may be typed: never more than was tried
        f"{names[name]} {'-' if value < 0.0 else '+'}{gaits.bound_text(abs(value))}"
        for name, value in command.items()
        if value
    )
    return " ".join(told) or "on the spot"
