"""The tables in which `posewright robots` shows what a robot's description holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

NOT_WORTH_SHOWING = (0, (0.0, 0.0, 0.0))
"""Values of a sensor's place and direction that say no more than its mount does."""


def list_table(cards: Iterable[dict[str, Any]]) -> Table:
    """Return one row a robot, from `posewright.robots.describe_briefly`."""
    rows = [(card["name"], card["maker"], card["n_joints"], card["title"]) for card in cards]
    return _table("", ("name", "maker", "joints", "what it is"), rows)


def card_tables(card: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables of one robot's card, from `posewright.robots.describe`."""
    yield _joints(card)
    yield _servo_models(card)
    yield _poses(card)
    yield _numberings(card)
    yield _groups(card)
    yield _mirror_pairs(card)
    yield _sensors(card)
    yield _table("Sources", ("key", "what it stands for"), card["sources"].items())


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table whose columns of numbers stand to the right; cells are never read as markup."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, title_style="bold")
    body = [[_cell(cell) for cell in row] for row in rows]
    for place, column in enumerate(columns):
        numeric = bool(body) and all(_is_numeric(row[place]) for row in body)
        table.add_column(column, justify="right" if numeric else "left", header_style="dim")
    for row in body:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)


def _is_numeric(cell: str) -> bool:
    return all(sign in "0123456789+-. " for sign in cell)


def _joints(card: dict[str, Any]) -> Table:
    rows = []
    for joint in card["joints"]:
        servo = joint["servo"]
        turns = (servo["model"], f"{servo['direction']:+d}", servo["centre_deg"])
        rows.append((servo["id"], joint["name"], joint["lower_deg"], joint["upper_deg"], *turns))
    columns = ("ID", "joint", "from deg", "to deg", "servo", "turns", "centre deg")
    return _table("Joints and their servos", columns, rows)


def _servo_models(card: dict[str, Any]) -> Table:
    facts = (
        ("ticks", "ticks"),
        ("range_deg", "range deg"),
        ("no_load_speed_rad_s", "no load rad/s"),
        ("stall_torque_nm", "stall N m"),
        ("compliance_slope", "slope ticks"),
        ("mass_kg", "mass kg"),
    )
    rows = [
        (name, *("" if model[key] is None else model[key] for key, _ in facts))
        for name, model in card["servo_models"].items()
    ]
    return _table("Servo models", ("model", *(title for _, title in facts)), rows)


def _poses(card: dict[str, Any]) -> Table:
    names = list(card["poses"])
    rows = [
        (joint["name"], *(_angle_and_ticks(card["poses"][name], joint["name"]) for name in names))
        for joint in card["joints"]
    ]
    return _table("Poses: degrees (ticks)", ("joint", *names), rows)


def _angle_and_ticks(pose: dict[str, dict[str, float]], joint: str) -> str:
    return f"{pose['deg'][joint]:7.1f} ({pose['ticks'][joint]:4d})"


def _numberings(card: dict[str, Any]) -> Table:
    numbers = [
        {joint: number for number, joint in numbering.items()} for numbering in card["numberings"].values()
    ]
    rows = [
        (joint["name"], *(number.get(joint["name"], "") for number in numbers)) for joint in card["joints"]
    ]
    return _table("Numberings", ("joint", *card["numberings"]), rows)


def _groups(card: dict[str, Any]) -> Table:
    return _table("Groups", ("group", "joints"), card["groups"].items())


def _mirror_pairs(card: dict[str, Any]) -> Table:
    rows = [
        (pair["right"], pair["left"], "same" if pair["sign"] > 0 else "opposite")
        for pair in card["mirror_pairs"]
    ]
    return _table("Mirror pairs", ("right", "left", "angle"), rows)


def _sensors(card: dict[str, Any]) -> Table:
    shown = {"name", "kind", "mount", "foot", "channels"}
    rows = []
    for sensor in card["sensors"]:
        details = [
            f"{key} {_cell(value)}"
            for key, value in sensor.items()
            if key not in shown and value not in NOT_WORTH_SHOWING
        ]
        place = sensor.get("mount") or sensor.get("foot", "")
        rows.append((sensor["name"], sensor["kind"], place, details))
    return _table("Sensors", ("sensor", "kind", "on", "details"), rows)
