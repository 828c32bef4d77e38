"""Panels of a motion's picture: a joint's angle with limits and speed, and the marks of findings."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.figures.motion.content import ATTITUDE, MIN_SPAN_DEG, SPAN_FACTOR, MotionContent, span_deg
from posewright.motions import Finding, Level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

COLOURS = {Level.ERROR: "#c0392b", Level.WARNING: "#b9770e", Level.NOTE: "#5b6770"}
RING = 5.0
MAX_FULL_RINGS = 12
"""Size of a ring on the curve [points], halved if there are more than this number."""

MAX_LISTED = 24
"""Greatest number of listed findings."""

BADGE_IN = 0.17
"""Width of a finding's number [in]."""

POINTS_PER_INCH = 72.0
LINE_IN = 0.175
"""Height of a line of the list [in]."""

MIN_LINE_LENGTH = 40
CHARACTER_IN = 0.058
"""Average width of a character of the list [in]."""


@dataclass(frozen=True)
class ListLine:
    """A line of the list of findings; the first line of each has its number."""

    text: str
    number: int | None = None
    level: Level = Level.NOTE


def draw_badges(
    axes: Axes, content: MotionContent, findings: Sequence[tuple[int, Finding]], joint: str, width_in: float
) -> None:
    """Draw the number of each finding at its time at the top of a joint's panel, with a line to the curve.

    Args:
        axes: the axes of the panel.
        content: the motion.
        findings: the findings with their numbers; of this joint, or of the whole robot.
        joint: name of the joint.
        width_in: width of the panel [in].
    """

    def time_and_number(numbered_finding: tuple[int, Finding]) -> tuple[float, int]:
        number, finding = numbered_finding
        return _finding_time(content, finding), number

    sorted_findings = sorted(findings, key=time_and_number)
    time_shares = [_finding_time(content, finding) / content.end_s for _, finding in sorted_findings]
    # a badge has the finding's number; badges that would overlap are moved apart
    badge_positions = spread_positions(time_shares, width=BADGE_IN / width_in)
    for (number, finding), badge_x in zip(sorted_findings, badge_positions, strict=True):
        is_about_whole_robot = finding.joint is None
        if is_about_whole_robot:
            bottom, top = axes.get_ylim()
            line_end = (_finding_time(content, finding), top - 1.5 * LANE * (top - bottom))
        else:
            line_end = _draw_rings(axes, content, finding, joint)
        line_style = {
            "arrowstyle": "-",
            "color": COLOURS[finding.level],
            "lw": 0.8,
            "shrinkA": 0,
            "shrinkB": 2.5,
        }
        badge = axes.annotate(
            str(number),
            line_end,
            (badge_x, 1.0 - LANE / 2.0),
            "data",
            "axes fraction",
            arrowprops=line_style,
            annotation_clip=False,
        )
        _make_badge(badge, number, finding.level)


def draw_whole_robot_findings(axes: Axes, content: MotionContent) -> None:
    """Draw a vertical line at each finding about the whole robot."""
    for _, finding in content.whole_robot_findings:
        axes.axvline(_finding_time(content, finding), color=COLOURS[finding.level], linewidth=0.8, alpha=0.6)


def _draw_rings(axes: Axes, content: MotionContent, finding: Finding, joint: str) -> tuple[float, float]:
    """Draw a ring on the joint's curve at each time of a finding, and return the position of the worst.

    Args:
        axes: the axes of the joint's panel.
        content: the motion.
        finding: the finding; the first of its times is that of the worst.
        joint: the name of the joint.
    """
    times = [min(time, content.end_s) for time in finding.times_s] or [0.0]
    # where the joint is free it has no angle, and its ring is in the middle of the panel
    middle_deg = sum(axes.get_ylim()) / 2.0
    angles = np.nan_to_num(np.interp(times, content.times, content.curve(joint)), nan=middle_deg).tolist()
    size = RING if len(times) <= MAX_FULL_RINGS else RING / 2.0
    colour = COLOURS[finding.level]
    axes.plot(times, angles, "o", mfc="none", mec=colour, ms=size, mew=0.8, clip_on=False)
    return times[0], angles[0]


def spread_positions(targets: Sequence[float], width: float) -> list[float]:
    """Return positions near rising targets, at least `width` apart, between 0 and 1.

    A position that is too near to the one before is moved up; those beyond the upper end are moved back down.
    """
    half_width = min(width / 2.0, 0.5)
    positions: list[float] = []
    for target in targets:
        lowest = positions[-1] + width if positions else half_width
        positions.append(max(target, half_width, lowest))
    highest = 1.0 - half_width
    for i in reversed(range(len(positions))):
        positions[i] = min(positions[i], highest)
        highest = positions[i] - width
    return positions


def list_lines(content: MotionContent, width_in: float) -> list[ListLine]:
    """Return the findings as lines of text no wider than `width_in` [in]."""
    lines = []
    for number, finding in enumerate(content.findings[:MAX_LISTED], 1):
        text = f"{finding.level.value}, {finding.rule}: {finding.message}"
        first_line, *further_lines = textwrap.wrap(text, max(MIN_LINE_LENGTH, int(width_in / CHARACTER_IN)))
        lines += [ListLine(first_line, number, finding.level), *map(ListLine, further_lines)]
    n_unlisted = len(content.findings) - MAX_LISTED
    return [*lines, ListLine(f"and {n_unlisted} more")] if n_unlisted > 0 else lines


def draw_list(axes: Axes, lines: Sequence[ListLine]) -> None:
    """Write the lines from the top of axes down."""
    axes.set_axis_off()

    def write_at(x: float, y: float, text: str) -> Annotation:
        """Write a text at a position from the upper left corner [points]."""
        return axes.annotate(text, (0, 1), (x, y), "axes fraction", "offset points", annotation_clip=False)

    for row, line in enumerate(lines):
        y = -(row + 0.5) * LINE_IN * POINTS_PER_INCH
        if line.number is not None:
            badge = write_at(0.5 * BADGE_IN * POINTS_PER_INCH, y, str(line.number))
            _make_badge(badge, line.number, line.level)
        text = write_at(1.5 * BADGE_IN * POINTS_PER_INCH, y, line.text)
        text.set(fontsize=7.5, va="center", parse_math=False, in_layout=False)


def _make_badge(text: Annotation, number: int, level: Level) -> None:
    """Format a text as the number of a finding: white on the colour of its level."""
    text.set(color="white", fontsize=6.0, weight="bold", ha="center", va="center")
    has_one_digit = number < 10
    shape = "circle,pad=0.22" if has_one_digit else "round,pad=0.22"
    text.set_bbox({"boxstyle": shape, "fc": COLOURS[level], "ec": "none"})


def _finding_time(content: MotionContent, finding: Finding) -> float:
    return min(finding.times_s[0], content.end_s) if finding.times_s else 0.0


# Colours.
CURVE_COLOUR = "#1b5e8a"
LATER_CURVE_COLOUR = "#9dbfd6"
FRAME = "#d9dde1"
HEADING = "#5b6770"
LIMIT = "#c0392b"
HARDWARE = "#7b241c"
SPEED = "#a9b4bd"
TOO_FAST = "#c0392b"
PEAK = "#7f8b94"
FREE = "#f3e3c3"
FREE_TEXT = "#8a6d1f"

COUPLED = (6, 1.5, 1, 1.5)
"""Dashes of a limit that other joints set."""

STRIP = 0.2
"""Share of a panel's height for the speed strip, at the bottom."""

STRIP_TOP = 1.25
"""Greatest speed in the strip, as a share of the joint's greatest speed; higher speeds are clipped."""

JUMP = 1000.0
"""A speed of this share of the greatest is a jump."""

MANY_KEYFRAMES = 40
"""More keyframes than these are drawn smaller and thinner."""
MAX_TICKS = 4
TICK_STEPS_DEG = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 45, 90, 180, *(360.0 * 10**i for i in range(300)))

STRIP_GAP = 0.06
"""Share of a panel's height between the speed strip and the curve."""
EMPTY_LANE = 0.04
"""Share of a panel's height above the curve if there are no findings."""
LANE = 0.16
"""Share of a panel's height above the curve that is free for the numbers of findings."""


def draw_joint(axes: Axes, content: MotionContent, joint: str) -> None:
    """Draw a joint's panel."""
    _set_limits(axes, content, joint)
    _draw_limits(axes, content, joint)
    _draw_free(axes, content, joint)
    _draw_speed(axes, content, joint)
    curve = content.curve(joint)
    times = content.times
    first_pass_s = content.motion.duration
    for is_in_pass, colour in (
        (times >= first_pass_s, LATER_CURVE_COLOUR),
        (times <= first_pass_s, CURVE_COLOUR),
    ):
        axes.plot(times[is_in_pass], curve[is_in_pass], color=colour, linewidth=1.4, solid_capstyle="round")
    keyframe_angles = curve[np.searchsorted(times, content.keyframe_times)]
    size = 3.2 if len(content.keyframe_times) <= MANY_KEYFRAMES else 1.8
    axes.plot(
        content.keyframe_times, keyframe_angles, "o", color=CURVE_COLOUR, markersize=size, clip_on=False
    )


def _set_limits(axes: Axes, content: MotionContent, joint: str) -> None:
    """Set the limits of a panel's axis of angles, and draw the keyframes.

    From the bottom, a panel has a strip with the speeds, a gap, the curve of the angles, and a lane for the
    marks of findings. Their heights are shares of the panel's.

    Args:
        axes: the axes of the panel.
        content: the motion.
        joint: the name of the joint.
    """
    angles = content.curve(joint)
    known_angles = angles[np.isfinite(angles)]
    middle_deg = float(known_angles.max() + known_angles.min()) / 2 if len(known_angles) else 0.0
    curve_height_deg = span_deg(content, joint)
    lane_share = LANE if content.findings else EMPTY_LANE
    panel_height_deg = curve_height_deg / (1.0 - STRIP - STRIP_GAP - lane_share)
    bottom_deg = middle_deg - curve_height_deg / 2 - panel_height_deg * (STRIP + STRIP_GAP)
    top_deg = bottom_deg + panel_height_deg
    axes.set_ylim(bottom_deg, top_deg)
    axes.set_yticks(round_angles(bottom_deg + panel_height_deg * STRIP, top_deg))
    _draw_keyframes(axes, content, joint)


def round_angles(bottom: float, top: float) -> list[float]:
    """Return round angles between two [deg], at most `MAX_TICKS` steps."""
    step = next(step for step in TICK_STEPS_DEG if (top - bottom) / step <= MAX_TICKS)
    return [step * i for i in range(math.ceil(bottom / step), math.floor(top / step) + 1)]


def _draw_keyframes(axes: Axes, content: MotionContent, title: str) -> None:
    """Draw lines at the keyframes, thinner if they are many, and the panel's title."""
    width = 0.7 if len(content.keyframe_times) <= MANY_KEYFRAMES else 0.3
    full_height = axes.get_xaxis_transform()  # y as a share of the panel
    axes.vlines(content.keyframe_times, 0, 1, transform=full_height, color=FRAME, linewidth=width, zorder=0)
    axes.set_title(title.replace("_", " "), fontsize=8, loc="left", pad=3)
    axes.set_xlim(0.0, content.end_s)
    axes.spines[["top", "right"]].set_visible(False)


def draw_heading(axes: Axes, group: str) -> None:
    """Write the name of the group that begins with a panel above it."""
    axes.annotate(
        group.replace("_", " ").upper(),
        (0, 1),
        (0, 15),
        "axes fraction",
        "offset points",
        weight="bold",
        color=HEADING,
        fontsize=8,
    )


def _draw_limits(axes: Axes, content: MotionContent, joint: str) -> None:
    """Draw the limits of a joint that are in view, and write all limits in the corner.

    They are those of the card, those of the mechanism (hardware), and those set by other joints (coupled).
    """
    limits = content.robot.joint(joint)
    card_lower, card_upper = np.rad2deg([limits.lower_rad, limits.upper_rad]).tolist()
    hardware_lower, hardware_upper = np.rad2deg(
        [limits.hardware_lower_rad, limits.hardware_upper_rad]
    ).tolist()
    bottom, top = axes.get_ylim()
    # from the tighter to the wider one; equal limits are drawn once
    lower_limits = sorted({card_lower, hardware_lower}, reverse=True)
    upper_limits = sorted({card_upper, hardware_upper})
    for limits_of_side, view_end in ((lower_limits, bottom), (upper_limits, top)):
        for limit_deg, colour, style in zip(limits_of_side, (LIMIT, HARDWARE), ("--", ":"), strict=False):
            is_in_view = bottom < limit_deg < top
            if is_in_view:
                axes.axhline(limit_deg, color=colour, linewidth=0.9, linestyle=style, zorder=1)
                shaded_from, shaded_to = sorted((limit_deg, view_end))
                axes.axhspan(shaded_from, shaded_to, color=LIMIT, alpha=0.07, linewidth=0)
    for coupled_limits in content.coupled_limits(joint):  # one for each time
        axes.plot(
            content.times, coupled_limits, color=LIMIT, lw=0.8, ds="steps-post", dashes=COUPLED, zorder=1
        )
    label = f"limits {card_lower:.0f} .. {card_upper:.0f}"
    if not np.allclose([card_lower, card_upper], [hardware_lower, hardware_upper]):
        label += f"  ({hardware_lower:.0f} .. {hardware_upper:.0f})"
    axes.set_title(label, fontsize=6.5, loc="right", pad=3, color=LIMIT)


def _draw_speed(axes: Axes, content: MotionContent, joint: str) -> None:
    """Draw the speed as a strip at the bottom, red where the joint cannot follow, with its peak beside."""
    shares = content.speeds[:, content.motion.joints.index(joint)]  # of the joint's greatest speed
    shares = np.nan_to_num(np.append(shares, shares[-1]), posinf=JUMP)
    heights = np.clip(shares, 0.0, STRIP_TOP) * STRIP / STRIP_TOP
    full_strip = np.full_like(heights, STRIP)
    is_too_fast = shares > 1.0 + 1e-6
    panel_shares = axes.get_xaxis_transform()  # y as a share of the panel
    for top, where, colour in (
        (full_strip, None, "white"),
        (heights, None, SPEED),
        (heights, is_too_fast, TOO_FAST),
    ):
        axes.fill_between(
            content.times,
            0,
            top,
            where=where,
            color=colour,
            step="post",
            lw=0,
            transform=panel_shares,
            zorder=1.5,
        )
    limit_height = STRIP / STRIP_TOP
    axes.plot([0, 1], [STRIP, STRIP], transform=axes.transAxes, color=FRAME, linewidth=0.7, zorder=1.8)
    axes.plot(
        [0, 1],
        [limit_height, limit_height],
        transform=axes.transAxes,
        color=TOO_FAST,
        linewidth=0.5,
        dashes=(6, 3),
    )
    peak = float(shares.max())
    label = "jump" if peak >= JUMP else f"{peak:.0%}"
    colour = TOO_FAST if is_too_fast.any() else PEAK
    axes.text(1.008, limit_height, label, transform=axes.transAxes, fontsize=5.5, color=colour, va="center")


def _draw_free(axes: Axes, content: MotionContent, joint: str) -> None:
    """Shade the times in which a joint is free."""
    is_free = content.is_free[:, content.motion.joints.index(joint)]
    if is_free.any():
        full_height = axes.get_xaxis_transform()  # y as a share of the panel
        axes.fill_between(content.times, 0, 1, where=is_free, transform=full_height, color=FREE, linewidth=0)
        centre = float(content.times[is_free].mean()) / content.end_s
        axes.text(centre, 0.5, "free", transform=axes.transAxes, ha="center", va="center", color=FREE_TEXT)


ANGLES = (("roll, + right", "#0072b2"), ("pitch, + forward", "#d55e00"), ("yaw, + left", "#009e73"))


def draw_attitude(axes: Axes, content: MotionContent, attitude: Floats) -> None:
    """Draw roll, pitch and yaw (n_keyframes, 3) [deg] between the keyframes that state them."""
    finite = attitude[np.isfinite(attitude)]
    middle = (finite.max() + finite.min()) / 2.0
    span = max(MIN_SPAN_DEG, np.ptp(finite) * SPAN_FACTOR)
    axes.set_ylim(middle - span / 2, middle + span / 2)
    _draw_keyframes(axes, content, ATTITUDE)
    draw_heading(axes, "base attitude")
    is_stated = np.isfinite(attitude).all(axis=1)
    for angles, (name, colour) in zip(attitude[is_stated].T, ANGLES, strict=True):
        axes.plot(content.keyframe_times[is_stated], angles, "o-", color=colour, label=name, lw=1.2, ms=2.2)
    axes.legend(
        ncols=3,
        fontsize=6.5,
        frameon=False,
        loc="lower right",
        bbox_to_anchor=(1.0, 0.98),
        borderaxespad=0.0,
    )
