"""A run of a chart as a picture over time: its states, its inputs and its outputs, each in its lane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import escape

from posewright.charts.drawing.pen import INK, TITLE_FONT, page, path, text, text_width
from posewright.charts.model import Chart, State
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.documents import write_atomically
from posewright.errors import InputError


@dataclass(frozen=True)
class ValueRun:
    """A value, or None, that holds from the beginning of one tick to the beginning of another."""

    start: int
    end: int
    value: Value | None


def runs_of(values: Iterable[Value | None]) -> list[ValueRun]:
    """Return the runs of values, one value a tick."""
    found = []
    start = 0
    for value, group in groupby(values):
        end = start + sum(1 for _ in group)
        found.append(ValueRun(start, end, value))
        start = end
    return found


def envelope(values: Sequence[float], columns: int) -> list[tuple[float, float, float, float]]:
    """Return, for each of some columns, the first, the least, the greatest and the last of its values.

    A curve through these looks like the curve through all values, however many there are.
    """
    count = len(values)
    edges = [round(i * count / columns) for i in range(columns + 1)]
    parts = [values[a:b] for a, b in pairwise(edges) if a < b]
    return [(part[0], min(part), max(part), part[-1]) for part in parts]


TINTS = tuple(
    "#cfe3f5 #fbdcb8 #d3ecc9 #eed3ea #f7efb2 #cdebea #f5cfcf #dcd8f3 #e4dccb #d5e0e6".split()  # noqa: SIM905
)
"""Fills of bars, light enough for dark letters."""

LOW = 3.0
"""Room between a lane and what is drawn in it [px]."""

THIN = 3.0
"""Width below which a bar has no border, for there would be nothing else [px]."""

IN_BAR = 11.0
SWATCH = 10.0
"""Height of the letters in bars, and of the swatches that explain colours [px]."""


@dataclass(frozen=True)
class Ruler:
    """Where on the page the ticks begin, how wide all are together [px], and how many there are."""

    left: float
    width: float
    count: int

    def x(self, tick: float) -> float:
        """Return where a tick begins [px]."""
        return self.left + self.width * tick / max(self.count, 1)


@dataclass(frozen=True)
class Lane:
    """A lane by its top and its height [px]."""

    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lowest line [px]."""
        return self.top + self.height


def tints_of(names: Sequence[str]) -> dict[str, str]:
    """Return a fill for every name, neighbours in different ones."""
    return {name: TINTS[i % len(TINTS)] for i, name in enumerate(names)}


def bars(lane: Lane, ruler: Ruler, values: Sequence[Value | None], tints: Mapping[str, str]) -> list[str]:
    """Return a bar for every run of a value, with its name where there is room."""
    parts = []
    for run in runs_of(values):
        if run.value is None:
            continue
        name = str(run.value)
        x = ruler.x(run.start)
        end = ruler.x(run.end)
        look = "bar" if end - x >= THIN else "thin"
        parts.append(
            f'<rect class="{look}" x="{x:.1f}" y="{lane.top + 1:.1f}" width="{max(end - x, 0.7):.1f}" '
            f'height="{lane.height - 2:.1f}" fill="{tints[name]}"><title>{escape(name)}</title></rect>'
        )
        if _fits(name, end - x):
            parts.append(text("in-bar", (x + end) / 2, lane.top + lane.height / 2 + 4, name))
    return parts


def _fits(name: str, width: float) -> bool:
    return text_width(name, IN_BAR) + 6 <= width


def unnamed(ruler: Ruler, values: Sequence[Value | None]) -> list[str]:
    """Return the values of which no bar is wide enough for its name."""
    widest: dict[str, float] = {}
    for run in runs_of(values):
        if run.value is not None:
            name = str(run.value)
            widest[name] = max(widest.get(name, 0.0), ruler.x(run.end) - ruler.x(run.start))
    return [name for name, width in widest.items() if not _fits(name, width)]


def legend_rows(ruler: Ruler, names: Sequence[str]) -> list[list[tuple[float, str]]]:
    """Return names in rows no wider than the picture, each with the place where it begins [px]."""
    rows: list[list[tuple[float, str]]] = []
    x = ruler.left
    for name in names:
        width = SWATCH + 5 + text_width(name, IN_BAR) + 14
        if not rows or x + width > ruler.left + ruler.width:
            rows.append([])
            x = ruler.left
        rows[-1].append((x, name))
        x += width
    return rows


def legend(lane: Lane, row: Sequence[tuple[float, str]], tints: Mapping[str, str]) -> list[str]:
    """Return what the colours of bars mean."""
    parts = []
    for x, name in row:
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{lane.top + 2:.1f}" width="{SWATCH:g}" height="{SWATCH:g}" '
            f'fill="{tints[name]}"/>'
        )
        parts.append(text("in-legend", x + SWATCH + 5, lane.top + 11, name))
    return parts


def steps(lane: Lane, ruler: Ruler, values: Sequence[Value | None]) -> list[str]:
    """Return a truth value over time: high where it is true."""
    low = lane.bottom - LOW
    high = lane.top + LOW
    edges = [f"M{ruler.left:.1f},{low:.1f}"]
    fills = []
    for run in runs_of(bool(value) for value in values):
        x = ruler.x(run.start)
        end = ruler.x(run.end)
        y = high if run.value else low
        edges.append(f"L{x:.1f},{y:.1f} L{end:.1f},{y:.1f}")
        if run.value:
            fills.append(f"M{x:.1f},{low:.1f} V{high:.1f} H{end:.1f} V{low:.1f} z")
    parts = [path("high", " ".join(fills))] if fills else []
    return [*parts, path("wave", " ".join(edges))]


def curve(lane: Lane, ruler: Ruler, values: Sequence[float]) -> list[str]:
    """Return a number over time, held from tick to tick, with its least and greatest value beside it."""
    low = min(values)
    high = max(values)
    span = (high - low) or 1.0

    def y(value: float) -> float:
        return lane.bottom - LOW - (lane.height - 2 * LOW) * ((value - low) / span if high > low else 0.5)

    points = _held(ruler, values) if len(values) <= 2 * ruler.width else _dense(ruler, values)
    way = " ".join(f"{x:.1f},{y(value):.1f}" for x, value in points)
    right = ruler.left + ruler.width + 6
    said = [text("scale", right, lane.top + 9, f"{high:.4g}")] if high > low else []
    said.append(
        text(
            "scale", right, (lane.bottom - 1) if high > low else lane.top + lane.height / 2 + 4, f"{low:.4g}"
        )
    )
    return [path("wave", f"M{way}"), *said]


def _held(ruler: Ruler, values: Sequence[float]) -> list[tuple[float, float]]:
    points = []
    for run in runs_of(values):
        value = float(run.value or 0.0)
        points += [(ruler.x(run.start), value), (ruler.x(run.end), value)]
    return points


def _dense(ruler: Ruler, values: Sequence[float]) -> list[tuple[float, float]]:
    columns = round(ruler.width)
    points = []
    for i, (first, low, high, last) in enumerate(envelope(values, columns)):
        x = ruler.left + ruler.width * i / columns
        points += [(x, first), (x, low), (x, high), (x, last)]
    return points


def spikes(lane: Lane, ruler: Ruler, values: Sequence[Value | None]) -> list[str]:
    """Return a mark at every tick at which an event came; those that would touch become one."""
    base = [path("base", f"M{ruler.left:.1f},{lane.bottom - LOW:.1f} H{ruler.left + ruler.width:.1f}")]
    ways = []
    last = -10.0
    for run in runs_of(bool(value) for value in values):
        for tick in range(run.start, run.end) if run.value else ():
            x = ruler.x(tick)
            if x - last >= 1.5:
                ways.append(f"M{x:.1f},{lane.bottom - LOW:.1f} V{lane.top + LOW:.1f}")
                last = x
    heads = [
        f'<circle cx="{way[1:].split(",")[0]}" cy="{lane.top + LOW + 1:.1f}" r="2.2" fill="{INK}"/>'
        for way in ways
    ]
    return [*base, path("spike", " ".join(ways)), *(heads if len(heads) <= 150 else [])] if ways else base


@dataclass(frozen=True)
class StateLevel:
    """States of which at most one is active, at one depth of a region, or of the chart (an empty name)."""

    region: str
    depth: int
    states: tuple[str, ...]


def levels_of(chart: Chart) -> list[StateLevel]:
    """Return the levels of a chart, outer ones first, each region's together."""
    if chart.parallel:
        return [
            level for region in chart.states for level in _levels(region.name, region.states or (region,))
        ]
    return list(_levels("", chart.states))


def _levels(region: str, states: Sequence[State]) -> Iterator[StateLevel]:
    level = list(states)
    depth = 0
    parallel = []
    while level:
        yield StateLevel(region, depth, tuple(state.name for state in level))
        parallel += [state for state in level if state.parallel]
        level = [child for state in level if not state.parallel for child in state.states]
        depth += 1
    for state in parallel:
        for inner in state.states:
            yield from _levels(inner.name, inner.states or (inner,))


PER_TICK = 24.0
NARROW = 460.0
WIDE = 1000.0
"""Width of a tick where there are few, and of all together at least and at most [px]."""

BAR = 22.0
STEP = 20.0
CURVE = 40.0
EVENT = 18.0
HEADING = 24.0
LEGEND = 16.0
"""Heights of lanes, and of the headings between them [px]."""

MARGIN = 20.0
HEAD = 46.0
AXIS = 34.0
RIGHT = 66.0
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


class RunTick(Protocol):
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


def draw_timeline(chart: Chart, ticks: Sequence[RunTick], path: Path | str) -> None:
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


def timeline_svg(chart: Chart, ticks: Sequence[RunTick]) -> str:
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
    def __init__(self, chart: Chart, ticks: Sequence[RunTick]) -> None:
        self.chart = chart
        self.ticks = ticks
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
        return page(title, (0, 0, right, bottom + AXIS), parts)

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
            known.append(value if value is not None else known[-1] if known else kind.default)
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
