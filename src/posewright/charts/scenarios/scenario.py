"""Scenarios, `*.scenario.yaml`: inputs over time and the expected outputs; reading and writing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.charts.formats import (
    expression_text,
    one_or_more,
    optional_text,
    read_chart,
    read_seconds,
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
    """What is expected after a tick.

    Attributes:
        inside: states that are active.
        outside: states that are not active.
        values: values of outputs and locals.
    """

    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.inside or self.outside or self.values)

    @property
    def row_expectations(self) -> dict[str, Value]:
        """The expectation in the form of `Row.expected`: values by name, and states joined by `+`."""
        expected = dict(self.values)
        if self.inside:
            expected[INSIDE] = STATE_SEPARATOR.join(self.inside)
        if self.outside:
            expected[OUTSIDE] = STATE_SEPARATOR.join(self.outside)
        return expected

    def merge(self, second: Expectation) -> Expectation:
        """Return the conjunction of two expectations; of a value in both, the second counts."""
        return Expectation(
            tuple(dict.fromkeys((*self.inside, *second.inside))),
            tuple(dict.fromkeys((*self.outside, *second.outside))),
            {**self.values, **second.values},
        )


NO_EXPECTATION = Expectation()
"""The expectation that every state meets."""


@dataclass(frozen=True)
class ScenarioStep:
    """Some ticks with the same inputs.

    Attributes:
        ticks: number of ticks.
        seconds: duration, where it was written as a time [s]; 0 if it was written in ticks.
        set: inputs that change; they keep their values until they are set again.
        send: events that occur in the first tick.
        expect: expectation after the last tick.
        throughout: expectation after every tick.
        line: the line in the document, if known.
    """

    ticks: int = 1
    seconds: float = 0.0
    set: Mapping[str, Value] = field(default_factory=dict)
    send: tuple[str, ...] = ()
    expect: Expectation = NO_EXPECTATION
    throughout: Expectation = NO_EXPECTATION
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Scenario:
    """Inputs over time, and the expected outputs.

    Attributes:
        chart: path of the chart's file, relative to the scenario's.
        start: state in which it starts; None starts before the first tick.
    """

    name: str
    steps: tuple[ScenarioStep, ...]
    chart: str = ""
    start: str | None = None
    description: str = field(default="", compare=False)
    path: Path | None = field(default=None, compare=False)

    @property
    def ticks(self) -> int:
        """Its duration in ticks."""
        return sum(step.ticks for step in self.steps)


def rows_of(scenario: Scenario, chart: Chart) -> list[Row]:
    """Return the rows of a scenario: for each tick, the inputs of a chart and the expectation.

    Inputs keep their values from step to step; events occur in the first tick of their step. Only the first
    row has a state to start in.
    """
    inputs = {name: value_type.default for name, value_type in chart.inputs.items()}
    start = scenario.start
    rows: list[Row] = []
    for step in scenario.steps:
        inputs = {**inputs, **step.set}
        events = dict.fromkeys(step.send, True)
        expected_throughout = step.throughout.row_expectations
        expected_at_end = step.throughout.merge(step.expect).row_expectations
        for tick_index in range(step.ticks):
            is_first_tick = tick_index == 0
            is_last_tick = tick_index == step.ticks - 1
            row_inputs = {**inputs, **events} if is_first_tick else inputs
            expected = expected_at_end if is_last_tick else expected_throughout
            rows.append(Row(row_inputs, start, expected, step.line))
            start = None  # further rows continue from the row before
    return rows


MAX_TICKS = 1_000_000
"""Maximum of ticks in a scenario: more than a day at ten a second."""

STEP_HINT = "a step reads {for: 0.5 s, set: {front: 1}, send: [start], expect: {in: walking}}"


def read_scenario(path: Path | str, chart: Chart | None = None) -> Scenario:
    """Read a scenario.

    Args:
        path: the path of the file `*.scenario.yaml`.
        chart: the chart that it is for; None reads the chart that the scenario names.

    Raises:
        DocumentError: the file cannot be read, or is not a scenario.
        UnknownNameError: there is no such input, event, output or state; the message names the line.
    """
    path = Path(path)
    return parse_scenario(read_text(path), chart, path)


def parse_scenario(text: str, chart: Chart | None = None, path: Path | None = None) -> Scenario:
    """Return the scenario in a text.

    Args:
        text: the text of a scenario document.
        chart: the chart that it is for; None reads the chart that the scenario names.
        path: the path of the file, for messages and for the chart's relative path.

    Raises:
        DocumentError: the text is not a scenario, or the chart that it names cannot be read.
        UnknownNameError: there is no such input, event, output or state; the message names the line.
    """
    document = parse_document(text, path)
    fields = document.fields(required=("scenario", "steps"), optional=("chart", "description", "start"))
    if chart is None:
        chart = read_chart(_find_chart_path(document, fields))
    return _ScenarioReader(chart).read(fields, path)


def _find_chart_path(document: Node, fields: Mapping[str, Node]) -> Path:
    """Return the path of the chart that a scenario names.

    Raises:
        DocumentError: the scenario names none, or there is no such file.
    """
    if "chart" not in fields:
        document.fail("'chart' is missing", hint="write `chart: name.chart.yaml`, relative to this file")
    folder = document.path.parent if document.path else Path()
    path = folder / fields["chart"].text()
    if not is_file(path):
        fields["chart"].fail(f"there is no file {path}", hint="the path is relative to the scenario's folder")
    return path


class _ScenarioReader:
    """Reads the scenario of one chart from its document.

    Attributes:
        chart: the chart.
        n_ticks: ticks of the steps read so far, which are limited.
    """

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.n_ticks = 0

    def read(self, fields: Mapping[str, Node], path: Path | None) -> Scenario:
        """Return the scenario of a document.

        Args:
            fields: the nodes of the document, by key.
            path: the path of the file, if it was read from one.
        """
        start = fields["start"].choice("state", self.chart.state_names) if "start" in fields else None
        steps = fields["steps"].items()
        if not steps:
            fields["steps"].fail("no step", hint=STEP_HINT)
        return Scenario(
            name=read_title(fields["scenario"]),
            steps=tuple(self._read_step(node) for node in steps),
            chart=optional_text(fields, "chart"),
            start=start,
            description=optional_text(fields, "description"),
            path=path,
        )

    def _read_step(self, node: Node) -> ScenarioStep:
        """Return a step of a scenario: for a time, for some ticks, or for one tick if it states neither.

        Its ticks count towards the limit of the scenario.
        """
        fields = node.fields(optional=("ticks", "for", "set", "send", "expect", "throughout"))
        if "ticks" in fields and "for" in fields:
            fields["for"].fail("both `ticks` and `for`", hint="use one of them")
        chart = self.chart
        seconds = 0.0
        ticks = 1
        if "for" in fields:
            seconds = read_seconds(fields["for"], chart.constants, chart.units)
            ticks = max(chart.ticks(seconds), 1)
        elif "ticks" in fields:
            ticks = fields["ticks"].integer(low=1, high=MAX_TICKS)
        self.n_ticks += ticks
        if self.n_ticks > MAX_TICKS:
            node.fail(f"more than {MAX_TICKS} ticks", hint="split it into several scenarios")
        return ScenarioStep(
            ticks=ticks,
            seconds=seconds,
            set=_read_values(fields["set"].fields(), chart.inputs, "input") if "set" in fields else {},
            send=_read_choices("event", fields.get("send"), chart.events),
            expect=self._read_expectation(fields.get("expect")),
            throughout=self._read_expectation(fields.get("throughout")),
            line=node.line,
        )

    def _read_expectation(self, node: Node | None) -> Expectation:
        """Return the expected states and values; no expectation if there is no node."""
        if node is None:
            return NO_EXPECTATION
        fields = node.fields()
        state_names = self.chart.state_names
        inside = _read_choices("state", fields.pop("in", None), state_names)
        outside = _read_choices("state", fields.pop("not_in", None), state_names)
        variables = self.chart.variables
        values = _read_values(fields, variables, kind="output or local", other_keys=("in", "not_in"))
        return Expectation(inside, outside, values)


def _read_choices(kind: str, node: Node | None, allowed_names: Collection[str]) -> tuple[str, ...]:
    """Return the names in a node, a single one or a list; empty for no node.

    Args:
        kind: what the names represent, for the message of an error.
        node: a node with names.
        allowed_names: the names that may be chosen.
    """
    if node is None:
        return ()
    return tuple(name_node.choice(kind, allowed_names) for name_node in one_or_more(node))


def _read_values(
    fields: Mapping[str, Node], types: Mapping[str, Type], kind: str, other_keys: Collection[str] = ()
) -> dict[str, Value]:
    """Return the values of inputs or variables, by name.

    Args:
        fields: the nodes of the values, by name.
        types: the types of all inputs or variables that are allowed.
        kind: what the names represent, for the message of an error.
        other_keys: further keys that are allowed in the same place, for the message.
    """
    values: dict[str, Value] = {}
    for name, node in fields.items():
        if name not in types:
            raise UnknownNameError.among(kind, name, [*types, *other_keys], where=node.where)
        text = expression_text(node)
        with node.locate_errors():
            values[name] = parse_value(types[name], text)
    return values


def save_scenario(scenario: Scenario, path: Path | str) -> None:
    """Write a scenario, atomically; in an existing document only the differences are changed."""
    data = {
        "scenario": scenario.name,
        "chart": scenario.chart,
        "description": scenario.description,
        "start": scenario.start,
        "steps": [flow_mapping(_step_data(step)) for step in scenario.steps],
    }
    save_document(path, without_empty(data))


def _step_data(step: ScenarioStep) -> dict[str, PlainData]:
    """Return a step as plain data, as a scenario document has it; keys without a value are left out."""
    duration = {"for": f"{step.seconds!r} s"} if step.seconds else {"ticks": step.ticks}
    data: dict[str, PlainData] = {
        "set": _values_data(step.set),
        "send": list(step.send),
        "expect": _expectation_data(step.expect),
        "throughout": _expectation_data(step.throughout),
    }
    return {**duration, **without_empty(data)}


def _expectation_data(expectation: Expectation) -> dict[str, PlainData]:
    """Return an expectation as plain data: the states under `in` and `not_in`, and values by name."""
    states = {"in": single_or_list(expectation.inside), "not_in": single_or_list(expectation.outside)}
    return {**without_empty(states), **_values_data(expectation.values)}


def _values_data(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values as documents of charts write them: truth values are 0 and 1."""
    return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}


SCENARIO_ENDING = ".scenario.yaml"
"""Ending of the names of scenario files."""

SCENARIO_FOLDERS = (".", "scenarios")
"""Folders with scenarios, relative to the chart's."""


def find_scenarios(chart: Chart) -> list[Path]:
    """Return the scenario files of a chart: those beside it, and in `scenarios/` there, that name it, sorted.

    Raises:
        InputError: there is none.
        DocumentError: a scenario there cannot be read.
    """
    if chart.path is None:
        raise InputError(f"{chart.name} was not read from a file", hint="name the scenarios")
    paths = []
    for folder in SCENARIO_FOLDERS:
        for path in sorted((chart.path.parent / folder).glob(f"*{SCENARIO_ENDING}")):
            if _is_scenario_of(path, chart.path):
                paths.append(path)
    if not paths:
        hint = f"write one, or let `posewright chart cover {chart.path} -o FOLDER` write some"
        raise InputError("no scenario names this chart", where=Where(chart.path), hint=hint)
    return paths


def expand_scenario_paths(paths: Iterable[Path | str]) -> list[Path]:
    """Return the files for some paths: a folder represents the scenarios in it.

    Raises:
        DocumentError: a folder has no scenario.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        folder_files = sorted(path.glob(f"*{SCENARIO_ENDING}")) if is_folder(path) else [path]
        if not folder_files:
            raise DocumentError(
                "no scenario in this folder", where=Where(path), hint=f"their names end in {SCENARIO_ENDING}"
            )
        files += folder_files
    return files


def _is_scenario_of(path: Path, chart_path: Path) -> bool:
    """Return whether the scenario in a file names a chart."""
    chart_node = read_document(path).fields().get("chart")
    if chart_node is None or not isinstance(chart_node.value, str):
        return False
    return (path.parent / chart_node.value).resolve() == chart_path.resolve()
