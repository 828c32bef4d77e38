"""`posewright chart test`, `coverage`, `cover` and `mutate`: how well a chart is tested."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import charts
from posewright.cli.chart_run import ChartPath
from posewright.cli.console import print_result, spinner
from posewright.cli.options import EXIT_FAILURE, AsJson, argument, option, require_distinct_output
from posewright.documents import create_folder

ScenarioPaths = Annotated[
    list[Path] | None,
    argument(
        "[SCENARIO]...",
        "Scenarios (*.scenario.yaml), folders of them, or CSV files of inputs. "
        "Default: the scenarios in the chart's folder that name the chart.",
        show_default=False,
    ),
]
CoveragePicture = Annotated[Path | None, option("--draw SVG", "Draw the chart, coloured by what is covered.")]


def run_tests(chart_path: ChartPath, scenarios: ScenarioPaths = None, as_json: AsJson = False) -> None:
    """Run scenarios: inputs over time, with the states and outputs they are expected to lead to.

    Exits with 1 if a scenario fails.

    [bold]Examples[/]
      posewright chart test traffic.chart.yaml
      posewright chart test traffic.chart.yaml scenarios/night.scenario.yaml --json
    """
    chart = charts.read_chart(chart_path)
    results = charts.run_scenarios(chart, _scenario_files(chart, scenarios))
    n_passed = sum(result.passed for result in results)
    data = {
        "chart": chart.name,
        "passed": n_passed == len(results),
        "scenarios": [result.data() for result in results],
    }
    lines = [line for result in results for line in result.lines()]
    lines.append(f"{chart.name}: {n_passed} of {len(results)} scenarios passed")
    print_result(data, lines, as_json=as_json)
    if n_passed < len(results):
        raise typer.Exit(EXIT_FAILURE)


def coverage(
    chart_path: ChartPath,
    scenarios: ScenarioPaths = None,
    draw: CoveragePicture = None,
    as_json: AsJson = False,
) -> None:
    """Show what scenarios cover of a chart: states, transitions, decisions, conditions, MC/DC.

    What is proved impossible to cover does not count; it is listed.

    [bold]Examples[/]
      posewright chart coverage traffic.chart.yaml --draw covered.svg
      posewright chart coverage traffic.chart.yaml morning.csv evening.csv --json
    """
    require_distinct_output(draw, chart_path, *(scenarios or []))
    chart = charts.read_chart(chart_path)
    files = _scenario_files(chart, scenarios)
    with spinner(f"running {len(files)} files through {chart.name} ...", quiet=as_json):
        result = charts.coverage_of(chart, files)
    _draw_coverage(chart, result, draw)
    print_result(result.data() | {"runs": [str(path) for path in files]}, result.lines(), as_json=as_json)


def cover(
    chart_path: ChartPath,
    folder: Annotated[
        Path | None,
        option("--output -o FOLDER", "Write the scenarios here. Default: only list them."),
    ] = None,
    draw: CoveragePicture = None,
    as_json: AsJson = False,
) -> None:
    """Generate a small set of scenarios that takes every transition that can be taken.

    The scenarios expect what the chart does now: read them before you trust them. They also try the values
    at which comparisons change, and the last tick before a time runs out. Transitions that can never be
    taken are listed.

    [bold]Examples[/]
      posewright chart cover traffic.chart.yaml -o scenarios
      posewright chart cover sumo.chart.yaml -o out/sumo --draw out/sumo.svg --json
    """
    require_distinct_output(draw, chart_path)
    chart = charts.read_chart(chart_path)
    with spinner(f"covering {chart.name} ...", quiet=as_json):
        charts.require_sound(chart)
        cover_set = charts.cover_chart(chart)
    paths: list[Path] = []
    if folder is not None:
        create_folder(folder)
        paths = cover_set.save(folder)
    names = [str(path) for path in paths] or [scenario.name for scenario in cover_set.scenarios]
    _draw_coverage(chart, cover_set.coverage, draw)
    lines = [
        f"{name}: {scenario.ticks} ticks" for scenario, name in zip(cover_set.scenarios, names, strict=True)
    ]
    if folder is None:
        lines.append("nothing is written; -o FOLDER writes these scenarios")
    if not cover_set.complete:
        lines.append("this may be incomplete: it is not proved that the rest cannot be covered")
    data = cover_set.data() | {"files": [str(path) for path in paths]}
    print_result(data, [*cover_set.coverage.lines(), *lines], as_json=as_json)


def mutate(chart_path: ChartPath, scenarios: ScenarioPaths = None, as_json: AsJson = False) -> None:
    """Put single faults into a chart and count how many of them its scenarios detect.

    Faults that are proved to change nothing do not count. Faults that no scenario detects are listed: each
    shows a case that the scenarios do not test.

    [bold]Examples[/]
      posewright chart mutate traffic.chart.yaml
      posewright chart mutate traffic.chart.yaml scenarios --json
    """
    chart = charts.read_chart(chart_path)
    files = _scenario_files(chart, scenarios)
    with spinner(f"mutating {chart.name} ...", quiet=as_json):
        result = charts.mutate_chart(chart, files)
    print_result(result.data(), result.lines(), as_json=as_json)


def _scenario_files(chart: charts.Chart, paths: list[Path] | None) -> list[Path]:
    """Return the files of the paths, folders expanded; without paths the chart's own scenarios."""
    return charts.expand_scenario_paths(paths) if paths else charts.find_scenarios(chart)


def _draw_coverage(chart: charts.Chart, coverage: charts.Coverage, path: Path | None) -> None:
    if path is not None:
        charts.draw_chart(chart, path, marks=charts.coverage_marks(coverage))
