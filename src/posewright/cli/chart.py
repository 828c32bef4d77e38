"""`posewright chart`: what can be done with a state machine; more of its verbs are in the files beside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.chart_compare import convert, diff
from posewright.cli.chart_options import ChartPath
from posewright.cli.chart_output import (
    FOUND,
    give_table,
    report_data,
    show_findings,
    show_groups,
    write_witnesses,
)
from posewright.cli.chart_run import run
from posewright.cli.chart_try import cover, coverage, mutate, run_tests
from posewright.cli.console import emit_json, progress
from posewright.cli.options import AsJson, Output, refuse_overwriting


def register(app: typer.Typer) -> None:
    """Add the verb `chart` and what it can do."""
    group = typer.Typer(
        help="State machines: check by proof, run, try, compare, draw, exchange.",
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    for command in (check, run, run_tests, coverage, cover, mutate, diff, draw, table, minimise, convert):
        group.command("test" if command is run_tests else None)(command)
    app.add_typer(group, name="chart")


def check(
    chart: ChartPath,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings too.")] = False,
    witness: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write the inputs that show each finding: CSV for `run --inputs`."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove a chart sound, or find what is wrong with it; each finding with the case that shows it.

    Overlapping guards, gaps, what is never reached or never left, circles, ranges, overflow, division by
    zero, resources left on, and the chart's own promises. Exits with 1 where there is an error, with 2 where
    the file does not read.

    [bold]Examples[/]

      posewright chart check obstacle_mealy.chart.yaml

      posewright chart check sumo.chart.yaml --witness out/witnesses

      posewright chart check mealy_table_6_5.csv --json
    """
    from posewright.charts import read_chart

    machine = read_chart(chart)
    from posewright.charts import Level, inspect_chart  # only now: what is refused needs no checks

    with progress(quiet=as_json) as shown:
        shown.add_task(f"proving {machine.name} ...")
        report = inspect_chart(machine)
    levels = {finding.level for finding in report.findings}
    sound = Level.ERROR not in levels
    written = write_witnesses(machine, report.findings, witness) if witness is not None else {}
    if as_json:
        emit_json(report_data(machine, report, sound, written))
    else:
        show_findings(machine, report, sound, written)
    if not sound or (strict and Level.WARNING in levels):
        raise typer.Exit(FOUND)


def table(chart: ChartPath, output: Output = None, as_json: AsJson = False) -> None:
    """Write the truth table: every state with every combination of inputs, in the source's columns.

    FILE may end in .csv (a table) or .yaml (a chart with one transition per row).

    [bold]Examples[/]

      posewright chart table obstacle_mealy.chart.yaml > table.csv

      posewright chart table table.csv -o table.chart.yaml
    """
    from posewright.charts import read_chart

    refuse_overwriting(output, chart)
    machine = read_chart(chart)
    from posewright.charts import tabulate_chart

    give_table(tabulate_chart(machine), machine, output, as_json)


def minimise(
    chart: ChartPath,
    method: Annotated[
        str,
        typer.Option(
            help="junctions: ask one input at a time, rows never overlap (the source's way). "
            "two-level: few products, in no order, needs the extra 'charts'."
        ),
    ] = "junctions",
    order: Annotated[
        str | None,
        typer.Option(help="Order in which junctions ask: w,v,u or 'best'. Default: the table's columns."),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Make rows fewer: inputs that do not matter become X. The machine stays the same.

    FILE may end in .csv (rows with X) or .yaml (a chart with one transition per row).

    [bold]Examples[/]

      posewright chart minimise mealy_table_6_5.csv

      posewright chart minimise mealy_table_6_5.csv --method two-level -o small.chart.yaml
    """
    from posewright.charts import read_chart

    refuse_overwriting(output, chart)
    machine = read_chart(chart)
    from posewright.charts import minimise as minimised

    found = minimised(machine, method, order=order)
    if output is None and not as_json:
        show_groups(found)
    else:
        give_table(found, machine, output, as_json)


def draw(
    chart: ChartPath,
    output: Output = None,
    active: Annotated[
        str | None, typer.Option(metavar="STATE", help="Highlight this state, or several: a+b.")
    ] = None,
    labels: Annotated[
        str, typer.Option(help="auto, words, signs (01X/10) or numbers (with a key).")
    ] = "auto",
) -> None:
    """Draw the chart as SVG (FILE ends in .svg) or Mermaid text (.mmd, .md, or no FILE: to stdout).

    [bold]Examples[/]

      posewright chart draw obstacle_mealy.chart.yaml

      posewright chart draw obstacle_mealy.chart.yaml -o obstacle_mealy.svg --active walking
    """
    from posewright.charts import draw_chart, draw_mermaid, read_chart, style_called

    refuse_overwriting(output, chart)
    machine = read_chart(chart)
    if output is None:
        typer.echo(draw_mermaid(machine, active=active, style=style_called(labels)), nl=False)
    else:
        draw_chart(machine, output, active=active, labels=labels)
