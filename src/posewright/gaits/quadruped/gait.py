"""A quadruped's gait, which makes its generator and its document from its values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from posewright.documents.plain import PlainMapping
from posewright.errors import InputError
from posewright.gaits.entries import Tree
from posewright.gaits.gait import DIGITS, Gait, GaitCycle
from posewright.gaits.quadruped.phases import walking_legs
from posewright.gaits.quadruped.timing import greatest_speed_m_s, greatest_turn_rad_s, timing_of
from posewright.gaits.quadruped.values import GaitValues
from posewright.gaits.quadruped.walker import QuadrupedGenerator
from posewright.gaits.quadruped.writing import gait_document
from posewright.robots import Robot


@dataclass(frozen=True, eq=False)
class QuadrupedGait(GaitValues):
    """A quadruped's gait; a `Gait`."""

    def generator(self, robot: Robot) -> QuadrupedGenerator:
        """Return a generator that stands.

        Raises:
            InputError: the gait is another robot's, a leg is missing in the robot's card, or the times of the
                gait are inconsistent.
            UnreachableError: a foot cannot stand on its equilibrium point.
        """
        return QuadrupedGenerator(self, robot)

    def cycle(self, robot: Robot) -> GaitCycle:
        """Return the times of its cycle on a robot."""
        timing = timing_of(self.parameters, robot.frame_period_s)
        first_start = self.phases.starts[0]
        legs = walking_legs(robot)
        lift_phases = {
            legs[foot].foot: (offset - first_start) % 1.0 for foot, offset in self.phases.offsets.items()
        }
        return GaitCycle(timing.n_frames, timing.period_s, timing.air_share, lift_phases)

    def describe_briefly(self, robot: Robot) -> PlainMapping:
        """Return what a list of gaits shows."""
        timing = timing_of(self.parameters, robot.frame_period_s)
        return {
            "gait": self.name,
            "robot": self.robot,
            "description": self.description,
            "phases": self.phases.name,
            "period_s": round(timing.period_s, DIGITS),
            "greatest_speed_m_s": round(greatest_speed_m_s(self.parameters, timing), DIGITS),
            "greatest_turn_rad_s": round(greatest_turn_rad_s(self.parameters, timing), DIGITS),
        }

    def document(self, old_document: Tree, path: Path | None) -> Tree:
        """Return its document, in the notation of the one that it replaces; see `Gait.document`."""
        return gait_document(self, old_document, path)


def require_quadruped(gait: Gait) -> QuadrupedGait:
    """Return a gait, or raise InputError if it is not one of four legs."""
    if not isinstance(gait, QuadrupedGait):
        raise InputError(
            f"gait {gait.name} is for {gait.robot}, which has not four legs",
            hint="this takes a gait of four legs",
        )
    return gait
