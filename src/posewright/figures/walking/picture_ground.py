"""Feet and ground in the picture of a walk: the way from above, footfalls, and how high feet are lifted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.evaluation.walking.feet import foot_tracks, lifting_phase
from posewright.evaluation.walking.walk import Walk, spans
from posewright.evaluation.walking.report import WalkResult
from posewright.figures.gait.feet import COLOURS
from posewright.kinematics import legs_by_foot
from posewright.recordings.falls import runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WAY, SETTLING, FALLEN, PLANNED = "#0072b2", "#9aa5ad", "#c0392b", "#5b6770"
ARROW_EVERY_S = 1.0
LEAST_SIDE_M = 0.25
"""From above, no less than this is shown: a robot on the spot does not look like a traveller."""

CYCLES = 4
"""So many cycles of footfalls are shown."""


def foot_colours(walk: Walk) -> dict[str, str]:
    """Return the colour of each foot: that which it has in the picture of the gait."""
    return {
        foot: COLOURS[name] for foot, name in zip(walk.robot.feet, legs_by_foot(walk.robot), strict=True)
    }


def foot_words(foot: str) -> str:
    """Return a foot's name as people say it: left front."""
    return foot.removesuffix("_paw").removesuffix("_foot").replace("_", " ")


def draw_way(axes: Axes, result: WalkResult) -> None:
    """Draw the base's way from above, where it looked each second, and where it was to be in the end."""
    walk = result.walk
    places, begin = walk.trajectory.base[:, :2], walk.first_measured
    axes.plot(*places[: begin + 1].T, color=SETTLING, lw=1.4, label="settling")
    axes.plot(*places[begin:].T, color=WAY, lw=1.4, label="base")
    _draw_wanted(axes, walk, begin)
    rows = np.arange(begin, len(places), max(round(ARROW_EVERY_S / walk.frame_s), 1))
    looks = np.stack([np.cos(walk.trajectory.yaw[rows]), np.sin(walk.trajectory.yaw[rows])], axis=-1)
    axes.quiver(
        *places[rows].T, *looks.T, color=WAY, width=0.004, scale=22.0, zorder=4, label="heading, each second"
    )
    axes.plot(*places[0], "o", color="black", ms=5, label="put down")
    for fall in result.walk.falls:
        axes.plot(*places[fall.row], "X", color=FALLEN, ms=9, mec="white", label=f"falls {fall.side}")
    _frame_from_above(axes)
    axes.set(xlabel="x [m]", ylabel="y [m], to the left", title="from above")
    axes.legend(loc="best", fontsize=7.5, frameon=False)
    axes.grid(alpha=0.3)


def _draw_wanted(axes: Axes, walk: Walk, begin: int) -> None:
    """Draw the way that was commanded from where and how the robot was when the measuring began."""
    from posewright.gaits import chain, se2_exp

    here = np.array([*walk.trajectory.base[begin, :2], walk.trajectory.yaw[begin]])
    way = [here]
    for span in spans(walk.commands, walk.frame_s, begin, walk.last):
        for _ in range(span.start, span.stop):
            way.append(chain(way[-1], se2_exp(span.command.components(walk.frame_s))))
    axes.plot(*np.array(way)[:, :2].T, color="black", lw=0.9, ls="--", label="asked for")


def _frame_from_above(axes: Axes) -> None:
    """Show all of it at one scale, and not too little."""
    box = axes.dataLim
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2.0
    axes.update_datalim([middle - LEAST_SIDE_M / 2.0, middle + LEAST_SIDE_M / 2.0])
    axes.set_aspect("equal", adjustable="datalim")


def draw_footfalls(axes: Axes, result: WalkResult) -> None:
    """Draw when each foot was on the ground, and in frames when it should have been."""
    walk = result.walk
    first, last = _shown(result)
    colours = foot_colours(walk)
    for line, foot in enumerate(walk.robot.feet):
        spans = [
            ((b + first) * walk.frame_s, (e - b) * walk.frame_s)
            for b, e in runs(walk.trajectory.foot_contacts[first:last, line])
        ]
        axes.broken_barh(spans, (line - 0.28, 0.56), color=colours[foot])
        axes.broken_barh(
            _planned(walk, line, first, last), (line - 0.42, 0.84), fc="none", ec=PLANNED, lw=1.0, ls="-"
        )
    duties = [f"{foot_words(one.foot)}, {_share(one.duty)} down" for one in result.report.feet.feet]
    axes.set(yticks=range(len(duties)), yticklabels=duties, xlabel="time [s]")
    axes.set_xlim(first * walk.frame_s, last * walk.frame_s)
    axes.set_title(f"on the ground: filled as it was, framed as planned ({result.report.feet.planned_duty:.0%})")
    axes.invert_yaxis()


def _share(duty: float | None) -> str:
    return "?" if duty is None else f"{duty:.0%}"


def _shown(result: WalkResult) -> tuple[int, int]:
    """Return between which rows footfalls are shown: the last cycles on its feet, when it is steady."""
    last = max(result.walk.last_upright_row, 1)
    return max(last - CYCLES * result.walk.timing.frames, 0), last


def _planned(walk: Walk, column: int, first: int, last: int) -> list[tuple[float, float]]:
    """Return begin and length of the times a foot should be on the ground [s]."""
    cycle_s, lift = walk.timing.period_s, lifting_phase(walk, column) * walk.timing.period_s
    numbers = np.arange(np.floor(first * walk.frame_s / cycle_s) - 1.0, last * walk.frame_s / cycle_s + 1.0)
    begins = lift + numbers * cycle_s + walk.timing.air_s
    return [(begin, walk.timing.ground_s) for begin in begins.tolist()]


def draw_heights(axes: Axes, result: WalkResult) -> None:
    """Draw how high the lowest point of each foot was."""
    walk = result.walk
    first, last = _shown(result)
    colours, heights = foot_colours(walk), foot_tracks(walk).heights
    for column, foot in enumerate(walk.robot.feet):
        axes.plot(
            walk.trajectory.times[first : last + 1],
            1000.0 * heights[first : last + 1, column],
            color=colours[foot],
            lw=1.3,
            label=foot_words(foot),
        )
    axes.axhline(0.0, color="black", lw=0.7)
    axes.set_xlim(first * walk.frame_s, last * walk.frame_s)
    axes.set(xlabel="time [s]", ylabel="[mm]", title="lowest point of each foot above the ground")
    axes.legend(loc="upper right", ncols=4, fontsize=7, frameon=False)
    axes.set_ylim(top=axes.get_ylim()[1] * 1.25)
    axes.grid(alpha=0.3)
