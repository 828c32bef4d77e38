"""A biped's gait, which makes its generator and its document from its values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from posewright.documents import flow_mapping
from posewright.documents.plain import PlainMapping
from posewright.gaits.biped.generator import BipedGenerator
from posewright.gaits.biped.step import StepPlanner
from posewright.gaits.biped.values import BipedValues
from posewright.gaits.entries import Tree, omit_defaults, robot_value
from posewright.gaits.feedback import OPEN_LOOP
from posewright.gaits.gait import DIGITS, GaitCycle
from posewright.gaits.travel import TravelGain, Trim
from posewright.robots import LEFT, RIGHT, Robot


@dataclass(frozen=True)
class BipedGait(BipedValues):
    """A biped's gait; a `Gait`."""

    def generator(self, robot: Robot) -> BipedGenerator:
        """Return a generator that stands.

        Raises:
            InputError: the gait is another robot's, or the robot's card does not describe two legs.
            UnreachableError: the legs are too short for the gait's stance.
        """
        return BipedGenerator(self, robot)

    def cycle(self, robot: Robot) -> GaitCycle:
        """Return the times of its cycle on a robot; the left foot lifts first."""
        planner = StepPlanner(self, robot)
        feet = robot.require_biped().feet
        time_before_swing = (1.0 - self.parameters.swing_share) / 4.0  # in cycles of two steps
        return GaitCycle(
            n_frames=2 * planner.n_frames,
            period_s=2.0 * planner.step_s,
            air_share=self.parameters.swing_share / 2.0,
            lift_phases={feet[RIGHT]: 0.5 + time_before_swing, feet[LEFT]: time_before_swing},
        )

    def describe_briefly(self, robot: Robot) -> PlainMapping:
        """Return what a list of gaits shows."""
        cycle = self.cycle(robot)
        return {
            "gait": self.name,
            "robot": self.robot,
            "description": self.description,
            "phases": "biped",
            "period_s": round(cycle.period_s, DIGITS),
            "greatest_speed_m_s": self.parameters.max_forward_m_s,
            "greatest_turn_rad_s": self.parameters.max_turn_rad_s,
        }

    def document(self, old_document: Tree, path: Path | None) -> Tree:
        """Return its document; see `Gait.document`."""
        data = {
            "gait": self.name,
            "robot": robot_value(self.robot, old_document.get("robot"), path),
            "description": self.description,
            "source": self.source,
            "pose": self.pose,
            "travel_gain": flow_mapping(asdict(self.travel_gain)),
            "trim": flow_mapping(asdict(self.trim)),
            "feedback": flow_mapping(asdict(self.feedback)),
            "parameters": self.parameters.flat,
        }
        defaults: Tree = {
            "description": "",
            "source": "",
            "pose": BipedValues.pose,
            "travel_gain": flow_mapping(asdict(TravelGain())),
            "trim": flow_mapping(asdict(Trim())),
            "feedback": flow_mapping(asdict(OPEN_LOOP)),
        }
        hidden_keys = ("description", "source", "pose", "trim")
        return omit_defaults(data, defaults, old_document, hidden_keys=hidden_keys)
