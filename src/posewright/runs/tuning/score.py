"""The score of a candidate: the weighted sum of terms, each of which measures one fault of a walk.

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
from posewright.runs.tuning.task import MAX_WEIGHT, Term, TunedBodies, WalkMeasurement
from posewright.search import Evaluation, Fact

MAX_TRANSPORT_COST = 20.0
"""The cost of transport of a robot that gets nowhere: more than that of any robot that walks."""

Weight = Annotated[float, Bounds(0.0, MAX_WEIGHT)]


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed along the command, divided by the overload of the joints; it is subtracted from the score.

    A candidate that commands a joint faster than its servo can turn does not work on the robot, but the
    simulated servo may be stronger. So the part of the joint speed beyond the limit divides the speed.

    Attributes:
        weight: the weight of 1 m/s.
        joint_speed_ratio: limit of the ratio of the fastest joint's speed to the greatest speed on the card.
        power: exponent of the excess of that ratio over its limit, by which the speed is divided.
    """

    name: ClassVar[str] = "speed"
    weight: Weight
    joint_speed_ratio: Annotated[float, Bounds(0.01, 100.0)] = 1.0
    power: Annotated[float, Bounds(0.0, 10.0)] = 1.0

    def value(self, measurement: WalkMeasurement) -> float:
        """Return the negative of the corrected speed [m/s]."""
        speed = speed_along_command(measurement)
        overload = max(1.0, measurement.report.loads.max_joint_speed_ratio / self.joint_speed_ratio)
        return -speed / overload**self.power if speed > 0.0 else -speed


@dataclass(frozen=True, slots=True)
class Following:
    """Relative error of the forward, left and turn velocities against the command.

    Attributes:
        weight: the weight of an error of 1, which is 100 %.
        worst: weight of the largest of the three errors against their mean, from 0 to 1.
        scale_m_s: divisor of the error of a speed that is commanded to be 0 [m/s].
        scale_rad_s: divisor of the error of a turn that is commanded to be 0 [rad/s].
    """

    name: ClassVar[str] = "following"
    weight: Weight
    worst: Annotated[float, Bounds(0.0, 1.0)] = 0.5
    scale_m_s: Annotated[float, Bounds(0.001, 10.0)] = 0.1
    scale_rad_s: Annotated[float, Bounds(0.001, 100.0)] = 0.5

    def value(self, measurement: WalkMeasurement) -> float:
        """Return the relative error."""
        scales = (self.scale_m_s, self.scale_m_s, self.scale_rad_s)
        errors = [
            abs(error) / (abs(commanded) or scale)
            for error, commanded, scale in zip(measurement.errors, measurement.commanded, scales, strict=True)
        ]
        return (1.0 - self.worst) * fmean(errors) + self.worst * max(errors)


@dataclass(frozen=True, slots=True)
class Tilt:
    """The greatest tilt of the base beyond a limit.

    Attributes:
        weight: the weight of 1 degree.
        over: limit [deg].
    """

    name: ClassVar[str] = "tilt_deg"
    weight: Weight
    over: Annotated[float, Bounds(0.0, 180.0)] = 0.0

    def value(self, measurement: WalkMeasurement) -> float:
        """Return the degrees beyond the limit."""
        return max(0.0, measurement.report.attitude.max_tilt_deg - self.over)


@dataclass(frozen=True, slots=True)
class Drift:
    """Speed across the commanded direction, plus the part of the turn that was not commanded.

    Attributes:
        weight: the weight of 1 m/s.
        turn_m: length by which the error of the turn is multiplied: 1 rad counts as so many metres [m].
    """

    name: ClassVar[str] = "drift"
    weight: Weight
    turn_m: Annotated[float, Bounds(0.0, 100.0)] = 0.5

    def value(self, measurement: WalkMeasurement) -> float:
        """Return the speed of the drift [m/s]."""
        forward_error, left_error, turn_error = measurement.errors
        commanded_forward, commanded_left, _ = measurement.commanded
        commanded_speed = math.hypot(commanded_forward, commanded_left)
        if commanded_speed:
            cross_product = commanded_forward * left_error - commanded_left * forward_error
            sideways_speed = abs(cross_product) / commanded_speed
        else:
            sideways_speed = math.hypot(forward_error, left_error)
        return sideways_speed + self.turn_m * abs(turn_error)


@dataclass(frozen=True, slots=True)
class Slip:
    """The distance that all feet together slide per metre of the robot's path.

    Attributes:
        weight: the weight of 1 m per metre.
    """

    name: ClassVar[str] = "slip"
    weight: Weight

    def value(self, measurement: WalkMeasurement) -> float:
        """Return metres per metre; a path shorter than 5 cm counts as 5 cm."""
        report = measurement.report
        return report.feet.slip_m / max(report.travel.path_m, MIN_PATH_M)


@dataclass(frozen=True, slots=True)
class CostOfTransport:
    """The work of the joints per weight and distance.

    Attributes:
        weight: the weight of a cost of 1.
    """

    name: ClassVar[str] = "cost_of_transport"
    weight: Weight

    def value(self, measurement: WalkMeasurement) -> float:
        """Return the cost, at most `MAX_TRANSPORT_COST`, which also stands for a robot that gets nowhere."""
        cost = measurement.report.energy.cost_of_transport
        return MAX_TRANSPORT_COST if cost is None else min(cost, MAX_TRANSPORT_COST)


@dataclass(frozen=True, slots=True)
class JointSpeed:
    """The ratio of the fastest joint's speed to the greatest speed on the card, beyond a limit.

    Attributes:
        weight: the weight of 1 beyond the limit.
        over: limit of the ratio.
    """

    name: ClassVar[str] = "joint_speed_ratio"
    weight: Weight
    over: Annotated[float, Bounds(0.0, 100.0)] = 1.0

    def value(self, measurement: WalkMeasurement) -> float:
        """Return the excess of the ratio over the limit."""
        return max(0.0, measurement.report.loads.max_joint_speed_ratio - self.over)


@dataclass(frozen=True, slots=True)
class JointMargin:
    """How far commands come closer to the joints' limits, including coupled limits, than they should.

    Attributes:
        weight: the weight of 1 degree.
        under: margin that commands should keep [deg].
    """

    name: ClassVar[str] = "joint_margin_deg"
    weight: Weight
    under: Annotated[float, Bounds(0.0, 90.0)] = 0.0

    def value(self, measurement: WalkMeasurement) -> float:
        """Return how many degrees of the margin are missing."""
        loads = measurement.report.loads
        margin = loads.limit_margin_deg
        if loads.coupled_margin_deg is not None:
            margin = min(margin, loads.coupled_margin_deg)
        return max(0.0, self.under - margin)


@dataclass(frozen=True, slots=True)
class Fall:
    """Whether the robot fell; a fall at the start counts twice as much as one at the end.

    Attributes:
        weight: the weight of a fall at the end of the walk.
    """

    name: ClassVar[str] = "fall"
    weight: Weight

    def value(self, measurement: WalkMeasurement) -> float:
        """Return 0 for a robot that stays upright, 1 to 2 for one that falls."""
        if measurement.report.is_upright:
            return 0.0
        seconds = measurement.walk.settle_s + measurement.walk.seconds
        return 2.0 - min(measurement.report.falls[0].time_s / seconds, 1.0)


_TERM_CLASSES = (Speed, Following, Tilt, Drift, Slip, CostOfTransport, JointSpeed, JointMargin, Fall)
TERMS: Mapping[str, type[Term]] = MappingProxyType(
    {term_class.name: term_class for term_class in _TERM_CLASSES}
)
"""The classes of terms, by their keys in a document."""


def speed_along_command(measurement: WalkMeasurement) -> float:
    """Return the measured speed in the direction of the command [m/s]; 0 if no speed is commanded."""
    commanded_forward, commanded_left, _ = measurement.commanded
    forward, left, _ = measurement.measured
    commanded_speed = math.hypot(commanded_forward, commanded_left)
    if not commanded_speed:
        return 0.0
    return (commanded_forward * forward + commanded_left * left) / commanded_speed


def score_candidate(
    walks: Sequence[Sequence[WalkMeasurement]], terms: Sequence[Term], bodies: TunedBodies
) -> Evaluation:
    """Return the evaluation of a candidate.

    A body's score in a walk is the sum of the weighted terms. The score of the walk lies between the mean
    and the worst of its bodies, as `bodies.worst_share` sets; that of the candidate is the weighted mean of
    its walks. The facts `score_<term>` are means over all bodies: they add up to the score if `worst_share`
    is 0, and to less if the worst body counts for more.

    Args:
        walks: the measurements of all bodies, for each walk.
        terms: the terms of the score.
        bodies: the bodies that walked.
    """
    weights = [measurements[0].walk.weight for measurements in walks]
    scores = [_score_walk(measurements, terms, bodies.worst_share) for measurements in walks]
    term_scores: dict[str, Fact] = {}
    for term in terms:
        means = [
            fmean(_weighted_value(term, measurement) for measurement in measurements)
            for measurements in walks
        ]
        term_scores[f"score_{term.name}"] = _weighted_mean(means, weights)
    return Evaluation(_weighted_mean(scores, weights), {**compute_figures(walks, terms), **term_scores})


def _score_walk(measurements: Sequence[WalkMeasurement], terms: Sequence[Term], worst_share: float) -> float:
    """Return the score of one walk from the measurements of all bodies."""
    scores = [math.fsum(_weighted_value(term, measurement) for term in terms) for measurement in measurements]
    return (1.0 - worst_share) * fmean(scores) + worst_share * max(scores)


def _weighted_value(term: Term, measurement: WalkMeasurement) -> float:
    return term.weight * term.value(measurement)


def _weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(value * weight for value, weight in zip(values, weights, strict=True))
    return total / math.fsum(weights)


def compute_figures(
    walks: Sequence[Sequence[WalkMeasurement]], terms: Sequence[Term] = ()
) -> dict[str, Fact]:
    """Return figures that describe a candidate besides its score.

    The speed along the command is the mean of the walks that have a direction; the other figures are the
    worst of all walks and bodies.

    Args:
        walks: the measurements of all bodies, for each walk.
        terms: the terms of the score; a term `following` among them sets the scales of the following error.
    """
    following = next((term for term in terms if isinstance(term, Following)), Following(weight=1.0))
    worst_following = replace(following, worst=1.0)
    slip = Slip(weight=1.0)
    measurements = [measurement for walk in walks for measurement in walk]
    reports = [measurement.report for measurement in measurements]
    figures: dict[str, Fact] = {}
    directed_walks = [walk for walk in walks if walk[0].walk.has_direction]
    if directed_walks:
        speeds = [fmean(speed_along_command(measurement) for measurement in walk) for walk in directed_walks]
        figures["speed_m_s"] = _weighted_mean(speeds, [walk[0].walk.weight for walk in directed_walks])
    figures["following_error"] = max(worst_following.value(measurement) for measurement in measurements)
    figures["max_joint_speed_ratio"] = max(report.loads.max_joint_speed_ratio for report in reports)
    figures["max_tilt_deg"] = max(report.attitude.max_tilt_deg for report in reports)
    figures["slip_per_m"] = max(slip.value(measurement) for measurement in measurements)
    figures["walks"] = len(measurements)
    figures["falls"] = sum(not report.is_upright for report in reports)
    return figures
