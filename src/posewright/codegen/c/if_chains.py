"""Functions of C for long chains `a if c else b if d else e`, which calls of truth tables become."""

from __future__ import annotations

import re
from collections.abc import Sequence

from posewright.charts import Chart
from posewright.charts.expression import If, Tree, split_cases
from posewright.codegen.c.names import ChartNames, distinct
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element


class ChainFunctions:
    """Writes chains as functions, equal ones once.

    Attributes:
        chart: the chart.
        names: names of the chart in C.
        writer: the functions written so far.
    """

    def __init__(self, chart: Chart, names: ChartNames) -> None:
        self.chart = chart
        self.names = names
        self.writer = CWriter()
        self._calls: dict[tuple[str, ...], str] = {}
        self._status_setters: set[str] = set()  # functions that may set the status
        self._tables = distinct(f"table_{name}" for name in chart.functions)

    def call(self, tree: If, kind: str, conditions: Sequence[str], values: Sequence[str]) -> str:
        """Return the call of a function that computes a chain, having written the function at the first call.

        Args:
            tree: the chain.
            kind: the type of C of its value.
            conditions: expressions of C, in order.
            values: expressions of C, one for each condition, and the last one for no condition.
        """
        key = (kind, *conditions, *values)
        if key not in self._calls:
            name = self._name(tree)
            self._calls[key] = self._write(name, self._find_table(tree), kind, conditions, values)
        return self._calls[key]

    def _find_table(self, tree: If) -> str | None:
        """Return the truth table of the chart whose values are those of a chain; None unless there is one."""
        cases, otherwise = split_cases(tree)
        values: list[Tree] = [*(then for _, then in cases), otherwise]
        matches = [
            name
            for name, function in self.chart.functions.items()
            if [row.value.tree for row in function.rows] == values
        ]
        return matches[0] if len(matches) == 1 else None

    def _name(self, tree: If) -> str:
        """Return an unused name: of the truth table, or `choice_1` and so on."""
        used_names = {call.partition("(")[0] for call in self._calls.values()}
        table = self._find_table(tree)
        base = "choice"
        if table is not None:
            base = self._tables[f"table_{table}"]
            if base not in used_names:
                return base
        number = 1 if table is None else 2
        while f"{base}_{number}" in used_names:
            number += 1
        return f"{base}_{number}"

    def _write(
        self, name: str, table: str | None, kind: str, conditions: Sequence[str], values: Sequence[str]
    ) -> str:
        """Write a function and return the call of it; its parameters are those that its text needs.

        Args:
            name: the name of the function.
            table: the truth table of the chart that the chain is; None if it is none.
            kind: the type in C of its value.
            conditions: expressions of C, in order.
            values: expressions of C, one for each condition, and the last one for no condition.
        """
        prefix = self.names.prefix
        writer = self.writer
        text = " ".join((*conditions, *values))
        words = {*re.findall(r"\w+", text)}
        # the address of the status is passed on, or a function is called that sets it
        changes_chart = "&chart->" in text or bool(words & self._status_setters)
        if changes_chart:
            self._status_setters.add(name)
        declarations = {
            "chart": f"{'' if changes_chart else 'const '}{prefix}_t *chart",
            "in": f"const {prefix}_inputs_t *in",
        }
        arguments = [parameter for parameter in declarations if parameter in words]
        line = self.chart.functions[table].line if table is not None else None
        element = Element("function", table, line) if table is not None else None
        with writer.traced_to(element):
            if table is not None:
                place = f" (line {line})" if line else ""
                writer.line(comment(f"{table}: the row that fits, the last where none does{place}"))
            parameters = ", ".join(declarations[parameter] for parameter in arguments) or "void"
            with writer.function(f"static {kind} {name}({parameters})"):
                for condition, value in zip(conditions, values, strict=False):
                    with writer.block(f"if ({condition})"):
                        writer.line(f"return {value};")
                writer.line(f"return {values[-1]};")
        return f"{name}({', '.join(arguments)})"
