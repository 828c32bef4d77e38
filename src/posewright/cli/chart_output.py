"""What `posewright chart` shows and writes: findings, tables and ticks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from posewright.cli.console import emit_json, fail, out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from posewright.charts import Chart, Finding, Report, Tick, TruthTable, Value

FOUND = 1
"""Exit code where a check found an error, or a run came out otherwise than expected."""


def show_findings(machine: Chart, report: Report, sound: bool, written: Mapping[int, Path]) -> None:
    """Print findings, one a line, and the verdict."""
    colours = {"error": "red", "warning": "yellow", "note": "cyan"}
    for number, finding in enumerate(report.findings):
        level = finding.level.value
        place = f"{machine.path}:{finding.line}: " if finding.line else f"{machine.path}: "
        out.print(
            f"{escape(place)}[{colours[level]}]{level}[/] {finding.rule.value}: ",
            end="",
            soft_wrap=True,
            highlight=False,
        )
        say(finding.message)
        if number in written:
            say(f"    shown by {written[number]}")
    transitions = sum(1 for state in machine.every_state for _ in state.transitions)
    how = "proved" if report.complete else "as far as could be proved"
    verdict = f"sound, {how}" if sound else "refused"
    say(f"{machine.name}: {len(machine.every_state)} states, {transitions} transitions: {verdict}")


def report_data(machine: Chart, report: Report, sound: bool, written: Mapping[int, Path]) -> dict[str, Any]:
    """Return what a check found as plain data."""
    findings = [
        finding.data() | ({"witness": str(written[number])} if number in written else {})
        for number, finding in enumerate(report.findings)
    ]
    return {"chart": machine.name, "sound": sound, "proved": report.complete, "findings": findings}


def write_witnesses(machine: Chart, findings: Sequence[Finding], folder: Path) -> dict[int, Path]:
    """Write the inputs that show each finding into a folder; return the file of each by its number."""
    written: dict[int, Path] = {}
    for number, finding in enumerate(findings):
        if finding.trace:
            written[number] = folder / f"{number + 1:02d}_{finding.rule.value}.csv"
            write_rows(machine, finding.trace, written[number])
    return written


def write_rows(machine: Chart, rows: Sequence[Mapping[str, Value]], path: Path) -> None:
    """Write rows of inputs as CSV, a column for each input and event."""
    from posewright.charts.finding import show
    from posewright.documents import write_atomically

    path.parent.mkdir(parents=True, exist_ok=True)
    names = (*machine.inputs, *machine.events)
    lines = [names, *([show(row.get(name, False)) for name in names] for row in rows)]
    write_atomically(path, "".join(f"{','.join(line)}\n" for line in lines).encode())


def show_groups(table: TruthTable) -> None:
    """Print rows by the states that share them, as the source document prints them."""
    from posewright.charts.truth_table import grouped

    form = table.form
    say(f"{' '.join(form.inputs)} / {' '.join(form.outputs)} -> next state")
    for states, rows in grouped(table).items():
        say(f"{'states' if len(states) > 1 else 'state'} {' and '.join(states)}")
        for row in rows:
            say(f"  {row} -> {row.go}")
    say(f"{len(table.rows)} rows")


def give_table(table: TruthTable, machine: Chart, output: Path | None, as_json: bool) -> None:
    """Write a table to a file, as JSON, or as CSV on stdout."""
    from posewright.charts import chart_of, save_chart, save_table
    from posewright.charts.truth_table import grouped

    if output is not None:
        if output.suffix.lower() in (".yaml", ".yml"):
            save_chart(chart_of(table, like=machine), output)
        else:
            save_table(table, output)
    if as_json:
        cells = [table.cells(row) for row in table.rows]
        rows = [
            {"state": row.state, "row": str(row), "next": row.go, "cells": line}
            for row, line in zip(table.rows, cells, strict=True)
        ]
        groups = [
            {"states": list(states), "rows": [str(row) for row in shared]}
            for states, shared in grouped(table).items()
        ]
        emit_json({"chart": table.name, "columns": list(table.form.columns), "rows": rows, "groups": groups})
    elif output is None:
        typer.echo(table.csv(), nl=False)


def give_ticks(machine: Chart, ticks: tuple[Tick, ...], output: Path | None, as_json: bool) -> None:
    """Write ticks to a file, as JSON or as a list; exit with 1 where something else was expected."""
    broken = broken_promises(machine, ticks)
    records = [_record(machine, number, tick) for number, tick in enumerate(ticks)]
    wrong = [record for record in records if record.get("differs")]
    if output is not None:
        from posewright.documents import write_atomically

        write_atomically(output, "".join(f"{','.join(line)}\n" for line in _lines(machine, records)).encode())
    if as_json:
        emit_json(
            {
                "chart": machine.name,
                "period_s": machine.period_s,
                "ticks": records,
                "differences": len(wrong),
                "broken_promises": broken,
            }
        )
    elif output is None:
        _show_lines(_lines(machine, records))
    for record in wrong[:5]:
        fail(
            f"line {record['line']}: expected {record['differs']}, got {record['state']} {record['outputs']}"
        )
    for one in broken[:5]:
        fail(f"tick {one['tick']}: {one['message']}")
    if wrong or broken:
        raise typer.Exit(FOUND)


def broken_promises(machine: Chart, ticks: Sequence[Tick]) -> list[dict[str, Any]]:
    """Return the promises that a run breaks, each with its tick."""
    from posewright.charts import Watch

    if not machine.promises:
        return []
    watch = Watch(machine)
    return [
        {"tick": number, "promise": broken.promise.name, "message": broken.message}
        for number, tick in enumerate(ticks)
        for broken in watch.see(tick.row.inputs, tick.after)
    ]


def _record(machine: Chart, number: int, tick: Tick) -> dict[str, Any]:
    record: dict[str, Any] = {
        "tick": number,
        "time_s": round(number * machine.period_s, 9),
        "from": tick.before,
        "inputs": {name: tick.row.inputs[name] for name in machine.inputs},
        "state": tick.after.state,
        "outputs": dict(tick.after.outputs),
    }
    if machine.events:
        record["events"] = [name for name in machine.events if tick.row.inputs.get(name)]
    if not machine.is_flat:
        record["active"] = list(tick.after.active)
    if machine.locals:
        record["locals"] = dict(tick.after.locals)
    if tick.row.expected:
        record |= {"line": tick.row.line, "differs": tick.differs}
    return record


def _lines(machine: Chart, records: list[dict[str, Any]]) -> list[list[str]]:
    from posewright.charts.finding import show

    head = [
        "tick",
        "time_s",
        "from",
        *machine.inputs,
        *machine.events,
        "state",
        *machine.outputs,
        *machine.locals,
    ]
    body = [
        [
            str(record["tick"]),
            f"{record['time_s']:g}",
            record["from"],
            *(show(value) for value in record["inputs"].values()),
            *(show(name in record["events"]) for name in machine.events),
            record["state"],
            *(show(record["outputs"][name]) for name in machine.outputs),
            *(show(record["locals"][name]) for name in machine.locals),
        ]
        for record in records
    ]
    return [head, *body]


def _show_lines(lines: list[list[str]]) -> None:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def say(text: str) -> None:
    """Print a line as it stands."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)
