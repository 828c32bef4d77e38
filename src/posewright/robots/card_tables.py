"""A robot's card as lines and tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from posewright.display import Lines, Table, table
from posewright.documents.plain import PlainMapping
from posewright.errors import UnknownNameError
from posewright.robots.card import Robot
from posewright.robots.description import describe

NOT_WORTH_SHOWING = (0, None, (0.0, 0.0, 0.0))
"""Values of a sensor's place and direction that say no more than its mount does."""

Rows = Iterable[Iterable[object]]


def card_lines(robot: Robot, sections: Sequence[str] = ()) -> Lines:
    """Yield a robot's card for people.

    Args:
        robot: whose card.
        sections: names of `SECTIONS` to show in full, or `all`; none for a screenful of the most important.

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
    for made in card_tables(card, SECTIONS if "all" in sections else sections):
        yield ""
        yield made


def _heading(card: PlainMapping) -> Iterator[str]:
    yield f"{card['name']}: {card['maker']} {card['title']}"
    mass = "" if card["mass_kg"] is None else f", {card['mass_kg']:.3g} kg"
    yield f"{card['n_joints']} joints{mass}, a frame every {1000.0 * card['frame_period_s']:g} ms"


def _summary(card: PlainMapping, folder: str | Path | None) -> Lines:
    """Yield a screenful: joints and limits, and the names of what can be used."""
    yield from _heading(card)
    yield ""
    yield _limits(card)
    yield ""
    kinds = Counter(sensor["kind"] for sensor in card["sensors"])
    names = {"poses": list(card["poses"]), "sensors": [f"{n} x {kind}" for kind, n in kinds.items()]}
    for kind in ("motion", "gait", "tune", "behaviour"):
        paths = sorted(Path(folder or "", f"{kind}s").glob(f"*.{kind}.yaml")) if folder else ()
        names[f"{kind}s"] = [path.name.split(".")[0] for path in paths]
    for heading, listed in names.items():
        if listed:
            yield f"{heading + ':':<12}{', '.join(listed)}"
    yield f"more:       --section {', '.join(SECTIONS)} or all"


def card_tables(card: PlainMapping, sections: Iterable[str] | None = None) -> Iterator[Table]:
    """Yield the tables of one robot's card, from `posewright.robots.describe`; default every section."""
    for section in SECTIONS if sections is None else sections:
        for make_table in SECTIONS[section]:
            made = make_table(card)
            if made.rows:
                yield made


def _table(title: str, columns: Sequence[str], rows: Rows) -> Table:
    return table(columns, (map(_cell, row) for row in rows), title=title)


def _filled(title: str, columns: Sequence[str], rows: Rows) -> Table:
    """Return a table without the columns in which nobody has anything."""
    body = [["" if cell is None else cell for cell in row] for row in rows]
    filled = [place for place in range(len(columns)) if any(row[place] != "" for row in body)]
    return _table(
        title, [columns[place] for place in filled], ([row[place] for place in filled] for row in body)
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)


def _limits(card: PlainMapping) -> Table:
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


def _listed(title: str, columns: Sequence[str], key: str) -> Callable[[PlainMapping], Table]:
    return lambda card: _table(title, columns, card[key].items())


def _lights(card: PlainMapping) -> Table:
    return _table("Lights", ("light", "colour", "place"), (led.values() for led in card["leds"]))


def _mirror_pairs(card: PlainMapping) -> Table:
    rows = [
        (pair["right"], pair["left"], "same" if pair["sign"] > 0 else "opposite")
        for pair in card["mirror_pairs"]
    ]
    return _table("Mirror pairs", ("right", "left", "angle"), rows)


def _joints(card: PlainMapping) -> Table:
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


def _coupled_limits(card: PlainMapping) -> Table:
    """Return one row a table: how the limits of a joint vary; the tables themselves are long."""
    tables: dict[tuple[str, str], list[PlainMapping]] = {}
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


def _servo_models(card: PlainMapping) -> Table:
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


def _gains(card: PlainMapping) -> Table:
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


def _poses(card: PlainMapping) -> Table:
    names = list(card["poses"])
    on_bus = all(joint["servo"]["tick_urad"] is None for joint in card["joints"])

    def shown(pose: dict[str, dict[str, float]], joint: str) -> str:
        return f"{pose['deg'][joint]:7.1f}" + (f" ({pose['ticks'][joint]:4d})" if on_bus else "")

    joints = [joint["name"] for joint in card["joints"]]
    rows = [(joint, *(shown(card["poses"][name], joint) for name in names)) for joint in joints]
    return _table("Poses: degrees (ticks)" if on_bus else "Poses: degrees", ("joint", *names), rows)


def _called(title: str, card: PlainMapping, schemes: dict[str, dict[str, str]]) -> Table:
    names = [{joint: name for name, joint in scheme.items()} for scheme in schemes.values()]
    joints = card["joints"] if schemes else ()
    rows = [(joint["name"], *(name.get(joint["name"], "") for name in names)) for joint in joints]
    return _table(title, ("joint", *schemes), rows)


def _sensors(card: PlainMapping) -> Table:
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


SECTIONS: Mapping[str, Sequence[Callable[[PlainMapping], Table]]] = {
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
