"""Postures of a Robi 2: how it judges them, its idle poses, which servos are mapped (`postures.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.documents import Bounds, FieldReader, Node, read_document, read_record
from posewright.errors import UnknownNameError
from posewright.robots import Robot, robot
from posewright.runtimes.robi.memory import Sources

_DOCUMENT = Path(__file__).parent / "postures.yaml"

LEGS = range(1, 12)
"""IDs whose mapped torque is that of the legs; ID 1 is no servo."""

WORDS_PER_DEG = 10.0

JUDGED_BY = (3, 4, 9)
"""IDs that the rules look at: right hip pitch, right knee, left knee."""


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


def posture_name(number: int) -> str:
    """Return what the number in the posture variable means."""
    return Posture(number).word if number in list(Posture) else f"posture {number}"


def _posture(node: Node) -> Posture:
    return Posture[node.choice("posture", [one.word for one in Posture]).upper()]


def _ids(node: Node) -> tuple[int, ...]:
    ends = [[end.integer(low=1, high=21) for end in one.items()] for one in node.items()]
    return tuple(number for first, last in ends for number in range(first, last + 1))


APosture = Annotated[Posture, FieldReader(_posture)]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a rule: a servo beyond its limit decides for a posture."""

    id: Annotated[int, Bounds(2, 21)]
    posture: APosture
    above_deg: float | None = None
    below_deg: float | None = None

    @property
    def limits(self) -> tuple[float, ...]:
        """The limits that it has [deg]."""
        return tuple(one for one in (self.above_deg, self.below_deg) if one is not None)

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

    ids: Annotated[tuple[int, ...], FieldReader(_ids)]
    source: Sources


@dataclass(frozen=True)
class Postures:
    """All of it, by name of the posture, of the rule."""

    robot: Robot
    default_rule: str
    rules: Mapping[str, Rule]
    idle: Mapping[str, IdlePose]
    mapped: Mapping[str, Mapped]
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
        required=("postures", "robot", "default_rule", "sources", "rules", "idle", "mapped"),
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
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
    )


def judge(positions_deg: Mapping[int, float], rule: str | None = None) -> Posture:
    """Return which posture a rule, the consistent one unless named, sees in positions by ID [deg]."""
    judged = postures().rule(rule).judge({number: np.asarray(at) for number, at in positions_deg.items()})
    return Posture(int(judged))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of one pose.

    Attributes:
        pose: what it is called.
        angles_deg: by ID, with the words' own signs.
        right: what would be right; empty where nobody knows.
    """

    pose: str
    rule: str
    angles_deg: Mapping[int, float]
    judged: str
    right: str = ""

    @property
    def contradicts(self) -> bool:
        """Whether the rule calls a pose something else than its document does."""
        return bool(self.right) and self.judged != self.right

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "contradicts": self.contradicts}


def judge_postures(
    angles_deg: Mapping[int, float] | None = None, rule: str | None = None
) -> tuple[Judgement, ...]:
    """Return what a rule says of given angles, by ID [deg]; default of the four poses in which a Robi idles.

    Raises:
        UnknownNameError: there is no such rule.
    """
    known = postures()
    called, _ = rule or known.default_rule, known.rule(rule)
    if angles_deg is not None:
        return (Judgement("given", called, dict(angles_deg), judge(angles_deg, rule).word),)
    found = []
    for name, idle in known.idle.items():
        at = {number: float(known.degrees(idle.pose)[number]) for number in JUDGED_BY}
        found.append(Judgement(name, called, at, judge(at, rule).word, idle.judged.word))
    return tuple(found)
