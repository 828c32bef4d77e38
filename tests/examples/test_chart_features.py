"""The ten example charts together use every feature of the language, and the page of examples says which."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from posewright.charts import (
    Assign,
    BoolType,
    Branch,
    Chart,
    ChartKind,
    EnumType,
    FloatType,
    HistoryKind,
    IntType,
    Otherwise,
    Priority,
    PromiseKind,
    Raise,
    State,
    StateTarget,
    StepMode,
    Transition,
    Type,
    read_chart,
)
from posewright.charts.model import DONE_PREFIX, Action, Actions, iterate_actions, segments_of

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "examples/charts").glob("*/README.md"))
PAGE = (ROOT / "docs/chart-examples.md").read_text(encoding="utf-8")
COMMENT = re.compile(r"#.*|(?:description|source): .*")


class Seen:
    """A chart, and all that is in it."""

    def __init__(self, path: Path) -> None:
        self.chart: Chart = read_chart(path)
        self.text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        chart = self.chart
        self.states: tuple[State, ...] = chart.every_state
        self.transitions = [one for state in self.states for one in state.transitions]
        named = [one for ways in chart.junctions.values() for one in ways]
        self.segments: list[Transition] = list(segments_of((*self.transitions, *named)))
        self.blocks: list[Actions] = [one.do for one in self.segments]
        self.blocks += [block for one in self.states for block in (one.entry, one.during, one.exit)]
        self.actions: list[Action] = [one for block in self.blocks for one in iterate_actions(block)]
        self.targets: list[StateTarget] = [one for segment in self.segments for one in segment.go]
        self.types: list[Type] = [*chart.inputs.values(), *chart.variables.values()]

    def writes(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None

    def number(self, word: str) -> bool:
        return any(isinstance(one, IntType) and one.keyword == word for one in self.types)


FEATURES: dict[str, Callable[[Seen], object]] = {
    "`kind: mealy`": lambda c: c.chart.kind is ChartKind.MEALY,
    "`kind: moore`": lambda c: c.chart.kind is ChartKind.MOORE,
    "`kind: statechart`": lambda c: c.chart.kind is ChartKind.STATECHART,
    "states inside states, `initial`": lambda c: any(one.is_compound for one in c.states),
    "regions of the chart": lambda c: c.chart.parallel,
    "regions of a state": lambda c: any(one.parallel for one in c.states),
    "`final`, `done.<state>`": lambda c: any(
        on.startswith(DONE_PREFIX) for one in c.segments for on in one.on
    ),
    "shallow history": lambda c: any(one.history is HistoryKind.SHALLOW for one in c.targets),
    "deep history": lambda c: any(one.history is HistoryKind.DEEP for one in c.targets),
    "several targets, one a region": lambda c: any(len(one.go) > 1 for one in c.segments),
    "`local` transitions": lambda c: any(one.local for one in c.segments),
    "internal transitions": lambda c: any(not (one.go or one.leads_to_junction) for one in c.transitions),
    "named junctions": lambda c: c.chart.junctions,
    "unnamed junctions, `then`": lambda c: any(one.then for one in c.segments),
    "`when: else`": lambda c: any(one.is_else for one in c.segments),
    "`entry`": lambda c: any(one.entry for one in c.states),
    "`during`": lambda c: any(one.during for one in c.states),
    "`exit`": lambda c: any(one.exit for one in c.states),
    "guards, and actions on the way": lambda c: any(one.do and one.when.names for one in c.segments),
    "several set at once": lambda c: any(
        isinstance(one, Assign) and len(one.values) > 1 for one in c.actions
    ),
    "one after the other": lambda c: any(len(block) > 1 for block in c.blocks),
    "actions with `if`": lambda c: any(isinstance(one, Branch) for one in c.actions),
    "`raise`": lambda c: any(isinstance(one, Raise) for one in c.actions),
    "events from outside": lambda c: c.chart.events,
    "local events": lambda c: c.chart.local_events,
    "one transition, several events": lambda c: any(len(one.on) > 1 for one in c.segments),
    "`after(...)`": lambda c: c.writes(r"\bafter\("),
    "`after_s`": lambda c: any(one.after_s for one in c.segments),
    "`before(...)`": lambda c: c.writes(r"\bbefore\("),
    "`every(...)`": lambda c: c.writes(r"\bevery\("),
    "`held(...)`": lambda c: c.writes(r"\bheld\("),
    "`min_s` (dwell)": lambda c: any(one.min_s for one in c.states),
    "`in(state)`": lambda c: c.writes(r"\bin\("),
    "`a if c else b`": lambda c: c.writes(r"\w if .+ else \w"),
    "`abs`, `min`, `max`": lambda c: c.writes(r"\b(abs|min|max)\("),
    "functions: truth table": lambda c: c.writes(r"\n    rows:"),
    "functions: table in a file": lambda c: c.writes(r"\n    table:"),
    "`bool`": lambda c: any(isinstance(one, BoolType) for one in c.types),
    "`int8`": lambda c: c.number("int8"),
    "`int16`": lambda c: c.number("int16"),
    "`int32`": lambda c: c.number("int32"),
    "`uint8`": lambda c: c.number("uint8"),
    "`uint16`": lambda c: c.number("uint16"),
    "`{int: [0, 3]}`": lambda c: any(isinstance(one, IntType) and one.keyword is None for one in c.types),
    "`float`": lambda c: any(isinstance(one, FloatType) and not one.single for one in c.types),
    "`float32`": lambda c: any(isinstance(one, FloatType) and one.single for one in c.types),
    "`enum`": lambda c: any(isinstance(one, EnumType) for one in c.types),
    "`locals`, `initial_values`": lambda c: c.chart.locals.keys() & c.chart.initial_values.keys(),
    "constants with units": lambda c: c.chart.units,
    "inputs with units": lambda c: any(getattr(one, "unit", None) for one in c.chart.inputs.values()),
    "`priority: ordered`, chart": lambda c: c.chart.priority is Priority.ORDERED,
    "`priority: ordered`, state": lambda c: any(one.priority is Priority.ORDERED for one in c.states),
    "guards exclude each other": lambda c: c.chart.priority is Priority.EXCLUSIVE,
    "`otherwise: refuse`": lambda c: c.chart.otherwise is Otherwise.REFUSE,
    "`steps: completion`": lambda c: c.chart.steps is StepMode.COMPLETION,
    "`resources`": lambda c: c.chart.resources,
    "promise: `never`": lambda c: any(one.kind is PromiseKind.NEVER for one in c.chart.promises),
    "promise: `always`": lambda c: any(one.kind is PromiseKind.ALWAYS for one in c.chart.promises),
    "promise: `leads_to`": lambda c: any(one.kind is PromiseKind.LEADS_TO for one in c.chart.promises),
}


@pytest.fixture(scope="module")
def used() -> dict[str, list[str]]:
    """Give the features, and the folders whose charts use each, those with the fewest states first."""
    seen = {folder.name: [Seen(path) for path in folder.glob("*.chart.yaml")] for folder in FOLDERS}
    seen = dict(sorted(seen.items(), key=lambda item: max(len(chart.states) for chart in item[1])))
    return {
        feature: [name for name, charts in seen.items() if any(uses(one) for one in charts)]
        for feature, uses in FEATURES.items()
    }


def features_of(name: str, used: dict[str, list[str]]) -> str:
    """Return the features whose smallest example has this name, as the page lists them."""
    return "; ".join(feature for feature, names in used.items() if names[:1] == [name])


def test_every_feature_is_used_by_one_of_the_ten(used: dict[str, list[str]]) -> None:
    assert [feature for feature, names in used.items() if not names] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_page_says_which(folder: Path, used: dict[str, list[str]]) -> None:
    (row,) = [line for line in PAGE.splitlines() if f"](../examples/charts/{folder.name}/README.md)" in line]
    features = features_of(folder.name, used)
    assert row.endswith(f"| {features} |"), f"the last cell of {folder.name} should be:\n{features}"
