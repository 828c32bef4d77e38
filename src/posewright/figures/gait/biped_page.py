"""The page of a biped's gait: feet from above, their heights, joints with limits and their speeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.figures.gait.content import MM, CycleContent
from posewright.figures.gait.cycle import BAND, common_span_deg, joint_range
from posewright.figures.gait.head import (
    COLUMN_GAP_IN,
    COLUMN_WIDTH_IN,
    LEFT_MARGIN_IN,
    PAGE_SIZE_IN,
    subtitle,
    write_head,
    write_heading,
)
from posewright.figures.style import (
    FAINT,
    GREY,
    WRONG,
    axes_at,
    canvas,
    colours_of,
    label_figure,
    trim_axes,
)
from posewright.gaits import BipedGait, bound_text, chain, se2_exp
from posewright.kinematics import biped_legs_of
from posewright.robots import LEFT, RIGHT, SIDES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

# Measures of the page [in].
ABOVE_TOP_IN = 1.6
ABOVE_HEIGHT_IN = 2.3
JOINTS_TOP_IN = 4.55
JOINT_HEIGHT_IN = 1.05
JOINT_STEP_IN = 1.5
SPEED_HEIGHT_IN = 1.2

MIN_SPEED_AXIS = 1.6
"""Least upper limit of the axis of speed shares, which leaves room for a legend above the line at 1."""

COLOURS = colours_of(SIDES)


@dataclass(frozen=True, eq=False, repr=False)
class BipedContent(CycleContent):
    """A steady cycle of a biped's gait: joints, and the planned places of the soles."""

    gait: BipedGait

    @cached_property
    def _steps(self) -> tuple[Floats, Floats]:
        """Poses `(2, n, 3)` [m, m, rad] and heights `(2, n)` [m] of the soles in the order of `SIDES`."""
        generator = self.gait.generator(self.robot)
        n_lead_in_steps = 2 * len(self._walk.lead_in) // self.cycle.n_frames
        for _ in range(n_lead_in_steps):
            generator.take_step(self.command)
        steps = [generator.take_step(self.command), generator.take_step(self.command)]
        poses = [np.concatenate([step.foot_poses[side] for step in steps]) for side in SIDES]
        heights = [
            np.concatenate([step.lifts_m * (step.swing_side == side) for step in steps]) for side in SIDES
        ]
        return np.array(poses), np.array(heights)

    def sole_poses(self, side: str) -> Floats:
        """Return where a sole is below the hips in each frame of the cycle, `(n_frames, 3)` [m, m, rad]."""
        poses, _ = self._steps
        return np.asarray(poses[SIDES.index(side)])

    def heights_m(self, side: str) -> Floats:
        """Return the height of a sole in each frame of the cycle, `(n_frames,)` [m]."""
        _, heights = self._steps
        return np.asarray(heights[SIDES.index(side)])

    def is_in_air(self, side: str) -> Flags:
        """Return whether a sole is in the air in each frame of the cycle, `(n_frames,)`."""
        return np.asarray(self.heights_m(side) > 0.0)


def draw_biped_page(content: BipedContent, into: Canvas | None = None) -> Figure:
    """Draw the page of a biped's gait."""
    figure = canvas(into, PAGE_SIZE_IN, dpi=150)
    write_head(figure, content, times=_times_line(content), legend_handles=_legend_handles())
    write_heading(figure, ABOVE_TOP_IN, "From above, below the hips [mm]")
    above = axes_at(
        figure, PAGE_SIZE_IN, LEFT_MARGIN_IN, ABOVE_TOP_IN, width=COLUMN_WIDTH_IN, height=ABOVE_HEIGHT_IN
    )
    _draw_above(above, content)
    second_left = LEFT_MARGIN_IN + COLUMN_WIDTH_IN + COLUMN_GAP_IN
    write_heading(figure, ABOVE_TOP_IN, "Heights of the soles [mm]", left=second_left)
    heights = axes_at(
        figure, PAGE_SIZE_IN, second_left, ABOVE_TOP_IN, width=COLUMN_WIDTH_IN, height=ABOVE_HEIGHT_IN
    )
    _draw_heights(heights, content)
    write_heading(figure, JOINTS_TOP_IN, "Joints of both legs [deg], their limits dashed where in view")
    legs = biped_legs_of(content.robot)
    joints_by_side = {side: leg.joints for side, leg in legs.items()}
    span = common_span_deg(content, tuple(joint for leg in legs.values() for joint in leg.joints))
    n_joints = len(joints_by_side[LEFT])
    for index in range(n_joints):
        row, column = divmod(index, 2)
        axes = axes_at(
            figure,
            PAGE_SIZE_IN,
            LEFT_MARGIN_IN + column * (COLUMN_WIDTH_IN + COLUMN_GAP_IN),
            top=JOINTS_TOP_IN + row * JOINT_STEP_IN,
            width=COLUMN_WIDTH_IN,
            height=JOINT_HEIGHT_IN,
        )
        _draw_joint(axes, content, {side: joints[index] for side, joints in joints_by_side.items()}, span)
    speeds_top = JOINTS_TOP_IN + (n_joints + 1) // 2 * JOINT_STEP_IN
    for column, side in enumerate((LEFT, RIGHT)):
        left = LEFT_MARGIN_IN + column * (COLUMN_WIDTH_IN + COLUMN_GAP_IN)
        axes = axes_at(figure, PAGE_SIZE_IN, left, speeds_top, width=COLUMN_WIDTH_IN, height=SPEED_HEIGHT_IN)
        _draw_speeds(axes, content, side, joints_by_side[side])
    return label_figure(figure, f"gait {content.gait.name}: {subtitle(content)}")


def _times_line(content: BipedContent) -> str:
    """Return the times of a cycle and the greatest commands."""
    cycle = content.cycle
    air_s = cycle.air_share * cycle.period_s
    parameters = content.gait.parameters
    return (
        f"a cycle takes {cycle.period_s:.3f} s ({cycle.n_frames} frames): "
        f"{cycle.period_s - air_s:.3f} s down, {air_s:.3f} s in the air; "
        f"at most {bound_text(parameters.max_forward_m_s)} m/s forward, "
        f"{bound_text(parameters.max_left_m_s)} m/s sideways, "
        f"{bound_text(parameters.max_turn_rad_s, 2)} rad/s"
    )


def _legend_handles() -> list[Artist]:
    """Return the legend's entries."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        *(Line2D([], [], color=COLOURS[side], lw=1.6, label=f"{side} leg") for side in (LEFT, RIGHT)),
        Line2D([], [], color=GREY, lw=2.6, label="sole on the ground"),
        Line2D([], [], color=GREY, lw=0.9, ls="--", label="sole in the air"),
        Patch(fc="white", ec=GREY, label="where it lands"),
        Patch(color=BAND, label="left foot in the air"),
        Line2D([], [], color=WRONG, lw=0.9, ls="--", label="limit"),
    ]


def _draw_above(axes: Axes, content: BipedContent) -> None:
    """Draw the paths of the soles below the hips, x to the right, and the soles where they land."""
    from matplotlib.patches import Polygon

    half_length, half_width = (0.5 * size for size in content.robot.require_biped().sole_size_m)
    corners = np.array(
        [
            (x * half_length, y * half_width, 0.0)
            for x, y in ((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0))
        ]
    )
    for side in SIDES:
        poses = content.sole_poses(side)
        is_in_air = content.is_in_air(side)
        colour = COLOURS[side]
        on_ground = np.where(is_in_air[:, np.newaxis], np.nan, poses[:, :2]) * MM
        in_air = np.where(is_in_air[:, np.newaxis], poses[:, :2], np.nan) * MM
        axes.plot(*on_ground.T, color=colour, lw=2.6, solid_capstyle="round", zorder=4)
        axes.plot(*in_air.T, color=colour, lw=0.9, ls="--", zorder=5)
        landing_pose = poses[np.flatnonzero(is_in_air & ~np.roll(is_in_air, -1))[0]]
        outline = chain(np.broadcast_to(landing_pose, corners.shape), corners)[:, :2] * MM
        axes.add_patch(Polygon(outline, fill=False, ec=colour, lw=1.0, zorder=3))
        axes.update_datalim(outline)
    way = se2_exp(
        np.linspace(0.0, 1.0, 41)[:, np.newaxis] * content.command.components(content.cycle.period_s)
    )
    axes.plot(*way[:, :2].T * MM, color=GREY, lw=1.2, zorder=2)
    axes.plot(*way[-1, :2] * MM, ">", color=GREY, ms=4, zorder=2)
    axes.plot([0.0], [0.0], "o", ms=4, color=GREY, zorder=6)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    trim_axes(axes)


def _draw_heights(axes: Axes, content: BipedContent) -> None:
    """Draw the heights of both soles over the cycle."""
    _set_cycle_axis(axes, content)
    for side in SIDES:
        axes.plot(content.times[1:], content.heights_m(side) * MM, color=COLOURS[side], lw=1.5, zorder=3)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("time [s]", fontsize=7, labelpad=1.5)


def _draw_joint(axes: Axes, content: BipedContent, joints: dict[str, str], span_deg: float) -> None:
    """Draw the angles of a joint of both legs over the cycle, and their limits if they are in view.

    Args:
        axes: the axes to draw into.
        content: the gait.
        joints: names of the joint by side.
        span_deg: least height of the axes, the same for all joints of a page.
    """
    _set_cycle_axis(axes, content)
    ranges = {side: joint_range(content, joint) for side, joint in joints.items()}
    least = min(joint.least_deg for joint in ranges.values())
    most = max(joint.most_deg for joint in ranges.values())
    margin = max(0.0, 0.5 * (span_deg - (most - least))) + 0.05 * span_deg
    axes.set_ylim(least - margin, most + margin)
    for side, joint in joints.items():
        index = content.robot.index(joint)
        axes.plot(content.times, np.rad2deg(content.angles[:, index]), color=COLOURS[side], lw=1.5, zorder=3)
        for limit in (ranges[side].lower_deg, ranges[side].upper_deg):
            if least - margin < limit < most + margin:
                axes.axhline(limit, color=WRONG, lw=0.9, ls="--", zorder=2)
    axes.locator_params(axis="y", nbins=5)
    axes.set_title(_without_side(joints[LEFT], LEFT), fontsize=7.5, loc="left", pad=2)
    indices = [content.robot.index(joint) for joint in joints.values()]
    share = float(content.speeds[:, indices].max())
    greatest_speed = float(content.robot.max_speeds[indices].max())
    lower = min(joint.lower_deg for joint in ranges.values())
    upper = max(joint.upper_deg for joint in ranges.values())
    axes.set_title(
        f"limits {lower:.0f} to {upper:.0f}; at most {share:.0%} of {greatest_speed:.1f} rad/s",
        fontsize=6.5,
        loc="right",
        pad=2,
        color=GREY if share <= 1.0 else WRONG,
    )


def _draw_speeds(axes: Axes, content: BipedContent, side: str, joints: tuple[str, ...]) -> None:
    """Draw the speeds of a leg's joints as shares of the greatest, with a line at 1."""
    indices = [content.robot.index(joint) for joint in joints]
    speeds = content.speeds[:, indices]
    axes.set_ylim(0.0, max(MIN_SPEED_AXIS, 1.4 * float(speeds.max())))
    _set_cycle_axis(axes, content)
    axes.axhline(1.0, color=WRONG, lw=1.0, ls="--", zorder=2)
    colours = colours_of(joints)
    for joint, share in zip(joints, speeds.T, strict=True):
        name = _without_side(joint, side)
        axes.stairs(share, content.times, color=colours[joint], lw=1.1, label=name, baseline=None)
    axes.set_title(f"speed / maximum, {side} leg", fontsize=7.5, loc="left", pad=2)
    axes.legend(loc="upper right", ncols=3, fontsize=6, frameon=False, borderaxespad=0.0, handlelength=1.4)
    axes.set_xlabel("time [s]", fontsize=7, labelpad=1.5)


def _set_cycle_axis(axes: Axes, content: BipedContent) -> None:
    """Set the axis of time to the cycle, with a background band while the left foot is in the air."""
    axes.set_xlim(0.0, content.cycle.period_s)
    is_in_air = content.is_in_air(LEFT)
    axes.fill_between(
        content.times[1:],
        0.0,
        1.0,
        where=is_in_air.tolist(),
        color=BAND,
        lw=0,
        zorder=0,
        transform=axes.get_xaxis_transform(),
    )
    axes.axhline(0.0, color=FAINT, lw=0.6, zorder=1)
    trim_axes(axes)


def _without_side(joint: str, side: str) -> str:
    """Return the name of a joint without its side."""
    return joint.removeprefix(f"{side}_").replace("_", " ")
