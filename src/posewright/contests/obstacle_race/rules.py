"""The rules of the obstacle race as data, with the source of every number, and the field that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from posewright.arenas import BOX, Arena, arena, arena_names
from posewright.contests.own_fields import BUILD_TOLERANCE_M, FieldFault
from posewright.documents import Bounds, Node, parse_document, read_record, read_text
from posewright.errors import InputError
from posewright.recordings.falls import FallLimits

_FOLDER = Path(__file__).parent
Amount = Annotated[float, Bounds(0.0, 1e6)]
Coordinate = Annotated[float, Bounds(-360.0, 360.0)]
Angle = Annotated[float, Bounds(0.0, 1e5)]
Number = Annotated[int, Bounds(1)]

_FIELD_KEYS = ("size_m", "lines", "box_size_m")
"""Keys of `Arena.to_dict` that a judge uses."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The formula `(limit - T) kT/limit + d/dmax kD - (factor pen)^exponent`, and the points of places."""

    time_limit_s: Amount
    distance_limit_cm: Amount
    time_weight: Amount
    distance_weight: Amount
    penalty_factor: Annotated[float, Bounds(0.0, 1000.0)]
    penalty_exponent: Annotated[float, Bounds(0.0, 10.0)]
    place_points: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class CourseRules:
    """The robot's start in the field frame, and the lines of the legs.

    Lines are numbered from 1 in the order of x: leg 1 leads from the first over the second, leg 2 back.
    """

    start_x_m: Coordinate
    start_y_m: Coordinate
    start_yaw_rad: Coordinate
    first_line: Number
    second_line: Number


@dataclass(frozen=True, slots=True)
class ClockRules:
    """The robot's wait, the joint motion that counts as a move, and the delay of leg 2 after leg 1."""

    wait_s: Amount
    moved_rad: Angle
    leg_2_delay_s: Amount


@dataclass(frozen=True, slots=True)
class EntryLimits:
    """Limits of a robot's stretched height, mass and foot length, and its number of legs."""

    height_limit_m: Amount
    mass_limit_kg: Amount
    foot_limit_m: Amount
    legs: Number = 2


@dataclass(frozen=True, slots=True)
class RaceFallRules:
    """The conditions of a fall, the greatest turn when the robot is put back, and the time to get up.

    The referee puts a fallen robot back if it has not got up by itself `get_up_s` after it went down; the
    shipped rules leave no time for that.
    """

    tilt_rad: Angle
    height_share: Amount
    lasting_s: Amount
    upright_rad: Angle
    turn_rad: Angle
    get_up_s: Amount = 0.0

    @property
    def limits(self) -> FallLimits:
        """The conditions of a fall."""
        return FallLimits(self.tilt_rad, self.height_share, self.lasting_s)


@dataclass(frozen=True, slots=True)
class DisplacementRules:
    """The conditions of a displaced box, of a box at rest, and of one incident."""

    displaced_m: Amount
    still_m: Amount
    settled_s: Amount
    incident_s: Amount


@dataclass(frozen=True, slots=True)
class JamRules:
    """The conditions of a jam at a box or a wall."""

    lasting_s: Amount
    radius_m: Amount
    turn_rad: Angle
    contact_gap_s: Amount
    wall_near_m: Amount


@dataclass(frozen=True, slots=True)
class PutBackRules:
    """The room around the place of a robot that is put back, its distance, and the step back after a jam."""

    clearance_m: Amount
    least_m: Amount
    reach_m: Amount
    step_back_m: Amount


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an obstacle race; `sources` has the source of each number by `section.key`."""

    name: str
    title: str
    arena: str
    scoring: Scoring
    course: CourseRules
    clock: ClockRules
    entry: EntryLimits
    fall: RaceFallRules
    displacement: DisplacementRules
    jam: JamRules
    put_back: PutBackRules
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    text: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    def __reduce__(self) -> tuple[type[Rules], tuple[Any, ...]]:
        """Copy and pickle with plain mappings, as read-only ones support neither."""
        values = []
        for record_field in fields(self):
            value = getattr(self, record_field.name)
            values.append(dict(value) if isinstance(value, MappingProxyType) else value)
        return type(self), tuple(values)


_SECTIONS = ("scoring", "course", "clock", "entry", "fall", "displacement", "jam", "put_back")


@cache
def rules(year: int = 2013) -> Rules:
    """Return the shipped rules of a year."""
    return read_rules(_FOLDER / f"obstacle_race{'' if year == 2013 else f'_{year}'}.rules.yaml")


def read_rules(path: Path | str) -> Rules:
    """Read rules from a document.

    Raises:
        DocumentError: the file is not a document of rules, or a number in it is out of range.
    """
    path = Path(path)
    text = read_text(path)
    return _read_rules(parse_document(text, path), text)


def parse_rules(text: str, name: str | None = None) -> Rules:
    """Parse rules from the text of a document; `name` is used in error messages only."""
    return _read_rules(parse_document(text, Path(name) if name else None), text)


def _read_rules(root: Node, text: str) -> Rules:
    """Return the rules in a document with a text."""
    parts = root.fields(required=("rules", "title", "arena", *_SECTIONS, "sources"), optional=())
    scoring = read_record(parts["scoring"], Scoring)
    course = read_record(parts["course"], CourseRules)
    _require_lines(parts, course)
    if scoring.time_limit_s <= 0.0 or scoring.distance_limit_cm <= 0.0:
        parts["scoring"].fail("a limit is 0", hint="use time and distance limits above 0")
    return Rules(
        name=parts["rules"].text(),
        title=parts["title"].text(),
        arena=parts["arena"].text(),
        scoring=scoring,
        course=course,
        clock=read_record(parts["clock"], ClockRules),
        entry=read_record(parts["entry"], EntryLimits),
        fall=read_record(parts["fall"], RaceFallRules),
        displacement=read_record(parts["displacement"], DisplacementRules),
        jam=read_record(parts["jam"], JamRules),
        put_back=read_record(parts["put_back"], PutBackRules),
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
        text=text,
    )


def _require_lines(parts: Mapping[str, Node], course: CourseRules) -> None:
    """Raise DocumentError unless the field ships and has the two lines in order."""
    name = parts["arena"].text()
    if name not in arena_names():
        parts["arena"].fail(f"there is no arena {name!r}", hint=f"one of {', '.join(arena_names())}")
    if not course.first_line < course.second_line <= len(arena(name).lines):
        hint = f"choose two of the {len(arena(name).lines)} lines of {name}, in the order of x"
        parts["course"].fail("the second line is not beyond the first", hint=hint)


def field_without_boxes(rules: Rules) -> Arena:
    """Return the field of the rules, without boxes."""
    return arena(rules.arena)


def find_dimension_faults(rules: Rules, field: Arena) -> list[FieldFault]:
    """Return how the size, the lines and the boxes of a field differ from those of the rules' own field."""
    own_field = field_without_boxes(rules)
    length, width = own_field.size_m
    faults: list[FieldFault] = []
    if not _are_near(list(field.size_m), list(own_field.size_m)):
        faults.append(
            FieldFault(
                f"it is {field.size_x:g} x {field.size_y:g} m", f"{rules.name} needs {length:g} x {width:g} m"
            )
        )
    needed_lines = [(line.x, line.width_m) for line in own_field.lines]
    lines = [(line.x, line.width_m) for line in field.lines]
    if not _are_near(lines, needed_lines):
        places = ", ".join(f"x = {line.x:g} m" for line in field.lines) or "none"
        needed_places = " and ".join(f"x = {x:g} m" for x, _ in needed_lines)
        faults.append(
            FieldFault(
                f"its lines are at {places}",
                f"{rules.name} needs {len(needed_lines)} lines across the field, "
                f"{needed_lines[0][1]:g} m wide, at {needed_places}, in this order",
                shapes=tuple(line.name for line in field.lines),
            )
        )
    for name, kind in field.box_kinds.items():
        if not _are_near(list(kind.size_m), list(own_field.box_size)):
            numbers = tuple(number for number, box in enumerate(field.boxes, 1) if box.kind == name)
            if numbers or name == BOX:
                faults.append(
                    FieldFault(
                        f"boxes of the kind {name} are {_format_size(kind.size_m)} m",
                        f"{rules.name} has boxes of {_format_size(own_field.box_size)} m",
                        boxes=numbers,
                        prevents_run=name == BOX,
                    )
                )
    return faults


def _format_size(size_m: tuple[float, float, float]) -> str:
    return " x ".join(f"{edge:g}" for edge in size_m)


def require_field(rules: Rules, field_data: Mapping[str, Any]) -> None:
    """Raise unless a field has the dimensions of the rules' own.

    A field with another name, which somebody else may have built or drawn, may differ by a few millimetres.

    Args:
        rules: the rules of the race.
        field_data: the field as `Arena.to_dict` returns it.

    Raises:
        InputError: the field has no name, or other dimensions.
    """
    name = field_data.get("name")
    own_field = field_without_boxes(rules).to_dict()
    if name is None:
        raise InputError("the recording has no arena", hint=f"{rules.name} is run on {rules.arena!r}")
    if name != rules.arena:
        keys = _FIELD_KEYS if field_data.get("box_size_m") is not None else ("size_m", "lines")
        for key in keys:
            if not _are_near(field_data.get(key), own_field[key]):
                raise InputError(
                    f"the arena {name!r} has a different {key}: {field_data.get(key) or 'none'}",
                    hint=f"{rules.name} is run on {rules.arena!r}, or on a field with {key} {own_field[key]}",
                )
        return
    for key in _FIELD_KEYS:
        if field_data.get(key) != own_field[key]:
            raise InputError(
                f"the arena's {key} is {field_data.get(key, 'missing')}",
                hint=f"{own_field[key]} in the document of {rules.arena}",
            )


def _are_near(value: object, own_value: object) -> bool:
    """Return whether numbers, or lists and mappings of numbers, differ by at most the build tolerance."""
    if isinstance(value, Mapping) and isinstance(own_value, Mapping):
        if value.keys() != own_value.keys():
            return False
        return all(_are_near(value[key], own_value[key]) for key in own_value)
    if isinstance(value, list | tuple) and isinstance(own_value, list | tuple):
        return len(value) == len(own_value) and all(map(_are_near, value, own_value))
    if not isinstance(value, int | float) or not isinstance(own_value, int | float):
        return False
    return abs(value - own_value) <= BUILD_TOLERANCE_M
