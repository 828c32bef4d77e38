"""The postures of a Robi 2: the rules that judge them, idle poses, and mapped servos (`postures.yaml`)."""

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
from posewright.runtimes.robi.memory import WORDS_PER_DEG, SourceKeys

_DOCUMENT = Path(__file__).parent / "postures.yaml"

SERVO_IDS = range(1, 22)

LEGS = range(1, 12)
"""IDs whose mapped torque is that of the legs; no servo has ID 1."""

JUDGED_BY = (3, 4, 9)
"""IDs of the servos that the rules use: right hip pitch, right knee, left knee."""


class Posture(IntEnum):
    """The values of the posture variable."""

    STANDING = 0
    SITTING = 1
    CHAIR = 2
    RIDE = 3

    @property
    def word(self) -> str:
        """Its name in documents."""
        return self.name.lower()


def posture_name(number: int) -> str:
    """Return the name of a value of the posture variable."""
    return Posture(number).word if number in list(Posture) else f"posture {number}"


def _read_posture(node: Node) -> Posture:
    return Posture[node.choice("posture", [posture.word for posture in Posture]).upper()]


def _read_ids(node: Node) -> tuple[int, ...]:
    """Return the IDs of a list of ranges; each is a pair of its first and last ID."""
    ids: list[int] = []
    for id_range in node.items():
        ends = [end.integer(low=SERVO_IDS[0], high=SERVO_IDS[-1]) for end in id_range.items()]
        if len(ends) != 2:
            id_range.fail("not a range of IDs", hint="write its first and its last ID: [3, 5]")
        ids += range(ends[0], ends[1] + 1)
    return tuple(ids)


PostureWord = Annotated[Posture, FieldReader(_read_posture)]


@dataclass(frozen=True, slots=True)
class RuleStep:
    """A step of a rule: if a servo is beyond a limit, the robot is in a posture.

    Attributes:
        id: the ID of the servo.
        posture: the posture that the step decides for.
        above_deg: limit above which it decides; None for no such limit.
        below_deg: limit below which it decides; None for no such limit.
    """

    id: Annotated[int, Bounds(2, 21)]
    posture: PostureWord
    above_deg: float | None = None
    below_deg: float | None = None

    @property
    def limits(self) -> tuple[float, ...]:
        """Its limits [deg]."""
        return tuple(limit for limit in (self.above_deg, self.below_deg) if limit is not None)

    def is_beyond_limit(self, position_deg: Floats) -> Flags:
        """Return for each position whether it is beyond a limit, in the shape of the positions."""
        is_beyond = np.zeros(position_deg.shape, bool)
        if self.above_deg is not None:
            is_beyond = position_deg > self.above_deg
        if self.below_deg is not None:
            is_beyond = is_beyond | (position_deg < self.below_deg)
        return is_beyond


@dataclass(frozen=True, slots=True)
class PostureRule:
    """How the robot judges its posture at power-on: by the first step that decides, or else `otherwise`."""

    steps: tuple[RuleStep, ...]
    otherwise: PostureWord
    source: SourceKeys

    def judge(self, positions_deg: Mapping[int, Floats]) -> Indices:
        """Return the posture that the rule judges for each set of servo positions, as a number.

        Args:
            positions_deg: positions by servo ID, all of one shape [deg].

        Returns:
            The numbers of the postures, in that shape.
        """
        decisions = [
            step.is_beyond_limit(np.asarray(positions_deg[step.id], np.float64)) for step in self.steps
        ]
        postures = [int(step.posture) for step in self.steps]
        # np.select takes the first step that decides
        judged: Indices = np.select(decisions, postures, int(self.otherwise))
        return judged


@dataclass(frozen=True, slots=True)
class IdlePose:
    """The pose in which the robot waits in a posture.

    Attributes:
        pose: its name in the robot's description.
        judged: the posture that a correct rule judges it to be.
        torque_percent: the torque of its servos.
        source: keys of the document's `sources`.
    """

    pose: str
    judged: PostureWord
    torque_percent: Annotated[int, Bounds(0, 100)]
    source: SourceKeys


@dataclass(frozen=True, slots=True)
class MappedServos:
    """IDs of the servos that follow the mapping block in a posture."""

    ids: Annotated[tuple[int, ...], FieldReader(_read_ids)]
    source: SourceKeys


@dataclass(frozen=True)
class PostureTable:
    """The content of `postures.yaml`.

    Attributes:
        robot: the robot whose poses are named.
        default_rule: name of a rule.
        rules: the rules by name.
        idle: the idle poses by name of the posture.
        mapped: the mapped servos by name of the posture.
        sources: descriptions by key.
    """

    robot: Robot
    default_rule: str
    rules: Mapping[str, PostureRule]
    idle: Mapping[str, IdlePose]
    mapped: Mapping[str, MappedServos]
    sources: Mapping[str, str] = field(repr=False)

    def rule(self, name: str | None = None) -> PostureRule:
        """Return a rule by name; None for the default one.

        Raises:
            UnknownNameError: there is no such rule.
        """
        name = self.default_rule if name is None else name
        if name not in self.rules:
            raise UnknownNameError.among("rule", name, self.rules)
        return self.rules[name]

    def mapped_ids(self, posture: Posture) -> tuple[int, ...]:
        """Return the IDs that follow the mapping block in a posture, including 1, which no servo has."""
        return self.mapped[posture.word].ids if posture.word in self.mapped else ()

    def pose_words(self, pose: str) -> Mapping[int, int]:
        """Return the positions of a pose of the robot by ID [0.1 deg]."""
        ticks = np.rint(self.robot.to_ticks(self.robot.pose(pose))).astype(int).tolist()
        return {servo.id: word for servo, word in zip(self.robot.servos, ticks, strict=True) if servo.id}

    def pose_degrees(self, pose: str) -> Mapping[int, Floats]:
        """Return the positions of a pose of the robot by ID, as arrays of one number [deg]."""
        return {number: np.asarray(word / WORDS_PER_DEG) for number, word in self.pose_words(pose).items()}


@cache
def posture_table() -> PostureTable:
    """Return the table that ships with the package."""
    return read_posture_table(_DOCUMENT)


def read_posture_table(path: Path) -> PostureTable:
    """Read a posture table; its idle poses and mapped servos are given by posture.

    Raises:
        DocumentError: the document is wrong.
    """
    entries = read_document(path).fields(
        required=("postures", "robot", "default_rule", "sources", "rules", "idle", "mapped"),
        optional=(),
    )
    posture_names = [posture.word for posture in Posture]
    rules = {name: read_record(node, PostureRule) for name, node in entries["rules"].fields().items()}
    idle_nodes = entries["idle"].fields(required=posture_names)
    mapped_nodes = entries["mapped"].fields(optional=posture_names)
    return PostureTable(
        robot=robot(entries["robot"].text()),
        default_rule=entries["default_rule"].choice("rule", rules),
        rules=rules,
        idle={name: read_record(node, IdlePose) for name, node in idle_nodes.items()},
        mapped={name: read_record(node, MappedServos) for name, node in mapped_nodes.items()},
        sources={key: node.text() for key, node in entries["sources"].fields().items()},
    )


def judge(positions_deg: Mapping[int, float], rule: str | None = None) -> Posture:
    """Return the posture that a rule, by default the default one, judges from positions by ID [deg]."""
    positions = {number: np.asarray(position) for number, position in positions_deg.items()}
    return Posture(int(posture_table().rule(rule).judge(positions)))


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one pose by a rule.

    Attributes:
        pose: name of the pose.
        rule: name of the rule.
        angles_deg: the angles by ID, with the signs of the memory's words.
        judged: name of the posture.
        right: name of the correct posture; empty if it is not known.
    """

    pose: str
    rule: str
    angles_deg: Mapping[int, float]
    judged: str
    right: str = ""

    @property
    def contradicts(self) -> bool:
        """Whether the judgement is not the correct posture."""
        return bool(self.right) and self.judged != self.right

    def data(self) -> dict[str, Any]:
        """Return the judgement as plain data."""
        return {**asdict(self), "contradicts": self.contradicts}


def judge_postures(
    angles_deg: Mapping[int, float] | None = None, rule: str | None = None
) -> tuple[Judgement, ...]:
    """Return which posture a rule judges from some angles, or from each pose in which a Robi idles.

    Args:
        angles_deg: angles by servo ID [deg]; None for the four poses in which a Robi idles.
        rule: name of the rule; None for the default one.

    Raises:
        UnknownNameError: there is no such rule.
    """
    table = posture_table()
    table.rule(rule)  # raises if there is no such rule
    rule_name = rule or table.default_rule
    if angles_deg is not None:
        return (
            Judgement(
                pose="given", rule=rule_name, angles_deg=dict(angles_deg), judged=judge(angles_deg, rule).word
            ),
        )
    judgements: list[Judgement] = []
    for name, idle in table.idle.items():
        pose_deg = table.pose_degrees(idle.pose)
        angles = {number: float(pose_deg[number]) for number in JUDGED_BY}
        posture = judge(angles, rule)
        judgements.append(
            Judgement(
                pose=name, rule=rule_name, angles_deg=angles, judged=posture.word, right=idle.judged.word
            )
        )
    return tuple(judgements)
