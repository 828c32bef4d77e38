"""Small charts for the checks, and what is found in them."""

from __future__ import annotations

from posewright.charts import Chart, Finding, Rule, check_chart, parse_chart

HEAD = """\
chart: c
kind: mealy
period_s: 0.1
inputs: {a: bool, b: bool, n: {int: [-30000, 30000]}, d: float}
outputs: {x: bool, k: {int: [0, 3]}}
initial: one
states:
"""
BACK = "  two: [{when: a, do: {x: 0}, go: one}, {when: not a, go: two}]\n"


def chart(states: str, *, extra: str = "") -> Chart:
    return parse_chart(HEAD.replace("initial:", f"{extra}initial:") + states)


def found(states: str, rule: Rule, *, extra: str = "") -> list[Finding]:
    return [finding for finding in check_chart(chart(states, extra=extra)) if finding.rule is rule]
