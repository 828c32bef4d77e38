"""The feet of a gait from above and from the side: as planned, and as the joints put them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.figures.gait.content import COLOURS, MM, ORDER, SAME, SHORT, FootPath, GaitContent
from posewright.figures.style import GREY, INK, draw_arrow_head, trim
from posewright.gaits import chain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOSE_M = 0.035
"""How far the drawn base comes to a point ahead of the shoulders [m]."""

NARROWER = 0.72
"""The base is drawn so much narrower than its shoulders, so that feet show beside it."""

SHOWN_TURN = 3.0
"""Of a turn on the spot the arrow goes round at such a part of the base's length."""


def base_outline(content: GaitContent) -> Floats:
    """Return the corners of the base as it is drawn, nose ahead, `(n, 2)` [m]."""
    shoulders = np.array([path.leg.shoulder_m for path in content.feet.values()])
    front = shoulders[:, 0].max()
    rear = shoulders[:, 0].min()
    half = np.abs(shoulders[:, 1]).max() * NARROWER
    return np.array([(rear, half), (front, half), (front + NOSE_M, 0.0), (front, -half), (rear, -half)])


def steps_otherwise(content: GaitContent) -> bool:
    """Return whether the feet step otherwise than the body is commanded to go, to make up for something."""
    return bool(np.abs(content.stepped - content.commanded).max() > SAME)


def draw_above(axes: Axes, content: GaitContent, *, names: bool = True, by_feet: bool = False) -> None:
    """Draw the robot from above, x to the right, its feet over a cycle and where it comes in one.

    The axes are not yet true to scale: see `share_true_scale`. With `by_feet` the base is drawn where its
    feet would carry it, not where it is commanded to go.
    """
    outline = base_outline(content)
    components = content.stepped if by_feet else content.commanded
    _draw_bases(axes, outline, content.base_path(components, content.timing.period_s)[-1])
    for path in content.feet.values():
        _draw_foot(axes, path)
        if names:
            _name(axes, path)
    draw_base_path(axes, content, by_feet=by_feet)
    axes.margins(x=0.06, y=0.18 if names else 0.06)
    trim(axes)


def draw_base_path(axes: Axes, content: GaitContent, *, by_feet: bool = False) -> None:
    """Draw where the base comes in a cycle, with an arrow, and dotted where its feet would carry it.

    With `by_feet` the two change places.
    """
    path = content.base_path(content.commanded, content.timing.period_s)
    dotted = content.base_path(content.stepped, content.timing.period_s)
    if by_feet:
        path, dotted = dotted, path
    if steps_otherwise(content):
        axes.plot(*dotted[:, :2].T * MM, color=GREY, lw=1.2, ls=":", zorder=6)
    if np.ptp(path[:, :2], axis=0).max() > SAME:
        _draw_arrow(axes, path[:, :2] * MM)
    elif abs(path[-1, 2]) > SAME:
        radius = np.ptp(base_outline(content)[:, 0]) * MM / SHOWN_TURN
        _draw_arrow(axes, radius * np.stack([np.cos(path[:, 2]), np.sin(path[:, 2])], axis=1))
    axes.plot([0.0], [0.0], "o", ms=4, color=INK, zorder=7)


def _draw_bases(axes: Axes, outline: Floats, end: Floats) -> None:
    from matplotlib.patches import Polygon

    axes.add_patch(Polygon(outline * MM, fc="#eef1f4", ec=GREY, lw=1.0, zorder=1, joinstyle="round"))
    if np.abs(end).max() > SAME:
        placed = np.concatenate([outline, np.zeros((len(outline), 1))], axis=1)
        moved = chain(np.broadcast_to(end, placed.shape), placed)[:, :2] * MM
        axes.add_patch(Polygon(moved, fill=False, ec=GREY, lw=0.9, ls="--", zorder=2, joinstyle="round"))
        axes.update_datalim(moved)


def _draw_foot(axes: Axes, path: FootPath) -> None:
    colour = COLOURS[path.foot]
    aloft = path.planned(np.linspace(0.0, path.timing.air_s, 41)[:-1])
    ground = path.planned(np.linspace(path.timing.air_s, path.timing.period_s, 41))
    axes.plot(*ground[:, :2].T * MM, color=colour, lw=2.6, solid_capstyle="round", zorder=4)
    axes.plot(*aloft[:, :2].T * MM, color=colour, lw=0.9, ls="--", zorder=4)
    x, y = path.planned(path.ground_times)[:, :2].T * MM
    axes.plot(x, y, "o", ms=3.2, mfc=colour, mec="white", mew=0.5, zorder=5)
    axes.plot(*path.lands_at[:2] * MM, "o", ms=5.5, mfc="white", mec=colour, mew=1.3, zorder=5)
    axes.plot(*path.equilibrium_m[:2] * MM, "+", ms=9, mew=1.3, color=INK, zorder=6)


def _name(axes: Axes, path: FootPath) -> None:
    """Write the foot's name outside of its stroke, on a halo where it stands on a line."""
    from matplotlib.patheffects import withStroke

    over = np.array([path.lands_at, path.leaves_at, path.equilibrium_m])[:, :2] * MM
    out = 1.0 if path.equilibrium_m[1] >= 0.0 else -1.0
    place = (float(over[:, 0].mean()), float((over[:, 1] * out).max() * out))
    axes.annotate(
        SHORT[path.foot],
        place,
        (0.0, 9.0 * out),
        textcoords="offset points",
        ha="center",
        va="bottom" if out > 0.0 else "top",
        fontsize=8,
        weight="bold",
        color=COLOURS[path.foot],
        zorder=8,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def _draw_arrow(axes: Axes, line: Floats) -> None:
    """Draw a line with a head at its end."""
    axes.plot(*line.T, color=INK, lw=1.6, zorder=6, solid_capstyle="butt")
    behind = line[-2] - 3.0 * (line[-1] - line[-2])
    draw_arrow_head(axes, line[-1], behind, color=INK, size=11, zorder=7)


def share_scale(axes: Sequence[Axes]) -> None:
    """Give all axes the same ends: those that all of them together need."""
    left, right, low, high = ends_of(axes)
    for panel in axes:
        panel.set_xlim(left, right)
        panel.set_ylim(low, high)


def share_true_scale(axes: Sequence[Axes]) -> None:
    """Give axes of the same size the same ends, a millimetre as long upwards as across; nothing is cut off.

    matplotlib's own path to do so may take margins away again, and with them room for words.
    """
    left, right, low, high = ends_of(axes)
    box = axes[0].get_window_extent()
    ratio = box.height / box.width
    across = max(right - left, (high - low) / ratio)
    for panel in axes:
        panel.set_xlim((left + right - across) / 2.0, (left + right + across) / 2.0)
        panel.set_ylim((low + high - across * ratio) / 2.0, (low + high + across * ratio) / 2.0)
        panel.set_aspect("equal", adjustable="box")


def ends_of(axes: Sequence[Axes]) -> tuple[float, float, float, float]:
    """Return left, right, low and high ends that hold what all axes show."""
    across = np.array([panel.get_xlim() for panel in axes])
    upwards = np.array([panel.get_ylim() for panel in axes])
    return across[:, 0].min(), across[:, 1].max(), upwards[:, 0].min(), upwards[:, 1].max()


LEAST_SPAN_MM = 20.0
"""No view is narrower: a foot that stands still does not look as if it moved."""

PLANNED_STYLE = (0, (1.2, 1.6))
"""The stroke of the planned path."""

SOIL = "#efece6"

ROOM = 1.16
"""A view is so much larger than what it shows."""

BELOW = 0.22
"""Share of a view's height below the ground."""


@dataclass(frozen=True)
class SideView:
    """From which side a foot is seen, and how much of the world.

    Attributes:
        axis: 0 from the right, x to the right; 1 from behind, y to the left.
        middle_mm: of the path along that axis, from the equilibrium point; the view is `span_mm` wide.
        ratio: its height over its width; heights are drawn `stretch` times as long as lengths.
    """

    axis: int
    middle_mm: float
    span_mm: float
    ratio: float
    stretch: float = 1.0

    @property
    def name(self) -> str:
        """What the axis shows."""
        return "y, to the left [mm]" if self.axis else "x, forward [mm]"


def side_axis(content: GaitContent) -> int:
    """Return the axis along which the feet go further: 0 for x, 1 for y; x where they are alike."""
    strokes = [np.abs(path.leaves_at - path.lands_at)[:2] for path in content.feet.values()]
    forward, left = np.sum(strokes, axis=0)
    return int(left > forward * (1.0 + 1e-9))


def side_view(content: GaitContent, ratio: float) -> SideView:
    """Return a view that all feet of a gait fit in, true to scale, in panels of a height over width."""
    axis = side_axis(content)
    paths = content.feet.values()
    points = np.concatenate(
        [along_mm(path, np.vstack([path.executed, path.planned(path.air_times)]), axis) for path in paths]
    )
    low = float(points.min())
    high = float(points.max())
    tallest = max(height_mm(path, path.executed).max() for path in paths)
    span = ROOM * max(high - low, tallest / (1.0 - BELOW) / ratio)
    return SideView(axis, (low + high) / 2.0, max(span, LEAST_SPAN_MM), ratio)


def along_mm(path: FootPath, points: Floats, axis: int) -> Floats:
    """Return how far points are from the equilibrium point along an axis, `(n,)` [mm]."""
    return np.asarray((points[:, axis] - path.equilibrium_m[axis]) * MM)


def height_mm(path: FootPath, points: Floats) -> Floats:
    """Return how high points are above the ground the foot stands on, `(n,)` [mm]."""
    return np.asarray((points[:, 2] - path.equilibrium_m[2]) * MM)


def draw_side(axes: Axes, path: FootPath, view: SideView) -> None:
    """Draw the path of a foot from the side."""
    colour = COLOURS[path.foot]
    frame_side(axes, view)
    planned = path.planned(np.linspace(0.0, path.timing.air_s, 81)[:-1])
    axes.plot(*_projected(path, planned, view), color=GREY, lw=0.8, ls=PLANNED_STYLE, zorder=2)
    axes.plot(*_projected(path, path.executed, view), color=colour, lw=1.5, zorder=3, solid_capstyle="round")
    for times, marker, size, fill in (
        (path.ground_times, "o", 4.0, colour),
        (path.air_times, "o", 4.0, "white"),
        (path.handed_over_times, "D", 3.2, "#c8ced3"),
    ):
        x, y = _projected(path, path.planned(times), view)
        axes.plot(x, y, ls="", marker=marker, ms=size, mfc=fill, mec=colour, mew=1.0, zorder=4)
    axes.plot([0.0], [0.0], "+", ms=11, mew=1.4, color=INK, zorder=5)


def side_title(path: FootPath) -> str:
    """Return stroke and height of a foot's path in words."""
    stroke = float(np.hypot(*(path.lands_at - path.leaves_at)[:2])) * MM
    height = float(height_mm(path, path.planned(path.air_times)).max())
    return f"stroke {stroke:.0f} mm, {height:.0f} mm high"


def frame_side(axes: Axes, view: SideView) -> None:
    """Set what the axes show, with the ground in it."""
    half = view.span_mm / 2.0
    height = view.span_mm * view.ratio / view.stretch
    ends = (view.middle_mm - half, view.middle_mm + half)
    axes.set_xlim(*(ends[::-1] if view.axis else ends))
    axes.set_ylim(-BELOW * height, (1.0 - BELOW) * height)
    axes.set_aspect(view.stretch)
    axes.axhspan(-BELOW * height, 0.0, color=SOIL, lw=0, zorder=0)
    axes.axhline(0.0, color=GREY, lw=0.8, zorder=1)
    trim(axes)
    axes.locator_params(axis="y", nbins=4)


def _projected(path: FootPath, points: Floats, view: SideView) -> tuple[Floats, Floats]:
    return along_mm(path, points, view.axis), height_mm(path, points)


def sides_in_order(axis: int) -> tuple[str, ...]:
    """Return the feet as they lie in two columns: what is to the right in the view stands to the right."""
    return ORDER if axis else ("left_rear", "left_front", "right_rear", "right_front")


NEAR = ("right_front", "right_rear")
FAR = ("left_front", "left_rear")
"""Seen from the right; the far legs are drawn paler."""


def standing_leg(content: GaitContent, path: FootPath) -> Floats:
    """Return shoulder, knee and middle of the paw's ball of a leg at rest, `(3, 3)` [m]."""
    leg = path.leg
    angles = content.standing_pose[list(leg.indices)]
    return np.array([leg.shoulder_m, leg.knee_positions(angles), leg.forward(angles)])


def draw_stance(axes: Axes, content: GaitContent) -> None:
    """Draw the robot from the right as it stands, x to the right, on its equilibrium points.

    The axes are not yet true to scale: see `scale`.
    """
    shoulders = np.array([path.leg.shoulder_m for path in content.feet.values()]) * MM
    for feet, shade in ((FAR, 0.4), (NEAR, 1.0)):
        for foot in feet:
            _draw_leg(axes, content, content.feet[foot], shade)
    ends = [shoulders[:, 0].min(), shoulders[:, 0].max()]
    axes.plot(ends, [shoulders[:, 2].mean()] * 2, color=GREY, lw=6.0, solid_capstyle="round", zorder=2)
    axes.margins(x=0.05, y=0.09)
    trim(axes)


def _draw_leg(axes: Axes, content: GaitContent, path: FootPath, shade: float) -> None:
    from matplotlib.patches import Circle

    points = standing_leg(content, path)[:, ::2] * MM
    colour = COLOURS[path.foot]
    axes.plot(*points.T, "o-", color=colour, lw=2.4, ms=4.0, alpha=shade, zorder=3 if shade == 1.0 else 1)
    radius = path.leg.foot_radius_m * MM
    axes.add_patch(Circle(points[-1], radius, fc="white", ec=colour, alpha=shade, zorder=3))
    ground = path.equilibrium_m[2] * MM
    axes.plot(path.equilibrium_m[0] * MM, ground, "+", ms=9, mew=1.3, color=INK, zorder=5)
    axes.plot(
        path.equilibrium_m[0] * MM + np.array([-22.0, 22.0]), [ground] * 2, color=GREY, lw=0.8, zorder=1
    )
