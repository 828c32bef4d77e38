"""A chart at a Python prompt or in a notebook: written in place, run tick by tick, shown as pictures.

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
from posewright.documents import write_atomically
from posewright.errors import InputError, UnknownNameError


def chart(source: object) -> LiveChart:
    """Return a chart whose verbs are methods.

    Args:
        source: its text or the name of its file, in any form that is read, or a chart at hand.

    Raises:
        PosewrightError: the text, or the file, is not a chart; says the line.
    """
    if isinstance(source, str) and ("\n" in source or ": " in source or source.lstrip().startswith("<")):
        source = parse_any_chart(source)
    elif not isinstance(source, Chart):
        if not isinstance(source, str | Path) or not str(source).strip():
            raise InputError(
                f"{source!r} is no chart", hint="give its text, the name of its file, or a chart"
            )
        source = read_chart(source)
    return LiveChart(**{one.name: getattr(source, one.name) for one in fields(source)})


@dataclass(frozen=True)
class Picture:
    """A picture that a notebook shows, and that can be saved."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg)} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> None:
        """Write the picture into an .svg file.

        Raises:
            InputError: another ending.
            OutputError: the file cannot be written.
        """
        if Path(path).suffix.lower() != ".svg":
            raise InputError(f"cannot draw into {path}", hint="the name ends in .svg")
        write_atomically(Path(path), self.svg.encode())


class LiveChart(Chart):
    """A chart whose verbs are methods; it equals the plain one."""

    __hash__ = Chart.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chart) and all(
            getattr(self, one.name) == getattr(other, one.name) for one in fields(self) if one.compare
        )

    def start(self) -> ChartSession:
        """Return a session that stands before the first tick. It need not be sound: `check` tells."""
        return ChartSession(self)

    def check(self) -> Report:
        """Return what `check_chart` finds, and whether everything was explored."""
        return inspect_chart(self)

    def diagram(self, *, active: str | Iterable[str] | None = None, labels: str = "auto") -> Picture:
        """Return the chart as a picture.

        Args:
            active: states to be highlighted.
            labels: `auto`, `words`, `signs` or `numbers`.
        """
        return Picture(draw_svg(self, active=active, style=label_style(labels)))

    def _repr_svg_(self) -> str:
        return self.diagram().svg


class TickTable(tuple[Tick, ...]):
    """The ticks of a run, shown as a table."""

    __slots__ = ()

    def table(self) -> list[list[str]]:
        """Return its heading and a row for each tick, all as text."""
        if not self:
            return []
        chart = self[0].after.machine.chart
        events = [name for name in chart.events if any(tick.inputs.get(name) for tick in self)]
        given, kept = [*chart.inputs, *events], [*chart.outputs, *chart.locals]
        lines = [["tick", "time", *given, "state", *kept]]
        for number, tick in enumerate(self):
            held = {**tick.after.outputs, **tick.after.locals}
            values = [_shown(tick.inputs.get(name, False)) for name in given]
            time = f"{number * chart.period_s:g} s"
            lines.append(
                [str(number), time, *values, tick.after.state, *(_shown(held[name]) for name in kept)]
            )
        return lines

    def __repr__(self) -> str:
        return f"<Run: {len(self)} ticks{f', now in {self[-1].after.state}' if self else ''}>"

    def __str__(self) -> str:
        table = self.table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)
        return "\n".join(lines) or "no tick yet"

    def _repr_html_(self) -> str:
        cells = ("th", *("td" for _ in self))
        rows = (
            "".join(f"<{cell}>{escape(text)}</{cell}>" for text in line)
            for cell, line in zip(cells, self.table(), strict=False)
        )
        return (
            f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>" if self else "<p>no tick yet</p>"
        )


class ChartSession:
    """A run of a chart that goes on as long as somebody asks for another tick."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._interpreter = Interpreter(chart)
        self.restart()

    def restart(self) -> None:
        """Stand before the first tick again, and forget the run."""
        self._snapshot = self._interpreter.initial()
        self._inputs: dict[str, Any] = {name: kind.default for name, kind in self.chart.inputs.items()}
        self._ticks: list[Tick] = []

    def tick(self, *events: str, **inputs: object) -> ChartSession:
        """Take one tick and return the session itself, so that a notebook shows where it stands.

        Args:
            events: that come in this tick.
            inputs: that change; the others stay as they were, at first zero or false. 0 and 1 will do for a
                truth value. An event may also be given as `event=1`.

        Raises:
            UnknownNameError: there is no such input or event.
            InputError: a value is of another type, or the tick does not end.
            ExpressionError: a guard or an action divides by zero.
        """
        for name in events:
            if name not in self.chart.events:
                raise UnknownNameError.among("event", name, self.chart.events)
        row = {**self._inputs, **dict.fromkeys(events, True)}
        row |= {name: _plain(self._type(name), value) for name, value in inputs.items()}
        before, after = self._snapshot.state, self._interpreter.step(self._snapshot, row)
        self._inputs = {name: row[name] for name in self.chart.inputs}
        self._ticks.append(Tick(Row(row), before, after))
        self._snapshot = after
        return self

    def run(self, rows: Iterable[Mapping[str, object]]) -> ChartSession:
        """Take a tick for each row of inputs and events."""
        for row in rows:
            self.tick(**row)
        return self

    def _type(self, name: str) -> Type:
        if name in self.chart.inputs:
            return self.chart.inputs[name]
        if name in self.chart.events:
            return BoolType()
        raise UnknownNameError.among("input", name, [*self.chart.inputs, *self.chart.events])

    @property
    def snapshot(self) -> Snapshot:
        """Where the chart stands: a value, to be kept and compared."""
        return self._snapshot

    @property
    def state(self) -> str:
        """The innermost active states, joined by `+` where there are regions."""
        return self._snapshot.state

    @property
    def active(self) -> tuple[str, ...]:
        """All active states, outer ones before inner ones."""
        return self._snapshot.active

    @property
    def outputs(self) -> Mapping[str, Value]:
        """What the outputs hold."""
        return self._snapshot.outputs

    @property
    def locals(self) -> Mapping[str, Value]:
        """What the locals hold."""
        return self._snapshot.locals

    @property
    def history(self) -> TickTable:
        """All ticks so far; a notebook shows them as a table."""
        return TickTable(self._ticks)

    def diagram(self) -> Picture:
        """Return the chart as a picture in which the active states are highlighted."""
        return Picture(self._repr_svg_())

    def timeline(self) -> Picture:
        """Return the run as a picture over time.

        Raises:
            InputError: there was no tick yet.
        """
        return Picture(timeline_svg(self.chart, self._ticks))

    def coverage(self) -> Coverage:
        """Return what the run has covered of the chart."""
        return cover_run(self.chart, [tick.row for tick in self._ticks])

    def __repr__(self) -> str:
        held = "".join(f", {name}={_shown(value)}" for name, value in self.outputs.items())
        return f"<Session of {self.chart.name!r}: tick {len(self._ticks)}, {self.state}{held}>"

    def _repr_svg_(self) -> str:
        return draw_svg(self.chart, active=self._snapshot.state if self._ticks else None)


def _plain(kind: Type, value: object) -> object:
    """Return 0 and 1 as truth values where one is wanted."""
    if isinstance(kind, BoolType) and type(value) is int and value in (0, 1):
        return bool(value)
    return str(value) if isinstance(kind, EnumType) else value


def _shown(value: Value) -> str:
    """Return a value as charts write it."""
    if isinstance(value, float):
        return f"{value:g}"
    return str(int(value)) if isinstance(value, bool) else str(value)
