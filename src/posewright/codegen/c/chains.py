"""Long chains `a if c else b if d else e`, as truth tables that are called become: each a function of C."""

from __future__ import annotations

import re
from collections.abc import Sequence

from posewright.charts import Chart
from posewright.charts.expression import If, Tree, split_cases
from posewright.codegen.c.names import ChartNames, distinct
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element


class ChainFunctions:
    """Writes chains as functions; one that occurs several times is written once.

    Attributes:
        writer: what was written.
    """

    def __init__(self, chart: Chart, names: ChartNames) -> None:
        self.chart = chart
        self.names = names
        self.writer = CWriter()
        self._written: dict[tuple[str, ...], str] = {}
        self._notes: set[str] = set()
        self._tables = distinct(f"table_{name}" for name in chart.functions)

    def call(self, tree: If, kind: str, conditions: Sequence[str], values: Sequence[str]) -> str:
        """Return the call that stands for a chain.

        Args:
            tree: the chain.
            kind: the type of C of its value.
            conditions: as C, in order.
            values: as C: one for each condition, and what is left.
        """
        key = (kind, *conditions, *values)
        if key not in self._written:
            name = self._name(tree)
            self._written[key] = self._write(name, self._function_of(tree), kind, conditions, values)
        return self._written[key]

    def _function_of(self, tree: If) -> str | None:
        """Return the truth table of the chart that a chain comes from, as far as its values tell."""
        cases, rest = split_cases(tree)
        gives: list[Tree] = [*(then for _, then in cases), rest]
        fitting = [
            name
            for name, function in self.chart.functions.items()
            if [row.give.tree for row in function.rows] == gives
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _name(self, tree: If) -> str:
        table = self._function_of(tree)
        wanted = self._tables[f"table_{table}"] if table is not None else "choice"
        used = {call.partition("(")[0] for call in self._written.values()}
        number = 1
        while (name := wanted if number == 1 and table else f"{wanted}_{number}") in used:
            number += 1
        return name

    def _write(
        self, name: str, table: str | None, kind: str, conditions: Sequence[str], values: Sequence[str]
    ) -> str:
        """Write a function and return the call of it."""
        prefix, writer = self.names.prefix, self.writer
        text = " ".join((*conditions, *values))
        words = {*re.findall(r"\w+", text)}
        notes = "&chart->" in text or bool(words & self._notes)
        if notes:
            self._notes.add(name)
        takes = {
            "chart": f"{'' if notes else 'const '}{prefix}_t *chart",
            "in": f"const {prefix}_inputs_t *in",
        }
        wanted = [parameter for parameter in takes if parameter in words]
        line = self.chart.functions[table].line if table is not None else None
        element = Element("function", table, line) if table is not None else None
        with writer.about(element):
            if table is not None:
                place = f" (line {line})" if line else ""
                writer.line(comment(f"{table}: the row that fits, the last where none does{place}"))
            parameters = ", ".join(takes[parameter] for parameter in wanted) or "void"
            with writer.function(f"static {kind} {name}({parameters})"):
                for condition, value in zip(conditions, values, strict=False):
                    with writer.block(f"if ({condition})"):
                        writer.line(f"return {value};")
                writer.line(f"return {values[-1]};")
        return f"{name}({', '.join(wanted)})"
