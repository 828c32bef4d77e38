"""Scenarios, `*.scenario.yaml`: read with the line of everything that is wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from posewright.charts.formats import LONGEST_S, one_or_more, read_chart, text_of, written
from posewright.charts.model import Chart, one_line
from posewright.charts.scenarios.scenario import NOTHING, Expectation, Scenario, ScenarioStep
from posewright.charts.types import Type, Value, conversion, parse_quantity, parse_value
from posewright.documents import Node, is_file, parse_document, read_text
from posewright.errors import InputError, UnknownNameError

MAX_TICKS = 1_000_000
"""Ticks of a scenario: more than a day at ten a second."""

STEP_HINT = "a step reads {for: 0.5 s, set: {front: 1}, send: [start], expect: {in: walking}}"


def read_scenario(path: Path | str, chart: Chart | None = None) -> Scenario:
    """Read a scenario.

    Args:
        path: of the `*.scenario.yaml`.
        chart: what it is for; None reads the chart that the scenario names.

    Raises:
        DocumentError: the file cannot be read, or is no scenario.
        UnknownNameError: there is no such input, event, output or state; says the line.
    """
    path = Path(path)
    return parse_scenario(read_text(path), chart, path)


def parse_scenario(text: str, chart: Chart | None = None, path: Path | None = None) -> Scenario:
    """Return the scenario that a text holds; as `read_scenario`."""
    document = parse_document(text, path)
    fields = document.fields(required=("scenario", "steps"), optional=("chart", "description", "start"))
    if chart is None:
        chart = read_chart(chart_path(document, fields))
    return _Reading(chart).scenario(fields, path)


def chart_path(document: Node, fields: Mapping[str, Node]) -> Path:
    """Return where the chart is that a scenario names."""
    if "chart" not in fields:
        document.fail("'chart' is missing", hint="write `chart: name.chart.yaml`, seen from this file")
    found = (document.path.parent if document.path else Path()) / fields["chart"].text()
    if not is_file(found):
        fields["chart"].fail(f"there is no file {found}", hint="the path is seen from the scenario's folder")
    return found


class _Reading:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.ticks = 0

    def scenario(self, fields: Mapping[str, Node], path: Path | None) -> Scenario:
        start = fields["start"].choice("state", self.chart.state_names) if "start" in fields else None
        steps = fields["steps"].items()
        if not steps:
            fields["steps"].fail("no step", hint=STEP_HINT)
        return Scenario(
            name=one_line(fields["scenario"]),
            steps=tuple(self.step(node) for node in steps),
            chart=text_of(fields, "chart"),
            start=start,
            description=text_of(fields, "description"),
            path=path,
        )

    def step(self, node: Node) -> ScenarioStep:
        fields = node.fields(optional=("ticks", "for", "set", "send", "expect", "throughout"))
        if "ticks" in fields and "for" in fields:
            fields["for"].fail("both `ticks` and `for`", hint="a step lasts some ticks, or for a time")
        seconds = self.seconds(fields["for"]) if "for" in fields else 0.0
        ticks = fields["ticks"].integer(low=1, high=MAX_TICKS) if "ticks" in fields else 1
        ticks = max(self.chart.ticks(seconds), 1) if "for" in fields else ticks
        self.ticks += ticks
        if self.ticks > MAX_TICKS:
            node.fail(f"more than {MAX_TICKS} ticks", hint="a scenario shows one thing")
        return ScenarioStep(
            ticks=ticks,
            seconds=seconds,
            set=self.values(fields["set"], self.chart.inputs, "input") if "set" in fields else {},
            send=self.events(fields["send"]) if "send" in fields else (),
            expect=self.expectation(fields.get("expect")),
            throughout=self.expectation(fields.get("throughout")),
            line=node.line,
        )

    def seconds(self, node: Node) -> float:
        """Return a time [s]: a number of seconds, a number with a unit, or a constant of the chart."""
        if not isinstance(node.value, str):
            return node.number(low=0.0, high=LONGEST_S)
        if node.value in self.chart.constants:
            number, unit = self.chart.constants[node.value], self.chart.units.get(node.value, "s")
        else:
            try:
                number, unit = parse_quantity(node.value)
            except InputError as error:
                node.fail(error.message, hint="a time is 0.5, `500 ms` or a constant of the chart")
        factor = conversion(unit, "s")
        if factor is None or isinstance(number, bool | str):
            node.fail(f"{node.value} is no time", hint="a time is 0.5, `500 ms` or a constant of the chart")
        found = float(factor * number) if isinstance(number, int) else float(factor) * number
        if not 0.0 <= found <= LONGEST_S:
            node.fail(f"{found:g} s is out of range", hint=f"the range is 0..{LONGEST_S:g} s")
        return found

    def events(self, node: Node) -> tuple[str, ...]:
        return tuple(one.choice("event from outside", self.chart.events) for one in one_or_more(node))

    def states(self, node: Node) -> tuple[str, ...]:
        return tuple(one.choice("state", self.chart.state_names) for one in one_or_more(node))

    def expectation(self, node: Node | None) -> Expectation:
        if node is None:
            return NOTHING
        fields = node.fields()
        inside = self.states(fields.pop("in")) if "in" in fields else ()
        outside = self.states(fields.pop("not_in")) if "not_in" in fields else ()
        kinds = self.chart.variables
        values = {name: self.value(name, one, kinds, ("in", "not_in")) for name, one in fields.items()}
        return Expectation(inside, outside, values)

    def values(self, node: Node, kinds: Mapping[str, Type], word: str) -> dict[str, Value]:
        return {name: self.value(name, one, kinds, (), word) for name, one in node.fields().items()}

    def value(
        self,
        name: str,
        node: Node,
        kinds: Mapping[str, Type],
        others: Collection[str],
        word: str = "output or local",
    ) -> Value:
        if name not in kinds:
            raise UnknownNameError.among(word, name, [*kinds, *others], where=node.where)
        try:
            return parse_value(kinds[name], written(node))
        except InputError as error:
            if error.where is not None:
                raise
            node.fail(error.message, hint=error.hint)
