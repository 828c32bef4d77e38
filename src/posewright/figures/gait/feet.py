"""The feet of a gait from above and from the side: planned and executed paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.figures.gait.content import (
    COLOURS,
    MM,
    ORDER,
    SHORT_FOOT_NAMES,
    TOLERANCE,
    FootPath,
    GaitContent,
)
from posewright.figures.style import GREY, INK, draw_arrow_head, trim_axes
from posewright.gaits import chain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOSE_M = 0.035
"""Length of the drawn base's nose in front of the shoulders [m]."""

BASE_WIDTH_SHARE = 0.72
"""Width of the drawn base relative to its shoulders, so that feet are visible beside it."""

TURN_ARROW_RATIO = 3.0
"""Length of the base over the radius of the arrow of a turn on the spot."""


def base_outline(content: GaitContent) -> Floats:
    """Return the corners of the drawn base, with its nose forward, `(n, 2)` [m]."""
    shoulders = np.array([path.leg.shoulder_m for path in content.feet.values()])
    front = shoulders[:, 0].max()
    rear = shoulders[:, 0].min()
    half = np.abs(shoulders[:, 1]).max() * BASE_WIDTH_SHARE
    return np.array([(rear, half), (front, half), (front + NOSE_M, 0.0), (front, -half), (rear, -half)])


def has_compensation(content: GaitContent) -> bool:
    """Return whether the feet's motion differs from the body's command, as compensation."""
    return bool(np.abs(content.feet_motion - content.commanded_motion).max() > TOLERANCE)


def draw_above(
    axes: Axes, content: GaitContent, *, has_names: bool = True, base_follows_feet: bool = False
) -> None:
    """Draw the robot from above, x to the right, its feet over a cycle and its pose at the end.

    The axes are not yet true to scale: see `set_equal_scale`.

    Args:
        axes: the axes to draw into.
        content: the cycle.
        has_names: write the names of the feet.
        base_follows_feet: move the base as its feet would carry it, not as it is commanded.
    """
    outline = base_outline(content)
    components = content.feet_motion if base_follows_feet else content.commanded_motion
    _draw_bases(axes, outline, content.base_path(components, content.timing.period_s)[-1])
    for path in content.feet.values():
        _draw_foot(axes, path)
        if has_names:
            _write_foot_name(axes, path)
    draw_base_path(axes, content, base_follows_feet=base_follows_feet)
    axes.margins(x=0.06, y=0.18 if has_names else 0.06)
    trim_axes(axes)


def draw_base_path(axes: Axes, content: GaitContent, *, base_follows_feet: bool = False) -> None:
    """Draw the path of the base in a cycle as an arrow, and a second one dotted.

    The commanded path is the arrow. The feet step along another path if the gait has a compensation (travel
    gain and trim), which corrects what the robot loses by slipping; that path is dotted.

    Args:
        axes: the axes to draw into.
        content: the gait.
        base_follows_feet: the arrow is the path along which the feet step, and the commanded one is dotted.
    """
    commanded = content.base_path(content.commanded_motion, content.timing.period_s)
    stepped = content.base_path(content.feet_motion, content.timing.period_s)
    solid = stepped if base_follows_feet else commanded
    dotted = commanded if base_follows_feet else stepped
    if has_compensation(content):
        axes.plot(*dotted[:, :2].T * MM, color=GREY, lw=1.2, ls=":", zorder=6)
    if np.ptp(solid[:, :2], axis=0).max() > TOLERANCE:
        _draw_arrow(axes, solid[:, :2] * MM)
    elif abs(solid[-1, 2]) > TOLERANCE:
        radius = np.ptp(base_outline(content)[:, 0]) * MM / TURN_ARROW_RATIO
        _draw_arrow(axes, radius * np.stack([np.cos(solid[:, 2]), np.sin(solid[:, 2])], axis=1))
    axes.plot([0.0], [0.0], "o", ms=4, color=INK, zorder=7)


def _draw_bases(axes: Axes, outline: Floats, end_pose: Floats) -> None:
    """Draw the base from above at the start of the cycle, and dashed at its end.

    Args:
        axes: the axes to draw into.
        outline: corners of the base, `(n, 2)` [m].
        end_pose: pose of the base at the end of the cycle, from its start, `(3,)` [m, m, rad].
    """
    from matplotlib.patches import Polygon

    axes.add_patch(Polygon(outline * MM, fc="#eef1f4", ec=GREY, lw=1.0, zorder=1, joinstyle="round"))
    has_moved = np.abs(end_pose).max() > TOLERANCE
    if has_moved:
        corner_poses = np.concatenate([outline, np.zeros((len(outline), 1))], axis=1)
        moved_corners = chain(np.broadcast_to(end_pose, corner_poses.shape), corner_poses)
        moved_outline = moved_corners[:, :2] * MM
        axes.add_patch(
            Polygon(moved_outline, fill=False, ec=GREY, lw=0.9, ls="--", zorder=2, joinstyle="round")
        )
        axes.update_datalim(moved_outline)


def _draw_foot(axes: Axes, path: FootPath) -> None:
    """Draw the path of a foot from above: solid on the ground, dashed in the air."""
    colour = COLOURS[path.foot]
    in_air = path.planned_positions(np.linspace(0.0, path.timing.air_s, 41)[:-1])
    on_ground = path.planned_positions(np.linspace(path.timing.air_s, path.timing.period_s, 41))
    axes.plot(*on_ground[:, :2].T * MM, color=colour, lw=2.6, solid_capstyle="round", zorder=4)
    axes.plot(*in_air[:, :2].T * MM, color=colour, lw=0.9, ls="--", zorder=4)
    x, y = path.planned_positions(path.ground_times)[:, :2].T * MM
    axes.plot(x, y, "o", ms=3.2, mfc=colour, mec="white", mew=0.5, zorder=5)
    axes.plot(*path.landing_point[:2] * MM, "o", ms=5.5, mfc="white", mec=colour, mew=1.3, zorder=5)
    axes.plot(*path.equilibrium_m[:2] * MM, "+", ms=9, mew=1.3, color=INK, zorder=6)


def _write_foot_name(axes: Axes, path: FootPath) -> None:
    """Write the foot's name outside of its stroke, with a halo over lines."""
    from matplotlib.patheffects import withStroke

    points = np.array([path.landing_point, path.lift_off_point, path.equilibrium_m])[:, :2] * MM
    outward = 1.0 if path.equilibrium_m[1] >= 0.0 else -1.0  # sign of y on the foot's side of the robot
    text_position = (float(points[:, 0].mean()), float((points[:, 1] * outward).max() * outward))
    axes.annotate(
        SHORT_FOOT_NAMES[path.foot],
        text_position,
        (0.0, 9.0 * outward),
        textcoords="offset points",
        ha="center",
        va="bottom" if outward > 0.0 else "top",
        fontsize=8,
        weight="bold",
        color=COLOURS[path.foot],
        zorder=8,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def _draw_arrow(axes: Axes, line: Floats) -> None:
    """Draw a line of points, `(n, 2)`, with a head at its end."""
    axes.plot(*line.T, color=INK, lw=1.6, zorder=6, solid_capstyle="butt")
    point_behind = line[-2] - 3.0 * (line[-1] - line[-2])  # its direction is that of the head
    draw_arrow_head(axes, line[-1], point_behind, color=INK, size=11, zorder=7)


def share_scale(axes: Sequence[Axes]) -> None:
    """Set the same limits for all axes, so that all content fits."""
    limits = common_limits(axes)
    for panel in axes:
        panel.set_xlim(limits.left, limits.right)
        panel.set_ylim(limits.bottom, limits.top)


def set_equal_scale(axes: Sequence[Axes]) -> None:
    """Set the same limits for axes of the same size, with equal scales; nothing is cut off.

    The limits in x or in y are widened, around their middle, to the shape of the axes. matplotlib's own equal
    aspect may remove margins, and with them room for text.
    """
    limits = common_limits(axes)
    box = axes[0].get_window_extent()
    height_over_width = box.height / box.width
    width = max(limits.right - limits.left, (limits.top - limits.bottom) / height_over_width)
    height = width * height_over_width
    for panel in axes:
        panel.set_xlim((limits.left + limits.right - width) / 2.0, (limits.left + limits.right + width) / 2.0)
        panel.set_ylim(
            (limits.bottom + limits.top - height) / 2.0, (limits.bottom + limits.top + height) / 2.0
        )
        panel.set_aspect("equal", adjustable="box")


class AxesLimits(NamedTuple):
    """The limits of axes, in the units of their data."""

    left: float
    right: float
    bottom: float
    top: float


def common_limits(axes: Sequence[Axes]) -> AxesLimits:
    """Return limits that contain those of all axes."""
    x_limits = np.array([panel.get_xlim() for panel in axes])
    y_limits = np.array([panel.get_ylim() for panel in axes])
    return AxesLimits(
        left=x_limits[:, 0].min(),
        right=x_limits[:, 1].max(),
        bottom=y_limits[:, 0].min(),
        top=y_limits[:, 1].max(),
    )


MIN_SPAN_MM = 20.0
"""Least width of a view, so that a foot that stands still looks so."""

PLANNED_STYLE = (0, (1.2, 1.6))
"""The stroke of the planned path."""

SOIL = "#efece6"

VIEW_MARGIN_FACTOR = 1.16
"""Size of a view relative to its content."""

BELOW_GROUND_SHARE = 0.22
"""Share of a view's height below the ground."""


@dataclass(frozen=True)
class SideView:
    """A view of a foot from the side.

    Attributes:
        horizontal_axis: 0 from the right, x to the right; 1 from behind, y to the left.
        middle_mm: middle of the view along that axis, from the equilibrium point.
        span_mm: width of the view.
        ratio: height of the view over its width.
        height_scale: scale of heights relative to that of lengths.
    """

    horizontal_axis: int
    middle_mm: float
    span_mm: float
    ratio: float
    height_scale: float = 1.0

    @property
    def axis_label(self) -> str:
        """Label of the axis."""
        return "y, to the left [mm]" if self.is_from_behind else "x, forward [mm]"

    @property
    def is_from_behind(self) -> bool:
        """Whether it is seen from behind, rather than from the right."""
        return self.horizontal_axis == 1


def side_axis(content: GaitContent) -> int:
    """Return the axis along which the feet move farther: 0 for x, 1 for y; x if equal."""
    strokes = [np.abs(path.lift_off_point - path.landing_point)[:2] for path in content.feet.values()]
    forward, left = np.sum(strokes, axis=0)
    return int(left > forward * (1.0 + 1e-9))


def side_view(content: GaitContent, ratio: float) -> SideView:
    """Return a view, true to scale, that fits all feet of a gait, in panels with a height over width."""
    axis = side_axis(content)
    paths = content.feet.values()
    points = np.concatenate(
        [
            distance_along_axis_mm(
                path, np.vstack([path.executed_positions, path.planned_positions(path.air_times)]), axis
            )
            for path in paths
        ]
    )
    low = float(points.min())
    high = float(points.max())
    tallest = max(height_mm(path, path.executed_positions).max() for path in paths)
    span = VIEW_MARGIN_FACTOR * max(high - low, tallest / (1.0 - BELOW_GROUND_SHARE) / ratio)
    return SideView(axis, middle_mm=(low + high) / 2.0, span_mm=max(span, MIN_SPAN_MM), ratio=ratio)


def distance_along_axis_mm(path: FootPath, points: Floats, axis: int) -> Floats:
    """Return the distances of points from the equilibrium point along an axis, `(n,)` [mm]."""
    return np.asarray((points[:, axis] - path.equilibrium_m[axis]) * MM)


def height_mm(path: FootPath, points: Floats) -> Floats:
    """Return the heights of points above the ground, `(n,)` [mm]."""
    return np.asarray((points[:, 2] - path.equilibrium_m[2]) * MM)


def draw_side(axes: Axes, path: FootPath, view: SideView) -> None:
    """Draw the path of a foot from the side, as planned and as executed, with its waypoints."""
    colour = COLOURS[path.foot]
    set_limits_to_view(axes, view)
    planned = path.planned_positions(np.linspace(0.0, path.timing.air_s, 81)[:-1])
    axes.plot(*_project(path, planned, view), color=GREY, lw=0.8, ls=PLANNED_STYLE, zorder=2)
    axes.plot(
        *_project(path, path.executed_positions, view), color=colour, lw=1.5, zorder=3, solid_capstyle="round"
    )
    for times, marker, size, fill in (
        (path.ground_times, "o", 4.0, colour),
        (path.air_times, "o", 4.0, "white"),
        (path.lift_times_of_other_feet, "D", 3.2, "#c8ced3"),
    ):
        x, y = _project(path, path.planned_positions(times), view)
        axes.plot(x, y, ls="", marker=marker, ms=size, mfc=fill, mec=colour, mew=1.0, zorder=4)
    axes.plot([0.0], [0.0], "+", ms=11, mew=1.4, color=INK, zorder=5)


def side_title(path: FootPath) -> str:
    """Return stroke and height of a foot's path as text."""
    stroke = float(np.hypot(*(path.landing_point - path.lift_off_point)[:2])) * MM
    height = float(height_mm(path, path.planned_positions(path.air_times)).max())
    return f"stroke {stroke:.0f} mm, {height:.0f} mm high"


def set_limits_to_view(axes: Axes, view: SideView) -> None:
    """Set the limits of axes to a view, and draw the ground."""
    lower_end = view.middle_mm - view.span_mm / 2.0
    upper_end = view.middle_mm + view.span_mm / 2.0
    if view.is_from_behind:
        axes.set_xlim(upper_end, lower_end)  # y increases to the left
    else:
        axes.set_xlim(lower_end, upper_end)
    height = view.span_mm * view.ratio / view.height_scale
    axes.set_ylim(-BELOW_GROUND_SHARE * height, (1.0 - BELOW_GROUND_SHARE) * height)
    axes.set_aspect(view.height_scale)
    axes.axhspan(-BELOW_GROUND_SHARE * height, 0.0, color=SOIL, lw=0, zorder=0)
    axes.axhline(0.0, color=GREY, lw=0.8, zorder=1)
    trim_axes(axes)
    axes.locator_params(axis="y", nbins=4)


def _project(path: FootPath, points: Floats, view: SideView) -> tuple[Floats, Floats]:
    return distance_along_axis_mm(path, points, view.horizontal_axis), height_mm(path, points)


def sides_in_order(axis: int) -> tuple[str, ...]:
    """Return the feet in the order of panels in two columns, right in the view at the right."""
    return ORDER if axis else ("left_rear", "left_front", "right_rear", "right_front")


NEAR_FEET = ("right_front", "right_rear")
FAR_FEET = ("left_front", "left_rear")
"""Near and far feet seen from the right; the far legs are drawn paler."""


def standing_leg(content: GaitContent, path: FootPath) -> Floats:
    """Return shoulder, knee and foot of a standing leg, `(3, 3)` [m]."""
    leg = path.leg
    angles = content.standing_pose[list(leg.indices)]
    return np.array([leg.shoulder_m, leg.knee_positions(angles), leg.forward(angles)])


def draw_stance(axes: Axes, content: GaitContent) -> None:
    """Draw the robot from the right, standing on its equilibrium points, x to the right.

    The axes are not yet true to scale: see `set_equal_scale`.
    """
    shoulders = np.array([path.leg.shoulder_m for path in content.feet.values()]) * MM
    for feet, opacity in ((FAR_FEET, 0.4), (NEAR_FEET, 1.0)):
        for foot in feet:
            _draw_leg(axes, content, path=content.feet[foot], opacity=opacity)
    ends = [shoulders[:, 0].min(), shoulders[:, 0].max()]
    axes.plot(ends, [shoulders[:, 2].mean()] * 2, color=GREY, lw=6.0, solid_capstyle="round", zorder=2)
    axes.margins(x=0.05, y=0.09)
    trim_axes(axes)


def _draw_leg(axes: Axes, content: GaitContent, path: FootPath, opacity: float) -> None:
    """Draw a leg from the side as it stands at rest, with its foot and the ground.

    Args:
        axes: the axes to draw into.
        content: the gait.
        path: the path of the leg's foot.
        opacity: opacity, 1.0 for a leg in front, less for one behind it.
    """
    from matplotlib.patches import Circle

    points = standing_leg(content, path)[:, ::2] * MM  # x and z
    colour = COLOURS[path.foot]
    axes.plot(*points.T, "o-", color=colour, lw=2.4, ms=4.0, alpha=opacity, zorder=3 if opacity == 1.0 else 1)
    radius = path.leg.foot_radius_m * MM
    axes.add_patch(Circle(points[-1], radius, fc="white", ec=colour, alpha=opacity, zorder=3))
    equilibrium_x = path.equilibrium_m[0] * MM
    ground_height = path.equilibrium_m[2] * MM
    axes.plot(equilibrium_x, ground_height, "+", ms=9, mew=1.3, color=INK, zorder=5)
    ground_line_x = equilibrium_x + np.array([-22.0, 22.0])
    axes.plot(ground_line_x, [ground_height] * 2, color=GREY, lw=0.8, zorder=1)
