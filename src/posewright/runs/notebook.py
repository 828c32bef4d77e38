"""HTML for notebooks: robots, motions, gaits, walks, outcomes, recordings and batches as pictures and tables.

`%load_ext posewright` registers it, as does importing posewright inside IPython. Modules are imported when
the first object is displayed. Figures returned by `draw_*` functions are displayed without pyplot.
"""

from __future__ import annotations

import importlib
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from posewright.errors import PosewrightError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from posewright.runs.batch import Batch
    from posewright.runs.walking.many import ManyReport

_FIGURES = "posewright.figures"
_REPLAYING = "posewright.runs.replaying"
DRAWING_FUNCTIONS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        ("posewright.robots.card", "Robot"): (_FIGURES, "draw_robot"),
        ("posewright.charts.model.chart", "Chart"): ("posewright.charts", "draw_svg"),
        ("posewright.motions.motion", "Motion"): (_FIGURES, "draw_motion"),
        ("posewright.gaits.quadruped.gait", "QuadrupedGait"): (_FIGURES, "draw_gait"),
        ("posewright.evaluation.walking.report", "WalkResult"): (_FIGURES, "draw_walk"),
        ("posewright.runs.walking.many", "ManyReport"): (__name__, "tabulate_many_walks"),
        ("posewright.evaluation.motion.report", "MotionResult"): (_REPLAYING, "draw_outcome"),
        ("posewright.evaluation.run_result", "RunResult"): (_REPLAYING, "draw_outcome"),
        ("posewright.runs.outcome", "Outcome"): (_REPLAYING, "draw_outcome"),
        ("posewright.recordings.recording", "Recording"): (_REPLAYING, "draw_outcome"),
        ("posewright.runs.batch", "Batch"): (__name__, "report_frame"),
    }
)
"""Module and name of each displayed type, and of the function that returns its figure or HTML."""

FIGURE = "matplotlib.figure.Figure"

_PER_INCH = 96
"""Pixels per inch in a browser."""

_REPORT_HEIGHT = 780
"""Height of a batch's report without its rows [pixels]."""
_ROW_HEIGHT = 100
_MAX_HEIGHT = 1100


def register(shell: Any) -> None:
    """Register the displays with a running IPython shell; this imports none of the types' modules.

    Args:
        shell: the `InteractiveShell`; IPython is an optional dependency without types.
    """
    formatters = shell.display_formatter.formatters
    for (module, name), (room, function) in DRAWING_FUNCTIONS.items():
        formatters["text/html"].for_type_by_name(
            module, name, lambda value, r=room, f=function: html_of(value, r, f)
        )
    try:
        formatters["image/png"].lookup_by_type(FIGURE)
    except KeyError:  # pyplot is not imported; if it is later, its own display replaces this one
        formatters["image/png"].for_type_by_name(*FIGURE.rsplit(".", 1), _png_of_figure)


@runtime_checkable
class HasHtml(Protocol):
    """An object with IPython's own method for HTML."""

    def _repr_html_(self) -> str: ...


def html_of(value: object, module: str, function: str) -> str:
    """Return an object as HTML: the picture that a function of a module draws, and its table.

    If it cannot be drawn, such as a motion without duration, the error message takes the picture's place.
    Other errors are bugs: IPython reports them and shows the text instead.
    """
    table = value._repr_html_() if isinstance(value, HasHtml) else ""
    try:
        picture = getattr(importlib.import_module(module), function)(value)
        return f"{picture if isinstance(picture, str) else _image(picture)}{table}"
    except PosewrightError as error:
        return f"<p>{escape(str(error))}</p>{table or f'<p>{escape(repr(value))}</p>'}"


def _image(figure: Figure) -> str:
    """Return a figure as an HTML image."""
    from posewright.figures.saving import screen_png

    style = f"width: {figure.get_figwidth() * _PER_INCH:.0f}px; max-width: 100%; height: auto"
    alt = escape(str(figure.get_label()), quote=True)
    data = b64encode(screen_png(figure)).decode()
    return f'<img alt="{alt}" style="{style}" src="data:image/png;base64,{data}">'


def _png_of_figure(figure: Figure) -> tuple[bytes, dict[str, int]]:
    from posewright.figures.saving import screen_png

    return screen_png(figure), {"width": round(figure.get_figwidth() * _PER_INCH)}


def report_frame(batch: Batch) -> str:
    """Return the report of a batch without pictures of single runs in a frame, and its table.

    Notebooks that are not trusted, as on a web site, lose frames but keep tables.
    """
    from posewright.robots import html_table
    from posewright.runs.batch_report import figure_text, figure_words, report_of

    height = min(_REPORT_HEIGHT + _ROW_HEIGHT * len(batch.runs), _MAX_HEIGHT)
    style = f"width: 100%; height: {height}px; border: 0"
    frame = f'<iframe style="{style}" srcdoc="{escape(report_of(batch, with_pictures=False))}"></iframe>'
    table = batch.table()
    rows = [map(figure_text, row.values()) for row in table]
    return frame + html_table("All runs as a table", map(figure_words, table[0] if table else ()), rows)


def tabulate_many_walks(walks: ManyReport) -> str:
    """Return an HTML table with the median and the worst value of each figure over many bodies."""
    from posewright.evaluation.walking.figures import FIGURES
    from posewright.robots import html_table

    columns = ("figure", "unit", "median", "worst")
    rows = (
        (
            figure.label,
            figure.unit,
            figure.text(walks.median[figure.name]),
            figure.text(walks.worst[figure.name]),
        )
        for figure in FIGURES
    )
    return html_table(walks.title, columns, rows, is_open=True)
