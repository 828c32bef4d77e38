"""Postures of a Robi 2: how it judges them, its idle poses, which servos are mapped (`postures.yaml`)."""

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
from posewright.robots import Robot, robot
from posewright.runtimes.robi.memory import Sources, read_sources

_DOCUMENT = Path(__file__).parent / "postures.yaml"

LEGS = range(1, 12)
"""IDs whose mapped torque is that of the legs; ID 1 is no servo."""

WORDS_PER_DEG = 10.0


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


def _ids(node: Node) -> tuple[int, ...]:
    ends = [[end.integer(low=1, high=21) for end in one.items()] for one in node.items()]
    return tuple(number for first, last in ends for number in range(first, last + 1))


APosture = Annotated[Posture, Reader(_posture)]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a rule: a servo beyond its limit decides for a posture."""

    id: Annotated[int, Bounds(2, 21)]
    posture: APosture
    above_deg: float | None = None
    below_deg: float | None = None

    def decides(self, position_deg: Floats) -> Flags:
        """Return where the servo is beyond the limit; on it is not beyond."""
        above = (
            np.zeros(position_deg.shape, bool) if self.above_deg is None else position_deg > self.above_deg
        )
        return above if self.below_deg is None else above | (position_deg < self.below_deg)


@dataclass(frozen=True, slots=True)
class Rule:
    """How the posture is judged at the start: the first step that decides; else what is left."""

    steps: tuple[Step, ...]
    otherwise: APosture
    source: Sources

    def judge(self, positions_deg: Mapping[int, Floats]) -> Indices:
        """Return the posture's number for positions by ID, all of one shape [deg]."""
        flags = [step.decides(np.asarray(positions_deg[step.id], np.float64)) for step in self.steps]
        judged: Indices = np.select(flags, [int(step.posture) for step in self.steps], int(self.otherwise))
        return judged


@dataclass(frozen=True, slots=True)
class IdlePose:
    """How the robot waits in a posture.

    Attributes:
        pose: of the robot's card.
        judged: what a right rule calls it.
    """

    pose: str
    judged: APosture
    torque_percent: Annotated[int, Bounds(0, 100)]
    source: Sources


@dataclass(frozen=True, slots=True)
class Mapped:
    """IDs that obey the mapping block in a posture."""

    ids: Annotated[tuple[int, ...], Reader(_ids)]
    source: Sources


@dataclass(frozen=True, slots=True)
class Transition:
    """A way from some postures to another.

    Attributes:
        does: what it does to the memory, in words.
        through: poses of the robot's card on the way.
    """

    start: tuple[Posture, ...]
    to: Posture
    does: str
    source: tuple[str, ...]
    through: tuple[str, ...] = ()


@dataclass(frozen=True)
class Postures:
    """All of it, by name of the posture, of the rule, of the transition."""

    robot: Robot
    default_rule: str
    rules: Mapping[str, Rule]
    idle: Mapping[str, IdlePose]
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
        judged = {name: self.rule(rule).judge(self.degrees(idle.pose)) for name, idle in self.idle.items()}
        return {
            name: (Posture(int(number)), self.idle[name].judged)
            for name, number in judged.items()
            if number != self.idle[name].judged
        }

    def words(self, pose: str) -> Mapping[int, int]:
        """Return the positions of a pose of the robot's card, by ID [0.1 deg]."""
        ticks = np.rint(self.robot.to_ticks(self.robot.pose(pose))).astype(int).tolist()
        return {servo.id: word for servo, word in zip(self.robot.servos, ticks, strict=True) if servo.id}

    def degrees(self, pose: str) -> Mapping[int, Floats]:
        """Return the same in degrees, as arrays of one number."""
        return {number: np.asarray(word / WORDS_PER_DEG) for number, word in self.words(pose).items()}


@cache
def postures() -> Postures:
    """Return the postures that ship."""
    return read_postures(_DOCUMENT)


def read_postures(path: Path) -> Postures:
    """Read the document of postures, or raise DocumentError."""
    parts = read_document(path).fields(
        required=("postures", "robot", "default_rule", "sources", "rules", "idle", "mapped", "transitions"),
        optional=(),
    )
    rules = {name: read_record(node, Rule) for name, node in parts["rules"].fields().items()}
    names = [one.word for one in Posture]
    return Postures(
        robot=robot(parts["robot"].text()),
        default_rule=parts["default_rule"].choice("rule", rules),
        rules=rules,
        idle={
            name: read_record(node, IdlePose) for name, node in parts["idle"].fields(required=names).items()
        },
        mapped={
            name: read_record(node, Mapped) for name, node in parts["mapped"].fields(optional=names).items()
        },
        transitions={name: _transition(node) for name, node in parts["transitions"].fields().items()},
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
    )


def _transition(node: Node) -> Transition:
    parts = node.fields(required=("from", "to", "does", "source"), optional=("through",))
    start, to = _postures(parts["from"]), _posture(parts["to"])
    through = tuple(one.text() for one in parts["through"].items()) if "through" in parts else ()
    return Transition(start, to, parts["does"].text(), read_sources(parts["source"]), through)


def judge(positions_deg: Mapping[int, float], rule: str | None = None) -> Posture:
    """Return which posture a rule, the consistent one unless named, sees in positions by ID [deg]."""
    judged = postures().rule(rule).judge({number: np.asarray(at) for number, at in positions_deg.items()})
    return Posture(int(judged))
