"""Timelines of a chart's run as SVG: a lane for each level of states, each input and each output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple, Protocol
from xml.sax.saxutils import escape

from posewright.charts.drawing.pen import INK, TITLE_FONT, page, path, text, text_width
from posewright.charts.model import Chart, State
from posewright.charts.types import BoolType, EnumType, Type, Value
from posewright.documents import require_ending, write_atomically
from posewright.errors import InputError


@dataclass(frozen=True)
class ValueRun:
    """A value, or None, that holds from the tick `start_tick` until before the tick `end_tick`."""

    start_tick: int
    end_tick: int
    value: Value | None


def value_runs(values: Iterable[Value | None]) -> list[ValueRun]:
    """Return the runs of equal values, given one value for each tick."""
    runs = []
    start_tick = 0
    for value, group in groupby(values):
        n_ticks = sum(1 for _ in group)
        end_tick = start_tick + n_ticks
        runs.append(ValueRun(start_tick, end_tick, value))
        start_tick = end_tick
    return runs


class ColumnSummary(NamedTuple):
    """The values of a curve in one column of pixels, in the order in which they are drawn."""

    first: float
    least: float
    greatest: float
    last: float


def envelope(values: Sequence[float], n_columns: int) -> list[ColumnSummary]:
    """Return a summary of the values in each of some columns of equal width.

    A curve through the summaries looks like the curve through all values, however many there are. With fewer
    values than columns, the columns without a value are left out.
    """
    edges = [round(i * len(values) / n_columns) for i in range(n_columns + 1)]
    columns = [values[start:end] for start, end in pairwise(edges) if start < end]
    return [
        ColumnSummary(first=column[0], least=min(column), greatest=max(column), last=column[-1])
        for column in columns
    ]


TINTS = tuple(
    "#cfe3f5 #fbdcb8 #d3ecc9 #eed3ea #f7efb2 #cdebea #f5cfcf #dcd8f3 #e4dccb #d5e0e6".split()  # noqa: SIM905
)
"""Fill colours of bars, light enough for dark text."""

LANE_PADDING = 3.0
"""Padding between a lane's border and its content [px]."""

THIN_BAR_WIDTH = 3.0
"""Narrower bars have no border, which would cover them [px]."""

MIN_BAR_WIDTH = 0.7
"""Width at which a bar is still visible [px]."""

BAR_FONT = 11.0
SWATCH_SIZE = 10.0
"""Font size in bars, and size of the coloured squares in the legend [px]."""

SWATCH_GAP = 5
LEGEND_ENTRY_GAP = 14
"""Room between a square and its name, and between an entry of the legend and the next [px]."""


@dataclass(frozen=True)
class Ruler:
    """The time axis on the page.

    Attributes:
        left: position of the first tick [px].
        width: the width of all ticks together [px].
        n_ticks: number of ticks.
    """

    left: float
    width: float
    n_ticks: int

    def tick_x(self, tick: float) -> float:
        """Return the position of the beginning of a tick [px]."""
        return self.left + self.width * tick / max(self.n_ticks, 1)


@dataclass(frozen=True)
class Lane:
    """A lane by its top and its height [px]."""

    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lowest line [px]."""
        return self.top + self.height


def assign_tints(names: Sequence[str]) -> dict[str, str]:
    """Return a fill colour for each name, different for neighbours."""
    return {name: TINTS[i % len(TINTS)] for i, name in enumerate(names)}


def draw_bars(
    lane: Lane, ruler: Ruler, values: Sequence[Value | None], tints: Mapping[str, str]
) -> list[str]:
    """Return the SVG of a bar for each run of ticks with the same value, with the value's name if it fits.

    Args:
        lane: the lane to draw in.
        ruler: the time axis.
        values: the value at each tick, None for no bar.
        tints: the fill colour of each value, by name.
    """
    parts = []
    for run in value_runs(values):
        if run.value is None:
            continue
        name = str(run.value)
        left = ruler.tick_x(run.start_tick)
        right = ruler.tick_x(run.end_tick)
        width = right - left
        css_class = "bar" if width >= THIN_BAR_WIDTH else "thin"
        parts.append(
            f'<rect class="{css_class}" x="{left:.1f}" y="{lane.top + 1:.1f}" '
            f'width="{max(width, MIN_BAR_WIDTH):.1f}" '
            f'height="{lane.height - 2:.1f}" fill="{tints[name]}"><title>{escape(name)}</title></rect>'
        )
        if _name_fits(name, width):
            baseline = lane.top + lane.height / 2 + 4
            parts.append(text("in-bar", x=(left + right) / 2, y=baseline, content=name))
    return parts


def _name_fits(name: str, width: float) -> bool:
    return text_width(name, BAR_FONT) + 6 <= width


def names_without_room(ruler: Ruler, values: Sequence[Value | None]) -> list[str]:
    """Return the names of values that fit into none of their bars; a bar is drawn for each run of a value."""
    widest_bar: dict[str, float] = {}
    for run in value_runs(values):
        if run.value is not None:
            name = str(run.value)
            width = ruler.tick_x(run.end_tick) - ruler.tick_x(run.start_tick)
            widest_bar[name] = max(widest_bar.get(name, 0.0), width)
    return [name for name, width in widest_bar.items() if not _name_fits(name, width)]


class LegendEntry(NamedTuple):
    """A name in the legend of colours, with the position of its left end [px]."""

    x: float
    name: str


def legend_rows(ruler: Ruler, names: Sequence[str]) -> list[list[LegendEntry]]:
    """Return the entries of the legend of colours, in rows no wider than the time axis."""
    rows: list[list[LegendEntry]] = []
    x = ruler.left
    for name in names:
        width = SWATCH_SIZE + SWATCH_GAP + text_width(name, BAR_FONT) + LEGEND_ENTRY_GAP
        if not rows or x + width > ruler.left + ruler.width:
            rows.append([])
            x = ruler.left
        rows[-1].append(LegendEntry(x, name))
        x += width
    return rows


def draw_legend(lane: Lane, row: Sequence[LegendEntry], tints: Mapping[str, str]) -> list[str]:
    """Return the SVG of a row of the legend: for each name a square in its colour, and the name."""
    parts = []
    for x, name in row:
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{lane.top + 2:.1f}" width="{SWATCH_SIZE:g}" '
            f'height="{SWATCH_SIZE:g}" fill="{tints[name]}"/>'
        )
        parts.append(text("in-legend", x=x + SWATCH_SIZE + SWATCH_GAP, y=lane.top + 11, content=name))
    return parts


def draw_steps(lane: Lane, ruler: Ruler, values: Sequence[Value | None]) -> list[str]:
    """Return the SVG of a boolean over time: a step curve, high and with a filled area where it is true.

    Args:
        lane: the lane to draw in.
        ruler: the time axis.
        values: the value at each tick.
    """
    low_y = lane.bottom - LANE_PADDING
    high_y = lane.top + LANE_PADDING
    curve = [f"M{ruler.left:.1f},{low_y:.1f}"]
    filled_areas = []
    for run in value_runs(bool(value) for value in values):
        left = ruler.tick_x(run.start_tick)
        right = ruler.tick_x(run.end_tick)
        y = high_y if run.value else low_y
        curve.append(f"L{left:.1f},{y:.1f} L{right:.1f},{y:.1f}")
        if run.value:
            filled_areas.append(f"M{left:.1f},{low_y:.1f} V{high_y:.1f} H{right:.1f} V{low_y:.1f} z")
    parts = [path("high", " ".join(filled_areas))] if filled_areas else []
    return [*parts, path("wave", " ".join(curve))]


def draw_curve(lane: Lane, ruler: Ruler, values: Sequence[float]) -> list[str]:
    """Return the SVG of a number over time: a curve, with its least and greatest value beside it.

    A constant is a line in the middle of the lane, with one number beside it.

    Args:
        lane: the lane to draw in.
        ruler: the time axis.
        values: the value at each tick.
    """
    least = min(values)
    greatest = max(values)
    is_constant = not least < greatest  # also if the values are NaN

    def value_y(value: float) -> float:
        """Return the height of a value on the page; the least is at the bottom, the greatest at the top."""
        share = 0.5 if is_constant else (value - least) / (greatest - least)
        return lane.bottom - LANE_PADDING - (lane.height - 2 * LANE_PADDING) * share

    has_several_ticks_per_pixel = len(values) > 2 * ruler.width
    list_points = _envelope_points if has_several_ticks_per_pixel else _step_points
    points = list_points(ruler, values)
    points_text = " ".join(f"{x:.1f},{value_y(value):.1f}" for x, value in points)
    label_x = ruler.left + ruler.width + 6
    if is_constant:
        labels = [text("scale", x=label_x, y=lane.top + lane.height / 2 + 4, content=f"{least:.4g}")]
    else:
        labels = [
            text("scale", x=label_x, y=lane.top + 9, content=f"{greatest:.4g}"),
            text("scale", x=label_x, y=lane.bottom - 1, content=f"{least:.4g}"),
        ]
    return [path("wave", f"M{points_text}"), *labels]


def _step_points(ruler: Ruler, values: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a step curve as x and value: each value lasts until it changes."""
    points = []
    for run in value_runs(values):
        value = float(run.value or 0.0)
        points += [(ruler.tick_x(run.start_tick), value), (ruler.tick_x(run.end_tick), value)]
    return points


def _envelope_points(ruler: Ruler, values: Sequence[float]) -> list[tuple[float, float]]:
    """Return four points (x and value) for each column of pixels: first, least, greatest and last value."""
    n_columns = round(ruler.width)
    points = []
    for i, summary in enumerate(envelope(values, n_columns)):
        x = ruler.left + ruler.width * i / n_columns
        points += [(x, value) for value in summary]
    return points


MIN_SPIKE_DISTANCE = 1.5
"""Marks nearer to each other are merged [px]."""

MAX_SPIKE_DOTS = 150
"""With more marks they have no dots on top."""


def draw_spikes(lane: Lane, ruler: Ruler, values: Sequence[Value | None]) -> list[str]:
    """Return the SVG of a mark (a line with a dot on top) at each tick with an event, on a base line.

    A mark that would touch the one before it is left out.

    Args:
        lane: the lane to draw in.
        ruler: the time axis.
        values: for each tick, whether the event came.
    """
    base_y = lane.bottom - LANE_PADDING
    base_line = path("base", f"M{ruler.left:.1f},{base_y:.1f} H{ruler.left + ruler.width:.1f}")
    positions: list[float] = []
    for tick, value in enumerate(values):
        x = ruler.tick_x(tick)
        if value and (not positions or x - positions[-1] >= MIN_SPIKE_DISTANCE):
            positions.append(x)
    if not positions:
        return [base_line]
    top_y = lane.top + LANE_PADDING
    spikes = [f"M{x:.1f},{base_y:.1f} V{top_y:.1f}" for x in positions]
    dots = []
    if len(positions) <= MAX_SPIKE_DOTS:
        dots = [f'<circle cx="{x:.1f}" cy="{top_y + 1:.1f}" r="2.2" fill="{INK}"/>' for x in positions]
    return [base_line, path("spike", " ".join(spikes)), *dots]


@dataclass(frozen=True)
class StateLevel:
    """Mutually exclusive states at one depth of a region, or of the chart (with an empty name)."""

    region: str
    depth: int
    states: tuple[str, ...]


def state_levels(chart: Chart) -> list[StateLevel]:
    """Return the levels of a chart, region by region, outer levels first.

    A level has the states at one depth, of which at most one is active. A region without states inside it is
    a level of its own.
    """
    if not chart.parallel:
        return list(_iterate_levels("", chart.states))
    levels: list[StateLevel] = []
    for region in chart.states:
        levels += _iterate_levels(region.name, region.states or (region,))
    return levels


def _iterate_levels(region: str, states: Sequence[State]) -> Iterator[StateLevel]:
    """Yield the levels of a region's states from the outside in, then those of the regions inside them."""
    states_at_depth = list(states)
    depth = 0
    parallel_states = []
    while states_at_depth:
        yield StateLevel(region, depth, tuple(state.name for state in states_at_depth))
        parallel_states += [state for state in states_at_depth if state.parallel]
        states_at_depth = [child for state in states_at_depth if not state.parallel for child in state.states]
        depth += 1
    for parallel_state in parallel_states:
        for inner_region in parallel_state.states:
            yield from _iterate_levels(inner_region.name, inner_region.states or (inner_region,))


MAX_TICK_WIDTH = 24.0
MIN_AXIS_WIDTH = 460.0
MAX_AXIS_WIDTH = 1000.0
"""Width of a tick if there are few, and the least and greatest width of all together [px]."""

BAR_LANE_HEIGHT = 22.0
STEP_LANE_HEIGHT = 20.0
CURVE_LANE_HEIGHT = 40.0
EVENT_LANE_HEIGHT = 18.0
HEADING_HEIGHT = 24.0
LEGEND_ROW_HEIGHT = 16.0
"""Heights of lanes, and of the headings between them [px]."""

LEFT_MARGIN = 20.0
TITLE_HEIGHT = 46.0
AXIS_HEIGHT = 34.0
RIGHT_MARGIN = 66.0
"""Room at the left, at the top, for the time axis, and for numbers at the right [px]."""

MIN_TIME_LABEL_DISTANCE = 74.0
"""Least distance between two labels of the time axis [px]."""

STYLE = f"""
  .bar {{ stroke: {INK}; stroke-width: 0.6; }}
  .thin {{ stroke: none; }}
  .in-bar {{ font-size: {BAR_FONT:g}px; }}
  .in-legend {{ font-size: {BAR_FONT:g}px; text-anchor: start; }}
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
    """The values at the end of one tick of a run."""

    @property
    def inputs(self) -> Mapping[str, Value]:
        """The inputs; an event that came is present and true."""

    @property
    def active(self) -> Sequence[str]:
        """All active states."""

    @property
    def outputs(self) -> Mapping[str, Value]:
        """The outputs."""


def draw_timeline(chart: Chart, ticks: Sequence[RunTick], path: Path | str) -> None:
    """Draw a run of a chart over time into an .svg file.

    Args:
        chart: the chart that was run.
        ticks: the ticks of the run, from the first on.
        path: the path of the file.

    Raises:
        InputError: the path does not end in .svg, or there are no ticks.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    require_ending(path, (".svg",), "a drawing")
    write_atomically(path, timeline_svg(chart, ticks).encode())


def timeline_svg(chart: Chart, ticks: Sequence[RunTick]) -> str:
    """Return a run of a chart over time as SVG text.

    Raises:
        InputError: there are no ticks.
    """
    if not ticks:
        raise InputError(f"the run of {chart.name} has no ticks", hint="a run has at least one tick")
    return _Timeline(chart, ticks).svg()


@dataclass(frozen=True)
class _LaneRow:
    """A lane before it has a position; a heading if `draw` is None."""

    name: str
    height: float
    draw: Callable[[Lane], list[str]] | None = None


class _Timeline:
    """Draws a run of a chart: first the rows of all lanes, then their SVG one below the other.

    Attributes:
        chart: the chart.
        ticks: the ticks of the run.
        ruler: the time axis, right of the names of the lanes.
    """

    def __init__(self, chart: Chart, ticks: Sequence[RunTick]) -> None:
        """Choose the width of the time axis: wider for more ticks, between two limits."""
        self.chart = chart
        self.ticks = ticks
        lane_names = [*chart.events, *chart.inputs, *chart.outputs]
        names_width = max((text_width(name) for name in lane_names), default=40)
        axis_left = LEFT_MARGIN + names_width + 10
        axis_width = min(max(len(ticks) * MAX_TICK_WIDTH, MIN_AXIS_WIDTH), MAX_AXIS_WIDTH)
        self.ruler = Ruler(axis_left, axis_width, len(ticks))

    def svg(self) -> str:
        """Return the timeline as an SVG document."""
        rows = [*self._state_rows(), *self._input_rows(), *self._output_rows()]
        bottom = TITLE_HEIGHT + sum(row.height for row in rows)
        seconds = len(self.ticks) * self.chart.period_s
        title = f"{self.chart.name}, {seconds:g} s"
        parts = [
            f"<style>{STYLE}</style>",
            text("title", x=LEFT_MARGIN, y=28, content=title),
            *_axis_parts(self.ruler, bottom, seconds),
            *self._draw_rows(rows),
        ]
        right = max(self.ruler.left + self.ruler.width + RIGHT_MARGIN, LEFT_MARGIN + len(title) * TITLE_FONT)
        return page(title, (0, 0, right, bottom + AXIS_HEIGHT), parts)

    def _state_rows(self) -> Iterator[_LaneRow]:
        """Yield a heading for each region, and a lane with the active state of each of its levels.

        A level has the states at one depth, of which at most one is active. An inner level without an active
        state in the whole run is left out.
        """
        active_by_tick = [frozenset(tick.active) for tick in self.ticks]
        previous_region: str | None = None
        for level in state_levels(self.chart):
            if level.region != previous_region:
                previous_region = level.region
                yield _LaneRow(f"states of {level.region}" if level.region else "states", HEADING_HEIGHT)
            active_names = [
                next((name for name in level.states if name in active_states), None)
                for active_states in active_by_tick
            ]
            if level.depth == 0 or any(active_names):
                yield from self._bar_rows("", active_names, level.states)

    def _input_rows(self) -> Iterator[_LaneRow]:
        """Yield a heading, and the lanes of all events and inputs."""
        if self.chart.inputs or self.chart.events:
            yield _LaneRow("inputs", HEADING_HEIGHT)
        for name in self.chart.events:
            yield self._event_row(name, [tick.inputs.get(name) for tick in self.ticks])
        for name, value_type in self.chart.inputs.items():
            yield from self._signal_rows(name, value_type, [tick.inputs.get(name) for tick in self.ticks])

    def _output_rows(self) -> Iterator[_LaneRow]:
        """Yield a heading, and the lanes of all outputs."""
        if self.chart.outputs:
            yield _LaneRow("outputs", HEADING_HEIGHT)
        for name, value_type in self.chart.outputs.items():
            yield from self._signal_rows(name, value_type, [tick.outputs.get(name) for tick in self.ticks])

    def _event_row(self, name: str, values: Sequence[Value | None]) -> _LaneRow:
        """Return the lane of an event: a mark at each tick in which it occurs."""
        return _LaneRow(name, EVENT_LANE_HEIGHT, lambda lane: draw_spikes(lane, self.ruler, values))

    def _signal_rows(self, name: str, value_type: Type, values: Sequence[Value | None]) -> Iterator[_LaneRow]:
        """Yield the lane of an input or an output: bars for an enum, steps for a boolean, else a curve.

        A missing value (None) is taken to be the previous one, at first the default of the type.
        """
        complete_values: list[Value] = []
        previous_value = value_type.default
        for value in values:
            previous_value = value if value is not None else previous_value
            complete_values.append(previous_value)
        if isinstance(value_type, EnumType):
            yield from self._bar_rows(name, complete_values, value_type.values)
        elif isinstance(value_type, BoolType):
            yield _LaneRow(name, STEP_LANE_HEIGHT, lambda lane: draw_steps(lane, self.ruler, complete_values))
        else:
            numbers = [float(value) for value in complete_values]
            yield _LaneRow(name, CURVE_LANE_HEIGHT, lambda lane: draw_curve(lane, self.ruler, numbers))

    def _bar_rows(
        self, name: str, values: Sequence[Value | None], names: Sequence[str]
    ) -> Iterator[_LaneRow]:
        """Yield a lane with a bar for each run of equal values, and legend rows for names that do not fit.

        Args:
            name: the name of the lane.
            values: the value at each tick; None for no bar.
            names: all values that may occur; each gets a colour.
        """
        tints = assign_tints(names)
        yield _LaneRow(name, BAR_LANE_HEIGHT, lambda lane: draw_bars(lane, self.ruler, values, tints))
        for row in legend_rows(self.ruler, names_without_room(self.ruler, values)):
            yield _LaneRow("", LEGEND_ROW_HEIGHT, partial(draw_legend, row=row, tints=tints))

    def _draw_rows(self, rows: Sequence[_LaneRow]) -> Iterator[str]:
        """Yield the SVG of all rows, one below the other."""
        y = TITLE_HEIGHT
        for row in rows:
            if row.draw is None:
                yield text("heading", x=LEFT_MARGIN, y=y + row.height - 7, content=row.name)
            else:
                yield text("lane", x=self.ruler.left - 10, y=y + row.height / 2 + 4, content=row.name)
                yield from row.draw(Lane(y, row.height))
            y += row.height


def _axis_parts(ruler: Ruler, bottom: float, seconds: float) -> Iterator[str]:
    """Yield the SVG of the time axis: a line, and at each round time a tick mark, a label and a faint line.

    Args:
        ruler: position and width of the axis.
        bottom: lower end of the lanes [px].
        seconds: duration of the whole run [s].
    """
    axis_y = bottom + 4
    step_s = _axis_step_s(seconds * MIN_TIME_LABEL_DISTANCE / ruler.width)
    n_steps = int(seconds / step_s + 1e-9)  # a last label at the very end is not lost to rounding
    yield path("axis", f"M{ruler.left:.1f},{axis_y:.1f} h{ruler.width:.1f}")
    for i in range(n_steps + 1):
        x = ruler.left + ruler.width * i * step_s / seconds
        yield path("grid", f"M{x:.1f},{TITLE_HEIGHT:.1f} V{axis_y:.1f}")
        yield path("axis", f"M{x:.1f},{axis_y:.1f} v5")
        yield text("time", x, y=bottom + 22, content=f"{i * step_s:.6g} s")


def _axis_step_s(min_step_s: float) -> float:
    """Return the least of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... that is not below a time [s]."""
    power = 1e-6
    while True:
        for digit in (1, 2, 5):
            if digit * power >= min_step_s:
                return digit * power
        power *= 10
