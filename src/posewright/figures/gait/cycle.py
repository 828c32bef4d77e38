"""Plots over a gait cycle: the phases of the feet, and the angles and speeds of a leg's joints."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from posewright.figures.gait.content import (
    COLOURS,
    ORDER,
    SHORT_FOOT_NAMES,
    TOLERANCE,
    CycleContent,
    FootPath,
    GaitContent,
)
from posewright.figures.style import FAINT, GREY, INK, WRONG, trim_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_HEIGHT = 0.62
"""Height of a bar, as a share of its row."""

TOP_Y = -0.6
"""Upper end of the y axis, above the bar of the first foot in row 0."""

MIN_TEXT_SHARE = 0.03
"""Least share of the cycle that has room for a number."""
COUNT_ROW = float(len(ORDER))
"""The row below the feet, with the number of feet on the ground."""


def down_spans(path: FootPath) -> list[tuple[float, float]]:
    """Return beginning and end of a foot's ground phase in the cycle [s].

    There are two spans if the phase continues over the end of the cycle at its beginning.
    """
    period = path.timing.period_s
    start = (path.lift_off_s + path.timing.air_s) % period
    end = start + path.timing.ground_s
    if end <= period * (1.0 + TOLERANCE):
        return [(start, min(end, period))]
    return [(0.0, end - period), (start, period)]


class GroundCount(NamedTuple):
    """A span of the cycle with a constant number of feet on the ground.

    Attributes:
        start_s: its beginning [s].
        end_s: its end [s].
        n_feet: number of feet on the ground.
    """

    start_s: float
    end_s: float
    n_feet: int


def ground_counts(content: GaitContent) -> list[GroundCount]:
    """Return the spans of the cycle with a constant number of feet on the ground, in order."""
    period = content.timing.period_s
    spans = [span for path in content.feet.values() for span in down_spans(path)]
    edges = np.unique(np.round([0.0, period, *(edge for span in spans for edge in span)], 9))
    counts: list[GroundCount] = []
    for start, end in pairwise(edges.tolist()):
        middle = (start + end) / 2.0
        n_feet = sum(span_start < middle < span_end for span_start, span_end in spans)
        if counts and counts[-1].n_feet == n_feet:
            counts[-1] = counts[-1]._replace(end_s=end)
        elif end - start > TOLERANCE * period:  # shorter ones are rounding errors
            counts.append(GroundCount(start, end, n_feet))
    return counts


def draw_phases(axes: Axes, content: GaitContent) -> None:
    """Draw the phases: a bar for each foot, filled on the ground; the steps; the number of feet down."""
    period = content.timing.period_s
    for row, foot in enumerate(ORDER):
        axes.broken_barh(
            [(0.0, period)], (row - BAR_HEIGHT / 2, BAR_HEIGHT), fc="white", ec=FAINT, lw=0.8, zorder=1
        )
        begins_and_lengths = [(start, end - start) for start, end in down_spans(content.feet[foot])]
        axes.broken_barh(
            begins_and_lengths, (row - BAR_HEIGHT / 2, BAR_HEIGHT), fc=COLOURS[foot], lw=0, zorder=2
        )
    for number, start in enumerate(content.step_starts_s, 1):
        line_ends = [TOP_Y, COUNT_ROW - 0.5]
        axes.plot([start, start], line_ends, color=INK, lw=0.8, ls=(0, (4, 3)), zorder=3, clip_on=False)
        axes.annotate(
            f"step {number}" if number == 1 else str(number),
            (start, 1.0),
            (2, 1),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=6.5,
            color=GREY,
            va="bottom",
        )
    _write_counts(axes, content)
    axes.set_xlim(0.0, period)
    axes.set_ylim(COUNT_ROW + 0.4, TOP_Y)
    axes.set_yticks([*range(len(ORDER)), COUNT_ROW], [*(SHORT_FOOT_NAMES[foot] for foot in ORDER), "down"])
    axes.tick_params(labelsize=7, length=2.5, pad=2)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _write_counts(axes: Axes, content: GaitContent) -> None:
    """Write how many feet are on the ground, and a line at each time where the number changes."""
    period = content.timing.period_s
    for start, end, n_feet in ground_counts(content):
        if end - start > MIN_TEXT_SHARE * period:
            axes.text(
                (start + end) / 2.0, COUNT_ROW, str(n_feet), ha="center", va="center", fontsize=7, color=INK
            )
        if start > 0.0:
            axes.plot([start, start], [COUNT_ROW - 0.3, COUNT_ROW + 0.3], color=FAINT, lw=0.8, zorder=1)


MIN_SPAN_DEG = 10.0
"""Least range of a panel, so that small movements look small."""

SPAN_FACTOR = 1.25
STYLES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)))
"""Line styles of rotator, elevator and knee in a common panel."""

BAND = "#eceff2"
"""Background colour while the foot is in the air."""

MIN_SPEED_AXIS = 1.2
"""Least upper limit of the axis of speed shares, so that the line at 1 is visible."""


@dataclass(frozen=True)
class JointRange:
    """The least and greatest angle of a joint in the cycle, and its limits [deg]."""

    least_deg: float
    most_deg: float
    lower_deg: float
    upper_deg: float

    @property
    def is_within_limits(self) -> bool:
        """Whether the joint stays within its limits."""
        return self.lower_deg - 1e-6 <= self.least_deg and self.most_deg <= self.upper_deg + 1e-6


def joint_range(content: CycleContent, joint: str) -> JointRange:
    """Return the range of a joint in a cycle, and its limits."""
    angles = np.rad2deg(content.angles[:, content.robot.index(joint)])
    limits = content.robot.joint(joint)
    lower, upper = np.rad2deg([limits.lower_rad, limits.upper_rad])
    return JointRange(
        float(angles.min()), most_deg=float(angles.max()), lower_deg=float(lower), upper_deg=float(upper)
    )


def common_span_deg(content: CycleContent, joints: tuple[str, ...]) -> float:
    """Return a common axis range for some joints, so that they can be compared [deg]."""
    ranges = [joint_range(content, joint_name) for joint_name in joints]
    return max(MIN_SPAN_DEG, SPAN_FACTOR * max(joint.most_deg - joint.least_deg for joint in ranges))


def draw_joint(axes: Axes, content: GaitContent, path: FootPath, joint: str, span_deg: float) -> None:
    """Draw the angle of a joint over the cycle, and its limits if they are in view.

    Args:
        axes: the axes to draw into.
        content: the gait.
        path: the path of the leg's foot.
        joint: name of the joint.
        span_deg: height of the axes, the same for all joints of a page.
    """
    joint_range_deg = joint_range(content, joint)
    middle = (joint_range_deg.least_deg + joint_range_deg.most_deg) / 2.0
    bottom = middle - span_deg / 2.0
    top = middle + span_deg / 2.0
    axes.set_ylim(bottom, top)
    set_cycle_axis(axes, content, path)
    for limit, end in ((joint_range_deg.lower_deg, bottom), (joint_range_deg.upper_deg, top)):
        if bottom < limit < top:
            axes.axhline(limit, color=WRONG, lw=0.9, ls="--", zorder=2)
            axes.axhspan(min(limit, end), max(limit, end), color=WRONG, alpha=0.08, lw=0, zorder=1)
    index = content.robot.index(joint)
    angles = np.rad2deg(content.angles[:, index])
    axes.plot(content.times, angles, color=COLOURS[path.foot], lw=1.5, zorder=3)
    axes.locator_params(axis="y", nbins=4)
    axes.set_title(short_joint_name(joint, path), fontsize=7.5, loc="left", pad=2)
    share = float(content.speeds[:, index].max())
    speed = f"at most {share:.0%} of {content.robot.max_speeds[index]:.1f} rad/s"
    axes.set_title(speed, fontsize=6.5, loc="right", pad=2, color=GREY if share <= 1.0 else WRONG)


def draw_gauge(axes: Axes, content: GaitContent, path: FootPath, joint: str) -> None:
    """Draw a vertical bar of the range the card allows, with the part that the gait uses."""
    joint_range_deg = joint_range(content, joint)
    axes.set_ylim(
        min(joint_range_deg.lower_deg, joint_range_deg.least_deg),
        max(joint_range_deg.upper_deg, joint_range_deg.most_deg),
    )
    axes.set_xlim(0.0, 1.0)
    axes.axhspan(joint_range_deg.lower_deg, joint_range_deg.upper_deg, color=FAINT, lw=0)
    colour = COLOURS[path.foot] if joint_range_deg.is_within_limits else WRONG
    axes.axhspan(joint_range_deg.least_deg, joint_range_deg.most_deg, color=colour, lw=0)
    axes.set_yticks(
        [joint_range_deg.lower_deg, joint_range_deg.upper_deg],
        [f"{joint_range_deg.lower_deg:.0f}", f"{joint_range_deg.upper_deg:.0f}"],
    )
    axes.yaxis.tick_right()
    axes.set_xticks([])
    axes.tick_params(
        labelsize=6, length=0, pad=2, labelcolor=GREY if joint_range_deg.is_within_limits else WRONG
    )
    axes.spines[:].set_visible(False)


def draw_speeds(axes: Axes, content: GaitContent, path: FootPath) -> None:
    """Draw the speeds of a leg's joints as shares of the greatest, with a line at 1."""
    indices = [content.robot.index(joint) for joint in path.leg.joints]
    speeds = content.speeds[:, indices]
    axes.set_ylim(0.0, max(MIN_SPEED_AXIS, 1.1 * float(speeds.max())))
    set_cycle_axis(axes, content, path)
    axes.axhline(1.0, color=WRONG, lw=1.0, ls="--", zorder=2)
    for joint, share, style in zip(path.leg.joints, speeds.T, STYLES, strict=True):
        name = short_joint_name(joint, path)
        axes.stairs(
            share, content.times, color=COLOURS[path.foot], lw=1.2, ls=style, label=name, baseline=None
        )
    axes.set_title("speed / maximum", fontsize=7.5, loc="left", pad=2)
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=3,
        fontsize=6.5,
        frameon=False,
        columnspacing=0.9,
        borderaxespad=0.0,
        borderpad=0.15,
        handlelength=1.8,
        handletextpad=0.4,
    )
    axes.locator_params(axis="y", nbins=4)


def set_cycle_axis(axes: Axes, content: GaitContent, path: FootPath) -> None:
    """Set the axis of time to the cycle, with a background band while the foot is in the air."""
    period = content.timing.period_s
    axes.set_xlim(0.0, period)
    axes.axvspan(0.0, period, color=BAND, lw=0, zorder=0)
    for start, end in down_spans(path):
        axes.axvspan(start, end, color="white", lw=0, zorder=0.5)
    trim_axes(axes)
    axes.tick_params(labelcolor=INK)


def short_joint_name(joint: str, path: FootPath) -> str:
    """Return the name of a joint without that of its leg."""
    return joint.removeprefix(f"{path.foot}_").replace("_", " ")
