"""Postures of a Robi 2: how it judges them, how it stands in them, which servos are mapped (`postures.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.documents import Bounds, Node, Reader, read_document, read_record
from posewright.errors import UnknownNameError

_DOCUMENT = Path(__file__).parent / "postures.yaml"

RIGHT_LEG, LEFT_LEG = range(2, 7), range(7, 12)
IDS = range(2, 22)
LEGS = range(1, 12)
"""IDs whose mapped torque is that of the legs; ID 1 is no servo."""


class Posture(IntEnum):
    """What the posture variable may be."""

    STANDING = 0
    SITTING = 1
    CHAIR = 2
    RIDE = 3

    @property
    def word(self) -> str:
        """Its name in documents."""
        return self.name.lower()


def _posture(node: Node) -> Posture:
    return Posture[node.choice("posture", [one.word for one in Posture]).upper()]


def _postures(node: Node) -> tuple[Posture, ...]:
    return tuple(_posture(one) for one in node.items())


def _source(node: Node) -> tuple[str, ...]:
    return tuple(one.text() for one in (node.items() if isinstance(node.value, list) else (node,)))


def _ids(node: Node) -> tuple[int, ...]:
    ends = [[end.integer(low=1, high=21) for end in one.items()] for one in node.items()]
    return tuple(number for first, last in ends for number in range(first, last + 1))


APosture = Annotated[Posture, Reader(_posture)]
Source = Annotated[tuple[str, ...], Reader(_source)]
Leg = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a rule: a servo beyond its limit decides for a posture."""

    id: Annotated[int, Bounds(2, 21)]
    posture: APosture
    above_deg: float | None = None
    below_deg: float | None = None

    def decides(self, position_deg: Floats) -> Flags:
        """Return where the servo is beyond the limit; on it is not beyond."""
        above = np.zeros(position_deg.shape, bool) if self.above_deg is None else position_deg > self.above_deg
        return above if self.below_deg is None else above | (position_deg < self.below_deg)


@dataclass(frozen=True, slots=True)
class Rule:
    """How the posture is judged at the start: the first step that decides; else what is left."""

    steps: tuple[Step, ...]
    otherwise: APosture
    source: Source

    def judge(self, positions_deg: Mapping[int, Floats]) -> Indices:
        """Return the posture's number for positions by ID, all of one shape [deg]."""
        flags = [step.decides(np.asarray(positions_deg[step.id], np.float64)) for step in self.steps]
        judged: Indices = np.select(flags, [int(step.posture) for step in self.steps], int(self.otherwise))
        return judged


@dataclass(frozen=True, slots=True)
class LegPose:
    """Where the servos of both legs are, by ID from 2 and from 7 [0.1 deg]; all others are at 0."""

    right: Leg
    left: Leg

    @property
    def by_id(self) -> Mapping[int, int]:
        """Positions of all servos, by ID [0.1 deg]."""
        legs = dict(zip((*RIGHT_LEG, *LEFT_LEG), (*self.right, *self.left), strict=True))
        return {number: legs.get(number, 0) for number in IDS}


@dataclass(frozen=True, slots=True)
class IdlePose:
    """How the robot waits in a posture.

    Attributes:
        judged: what a right rule calls it.
    """

    judged: APosture
    right: Leg
    left: Leg
    torque_percent: Annotated[int, Bounds(0, 100)]
    source: Source

    @property
    def by_id(self) -> Mapping[int, int]:
        """Positions of all servos, by ID [0.1 deg]."""
        return LegPose(self.right, self.left).by_id


@dataclass(frozen=True, slots=True)
class Mapped:
    """IDs that obey the mapping block in a posture."""

    ids: Annotated[tuple[int, ...], Reader(_ids)]
    source: Source


@dataclass(frozen=True, slots=True)
class Transition:
    """A way from some postures to another, and what it does to the memory, in words."""

    start: tuple[Posture, ...]
    to: Posture
    does: str
    source: tuple[str, ...]


@dataclass(frozen=True)
class Postures:
    """All of it, by name of the posture, of the rule, of the transition."""

    default_rule: str
    rules: Mapping[str, Rule]
    idle: Mapping[str, IdlePose]
    stand_up: tuple[LegPose, ...]
    mapped: Mapping[str, Mapped]
    transitions: Mapping[str, Transition]
    sources: Mapping[str, str] = field(repr=False)

    def rule(self, name: str | None = None) -> Rule:
        """Return a rule, the default one unless named, or raise UnknownNameError."""
        name = self.default_rule if name is None else name
        if name not in self.rules:
            raise UnknownNameError.among("rule", name, self.rules)
        return self.rules[name]

    def mapped_ids(self, posture: Posture) -> tuple[int, ...]:
        """Return the IDs that obey the mapping block in a posture, ID 1, which is no servo, among them."""
        return self.mapped[posture.word].ids if posture.word in self.mapped else ()

    def contradictions(self, rule: str | None = None) -> Mapping[str, tuple[Posture, Posture]]:
        """Return the idle poses that a rule judges wrong: what it says, and what would be right."""
        judged = {name: judge(_degrees(pose), rule) for name, pose in self.idle.items()}
        return {name: (it, self.idle[name].judged) for name, it in judged.items() if it != self.idle[name].judged}


def _degrees(pose: IdlePose) -> Mapping[int, float]:
    return {number: word / 10.0 for number, word in pose.by_id.items()}


@cache
def postures() -> Postures:
    """Return the postures that ship."""
    return read_postures(_DOCUMENT)


def read_postures(path: Path) -> Postures:
    """Read the document of postures, or raise DocumentError."""
    parts = read_document(path).fields(
        required=("postures", "default_rule", "sources", "rules", "idle", "stand_up", "mapped", "transitions"),
        optional=(),
    )
    rules = {name: read_record(node, Rule) for name, node in parts["rules"].fields().items()}
    names = [one.word for one in Posture]
    way = parts["stand_up"].fields(required=("source", "poses"), optional=())
    return Postures(
        default_rule=parts["default_rule"].choice("rule", rules),
        rules=rules,
        idle={
            name: read_record(node, IdlePose) for name, node in parts["idle"].fields(required=names).items()
        },
        stand_up=tuple(read_record(node, LegPose) for node in way["poses"].items()),
        mapped={
            name: read_record(node, Mapped)
            for name, node in parts["mapped"].fields(optional=names).items()
        },
        transitions={name: _transition(node) for name, node in parts["transitions"].fields().items()},
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
    )


def _transition(node: Node) -> Transition:
    parts = node.fields(required=("from", "to", "does", "source"), optional=())
    start, to = _postures(parts["from"]), _posture(parts["to"])
    return Transition(start, to, parts["does"].text(), _source(parts["source"]))


def judge(positions_deg: Mapping[int, float], rule: str | None = None) -> Posture:
    """Return which posture a rule, the consistent one unless named, sees in positions by ID [deg]."""
    judged = postures().rule(rule).judge({number: np.asarray(at) for number, at in positions_deg.items()})
    return Posture(int(judged))
