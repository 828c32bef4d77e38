"""How a notebook shows robots, motions, gaits, walks, outcomes, recordings and batches.

`%load_ext posewright` turns it on, and so does importing posewright inside IPython. What a picture needs is
loaded when one is first shown. A figure that a `draw_*` function returns is shown too, without pyplot.
"""

from __future__ import annotations

import importlib
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from posewright.errors import PosewrightError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from posewright.runs.batch import Batch
    from posewright.runs.walking.many import ManyReport

_FIGURES, _REPLAYING = "posewright.figures", "posewright.runs.replaying"
SHOWN: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        ("posewright.robots.card", "Robot"): (_FIGURES, "draw_robot"),
        ("posewright.charts.model.chart", "Chart"): ("posewright.charts", "draw_svg"),
        ("posewright.motions.motion", "Motion"): (_FIGURES, "draw_motion"),
        ("posewright.gaits.quadruped.gait", "Gait"): (_FIGURES, "draw_gait"),
        ("posewright.evaluation.walking.report", "WalkResult"): (_FIGURES, "draw_walk"),
        ("posewright.runs.walking.many", "ManyReport"): (__name__, "figures_of_many"),
        ("posewright.evaluation.motion.report", "MotionResult"): (_REPLAYING, "draw_outcome"),
        ("posewright.evaluation.general", "RunResult"): (_REPLAYING, "draw_outcome"),
        ("posewright.runs.outcome", "Outcome"): (_REPLAYING, "draw_outcome"),
        ("posewright.recordings.recording", "Recording"): (_REPLAYING, "draw_outcome"),
        ("posewright.runs.batch", "Batch"): (__name__, "report_frame"),
    }
)
"""Module and name of the types that are shown, and of the functions that give a figure or HTML of them."""

FIGURE = "matplotlib.figure.Figure"

_PER_INCH = 96
"""Pixels of a browser in an inch, so that a point of a font is a point."""

_FRAME, _ROW, _TALLEST = 780, 100, 1100
"""Height of a batch's report without its rows, of a row, and of all of it at most [pixels]."""


def register(shell: Any) -> None:
    """Let a running IPython show our types as pictures; none of their modules is imported for that."""
    formatters = shell.display_formatter.formatters
    for (module, name), (room, function) in SHOWN.items():
        formatters["text/html"].for_type_by_name(
            module, name, lambda one, r=room, f=function: shown(one, r, f)
        )
    try:
        formatters["image/png"].lookup_by_type(FIGURE)
    except KeyError:  # pyplot was not imported here; where it is later, its own way of showing wins
        formatters["image/png"].for_type_by_name(*FIGURE.rsplit(".", 1), _shown_figure)


def shown(one: Any, room: str, function: str) -> str:
    """Return something as HTML: its picture, by a function of a module, and its table.

    Of what cannot be drawn, as a motion that takes no time, it is said why. Any other error is a fault of
    ours: IPython tells of it and shows the text instead.
    """
    table = one._repr_html_() if hasattr(one, "_repr_html_") else ""
    try:
        drawn = getattr(importlib.import_module(room), function)(one)
        return f"{drawn if isinstance(drawn, str) else _image(drawn)}{table}"
    except PosewrightError as error:
        return f"<p>{escape(str(error))}</p>{table or f'<p>{escape(repr(one))}</p>'}"


def _image(figure: Figure) -> str:
    from posewright.figures.saving import screen_png

    style = f"width: {figure.get_figwidth() * _PER_INCH:.0f}px; max-width: 100%; height: auto"
    alt, data = escape(str(figure.get_label()), quote=True), b64encode(screen_png(figure)).decode()
    return f'<img alt="{alt}" style="{style}" src="data:image/png;base64,{data}">'


def _shown_figure(figure: Figure) -> tuple[bytes, dict[str, int]]:
    from posewright.figures.saving import screen_png

    return screen_png(figure), {"width": round(figure.get_figwidth() * _PER_INCH)}


def report_frame(batch: Batch) -> str:
    """Return the report of a batch, without a closer look at single runs, in a frame; and its table.

    Where a notebook is not trusted, as on a web site, its frames are left out; its tables are not.
    """
    from posewright.robots import html_table
    from posewright.runs.batch_report import figure_text, figure_words, report_of

    style = f"width: 100%; height: {min(_FRAME + _ROW * len(batch.runs), _TALLEST)}px; border: 0"
    frame = f'<iframe style="{style}" srcdoc="{escape(report_of(batch, look_closer=False))}"></iframe>'
    table = batch.table()
    rows = [map(figure_text, row.values()) for row in table]
    return frame + html_table("All runs as a table", map(figure_words, table[0] if table else ()), rows)


def figures_of_many(walks: ManyReport) -> str:
    """Return the median and the worst of each figure of many bodies, as a table."""
    from posewright.evaluation.walking.figures import FIGURES
    from posewright.robots import html_table

    columns = ("figure", "unit", "median", "worst")
    found = [(one, walks.median[one.name], walks.worst[one.name]) for one in FIGURES]
    rows = ((one.words, one.unit, one.text(middle), one.text(worst)) for one, middle, worst in found)
    return html_table(repr(walks)[1:-1], columns, rows, opened=True)
