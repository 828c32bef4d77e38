"""A gait from the side: the points a foot is told, where its joints lead it, and the robot as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.figures.gait.content import COLOURS, MM, ORDER, FootWay, GaitContent
from posewright.figures.style import GREY, INK, trim

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_SPAN_MM = 20.0
"""No view is narrower: a foot that stands still does not look as if it moved."""

WANTED = (0, (1.2, 1.6))
"""The stroke of the way wanted."""

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
        middle_mm: of the way along that axis, from the equilibrium point [mm].
        span_mm: how wide it is [mm].
        ratio: its height over its width.
        stretch: how many times higher heights are drawn than lengths.
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
    strokes = [np.abs(way.leaves_at - way.lands_at)[:2] for way in content.feet.values()]
    forward, left = np.sum(strokes, axis=0)
    return int(left > forward * (1.0 + 1e-9))


def side_view(content: GaitContent, ratio: float) -> SideView:
    """Return a view that all feet of a gait fit in, true to scale, in panels of a height over width."""
    axis = side_axis(content)
    ways = content.feet.values()
    seen = np.concatenate(
        [along_mm(way, np.vstack([way.led, way.told(way.air_times)]), axis) for way in ways]
    )
    low, high = float(seen.min()), float(seen.max())
    tallest = max(height_mm(way, way.led).max() for way in ways)
    span = ROOM * max(high - low, tallest / (1.0 - BELOW) / ratio)
    return SideView(axis, (low + high) / 2.0, max(span, LEAST_SPAN_MM), ratio)


def along_mm(way: FootWay, points: Floats, axis: int) -> Floats:
    """Return how far points are from the equilibrium point along an axis, `(n,)` [mm]."""
    return np.asarray((points[:, axis] - way.equilibrium_m[axis]) * MM)


def height_mm(way: FootWay, points: Floats) -> Floats:
    """Return how high points are above the ground the foot stands on, `(n,)` [mm]."""
    return np.asarray((points[:, 2] - way.equilibrium_m[2]) * MM)


def draw_side(axes: Axes, way: FootWay, view: SideView) -> None:
    """Draw the way of a foot from the side."""
    colour = COLOURS[way.foot]
    frame_side(axes, view)
    wanted = way.told(np.linspace(0.0, way.timing.air_s, 81)[:-1])
    axes.plot(*_seen(way, wanted, view), color=GREY, lw=0.8, ls=WANTED, zorder=2)
    axes.plot(*_seen(way, way.led, view), color=colour, lw=1.5, zorder=3, solid_capstyle="round")
    for times, style in (
        (way.ground_times, {"marker": "o", "ms": 4.0, "mfc": colour, "mec": colour}),
        (way.air_times, {"marker": "o", "ms": 4.0, "mfc": "white", "mec": colour}),
        (way.handed_over_times, {"marker": "D", "ms": 3.2, "mfc": "#c8ced3", "mec": colour}),
    ):
        axes.plot(*_seen(way, way.told(times), view), ls="", mew=1.0, zorder=4, **style)  # type: ignore[arg-type]
    axes.plot([0.0], [0.0], "+", ms=11, mew=1.4, color=INK, zorder=5)


def side_title(way: FootWay) -> str:
    """Return what is to be known of a foot's way in few words."""
    stroke = float(np.hypot(*(way.lands_at - way.leaves_at)[:2])) * MM
    height = float(height_mm(way, way.told(way.air_times)).max())
    return f"stroke {stroke:.0f} mm, {height:.0f} mm high"


def frame_side(axes: Axes, view: SideView) -> None:
    """Set what the axes show, with the ground in it."""
    half, height = view.span_mm / 2.0, view.span_mm * view.ratio / view.stretch
    ends = (view.middle_mm - half, view.middle_mm + half)
    axes.set_xlim(*(ends[::-1] if view.axis else ends))
    axes.set_ylim(-BELOW * height, (1.0 - BELOW) * height)
    axes.set_aspect(view.stretch)
    axes.axhspan(-BELOW * height, 0.0, color=SOIL, lw=0, zorder=0)
    axes.axhline(0.0, color=GREY, lw=0.8, zorder=1)
    trim(axes)
    axes.locator_params(axis="y", nbins=4)


def _seen(way: FootWay, points: Floats, view: SideView) -> tuple[Floats, Floats]:
    return along_mm(way, points, view.axis), height_mm(way, points)


def sides_in_order(axis: int) -> tuple[str, ...]:
    """Return the feet as they lie in two columns: what is to the right in the view stands to the right."""
    return ORDER if axis else ("left_rear", "left_front", "right_rear", "right_front")


NEAR, FAR = ("right_front", "right_rear"), ("left_front", "left_rear")
"""Seen from the right; the far legs are drawn paler."""


def standing_leg(content: GaitContent, way: FootWay) -> Floats:
    """Return shoulder, knee and middle of the paw's ball of a leg at rest, `(3, 3)` [m]."""
    leg = way.leg
    angles = content.standing_pose[list(leg.indices)]
    return np.array([leg.shoulder_m, leg.knee(angles), leg.forward(angles)])


def draw_stance(axes: Axes, content: GaitContent) -> None:
    """Draw the robot from the right as it stands, x to the right, on its equilibrium points.

    The axes are not yet true to scale: see `scale`.
    """
    shoulders = np.array([way.leg.shoulder_m for way in content.feet.values()]) * MM
    for feet, shade in ((FAR, 0.4), (NEAR, 1.0)):
        for foot in feet:
            _draw_leg(axes, content, content.feet[foot], shade)
    ends = [shoulders[:, 0].min(), shoulders[:, 0].max()]
    axes.plot(ends, [shoulders[:, 2].mean()] * 2, color=GREY, lw=6.0, solid_capstyle="round", zorder=2)
    axes.margins(x=0.05, y=0.09)
    trim(axes)


def _draw_leg(axes: Axes, content: GaitContent, way: FootWay, shade: float) -> None:
    from matplotlib.patches import Circle

    points = standing_leg(content, way)[:, ::2] * MM
    colour = COLOURS[way.foot]
    axes.plot(*points.T, "o-", color=colour, lw=2.4, ms=4.0, alpha=shade, zorder=3 if shade == 1.0 else 1)
    radius = way.leg.foot_radius_m * MM
    axes.add_patch(Circle(points[-1], radius, fc="white", ec=colour, alpha=shade, zorder=3))
    ground = way.equilibrium_m[2] * MM
    axes.plot(way.equilibrium_m[0] * MM, ground, "+", ms=9, mew=1.3, color=INK, zorder=5)
    axes.plot(way.equilibrium_m[0] * MM + np.array([-22.0, 22.0]), [ground] * 2, color=GREY, lw=0.8, zorder=1)
