"""The terms of a score: each one thing that may be bad about a walk. Smaller is better.

docs/how-to-tune.md explains each term; its keys in a document are the fields here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from statistics import fmean
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from posewright.evaluation.walking.joints import LEAST_WAY_M
from posewright.experiments.tuning.walk import Walked

LARGEST_WEIGHT = 1e6
"""Of a term, and of a walk beside the others: more is a slip of the pen."""

NOWHERE_COST = 20.0
"""What transport costs a robot that comes nowhere: more than any that walks."""

BOUNDS = "bounds"
"""The metadata of a term's field: the least and the most it may be."""


def _within(low: float, high: float, default: float | None = None) -> Any:
    """Return a field of a term with its bounds, which a document must keep."""
    metadata = {BOUNDS: (low, high)}
    return field(metadata=metadata) if default is None else field(default=default, metadata=metadata)


def bounds_of(entry: Field[Any]) -> tuple[float, float]:
    """Return the bounds of a term's field."""
    low, high = entry.metadata[BOUNDS]
    return low, high


class Term(Protocol):
    """One thing that a score looks at."""

    name: ClassVar[str]

    @property
    def weight(self) -> float:
        """What its value is multiplied by."""
        ...

    def value(self, walked: Walked) -> float:
        """Return how bad a walk is in this respect."""
        ...


@dataclass(frozen=True, slots=True)
class Speed:
    """True speed along the command, divided by how much the joints are overtaxed; it is taken off the score.

    A candidate that asks a joint for more than its servo can turn is no gait for the robot, and simulation
    may be kinder than the servo: what is beyond the limit divides the speed.

    Attributes:
        weight: of 1 m/s.
        joint_speed_ratio: up to here joints are not overtaxed: the fastest, commanded or measured, over the
            greatest speed on the card.
        power: of the ratio beyond that limit by which the speed is divided.
    """

    name: ClassVar[str] = "speed"
    weight: float = _within(0.0, LARGEST_WEIGHT)
    joint_speed_ratio: float = _within(0.01, 100.0, 1.0)
    power: float = _within(0.0, 10.0, 1.0)

    def value(self, walked: Walked) -> float:
        """Return the speed that counts, negative [m/s]."""
        speed = speed_along(walked)
        taxed = max(1.0, walked.report.loads.max_joint_speed_ratio / self.joint_speed_ratio)
        return -speed / taxed**self.power if speed > 0.0 else -speed


@dataclass(frozen=True, slots=True)
class Following:
    """Relative error of forward, left and turn against what was commanded.

    Attributes:
        weight: of an error of 1, 100 %.
        worst: by so much the worst of the three errors counts, and their mean by the rest.
        scale_m_s: what an error is divided by where no way forward or to the left is commanded [m/s].
        scale_rad_s: the same where no turn is [rad/s].
    """

    name: ClassVar[str] = "following"
    weight: float = _within(0.0, LARGEST_WEIGHT)
    worst: float = _within(0.0, 1.0, 0.5)
    scale_m_s: float = _within(0.001, 10.0, 0.1)
    scale_rad_s: float = _within(0.001, 100.0, 0.5)

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
    """How far the base leans at most, beyond a limit.

    Attributes:
        weight: of 1 degree.
        over: up to here it may [deg].
    """

    name: ClassVar[str] = "tilt_deg"
    weight: float = _within(0.0, LARGEST_WEIGHT)
    over: float = _within(0.0, 180.0, 0.0)

    def value(self, walked: Walked) -> float:
        """Return the degrees beyond the limit."""
        return max(0.0, walked.report.leaning.max_tilt_deg - self.over)


@dataclass(frozen=True, slots=True)
class Drift:
    """How fast the robot leaves the way it was sent: across it, and by a turn nobody asked for.

    Attributes:
        weight: of 1 m/s.
        turn_m: so many metres a turn by 1 rad counts as [m].
    """

    name: ClassVar[str] = "drift"
    weight: float = _within(0.0, LARGEST_WEIGHT)
    turn_m: float = _within(0.0, 100.0, 0.5)

    def value(self, walked: Walked) -> float:
        """Return the speed of the drift [m/s]."""
        forward, left, turn = walked.errors
        ahead, aside, _ = walked.commanded
        way = math.hypot(ahead, aside)
        across = abs(ahead * left - aside * forward) / way if way else math.hypot(forward, left)
        return across + self.turn_m * abs(turn)


@dataclass(frozen=True, slots=True)
class Slip:
    """How far all feet together slide for each metre.

    Attributes:
        weight: of 1 m a metre.
    """

    name: ClassVar[str] = "slip"
    weight: float = _within(0.0, LARGEST_WEIGHT)

    def value(self, walked: Walked) -> float:
        """Return metres a metre; a way under 5 cm counts as 5 cm."""
        return walked.report.feet.slip_m / max(walked.report.travel.path_m, LEAST_WAY_M)


@dataclass(frozen=True, slots=True)
class CostOfTransport:
    """What the way costs in work of the joints.

    Attributes:
        weight: of a cost of 1.
    """

    name: ClassVar[str] = "cost_of_transport"
    weight: float = _within(0.0, LARGEST_WEIGHT)

    def value(self, walked: Walked) -> float:
        """Return the cost; that of a robot that comes nowhere is as bad as it gets."""
        cost = walked.report.energy.cost_of_transport
        return NOWHERE_COST if cost is None else min(cost, NOWHERE_COST)


@dataclass(frozen=True, slots=True)
class JointSpeed:
    """How fast the fastest joint turns over the greatest speed on the card, beyond a limit.

    Attributes:
        weight: of a ratio of 1 beyond it.
        over: up to here it may.
    """

    name: ClassVar[str] = "joint_speed_ratio"
    weight: float = _within(0.0, LARGEST_WEIGHT)
    over: float = _within(0.0, 100.0, 1.0)

    def value(self, walked: Walked) -> float:
        """Return the ratio beyond the limit."""
        return max(0.0, walked.report.loads.max_joint_speed_ratio - self.over)


@dataclass(frozen=True, slots=True)
class JointMargin:
    """How near commands come to the limits of joints, coupled ones too.

    Attributes:
        weight: of 1 degree.
        under: so much room there should be [deg].
    """

    name: ClassVar[str] = "joint_margin_deg"
    weight: float = _within(0.0, LARGEST_WEIGHT)
    under: float = _within(0.0, 90.0, 0.0)

    def value(self, walked: Walked) -> float:
        """Return the degrees of room that are missing."""
        report = walked.report
        coupled = report.loads.coupled_margin_deg
        room = (
            report.loads.limit_margin_deg if coupled is None else min(report.loads.limit_margin_deg, coupled)
        )
        return max(0.0, self.under - room)


@dataclass(frozen=True, slots=True)
class Fall:
    """Whether the robot fell; twice as bad at the very beginning as at the very end.

    Attributes:
        weight: of a fall at the end of the walk.
    """

    name: ClassVar[str] = "fall"
    weight: float = _within(0.0, LARGEST_WEIGHT)

    def value(self, walked: Walked) -> float:
        """Return 0 for a robot that stays upright, 1 to 2 for one that falls."""
        if walked.report.is_upright:
            return 0.0
        seconds = walked.walk.settle_s + walked.walk.seconds
        return 2.0 - min(walked.report.falls[0].time_s / seconds, 1.0)


TERMS: Mapping[str, type[Term]] = MappingProxyType(
    {
        term.name: term
        for term in (
            Speed,
            Following,
            Tilt,
            Drift,
            Slip,
            CostOfTransport,
            JointSpeed,
            JointMargin,
            Fall,
        )
    }
)
"""By their keys in a document."""


def speed_along(walked: Walked) -> float:
    """Return the true speed in the direction of the command [m/s]; 0 where that is to go nowhere."""
    ahead, aside, _ = walked.commanded
    forward, left, _ = walked.measured
    way = math.hypot(ahead, aside)
    return (ahead * forward + aside * left) / way if way else 0.0
