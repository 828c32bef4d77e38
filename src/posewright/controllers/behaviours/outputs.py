"""Output rules, from the chart's outputs to what the robot is to do, and how a document writes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from posewright.charts import BoolType, Chart, Expression, FloatType, Scope, Value, parse_expression
from posewright.charts.expression import SourceText
from posewright.documents import Node
from posewright.gaits import VelocityCommand
from posewright.robots import Robot
from posewright.units import RAD_PER_DEG


@dataclass(frozen=True)
class Scaled:
    """A number from the chart's outputs: an expression, in units of so much."""

    expression: Expression
    unit: float = 1.0

    def __repr__(self) -> str:
        return f"{self.expression}" if self.unit == 1.0 else f"({self.expression}) * {self.unit:.4g}"

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
    """What to do where a condition holds."""

    when: Expression | None  # a condition over the chart's outputs; None always holds
    play: str | None  # name of a motion or a gait; None stands still
    velocity: Mapping[str, Scaled] | None = None  # of a gait, by `forward_m_s` and so on; None for a motion
    joints: Mapping[int, Scaled] = field(default_factory=dict)  # that go their own way, by column

    @property
    def condition(self) -> str:
        """When it counts, as the document has it."""
        return "otherwise" if self.when is None else str(self.when)

    @property
    def numbers(self) -> str:
        """The velocity of its gait, as the document has it; empty for a motion."""
        return "".join(f", {name}={number}" for name, number in (self.velocity or {}).items())

    def __repr__(self) -> str:
        return f"OutputRule({self.condition}: {self.play}{self.numbers})"

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


VELOCITIES = {
    "forward_m_s": ("forward_m_s", 1.0),
    "forward_cm_s": ("forward_m_s", 0.01),
    "left_m_s": ("left_m_s", 1.0),
    "left_cm_s": ("left_m_s", 0.01),
    "turn_rad_s": ("turn_rad_s", 1.0),
    "turn_deg_s": ("turn_rad_s", RAD_PER_DEG),
}
"""The numbers of a gait as a document writes them, each with its own name and its unit's size."""

ANGLES = {"joints_deg": RAD_PER_DEG, "joints_rad": 1.0}


@dataclass(frozen=True)
class Doable:
    """What outputs may ask for: names of motions, names of gaits, and the robot's joints."""

    robot: Robot
    motions: Collection[str]
    gaits: Collection[str]


def read_outputs(node: Node, chart: Chart, doable: Doable) -> tuple[OutputRule, ...]:
    """Read the rules, in their order."""
    scope = Scope(chart.outputs, chart.constants, chart.scope.values, units=chart.units)
    rules: list[OutputRule] = []
    for entry in node.items():
        if rules and rules[-1].when is None:
            entry.fail("this is never reached", hint="`otherwise` comes last")
        rules.append(_read_rule(entry, scope, doable))
    return tuple(rules)


def _read_rule(node: Node, scope: Scope, doable: Doable) -> OutputRule:
    fields = node.fields(optional=("play", "walk", "when", "otherwise", *VELOCITIES, *ANGLES))
    if ("when" in fields) == ("otherwise" in fields):
        what = "a rule has one condition"
        node.fail(what, hint="`when: <condition>`, or `otherwise: true` in the last one")
    if ("play" in fields) == ("walk" in fields):
        node.fail("a rule asks for one thing", hint="`play:` a motion or null, or `walk:` a gait")
    if "otherwise" in fields and not fields["otherwise"].boolean():
        fields["otherwise"].fail("expected true")
    when = _condition(fields["when"], scope) if "when" in fields else None
    joints = _joints(fields, scope, doable)
    if "walk" in fields:
        name = fields["walk"].choice("gait", doable.gaits)
        return OutputRule(when, name, _velocity(fields, scope), joints)
    for key in VELOCITIES:
        if key in fields:
            fields[key].fail("a motion has no velocity", hint="`walk:` a gait, or leave it out")
    play = fields["play"]
    motion = None if play.value is None else play.choice("motion", doable.motions)
    return OutputRule(when, motion, None, joints)


def _velocity(fields: Mapping[str, Node], scope: Scope) -> dict[str, Scaled]:
    found: dict[str, Scaled] = {}
    for key, (name, unit) in VELOCITIES.items():
        if key in fields:
            if name in found:
                fields[key].fail(f"{name.split('_')[0]} is given twice", hint="in one unit")
            found[name] = Scaled(_number(fields[key], scope), unit)
    return found


def _joints(fields: Mapping[str, Node], scope: Scope, doable: Doable) -> dict[int, Scaled]:
    """Read joints that go their own way; the legs' are the gait's."""
    legs = {joint for leg in doable.robot.legs for joint in leg.joints} if "walk" in fields else set()
    free = [joint for joint in doable.robot.joint_names if joint not in legs]
    found: dict[int, Scaled] = {}
    for key, unit in ANGLES.items():
        for joint, node in fields[key].fields(optional=free).items() if key in fields else ():
            column = doable.robot.index(joint)
            if column in found:
                node.fail(f"{joint} is given twice", hint="in one unit")
            found[column] = Scaled(_number(node, scope), unit)
    return found


def _condition(node: Node, scope: Scope) -> Expression:
    """Read a condition; a bare `1`, `0`, `true` or `false` is one as well."""
    text = str(int(node.value)) if isinstance(node.value, bool | int) else node.text()
    return parse_expression(SourceText(text, node.where), scope, target=BoolType())


def _number(node: Node, scope: Scope) -> Expression:
    """Read a number, or an expression over the chart's outputs that gives one."""
    is_number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
    text = repr(node.value) if is_number else node.text()
    return parse_expression(SourceText(text, node.where), scope, target=FloatType())
