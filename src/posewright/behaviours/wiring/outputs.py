"""Output rules: from the chart's outputs to what the robot is to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from posewright.charts import Expression, Value
from posewright.gaits import VelocityCommand


@dataclass(frozen=True)
class Scaled:
    """A number from the chart's outputs: an expression, in units of so much."""

    expression: Expression
    unit: float = 1.0

    def value(self, outputs: Mapping[str, Value]) -> float:
        """Return the number in inner units."""
        return float(self.expression.evaluate(outputs)) * self.unit


@dataclass(frozen=True, slots=True)
class Action:
    """What a robot is asked to do.

    Attributes:
        name: of a motion or a gait; None for standing still.
        velocity: of a gait; None for a motion.
        joints: angles of joints that go their own way meanwhile, by column [rad].
    """

    name: str | None = None
    velocity: VelocityCommand | None = None
    joints: Mapping[int, float] = field(default_factory=dict)


STAND = Action()


@dataclass(frozen=True)
class OutputRule:
    """What to do where a condition holds.

    Attributes:
        when: a condition over the chart's outputs; None always holds.
        play: name of a motion or a gait; None stands still.
        velocity: `forward_m_s`, `left_m_s` and `turn_rad_s` of a gait, what is left out being 0; None where a
            motion is played.
        joints: what joints of their own are to be at, by column.
    """

    when: Expression | None
    play: str | None
    velocity: Mapping[str, Scaled] | None = None
    joints: Mapping[int, Scaled] = field(default_factory=dict)

    def action(self, outputs: Mapping[str, Value]) -> Action:
        """Return what this rule asks for."""
        velocity = None
        if self.velocity is not None:
            velocity = VelocityCommand(**{name: one.value(outputs) for name, one in self.velocity.items()})
        joints = {joint: one.value(outputs) for joint, one in self.joints.items()}
        return Action(self.play, velocity, joints)


def choose(rules: Sequence[OutputRule], outputs: Mapping[str, Value]) -> Action:
    """Return what the first rule that holds asks for; standing still, where none holds."""
    for rule in rules:
        if rule.when is None or rule.when.evaluate(outputs):
            return rule.action(outputs)
    return STAND
