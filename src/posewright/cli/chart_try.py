"""`posewright chart test`, `coverage`, `cover` and `mutate`: how well a chart was tried."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli.chart_options import ChartPath, Runs
from posewright.cli.chart_output import FOUND, say
from posewright.cli.console import emit_json, out, progress
from posewright.cli.options import AsJson, refuse_overwriting

if TYPE_CHECKING:
    from posewright.charts import Chart, Coverage, MutationResult, ScenarioResult

Draw = Annotated[
    Path | None, typer.Option("--draw", metavar="SVG", help="Draw the chart, coloured by what was covered.")
]


def run_tests(chart: ChartPath, scenarios: Runs = None, as_json: AsJson = False) -> None:
    """Run scenarios: inputs over time, and the states and outputs they are expected to lead to.

    Exits with 1 where one of them fails.

    [bold]Examples[/]

      posewright chart test traffic.chart.yaml

      posewright chart test traffic.chart.yaml scenarios/night.scenario.yaml --json
    """
    from posewright.charts import read_chart, run_scenarios

    machine = read_chart(chart)
    results = run_scenarios(machine, _files(machine, scenarios))
    if as_json:
        emit_json(
            {"chart": machine.name, "passed": _passed(results), "scenarios": [one.data() for one in results]}
        )
    else:
        _show_results(machine, results)
    if not _passed(results):
        raise typer.Exit(FOUND)


def _passed(results: tuple[ScenarioResult, ...]) -> bool:
    return all(result.passed for result in results)


def _show_results(machine: Chart, results: tuple[ScenarioResult, ...]) -> None:
    for result in results:
        word, colour = ("passed", "green") if result.passed else ("failed", "red")
        out.print(f"[{colour}]{word}[/] ", end="")
        say(f"{result.scenario.name} ({result.ticks} ticks)")
        for failure in result.failures[:5]:
            say(f"    {result.scenario.path or ''}: {failure}")
    say(f"{machine.name}: {sum(result.passed for result in results)} of {len(results)} scenarios passed")


def coverage(chart: ChartPath, scenarios: Runs = None, draw: Draw = None, as_json: AsJson = False) -> None:
    """Say what of a chart some runs have covered: states, transitions, decisions, conditions, MC/DC.

    What no run can ever cover, as was proved, is left out and named.

    [bold]Examples[/]

      posewright chart coverage traffic.chart.yaml --draw covered.svg

      posewright chart coverage traffic.chart.yaml morning.csv evening.csv --json
    """
    from posewright.charts import coverage_of, read_chart

    refuse_overwriting(draw, chart, *(scenarios or []))
    machine = read_chart(chart)
    files = _files(machine, scenarios)
    with progress(quiet=as_json) as shown:
        shown.add_task(f"running {len(files)} files through {machine.name} ...")
        found = coverage_of(machine, files)
    _give_coverage(machine, found, draw)
    if as_json:
        emit_json(found.data() | {"runs": [str(path) for path in files]})
    else:
        _show_coverage(found)


def cover(
    chart: ChartPath,
    folder: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write here instead of beside the chart."),
    ] = None,
    draw: Draw = None,
    as_json: AsJson = False,
) -> None:
    """Write a small set of scenarios that takes every transition that can be taken.

    What they expect is what the chart does now: read them before you trust them. They also try the values at
    which comparisons change, and the tick before a time is over. Transitions that no run can take are named.

    [bold]Examples[/]

      posewright chart cover traffic.chart.yaml -o scenarios

      posewright chart cover sumo.chart.yaml -o out/sumo --draw out/sumo.svg --json
    """
    from posewright.charts import cover_chart, read_chart, require_sound

    refuse_overwriting(draw, chart)
    machine = read_chart(chart)
    with progress(quiet=as_json) as shown:
        shown.add_task(f"covering {machine.name} ...")
        require_sound(machine)
        found = cover_chart(machine)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    paths = found.save(folder)
    _give_coverage(machine, found.coverage, draw)
    if as_json:
        emit_json(found.data() | {"files": [str(path) for path in paths]})
        return
    _show_coverage(found.coverage)
    for scenario, path in zip(found.scenarios, paths, strict=True):
        say(f"{path}: {scenario.ticks} ticks")
    if not found.complete:
        say("not proved complete: more may be coverable than was found")


def mutate(chart: ChartPath, scenarios: Runs = None, as_json: AsJson = False) -> None:
    """Put single faults into a chart and see how many of them its scenarios find.

    Faults that were proved to change nothing are not counted. Those that survive are listed: each is a
    question to the scenarios.

    [bold]Examples[/]

      posewright chart mutate traffic.chart.yaml

      posewright chart mutate traffic.chart.yaml scenarios --json
    """
    from posewright.charts import mutate_chart, read_chart

    machine = read_chart(chart)
    files = _files(machine, scenarios)
    with progress(quiet=as_json) as shown:
        shown.add_task(f"mutating {machine.name} ...")
        found = mutate_chart(machine, files)
    if as_json:
        emit_json(found.data())
    else:
        _show_mutation(machine, found)


def _files(machine: Chart, given: list[Path] | None) -> list[Path]:
    from posewright.charts import files_in, scenarios_beside

    return files_in(given) if given else scenarios_beside(machine)


def _give_coverage(machine: Chart, found: Coverage, path: Path | None) -> None:
    if path is not None:
        from posewright.charts import draw_chart, marks

        draw_chart(machine, path, marks=marks(found))


def _show_coverage(found: Coverage) -> None:
    rows = [
        [row.measure.value, f"{row.covered}/{row.total}", f"{row.part:.0%}", str(row.infeasible)]
        for row in found.rows
    ]
    head = ["measure", "covered", "", "cannot be"]
    widths = [max(len(line[column]) for line in [head, *rows]) for column in range(len(head))]
    for line in [head, *rows]:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    for goal in found.missing:
        say(f"missing: {goal.measure.value}: {_placed(goal.name, goal.line)}")
    for goal, reason in found.infeasible.items():
        say(f"cannot be covered: {goal.measure.value}: {_placed(goal.name, goal.line)}: {reason}")


def _placed(name: str, line: int | None) -> str:
    return name if line is None else f"{name} (line {line})"


def _show_mutation(machine: Chart, found: MutationResult) -> None:
    for word, mutants in (("survived", found.survived), ("changes nothing", found.equivalent)):
        for mutant in mutants:
            say(f"{word}: {_placed(str(mutant), mutant.line)}")
    findable = found.total - len(found.equivalent)
    say(f"{machine.name}: {found.killed} of {findable} faults found ({found.score:.1%}); {found.total} made")
