"""`posewright robots`: what robots there are and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from posewright import figures, robots
from posewright.cli.console import give, table
from posewright.cli.options import AsJson, Plot, add_verb, argument

NOT_WORTH_SHOWING = (0, None, (0.0, 0.0, 0.0))
"""Values of a sensor's place and direction that say no more than its mount does."""

Rows = Iterable[Iterable[object]]


def register(app: typer.Typer) -> None:
    """Add the group `robots` to the application."""
    group = typer.Typer(rich_markup_mode="rich")
    group.callback(invoke_without_command=True)(list_robots)
    add_verb(group, "show", show)
    app.add_typer(group, name="robots")


def list_robots(context: typer.Context, as_json: AsJson = False) -> None:
    """List the robots that come with Posewright, or show one.

    [bold]Examples[/]

      posewright robots

      posewright robots --json

      posewright robots show robotis_bioloid
    """
    if context.invoked_subcommand is not None:
        return
    cards = [robots.describe_briefly(robots.robot(name)) for name in robots.robot_names()]
    rows = [(card["name"], card["maker"], card["n_joints"], card["title"]) for card in cards]
    give(cards, [_table("", ("name", "maker", "joints", "what it is"), rows)], as_json=as_json)


def show(
    name: Annotated[str, argument("NAME", "A robot of the list, or the path of one's own robot.yaml.")],
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Show a robot's card: joints, servos, limits, poses, numberings, sensors and sources.

    Angles are the joints' own: pitch about y, roll about x, yaw about z. The picture shows where they are,
    and which way is positive.

    [bold]Examples[/]
      posewright robots show robotis_bioloid
      posewright robots show robotis_bioloid --json
      posewright robots show sony_ers7 --plot joints.png
      posewright robots show my_robot/robot.yaml
    """
    robot = robots.robot(name)
    if plot is not None:
        figures.save_figure(figures.draw_robot(robot), plot)
    card = robots.describe(robot)
    give(card, _card(card), as_json=as_json)


def _card(card: dict[str, Any]) -> Iterator[str | Table]:
    yield f"{card['name']}: {card['maker']} {card['title']}"
    yield f"{card['n_joints']} joints, a frame every {1000.0 * card['frame_period_s']:g} ms"
    for one in card_tables(card):
        yield ""
        yield one


def card_tables(card: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables of one robot's card, from `posewright.robots.describe`."""
    yield _joints(card)
    if card["coupled_limits"]:
        yield _coupled_limits(card)
    yield _servo_models(card)
    if any(model["gains"] for model in card["servo_models"].values()):
        yield _gains(card)
    yield _poses(card)
    for title, block in (("Numberings", "numberings"), ("Namings", "namings")):
        if card[block]:
            yield _called(title, card, card[block])
    yield _table("Groups", ("group", "joints"), card["groups"].items())
    if card["designs"]:
        yield _table("Designs of motion files", ("label", "joints"), card["designs"].items())
    pairs = [
        (pair["right"], pair["left"], "same" if pair["sign"] > 0 else "opposite")
        for pair in card["mirror_pairs"]
    ]
    yield _table("Mirror pairs", ("right", "left", "angle"), pairs)
    if card["sensors"]:
        yield _sensors(card)
    if card["leds"]:
        yield _table("Lights", ("light", "colour", "place"), (led.values() for led in card["leds"]))
    if card["motion_rules"]:
        yield _table("Rules for motions", ("rule", "value"), card["motion_rules"].items())
    yield _table("Sources", ("key", "what it stands for"), card["sources"].items())


def _table(title: str, columns: Sequence[str], rows: Rows) -> Table:
    return table(columns, (map(_cell, row) for row in rows), title=title)


def _filled(title: str, columns: Sequence[str], rows: Rows) -> Table:
    """Return a table without the columns in which nobody has anything."""
    body = [["" if cell is None else cell for cell in row] for row in rows]
    kept = [place for place in range(len(columns)) if any(row[place] != "" for row in body)]
    return _table(title, [columns[place] for place in kept], ([row[place] for place in kept] for row in body))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)


def _joints(card: dict[str, Any]) -> Table:
    rows = []
    for joint in card["joints"]:
        servo = joint["servo"]
        limits = (joint["lower_deg"], joint["upper_deg"])
        stops = (joint["hardware_lower_deg"], joint["hardware_upper_deg"])
        turns = (servo["model"], f"{servo['direction']:+d}", servo["centre_deg"])
        shown_stops = ("", "") if stops == limits else stops
        rows.append((servo["id"], joint["name"], *limits, *shown_stops, servo["no_load_speed_deg_s"], *turns))
    ends = ("from deg", "to deg", "stops at", "and")
    columns = ("ID", "joint", *ends, "deg/s", "servo", "turns", "centre deg")
    return _filled("Joints and their servos", columns, rows)


def _coupled_limits(card: dict[str, Any]) -> Table:
    """Return one row a table: how the limits of a joint vary; the tables themselves are long."""
    tables: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in card["coupled_limits"]:
        key = row["joint"], ", ".join(entry["joint"] for entry in row["given"])
        tables.setdefault(key, []).append(row)
    rows = [
        (*key, len(found), *(_span(row[side] for row in found) for side in ("lower_deg", "upper_deg")))
        for key, found in tables.items()
    ]
    columns = ("joint", "depends on", "rows", "from deg", "to deg")
    return _table("Coupled limits (every row: --json)", columns, rows)


def _span(numbers: Iterable[float]) -> str:
    found = sorted(set(numbers))
    return f"{found[0]:g}" if len(found) == 1 else f"{found[0]:g}..{found[-1]:g}"


def _servo_models(card: dict[str, Any]) -> Table:
    facts = {
        "ticks": "ticks",
        "tick_urad": "tick urad",
        "range_deg": "range deg",
        "no_load_speed_rad_s": "no load rad/s",
        "stall_torque_nm": "stall N m",
        "compliance_slope": "slope ticks",
        "stiffness_nm_rad": "N m/rad",
        "mass_kg": "mass kg",
    }
    rows = [(name, *(model[key] for key in facts)) for name, model in card["servo_models"].items()]
    return _filled("Servo models", ("model", *facts.values()), rows)


def _gains(card: dict[str, Any]) -> Table:
    rows = [
        (
            name,
            gains["name"],
            *(f"0x{number:02X}" for number in (*(gains[term] for term in "pid"), *gains["shifts"])),
        )
        for name, model in card["servo_models"].items()
        for gains in model["gains"]
    ]
    return _table("Gains", ("model", "setting", "P", "I", "D", "shift P", "shift I", "shift D"), rows)


def _poses(card: dict[str, Any]) -> Table:
    names = list(card["poses"])
    on_bus = all(joint["servo"]["tick_urad"] is None for joint in card["joints"])

    def shown(pose: dict[str, dict[str, float]], joint: str) -> str:
        return f"{pose['deg'][joint]:7.1f}" + (f" ({pose['ticks'][joint]:4d})" if on_bus else "")

    joints = [joint["name"] for joint in card["joints"]]
    rows = [(joint, *(shown(card["poses"][name], joint) for name in names)) for joint in joints]
    return _table("Poses: degrees (ticks)" if on_bus else "Poses: degrees", ("joint", *names), rows)


def _called(title: str, card: dict[str, Any], schemes: dict[str, dict[str, str]]) -> Table:
    names = [{joint: name for name, joint in scheme.items()} for scheme in schemes.values()]
    rows = [(joint["name"], *(name.get(joint["name"], "") for name in names)) for joint in card["joints"]]
    return _table(title, ("joint", *schemes), rows)


def _sensors(card: dict[str, Any]) -> Table:
    shown = {"name", "kind", "mount", "foot", "place", "channels"}
    rows = []
    for sensor in card["sensors"]:
        details = [
            f"{key} {_cell(value)}"
            for key, value in sensor.items()
            if key not in shown and value not in NOT_WORTH_SHOWING
        ]
        place = next((sensor[key] for key in ("mount", "foot", "place") if key in sensor), "")
        rows.append((sensor["name"], sensor["kind"], place, details))
    return _table("Sensors", ("sensor", "kind", "on", "details"), rows)
