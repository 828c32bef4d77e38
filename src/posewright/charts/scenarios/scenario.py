"""Scenarios, `*.scenario.yaml`: inputs over time, and what a chart is expected to make of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.charts.formats import (
    expression_text,
    one_or_more,
    optional_text,
    read_chart,
    seconds_in,
    single_or_list,
    without_empty,
)
from posewright.charts.machine import STATE_SEPARATOR
from posewright.charts.model import Chart, read_title
from posewright.charts.scenarios.rows import INSIDE, OUTSIDE, Row
from posewright.charts.types import Type, Value, parse_value
from posewright.documents import (
    Node,
    PlainData,
    flow_mapping,
    is_file,
    is_folder,
    parse_document,
    read_document,
    read_text,
    save_document,
)
from posewright.errors import DocumentError, InputError, UnknownNameError, Where


@dataclass(frozen=True)
class Expectation:
    """What is looked at after a tick.

    Attributes:
        inside: states that are active.
        outside: states that are not.
        values: what outputs and locals hold.
    """

    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.inside or self.outside or self.values)

    @property
    def expected(self) -> dict[str, Value]:
        """The same, as a row expects it."""
        found = dict(self.values)
        if self.inside:
            found[INSIDE] = STATE_SEPARATOR.join(self.inside)
        if self.outside:
            found[OUTSIDE] = STATE_SEPARATOR.join(self.outside)
        return found

    def joined(self, other: Expectation) -> Expectation:
        """Return both together."""
        return Expectation(
            tuple(dict.fromkeys((*self.inside, *other.inside))),
            tuple(dict.fromkeys((*self.outside, *other.outside))),
            {**self.values, **other.values},
        )


NOTHING = Expectation()
"""The expectation that anything fulfils."""


@dataclass(frozen=True)
class ScenarioStep:
    """Some ticks with the same inputs.

    Attributes:
        ticks: how many.
        seconds: how long, where it was written as a time [s]; 0: it was written in ticks.
        set: inputs that change; they keep their values until they are set again.
        send: events that come in the first tick.
        expect: after the last tick.
        throughout: after every tick.
    """

    ticks: int = 1
    seconds: float = 0.0
    set: Mapping[str, Value] = field(default_factory=dict)
    send: tuple[str, ...] = ()
    expect: Expectation = NOTHING
    throughout: Expectation = NOTHING
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Scenario:
    """Inputs over time, and what they are expected to lead to.

    Attributes:
        chart: the chart's file, as written: seen from the scenario's own.
        start: the state it begins in; none: before the very first tick.
    """

    name: str
    steps: tuple[ScenarioStep, ...]
    chart: str = ""
    start: str | None = None
    description: str = field(default="", compare=False)
    path: Path | None = field(default=None, compare=False)

    @property
    def ticks(self) -> int:
        """How long it takes, in ticks."""
        return sum(step.ticks for step in self.steps)


def rows_of(scenario: Scenario, chart: Chart) -> list[Row]:
    """Return the scenario tick by tick: the inputs of a chart, and what is expected of it."""
    held = {name: kind.default for name, kind in chart.inputs.items()}
    start, rows = scenario.start, list[Row]()
    for step in scenario.steps:
        held = {**held, **step.set}
        always = step.throughout.expected
        last = step.throughout.joined(step.expect).expected
        for tick in range(1, step.ticks + 1):
            inputs = {**held, **dict.fromkeys(step.send, True)} if tick == 1 else held
            rows.append(Row(inputs, start, last if tick == step.ticks else always, step.line))
            start = None
    return rows


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
        chart = read_chart(_chart_path(document, fields))
    return _ScenarioReader(chart).scenario(fields, path)


def _chart_path(document: Node, fields: Mapping[str, Node]) -> Path:
    if "chart" not in fields:
        document.fail("'chart' is missing", hint="write `chart: name.chart.yaml`, seen from this file")
    found = (document.path.parent if document.path else Path()) / fields["chart"].text()
    if not is_file(found):
        fields["chart"].fail(f"there is no file {found}", hint="the path is seen from the scenario's folder")
    return found


class _ScenarioReader:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.ticks = 0

    def scenario(self, fields: Mapping[str, Node], path: Path | None) -> Scenario:
        start = fields["start"].choice("state", self.chart.state_names) if "start" in fields else None
        steps = fields["steps"].items()
        if not steps:
            fields["steps"].fail("no step", hint=STEP_HINT)
        return Scenario(
            name=read_title(fields["scenario"]),
            steps=tuple(self.step(node) for node in steps),
            chart=optional_text(fields, "chart"),
            start=start,
            description=optional_text(fields, "description"),
            path=path,
        )

    def step(self, node: Node) -> ScenarioStep:
        fields = node.fields(optional=("ticks", "for", "set", "send", "expect", "throughout"))
        if "ticks" in fields and "for" in fields:
            fields["for"].fail("both `ticks` and `for`", hint="a step lasts some ticks, or for a time")
        chart = self.chart
        seconds = seconds_in(fields["for"], chart.constants, chart.units) if "for" in fields else 0.0
        ticks = fields["ticks"].integer(low=1, high=MAX_TICKS) if "ticks" in fields else 1
        ticks = max(self.chart.ticks(seconds), 1) if "for" in fields else ticks
        self.ticks += ticks
        if self.ticks > MAX_TICKS:
            node.fail(f"more than {MAX_TICKS} ticks", hint="a scenario shows one thing")
        return ScenarioStep(
            ticks=ticks,
            seconds=seconds,
            set=_values(fields["set"].fields(), chart.inputs, "input") if "set" in fields else {},
            send=_choices("event from outside", fields.get("send"), chart.events),
            expect=self.expectation(fields.get("expect")),
            throughout=self.expectation(fields.get("throughout")),
            line=node.line,
        )

    def expectation(self, node: Node | None) -> Expectation:
        if node is None:
            return NOTHING
        fields = node.fields()
        known, states = self.chart.variables, self.chart.state_names
        inside = _choices("state", fields.pop("in", None), states)
        outside = _choices("state", fields.pop("not_in", None), states)
        return Expectation(inside, outside, _values(fields, known, "output or local", ("in", "not_in")))


def _choices(word: str, node: Node | None, known: Collection[str]) -> tuple[str, ...]:
    return () if node is None else tuple(one.choice(word, known) for one in one_or_more(node))


def _values(
    fields: Mapping[str, Node], kinds: Mapping[str, Type], word: str, others: Collection[str] = ()
) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, node in fields.items():
        if name not in kinds:
            raise UnknownNameError.among(word, name, [*kinds, *others], where=node.where)
        text = expression_text(node)
        with node.locate_errors():
            found[name] = parse_value(kinds[name], text)
    return found


def save_scenario(scenario: Scenario, path: Path | str) -> None:
    """Write a scenario, atomically; over an existing document only what changed is changed."""
    data = {
        "scenario": scenario.name,
        "chart": scenario.chart,
        "description": scenario.description,
        "start": scenario.start,
        "steps": [flow_mapping(_step_data(step)) for step in scenario.steps],
    }
    save_document(path, without_empty(data))


def _step_data(step: ScenarioStep) -> dict[str, PlainData]:
    lasts = {"for": f"{step.seconds!r} s"} if step.seconds else {"ticks": step.ticks}
    data: dict[str, PlainData] = {
        "set": _values_data(step.set),
        "send": list(step.send),
        "expect": _expectation_data(step.expect),
        "throughout": _expectation_data(step.throughout),
    }
    return {**lasts, **without_empty(data)}


def _expectation_data(expectation: Expectation) -> dict[str, PlainData]:
    states = {"in": single_or_list(expectation.inside), "not_in": single_or_list(expectation.outside)}
    return {**without_empty(states), **_values_data(expectation.values)}


def _values_data(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values as charts write them: truth values are 0 and 1."""
    return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}


ENDING = ".scenario.yaml"
FOLDERS = (".", "scenarios")
"""Where scenarios are looked for, seen from the chart."""


def scenarios_beside(chart: Chart) -> list[Path]:
    """Return the scenario files beside a chart, and in `scenarios/` there, that name it, by their names.

    Raises:
        InputError: there is none.
        DocumentError: a document beside the chart cannot be read.
    """
    if chart.path is None:
        raise InputError(f"{chart.name} was not read from a file", hint="name the scenarios")
    folders = [chart.path.parent / folder for folder in FOLDERS]
    found = [
        path for folder in folders for path in sorted(folder.glob(f"*{ENDING}")) if _names(path, chart.path)
    ]
    if not found:
        hint = f"write one, or let `posewright chart cover {chart.path} -o FOLDER` write some"
        raise InputError("no scenario names this chart", where=Where(chart.path), hint=hint)
    return found


def files_in(paths: Iterable[Path | str]) -> list[Path]:
    """Return the files that paths stand for: a folder stands for the scenarios in it.

    Raises:
        DocumentError: a folder holds no scenario.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob(f"*{ENDING}")) if is_folder(path) else [path]
        if not inside:
            raise DocumentError(
                "no scenario in this folder", where=Where(path), hint=f"their names end in {ENDING}"
            )
        found += inside
    return found


def _names(path: Path, chart: Path) -> bool:
    named = read_document(path).fields().get("chart")
    if named is None or not isinstance(named.value, str):
        return False
    return (path.parent / named.value).resolve() == chart.resolve()
