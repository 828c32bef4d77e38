"""Writes scenarios that cover a chart: few, each as long as it finds something new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os.path import relpath
from pathlib import Path
from typing import Any

from posewright.charts.coverage.aims import Aims
from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.draft import Draft
from posewright.charts.coverage.feasible import Feasible, feasible, with_feasible
from posewright.charts.coverage.goal import way_name
from posewright.charts.coverage.hunting import Hunt
from posewright.charts.coverage.recording import CoverageRecorder
from posewright.charts.machine import CompoundTransition
from posewright.charts.model import Chart
from posewright.charts.mutation import explore_kept
from posewright.charts.reachability import Exploration, explore
from posewright.charts.scenarios import Scenario, save_scenario

ENDING = ".chart.yaml"

DESCRIPTION = "Written by `chart cover`: what the chart did when this was written."


@dataclass(frozen=True, eq=False)
class Cover:
    """Scenarios that cover a chart.

    Attributes:
        coverage: of all of them together.
        infeasible: ways that no run can take, and why.
        complete: whether it is proved that nothing else can be covered.
    """

    chart: Chart
    scenarios: tuple[Scenario, ...]
    coverage: Coverage
    infeasible: Mapping[CompoundTransition, str]
    complete: bool

    def save(self, folder: Path | str | None = None) -> list[Path]:
        """Write the scenarios as files beside the chart, or in another folder; return their paths."""
        beside = self.chart.path.parent if self.chart.path else Path()
        place = beside if folder is None else Path(folder)
        paths = [place / f"{one.name}.scenario.yaml" for one in self.scenarios]
        for scenario, path in zip(self.scenarios, paths, strict=True):
            chart = Path(relpath(beside / scenario.chart, place)).as_posix()
            save_scenario(replace(scenario, chart=chart), path)
        return paths

    def data(self) -> dict[str, Any]:
        """Return the result as plain data."""
        machine = self.coverage.goals.machine
        return {
            **self.coverage.data(),
            "complete": self.complete,
            "scenarios": [{"name": one.name, "ticks": one.ticks} for one in self.scenarios],
            "infeasible_transitions": [
                {"name": way_name(machine, way), "line": way.line, "reason": reason}
                for way, reason in self.infeasible.items()
            ],
        }


def cover_chart(chart: Chart, exploration: Exploration | None = None) -> Cover:
    """Return a small set of scenarios that takes every transition that can be taken.

    They are led by what an exploration of the chart reaches: states, transitions, decisions both ways,
    conditions both ways, the effect of each condition alone. Then they are extended by the inputs that tell
    the chart from versions of it with one small fault: the values at which comparisons change, the tick
    before a time is over.

    Args:
        chart: to be covered.
        exploration: of it, where there is one already.
    """
    exploration = exploration or explore(chart)
    possible = feasible(exploration)
    aims = Aims(possible)
    aims.run()
    hunt = Hunt(aims.drafts, exploration.interpreter)
    kept = explore_kept(chart)
    for seen in (kept,) if kept.complete else (exploration, kept):
        hunt.go(seen)
    coverage = with_feasible(_coverage(hunt.drafts, possible), possible)
    scenarios = tuple(_scenario(chart, draft, number) for number, draft in enumerate(hunt.drafts, start=1))
    return Cover(chart, scenarios, coverage, possible.infeasible_ways, exploration.complete)


def _coverage(drafts: Iterable[Draft], possible: Feasible) -> Coverage:
    recorder = CoverageRecorder(possible.exploration.interpreter, possible.coverage.goals)
    for draft in drafts:
        state = recorder.interpreter.initial()
        for row in draft.rows:
            state = recorder.step(state, row)
    return recorder.coverage


def _scenario(chart: Chart, draft: Draft, number: int) -> Scenario:
    file = chart.path.name if chart.path else f"{chart.name}{ENDING}"
    stem = file.removesuffix(ENDING)
    return draft.scenario(f"{stem}.cover_{number}", file, DESCRIPTION)
