"""A robot's card as lines and tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from posewright.display import Lines, Table, table
from posewright.documents.plain import PlainMapping
from posewright.errors import UnknownNameError
from posewright.robots.card import Robot
from posewright.robots.description import describe

DEFAULT_VALUES = (0, None, (0.0, 0.0, 0.0))
"""Values of a sensor's details that are not shown."""

Rows = Iterable[Iterable[object]]


def card_lines(robot: Robot, sections: Sequence[str] = ()) -> Lines:
    """Yield a robot's card as lines and tables.

    Args:
        robot: the robot to show.
        sections: names of `SECTIONS` to show in full, or `all`; empty for a summary.

    Raises:
        UnknownNameError: there is no such section.
    """
    for section in sections:
        if section not in (*SECTIONS, "all"):
            raise UnknownNameError.among("section", section, (*SECTIONS, "all"))
    card = describe(robot)
    if not sections:
        yield from _summary(card, robot.folder)
        return
    yield from _heading(card)
    for section_table in card_tables(card, SECTIONS if "all" in sections else sections):
        yield ""
        yield section_table


def _heading(card: PlainMapping) -> Iterator[str]:
    """Yield the name, maker and size of a robot."""
    yield f"{card['name']}: {card['maker']} {card['title']}"
    mass = "" if card["mass_kg"] is None else f", {card['mass_kg']:.3g} kg"
    yield f"{card['n_joints']} joints{mass}, a frame every {1000.0 * card['frame_period_s']:g} ms"


def _summary(card: PlainMapping, folder: str | Path | None) -> Lines:
    """Yield a summary: joints with limits, and names of poses, sensors and documents."""
    yield from _heading(card)
    yield ""
    yield _limits(card)
    yield ""
    counts = Counter(sensor["kind"] for sensor in card["sensors"])
    names_by_heading = {
        "poses": list(card["poses"]),
        "sensors": [f"{count} x {kind}" for kind, count in counts.items()],
    }
    for kind in ("motion", "gait", "tune", "behaviour"):
        paths = sorted(Path(folder, f"{kind}s").glob(f"*.{kind}.yaml")) if folder else ()
        names_by_heading[f"{kind}s"] = [path.name.split(".")[0] for path in paths]
    for heading, names in names_by_heading.items():
        if names:
            yield f"{heading + ':':<12}{', '.join(names)}"
    yield f"more:       --section {', '.join(SECTIONS)} or all"


def card_tables(card: PlainMapping, sections: Iterable[str] | None = None) -> Iterator[Table]:
    """Yield the tables of a card that are not empty.

    Args:
        card: the card as returned by `posewright.robots.describe`.
        sections: names of `SECTIONS`; all by default.
    """
    for section in SECTIONS if sections is None else sections:
        for build_table in SECTIONS[section]:
            section_table = build_table(card)
            if section_table.rows:
                yield section_table


def _table(title: str, columns: Sequence[str], rows: Rows) -> Table:
    return table(columns, (map(_cell, row) for row in rows), title=title)


def _compact_table(title: str, columns: Sequence[str], rows: Rows) -> Table:
    """Return a table without its empty columns; cells that are None or "" are empty."""
    columns_of_cells = [
        ["" if cell is None else cell for cell in column] for column in zip(*rows, strict=True)
    ]
    filled_columns = [i for i, column in enumerate(columns_of_cells) if any(cell != "" for cell in column)]
    filled_rows = zip(*(columns_of_cells[i] for i in filled_columns), strict=True)
    return _table(title, [columns[i] for i in filled_columns], filled_rows)


def _cell(value: object) -> str:
    """Return the text of a value."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)


def _limits(card: PlainMapping) -> Table:
    """Return the table of joints with limits and speeds."""
    rows = [
        (
            joint["servo"]["id"],
            joint["name"],
            joint["lower_deg"],
            joint["upper_deg"],
            joint["servo"]["no_load_speed_deg_s"],
        )
        for joint in card["joints"]
    ]
    return _compact_table("", ("ID", "joint", "from deg", "to deg", "deg/s"), rows)


def _mapping_table(title: str, columns: Sequence[str], key: str) -> Callable[[PlainMapping], Table]:
    """Return a function that builds the table of a mapping in the card, by its key."""
    return lambda card: _table(title, columns, card[key].items())


def _lights(card: PlainMapping) -> Table:
    return _table("Lights", ("light", "colour", "place"), (led.values() for led in card["leds"]))


def _mirror_pairs(card: PlainMapping) -> Table:
    """Return the table of joints that mirror each other, and whether by the same or the opposite angle."""
    rows = [
        (pair["right"], pair["left"], "same" if pair["sign"] > 0 else "opposite")
        for pair in card["mirror_pairs"]
    ]
    return _table("Mirror pairs", ("right", "left", "angle"), rows)


def _joints(card: PlainMapping) -> Table:
    """Return the table of all joints, with their limits, mechanical stops and servos."""
    rows = []
    for joint in card["joints"]:
        servo = joint["servo"]
        limits = (joint["lower_deg"], joint["upper_deg"])
        stops = (joint["hardware_lower_deg"], joint["hardware_upper_deg"])
        if stops == limits:  # not written twice
            stops = ("", "")
        rows.append(
            (
                servo["id"],
                joint["name"],
                *limits,
                *stops,
                servo["no_load_speed_deg_s"],
                servo["model"],
                f"{servo['direction']:+d}",
                servo["centre_deg"],
            )
        )
    columns = (
        "ID",
        "joint",
        "from deg",
        "to deg",
        "stops at",
        "and",
        "deg/s",
        "servo",
        "direction",
        "centre deg",
    )
    return _compact_table("Joints and their servos", columns, rows)


def _coupled_limits(card: PlainMapping) -> Table:
    """Return a table with the range of a joint's limits for each set of joints they depend on."""
    limits_by_joints: dict[tuple[str, str], list[PlainMapping]] = {}
    for limit in card["coupled_limits"]:
        condition_joints = ", ".join(condition["joint"] for condition in limit["given"])
        limits_by_joints.setdefault((limit["joint"], condition_joints), []).append(limit)
    rows = []
    for (joint, condition_joints), limits in limits_by_joints.items():
        lower = _format_span(limit["lower_deg"] for limit in limits)
        upper = _format_span(limit["upper_deg"] for limit in limits)
        rows.append((joint, condition_joints, len(limits), lower, upper))
    columns = ("joint", "depends on", "rows", "from deg", "to deg")
    return _table("Coupled limits (every row: --json)", columns, rows)


def _format_span(numbers: Iterable[float]) -> str:
    distinct = sorted(set(numbers))
    return f"{distinct[0]:g}" if len(distinct) == 1 else f"{distinct[0]:g}..{distinct[-1]:g}"


def _servo_models(card: PlainMapping) -> Table:
    """Return the table of servo models."""
    labels = {
        "ticks": "ticks",
        "tick_urad": "tick urad",
        "range_deg": "range deg",
        "no_load_speed_rad_s": "no load rad/s",
        "stall_torque_nm": "stall N m",
        "compliance_slope": "slope ticks",
        "stiffness_nm_rad": "N m/rad",
        "mass_kg": "mass kg",
    }
    rows = [(name, *(model[key] for key in labels)) for name, model in card["servo_models"].items()]
    return _compact_table("Servo models", ("model", *labels.values()), rows)


def _gains(card: PlainMapping) -> Table:
    """Return the table of the servo models' controller settings."""
    rows = []
    for name, model in card["servo_models"].items():
        for gains in model["gains"]:
            numbers = (gains["p"], gains["i"], gains["d"], *gains["shifts"])
            rows.append((name, gains["name"], *(f"0x{number:02X}" for number in numbers)))
    return _table("Gains", ("model", "setting", "P", "I", "D", "shift P", "shift I", "shift D"), rows)


def _poses(card: PlainMapping) -> Table:
    """Return the table of poses, one column each."""
    poses = card["poses"]
    has_ticks = all(joint["servo"]["tick_urad"] is None for joint in card["joints"])

    def format_angle(pose: dict[str, dict[str, float]], joint: str) -> str:
        degrees = f"{pose['deg'][joint]:7.1f}"
        return f"{degrees} ({pose['ticks'][joint]:4d})" if has_ticks else degrees

    rows = []
    for joint in card["joints"]:
        name = joint["name"]
        rows.append((name, *(format_angle(pose, name) for pose in poses.values())))
    title = "Poses: degrees (ticks)" if has_ticks else "Poses: degrees"
    return _table(title, ("joint", *poses), rows)


def _schemes_table(title: str, card: PlainMapping, schemes: dict[str, dict[str, str]]) -> Table:
    """Return a table of the IDs or names of joints in schemes, one column each; empty without schemes.

    Args:
        title: the title of the table.
        card: the card whose joints are the rows.
        schemes: by the name of a scheme, the joints by their IDs or names in it.
    """
    names_of_schemes = [{joint: name for name, joint in scheme.items()} for scheme in schemes.values()]
    rows = []
    if schemes:
        for joint in card["joints"]:
            cells = [name_by_joint.get(joint["name"], "") for name_by_joint in names_of_schemes]
            rows.append((joint["name"], *cells))
    return _table(title, ("joint", *schemes), rows)


def _sensors(card: PlainMapping) -> Table:
    """Return the table of sensors."""
    keys_without_details = {"name", "kind", "mount", "foot", "place", "channels"}
    rows = []
    for sensor in card["sensors"]:
        details = [
            f"{key} {_cell(value)}"
            for key, value in sensor.items()
            if key not in keys_without_details and value not in DEFAULT_VALUES
        ]
        mount = next((sensor[key] for key in ("mount", "foot", "place") if key in sensor), "")
        rows.append((sensor["name"], sensor["kind"], mount, details))
    return _table("Sensors", ("sensor", "kind", "on", "details"), rows)


SECTIONS: Mapping[str, Sequence[Callable[[PlainMapping], Table]]] = {
    "joints": (_joints, _coupled_limits),
    "servos": (_servo_models, _gains),
    "masses": (_mapping_table("Masses of links", ("link", "kg"), "link_masses_kg"),),
    "poses": (_poses,),
    "names": (
        lambda card: _schemes_table("Numberings", card, card["numberings"]),
        lambda card: _schemes_table("Namings", card, card["namings"]),
    ),
    "groups": (
        _mapping_table("Groups", ("group", "joints"), "groups"),
        _mapping_table("Designs of motion files", ("label", "joints"), "designs"),
        _mirror_pairs,
    ),
    "sensors": (_sensors, _lights),
    "rules": (_mapping_table("Rules for motions", ("rule", "value"), "motion_rules"),),
    "sources": (_mapping_table("Sources", ("key", "source"), "sources"),),
}
"""The sections of a card, and the tables of each."""
