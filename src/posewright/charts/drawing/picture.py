"""A chart's picture as a file, by the file's ending."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from posewright.charts.drawing.labels import Style
from posewright.charts.drawing.marks import Marks
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.svg import draw_svg
from posewright.charts.model import Chart
from posewright.documents import write_atomically
from posewright.errors import InputError

DRAWN = (".svg", ".mmd", ".md", ".txt")
"""Endings of files that can be drawn into; all but the first hold Mermaid text."""


def draw_chart(
    chart: Chart,
    path: Path | str,
    *,
    active: str | Iterable[str] | None = None,
    labels: Style | str = Style.AUTO,
    marks: Marks | None = None,
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
    path, style = Path(path), style_called(labels)
    if path.suffix.lower() not in DRAWN:
        raise InputError(f"cannot draw into {path}", hint="the name ends in .svg or .mmd")
    if path.suffix.lower() == DRAWN[0]:
        text = draw_svg(chart, active=active, style=style, marks=marks)
    elif marks:
        raise InputError(f"cannot draw marks into {path}", hint="the name ends in .svg")
    else:
        text = draw_mermaid(chart, active=active, style=style)
    write_atomically(path, text.encode())


def style_called(labels: Style | str) -> Style:
    """Return the style of that name.

    Raises:
        InputError: there is none.
    """
    if isinstance(labels, str) and labels not in {style.value for style in Style}:
        raise InputError(f"no kind of label is called {labels!r}", hint="auto, words, signs or numbers")
    return Style(labels)
