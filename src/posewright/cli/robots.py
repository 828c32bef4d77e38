"""`posewright robots list`: what robots there are and what is known of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from posewright import figures, robots
from posewright.cli import completion
from posewright.cli.console import give, table
from posewright.cli.options import AsJson, Plot, add_group, add_verb, argument, option
from posewright.cli.robot_files import export, import_
from posewright.errors import UnknownNameError

NOT_WORTH_SHOWING = (0, None, (0.0, 0.0, 0.0))
"""Values of a sensor's place and direction that say no more than its mount does."""

Rows = Iterable[Iterable[object]]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "robots")
    add_verb(group, "list", list_robots, twins="robot_names")
    add_verb(group, "show", show, twins="robot describe_robot draw_robot")
    add_verb(group, "import", import_, twins="import_robot")
    add_verb(group, "export", export, twins="export_robot")


def list_robots(as_json: AsJson = False) -> None:
    """List the robots that come with Posewright.

    [bold]Examples[/]
      posewright robots list
      posewright robots list --json
    """
    cards = [robots.describe_briefly(robots.robot(name)) for name in robots.robot_names()]
    rows = [(card["name"], card["maker"], card["n_joints"], card["title"]) for card in cards]
    give(cards, [_table("", ("name", "maker", "joints", "what it is"), rows)], as_json=as_json)


def show(
    name: Annotated[
        str, argument("ROBOT", "A robot of `posewright robots list`, or the path of your own robot.yaml.")
    ],
    section: Annotated[
        list[str] | None,
        option(
            "--section NAME",
            f"Show this of it, in full: {', '.join(SECTIONS)} or all. Repeat for more.",
            autocompletion=completion.words(*SECTIONS, "all"),
        ),
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Show a robot's card: its joints and their limits, and what else there is; --section shows the rest.

    Angles are the joints' own: pitch about y, roll about x, yaw about z. JSON holds all sections. The picture
    of --plot shows where the joints are, and which way is positive.

    [bold]Examples[/]
      posewright robots show robotis_bioloid
      posewright robots show sony_ers7 --section sensors --section poses
      posewright robots show robotis_bioloid --json
      posewright robots show sony_ers7 --plot joints.png
      posewright robots show my_robot/robot.yaml --section all
    """
    for word in section or ():
        if word not in (*SECTIONS, "all"):
            raise UnknownNameError.among("section", word, (*SECTIONS, "all"))
    robot = robots.robot(name)
    if plot is not None:
        figures.save_figure(figures.draw_robot(robot), plot)
    card = robots.describe(robot)
    wanted = list(SECTIONS) if "all" in (section or ()) else section
    give(card, _summary(card, robot.folder) if wanted is None else _card(card, wanted), as_json=as_json)


def _heading(card: dict[str, Any]) -> Iterator[str]:
    yield f"{card['name']}: {card['maker']} {card['title']}"
    mass = "" if card["mass_kg"] is None else f", {card['mass_kg']:.3g} kg"
    yield f"{card['n_joints']} joints{mass}, a frame every {1000.0 * card['frame_period_s']:g} ms"


def _summary(card: dict[str, Any], folder: str | Path | None) -> Iterator[str | Table]:
    """Yield a screenful: joints and limits, and the names of what can be used."""
    yield from _heading(card)
    yield ""
    yield _limits(card)
    yield ""
    kinds = Counter(sensor["kind"] for sensor in card["sensors"])
    told = {"poses": list(card["poses"]), "sensors": [f"{n} x {kind}" for kind, n in kinds.items()]}
    for kind in ("motion", "gait", "tune", "behaviour"):
        paths = sorted(Path(folder or "", f"{kind}s").glob(f"*.{kind}.yaml")) if folder else ()
        told[f"{kind}s"] = [path.name.split(".")[0] for path in paths]
    for what, names in told.items():
        if names:
            yield f"{what + ':':<12}{', '.join(names)}"
    yield f"more:       --section {', '.join(SECTIONS)} or all"


def _card(card: dict[str, Any], sections: Iterable[str]) -> Iterator[str | Table]:
    yield from _heading(card)
    for one in card_tables(card, sections):
        yield ""
        yield one


def card_tables(card: dict[str, Any], sections: Iterable[str] | None = None) -> Iterator[Table]:
    """Yield the tables of one robot's card, from `posewright.robots.describe`; default every section."""
    for section in SECTIONS if sections is None else sections:
        for made in SECTIONS[section]:
            shown = made(card)
            if shown.row_count:
                yield shown


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


def _limits(card: dict[str, Any]) -> Table:
    rows = [
        (
            one["servo"]["id"],
            one["name"],
            one["lower_deg"],
            one["upper_deg"],
            one["servo"]["no_load_speed_deg_s"],
        )
        for one in card["joints"]
    ]
    return _filled("", ("ID", "joint", "from deg", "to deg", "deg/s"), rows)


def _listed(title: str, columns: Sequence[str], key: str) -> Callable[[dict[str, Any]], Table]:
    return lambda card: _table(title, columns, card[key].items())


def _lights(card: dict[str, Any]) -> Table:
    return _table("Lights", ("light", "colour", "place"), (led.values() for led in card["leds"]))


def _mirror_pairs(card: dict[str, Any]) -> Table:
    rows = [
        (pair["right"], pair["left"], "same" if pair["sign"] > 0 else "opposite")
        for pair in card["mirror_pairs"]
    ]
    return _table("Mirror pairs", ("right", "left", "angle"), rows)


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
    joints = card["joints"] if schemes else ()
    rows = [(joint["name"], *(name.get(joint["name"], "") for name in names)) for joint in joints]
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


SECTIONS: Mapping[str, Sequence[Callable[[dict[str, Any]], Table]]] = {
    "joints": (_joints, _coupled_limits),
    "servos": (_servo_models, _gains),
    "masses": (_listed("Masses of links", ("link", "kg"), "link_masses_kg"),),
    "poses": (_poses,),
    "names": (
        lambda card: _called("Numberings", card, card["numberings"]),
        lambda card: _called("Namings", card, card["namings"]),
    ),
    "groups": (
        _listed("Groups", ("group", "joints"), "groups"),
        _listed("Designs of motion files", ("label", "joints"), "designs"),
        _mirror_pairs,
    ),
    "sensors": (_sensors, _lights),
    "rules": (_listed("Rules for motions", ("rule", "value"), "motion_rules"),),
    "sources": (_listed("Sources", ("key", "what it stands for"), "sources"),),
}
"""The sections of a card, and the tables of each."""
