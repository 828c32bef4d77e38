"""The feet of a gait from above and from the side: where they are told to be, and where joints lead them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.arrays import Floats
from posewright.figures.gait.content import COLOURS, MM, ORDER, SAME, SHORT, FootWay, GaitContent
from posewright.figures.style import GREY, INK, trim
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
    shoulders = np.array([way.leg.shoulder_m for way in content.feet.values()])
    front, rear = shoulders[:, 0].max(), shoulders[:, 0].min()
    half = np.abs(shoulders[:, 1]).max() * NARROWER
    return np.array([(rear, half), (front, half), (front + NOSE_M, 0.0), (front, -half), (rear, -half)])


def steps_otherwise(content: GaitContent) -> bool:
    """Tell whether the feet step otherwise than the body is asked to go, to make up for something."""
    return bool(np.abs(content.stepped - content.asked).max() > SAME)


def draw_above(axes: Axes, content: GaitContent, *, names: bool = True, by_feet: bool = False) -> None:
    """Draw the robot from above, x to the right, its feet over a cycle and where it comes in one.

    The axes are not yet true to scale: see `share_true_scale`. With `by_feet` the base is drawn where its
    feet would carry it, not where it is asked to go.
    """
    outline = base_outline(content)
    goes = content.stepped if by_feet else content.asked
    _draw_bases(axes, outline, content.way(goes, content.timing.period_s)[-1])
    for way in content.feet.values():
        _draw_foot(axes, way)
        if names:
            _name(axes, way)
    draw_way(axes, content, by_feet=by_feet)
    axes.margins(x=0.06, y=0.18 if names else 0.06)
    trim(axes)


def draw_way(axes: Axes, content: GaitContent, *, by_feet: bool = False) -> None:
    """Draw where the base comes in a cycle, as asked and as its feet step; what counts with an arrow."""
    ways = [content.way(how, content.timing.period_s) for how in (content.asked, content.stepped)]
    goes, other = ways[::-1] if by_feet else ways
    if steps_otherwise(content):
        axes.plot(*other[:, :2].T * MM, color=GREY, lw=1.2, ls=":", zorder=6)
    if np.ptp(goes[:, :2], axis=0).max() > SAME:
        _arrow(axes, goes[:, :2] * MM)
    elif abs(goes[-1, 2]) > SAME:
        radius = np.ptp(base_outline(content)[:, 0]) * MM / SHOWN_TURN
        _arrow(axes, radius * np.stack([np.cos(goes[:, 2]), np.sin(goes[:, 2])], axis=1))
    axes.plot([0.0], [0.0], "o", ms=4, color=INK, zorder=7)


def _draw_bases(axes: Axes, outline: Floats, end: Floats) -> None:
    from matplotlib.patches import Polygon

    style: dict[str, Any] = {"closed": True, "joinstyle": "round"}
    axes.add_patch(Polygon(outline * MM, fc="#eef1f4", ec=GREY, lw=1.0, zorder=1, **style))
    if np.abs(end).max() > SAME:
        placed = np.concatenate([outline, np.zeros((len(outline), 1))], axis=1)
        then = chain(np.broadcast_to(end, placed.shape), placed)[:, :2] * MM
        axes.add_patch(Polygon(then, fill=False, ec=GREY, lw=0.9, ls="--", zorder=2, **style))
        axes.update_datalim(then)


def _draw_foot(axes: Axes, way: FootWay) -> None:
    colour = COLOURS[way.foot]
    aloft = way.told(np.linspace(0.0, way.timing.air_s, 41)[:-1])
    ground = way.told(np.linspace(way.timing.air_s, way.timing.period_s, 41))
    axes.plot(*ground[:, :2].T * MM, color=colour, lw=2.6, solid_capstyle="round", zorder=4)
    axes.plot(*aloft[:, :2].T * MM, color=colour, lw=0.9, ls="--", zorder=4)
    dots: dict[str, Any] = {"ms": 3.2, "mfc": colour, "mec": "white", "mew": 0.5, "zorder": 5}
    axes.plot(*way.told(way.ground_times)[:, :2].T * MM, "o", **dots)
    axes.plot(*way.lands_at[:2] * MM, "o", ms=5.5, mfc="white", mec=colour, mew=1.3, zorder=5)
    axes.plot(*way.equilibrium_m[:2] * MM, "+", ms=9, mew=1.3, color=INK, zorder=6)


def _name(axes: Axes, way: FootWay) -> None:
    """Write the foot's name outside of its stroke, on a halo where it stands on a line."""
    from matplotlib.patheffects import withStroke

    over = np.array([way.lands_at, way.leaves_at, way.equilibrium_m])[:, :2] * MM
    out = 1.0 if way.equilibrium_m[1] >= 0.0 else -1.0
    place = (float(over[:, 0].mean()), float((over[:, 1] * out).max() * out))
    style: dict[str, Any] = {"fontsize": 8, "weight": "bold", "color": COLOURS[way.foot], "zorder": 8}
    style |= {"path_effects": [withStroke(linewidth=2.5, foreground="white")], "ha": "center"}
    va = "bottom" if out > 0.0 else "top"
    axes.annotate(SHORT[way.foot], place, (0.0, 9.0 * out), textcoords="offset points", va=va, **style)


def _arrow(axes: Axes, line: Floats) -> None:
    """Draw a way with a head at its end."""
    axes.plot(*line.T, color=INK, lw=1.6, zorder=6, solid_capstyle="butt")
    head: dict[str, Any] = {"arrowstyle": "-|>", "color": INK, "lw": 0.0, "mutation_scale": 11}
    head |= {"shrinkA": 0, "shrinkB": 0}
    axes.annotate("", line[-1], line[-2] - 3.0 * (line[-1] - line[-2]), arrowprops=head, zorder=7)


def share_scale(axes: Sequence[Axes]) -> None:
    """Give all axes the same ends: those that all of them together need."""
    left, right, low, high = ends_of(axes)
    for one in axes:
        one.set_xlim(left, right)
        one.set_ylim(low, high)


def share_true_scale(axes: Sequence[Axes]) -> None:
    """Give axes of the same size the same ends, a millimetre as long upwards as across; nothing is cut off.

    matplotlib's own way to do so may take margins away again, and with them room for words.
    """
    left, right, low, high = ends_of(axes)
    box = axes[0].get_window_extent()
    ratio = box.height / box.width
    across = max(right - left, (high - low) / ratio)
    for one in axes:
        one.set_xlim((left + right - across) / 2.0, (left + right + across) / 2.0)
        one.set_ylim((low + high - across * ratio) / 2.0, (low + high + across * ratio) / 2.0)
        one.set_aspect("equal", adjustable="box")


def ends_of(axes: Sequence[Axes]) -> tuple[float, float, float, float]:
    """Return left, right, low and high ends that hold what all axes show."""
    across, upwards = np.array([one.get_xlim() for one in axes]), np.array([one.get_ylim() for one in axes])
    return across[:, 0].min(), across[:, 1].max(), upwards[:, 0].min(), upwards[:, 1].max()


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
        middle_mm: of the way along that axis, from the equilibrium point; the view is `span_mm` wide.
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
