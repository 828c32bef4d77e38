"""The contact sheet of a memory stick: pictures of its motions, and the commands that play them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from posewright.errors import InputError, PosewrightError
from posewright.figures.outline import draw_outline
from posewright.figures.playback import playback_of_motion
from posewright.figures.robot import header_of
from posewright.figures.style import FAINT, GREY, INK, WRONG, axes_at, canvas, label_figure, styled
from posewright.motions import Motion
from posewright.runtimes.openr.stick import MemoryStick
from posewright.runtimes.openr.stick.contents import StickMotion, motions_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

COLUMNS = 3
ROWS = 8
"""Columns and rows of a page."""

# Measures of a page in inches: A4, or less height if that is enough. A cell has the picture of a motion, its
# text below and the gap to the next cell.
WIDTH = 8.27
LEFT_MARGIN = 0.3
TOP_MARGIN = 0.75
BOTTOM_MARGIN = 0.1
TITLE_BASELINE = 0.4  # from the top
CELL_WIDTH = 2.57
CELL_HEIGHT = 1.34
CELL_GAP = 0.12
PICTURE_HEIGHT = 0.82

_MAX_LISTED_COMMANDS = 2
_NAME_LENGTH = 38
_FAULT_LENGTH = 52
"""Characters of a name, and of a line of an error."""

_SAMPLES = 40
"""Number of times at which a motion's distance from its ends is computed."""

_GAP = 1.15
"""Distance between robots, in their lengths."""


def count_stick_pages(stick: MemoryStick) -> int:
    """Return the number of pages of a stick's contact sheet, at least one; each has room for 24 motions."""
    return max(1, math.ceil(len(motions_on(stick)) / (COLUMNS * ROWS)))


@styled("drawing a memory stick")
def draw_stick(stick: MemoryStick, *, page: int = 1, figure: Canvas | None = None) -> Figure:
    """Draw a page of the contact sheet of a memory stick, with a cell for each motion.

    A cell shows the robot at the motion's beginning, farthest from both ends, and at its end.

    Below each are its duration, its postures at both ends, and the ids by which `MoNetExecute` plays it; a
    damaged one has its error instead. Nothing is simulated.

    Args:
        stick: the stick as returned by `read_stick`.
        page: number of the page, from 1 to `count_stick_pages(stick)`.
        figure: a figure, or a part of one, to draw into; default a new one.

    Raises:
        InputError: there is no such page, or the stick has no motion.
    """
    motions = motions_on(stick)
    pages = count_stick_pages(stick)
    if not motions:
        raise InputError("there is no motion to draw", hint="name a stick with an archive of motions")
    if not 1 <= page <= pages:
        raise InputError(f"the contact sheet has no page {page}", hint=f"1 to {pages}")
    first = (page - 1) * COLUMNS * ROWS
    page_motions = motions[first : first + COLUMNS * ROWS]
    n_rows = math.ceil(len(page_motions) / COLUMNS)
    height = TOP_MARGIN + n_rows * CELL_HEIGHT + BOTTOM_MARGIN
    sheet = canvas(figure, (WIDTH, height), dpi=150)
    count = "1 motion" if len(motions) == 1 else f"{len(motions)} motions"
    title = f"{stick.root.name if stick.root else motions[0].archive.path.name}: {count}"
    if pages > 1:
        title += f", {first + 1} to {first + len(page_motions)}, page {page} of {pages}"
    title_x = LEFT_MARGIN / WIDTH  # in shares of the page, from the bottom left
    title_y = 1.0 - TITLE_BASELINE / height
    sheet.text(title_x, title_y, title, fontsize=12, weight="bold", parse_math=False)
    for number, motion in enumerate(page_motions):
        row, column = divmod(number, COLUMNS)
        left = LEFT_MARGIN + column * CELL_WIDTH
        top = TOP_MARGIN + row * CELL_HEIGHT
        axes = axes_at(sheet, (WIDTH, height), left, top, width=CELL_WIDTH - CELL_GAP, height=PICTURE_HEIGHT)
        _draw_motion(axes, motion)
    return label_figure(sheet, title)


@styled("drawing a motion")
def draw_motion_summary(motion: Motion, *, figure: Canvas | None = None) -> Figure:
    """Draw a motion as on a contact sheet: at its beginning, farthest from its ends, and at its end.

    Args:
        motion: the motion to be drawn, without simulation.
        figure: a figure, or a part of one, to draw into; default a new one.

    Raises:
        InputError: the robot has no model.
    """
    sheet = canvas(figure, (CELL_WIDTH, PICTURE_HEIGHT), dpi=150)
    axes = axes_at(
        sheet, page=(CELL_WIDTH, PICTURE_HEIGHT), left=0.0, top=0.0, width=CELL_WIDTH, height=PICTURE_HEIGHT
    )
    _draw_poses(axes, motion)
    axes.axis("off")
    return label_figure(sheet, motion.name)


def _draw_motion(axes: Axes, stick_motion: StickMotion) -> None:
    """Draw a motion's poses side by side, above its name, duration, postures and commands.

    A motion that cannot be read or drawn has its error in place of the poses.
    """
    listed_ids = stick_motion.ids[:_MAX_LISTED_COMMANDS]
    commands = ", ".join(f"MoNetExecute({motion_id})" for motion_id in listed_ids) or "no command"
    if len(stick_motion.ids) > len(listed_ids):
        commands += f" and {len(stick_motion.ids) - len(listed_ids)} more"
    lines = [textwrap.shorten(stick_motion.name, _NAME_LENGTH, placeholder="...")]
    try:
        motion = stick_motion.motion
        lines.append(", ".join(filter(None, [f"{motion.duration:.2f} s", stick_motion.postures])))
        lines.append(commands)
        _draw_poses(axes, motion)
    except PosewrightError as error:  # a damaged motion, or a robot without a model
        error_text = textwrap.fill(error.message, _FAULT_LENGTH)
        axes.text(0.5, 0.5, error_text, ha="center", va="center", fontsize=6, color=WRONG, parse_math=False)
        if len(lines) == 1:  # it could not be read
            lines.append(commands)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color(FAINT)
    axes.set_facecolor("#fafbfc")
    for row, text in enumerate(lines):
        is_name = row == 0
        axes.text(
            0.0,
            -0.04 - 0.15 * row,
            text,
            va="top",
            fontsize=7.5 if is_name else 6.5,
            color=INK if is_name else GREY,
            weight="bold" if is_name else "normal",
            transform=axes.transAxes,
            parse_math=False,
        )


def _draw_poses(axes: Axes, motion: Motion) -> None:
    """Draw the first, the farthest and the last pose of a motion beside each other, from the side."""
    playback = playback_of_motion(motion)
    robot = playback.world.robot
    poses = playback.poses_at(np.array(_picture_times(motion)))
    header = header_of(robot)
    (bases,) = poses.base_poses.values()
    (joints,) = poses.joint_angles.values()
    spacing_m = 0.0
    for i, (base, angles) in enumerate(zip(bases, joints, strict=True)):
        shifted_base = base.copy()
        shifted_base[0] += i * spacing_m
        draw_outline(axes, header, base=shifted_base, positions=angles, view="side")
        if i == 0:  # the size of the first drawing sets the distance of the others
            spacing_m = _GAP * axes.dataLim.width
    axes.axhline(0.0, color=GREY, lw=0.6, zorder=0)
    axes.margins(0.03, 0.06)
    axes.set_aspect("equal", adjustable="datalim")


def _picture_times(motion: Motion) -> Sequence[float]:
    """Return the times of a motion's beginning, of its pose farthest from both ends, and of its end [s]."""
    times = np.linspace(0.0, motion.duration, _SAMPLES)
    angles = np.nan_to_num(motion.sample_at(times).angles)
    distances = np.abs(angles - angles[0]).sum(axis=1) + np.abs(angles - angles[-1]).sum(axis=1)
    return [0.0, float(times[distances.argmax()]), motion.duration]
