"""The rules as data: every number of the obstacle race, and where it comes from; and the field they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_type_hints

from posewright.arenas import Arena, arena, arena_names
from posewright.documents import Bounds, Node, parse_document, read_record, read_text
from posewright.errors import InputError
from posewright.recordings.falls import FallLimits

_FOLDER = Path(__file__).parent
Amount = Annotated[float, Bounds(0.0, 1e6)]
Place = Annotated[float, Bounds(-360.0, 360.0)]
Angle = Annotated[float, Bounds(0.0, 1e5)]
Number = Annotated[int, Bounds(1)]

_MEASURES = ("size_m", "lines", "box_size_m")
"""What a judge reads of a field, as `Arena.to_dict` names it."""

_BUILT_M = 0.005
"""A field that somebody else built may be out by this much; ours [m]."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The formula: `(limit - T) kT/limit + d/dmax kD - (factor pen)^exponent`, and what places earn."""

    time_limit_s: Amount
    distance_limit_cm: Amount
    time_weight: Amount
    distance_weight: Amount
    penalty_factor: Annotated[float, Bounds(0.0, 1000.0)]
    penalty_exponent: Annotated[float, Bounds(0.0, 10.0)]
    place_points: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class CourseRules:
    """Where the robot starts, in the field frame, and which of the arena's lines it crosses.

    Lines are counted from 1 in the order of x: leg 1 leads from the first over the second, leg 2 back.
    """

    start_x_m: Place
    start_y_m: Place
    start_yaw_rad: Place
    first_line: Number
    second_line: Number


@dataclass(frozen=True, slots=True)
class Clock:
    """How long the robot waits, which turn of a joint is a move, how long after leg 1 leg 2 begins."""

    wait_s: Amount
    moved_rad: Angle
    leg_2_delay_s: Amount


@dataclass(frozen=True, slots=True)
class EntryLimits:
    """What a robot may measure and weigh: stretched height, mass, length of a foot; and its legs."""

    height_limit_m: Amount
    mass_limit_kg: Amount
    foot_limit_m: Amount
    legs: Number = 2


@dataclass(frozen=True, slots=True)
class FallRules:
    """When a robot has fallen, and how far it may be turned when put back."""

    tilt_rad: Angle
    height_share: Amount
    lasting_s: Amount
    upright_rad: Angle
    turn_rad: Angle

    @property
    def limits(self) -> FallLimits:
        """What counts as a fall."""
        return FallLimits(self.tilt_rad, self.height_share, self.lasting_s)


@dataclass(frozen=True, slots=True)
class DisplacementRules:
    """When a box counts as moved, when it is at rest again, what belongs to one incident."""

    displaced_m: Amount
    still_m: Amount
    settled_s: Amount
    incident_s: Amount


@dataclass(frozen=True, slots=True)
class JamRules:
    """When a robot in contact with a box or a wall is jammed."""

    lasting_s: Amount
    radius_m: Amount
    turn_rad: Angle
    contact_gap_s: Amount
    wall_near_m: Amount


@dataclass(frozen=True, slots=True)
class PutBackRules:
    """Where a robot that was touched is put: how clear of everything, how near, how far back when jammed."""

    clearance_m: Amount
    least_m: Amount
    reach_m: Amount
    step_back_m: Amount


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of an obstacle race; `sources` says by `section.key` where each number comes from."""

    name: str
    title: str
    arena: str
    scoring: Scoring
    course: CourseRules
    clock: Clock
    entry: EntryLimits
    fall: FallRules
    displacement: DisplacementRules
    jam: JamRules
    put_back: PutBackRules
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    text: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    def __reduce__(self) -> tuple[type[Rules], tuple[Any, ...]]:
        """Copy and pickle by way of plain mappings: read-only ones can do neither."""
        values = [getattr(self, entry.name) for entry in fields(self)]
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)


_SECTIONS: dict[str, type[Any]] = {
    name: kind
    for name, kind in get_type_hints(Rules).items()
    if isinstance(kind, type) and is_dataclass(kind)
}


@cache
def rules(year: int = 2013) -> Rules:
    """Return the shipped rules of a year."""
    return read_rules(_FOLDER / f"obstacle_race{'' if year == 2013 else f'_{year}'}.rules.yaml")


def read_rules(path: Path | str) -> Rules:
    """Read rules from a document.

    Raises:
        DocumentError: it is not a document of rules, or a number in it is out of range.
    """
    path = Path(path)
    text = read_text(path)
    return _rules(parse_document(text, path), text)


def parse_rules(text: str, name: str | None = None) -> Rules:
    """Parse rules from the text of a document, `name` only serving messages."""
    return _rules(parse_document(text, Path(name) if name else None), text)


def _rules(root: Node, text: str) -> Rules:
    parts = root.fields(required=("rules", "title", "arena", *_SECTIONS, "sources"), optional=())
    sections = {name: read_record(parts[name], kind) for name, kind in _SECTIONS.items()}
    scoring = sections["scoring"]
    _check_lines(parts, sections["course"])
    if scoring.time_limit_s <= 0.0 or scoring.distance_limit_cm <= 0.0:
        parts["scoring"].fail("a limit is 0", hint="time and distance limits are above 0")
    return Rules(
        name=parts["rules"].text(),
        title=parts["title"].text(),
        arena=parts["arena"].text(),
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
        text=text,
        **sections,
    )


def _check_lines(parts: Mapping[str, Node], course: CourseRules) -> None:
    """Refuse a field that does not ship, and lines that it does not have."""
    name = parts["arena"].text()
    if name not in arena_names():
        parts["arena"].fail(f"there is no arena {name!r}", hint=f"one of {', '.join(arena_names())}")
    if not course.first_line < course.second_line <= len(arena(name).lines):
        hint = f"two of the {len(arena(name).lines)} lines of {name}, in the order of x"
        parts["course"].fail("the second line is not beyond the first", hint=hint)


def field_of(rules: Rules) -> Arena:
    """Return the field that the rules name, without boxes."""
    return arena(rules.arena)


def check_field(rules: Rules, told: Mapping[str, Any]) -> None:
    """Refuse a field, told as by `Arena.to_dict`, that is measured otherwise than the rules' own.

    One with another name, built or drawn by somebody else, may differ by a few millimetres.
    """
    name, right = told.get("name"), field_of(rules).to_dict()
    if name is None:
        raise InputError("no arena is told", hint=f"{rules.name} is run on {rules.arena!r}")
    if name != rules.arena:
        measured = (_MEASURES[0], _MEASURES[1]) if told.get("box_size_m") is None else _MEASURES
        if wrong := [one for one in measured if not _are_near(told.get(one), right[one])]:
            hint = f"{rules.name} is run on {rules.arena!r}, or where {wrong[0]} is {right[wrong[0]]}"
            raise InputError(f"the arena is {name!r}", hint=hint)
        return
    for measure in _MEASURES:
        if told.get(measure) != right[measure]:
            hint = f"{right[measure]} in the document of {rules.arena}"
            raise InputError(f"the arena's {measure} is {told.get(measure, 'not told')}", hint=hint)


def _are_near(one: Any, other: Any) -> bool:
    """Tell whether two measures, numbers or lists and mappings of them, differ by no more than is allowed."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_are_near(one[key], other[key]) for key in other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_are_near, one, other))
    return all(isinstance(part, int | float) for part in (one, other)) and abs(one - other) <= _BUILT_M
