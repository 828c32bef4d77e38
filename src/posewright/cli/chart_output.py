"""What `posewright chart` shows and writes: findings, tables and ticks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from posewright.cli.console import emit_json, fail, out

if TYPE_CHECKING:
    from posewright.charts import Chart, Finding, Tick, TruthTable

FOUND = 1
"""Exit code where a check found an error, or a run came out otherwise than expected."""


def show_findings(machine: Chart, findings: tuple[Finding, ...], sound: bool) -> None:
    """Print findings, one a line, and the verdict."""
    colours = {"error": "red", "warning": "yellow", "note": "cyan"}
    for finding in findings:
        level = finding.level.value
        place = f"{machine.path}:{finding.line}: " if finding.line else f"{machine.path}: "
        out.print(
            f"{place}[{colours[level]}]{level}[/] {finding.rule.value}: ",
            end="",
            soft_wrap=True,
            highlight=False,
        )
        _say(finding.message)
    transitions = sum(len(state.transitions) for state in machine.states)
    verdict = "sound" if sound else "refused"
    _say(f"{machine.name}: {len(machine.states)} states, {transitions} transitions: {verdict}")


def show_groups(table: TruthTable) -> None:
    """Print rows by the states that share them, as the source document prints them."""
    from posewright.charts.truth_table import grouped

    form = table.form
    _say(f"{' '.join(form.inputs)} / {' '.join(form.outputs)} -> next state")
    for states, rows in grouped(table).items():
        _say(f"{'states' if len(states) > 1 else 'state'} {' and '.join(states)}")
        for row in rows:
            _say(f"  {row} -> {row.go}")
    _say(f"{len(table.rows)} rows")


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
    """Write ticks to a file, as JSON or as a list; exit with 1 where a row expected something else."""
    records = [_record(machine, number, tick) for number, tick in enumerate(ticks)]
    wrong = [record for record in records if record.get("differs")]
    if output is not None:
        from posewright.documents import write_atomically

        write_atomically(output, "".join(f"{','.join(line)}\n" for line in _lines(machine, records)).encode())
    if as_json:
        emit_json(
            {"chart": machine.name, "period_s": machine.period_s, "ticks": records, "differences": len(wrong)}
        )
    elif output is None:
        _show_lines(_lines(machine, records))
    for record in wrong[:5]:
        fail(
            f"line {record['line']}: expected {record['differs']}, got {record['state']} {record['outputs']}"
        )
    if wrong:
        raise typer.Exit(FOUND)


def _record(machine: Chart, number: int, tick: Tick) -> dict[str, Any]:
    record: dict[str, Any] = {
        "tick": number,
        "time_s": round(number * machine.period_s, 9),
        "from": tick.before,
        "inputs": {name: tick.row.inputs[name] for name in machine.inputs},
        "state": tick.after.state,
        "outputs": dict(tick.after.outputs),
    }
    if tick.row.expected:
        record |= {"line": tick.row.line, "differs": tick.differs}
    return record


def _lines(machine: Chart, records: list[dict[str, Any]]) -> list[list[str]]:
    from posewright.charts.finding import show

    head = ["tick", "time_s", "from", *machine.inputs, "state", *machine.outputs]
    body = [
        [
            str(record["tick"]),
            f"{record['time_s']:g}",
            record["from"],
            *(show(value) for value in record["inputs"].values()),
            record["state"],
            *(show(record["outputs"][name]) for name in machine.outputs),
        ]
        for record in records
    ]
    return [head, *body]


def _show_lines(lines: list[list[str]]) -> None:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        _say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _say(text: str) -> None:
    out.print(text, markup=False, highlight=False, soft_wrap=True)
