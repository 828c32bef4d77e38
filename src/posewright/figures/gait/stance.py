"""How a robot stands on its equilibrium points, from the right: base, legs and paws as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.figures.gait.content import FootWay, GaitContent, Numbers
from posewright.figures.gait.feet import COLOURS, GREY, INK, MM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEAR, FAR = ("right_front", "right_rear"), ("left_front", "left_rear")
"""Seen from the right; the far legs are drawn paler."""


def standing_leg(content: GaitContent, way: FootWay) -> Numbers:
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
    axes.tick_params(labelsize=6.5, length=2.5, pad=1.5)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_leg(axes: Axes, content: GaitContent, way: FootWay, shade: float) -> None:
    from matplotlib.patches import Circle

    points = standing_leg(content, way)[:, ::2] * MM
    colour = COLOURS[way.foot]
    axes.plot(*points.T, "o-", color=colour, lw=2.4, ms=4.0, alpha=shade, zorder=3 if shade == 1.0 else 1)
    axes.add_patch(
        Circle(points[-1], way.leg.foot_radius_m * MM, fc="white", ec=colour, alpha=shade, zorder=3)
    )
    ground = way.equilibrium_m[2] * MM
    axes.plot(way.equilibrium_m[0] * MM, ground, "+", ms=9, mew=1.3, color=INK, zorder=5)
    axes.plot(way.equilibrium_m[0] * MM + np.array([-22.0, 22.0]), [ground] * 2, color=GREY, lw=0.8, zorder=1)
