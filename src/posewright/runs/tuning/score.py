"""The score of a candidate: terms, each one thing that may be bad about a walk, weighted and added up.

Smaller is better. docs/how-to-tune.md explains each term; its keys in a document are the fields here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from types import MappingProxyType
from typing import Annotated, ClassVar

from posewright.documents import Bounds
from posewright.evaluation.walking.joints import MIN_PATH_M
from posewright.runs.tuning.task import LARGEST_WEIGHT, Term, TunedBodies, Walked
from posewright.search import Evaluation, Fact

NOWHERE_COST = 20.0  # what transport costs a robot that comes nowhere: more than any that walks

Weight = Annotated[float, Bounds(0.0, LARGEST_WEIGHT)]


@dataclass(frozen=True, slots=True)
class Speed:
    """True speed along the command, divided by how much the joints are overtaxed; it is taken off the score.

    A candidate that asks a joint for more than its servo can turn is no gait for the robot, and simulation
    may be kinder than the servo: what is beyond the limit divides the speed.

    Attributes:
        weight: of 1 m/s.
        joint_speed_ratio: up to here no joint is overtaxed: of the fastest, over the card's greatest speed.
        power: of the ratio beyond that limit by which the speed is divided.
    """

    name: ClassVar[str] = "speed"
    weight: Weight
    joint_speed_ratio: Annotated[float, Bounds(0.01, 100.0)] = 1.0
    power: Annotated[float, Bounds(0.0, 10.0)] = 1.0

    def value(self, walked: Walked) -> float:
        """Return the speed that counts, negative [m/s]."""
        speed = speed_along(walked)
        taxed = max(1.0, walked.report.loads.max_joint_speed_ratio / self.joint_speed_ratio)
        return -speed / taxed**self.power if speed > 0.0 else -speed


@dataclass(frozen=True, slots=True)
class Following:
    """Relative error of forward, left and turn against what was commanded."""

    name: ClassVar[str] = "following"
    weight: Weight  # of an error of 1, 100 %
    worst: Annotated[float, Bounds(0.0, 1.0)] = 0.5  # weight of the worst error beside their mean
    scale_m_s: Annotated[float, Bounds(0.001, 10.0)] = 0.1  # divides errors of what is not commanded [m/s]
    scale_rad_s: Annotated[float, Bounds(0.001, 100.0)] = 0.5  # the same for the turn [rad/s]

    def value(self, walked: Walked) -> float:
        """Return the relative error."""
        scales = (self.scale_m_s, self.scale_m_s, self.scale_rad_s)
        errors = [
            abs(error) / (abs(asked) or scale)
            for error, asked, scale in zip(walked.errors, walked.commanded, scales, strict=True)
        ]
        return (1.0 - self.worst) * fmean(errors) + self.worst * max(errors)


@dataclass(frozen=True, slots=True)
class Tilt:
    """How far the base leans at most, beyond a limit."""

    name: ClassVar[str] = "tilt_deg"
    weight: Weight  # of 1 degree
    over: Annotated[float, Bounds(0.0, 180.0)] = 0.0  # up to here it may [deg]

    def value(self, walked: Walked) -> float:
        """Return the degrees beyond the limit."""
        return max(0.0, walked.report.attitude.max_tilt_deg - self.over)


@dataclass(frozen=True, slots=True)
class Drift:
    """How fast the robot leaves the way it was sent: across it, and by a turn nobody asked for."""

    name: ClassVar[str] = "drift"
    weight: Weight  # of 1 m/s
    turn_m: Annotated[float, Bounds(0.0, 100.0)] = 0.5  # so many metres a turn by 1 rad counts as [m]

    def value(self, walked: Walked) -> float:
        """Return the speed of the drift [m/s]."""
        forward, left, turn = walked.errors
        ahead, aside, _ = walked.commanded
        way = math.hypot(ahead, aside)
        across = abs(ahead * left - aside * forward) / way if way else math.hypot(forward, left)
        return across + self.turn_m * abs(turn)


@dataclass(frozen=True, slots=True)
class Slip:
    """How far all feet together slide for each metre."""

    name: ClassVar[str] = "slip"
    weight: Weight  # of 1 m a metre

    def value(self, walked: Walked) -> float:
        """Return metres a metre; a way under 5 cm counts as 5 cm."""
        return walked.report.feet.slip_m / max(walked.report.travel.path_m, MIN_PATH_M)


@dataclass(frozen=True, slots=True)
class CostOfTransport:
    """What the way costs in work of the joints."""

    name: ClassVar[str] = "cost_of_transport"
    weight: Weight  # of a cost of 1

    def value(self, walked: Walked) -> float:
        """Return the cost; that of a robot that comes nowhere is as bad as it gets."""
        cost = walked.report.energy.cost_of_transport
        return NOWHERE_COST if cost is None else min(cost, NOWHERE_COST)


@dataclass(frozen=True, slots=True)
class JointSpeed:
    """How fast the fastest joint turns over the greatest speed on the card, beyond a limit."""

    name: ClassVar[str] = "joint_speed_ratio"
    weight: Weight  # of a ratio of 1 beyond it
    over: Annotated[float, Bounds(0.0, 100.0)] = 1.0  # up to here it may

    def value(self, walked: Walked) -> float:
        """Return the ratio beyond the limit."""
        return max(0.0, walked.report.loads.max_joint_speed_ratio - self.over)


@dataclass(frozen=True, slots=True)
class JointMargin:
    """How near commands come to the limits of joints, coupled ones too."""

    name: ClassVar[str] = "joint_margin_deg"
    weight: Weight  # of 1 degree
    under: Annotated[float, Bounds(0.0, 90.0)] = 0.0  # so much room there should be [deg]

    def value(self, walked: Walked) -> float:
        """Return the degrees of room that are missing."""
        loads = walked.report.loads
        coupled = loads.coupled_margin_deg
        room = loads.limit_margin_deg if coupled is None else min(loads.limit_margin_deg, coupled)
        return max(0.0, self.under - room)


@dataclass(frozen=True, slots=True)
class Fall:
    """Whether the robot fell; twice as bad at the very beginning as at the very end."""

    name: ClassVar[str] = "fall"
    weight: Weight  # of a fall at the end of the walk

    def value(self, walked: Walked) -> float:
        """Return 0 for a robot that stays upright, 1 to 2 for one that falls."""
        if walked.report.is_upright:
            return 0.0
        seconds = walked.walk.settle_s + walked.walk.seconds
        return 2.0 - min(walked.report.falls[0].time_s / seconds, 1.0)


_KINDS = (Speed, Following, Tilt, Drift, Slip, CostOfTransport, JointSpeed, JointMargin, Fall)
TERMS: Mapping[str, type[Term]] = MappingProxyType({kind.name: kind for kind in _KINDS})
"""By their keys in a document."""


def speed_along(walked: Walked) -> float:
    """Return the true speed in the direction of the command [m/s]; 0 where that is to go nowhere."""
    ahead, aside, _ = walked.commanded
    forward, left, _ = walked.measured
    way = math.hypot(ahead, aside)
    return (ahead * forward + aside * left) / way if way else 0.0


def judged(walks: Sequence[Sequence[Walked]], terms: Sequence[Term], bodies: TunedBodies) -> Evaluation:
    """Return how good a candidate is, by what became of each body in each of its walks.

    The score of a walk is the sum of the weighted terms, of all bodies by `bodies.worst_share`; that of the
    candidate is the weighted mean of its walks. The facts `score_<term>` are means over all bodies: they add
    up to the score where `worst_share` is 0, and to less where the worst body counts for more.
    """
    weights = [walk[0].walk.weight for walk in walks]
    score = _mean([_of_bodies(walk, terms, bodies.worst_share) for walk in walks], weights)
    parts = {
        f"score_{term.name}": _mean([fmean(_value(term, one) for one in walk) for walk in walks], weights)
        for term in terms
    }
    return Evaluation(score, {**figures(walks, terms), **parts})


def _of_bodies(walk: Sequence[Walked], terms: Sequence[Term], worst_share: float) -> float:
    scores = [math.fsum(_value(term, one) for term in terms) for one in walk]
    return (1.0 - worst_share) * fmean(scores) + worst_share * max(scores)


def _value(term: Term, walked: Walked) -> float:
    return term.weight * term.value(walked)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(value * weight for value, weight in zip(values, weights, strict=True))
    return total / math.fsum(weights)


def figures(walks: Sequence[Sequence[Walked]], terms: Sequence[Term] = ()) -> dict[str, Fact]:
    """Return what people want to know of a candidate, its score aside.

    Speed along the command is the mean of the walks that go anywhere; the others are the worst of all. For
    each walk `walks` has what became of each body.
    """
    every = [one for walk in walks for one in walk]
    going = [walk for walk in walks if walk[0].walk.goes_somewhere]
    named = next((term for term in terms if isinstance(term, Following)), Following(weight=1.0))
    worst = replace(named, worst=1.0)
    told: dict[str, Fact] = {}
    if going:
        speeds = [fmean(speed_along(one) for one in walk) for walk in going]
        told["speed_m_s"] = _mean(speeds, [walk[0].walk.weight for walk in going])
    told["following_error"] = max(worst.value(one) for one in every)
    told["max_joint_speed_ratio"] = max(one.report.loads.max_joint_speed_ratio for one in every)
    told["max_tilt_deg"] = max(one.report.attitude.max_tilt_deg for one in every)
    told["slip_per_m"] = max(Slip(weight=1.0).value(one) for one in every)
    told["walks"] = len(every)
    told["falls"] = sum(not one.report.is_upright for one in every)
    return told
