"""A biped's gait, which makes its generator and its document from its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from posewright.documents import flow_mapping
from posewright.documents.plain import PlainMapping
from posewright.gaits.biped.generator import BipedGenerator
from posewright.gaits.biped.step import StepPlanner
from posewright.gaits.biped.values import BipedValues
from posewright.gaits.command import bound_text
from posewright.gaits.entries import Tree, feedback_tree, omit_defaults, robot_value
from posewright.gaits.feedback import OPEN_LOOP
from posewright.gaits.gait import DIGITS, GaitCycle, ParameterValue
from posewright.gaits.travel import TravelGain, Trim
from posewright.robots import LEFT, RIGHT, Robot


@dataclass(frozen=True)
class BipedGait(BipedValues):
    """A biped's gait; a `Gait`."""

    def reconcile_values(self, values: Mapping[str, float], robot: Robot) -> dict[str, float]:  # noqa: ARG002
        """Return the values as they are: a biped's parameters do not contradict each other."""
        return dict(values)

    @property
    def other_settings(self) -> tuple[object, ...]:
        """The pose of the other joints, and the feedback."""
        return self.pose, self.feedback

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

    @property
    def parameter_values(self) -> Mapping[str, ParameterValue]:
        """Values of the parameters by name."""
        return self.parameters.flat

    def describe_walk(self, robot: Robot) -> PlainMapping:
        """Return when feet lift, times, and the range of each velocity alone."""
        cycle = self.cycle(robot)
        air_s = cycle.air_share * cycle.period_s
        parameters = self.parameters
        return {
            "lift_phases": {foot: round(phase, DIGITS) for foot, phase in cycle.lift_phases.items()},
            "timing": {
                "frames": cycle.n_frames,
                "frame_s": robot.frame_period_s,
                "period_s": round(cycle.period_s, DIGITS),
                "ground_s": round(cycle.period_s - air_s, DIGITS),
                "air_s": round(air_s, DIGITS),
            },
            "commands": {
                "forward_m_s": [-parameters.max_backward_m_s, parameters.max_forward_m_s],
                "left_m_s": [-parameters.max_left_m_s, parameters.max_left_m_s],
                "turn_rad_s": [-parameters.max_turn_rad_s, parameters.max_turn_rad_s],
            },
        }

    def summarise_walk(self, robot: Robot) -> Mapping[str, str]:
        """Return a line of text for each topic of its walk, by topic; see `Gait.summarise_walk`."""
        cycle = self.cycle(robot)
        air_s = cycle.air_share * cycle.period_s
        ground_s = cycle.period_s - air_s
        lift_phases = ", ".join(f"{foot} {phase:.3g}" for foot, phase in cycle.lift_phases.items())
        backward = bound_text(self.parameters.max_backward_m_s)
        forward = bound_text(self.parameters.max_forward_m_s)
        left = bound_text(self.parameters.max_left_m_s)
        turn = bound_text(self.parameters.max_turn_rad_s)
        return {
            "feet lift": f"{lift_phases} of a cycle",
            "cycle": f"{cycle.period_s:.3f} s, {cycle.n_frames} frames: a foot is down"
            f" {ground_s:.3f} s and up {air_s:.3f} s",
            "commands": f"-{backward} to {forward} m/s forward, -{left} to {left} m/s left,"
            f" -{turn} to {turn} rad/s; together less",
            "other joints": f"as in pose {self.pose}",
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
            "feedback": feedback_tree(self.feedback, old_document),
            "parameters": self.parameters.flat,
        }
        defaults: Tree = {
            "description": "",
            "source": "",
            "pose": BipedValues.pose,
            "travel_gain": flow_mapping(asdict(TravelGain())),
            "trim": flow_mapping(asdict(Trim())),
            "feedback": feedback_tree(OPEN_LOOP, old_document),
        }
        hidden_keys = ("description", "source", "pose", "trim")
        return omit_defaults(data, defaults, old_document, hidden_keys=hidden_keys)
