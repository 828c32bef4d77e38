"""A motion as a picture: one small curve a joint, group under group, with keyframes and limits."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posewright.documents import write_atomically
from posewright.errors import InputError, MissingExtraError
from posewright.formats import card_of
from posewright.motions import Motion
from posewright.robots import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("png", "svg")
COLUMNS = 2
POINTS = 600
LEAST_DEG = 0.05
"""A joint that moves less is not drawn: rounding of a converted file, not a motion."""

LEAST_SPAN_DEG = 10.0
"""No panel shows less, so that a tremble does not look like a kick."""

CURVE, AGAIN, LIMIT, FREE, FRAME = "#1b5e8a", "#9dbfd6", "#c0392b", "#f3e3c3", "#d9dde1"
HEADING = "#5b6770"


@dataclass(frozen=True)
class _Picture:
    """What is to be drawn: the first pass, and of a loop the second too."""

    motion: Motion
    robot: Robot

    @cached_property
    def until_s(self) -> float:
        return self.motion.duration * (2 if self.motion.loops else 1)

    @cached_property
    def times(self) -> NDArray[np.float64]:
        """Evenly spaced, and every keyframe itself."""
        even = np.linspace(0.0, self.until_s, POINTS)
        return np.union1d(even, np.concatenate([self.marks, self.marks + self.motion.duration]))

    @cached_property
    def marks(self) -> NDArray[np.float64]:
        return self.motion.keyframe_times

    @cached_property
    def angles(self) -> NDArray[np.float64]:
        return np.rad2deg(self.motion.sample_at(self.times).angles)

    @cached_property
    def moving(self) -> tuple[str, ...]:
        """The joints that move or are let free; all of them if none does."""
        with np.errstate(invalid="ignore"):
            span = np.fmax.reduce(self.angles, axis=0) - np.fmin.reduce(self.angles, axis=0)
        free = {joint for frame in self.motion.keyframes for joint in frame.pose.free}
        moves = zip(self.motion.joints, span.tolist(), strict=True)
        return tuple(j for j, far in moves if far > LEAST_DEG or j in free) or self.motion.joints

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The moving joints by the smallest of the robot's groups that each is in."""
        groups: dict[str, list[str]] = {}
        for joint in self.moving:
            named = [name for name, members in self.robot.groups.items() if joint in members]
            group = min(named, key=lambda name: len(self.robot.groups[name]), default="joints")
            groups.setdefault(group, []).append(joint)
        return groups

    @cached_property
    def columns(self) -> list[list[_Panel]]:
        """The panels from top to bottom; a group goes where there is room: right beside left, legs below."""
        columns: list[list[_Panel]] = [[] for _ in range(min(len(self.groups), COLUMNS))]
        for group, joints in self.groups.items():
            span = max(LEAST_SPAN_DEG, *(self.span(joint) for joint in joints))
            panels = [_Panel(joint, span, group if row == 0 else "") for row, joint in enumerate(joints)]
            min(columns, key=len).extend(panels)
        return columns

    def curve(self, joint: str) -> NDArray[np.float64]:
        """(n,) [deg]."""
        return self.angles[:, self.motion.joints.index(joint)]

    def span(self, joint: str) -> float:
        """How many degrees a panel of the joint needs."""
        known = self.curve(joint)[np.isfinite(self.curve(joint))]
        return float(np.ptp(known)) * 1.3 if len(known) else 0.0


@dataclass(frozen=True)
class _Panel:
    """One joint's place; all of a group span as many degrees, so that they can be compared."""

    joint: str
    span_deg: float
    heading: str


def draw_motion(motion: Motion, path: str | Path, robot: Robot | None = None) -> None:
    """Draw every moving joint of a motion over time, with keyframes and limits, into a picture file.

    Args:
        motion: what to draw.
        path: ends in .png or .svg.
        robot: whose groups and limits count; default the motion's own.

    Raises:
        InputError: another ending, or the motion takes no time.
        MissingExtraError: matplotlib is not installed.
        UnknownNameError: the motion's own robot is not known.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise InputError(f"{path} is no picture that can be drawn", hint="end it in .png or .svg")
    if motion.duration == 0.0:
        raise InputError(f"motion {motion.name!r} takes no time: there is nothing to draw")
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingExtraError.for_extra("drawing a motion", "plot") from error
    # the same motion gives the same bytes
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "posewright", "font.size": 8.0}):
        _figure(_Picture(motion, card_of(motion) if robot is None else robot)).savefig(
            buffer, format=kind, dpi=150, metadata=metadata
        )
    write_atomically(path, buffer.getvalue())


def _figure(picture: _Picture) -> Figure:
    from matplotlib.figure import Figure

    columns = picture.columns
    n_rows = max(map(len, columns))
    figure = Figure(figsize=(0.8 + 4.2 * len(columns), 1.0 + 1.25 * n_rows), layout="constrained")
    grid = figure.subplots(n_rows, len(columns), squeeze=False, sharex=True)
    for place, panels in enumerate(columns):
        for axes, panel in zip(grid[:, place], panels, strict=False):
            _draw_joint(axes, picture, panel)
        for axes in grid[len(panels) :, place]:
            axes.set_axis_off()
        lowest = grid[len(panels) - 1, place]
        lowest.tick_params(labelbottom=True)
        lowest.set_xlabel("time [s]")
    figure.suptitle(_title(picture.motion), x=0.01, ha="left")
    return figure


def _title(motion: Motion) -> str:
    repeat = "repeats for ever" if motion.repeat is None else f"played {motion.repeat} times"
    ending = f", {repeat} (second pass paler)" if motion.loops else ""
    length = f"{len(motion.keyframes)} keyframes, {motion.duration:.3g} s{ending}"
    return f"{motion.name}: {length}; joint angles [deg]"


def _draw_joint(axes: Axes, picture: _Picture, panel: _Panel) -> None:
    curve, times, once = picture.curve(panel.joint), picture.times, picture.motion.duration
    known = curve[np.isfinite(curve)]
    middle = float(known.max() + known.min()) / 2 if len(known) else 0.0
    axes.set_xlim(0.0, picture.until_s)
    axes.set_ylim(middle - panel.span_deg / 2, middle + panel.span_deg / 2)
    for mark in picture.marks.tolist():
        axes.axvline(mark, color=FRAME, linewidth=0.7, zorder=0)
    _draw_limits(axes, picture.robot, panel.joint)
    _draw_free(axes, picture, panel.joint)
    for part, colour in ((times >= once, AGAIN), (times <= once, CURVE)):
        axes.plot(times[part], curve[part], color=colour, linewidth=1.4, solid_capstyle="round")
    at_marks = curve[np.searchsorted(times, picture.marks)]
    axes.plot(picture.marks, at_marks, "o", color=CURVE, markersize=3.5, clip_on=False)
    axes.set_title(panel.joint.replace("_", " "), fontsize=8, loc="left", pad=3)
    if panel.heading:
        heading = panel.heading.replace("_", " ").upper()
        axes.text(0, 1.27, heading, transform=axes.transAxes, weight="bold", color=HEADING)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_limits(axes: Axes, robot: Robot, joint: str) -> None:
    """Draw the limits that the panel shows, and name both in its corner."""
    limits = robot.joint(joint)
    low, high = np.rad2deg([limits.lower_rad, limits.upper_rad])
    bottom, top = axes.get_ylim()
    for edge, beyond, visible in ((low, bottom, low > bottom), (high, top, high < top)):
        if visible:
            inside = min(max(edge, bottom), top)
            axes.axhline(edge, color=LIMIT, linewidth=0.9, linestyle="--")
            axes.axhspan(min(inside, beyond), max(inside, beyond), color=LIMIT, alpha=0.08, linewidth=0)
    axes.set_ylim(bottom, top)
    label = f"limits {low:.0f} .. {high:.0f}"
    axes.set_title(label, fontsize=6.5, loc="right", pad=3, color=LIMIT)


def _draw_free(axes: Axes, picture: _Picture, joint: str) -> None:
    samples = picture.motion.sample_at(picture.times)
    free = samples.free[:, picture.motion.joints.index(joint)]
    if free.any():
        axes.fill_between(
            picture.times, 0, 1, where=free, transform=axes.get_xaxis_transform(), color=FREE, linewidth=0
        )
        centre = float(picture.times[free].mean()) / picture.until_s
        axes.text(centre, 0.5, "free", transform=axes.transAxes, ha="center", va="center", color="#8a6d1f")
