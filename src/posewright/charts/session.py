"""Charts at a Python prompt or in a notebook: written inline, run tick by tick, shown as pictures.

>>> import posewright as pw
>>> lamp = pw.chart('''
... chart: lamp
... period_s: 0.1
... inputs: {button: bool}
... outputs: {light: bool}
... initial: dark
... states:
...   dark: [{when: button, do: {light: 1}, go: bright}]
...   bright: [{when: after(2 s), do: {light: 0}, go: dark}]
... ''')
>>> session = lamp.start()
>>> session.tick(button=1).state
'bright'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any

from posewright.charts.checks import Report, inspect_chart
from posewright.charts.coverage import Coverage, cover_run
from posewright.charts.drawing import draw_svg, label_style, timeline_svg
from posewright.charts.formats import parse_any_chart, read_chart
from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.scenarios import Row, Tick
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.documents import require_ending, write_atomically
from posewright.errors import InputError, UnknownNameError


def chart(source: object) -> LiveChart:
    """Return a chart with methods to check, run and draw it.

    Args:
        source: the text of a chart in any format, the path of its file, or a Chart.

    Raises:
        PosewrightError: the text or the file is not a valid chart; with the line.
    """
    if isinstance(source, Chart):
        plain_chart = source
    elif isinstance(source, str) and _is_chart_text(source):
        plain_chart = parse_any_chart(source)
    elif isinstance(source, str | Path) and str(source).strip():
        plain_chart = read_chart(source)
    else:
        hint = "give the text of a chart, the path of its file, or a Chart"
        raise InputError(f"{source!r} is not a chart", hint=hint)
    return LiveChart(**{field.name: getattr(plain_chart, field.name) for field in fields(plain_chart)})


def _is_chart_text(source: str) -> bool:
    """Return whether a text is that of a chart, not the path of one."""
    return "\n" in source or ": " in source or source.lstrip().startswith("<")


@dataclass(frozen=True)
class Picture:
    """An SVG picture that notebooks display."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg)} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> None:
        """Write the picture to an .svg file.

        Raises:
            InputError: the path has another suffix.
            OutputError: the file cannot be written.
        """
        require_ending(Path(path), (".svg",), "a drawing")
        write_atomically(Path(path), self.svg.encode())


class LiveChart(Chart):
    """A chart with methods to check, run and draw it; it equals the Chart it was made from."""

    __hash__ = Chart.__hash__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chart):
            return False
        compared = [field.name for field in fields(self) if field.compare]
        return all(getattr(self, name) == getattr(other, name) for name in compared)

    def start(self) -> ChartSession:
        """Return a session before the first tick. The chart is not checked; use `check` for that."""
        return ChartSession(self)

    def check(self) -> Report:
        """Return the findings of the checks, and whether all states were explored."""
        return inspect_chart(self)

    def diagram(self, *, active: str | Iterable[str] | None = None, labels: str = "auto") -> Picture:
        """Return a picture of the chart.

        Args:
            active: names of states to highlight.
            labels: `auto`, `words`, `signs` or `numbers`.
        """
        return Picture(draw_svg(self, active=active, style=label_style(labels)))

    def _repr_svg_(self) -> str:
        return self.diagram().svg


class TickTable(tuple[Tick, ...]):
    """The ticks of a run, displayed as a table."""

    __slots__ = ()

    def table(self) -> list[list[str]]:
        """Return the header and one row of texts per tick; an empty list if there was no tick.

        It has a column for every input, output and local, and for the events that occurred in some tick.
        """
        if not self:
            return []
        chart = self[0].after.machine.chart
        events_occurred = [name for name in chart.events if any(tick.inputs.get(name) for tick in self)]
        input_names = [*chart.inputs, *events_occurred]
        variable_names = [*chart.outputs, *chart.locals]
        rows = [["tick", "time", *input_names, "state", *variable_names]]
        for tick_index, tick in enumerate(self):
            values = {**tick.after.outputs, **tick.after.locals}
            input_cells = [_format_value(tick.inputs.get(name, False)) for name in input_names]
            variable_cells = [_format_value(values[name]) for name in variable_names]
            time = f"{tick_index * chart.period_s:g} s"
            rows.append([str(tick_index), time, *input_cells, tick.after.state, *variable_cells])
        return rows

    def __repr__(self) -> str:
        state = f", now in {self[-1].after.state}" if self else ""
        return f"<TickTable: {len(self)} ticks{state}>"

    def __str__(self) -> str:
        table = self.table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)
        return "\n".join(lines) or "no tick yet"

    def _repr_html_(self) -> str:
        """Return the ticks as an HTML table, which a notebook displays."""
        if not self:
            return "<p>no tick yet</p>"
        html_rows = []
        for row_index, row in enumerate(self.table()):
            tag = "th" if row_index == 0 else "td"  # the first row is the header
            cells = "".join(f"<{tag}>{escape(text)}</{tag}>" for text in row)
            html_rows.append(f"<tr>{cells}</tr>")
        return f"<table>{''.join(html_rows)}</table>"


class ChartSession:
    """A run of a chart, one tick per call."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._interpreter = Interpreter(chart)
        self.restart()

    def restart(self) -> None:
        """Return to the state before the first tick, and clear the history."""
        self._snapshot = self._interpreter.initial()
        self._inputs: dict[str, Any] = {
            name: input_type.default for name, input_type in self.chart.inputs.items()
        }
        self._ticks: list[Tick] = []

    def tick(self, *events: str, **inputs: object) -> ChartSession:
        """Run one tick and return the session itself, so that a notebook displays it.

        Args:
            events: names of the events that occur in this tick.
            inputs: values of inputs that change; others keep their values, at first zero or false. A truth
                value may be 0 or 1. An event may also be given as `event=1`.

        Raises:
            UnknownNameError: there is no such input or event.
            InputError: a value is of another type, or the tick does not end.
            ExpressionError: a guard or an action divides by zero.
        """
        for name in events:
            if name not in self.chart.events:
                raise UnknownNameError.among("event", name, self.chart.events)
        row = {**self._inputs, **dict.fromkeys(events, True)}
        for name, value in inputs.items():
            row[name] = _convert_input(self._type_of(name), value)
        state_before = self._snapshot.state
        snapshot = self._interpreter.step(self._snapshot, row)
        self._inputs = {name: row[name] for name in self.chart.inputs}
        self._ticks.append(Tick(Row(row), state_before, snapshot))
        self._snapshot = snapshot
        return self

    def run(self, rows: Iterable[Mapping[str, object]]) -> ChartSession:
        """Run a tick for each row of inputs and events, and return the session itself."""
        for row in rows:
            self.tick(**row)
        return self

    def _type_of(self, name: str) -> Type:
        """Return the type of an input or an event; raise an UnknownNameError for another name."""
        if name in self.chart.inputs:
            return self.chart.inputs[name]
        if name in self.chart.events:
            return BoolType()
        raise UnknownNameError.among("input", name, [*self.chart.inputs, *self.chart.events])

    @property
    def snapshot(self) -> Snapshot:
        """The current snapshot, an immutable value."""
        return self._snapshot

    @property
    def state(self) -> str:
        """The innermost active states; those of different regions are joined by `+`."""
        return self._snapshot.state

    @property
    def active(self) -> tuple[str, ...]:
        """All active states, outer ones before inner ones."""
        return self._snapshot.active

    @property
    def outputs(self) -> Mapping[str, Value]:
        """The values of the outputs."""
        return self._snapshot.outputs

    @property
    def locals(self) -> Mapping[str, Value]:
        """The values of the locals."""
        return self._snapshot.locals

    @property
    def history(self) -> TickTable:
        """All ticks so far, displayed as a table."""
        return TickTable(self._ticks)

    def diagram(self) -> Picture:
        """Return a picture of the chart with the active states highlighted."""
        return Picture(self._repr_svg_())

    def timeline(self) -> Picture:
        """Return a picture of the run over time.

        Raises:
            InputError: there was no tick yet.
        """
        return Picture(timeline_svg(self.chart, self._ticks))

    def coverage(self) -> Coverage:
        """Return which parts of the chart the run has covered."""
        return cover_run(self.chart, [tick.row for tick in self._ticks])

    def __repr__(self) -> str:
        outputs = "".join(f", {name}={_format_value(value)}" for name, value in self.outputs.items())
        return f"<ChartSession of {self.chart.name!r}: tick {len(self._ticks)}, {self.state}{outputs}>"

    def _repr_svg_(self) -> str:
        return draw_svg(self.chart, active=self._snapshot.state if self._ticks else None)


def _convert_input(input_type: Type, value: object) -> object:
    """Return 0 and 1 as truth values for a bool input, and a text for an enumeration."""
    if isinstance(input_type, BoolType) and type(value) is int and value in (0, 1):
        return bool(value)
    return str(value) if isinstance(input_type, EnumType) else value


def _format_value(value: Value) -> str:
    """Return the text of a value; floats with six digits, truth values as 0 and 1."""
    if isinstance(value, float):
        return f"{value:g}"
    return str(int(value)) if isinstance(value, bool) else str(value)
