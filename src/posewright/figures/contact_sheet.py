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

# Measures of a page [in]: A4, or less height if that is enough.
WIDTH = 8.27
LEFT = 0.3
TOP = 0.75
CELL_WIDTH = 2.57
CELL_HEIGHT = 1.34
PICTURE_HEIGHT = 0.82

_NAME_LENGTH = 38
_FAULT_LENGTH = 52
"""Characters of a name, and of a line of an error."""

_SAMPLES = 40
"""Number of times at which a motion's distance from its ends is computed."""

_GAP = 1.15
"""Distance between robots, in their lengths."""


def count_stick_pages(stick: MemoryStick) -> int:
    """Return the number of pages of a stick's contact sheet: one for 24 motions."""
    return max(1, math.ceil(len(motions_on(stick)) / (COLUMNS * ROWS)))


@styled("drawing a memory stick")
def draw_stick(stick: MemoryStick, *, page: int = 1, figure: Canvas | None = None) -> Figure:
    """Draw the motions of a memory stick: each at its beginning, farthest from its ends, and at its end.

    Below each are its duration, its postures at both ends, and the ids by which `MoNetExecute` plays it; a
    damaged one has its error instead. Nothing is simulated.

    Args:
        stick: as returned by `read_stick`.
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
    height = TOP + math.ceil(len(page_motions) / COLUMNS) * CELL_HEIGHT + 0.1
    sheet = canvas(figure, (WIDTH, height), dpi=150)
    count = "1 motion" if len(motions) == 1 else f"{len(motions)} motions"
    title = f"{stick.root.name if stick.root else motions[0].archive.path.name}: {count}"
    if pages > 1:
        title += f", {first + 1} to {first + len(page_motions)}, page {page} of {pages}"
    sheet.text(LEFT / WIDTH, 1.0 - 0.4 / height, title, fontsize=12, weight="bold", parse_math=False)
    for number, motion in enumerate(page_motions):
        row, column = divmod(number, COLUMNS)
        left = LEFT + column * CELL_WIDTH
        top = TOP + row * CELL_HEIGHT
        axes = axes_at(sheet, (WIDTH, height), left, top, width=CELL_WIDTH - 0.12, height=PICTURE_HEIGHT)
        _draw_motion(axes, motion)
    return label_figure(sheet, title)


@styled("drawing a motion")
def draw_motion_summary(motion: Motion, *, figure: Canvas | None = None) -> Figure:
    """Draw a motion as on a contact sheet: at its beginning, farthest from its ends, and at its end.

    Args:
        motion: to be drawn, without simulation.
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
    """Draw a motion's poses side by side, above its name, duration, postures and commands."""
    commands = ", ".join(f"MoNetExecute({number})" for number in stick_motion.ids[:2]) or "no command"
    if len(stick_motion.ids) > 2:
        commands += f" and {len(stick_motion.ids) - 2} more"
    lines = [textwrap.shorten(stick_motion.name, _NAME_LENGTH, placeholder="...")]
    try:
        motion = stick_motion.motion
        lines.append(", ".join(filter(None, [f"{motion.duration:.2f} s", stick_motion.postures])))
        lines.append(commands)
        _draw_poses(axes, motion)
    except PosewrightError as error:  # a damaged motion, or a robot without a model
        error_text = textwrap.fill(error.message, _FAULT_LENGTH)
        axes.text(0.5, 0.5, error_text, ha="center", va="center", fontsize=6, color=WRONG, parse_math=False)
        if len(lines) == 1:
            lines.append(commands)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color(FAINT)
    axes.set_facecolor("#fafbfc")
    for row, text in enumerate(lines):
        axes.text(
            0.0,
            -0.04 - 0.15 * row,
            text,
            va="top",
            fontsize=6.5 if row else 7.5,
            color=GREY if row else INK,
            weight="normal" if row else "bold",
            transform=axes.transAxes,
            parse_math=False,
        )


def _draw_poses(axes: Axes, motion: Motion) -> None:
    """Draw some poses of a motion beside each other, from the side."""
    playback = playback_of_motion(motion)
    robot = playback.world.robot
    poses = playback.at(np.array(_picture_times(motion)))
    header = header_of(robot)
    (bases,) = poses.base.values()
    (joints,) = poses.positions.values()
    distance = 0.0
    for number, (base, angles) in enumerate(zip(bases, joints, strict=True)):
        draw_outline(
            axes, header, base=base + number * distance * np.eye(7)[0], positions=angles, view="side"
        )
        distance = distance or _GAP * axes.dataLim.width
    axes.axhline(0.0, color=GREY, lw=0.6, zorder=0)
    axes.margins(0.03, 0.06)
    axes.set_aspect("equal", adjustable="datalim")


def _picture_times(motion: Motion) -> Sequence[float]:
    """Return the times of a motion's beginning, of its pose farthest from both ends, and of its end [s]."""
    times = np.linspace(0.0, motion.duration, _SAMPLES)
    angles = np.nan_to_num(motion.sample_at(times).angles)
    away = np.abs(angles - angles[0]).sum(axis=1) + np.abs(angles - angles[-1]).sum(axis=1)
    return [0.0, float(times[away.argmax()]), motion.duration]
