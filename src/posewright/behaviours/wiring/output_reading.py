"""Read the `outputs:` of a behaviour: what is played, by the chart's outputs."""

from __future__ import annotations

from collections.abc import Collection

from posewright.behaviours.wiring.outputs import OutputRule
from posewright.charts import BoolType, Chart, Expression, Scope, parse_expression
from posewright.charts.expression import Source
from posewright.documents import Node


def read_outputs(node: Node, chart: Chart, motions: Collection[str]) -> tuple[OutputRule, ...]:
    """Read the rules, in their order.

    Raises:
        DocumentError: a rule says no condition or two, or comes after the one that always holds.
        ExpressionError: a condition does not parse, or reads what is no output of the chart.
        UnknownNameError: a rule plays what is no motion of the behaviour.
    """
    scope = Scope(chart.outputs, chart.constants, chart.scope.values, units=chart.units)
    rules: list[OutputRule] = []
    for entry in node.items():
        if rules and rules[-1].when is None:
            entry.fail("this is never reached", hint="`otherwise` comes last")
        rules.append(_read_rule(entry, scope, motions))
    return tuple(rules)


def _read_rule(node: Node, scope: Scope, motions: Collection[str]) -> OutputRule:
    fields = node.fields(required=("play",), optional=("when", "otherwise"))
    if ("when" in fields) == ("otherwise" in fields):
        node.fail(
            "a rule has one condition", hint="`when: <condition>`, or `otherwise: true` in the last one"
        )
    play = fields["play"]
    name = None if play.value is None else play.choice("motion", motions)
    if "otherwise" in fields:
        if not fields["otherwise"].boolean():
            fields["otherwise"].fail("expected true")
        return OutputRule(None, name)
    return OutputRule(_condition(fields["when"], scope), name)


def _condition(node: Node, scope: Scope) -> Expression:
    """Read a condition; a bare `1`, `0`, `true` or `false` is one as well."""
    text = str(int(node.value)) if isinstance(node.value, bool | int) else node.text()
    return parse_expression(Source(text, node.where), scope, wanted=BoolType())
