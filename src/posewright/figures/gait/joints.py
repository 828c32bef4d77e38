"""The joints of a leg over a cycle: angles beside the card's limits, speeds beside the greatest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from posewright.figures.gait.content import FootWay, GaitContent
from posewright.figures.gait.feet import COLOURS, FAINT, GREY, INK, WRONG
from posewright.figures.gait.phases import down_spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_SPAN_DEG = 10.0
"""No panel shows less, so that a tremble does not look like a kick."""

ROOM = 1.25
STYLES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)))
"""Of rotator, elevator and knee where they share a panel."""

BAND = "#eceff2"
"""Behind curves, while the foot is in the air."""

LEAST_TOP = 1.2
"""Speeds are shown up to this share of the greatest at least, so that its line is seen."""


@dataclass(frozen=True)
class Range:
    """Where a joint goes, and may go.

    Attributes:
        least_deg: its smallest angle in the cycle [deg].
        most_deg: its largest.
        lower_deg: its lower limit on the card.
        upper_deg: its upper limit.
    """

    least_deg: float
    most_deg: float
    lower_deg: float
    upper_deg: float

    @property
    def is_kept(self) -> bool:
        """Whether it stays within the limits."""
        return self.lower_deg - 1e-6 <= self.least_deg and self.most_deg <= self.upper_deg + 1e-6


def joint_range(content: GaitContent, joint: str) -> Range:
    """Return where a joint goes in a cycle beside where it may go."""
    angles = np.rad2deg(content.angles[:, content.robot.index(joint)])
    limits = content.robot.joint(joint)
    lower, upper = np.rad2deg([limits.lower_rad, limits.upper_rad])
    return Range(float(angles.min()), float(angles.max()), float(lower), float(upper))


def common_span_deg(content: GaitContent, joints: tuple[str, ...]) -> float:
    """Return a span that each of some joints fits in, so that they can be compared [deg]."""
    ranges = [joint_range(content, joint) for joint in joints]
    return max(LEAST_SPAN_DEG, ROOM * max(r.most_deg - r.least_deg for r in ranges))


def draw_joint(axes: Axes, content: GaitContent, way: FootWay, joint: str, span_deg: float) -> None:
    """Draw the angle of a joint over the cycle, and its limits where they come into view."""
    reach = joint_range(content, joint)
    middle = (reach.least_deg + reach.most_deg) / 2.0
    bottom, top = middle - span_deg / 2.0, middle + span_deg / 2.0
    axes.set_ylim(bottom, top)
    frame_time(axes, content, way)
    for limit, end in ((reach.lower_deg, bottom), (reach.upper_deg, top)):
        if bottom < limit < top:
            axes.axhline(limit, color=WRONG, lw=0.9, ls="--", zorder=2)
            axes.axhspan(min(limit, end), max(limit, end), color=WRONG, alpha=0.08, lw=0, zorder=1)
    angles = np.rad2deg(content.angles[:, content.robot.index(joint)])
    axes.plot(content.times, angles, color=COLOURS[way.foot], lw=1.5, zorder=3)
    axes.locator_params(axis="y", nbins=4)
    axes.set_title(part_of(joint, way), fontsize=7.5, loc="left", pad=2)
    share, most = fastest_of(content, joint)
    told = f"fastest {share:.2f} x {most:.1f} rad/s"
    axes.set_title(told, fontsize=6.5, loc="right", pad=2, color=GREY if share <= 1.0 else WRONG)


def fastest_of(content: GaitContent, joint: str) -> tuple[float, float]:
    """Return a joint's greatest speed in the cycle as a share of what it can, and what it can [rad/s]."""
    index = content.robot.index(joint)
    return float(content.speeds[:, index].max()), float(content.robot.max_speeds[index])


def draw_gauge(axes: Axes, content: GaitContent, way: FootWay, joint: str) -> None:
    """Draw, upright, the whole range the card allows, and of it what the gait uses."""
    reach = joint_range(content, joint)
    low, high = min(reach.lower_deg, reach.least_deg), max(reach.upper_deg, reach.most_deg)
    axes.set_ylim(low, high)
    axes.set_xlim(0.0, 1.0)
    axes.axhspan(reach.lower_deg, reach.upper_deg, color=FAINT, lw=0)
    colour = COLOURS[way.foot] if reach.is_kept else WRONG
    axes.axhspan(reach.least_deg, reach.most_deg, color=colour, lw=0)
    axes.set_yticks([reach.lower_deg, reach.upper_deg], [f"{reach.lower_deg:.0f}", f"{reach.upper_deg:.0f}"])
    axes.yaxis.tick_right()
    axes.set_xticks([])
    axes.tick_params(labelsize=6, length=0, pad=2, labelcolor=GREY if reach.is_kept else WRONG)
    axes.spines[:].set_visible(False)


def draw_speeds(axes: Axes, content: GaitContent, way: FootWay) -> None:
    """Draw the speeds of a leg's joints as shares of the greatest, with a line at 1."""
    indices = [content.robot.index(joint) for joint in way.leg.joints]
    speeds = content.speeds[:, indices]
    axes.set_ylim(0.0, max(LEAST_TOP, 1.1 * float(speeds.max())))
    frame_time(axes, content, way)
    axes.axhline(1.0, color=WRONG, lw=1.0, ls="--", zorder=2)
    for joint, share, style in zip(way.leg.joints, speeds.T, STYLES, strict=True):
        name, colour = part_of(joint, way), COLOURS[way.foot]
        axes.stairs(share, content.times, color=colour, lw=1.2, ls=style, label=name, baseline=None)
    axes.set_title("speed / greatest", fontsize=7.5, loc="left", pad=2)
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=3,
        fontsize=6.5,
        frameon=False,
        borderaxespad=0.0,
        borderpad=0.15,
        handlelength=1.8,
        handletextpad=0.4,
        columnspacing=0.9,
    )
    axes.locator_params(axis="y", nbins=4)


def frame_time(axes: Axes, content: GaitContent, way: FootWay) -> None:
    """Set the cycle as the axis of time, with bands behind while the foot is in the air."""
    period = content.timing.period_s
    axes.set_xlim(0.0, period)
    axes.axvspan(0.0, period, color=BAND, lw=0, zorder=0)
    for start, end in down_spans(way):
        axes.axvspan(start, end, color="white", lw=0, zorder=0.5)
    axes.tick_params(labelsize=6.5, length=2.5, pad=1.5, labelcolor=INK)
    axes.spines[["top", "right"]].set_visible(False)


def part_of(joint: str, way: FootWay) -> str:
    """Return the name of a joint without that of its leg."""
    return joint.removeprefix(f"{way.foot}_").replace("_", " ")
