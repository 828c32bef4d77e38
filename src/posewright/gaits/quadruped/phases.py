"""Phase tables: when each of the four feet lifts, as fractions of a cycle; and the legs of the feet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from posewright.documents import Node
from posewright.errors import InputError, UnknownNameError
from posewright.kinematics import MountedLeg, legs_by_foot
from posewright.robots import Robot

FEET = ("left_front", "left_rear", "right_front", "right_rear")
"""The feet of a quadruped, in the order of all arrays over feet."""

ENDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"fore": ("left_front", "right_front"), "hind": ("left_rear", "right_rear")}
)
"""The pairs of feet by name, left and right."""

CUSTOM = "own"
"""Name of a phase table that is none of `PHASE_TABLES`."""


@dataclass(frozen=True)
class PhaseTable:
    """When each foot leaves the ground.

    Attributes:
        name: the name of the gait in the literature; `own` for a custom table.
        offsets: the phase offset of each foot: the fraction of the cycle at which it leaves the ground, 0 to
            less than 1.
    """

    name: str
    offsets: Mapping[str, float]

    def __post_init__(self) -> None:
        """Check the offsets, and store them in the order of `FEET`, read-only."""
        if set(self.offsets) != set(FEET):
            raise InputError(
                f"a phase table has offsets for {', '.join(self.offsets)}",
                hint=f"one offset for each of {', '.join(FEET)}",
            )
        for foot, phase in self.offsets.items():
            if not 0.0 <= phase < 1.0:
                raise InputError(f"{foot} lifts at {phase:g}", hint="from 0 to less than 1, of a cycle")
        object.__setattr__(
            self, "offsets", MappingProxyType({foot: float(self.offsets[foot]) for foot in FEET})
        )

    def __hash__(self) -> int:
        return hash((self.name, *self.offsets.values()))

    def __reduce__(self) -> tuple[type[PhaseTable], tuple[str, dict[str, float]]]:
        """Support pickling, which a read-only mapping does not."""
        return PhaseTable, (self.name, dict(self.offsets))

    def with_offset(self, foot: str, offset: float) -> PhaseTable:
        """Return the table with another offset of a foot; one of `PHASE_TABLES` if it is equal.

        Raises:
            InputError: no such foot, or an offset that is not from 0 to less than 1.
        """
        changed = PhaseTable(CUSTOM, {**self.offsets, foot: offset})
        return next((table for table in PHASE_TABLES.values() if table.offsets == changed.offsets), changed)

    @property
    def starts(self) -> tuple[float, ...]:
        """The fractions of a cycle at which a step begins: where one foot or more lift, rising."""
        return tuple(sorted(set(self.offsets.values())))

    @property
    def mirrored(self) -> PhaseTable:
        """The table with left and right swapped."""
        return PhaseTable(self.name, {_opposite_foot(foot): phase for foot, phase in self.offsets.items()})


def _opposite_foot(foot: str) -> str:
    side, _, end = foot.partition("_")
    return f"{'right' if side == 'left' else 'left'}_{end}"


def _table(
    name: str, left_front: float, left_rear: float, right_front: float, right_rear: float
) -> PhaseTable:
    return PhaseTable(name, dict(zip(FEET, (left_front, left_rear, right_front, right_rear), strict=True)))


CRAWL = _table("crawl", left_front=0.25, left_rear=0.0, right_front=0.75, right_rear=0.5)
"""One foot after the other, each hind foot followed by the fore foot of its side: three feet always stand
where the feet are down three quarters of the time or more."""

TROT = _table("trot", left_front=0.0, left_rear=0.5, right_front=0.5, right_rear=0.0)
"""Diagonal pairs."""

PACE = _table("pace", left_front=0.0, left_rear=0.0, right_front=0.5, right_rear=0.5)
"""The feet of a side together."""

LEFT_TURN = _table("left_turn", left_front=0.0, left_rear=0.75, right_front=0.25, right_rear=0.5)
"""One foot after the other round the body: left front, right front, right rear, left rear."""

RIGHT_TURN = PhaseTable("right_turn", LEFT_TURN.mirrored.offsets)
"""The mirror image of the left turn."""

PHASE_TABLES: Mapping[str, PhaseTable] = MappingProxyType(
    {table.name: table for table in (CRAWL, TROT, PACE, LEFT_TURN, RIGHT_TURN)}
)


def phase_table(name: str) -> PhaseTable:
    """Return one of `PHASE_TABLES`, or raise UnknownNameError."""
    if name not in PHASE_TABLES:
        raise UnknownNameError.among("phase table", name, PHASE_TABLES)
    return PHASE_TABLES[name]


def read_phases(node: Node) -> PhaseTable:
    """Read the name of a table, or the phase offset of each foot, or raise DocumentError."""
    if not isinstance(node.value, dict):
        return phase_table(node.choice("phase table", PHASE_TABLES))
    offsets = node.fields(required=FEET, optional=())
    for entry in offsets.values():
        if entry.number(low=0.0) >= 1.0:
            entry.fail(f"{entry.value:g} is out of range", hint="from 0 to less than 1, of a cycle")
    return PhaseTable(CUSTOM, {foot: entry.number() for foot, entry in offsets.items()})


def walking_legs(robot: Robot) -> dict[str, MountedLeg]:
    """Return the legs of the four feet of a gait, by foot, in the order of `FEET`, or raise InputError."""
    legs = legs_by_foot(robot)
    missing = [f"{foot}_leg" for foot in FEET if foot not in legs]
    if missing:
        raise InputError(
            f"the card of {robot.name} has no {', '.join(missing)}; a gait needs four legs",
            hint=f"it has {', '.join(leg.name for leg in legs.values())}",
        )
    return {foot: legs[foot] for foot in FEET}
