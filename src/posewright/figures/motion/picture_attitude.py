"""The base's attitude in the picture of a motion, as the file has it: no servo makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.figures.motion.picture_content import Content, Numbers
from posewright.figures.motion.picture_layout import LEAST_SPAN_DEG, ROOM, Cell
from posewright.figures.motion.picture_panel import draw_heading, draw_keyframes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ANGLES = (("roll, + right", "#0072b2"), ("pitch, + forward", "#d55e00"), ("yaw, + left", "#009e73"))


def draw_attitude(axes: Axes, content: Content, cell: Cell, attitude: Numbers) -> None:
    """Draw roll, pitch and yaw (n_keyframes, 3) [deg] between the keyframes that say them."""
    known = attitude[np.isfinite(attitude)]
    middle, span = (known.max() + known.min()) / 2.0, max(LEAST_SPAN_DEG, np.ptp(known) * ROOM)
    axes.set_xlim(0.0, content.until_s)
    axes.set_ylim(middle - span / 2, middle + span / 2)
    draw_keyframes(axes, content)
    draw_heading(axes, cell)
    given = np.isfinite(attitude).all(axis=1)
    for column, (name, colour) in enumerate(ANGLES):
        axes.plot(
            content.marks[given],
            attitude[given, column],
            "o-",
            color=colour,
            label=name,
            linewidth=1.2,
            markersize=2.2,
        )
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=3, fontsize=6.5, frameon=False, borderaxespad=0.0
    )
    axes.spines[["top", "right"]].set_visible(False)
