"""What happened over time in the picture of a walk: velocity cycle by cycle, and tilt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.evaluation.walking.falls import tilt_deg
from posewright.evaluation.walking.leaning import attitude_deg
from posewright.evaluation.walking.track import GaitTrack
from posewright.evaluation.walking.travel import cycle_rates
from posewright.experiments.walking.trial import GaitTrial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#e69f00", "#009e73")
TILT, FALL = "black", "#c0392b"


def draw_rates(axes: Axes, trial: GaitTrial) -> None:
    """Draw the velocity of every whole cycle as steps, and dotted what was asked for."""
    track = trial.track
    cycle_s = track.timing.frames * track.frame_s
    rates = cycle_rates(track, 0, trial.last_upright_row)
    edges = np.arange(len(rates) + 1) * cycle_s
    words = ("forward [m/s]", "left [m/s]", "turn [rad/s]")
    for column, (colour, word) in enumerate(zip(COLOURS, words, strict=True)):
        if len(rates):
            axes.stairs(rates[:, column], edges, color=colour, lw=1.3, baseline=None)
        axes.plot([], [], color=colour, lw=1.3, label=word)
        _draw_asked(axes, track, column, colour)
    _mark(axes, trial)
    axes.set(xlabel="time [s]", title="velocity of each cycle, seen from the base; dotted: asked for")
    axes.set_xlim(0.0, track.times[-1])
    axes.legend(loc="best", ncols=3, fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def _draw_asked(axes: Axes, track: GaitTrack, column: int, colour: str) -> None:
    times = [timed.time_s for timed in track.commands]
    values = [tuple(timed.command.by_name.values())[column] for timed in track.commands]
    axes.step([*times, track.times[-1]], [*values, values[-1]], where="post", color=colour, lw=1.0, ls=":")


def draw_tilt(axes: Axes, trial: GaitTrial) -> None:
    """Draw roll, pitch and the tilt of the base from the vertical."""
    track = trial.track
    roll, pitch = attitude_deg(track)
    for values, colour, word, width in (
        (tilt_deg(track), TILT, "tilt from the vertical", 1.3),
        (roll, COLOURS[0], "roll, + right", 0.9),
        (pitch, COLOURS[1], "pitch, + forward", 0.9),
    ):
        axes.plot(track.times, values, color=colour, lw=width, label=word)
    _mark(axes, trial)
    report = trial.report
    axes.set(xlabel="time [s]", ylabel="[deg]")
    axes.set_title(
        f"base: tilt {report.max_tilt_deg:.1f} deg at most, {report.mean_tilt_deg:.1f} on the mean"
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.25 * (high - low))
    axes.legend(loc="upper right", ncols=3, fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def _mark(axes: Axes, trial: GaitTrial) -> None:
    """Shade the time before the measuring began, and mark falls."""
    axes.axvspan(0.0, trial.track.begin * trial.track.frame_s, color="#e8ebee", lw=0, zorder=0)
    for fall in trial.falls:
        axes.axvline(fall.time_s, color=FALL, lw=1.2)
