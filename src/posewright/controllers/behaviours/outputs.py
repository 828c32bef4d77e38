"""Rules from a chart's outputs to the robot's actions, and their form in documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from posewright.charts import BoolType, Chart, Expression, FloatType, Scope, Value, parse_expression
from posewright.charts.expression import SourceText
from posewright.documents import Node
from posewright.gaits import VelocityCommand
from posewright.robots import Robot
from posewright.units import RAD_PER_DEG


@dataclass(frozen=True)
class OutputNumber:
    """A number computed from the chart's outputs by an expression.

    Attributes:
        expression: the expression over the outputs.
        unit: size of its unit, in SI units.
    """

    expression: Expression
    unit: float = 1.0

    def __repr__(self) -> str:
        return f"{self.expression}" if self.unit == 1.0 else f"({self.expression}) * {self.unit:.4g}"

    def value(self, outputs: Mapping[str, Value]) -> float:
        """Return the number in SI units."""
        return float(self.expression.evaluate(outputs)) * self.unit


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a robot: to play a motion, to walk a gait, or to stand still.

    Attributes:
        name: the name of the motion or gait; None to stand still.
        velocity: the velocity of the gait; None for a motion.
        joints: angles of joints that are moved separately meanwhile, by column [rad].
        at_once: whether it begins in the middle of a motion or a step, as when the robot falls.
    """

    name: str | None = None
    velocity: VelocityCommand | None = None
    joints: Mapping[int, float] = field(default_factory=dict)
    at_once: bool = False


STAND = Action()


@dataclass(frozen=True)
class OutputRule:
    """A condition and the action for it."""

    when: Expression | None  # a condition over the chart's outputs; None always holds
    play: str | None  # name of a motion or a gait; None to stand still
    velocity: Mapping[str, OutputNumber] | None = None  # of a gait, by `forward_m_s` ...; None for a motion
    joints: Mapping[int, OutputNumber] = field(default_factory=dict)  # moved separately, by column
    at_once: bool = False  # whether the action begins in the middle of a motion or a step

    @property
    def condition(self) -> str:
        """The condition as written in the document."""
        return "otherwise" if self.when is None else str(self.when)

    @property
    def numbers(self) -> str:
        """The velocity of its gait as written in the document; empty for a motion."""
        return "".join(f", {name}={number}" for name, number in (self.velocity or {}).items())

    def __repr__(self) -> str:
        return f"OutputRule({self.condition}: {self.play}{self.numbers})"

    def action(self, outputs: Mapping[str, Value]) -> Action:
        """Return the action of this rule for some outputs."""
        velocity = None
        if self.velocity is not None:
            velocity = VelocityCommand(
                **{name: number.value(outputs) for name, number in self.velocity.items()}
            )
        joints = {column: number.value(outputs) for column, number in self.joints.items()}
        return Action(self.play, velocity, joints, self.at_once)


def choose_action(rules: Sequence[OutputRule], outputs: Mapping[str, Value]) -> Action:
    """Return the action of the first rule whose condition holds; to stand still where none holds."""
    for rule in rules:
        if rule.when is None or rule.when.evaluate(outputs):
            return rule.action(outputs)
    return STAND


class VelocityKey(NamedTuple):
    """What a key of a velocity sets: a field of `VelocityCommand`, in a unit of some size in SI units."""

    field_name: str
    unit: float


VELOCITIES = {
    "forward_m_s": VelocityKey("forward_m_s", 1.0),
    "forward_cm_s": VelocityKey("forward_m_s", 0.01),
    "left_m_s": VelocityKey("left_m_s", 1.0),
    "left_cm_s": VelocityKey("left_m_s", 0.01),
    "turn_rad_s": VelocityKey("turn_rad_s", 1.0),
    "turn_deg_s": VelocityKey("turn_rad_s", RAD_PER_DEG),
}
"""Keys of the velocity of a gait in an output rule."""

ANGLES = {"joints_deg": RAD_PER_DEG, "joints_rad": 1.0}
"""Keys of joint angles, with the sizes of their units."""


@dataclass(frozen=True)
class ActionNames:
    """The names that output rules may use: motions, gaits, and joints of the robot."""

    robot: Robot
    motions: Collection[str]
    gaits: Collection[str]


def read_output_rules(node: Node, chart: Chart, names: ActionNames) -> tuple[OutputRule, ...]:
    """Read the rules that turn the chart's outputs into actions of the robot, in their order.

    The first rule whose condition holds is in force, so the one without a condition must be the last.

    Raises:
        DocumentError: a rule is not valid.
        UnknownNameError: a name in a rule is unknown.
    """
    scope = Scope(chart.outputs, chart.constants, chart.scope.enum_of_value, units=chart.units)
    rules: list[OutputRule] = []
    for entry in node.items():
        if rules and rules[-1].when is None:
            entry.fail("this is never reached", hint="`otherwise` comes last")
        rules.append(_read_rule(entry, scope, names))
    return tuple(rules)


def _read_rule(node: Node, scope: Scope, names: ActionNames) -> OutputRule:
    """Read one rule: its condition and its action."""
    fields = node.fields(optional=("play", "walk", "when", "otherwise", "at_once", *VELOCITIES, *ANGLES))
    if ("when" in fields) == ("otherwise" in fields):
        node.fail(
            "a rule needs either `when` or `otherwise`",
            hint="`when: <condition>`, or `otherwise: true` in the last one",
        )
    if ("play" in fields) == ("walk" in fields):
        node.fail("a rule needs either `play` or `walk`", hint="`play:` a motion or null, or `walk:` a gait")
    if "otherwise" in fields and not fields["otherwise"].boolean():
        fields["otherwise"].fail("expected true")
    when = _read_condition(fields["when"], scope) if "when" in fields else None
    joints = _read_joints(fields, scope, names)
    at_once = "at_once" in fields and fields["at_once"].boolean()
    if "walk" in fields:
        gait = fields["walk"].choice("gait", names.gaits)
        return OutputRule(when, gait, velocity=_read_velocity(fields, scope), joints=joints, at_once=at_once)
    for key in VELOCITIES:
        if key in fields:
            fields[key].fail("a motion has no velocity", hint="`walk:` a gait, or leave it out")
    play = fields["play"]
    motion = None if play.value is None else play.choice("motion", names.motions)
    return OutputRule(when, motion, velocity=None, joints=joints, at_once=at_once)


def _read_velocity(fields: Mapping[str, Node], scope: Scope) -> dict[str, OutputNumber]:
    """Read the velocity of a gait, by fields of `VelocityCommand`."""
    numbers: dict[str, OutputNumber] = {}
    for key, (field_name, unit) in VELOCITIES.items():
        if key not in fields:
            continue
        if field_name in numbers:
            direction, _, _ = field_name.partition("_")
            fields[key].fail(f"{direction} is given twice", hint="give it in one unit")
        numbers[field_name] = OutputNumber(_read_number(fields[key], scope), unit)
    return numbers


def _read_joints(fields: Mapping[str, Node], scope: Scope, names: ActionNames) -> dict[int, OutputNumber]:
    """Read angles of joints that are moved separately, by column; a gait needs the joints of the legs."""
    robot = names.robot
    leg_joints = {joint for leg in robot.legs for joint in leg.joints} if "walk" in fields else set()
    available_joints = [joint for joint in robot.joint_names if joint not in leg_joints]
    numbers: dict[int, OutputNumber] = {}
    for key, unit in ANGLES.items():
        if key not in fields:
            continue
        for joint, node in fields[key].fields(optional=available_joints).items():
            column = robot.index(joint)
            if column in numbers:
                node.fail(f"{joint} is given twice", hint="give it in one unit")
            numbers[column] = OutputNumber(_read_number(node, scope), unit)
    return numbers


def _read_condition(node: Node, scope: Scope) -> Expression:
    """Read a condition, which may be `1`, `0`, `true` or `false`."""
    text = str(int(node.value)) if isinstance(node.value, bool | int) else node.text()
    return parse_expression(SourceText(text, node.where), scope, target=BoolType())


def _read_number(node: Node, scope: Scope) -> Expression:
    """Read a number, or an expression over the chart's outputs that gives one."""
    is_number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
    text = repr(node.value) if is_number else node.text()
    return parse_expression(SourceText(text, node.where), scope, target=FloatType())
