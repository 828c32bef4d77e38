"""`posewright chart`: state machines checked, compared, tabulated, made smaller, drawn and exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from posewright import charts
from posewright.cli.chart_run import CHARTS, ChartPath, give_table, run, write_rows
from posewright.cli.chart_try import cover, coverage, mutate, run_tests
from posewright.cli.console import print_document, print_line, print_note, print_result, spinner
from posewright.cli.options import (
    EXIT_FAILURE,
    AsJson,
    Output,
    add_group,
    add_verb,
    argument,
    option,
    require_distinct_output,
)

UNKNOWN = 3  # exit code where it could not be told whether two charts behave alike


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "chart")
    add_verb(group, "check", check, python_names="check_chart")
    add_verb(group, "run", run, python_names="run_chart draw_timeline")
    add_verb(group, "test", run_tests, python_names="run_scenarios")
    add_verb(group, "coverage", coverage, python_names="coverage_of")
    add_verb(group, "cover", cover, python_names="cover_chart")
    add_verb(group, "mutate", mutate, python_names="mutate_chart")
    add_verb(group, "diff", diff, python_names="compare_charts")
    add_verb(group, "draw", draw, python_names="draw_chart")
    add_verb(group, "table", table, python_names="tabulate_chart")
    add_verb(group, "minimise", minimise, python_names="minimise_chart")
    add_verb(group, "convert", convert, python_names="write_chart")


def check(
    chart: ChartPath,
    strict: Annotated[bool, option("--strict", "Exit with 1 for warnings too.")] = False,
    witness: Annotated[
        Path | None,
        option("--witness FOLDER", "Write the inputs that show each finding: CSV for `run --inputs`."),
    ] = None,
    within: Annotated[
        float, option("--within SECONDS", "Say after so long what was proved until then.")
    ] = 20.0,
    as_json: AsJson = False,
) -> None:
    """Prove that a chart is sound, or show what is wrong with it, each fault with a case that shows it.

    Overlapping guards, gaps, what is never reached or never left, circles, ranges, overflow, division by
    zero, resources left on, and the chart's own promises. Exits with 1 where there is an error, with 2 where
    the file does not read.

    [bold]Examples[/]
      posewright chart check obstacle_mealy.chart.yaml
      posewright chart check sumo.chart.yaml --witness out/witnesses
      posewright chart check mealy_table_6_5.csv --json
    """
    machine = charts.read_chart(chart)
    with spinner(f"proving {machine.name} ...", quiet=as_json):
        report = charts.inspect_chart(machine, within_s=within)
    witnesses = {} if witness is None else _write_witnesses(machine, report.findings, witness)
    print_result(report.to_dict(witnesses), report.lines(witnesses), as_json=as_json)
    levels = {finding.level.value for finding in report.findings}
    if "error" in levels or (strict and "warning" in levels):
        raise typer.Exit(EXIT_FAILURE)


def _write_witnesses(
    machine: charts.Chart, findings: Sequence[charts.Finding], folder: Path
) -> dict[int, Path]:
    """Write the inputs that show each finding into a folder; return the file of each by its number."""
    written: dict[int, Path] = {}
    for number, finding in enumerate(findings):
        if finding.trace:
            written[number] = folder / f"{number + 1:02d}_{finding.rule.value}.csv"
            write_rows(machine, finding.trace, written[number])
    return written


def table(chart: ChartPath, output: Output = None, as_json: AsJson = False) -> None:
    """Write the truth table: every state with every combination of inputs, in the source's columns.

    FILE may end in .csv (a table) or .yaml (a chart with one transition per row).

    [bold]Examples[/]
      posewright chart table obstacle_mealy.chart.yaml > table.csv
      posewright chart table table.csv -o table.chart.yaml
    """
    require_distinct_output(output, chart)
    machine = charts.read_chart(chart)
    give_table(charts.tabulate_chart(machine), machine, output, as_json=as_json)


def minimise(
    chart: ChartPath,
    method: Annotated[
        str,
        option(
            "--method",
            "junctions: ask one input at a time, rows never overlap (the source's way). "
            "two-level: few products, in no order, needs the extra 'charts'.",
        ),
    ] = "junctions",
    order: Annotated[
        str | None,
        option("--order", "Order in which junctions ask: w,v,u or 'best'. Default: the table's columns."),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Merge rows of the truth table: inputs that do not matter become X. The behaviour stays the same.

    FILE may end in .csv (rows with X) or .yaml (a chart with one transition per row).

    [bold]Examples[/]
      posewright chart minimise mealy_table_6_5.csv
      posewright chart minimise mealy_table_6_5.csv --method two-level -o small.chart.yaml
    """
    require_distinct_output(output, chart)
    machine = charts.read_chart(chart)
    found = charts.minimise(machine, method, order=order)
    if output is None and not as_json:
        _show_groups(found)
    else:
        give_table(found, machine, output, as_json=as_json)


def _show_groups(found: charts.TruthTable) -> None:
    """Print rows by the states that share them, as the UC3M thesis prints them."""
    print_line(f"{' '.join(found.form.inputs)} / {' '.join(found.form.outputs)} -> next state")
    for states, rows in charts.grouped(found).items():
        print_line(f"{'states' if len(states) > 1 else 'state'} {' and '.join(states)}")
        for row in rows:
            print_line(f"  {row} -> {row.go}")
    print_line(f"{len(found.rows)} rows")


def draw(
    chart: ChartPath,
    output: Output = None,
    active: Annotated[str | None, option("--active STATE", "Highlight this state, or several: a+b.")] = None,
    labels: Annotated[
        str, option("--labels", "auto, words, signs (01X/10) or numbers (with a key).")
    ] = "auto",
) -> None:
    """Draw the chart as SVG (FILE ends in .svg) or Mermaid text (.mmd, .md, or no FILE: to stdout).

    [bold]Examples[/]
      posewright chart draw obstacle_mealy.chart.yaml
      posewright chart draw obstacle_mealy.chart.yaml -o obstacle_mealy.svg --active walking
    """
    require_distinct_output(output, chart)
    machine = charts.read_chart(chart)
    if output is None:
        print_document(charts.draw_mermaid(machine, active=active, style=charts.label_style(labels)))
    else:
        charts.draw_chart(machine, output, active=active, labels=labels)


def convert(chart: ChartPath, output: Annotated[Path, option("--output -o FILE", "Where to write.")]) -> None:
    """Write a chart in another form, by FILE's ending: .yaml (native), .scxml, .csv (transition table).

    What a form cannot say is refused by name. For truth tables see `chart table`, for pictures `chart draw`.

    [bold]Examples[/]
      posewright chart convert traffic.chart.yaml -o traffic.scxml
      posewright chart convert downloaded.scxml -o mine.chart.yaml
    """
    require_distinct_output(output, chart)
    machine = charts.read_chart(chart)
    charts.write_chart(machine, output)
    for lost in charts.beyond_scxml(machine) if output.suffix.lower() in (".scxml", ".xml") else ():
        print_note(f"only Posewright reads it back the same, other tools do not know: {lost}")


def diff(
    chart: ChartPath,
    other: Annotated[Path, argument("OTHER", CHARTS)],
    every_state: Annotated[
        bool, option("--every-state", "Start from every state both have by name, reachable or not.")
    ] = False,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether two charts behave alike, and show the shortest input that tells them apart.

    Alike means: the same inputs give the same outputs, tick by tick, for ever. It is proved by walking both
    side by side. Exits with 0 where they are alike, with 1 where they differ, with 3 where it is not known.
    With -o the inputs that tell them apart are written as CSV, for `chart run --inputs`.

    [bold]Examples[/]
      posewright chart diff obstacle_mealy.chart.yaml mealy_table_6_5.csv --every-state
      posewright chart diff before.chart.yaml after.chart.yaml -o apart.csv
    """
    require_distinct_output(output, chart, other)
    one = charts.read_chart(chart)
    two = charts.read_chart(other)
    with spinner(f"walking {one.name} and {two.name} side by side ...", quiet=as_json):
        found = charts.equivalent(one, two, every_state=every_state)
    if output is not None and found.counterexample:
        write_rows(one, found.counterexample, output)
    print_result(found.to_dict(one, two), found.lines(one, two), as_json=as_json)
    if found.equal is not True:
        raise typer.Exit(EXIT_FAILURE if found.equal is False else UNKNOWN)
