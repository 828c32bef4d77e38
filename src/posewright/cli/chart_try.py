"""`posewright chart test`, `coverage`, `cover` and `mutate`: how well a chart was tried."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import charts
from posewright.cli.chart_run import ChartPath
from posewright.cli.console import print_result, spinner
from posewright.cli.options import EXIT_FAILURE, AsJson, argument, option, require_distinct_output

Runs = Annotated[
    list[Path] | None,
    argument(
        "[SCENARIO]...",
        "Scenarios (*.scenario.yaml), folders of them, or CSV files of inputs. "
        "Default: those beside the chart that name it.",
        show_default=False,
    ),
]
Draw = Annotated[Path | None, option("--draw SVG", "Draw the chart, coloured by what was covered.")]


def run_tests(chart: ChartPath, scenarios: Runs = None, as_json: AsJson = False) -> None:
    """Run scenarios: inputs over time, and the states and outputs they are expected to lead to.

    Exits with 1 where one of them fails.

    [bold]Examples[/]
      posewright chart test traffic.chart.yaml
      posewright chart test traffic.chart.yaml scenarios/night.scenario.yaml --json
    """
    machine = charts.read_chart(chart)
    results = charts.run_scenarios(machine, _files(machine, scenarios))
    passed = sum(result.passed for result in results)
    told = {"chart": machine.name, "passed": passed == len(results)}
    print_result(
        told | {"scenarios": [one.data() for one in results]},
        [
            *(line for result in results for line in result.lines()),
            f"{machine.name}: {passed} of {len(results)} scenarios passed",
        ],
        as_json=as_json,
    )
    if passed < len(results):
        raise typer.Exit(EXIT_FAILURE)


def coverage(chart: ChartPath, scenarios: Runs = None, draw: Draw = None, as_json: AsJson = False) -> None:
    """Show what test runs cover of a chart: states, transitions, decisions, conditions, MC/DC.

    What no run can ever cover, as was proved, is left out and named.

    [bold]Examples[/]
      posewright chart coverage traffic.chart.yaml --draw covered.svg
      posewright chart coverage traffic.chart.yaml morning.csv evening.csv --json
    """
    require_distinct_output(draw, chart, *(scenarios or []))
    machine = charts.read_chart(chart)
    files = _files(machine, scenarios)
    with spinner(f"running {len(files)} files through {machine.name} ...", quiet=as_json):
        found = charts.coverage_of(machine, files)
    _draw_coverage(machine, found, draw)
    print_result(found.data() | {"runs": [str(path) for path in files]}, found.lines(), as_json=as_json)


def cover(
    chart: ChartPath,
    folder: Annotated[
        Path | None,
        option("--output -o FOLDER", "Write the scenarios here; without it they are only listed."),
    ] = None,
    draw: Draw = None,
    as_json: AsJson = False,
) -> None:
    """Find a small set of scenarios that takes every transition that can be taken; -o writes them.

    What they expect is what the chart does now: read them before you trust them. They also try the values at
    which comparisons change, and the tick before a time is over. Transitions that no run can take are named.

    [bold]Examples[/]
      posewright chart cover traffic.chart.yaml -o scenarios
      posewright chart cover sumo.chart.yaml -o out/sumo --draw out/sumo.svg --json
    """
    require_distinct_output(draw, chart)
    machine = charts.read_chart(chart)
    with spinner(f"covering {machine.name} ...", quiet=as_json):
        charts.require_sound(machine)
        found = charts.cover_chart(machine)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    paths = [] if folder is None else found.save(folder)
    named = paths or [Path(one.name) for one in found.scenarios]
    _draw_coverage(machine, found.coverage, draw)
    lines = [f"{path}: {one.ticks} ticks" for one, path in zip(found.scenarios, named, strict=True)]
    if folder is None:
        lines.append("nothing is written: -o FOLDER writes these scenarios")
    if not found.complete:
        lines.append("not proved complete: more may be coverable than was found")
    told = found.data() | {"files": [str(path) for path in paths]}
    print_result(told, [*found.coverage.lines(), *lines], as_json=as_json)


def mutate(chart: ChartPath, scenarios: Runs = None, as_json: AsJson = False) -> None:
    """Put single faults into a chart and see how many of them its scenarios find.

    Faults that were proved to change nothing are not counted. Those that survive are listed: each is a
    question to the scenarios.

    [bold]Examples[/]
      posewright chart mutate traffic.chart.yaml
      posewright chart mutate traffic.chart.yaml scenarios --json
    """
    machine = charts.read_chart(chart)
    files = _files(machine, scenarios)
    with spinner(f"mutating {machine.name} ...", quiet=as_json):
        found = charts.mutate_chart(machine, files)
    print_result(found.data(), found.lines(), as_json=as_json)


def _files(machine: charts.Chart, given: list[Path] | None) -> list[Path]:
    return charts.expand_scenario_paths(given) if given else charts.find_scenarios(machine)


def _draw_coverage(machine: charts.Chart, found: charts.Coverage, path: Path | None) -> None:
    if path is not None:
        charts.draw_chart(machine, path, marks=charts.coverage_marks(found))
