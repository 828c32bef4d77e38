"""What happened over time in the picture of a walk: velocity cycle by cycle, and tilt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.evaluation.walking.walk import Walk
from posewright.evaluation.walking.travel import cycle_rates
from posewright.evaluation.walking.report import WalkResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#e69f00", "#009e73")
TILT, FALL = "black", "#c0392b"


def draw_rates(axes: Axes, result: WalkResult) -> None:
    """Draw the velocity of every whole cycle as steps, and dotted what was asked for."""
    walk = result.walk
    cycle_s = walk.timing.frames * walk.frame_s
    rates = cycle_rates(walk, 0, result.walk.last_upright_row)
    edges = np.arange(len(rates) + 1) * cycle_s
    words = ("forward [m/s]", "left [m/s]", "turn [rad/s]")
    for column, (colour, word) in enumerate(zip(COLOURS, words, strict=True)):
        if len(rates):
            axes.stairs(rates[:, column], edges, color=colour, lw=1.3, baseline=None)
        axes.plot([], [], color=colour, lw=1.3, label=word)
        _draw_asked(axes, walk, column, colour)
    _mark(axes, result)
    axes.set(xlabel="time [s]", title="velocity of each cycle, seen from the base; dotted: asked for")
    axes.set_xlim(0.0, walk.trajectory.times[-1])
    axes.legend(loc="best", ncols=3, fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def _draw_asked(axes: Axes, walk: Walk, column: int, colour: str) -> None:
    times = [timed.time_s for timed in walk.commands]
    values = [tuple(timed.command.by_name.values())[column] for timed in walk.commands]
    axes.step([*times, walk.trajectory.times[-1]], [*values, values[-1]], where="post", color=colour, lw=1.0, ls=":")


def draw_tilt(axes: Axes, result: WalkResult) -> None:
    """Draw roll, pitch and the tilt of the base from the vertical."""
    walk = result.walk
    roll, pitch = walk.trajectory.attitude_deg
    for values, colour, word, width in (
        (walk.trajectory.tilt_deg, TILT, "tilt from the vertical", 1.3),
        (roll, COLOURS[0], "roll, + right", 0.9),
        (pitch, COLOURS[1], "pitch, + forward", 0.9),
    ):
        axes.plot(walk.trajectory.times, values, color=colour, lw=width, label=word)
    _mark(axes, result)
    report = result.report
    axes.set(xlabel="time [s]", ylabel="[deg]")
    axes.set_title(
        f"base: tilt {report.leaning.max_tilt_deg:.1f} deg at most, {report.leaning.mean_tilt_deg:.1f} on the mean"
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))
    axes.legend(loc="upper right", ncols=3, fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def _mark(axes: Axes, result: WalkResult) -> None:
    """Shade the time before the measuring began, and mark falls."""
    axes.axvspan(0.0, result.walk.begin * result.walk.frame_s, color="#e8ebee", lw=0, zorder=0)
    for fall in result.walk.falls:
        axes.axvline(fall.time_s, color=FALL, lw=1.2)
