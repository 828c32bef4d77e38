"""A quadruped's gait, which makes its generator and its document from its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from posewright.documents.plain import PlainMapping
from posewright.errors import InputError
from posewright.gaits.command import bound_text
from posewright.gaits.entries import Tree
from posewright.gaits.gait import DIGITS, Gait, GaitCycle, ParameterValue
from posewright.gaits.quadruped.generator import QuadrupedGenerator
from posewright.gaits.quadruped.parameters import EXPLANATIONS, ForeHind
from posewright.gaits.quadruped.phases import walking_legs
from posewright.gaits.quadruped.timing import (
    FRAMES_PER_PAIR,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    timing_of,
)
from posewright.gaits.quadruped.values import QuadrupedValues
from posewright.gaits.quadruped.writing import gait_document
from posewright.robots import Robot

ASCENT_PAIRS = "ascent_pairs"

TIMES = ("period_s", "ground_s", "air_s", "ascent_s")
"""Attributes of `GaitTiming` that a description has."""


@dataclass(frozen=True, eq=False)
class QuadrupedGait(QuadrupedValues):
    """A quadruped's gait; a `Gait`."""

    def reconcile_values(self, values: Mapping[str, float], robot: Robot) -> dict[str, float]:
        """Return the values with an ascent that is no longer than a foot is in the air.

        Most values near those of a fast gait could not walk otherwise.
        """
        reconciled = dict(values)
        if ASCENT_PAIRS in reconciled:
            max_pairs = max(self._max_ascent_pairs(values, robot), EXPLANATIONS[ASCENT_PAIRS].low)
            reconciled[ASCENT_PAIRS] = min(reconciled[ASCENT_PAIRS], max_pairs)
        return reconciled

    def _max_ascent_pairs(self, values: Mapping[str, float], robot: Robot) -> int:
        """Return how many pairs of frames an ascent may take; 0 if not even one fits."""
        frame_s = robot.frame_period_s
        try:
            timing = timing_of(self.with_values({**values, ASCENT_PAIRS: 1}).parameters, frame_s)
        except InputError:
            return 0
        return int(timing.air_s / (2.0 * FRAMES_PER_PAIR * frame_s))

    @property
    def other_settings(self) -> tuple[object, ...]:
        """Phases, interpolation, the pose of the other joints, and the feedback unless it is switched off."""
        feedback = () if self.feedback.is_open_loop else (self.feedback,)
        return dict(self.phases.offsets), (self.interpolation.value, self.pose), *feedback

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

    @property
    def parameter_values(self) -> Mapping[str, ParameterValue]:
        """Values of the parameters by name, as plain data."""
        values: dict[str, ParameterValue] = {}
        for entry in fields(self.parameters):
            value = getattr(self.parameters, entry.name)
            if isinstance(value, ForeHind):
                value = asdict(value)
            elif isinstance(value, Mapping):
                value = {foot: list(point) for foot, point in value.items()}
            values[entry.name] = value
        return values

    def describe_walk(self, robot: Robot) -> PlainMapping:
        """Return phases, interpolation and times."""
        timing = timing_of(self.parameters, robot.frame_period_s)
        return {
            "phase_offsets": dict(self.phases.offsets),
            "interpolation": self.interpolation.value,
            "timing": {
                "frames": timing.n_frames,
                "frame_s": robot.frame_period_s,
                **{name: round(getattr(timing, name), DIGITS) for name in TIMES},
            },
        }

    def summarise_walk(self, robot: Robot) -> Mapping[str, str]:
        """Return a line of text for each topic of its walk, by topic; see `Gait.summarise_walk`."""
        timing = timing_of(self.parameters, robot.frame_period_s)
        lift_phases = ", ".join(f"{foot} {phase:g}" for foot, phase in self.phases.offsets.items())
        speed = bound_text(greatest_speed_m_s(self.parameters, timing))
        turn = bound_text(greatest_turn_rad_s(self.parameters, timing))
        return {
            "feet lift": f"{self.phases.name}: {lift_phases} of a cycle",
            "cycle": f"{timing.period_s:.3f} s, {timing.n_frames} frames: a foot is down"
            f" {timing.ground_s:.3f} s and up {timing.air_s:.3f} s,"
            f" {timing.ascent_s:.3f} s of these rising and as long sinking",
            "commands": f"0 to {speed} m/s in any direction, -{turn} to {turn} rad/s",
            "interpolation": f"{self.interpolation.value}; other joints as in pose {self.pose}",
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
