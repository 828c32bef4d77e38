"""Pictures of charts as SVG text and as files: labels, layout, and the key to numbered transitions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.charts.drawing.building import (
    NumberedTransition,
    TransitionLabeller,
    build_diagram,
    number_transitions,
    transition_segments,
)
from posewright.charts.drawing.diagram import (
    CoverageMark,
    DiagramMarks,
    Highlight,
    TextLine,
    combined_mark,
    highlight_states,
    walk_nodes,
)
from posewright.charts.drawing.layout.layout_search import Scene, find_best_scene, size_in_pages
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.pen import (
    ROW_HEIGHT,
    TITLE_FONT,
    BoundingBox,
    page,
    path,
    rect,
    text,
    text_width,
)
from posewright.charts.drawing.shapes_svg import NodeDrawing, draw_link
from posewright.charts.drawing.words import (
    LabelStyle,
    explain_signs,
    target_text,
    transition_lines,
    transition_signs,
    transition_text,
    uses_signs,
    wrap_text,
)
from posewright.charts.model import Chart
from posewright.documents import require_ending, write_atomically
from posewright.errors import InputError

MAX_ARROW_LINE_LENGTH = 28
MAX_KEY_LINE_LENGTH = 84
"""Characters in a line on an arrow, and in a line of the key."""

CROWDED_PAGES = 2.0
"""Size of a picture in pages above which AUTO tries numbers with a key instead of words."""

MAX_NUMBERS_SHARE = 0.8
"""Numbers are used if they need less than this share of the room that words need."""

NUMBERS_PER_LINE = 5

KEY_COLUMN_GAP = 28
KEY_GAP = 24
"""Room between columns of the key, and between the picture and its key [px]."""

MAX_KEY_COLUMNS = 4

BASELINE_SHARE = 0.8
"""From the top of a row of text to its baseline, as a share of the row's height."""


@dataclass(frozen=True)
class PlacedLine:
    """A line of text with its position [px]."""

    x: float
    y: float
    line: TextLine


@dataclass(frozen=True)
class Composition:
    """A picture with its key (text that explains it) below or beside it, and their total size [px]."""

    scene: Scene
    key_lines: tuple[PlacedLine, ...]
    width: float
    height: float


def compose_picture(chart: Chart, style: LabelStyle, marks: DiagramMarks) -> Composition:
    """Return a chart's picture in a style.

    Signs (such as `01X/10`) need a flat chart with a truth table; another chart gets words. AUTO uses words,
    or numbers with a key if the picture would be crowded and numbers make it much smaller.

    Args:
        chart: the chart to be drawn.
        style: what is written on the arrows.
        marks: marks of states and transitions.
    """
    if uses_signs(chart, style):
        explanation = [TextLine(explain_signs(chart))]
        return _compose_with_labels(
            chart,
            label_transition=lambda numbered: [transition_signs(chart, numbered.transition)],
            key=explanation,
            marks=marks,
        )
    if style is LabelStyle.NUMBERS:
        return _compose_with_numbers(chart, marks)
    word_picture = _compose_with_labels(
        chart,
        label_transition=lambda numbered: transition_lines(numbered.transition, MAX_ARROW_LINE_LENGTH),
        key=[],
        marks=marks,
    )
    word_pages = size_in_pages(word_picture.width, word_picture.height)
    if style is LabelStyle.WORDS or word_pages <= CROWDED_PAGES:
        return word_picture
    number_picture = _compose_with_numbers(chart, marks)
    number_pages = size_in_pages(number_picture.width, number_picture.height)
    return number_picture if number_pages < MAX_NUMBERS_SHARE * word_pages else word_picture


def _compose_with_numbers(chart: Chart, marks: DiagramMarks) -> Composition:
    """Return the picture of a chart with numbers on the arrows, which a key explains."""
    return _compose_with_labels(
        chart,
        label_transition=lambda numbered: [numbered.number],
        key=key_lines(chart),
        marks=marks,
        labels_per_line=NUMBERS_PER_LINE,
    )


def _compose_with_labels(
    chart: Chart,
    label_transition: TransitionLabeller,
    key: Sequence[TextLine],
    marks: DiagramMarks,
    labels_per_line: int = 1,
) -> Composition:
    """Return the picture of a chart with its key: text below or beside it that explains the labels.

    Args:
        chart: the chart to be drawn.
        label_transition: returns the lines of a transition's label.
        key: the lines of the key; empty if there is none.
        marks: the coverage marks of transitions, whose prefixes are written in front of the labels.
        labels_per_line: number of labels in one line.
    """

    def label_with_mark(numbered: NumberedTransition) -> list[str]:
        """Return the lines of a label, with the mark's prefix in front of the first unless that is empty."""
        lines = list(label_transition(numbered))
        is_segment = numbered.depth > 0  # it is marked together with its transition
        is_marked = numbered.transition_key in marks and not is_segment
        if is_marked and lines and lines[0]:
            lines[0] = marks[numbered.transition_key].label_prefix + lines[0]
        return lines

    diagram = build_diagram(chart, label_with_mark, labels_per_line)
    return _add_key(find_best_scene(diagram), key)


def key_lines(chart: Chart) -> list[TextLine]:
    """Return the lines of the key: under the name of each state, its transitions with their numbers."""
    lines: list[TextLine] = []
    previous_start = ""
    for numbered in number_transitions(chart):
        if numbered.start != previous_start:
            previous_start = numbered.start
            is_state = numbered.start in chart.parents
            lines.append(TextLine(numbered.start if is_state else f"junction {numbered.start}"))
        description = transition_text(numbered.transition)
        segment_numbers = ", ".join(segment.number for segment in transition_segments(numbered))
        target = target_text(numbered.transition) or segment_numbers
        if target:
            description = f"{description} -> {target}".lstrip()
        indent_of_segments = "  " * numbered.depth
        prefix = f"{indent_of_segments}{numbered.number:>4}  "
        continuation_indent = " " * (len(prefix) + 2)
        for line in wrap_text(description, MAX_KEY_LINE_LENGTH, continuation_indent, first=prefix):
            lines.append(TextLine(line, (numbered.transition_key,)))
    return lines


def _add_key(scene: Scene, lines: Sequence[TextLine]) -> Composition:
    """Return a picture with its key, placed and split into columns so that both need the least room."""
    if not lines:
        return Composition(scene, (), scene.width, scene.height)
    compositions = [
        _place_key_columns(scene, lines, n_columns, below=below)
        for n_columns in range(1, MAX_KEY_COLUMNS + 1)
        for below in (True, False)
    ]
    return min(compositions, key=lambda composition: size_in_pages(composition.width, composition.height))


def _place_key_columns(
    scene: Scene, lines: Sequence[TextLine], n_columns: int, *, below: bool
) -> Composition:
    """Return the scene with the key in some columns.

    Args:
        scene: the laid-out picture.
        lines: the lines of the key, of which each column holds the next ones.
        n_columns: number of columns.
        below: the key is below the scene, else to its right.
    """
    lines_per_column = math.ceil(len(lines) / n_columns)
    x = 0.0 if below else scene.width + KEY_GAP
    top = scene.height + KEY_GAP if below else 0.0
    placed_lines: list[PlacedLine] = []
    for first_index in range(0, len(lines), lines_per_column):
        column = lines[first_index : first_index + lines_per_column]
        for row_index, line in enumerate(column):
            baseline_y = top + (row_index + BASELINE_SHARE) * ROW_HEIGHT
            placed_lines.append(PlacedLine(x, baseline_y, line))
        x += max(text_width(line.text) for line in column) + KEY_COLUMN_GAP
    width = max(scene.width, x - KEY_COLUMN_GAP)
    height = max(scene.height, top + lines_per_column * ROW_HEIGHT)
    return Composition(scene, tuple(placed_lines), width, height)


MAX_STATES = 250
"""Greatest number of states in a picture: more are unreadable, and take minutes."""

MARGIN = 20.0
TITLE_HEIGHT = 48.0
LEGEND_HEIGHT = 34.0
"""Room around the picture, and heights of the title above it and of the legend of marks below it [px]."""

DRAWING_SUFFIXES = (".svg", ".mmd", ".md", ".txt")
"""Suffixes of files that can be drawn into; all but the first are Mermaid text."""


def draw_svg(
    chart: Chart,
    *,
    active: str | Iterable[str] | None = None,
    style: LabelStyle = LabelStyle.AUTO,
    marks: DiagramMarks | None = None,
) -> str:
    """Return a picture of a chart as SVG text.

    Args:
        chart: the chart to be drawn.
        active: the states to be highlighted: a name, several names, or names joined by `+`.
        style: words, signs or numbers on the arrows.
        marks: marks of states by name, and of transitions by state and index, such as a run's coverage.

    Raises:
        InputError: the chart has too many states.
        UnknownNameError: there is no state of a name in `active`.
    """
    if len(chart.every_state) > MAX_STATES:
        raise InputError(
            f"a picture of {len(chart.every_state)} states is too large",
            hint=f"at most {MAX_STATES}; Mermaid allows more",
        )
    highlighted = highlight_states(chart, active)
    marks = marks or {}
    composition = compose_picture(chart, style, marks)
    legend, legend_width = _legend_parts(composition.height) if marks else ([], 0.0)
    parts = [
        text("title", x=0, y=-TITLE_HEIGHT + 30, content=chart.name),
        *_scene_parts(composition.scene, highlighted, marks),
        *(_key_line(placed, marks) for placed in composition.key_lines),
        *legend,
    ]
    width = max(composition.width, text_width(chart.name, TITLE_FONT), legend_width)
    height = composition.height + (LEGEND_HEIGHT if marks else 0)
    return page(chart.name, (-MARGIN, -TITLE_HEIGHT, width + MARGIN, height + MARGIN), parts)


def _scene_parts(scene: Scene, highlight: Highlight, marks: DiagramMarks) -> Iterator[str]:
    """Yield the SVG of nodes, dividers and links, in drawing order.

    Args:
        scene: the laid-out picture.
        highlight: the active states, which are highlighted.
        marks: marks of states and transitions, which colour them.
    """
    drawing = NodeDrawing(scene, highlight, marks)
    if scene.diagram.root.parallel:
        yield rect(
            "frame", BoundingBox(scene.width / 2, scene.height / 2, scene.width, scene.height), corner=10
        )
    for outer in walk_nodes(scene.diagram.root):
        for node in outer.children:
            yield drawing.draw(node, scene.arrows_go_right[outer.key])
    for (start_x, start_y), (end_x, end_y) in scene.dividers:
        yield path("divider", f"M{start_x:.1f},{start_y:.1f} L{end_x:.1f},{end_y:.1f}")
    for routed_link in scene.routed_links:
        yield draw_link(routed_link, marks)


def _key_line(placed: PlacedLine, marks: DiagramMarks) -> str:
    """Return a line of the key as SVG, in the colour of the mark of its transitions."""
    mark = combined_mark(marks, placed.line.transition_keys)
    return text(
        f"legend {mark.css_class}" if mark else "legend", placed.x, placed.y, content=placed.line.text
    )


SAMPLE_WIDTH = 30
SAMPLE_HEIGHT = 16
"""Size of the sample of a state in an entry of the legend; the sample of a line is as wide [px]."""

SAMPLE_GAP = 8
ENTRY_GAP = 28
"""Room after each sample of the legend, and between its entries [px]."""


def _legend_parts(top: float) -> tuple[list[str], float]:
    """Return the SVG of the legend of marks, and its width [px].

    It has an entry for each coverage mark: a sample of a state, a sample of a line, and the name.

    Args:
        top: upper end of the legend [px].
    """
    parts: list[str] = []
    x = 0.0
    y = top + LEGEND_HEIGHT / 2 + 8
    line_x = SAMPLE_WIDTH + SAMPLE_GAP
    text_x = line_x + SAMPLE_WIDTH + SAMPLE_GAP
    for mark in CoverageMark:
        label = f"{mark.label_prefix}{mark.value}"
        box = BoundingBox(x + SAMPLE_WIDTH / 2, y, width=SAMPLE_WIDTH, height=SAMPLE_HEIGHT)
        parts += [
            rect(f"state {mark.css_class}", box, corner=4),
            path(f"line {mark.css_class}", f"M{x + line_x:.1f},{y:.1f} h{SAMPLE_WIDTH}"),
            text("legend", x=x + text_x, y=y + 4, content=label),
        ]
        x += text_x + text_width(label) + ENTRY_GAP
    return parts, x - ENTRY_GAP


def draw_chart(
    chart: Chart,
    path: Path | str,
    *,
    active: str | Iterable[str] | None = None,
    labels: LabelStyle | str = LabelStyle.AUTO,
    marks: DiagramMarks | None = None,
) -> None:
    """Draw a chart into a file.

    Args:
        chart: the chart to be drawn.
        path: the file, which ends in .svg, or in .mmd, .md or .txt for Mermaid text.
        active: the states to be highlighted: a name, several names, or names joined by `+`.
        labels: `auto`, `words`, `signs` or `numbers`.
        marks: marks of states by name, and of transitions by state and index, such as a run's coverage;
            only for an .svg file.

    Raises:
        InputError: another suffix, another kind of label, marks in Mermaid text, or too many states.
        UnknownNameError: there is no state of a name in `active`.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    style = label_style(labels)
    require_ending(path, DRAWING_SUFFIXES, "a drawing")
    if path.suffix.lower() == DRAWING_SUFFIXES[0]:
        content = draw_svg(chart, active=active, style=style, marks=marks)
    elif marks:
        raise InputError(f"cannot draw marks into {path}", hint="the name ends in .svg")
    else:
        content = draw_mermaid(chart, active=active, style=style)
    write_atomically(path, content.encode())


def label_style(labels: LabelStyle | str) -> LabelStyle:
    """Return a label style by its name, or the style itself.

    Raises:
        InputError: there is no style of that name.
    """
    if isinstance(labels, str) and labels not in {style.value for style in LabelStyle}:
        raise InputError(f"unknown labels {labels!r}", hint="use auto, words, signs or numbers")
    return LabelStyle(labels)
