"""`posewright chart`: state machines checked, compared, tabulated, reduced, drawn and converted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from posewright import charts
from posewright.cli.chart_run import CHART_HELP, TABULATED_ENDINGS, ChartPath, run, write_rows, write_table
from posewright.cli.chart_try import cover, coverage, mutate, run_tests
from posewright.cli.console import print_document, print_item, print_line, print_note, print_result, spinner
from posewright.cli.options import (
    EXIT_FAILURE,
    TABLE,
    TABLE_ENDINGS,
    AsJson,
    Output,
    add_group,
    add_verb,
    argument,
    option,
    require_distinct_output,
    require_output_file,
)
from posewright.errors import PosewrightError

EXIT_UNDECIDED = 3  # exit code if it could not be decided whether two charts behave alike


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "chart")
    add_verb(group, "check", check, python_equivalents="check_chart")
    add_verb(group, "run", run, python_equivalents="run_chart draw_timeline")
    add_verb(group, "test", run_tests, python_equivalents="run_scenarios")
    add_verb(group, "coverage", coverage, python_equivalents="coverage_of")
    add_verb(group, "cover", cover, python_equivalents="cover_chart")
    add_verb(group, "mutate", mutate, python_equivalents="mutate_chart")
    add_verb(group, "diff", diff, python_equivalents="compare_charts")
    add_verb(group, "draw", draw, python_equivalents="draw_chart")
    add_verb(group, "table", table, python_equivalents="tabulate_chart")
    add_verb(group, "minimise", minimise, python_equivalents="minimise_chart")
    add_verb(group, "convert", convert, python_equivalents="write_chart")


def check(
    chart_path: ChartPath,
    strict: Annotated[bool, option("--strict", "Exit with 1 for warnings too.")] = False,
    witness_folder: Annotated[
        Path | None,
        option(
            "--witness FOLDER",
            "Write the inputs that reproduce each finding as CSV, for `chart run --inputs`.",
        ),
    ] = None,
    within_s: Annotated[
        float, option("--within SECONDS", "Stop after this time and report what is proved by then.")
    ] = 20.0,
    as_json: AsJson = False,
) -> None:
    """Prove that a chart is sound, or list its faults, each with inputs that reproduce it.

    Finds overlapping guards, missing cases, states that are never reached or never left, endless loops,
    values out of range, overflow, division by zero, resources left on, and broken promises of the chart.
    Exits with 1 if there is an error, with 2 if the file cannot be read.

    [bold]Examples[/]
      posewright chart check obstacle_mealy.chart.yaml
      posewright chart check sumo.chart.yaml --witness out/witnesses
      posewright chart check mealy_table_6_5.csv --json
    """
    chart = charts.read_chart(chart_path)
    _print_ignored_transitions(chart)
    with spinner(f"proving {chart.name} ...", quiet=as_json):
        report = charts.inspect_chart(chart, within_s=within_s)
    witness_paths: dict[int, Path] = {}
    if witness_folder is not None:
        witness_paths = _write_witnesses(chart, report.findings, witness_folder)
    print_result(report.to_dict(witness_paths), report.lines(witness_paths), as_json=as_json)
    levels = {finding.level.value for finding in report.findings}
    if "error" in levels or (strict and "warning" in levels):
        raise typer.Exit(EXIT_FAILURE)


def _print_ignored_transitions(chart: charts.Chart) -> None:
    """Print a note for each transition of an SCXML document that the chart does not have."""
    if chart.document_markup is not None:
        for transition in chart.document_markup.ignored_transitions:
            print_note(str(transition))


def _write_witnesses(
    chart: charts.Chart, findings: Sequence[charts.Finding], folder: Path
) -> dict[int, Path]:
    """Write the inputs that reproduce each finding into a folder; return the files by the finding's index."""
    paths: dict[int, Path] = {}
    for index, finding in enumerate(findings):
        if finding.trace:
            paths[index] = folder / f"{index + 1:02d}_{finding.rule.value}.csv"
            write_rows(chart, finding.trace, paths[index])
    return paths


def table(chart_path: ChartPath, output: Output = None, as_json: AsJson = False) -> None:
    """Write the truth table: every state with every combination of inputs.

    The columns are those of the source document. FILE may end in .csv (a table) or .yaml (a chart with one
    transition per row).

    [bold]Examples[/]
      posewright chart table obstacle_mealy.chart.yaml > table.csv
      posewright chart table table.csv -o table.chart.yaml
    """
    require_output_file(output, TABLE, TABULATED_ENDINGS, chart_path)
    chart = charts.read_chart(chart_path)
    write_table(charts.tabulate_chart(chart), chart, output, as_json=as_json)


def minimise(
    chart_path: ChartPath,
    method: Annotated[
        str,
        option(
            "--method NAME",
            "junctions: decide on one input at a time; rows never overlap. "
            "two-level: as few rows as possible, in any order; needs the extra 'charts'.",
        ),
    ] = "junctions",
    order: Annotated[
        str | None,
        option(
            "--order NAMES",
            "Order in which junctions test the inputs: w,v,u, or 'best'. Default: that of the columns.",
        ),
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
    require_output_file(output, TABLE, TABULATED_ENDINGS, chart_path)
    chart = charts.read_chart(chart_path)
    reduced_table = charts.minimise(chart, method, order=order)
    if output is None and not as_json:
        _print_by_states(reduced_table)
    else:
        write_table(reduced_table, chart, output, as_json=as_json)


def _print_by_states(truth_table: charts.TruthTable) -> None:
    """Print rows grouped by the states that share them, as the UC3M thesis does."""
    form = truth_table.table_form
    print_line(f"{' '.join(form.input_of_column)} / {' '.join(form.output_of_column)} -> next state")
    for states, rows in charts.grouped(truth_table).items():
        print_line(f"{'states' if len(states) > 1 else 'state'} {' and '.join(states)}")
        for row in rows:
            print_line(f"  {row} -> {row.next_state}")
    print_line(f"{len(truth_table.rows)} rows")


def draw(
    chart_path: ChartPath,
    output: Output = None,
    active: Annotated[str | None, option("--active STATE", "Highlight this state, or several: a+b.")] = None,
    labels: Annotated[
        str,
        option(
            "--labels KIND",
            "How transitions are labelled: words, signs (01X/10), numbers (with a key), or auto.",
        ),
    ] = "auto",
) -> None:
    """Draw the chart as SVG (FILE ends in .svg) or Mermaid text (.mmd, .md, or no FILE: to stdout).

    [bold]Examples[/]
      posewright chart draw obstacle_mealy.chart.yaml
      posewright chart draw obstacle_mealy.chart.yaml -o obstacle_mealy.svg --active walking
    """
    require_distinct_output(output, chart_path)
    chart = charts.read_chart(chart_path)
    if output is None:
        print_document(charts.draw_mermaid(chart, active=active, style=charts.label_style(labels)))
    else:
        charts.draw_chart(chart, output, active=active, labels=labels)


def convert(
    chart_path: ChartPath,
    output: Annotated[Path, option("--output -o FILE", "Where to write.")],
    accept_loss: Annotated[
        bool,
        option("--accept-loss", "Read what is supported of an SCXML document, and list what is left out."),
    ] = False,
) -> None:
    """Write a chart in another format, by FILE's ending: .yaml (native), .scxml, .csv (transition table).

    If the format cannot express a feature of the chart, the feature is named and nothing is written. For
    truth tables see `chart table`, for pictures `chart draw`. Of another tool's SCXML document, everything
    that would be lost is listed, and with --accept-loss the rest is written.

    [bold]Examples[/]
      posewright chart convert traffic.chart.yaml -o traffic.scxml
      posewright chart convert downloaded.scxml -o mine.chart.yaml --accept-loss
    """
    require_distinct_output(output, chart_path)
    try:
        chart = charts.read_chart(chart_path)
    except PosewrightError:
        if chart_path.suffix.lower() not in (".scxml", ".xml"):
            raise
        partial_chart = charts.read_scxml_partially(chart_path)
        print_item(partial_chart.table())
        if not accept_loss:
            raise
        chart = partial_chart.chart
    charts.write_chart(chart, output)
    markup = chart.document_markup
    _print_ignored_transitions(chart)
    if markup is not None:
        for loss in markup.losses:
            print_note(f"markup of another tool is not kept: {loss}")
    if markup is not None and markup.n_kept and output.suffix.lower() not in (".scxml", ".xml"):
        prefixes = ", ".join(markup.namespaces)
        print_note(
            f"{markup.n_kept} elements and attributes of other tools ({prefixes}) are not written: "
            f"only .scxml can hold them, not {output.suffix}"
        )
    if output.suffix.lower() in (".scxml", ".xml"):
        for feature in charts.beyond_scxml(chart):
            print_note(f"other SCXML tools do not run this as Posewright does: {feature}")


def diff(
    chart_path: ChartPath,
    other_path: Annotated[Path, argument("OTHER", CHART_HELP)],
    every_state: Annotated[
        bool,
        option("--every-state", "Compare from each state name that both have, even if it is unreachable."),
    ] = False,
    output: Annotated[
        Path | None,
        option("--output -o FILE", "Write the inputs that tell them apart as CSV, for `chart run --inputs`."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove that two charts behave alike, or show the shortest input that tells them apart.

    Two charts behave alike if the same inputs give the same outputs on every tick. Exits with 0 if they do,
    with 1 if they differ, with 3 if it could not be decided.

    [bold]Examples[/]
      posewright chart diff obstacle_mealy.chart.yaml mealy_table_6_5.csv --every-state
      posewright chart diff before.chart.yaml after.chart.yaml -o apart.csv
    """
    require_output_file(output, TABLE, TABLE_ENDINGS, chart_path, other_path)
    first = charts.read_chart(chart_path)
    second = charts.read_chart(other_path)
    with spinner(f"comparing {first.name} with {second.name} ...", quiet=as_json):
        comparison = charts.equivalent(first, second, every_state=every_state)
    if output is not None and comparison.counterexample:
        write_rows(first, comparison.counterexample, output)
    print_result(comparison.to_dict(first, second), comparison.lines(first, second), as_json=as_json)
    if comparison.equal is None:
        raise typer.Exit(EXIT_UNDECIDED)
    if not comparison.equal:
        raise typer.Exit(EXIT_FAILURE)
