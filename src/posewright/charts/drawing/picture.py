"""A chart's picture as a file, by the file's ending."""

from __future__ import annotations

from pathlib import Path

from posewright.charts.chart import Chart
from posewright.charts.drawing.labels import Style
from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.drawing.svg import draw_svg
from posewright.documents import write_atomically
from posewright.errors import InputError

DRAWN = {".svg": draw_svg, ".mmd": draw_mermaid, ".md": draw_mermaid, ".txt": draw_mermaid}
"""What writes a file of each ending."""


def draw_chart(
    chart: Chart, path: Path | str, *, active: str | None = None, labels: Style | str = Style.AUTO
) -> None:
    """Draw a chart into a file.

    Args:
        chart: what to draw.
        path: ends in .svg, or in .mmd, .md or .txt for Mermaid text.
        active: a state to be highlighted.
        labels: `auto`, `words`, `signs` or `numbers`.

    Raises:
        InputError: another ending, or another kind of label.
        UnknownNameError: there is no state called `active`.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in DRAWN:
        raise InputError(f"cannot draw into {path}", hint="the name ends in .svg or .mmd")
    text = DRAWN[path.suffix.lower()](chart, active=active, style=style_called(labels))
    write_atomically(path, text.encode())


def style_called(labels: Style | str) -> Style:
    """Return the style of that name.

    Raises:
        InputError: there is none.
    """
    if isinstance(labels, str) and labels not in {style.value for style in Style}:
        raise InputError(f"no kind of label is called {labels!r}", hint="auto, words, signs or numbers")
    return Style(labels)
