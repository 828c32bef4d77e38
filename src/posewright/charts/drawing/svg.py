"""Pictures of charts as SVG text and as files: what stands on the arrows, the layout, the key to numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.charts.drawing.building import Labeller, NumberedTransition, build, numbered, segments
from posewright.charts.drawing.diagram import (
    DiagramMarks,
    Highlight,
    Mark,
    TextLine,
    highlight,
    mark_of,
    walk_nodes,
)
from posewright.charts.drawing.layout.layout_search import Scene, best_scene, pages
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.pen import ROW, TITLE_FONT, Box, page, path, rect, text, text_width
from posewright.charts.drawing.shapes_svg import NodeDrawing, draw_link
from posewright.charts.drawing.words import (
    Style,
    goal_text,
    signs_explained,
    signs_of,
    transition_lines,
    transition_text,
    uses_signs,
    wrapped,
)
from posewright.charts.model import Chart
from posewright.documents import write_atomically
from posewright.errors import InputError

ARROW_LETTERS = 28
KEY_LETTERS = 84
"""Letters in a line on an arrow, and in a line of the key."""

CROWDED = 2.0
"""Pages above which words are hard to read, and numbers with a key are tried."""

WORTH = 0.8
"""How much of the room numbers may take, beside words, to be worth looking them up."""

NUMBERS_PER_LINE = 5

COLUMN_GAP = 28
ROOM = 24
"""Room between columns of the key, and between the picture and its key [px]."""

MOST_COLUMNS = 4


@dataclass(frozen=True)
class PlacedLine:
    """A line of text with the place where it begins [px]."""

    x: float
    y: float
    line: TextLine


@dataclass(frozen=True)
class Composition:
    """A picture, the key below or beside it, and the size of both together [px]."""

    scene: Scene
    key: tuple[PlacedLine, ...]
    width: float
    height: float


def compose(chart: Chart, style: Style, marks: DiagramMarks) -> Composition:
    """Return a chart's picture; AUTO takes words, or numbers where the picture would be crowded."""
    if uses_signs(chart, style):
        explained = [TextLine(signs_explained(chart))]
        return _composition(chart, lambda one: [signs_of(chart, one.transition)], explained, marks)
    if style is Style.NUMBERS:
        return _numbers(chart, marks)
    words = _composition(chart, lambda one: transition_lines(one.transition, ARROW_LETTERS), [], marks)
    size = pages(words.width, words.height)
    if style is Style.WORDS or size <= CROWDED:
        return words
    numbers = _numbers(chart, marks)
    return numbers if pages(numbers.width, numbers.height) < WORTH * size else words


def _numbers(chart: Chart, marks: DiagramMarks) -> Composition:
    return _composition(chart, lambda one: [one.number], key_lines(chart), marks, NUMBERS_PER_LINE)


def _composition(
    chart: Chart, say: Labeller, key: Sequence[TextLine], marks: DiagramMarks, per_line: int = 1
) -> Composition:
    def marked(one: NumberedTransition) -> list[str]:
        lines = list(say(one))
        sign = marks[one.key].sign if one.key in marks and one.depth == 0 else ""
        return [sign + lines[0], *lines[1:]] if lines and lines[0] else lines

    return _with_key(best_scene(build(chart, marked, per_line)), key)


def key_lines(chart: Chart) -> list[TextLine]:
    """Return a line for every transition, the names of states as headings."""
    lines: list[TextLine] = []
    heading = ""
    for one in numbered(chart):
        if one.start != heading:
            heading = one.start
            lines.append(TextLine(heading if heading in chart.parents else f"junction {heading}"))
        goal = goal_text(one.transition) or ", ".join(segment.number for segment in segments(one))
        said = " ".join(
            part for part in (transition_text(one.transition), f"-> {goal}" if goal else "") if part
        )
        front = f"{'  ' * one.depth}{one.number:>4}  "
        indent = " " * (len(front) + 2)
        lines += [TextLine(text, (one.key,)) for text in wrapped(said, KEY_LETTERS, indent, front)]
    return lines


def _with_key(scene: Scene, lines: Sequence[TextLine]) -> Composition:
    """Return a picture with its key where the two take the least of a page."""
    if not lines:
        return Composition(scene, (), scene.width, scene.height)
    choices = [
        _in_columns(scene, lines, count, below)
        for count in range(1, MOST_COLUMNS + 1)
        for below in (True, False)
    ]
    return min(choices, key=lambda choice: pages(choice.width, choice.height))


def _in_columns(scene: Scene, lines: Sequence[TextLine], count: int, below: bool) -> Composition:
    each = math.ceil(len(lines) / count)
    x, y = (0.0, scene.height + ROOM) if below else (scene.width + ROOM, 0.0)
    placed: list[PlacedLine] = []
    for first in range(0, len(lines), each):
        column = lines[first : first + each]
        placed += [PlacedLine(x, y + (i + 0.8) * ROW, line) for i, line in enumerate(column)]
        x += max(text_width(line.text) for line in column) + COLUMN_GAP
    width = max(scene.width, x - COLUMN_GAP)
    height = max(scene.height, y + each * ROW)
    return Composition(scene, tuple(placed), width, height)


MOST_STATES = 250
"""States in a picture: more cannot be read, and take minutes."""

MARGIN = 20.0
HEAD = 48.0
LEGEND = 34.0
"""Room around the picture, and heights of the title above it and of the legend of marks below it [px]."""

DRAWN = (".svg", ".mmd", ".md", ".txt")
"""Endings of files that can be drawn into; all but the first hold Mermaid text."""


def draw_svg(
    chart: Chart,
    *,
    active: str | Iterable[str] | None = None,
    style: Style = Style.AUTO,
    marks: DiagramMarks | None = None,
) -> str:
    """Return a picture of a chart.

    Args:
        chart: what to draw.
        active: states to be highlighted: one, several, or several in one word, joined with `+`.
        style: words, signs or numbers on the arrows.
        marks: of states by name, and of transitions by state and place, such as what a run has covered.

    Raises:
        InputError: the chart is too large.
        UnknownNameError: there is no state called as one of `active`.
    """
    if len(chart.every_state) > MOST_STATES:
        raise InputError(
            f"{len(chart.every_state)} states in one picture",
            hint=f"at most {MOST_STATES}; Mermaid takes more",
        )
    lit = highlight(chart, active)
    marks = marks or {}
    found = compose(chart, style, marks)
    legend, legend_width = _legend(found.height) if marks else ([], 0.0)
    parts = [
        text("title", 0, -HEAD + 30, chart.name),
        *_body(found.scene, lit, marks),
        *(_key_line(placed, marks) for placed in found.key),
        *legend,
    ]
    width = max(found.width, text_width(chart.name, TITLE_FONT), legend_width)
    height = found.height + (LEGEND if marks else 0)
    return page(chart.name, (-MARGIN, -HEAD, width + MARGIN, height + MARGIN), parts)


def _body(scene: Scene, active: Highlight, marks: DiagramMarks) -> Iterator[str]:
    drawing = NodeDrawing(scene, active, marks)
    if scene.diagram.root.parallel:
        yield rect("frame", Box(scene.width / 2, scene.height / 2, scene.width, scene.height), 10)
    for outer in walk_nodes(scene.diagram.root):
        for node in outer.inside:
            yield drawing.draw(node, scene.sideways[outer.key])
    for (ax, ay), (bx, by) in scene.dividers:
        yield path("divider", f"M{ax:.1f},{ay:.1f} L{bx:.1f},{by:.1f}")
    for track in scene.tracks:
        yield draw_link(track, marks)


def _key_line(placed: PlacedLine, marks: DiagramMarks) -> str:
    mark = mark_of(marks, placed.line.transitions)
    return text(f"legend {mark.look}" if mark else "legend", placed.x, placed.y, placed.line.text)


def _legend(top: float) -> tuple[list[str], float]:
    """Return what the marks mean, and how wide that is [px]."""
    parts: list[str] = []
    x = 0.0
    y = top + LEGEND / 2 + 8
    for mark in Mark:
        words = f"{mark.sign}{mark.value}"
        parts += [
            rect(f"state {mark.look}", Box(x + 15, y, 30, 16), 4),
            path(f"line {mark.look}", f"M{x + 38:.1f},{y:.1f} h30"),
            text("legend", x + 76, y + 4, words),
        ]
        x += 76 + text_width(words) + 28
    return parts, x - 28


def draw_chart(
    chart: Chart,
    path: Path | str,
    *,
    active: str | Iterable[str] | None = None,
    labels: Style | str = Style.AUTO,
    marks: DiagramMarks | None = None,
) -> None:
    """Draw a chart into a file.

    Args:
        chart: what to draw.
        path: ends in .svg, or in .mmd, .md or .txt for Mermaid text.
        active: states to be highlighted: one, several, or several in one word, joined with `+`.
        labels: `auto`, `words`, `signs` or `numbers`.
        marks: of states by name, and of transitions by state and place, such as what a run has covered;
            only in an .svg file.

    Raises:
        InputError: another ending, another kind of label, marks in Mermaid text, or too many states.
        UnknownNameError: there is no state called as one of `active`.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    style = style_called(labels)
    if path.suffix.lower() not in DRAWN:
        raise InputError(f"cannot draw into {path}", hint="the name ends in .svg or .mmd")
    if path.suffix.lower() == DRAWN[0]:
        drawn = draw_svg(chart, active=active, style=style, marks=marks)
    elif marks:
        raise InputError(f"cannot draw marks into {path}", hint="the name ends in .svg")
    else:
        drawn = draw_mermaid(chart, active=active, style=style)
    write_atomically(path, drawn.encode())


def style_called(labels: Style | str) -> Style:
    """Return the style of that name.

    Raises:
        InputError: there is none.
    """
    if isinstance(labels, str) and labels not in {style.value for style in Style}:
        raise InputError(f"no kind of label is called {labels!r}", hint="auto, words, signs or numbers")
    return Style(labels)
