"""What a candidate of a tuning is tried with: walks it is asked for, and the bodies that walk them."""

from __future__ import annotations

from dataclasses import dataclass

from posewright.bodies import NOMINAL, DomainParameters
from posewright.evaluation.walking.report import GaitReport
from posewright.gaits import (
    GaitParameters,
    GaitTiming,
    VelocityCommand,
    greatest_speed_m_s,
    greatest_turn_rad_s,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One component of what a candidate is asked for.

    Attributes:
        value: a velocity [m/s or rad/s], or a share of the greatest one the candidate can be asked for.
        is_share: which of the two it is.
    """

    value: float = 0.0
    is_share: bool = False

    def of(self, greatest: float) -> float:
        """Return the component for a candidate with this greatest velocity."""
        return self.value * greatest if self.is_share else self.value


@dataclass(frozen=True, slots=True)
class TunedWalk:
    """A walk that every candidate is tried with.

    Attributes:
        forward: ahead [m/s].
        left: to the left [m/s].
        turn: to the left [rad/s].
        seconds: for so long it is measured [s].
        settle_s: for so long it walks before [s].
        weight: of its score beside those of the other walks.
    """

    forward: Asked = Asked()
    left: Asked = Asked()
    turn: Asked = Asked()
    seconds: float = 3.0
    settle_s: float = 1.0
    weight: float = 1.0

    @property
    def goes_somewhere(self) -> bool:
        """Whether it is more than a turn on the spot."""
        return self.forward.value != 0.0 or self.left.value != 0.0

    def command(self, parameters: GaitParameters, timing: GaitTiming) -> VelocityCommand:
        """Return what a candidate is asked for; it may be more than it can be."""
        fastest, turns = greatest_speed_m_s(parameters, timing), greatest_turn_rad_s(parameters, timing)
        return VelocityCommand(self.forward.of(fastest), self.left.of(fastest), self.turn.of(turns))


@dataclass(frozen=True, slots=True)
class TunedBodies:
    """The bodies that walk.

    Attributes:
        variations: of each.
        worst_share: by so much the body with the worst score of a walk counts, and the mean of all by the
            rest; 0 for the mean alone, 1 for the worst alone.
    """

    variations: tuple[DomainParameters, ...] = (NOMINAL,)
    worst_share: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """A walk that one body has done.

    Attributes:
        walk: what was asked for.
        report: what came of it.
    """

    walk: TunedWalk
    report: GaitReport

    @property
    def commanded(self) -> tuple[float, float, float]:
        """Forward [m/s], left [m/s] and turn [rad/s] as commanded."""
        report = self.report
        return (
            report.travel.commanded_forward_m_s,
            report.travel.commanded_left_m_s,
            report.travel.commanded_turn_rad_s,
        )

    @property
    def measured(self) -> tuple[float, float, float]:
        """The same as the robot went; 0 where it fell before there was a whole cycle."""
        report = self.report
        return report.travel.speed_m_s or 0.0, report.travel.left_m_s or 0.0, report.travel.turn_rad_s or 0.0

    @property
    def errors(self) -> tuple[float, float, float]:
        """How far each component is from what was commanded, with its sign [m/s, m/s, rad/s]."""
        (forward, left, turn), (ahead, aside, turned) = self.commanded, self.measured
        return ahead - forward, aside - left, turned - turn
