"""The page of a motion: title, legend, a panel for each joint, and the list of findings at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from posewright.errors import InputError
from posewright.figures.motion import panel
from posewright.figures.motion.content import (
    ATTITUDE,
    EMPTY,
    Mosaic,
    MotionContent,
    group_headings,
    largest_gap,
    lay_out_panels,
)
from posewright.figures.motion.panel import (
    LINE_IN,
    ListLine,
    draw_badges,
    draw_list,
    draw_whole_robot_findings,
    list_lines,
)
from posewright.figures.style import canvas, create_mosaic, label_figure, styled, write_row_legend
from posewright.formats import robot_of_motion
from posewright.hazards import check_motion
from posewright.motions import Finding, Motion
from posewright.robots import Robot

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

# Measures of the page [in]; constrained layout makes room for what is written around the panels.
HEAD = 0.62
PANEL_HEIGHT = 1.0
ROW_GAP = 0.42
COLUMN_GAP = 0.6
PANEL_WIDTHS = {1: 8.4, 2: 4.2}
NARROW_PANEL = 3.2

HEADLINE = "headline"
FINDINGS = "findings"
"""Panels of the mosaic that are no joint's."""


@styled("drawing a motion")
def draw_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    findings: Sequence[Finding] | None = None,
    figure: Canvas | None = None,
) -> Figure:
    """Draw every moving joint of a motion over time, with limits, speeds and findings.

    Args:
        motion: the motion to be drawn.
        robot: the robot with the groups and limits, or its name; default the motion's own.
        findings: the findings to be marked; default those of `check_motion`. An empty list marks nothing.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.

    Raises:
        InputError: the motion takes no time.
        UnknownNameError: the robot is not known.
    """
    if motion.duration == 0.0:
        raise InputError(f"motion {motion.name!r} has no duration: there is nothing to draw")
    drawn_robot = robot_of_motion(motion, robot)
    if findings is None:
        findings = check_motion(motion, drawn_robot)
    return draw_motion_page(MotionContent(motion, drawn_robot, tuple(findings)), figure)


def draw_motion_page(content: MotionContent, into: Canvas | None = None) -> Figure:
    """Draw the page of a motion: a headline, the panels, and the findings between or below them."""
    panel_rows = lay_out_panels(content)
    first_panel = panel_rows[0][0]
    n_columns = len(panel_rows[0])
    panel_width_in = PANEL_WIDTHS.get(n_columns, NARROW_PANEL)
    column_in = panel_width_in + COLUMN_GAP
    lines, list_height_in = _list_findings(content, panel_rows, column_in)
    mosaic = [[HEADLINE] * n_columns, *panel_rows]
    heights_in = [HEAD, *[PANEL_HEIGHT] * len(panel_rows)]
    if list_height_in:
        mosaic.append([FINDINGS] * n_columns)
        heights_in.append(list_height_in)
    size_in = n_columns * column_in + 0.3, sum(heights_in) + len(panel_rows) * ROW_GAP + 0.2
    figure = canvas(into, size_in, dpi=150, layout="constrained")
    axes_by_name = create_mosaic(figure, mosaic, height_ratios=heights_in)
    # only these have a time axis with numbers
    lowest_panels = [
        next(name for name in reversed(column) if name not in {EMPTY, FINDINGS})
        for column in zip(*mosaic, strict=True)
    ]
    group_by_first_joint = group_headings(content, panel_rows)
    for name, axes in axes_by_name.items():
        if name == FINDINGS:
            draw_list(axes, lines)
            continue
        if name == HEADLINE:
            _draw_head(axes, content)
            continue
        _draw_panel(axes, content, name, is_first=name == first_panel, width_in=panel_width_in)
        if group_by_first_joint.get(name):
            panel.draw_heading(axes, group_by_first_joint[name])
        axes.tick_params(labelbottom=name in lowest_panels, labelsize=7, length=2.5, pad=2)
        axes.set_xlabel("time [s]" if name in lowest_panels else "", fontsize=7.5, labelpad=2)
    return label_figure(figure, f"motion {content.motion.name}: {_subtitle(content)}")


def _draw_panel(axes: Axes, content: MotionContent, name: str, *, is_first: bool, width_in: float) -> None:
    """Draw the panel of a joint or of the base's attitude, with its findings.

    Args:
        axes: the axes to draw into.
        content: the motion.
        name: the name of the joint, or `ATTITUDE`.
        is_first: whether it is the first panel, which has the findings about the whole robot.
        width_in: width of the panel [in].
    """
    draw_whole_robot_findings(axes, content)
    if name == ATTITUDE and content.attitude is not None:
        panel.draw_attitude(axes, content, content.attitude)
        return
    panel.draw_joint(axes, content, name)
    findings = [*content.findings_of(name), *(content.whole_robot_findings if is_first else ())]
    draw_badges(axes, content, findings, joint=name, width_in=width_in)


def _list_findings(content: MotionContent, rows: Mosaic, column_in: float) -> tuple[list[ListLine], float]:
    """Return the list of findings, and its height below all panels [in], 0 if it fits between the panels.

    If it fits, its cells are written into `rows`.

    Args:
        content: the motion.
        rows: the layout of the panels.
        column_in: width of a column with the gap beside it [in].
    """
    gap = largest_gap(rows)
    lines = list_lines(content, gap.n_columns * column_in - COLUMN_GAP)
    gap_height_in = (len(rows) - gap.first_row) * (PANEL_HEIGHT + ROW_GAP) - ROW_GAP
    if gap.n_columns > 1 and 0.0 < LINE_IN * len(lines) <= gap_height_in:
        for row in rows[gap.first_row :]:
            row[gap.first_column : gap.first_column + gap.n_columns] = [FINDINGS] * gap.n_columns
        return lines, 0.0
    lines = list_lines(content, len(rows[0]) * column_in - COLUMN_GAP)
    return lines, LINE_IN * (len(lines) + 1) if lines else 0.0


def _draw_head(axes: Axes, content: MotionContent) -> None:
    """Write title, subtitle and key."""
    axes.set_axis_off()
    title = axes.text(0.0, 1.0, content.motion.name, fontsize=12, weight="bold")
    subtitle = axes.text(0.0, 0.6, _subtitle(content), fontsize=8, color=panel.HEADING)
    for text in (title, subtitle):
        text.set(va="top", parse_math=False, in_layout=False)
    write_row_legend(axes, _legend_handles(content), "lower left").set_in_layout(False)


def _subtitle(content: MotionContent) -> str:
    """Return robot, size and duration of a motion, and the number of its findings."""
    motion = content.motion
    parts = [content.robot.name, _count_text(len(motion.keyframes), "keyframe"), f"{motion.duration:.3g} s"]
    if motion.loops:
        repeats = "repeats for ever" if motion.repeat is None else f"played {motion.repeat} times"
        parts.append(f"{repeats} (second pass paler)")
    if content.findings:
        levels = [finding.level.value for finding in content.findings]
        parts += [_count_text(levels.count(level), level) for level in dict.fromkeys(levels)]
    return ", ".join(parts)


def _count_text(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _legend_handles(content: MotionContent) -> list[Artist]:
    """Return the legend's entries."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    joints = [content.robot.joint(joint) for joint in content.displayed_joints]
    handles: list[Artist] = [
        Line2D([], [], color=panel.CURVE_COLOUR, marker="o", markersize=3.2, label="angle [deg], keyframes"),
        Line2D([], [], color=panel.LIMIT, ls="--", lw=1.0, label="limit"),
    ]
    if any(
        (joint.hardware_lower_rad, joint.hardware_upper_rad) != (joint.lower_rad, joint.upper_rad)
        for joint in joints
    ):
        handles.append(Line2D([], [], color=panel.HARDWARE, ls=":", lw=1.0, label="(limit of the mechanism)"))
    if any(
        np.isfinite(limit).any()
        for joint_name in content.displayed_joints
        for limit in content.coupled_limits(joint_name)
    ):
        label = "limit set by other joints"
        handles.append(Line2D([], [], color=panel.LIMIT, ls=(0, panel.COUPLED), lw=1.0, label=label))
    handles.append(Patch(color=panel.SPEED, label="speed; fine dashes: the most"))
    handles.append(Patch(color=panel.TOO_FAST, label="too fast"))
    return handles
