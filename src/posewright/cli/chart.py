"""`posewright chart`: check, tabulate, minimise, draw and run state machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.chart_output import FOUND, give_table, give_ticks, show_findings, show_groups
from posewright.cli.console import emit_json
from posewright.cli.options import AsJson, Output, refuse_overwriting
from posewright.errors import InputError

ChartPath = Annotated[
    Path,
    typer.Argument(metavar="CHART", help="A *.chart.yaml, or a truth table as CSV: told apart by content."),
]


def register(app: typer.Typer) -> None:
    """Add the verb `chart` and what it can do."""
    group = typer.Typer(
        help="State machines: check, tabulate, minimise, draw, run.",
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    for command in (check, table, minimise, draw, run):
        group.command()(command)
    app.add_typer(group, name="chart")


def check(chart: ChartPath, as_json: AsJson = False) -> None:
    """Look for overlaps, gaps, unreachable states and more; each with the case that shows it.

    Exits with 1 where there is an error, with 2 where the file does not read.

    [bold]Examples[/]

      posewright chart check obstacle_mealy.chart.yaml

      posewright chart check mealy_table_6_5.csv --json
    """
    from posewright.charts import Level, check_chart, read_chart

    machine = read_chart(chart)
    findings = check_chart(machine)
    sound = all(finding.level is not Level.ERROR for finding in findings)
    if as_json:
        emit_json(
            {"chart": machine.name, "sound": sound, "findings": [finding.data() for finding in findings]}
        )
    else:
        show_findings(machine, findings, sound)
    if not sound:
        raise typer.Exit(FOUND)


def table(chart: ChartPath, output: Output = None, as_json: AsJson = False) -> None:
    """Write the truth table: every state with every combination of inputs, in the source's columns.

    FILE may end in .csv (a table) or .yaml (a chart with one transition per row).

    [bold]Examples[/]

      posewright chart table obstacle_mealy.chart.yaml > table.csv

      posewright chart table table.csv -o table.chart.yaml
    """
    from posewright.charts import read_chart, tabulate_chart

    refuse_overwriting(output, chart)
    machine = read_chart(chart)
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
    from posewright.charts import minimise as minimised
    from posewright.charts import read_chart

    refuse_overwriting(output, chart)
    machine = read_chart(chart)
    found = minimised(machine, method, order=order)
    if output is None and not as_json:
        show_groups(found)
    else:
        give_table(found, machine, output, as_json)


def draw(
    chart: ChartPath,
    output: Output = None,
    active: Annotated[str | None, typer.Option(metavar="STATE", help="Highlight this state.")] = None,
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


def run(
    chart: ChartPath,
    inputs: Annotated[Path | None, typer.Option(metavar="CSV", help="A row of inputs per tick.")] = None,
    typed: Annotated[
        list[str] | None, typer.Option("--input", metavar="front=1,left=0", help="One tick; repeat for more.")
    ] = None,
    start: Annotated[str | None, typer.Option("--from", metavar="STATE", help="Start in this state.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every state with every input, as a table.")] = False,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Run the chart over rows of inputs; an unsound chart is refused with its counterexample.

    A file of inputs has a column per input. With columns of the state (q1,q0 or state) every row starts
    afresh in that state; with columns of the next state and the outputs these are compared, and a
    difference exits with 1.

    [bold]Examples[/]

      posewright chart run obstacle_mealy.chart.yaml --input front=1 --input left=1,right=1

      posewright chart run obstacle_mealy.chart.yaml --inputs ticks.csv --json

      posewright chart run mealy_table_6_5.csv --all
    """
    from posewright.charts import read_chart, run_chart, tabulate_chart

    refuse_overwriting(output, chart, inputs)
    machine = read_chart(chart)
    if every:
        if inputs or typed or start:
            raise InputError("--all starts everywhere and takes every input", hint="leave the others out")
        give_table(tabulate_chart(machine), machine, output, as_json)
        return
    if (inputs is None) == (not typed):
        raise InputError("which inputs?", hint="give --inputs FILE.csv, or --input front=1, or --all")
    give_ticks(machine, run_chart(machine, inputs or typed or [], start=start), output, as_json)
