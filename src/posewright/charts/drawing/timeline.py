"""A run of a chart as a picture over time: its states, its inputs and its outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from posewright.charts.drawing.lanes_svg import (
    IN_BAR,
    Lane,
    Ruler,
    bars,
    curve,
    legend,
    legend_rows,
    spikes,
    steps,
    tints_of,
    unnamed,
)
from posewright.charts.drawing.levels import levels_of
from posewright.charts.drawing.nested.metrics import text_width
from posewright.charts.drawing.pen import INK, TITLE_FONT, page, path, text
from posewright.charts.model import Chart
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.documents import write_atomically
from posewright.errors import InputError

PER_TICK, NARROW, WIDE = 24.0, 460.0, 1000.0
"""Width of a tick where there are few, and of all together at least and at most [px]."""

BAR, STEP, CURVE, EVENT, HEADING, LEGEND = 22.0, 20.0, 40.0, 18.0, 24.0, 16.0
"""Heights of lanes, and of the headings between them [px]."""

MARGIN, HEAD, AXIS, RIGHT = 20.0, 46.0, 34.0, 66.0
"""Room at the left, at the top, for the time axis, and for numbers at the right [px]."""

LABEL_ROOM = 74.0
"""Least distance between two times on the axis [px]."""

STYLE = f"""
  .bar {{ stroke: {INK}; stroke-width: 0.6; }}
  .thin {{ stroke: none; }}
  .in-bar {{ font-size: {IN_BAR:g}px; }}
  .in-legend {{ font-size: {IN_BAR:g}px; text-anchor: start; }}
  .wave {{ fill: none; stroke: {INK}; stroke-width: 1.3; }}
  .high {{ fill: #2f6f9f; fill-opacity: 0.22; }}
  .spike {{ fill: none; stroke: {INK}; stroke-width: 1.4; }}
  .base, .grid {{ fill: none; stroke: #c5ced6; stroke-width: 0.8; }}
  .axis {{ fill: none; stroke: {INK}; stroke-width: 1.2; }}
  .scale {{ font-size: 10px; text-anchor: start; }}
  .time {{ font-size: 11px; }}
  .lane {{ font-size: 12px; text-anchor: end; }}
  .heading {{ font-size: 12px; font-weight: 600; text-anchor: start; }}
"""


class Moment(Protocol):
    """One tick of a run, as it stands at its end."""

    @property
    def inputs(self) -> Mapping[str, Value]:
        """What the inputs were; an event is there, and true, where it came."""

    @property
    def active(self) -> Sequence[str]:
        """All active states."""

    @property
    def outputs(self) -> Mapping[str, Value]:
        """What the outputs hold."""


def draw_timeline(chart: Chart, ticks: Sequence[Moment], path: Path | str) -> None:
    """Draw a run of a chart over time into an .svg file.

    Args:
        chart: whose run it is.
        ticks: of the run, from the first on.
        path: of the file.

    Raises:
        InputError: another ending, or no ticks.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".svg":
        raise InputError(f"cannot draw into {path}", hint="the name ends in .svg")
    write_atomically(path, timeline_svg(chart, ticks).encode())


def timeline_svg(chart: Chart, ticks: Sequence[Moment]) -> str:
    """Return a run of a chart over time as SVG text.

    Raises:
        InputError: there are no ticks.
    """
    if not ticks:
        raise InputError(f"no ticks of {chart.name} to draw", hint="a run has at least one tick")
    return _Timeline(chart, ticks).svg()


@dataclass(frozen=True)
class _Row:
    """A lane before it has a place; a heading where there is nothing to draw."""

    name: str
    height: float
    draw: Callable[[Lane], list[str]] | None = None


class _Timeline:
    def __init__(self, chart: Chart, ticks: Sequence[Moment]) -> None:
        self.chart, self.ticks = chart, ticks
        names = [*chart.events, *chart.inputs, *chart.outputs]
        left = MARGIN + max((text_width(name) for name in names), default=40) + 10
        width = min(max(len(ticks) * PER_TICK, NARROW), WIDE)
        self.ruler = Ruler(left, width, len(ticks))

    def svg(self) -> str:
        rows = [*self._states(), *self._inputs(), *self._outputs()]
        bottom = HEAD + sum(row.height for row in rows)
        seconds = len(self.ticks) * self.chart.period_s
        title = f"{self.chart.name}, {seconds:g} s"
        parts = [
            f"<style>{STYLE}</style>",
            text("title", MARGIN, 28, title),
            *_axis(self.ruler, bottom, seconds),
            *self._drawn(rows),
        ]
        right = max(self.ruler.left + self.ruler.width + RIGHT, MARGIN + len(title) * TITLE_FONT)
        return page(title, (0, 0, right, bottom + AXIS), parts, rich=False)

    def _states(self) -> Iterator[_Row]:
        active = [frozenset(tick.active) for tick in self.ticks]
        region: str | None = None
        for level in levels_of(self.chart):
            values = [next((name for name in level.states if name in now), None) for now in active]
            if level.region != region:
                region = level.region
                yield _Row(f"states of {region}" if region else "states", HEADING)
            if level.depth == 0 or any(values):
                yield from self._bars("", values, level.states)

    def _inputs(self) -> Iterator[_Row]:
        if self.chart.inputs or self.chart.events:
            yield _Row("inputs", HEADING)
        for name in self.chart.events:
            yield self._event(name, [tick.inputs.get(name) for tick in self.ticks])
        for name, kind in self.chart.inputs.items():
            yield from self._signal(name, kind, [tick.inputs.get(name) for tick in self.ticks])

    def _outputs(self) -> Iterator[_Row]:
        if self.chart.outputs:
            yield _Row("outputs", HEADING)
        for name, kind in self.chart.outputs.items():
            yield from self._signal(name, kind, [tick.outputs.get(name) for tick in self.ticks])

    def _event(self, name: str, values: Sequence[Value | None]) -> _Row:
        return _Row(name, EVENT, lambda lane: spikes(lane, self.ruler, values))

    def _signal(self, name: str, kind: Type, values: Sequence[Value | None]) -> Iterator[_Row]:
        """Yield the lane of an input or an output; a missing value is the one before it, or zero."""
        known: list[Value] = []
        for value in values:
            known.append(value if value is not None else known[-1] if known else kind.zero)
        if isinstance(kind, EnumType):
            yield from self._bars(name, known, kind.values)
        elif isinstance(kind, BoolType):
            yield _Row(name, STEP, lambda lane: steps(lane, self.ruler, known))
        else:
            numbers = [float(value) for value in known]
            yield _Row(name, CURVE, lambda lane: curve(lane, self.ruler, numbers))

    def _bars(self, name: str, values: Sequence[Value | None], names: Sequence[str]) -> Iterator[_Row]:
        """Yield a lane of bars, and the names of those that are too narrow for them."""
        tints = tints_of(names)
        yield _Row(name, BAR, lambda lane: bars(lane, self.ruler, values, tints))
        for row in legend_rows(self.ruler, unnamed(self.ruler, values)):
            yield _Row("", LEGEND, partial(legend, row=row, tints=tints))

    def _drawn(self, rows: Sequence[_Row]) -> Iterator[str]:
        y = HEAD
        for row in rows:
            if row.draw is None:
                yield text("heading", MARGIN, y + row.height - 7, row.name)
            else:
                yield text("lane", self.ruler.left - 10, y + row.height / 2 + 4, row.name)
                yield from row.draw(Lane(y, row.height))
            y += row.height


def _axis(ruler: Ruler, bottom: float, seconds: float) -> Iterator[str]:
    """Yield the time axis, and a faint line at every time that it names."""
    step = _step(seconds * LABEL_ROOM / ruler.width)
    yield path("axis", f"M{ruler.left:.1f},{bottom + 4:.1f} h{ruler.width:.1f}")
    for i in range(int(seconds / step + 1e-9) + 1):
        x = ruler.left + ruler.width * i * step / seconds
        yield path("grid", f"M{x:.1f},{HEAD:.1f} V{bottom + 4:.1f}")
        yield path("axis", f"M{x:.1f},{bottom + 4:.1f} v5")
        yield text("time", x, bottom + 22, f"{i * step:.6g} s")


def _step(least: float) -> float:
    """Return the least of 1, 2, 5, 10, 20 ... and of their tenths that is not below a time [s]."""
    power = 1e-6
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10
