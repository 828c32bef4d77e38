"""Feet and ground in the picture of a walk: the way from above, footfalls, and how high feet are lifted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.evaluation.runs import unbroken
from posewright.evaluation.walking.command_schedule import spans
from posewright.evaluation.walking.feet import foot_tracks, lifting_phase
from posewright.evaluation.walking.track import GaitTrack
from posewright.experiments.walking.trial import GaitTrial
from posewright.figures.gait.feet import COLOURS
from posewright.kinematics import legs_by_foot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WAY, SETTLING, FALLEN, PLANNED = "#0072b2", "#9aa5ad", "#c0392b", "#5b6770"
ARROW_EVERY_S = 1.0
LEAST_SIDE_M = 0.25
"""From above, no less than this is shown: a robot on the spot does not look like a traveller."""

CYCLES = 4
"""So many cycles of footfalls are shown."""


def foot_colours(track: GaitTrack) -> dict[str, str]:
    """Return the colour of each foot: that which it has in the picture of the gait."""
    return {
        foot: COLOURS[name] for foot, name in zip(track.robot.feet, legs_by_foot(track.robot), strict=True)
    }


def foot_words(foot: str) -> str:
    """Return a foot's name as people say it: left front."""
    return foot.removesuffix("_paw").removesuffix("_foot").replace("_", " ")


def draw_way(axes: Axes, trial: GaitTrial) -> None:
    """Draw the base's way from above, where it looked each second, and where it was to be in the end."""
    track = trial.track
    places, begin = track.base[:, :2], min(track.begin, len(track.base) - 1)
    axes.plot(*places[: begin + 1].T, color=SETTLING, lw=1.4, label="settling")
    axes.plot(*places[begin:].T, color=WAY, lw=1.4, label="base")
    _draw_wanted(axes, track, begin)
    rows = np.arange(begin, len(places), max(round(ARROW_EVERY_S / track.frame_s), 1))
    looks = np.stack([np.cos(track.yaw[rows]), np.sin(track.yaw[rows])], axis=-1)
    axes.quiver(
        *places[rows].T, *looks.T, color=WAY, width=0.004, scale=22.0, zorder=4, label="heading, each second"
    )
    axes.plot(*places[0], "o", color="black", ms=5, label="put down")
    for fall in trial.falls:
        axes.plot(*places[fall.row], "X", color=FALLEN, ms=9, mec="white", label=f"falls {fall.side}")
    _frame_from_above(axes)
    axes.set(xlabel="x [m]", ylabel="y [m], to the left", title="from above")
    axes.legend(loc="best", fontsize=7.5, frameon=False)
    axes.grid(alpha=0.3)


def _draw_wanted(axes: Axes, track: GaitTrack, begin: int) -> None:
    """Draw the way that was commanded from where and how the robot was when the measuring began."""
    from posewright.gaits import chain, se2_exp

    here = np.array([*track.base[begin, :2], track.yaw[begin]])
    way = [here]
    for span in spans(track.commands, track.frame_s, begin, len(track.base) - 1):
        for _ in range(span.start, span.stop):
            way.append(chain(way[-1], se2_exp(span.command.components(track.frame_s))))
    axes.plot(*np.array(way)[:, :2].T, color="black", lw=0.9, ls="--", label="asked for")


def _frame_from_above(axes: Axes) -> None:
    """Show all of it at one scale, and not too little."""
    box = axes.dataLim
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2.0
    axes.update_datalim([middle - LEAST_SIDE_M / 2.0, middle + LEAST_SIDE_M / 2.0])
    axes.set_aspect("equal", adjustable="datalim")


def draw_footfalls(axes: Axes, trial: GaitTrial) -> None:
    """Draw when each foot was on the ground, and in frames when it should have been."""
    track = trial.track
    first, last = _shown(trial)
    colours = foot_colours(track)
    for line, foot in enumerate(track.robot.feet):
        spans = [
            ((b + first) * track.frame_s, (e - b) * track.frame_s)
            for b, e in unbroken(track.foot_contacts[first:last, line])
        ]
        axes.broken_barh(spans, (line - 0.28, 0.56), color=colours[foot])
        axes.broken_barh(
            _planned(track, line, first, last), (line - 0.42, 0.84), fc="none", ec=PLANNED, lw=1.0, ls="-"
        )
    duties = [f"{foot_words(one.foot)}, {_share(one.duty)} down" for one in trial.report.feet]
    axes.set(yticks=range(len(duties)), yticklabels=duties, xlabel="time [s]")
    axes.set_xlim(first * track.frame_s, last * track.frame_s)
    axes.set_title(f"on the ground: filled as it was, framed as planned ({trial.report.planned_duty:.0%})")
    axes.invert_yaxis()


def _share(duty: float | None) -> str:
    return "?" if duty is None else f"{duty:.0%}"


def _shown(trial: GaitTrial) -> tuple[int, int]:
    """Return between which rows footfalls are shown: the last cycles on its feet, when it is steady."""
    last = max(trial.last_upright_row, 1)
    return max(last - CYCLES * trial.track.timing.frames, 0), last


def _planned(track: GaitTrack, column: int, first: int, last: int) -> list[tuple[float, float]]:
    """Return begin and length of the times a foot should be on the ground [s]."""
    cycle_s, lift = track.timing.period_s, lifting_phase(track, column) * track.timing.period_s
    numbers = np.arange(np.floor(first * track.frame_s / cycle_s) - 1.0, last * track.frame_s / cycle_s + 1.0)
    begins = lift + numbers * cycle_s + track.timing.air_s
    return [(begin, track.timing.ground_s) for begin in begins.tolist()]


def draw_heights(axes: Axes, trial: GaitTrial) -> None:
    """Draw how high the lowest point of each foot was."""
    track = trial.track
    first, last = _shown(trial)
    colours, heights = foot_colours(track), foot_tracks(track).heights
    for column, foot in enumerate(track.robot.feet):
        axes.plot(
            track.times[first : last + 1],
            1000.0 * heights[first : last + 1, column],
            color=colours[foot],
            lw=1.3,
            label=foot_words(foot),
        )
    axes.axhline(0.0, color="black", lw=0.7)
    axes.set_xlim(first * track.frame_s, last * track.frame_s)
    axes.set(xlabel="time [s]", ylabel="[mm]", title="lowest point of each foot above the ground")
    axes.legend(loc="upper right", ncols=4, fontsize=7, frameon=False)
    axes.set_ylim(top=axes.get_ylim()[1] * 1.25)
    axes.grid(alpha=0.3)
