"""Functions of C for long chains `a if c else b if d else e`.

A call of a truth table in a chart becomes such a chain: a condition and a value for each row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from posewright.charts import Chart
from posewright.charts.expression import If, Tree, split_cases
from posewright.codegen.c.names import ChartNames, choose_identifiers
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element


class ChainFunctions:
    """Writes chains `a if c else b if d else e` as functions of C; equal chains share a function.

    Attributes:
        chart: the chart.
        names: names of the chart in C.
        writer: the functions written so far.
    """

    def __init__(self, chart: Chart, names: ChartNames) -> None:
        """Prepare the names of the functions of truth tables; no function is written yet."""
        self.chart = chart
        self.names = names
        self.writer = CWriter()
        self._call_texts: dict[tuple[str, ...], str] = {}  # by type, conditions and values of the chain
        self._status_setters: set[str] = set()  # names of written C functions that may set the status
        # the name in C of each truth table, by `table_` and its name in the chart
        self._table_names = choose_identifiers(f"table_{name}" for name in chart.functions)

    def call(self, tree: If, c_type: str, conditions: Sequence[str], values: Sequence[str]) -> str:
        """Return the C call of the function that computes a chain.

        The function is written at the first call for a chain; an equal chain calls it again.

        Args:
            tree: the chain.
            c_type: the type in C of its value.
            conditions: expressions of C, in order.
            values: expressions of C: one for each condition, then the one where no condition holds.
        """
        key = (c_type, *conditions, *values)
        if key not in self._call_texts:
            truth_table_name = self._find_truth_table(tree)
            name = self._unused_name(truth_table_name)
            self._call_texts[key] = self._write_function(name, truth_table_name, c_type, conditions, values)
        return self._call_texts[key]

    def _find_truth_table(self, tree: If) -> str | None:
        """Return the name of the chart's truth table whose values are those of a chain.

        None means that no table has these values, or that several have.
        """
        cases, otherwise = split_cases(tree)
        values: list[Tree] = [*(then for _, then in cases), otherwise]
        matches = [
            name
            for name, function in self.chart.functions.items()
            if [row.value.tree for row in function.rows] == values
        ]
        return matches[0] if len(matches) == 1 else None

    def _unused_name(self, truth_table_name: str | None) -> str:
        """Return a name for a new function.

        It is that of the truth table, then with the numbers from 2 for its further calls (with other
        arguments); or `choice_1`, `choice_2` and so on where it is None.
        """
        used_names = {call_text.partition("(")[0] for call_text in self._call_texts.values()}
        if truth_table_name is None:
            stem = "choice"
            number = 1
        else:
            stem = self._table_names[f"table_{truth_table_name}"]
            number = 2
            if stem not in used_names:
                return stem
        while f"{stem}_{number}" in used_names:
            number += 1
        return f"{stem}_{number}"

    def _write_function(
        self,
        name: str,
        truth_table_name: str | None,
        c_type: str,
        conditions: Sequence[str],
        values: Sequence[str],
    ) -> str:
        """Write the function of a chain, with only the parameters that it needs, and return the call of it.

        Args:
            name: the name of the function.
            truth_table_name: the name in the chart of the table that the chain stands for; None without one.
            c_type: the type in C of its value.
            conditions: expressions of C, in order.
            values: expressions of C: one for each condition, then the one where no condition holds.
        """
        prefix = self.names.prefix
        writer = self.writer
        text = " ".join((*conditions, *values))
        words = {*re.findall(r"\w+", text)}
        # the text passes the address of the status on, or calls a function that may set it
        changes_chart = "&chart->" in text or bool(words & self._status_setters)
        if changes_chart:
            self._status_setters.add(name)
        declarations = {
            "chart": f"{'' if changes_chart else 'const '}{prefix}_t *chart",
            "in": f"const {prefix}_inputs_t *in",
        }
        arguments = [parameter for parameter in declarations if parameter in words]
        line = None
        element = None
        if truth_table_name is not None:
            line = self.chart.functions[truth_table_name].line
            element = Element("function", truth_table_name, line)
        with writer.traced_to(element):
            if truth_table_name is not None:
                place = f" (line {line})" if line else ""
                writer.line(
                    comment(f"{truth_table_name}: the row that fits, the last where none does{place}")
                )
            parameters = ", ".join(declarations[parameter] for parameter in arguments) or "void"
            with writer.function(f"static {c_type} {name}({parameters})"):
                for condition, value in zip(conditions, values[:-1], strict=True):
                    with writer.block(f"if ({condition})"):
                        writer.line(f"return {value};")
                writer.line(f"return {values[-1]};")
        return f"{name}({', '.join(arguments)})"
