"""Lanes of a picture over time: bars with names, steps of truth values, curves of numbers, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from posewright.charts.drawing.nested.metrics import text_width
from posewright.charts.drawing.pen import INK, path, text
from posewright.charts.drawing.runs import envelope, runs_of
from posewright.charts.types import Value

TINTS = tuple(
    "#cfe3f5 #fbdcb8 #d3ecc9 #eed3ea #f7efb2 #cdebea #f5cfcf #dcd8f3 #e4dccb #d5e0e6".split()  # noqa: SIM905
)
"""Fills of bars, light enough for dark letters."""

LOW = 3.0
"""Room between a lane and what is drawn in it [px]."""

THIN = 3.0
"""Width below which a bar has no border, for there would be nothing else [px]."""

IN_BAR, SWATCH = 11.0, 10.0
"""Height of the letters in bars, and of the swatches that explain colours [px]."""


@dataclass(frozen=True)
class Ruler:
    """Where on the page the ticks are.

    Attributes:
        left: where the first tick begins [px].
        width: of all ticks together [px].
        count: of ticks.
    """

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
        name, x, end = str(run.value), ruler.x(run.start), ruler.x(run.end)
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
    low, high = lane.bottom - LOW, lane.top + LOW
    edges = [f"M{ruler.left:.1f},{low:.1f}"]
    fills = []
    for run in runs_of(bool(value) for value in values):
        x, end, y = ruler.x(run.start), ruler.x(run.end), high if run.value else low
        edges.append(f"L{x:.1f},{y:.1f} L{end:.1f},{y:.1f}")
        if run.value:
            fills.append(f"M{x:.1f},{low:.1f} V{high:.1f} H{end:.1f} V{low:.1f} z")
    parts = [path("high", " ".join(fills))] if fills else []
    return [*parts, path("wave", " ".join(edges))]


def curve(lane: Lane, ruler: Ruler, values: Sequence[float]) -> list[str]:
    """Return a number over time, held from tick to tick, with its least and greatest value beside it."""
    low, high = min(values), max(values)
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
    ways, last = [], -10.0
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
