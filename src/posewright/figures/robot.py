"""The picture of a robot: where its joints are, what they are called, and which way is positive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.figures.motion.panel import spread
from posewright.figures.outline import VIEWS, Frames, draw_outline, link_frames
from posewright.figures.playback import playback_of_motion
from posewright.figures.style import GREY, INK, WRONG, canvas, draw_arrow_head, mosaic_of, styled, titled
from posewright.motions import Keyframe, Motion, Pose
from posewright.recordings import RobotHeader
from posewright.recordings.scene import turning
from posewright.robots import Robot
from posewright.robots import robot as robot_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_TITLES = {"side": "from its right", "front": "from ahead", "above": "from above"}
_LINE = 0.045
"""Height of a joint's words, of that of a panel."""

_ARC = np.linspace(0.2 * np.pi, 1.7 * np.pi, 24)
"""What an arrow goes round [rad]; its radius and the margin of a view are shares of the view's height."""
_RADIUS = 0.025
_MARGIN = 0.15


def header_of(robot: Robot) -> RobotHeader:
    """Return the header of a robot, with the links that are drawn; raise InputError where it has no model."""
    if robot.model_path is None:
        raise InputError(f"{robot.name} has no model: there is nothing to show", hint="name another robot")
    from posewright.simulation.robot_model import robot_links

    return RobotHeader(robot.name, joints=robot.joint_names, links=robot_links(robot))


def _standing(card: Robot, positions: Floats) -> Floats:
    """Return where the base of a robot is that stands on its feet: x y z qw qx qy qz, `(7,)`."""
    still = Motion("still", card.name, card.joint_names, (Keyframe(Pose(card.joint_names, positions), 0.0),))
    (bases,) = playback_of_motion(still, card).at(np.zeros(1)).base.values()
    base: Floats = bases[0]
    return base


@styled("drawing a robot")
def draw_robot(robot: Robot | str, *, pose: str = "stand", figure: Canvas | None = None) -> Figure:
    """Draw a robot from three sides with the name, range and positive direction of each joint.

    Args:
        robot: whose joints, or its name.
        pose: that it takes, one of its card's.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.

    Raises:
        InputError: the robot has no model.
        UnknownNameError: there is no such robot, or no such pose.
    """
    card = robot_named(robot)
    header = header_of(card)
    positions = card.pose(pose)
    base = _standing(card, positions)
    drawn = canvas(figure, (12.0, 9.0), dpi=120, layout="constrained")
    cells = [["side", "front"], ["above", "words"]]
    axes = mosaic_of(drawn, cells, width_ratios=(1.15, 1.0))
    for view in VIEWS:
        draw_outline(axes[view], header, base, positions, view)
        _draw_joints(axes[view], card, link_frames(header, base[np.newaxis], positions[np.newaxis]), view)
        axes[view].set_title(_TITLES[view], color=GREY)
    words = (
        f"{card.name}\n{card.maker} {card.title}\n\n{len(card.joints)} joints, in the pose {pose!r}\n\n"
        "A joint is named where its axis points at you.\n"
        "An arrow shows which way it turns as its angle grows;\n"
        "numbers are the range its card allows [deg].\nx is forward, y to the left, z up."
    )
    axes["words"].text(0.1, 0.8, words, va="top", fontsize=9, color=INK, linespacing=1.5, parse_math=False)
    axes["words"].set_axis_off()
    return titled(drawn, f"joints of {card.name}")


def _draw_joints(axes: Axes, card: Robot, frames: Mapping[str, Frames], view: str) -> None:
    """Draw an arrow round each joint whose axis is nearest to the line of sight, and its name beside all."""
    header = header_of(card)
    eye = VIEWS[view]
    box = axes.dataLim.padded(_MARGIN * axes.dataLim.height)
    radius = _RADIUS * box.height
    middle = (box.x0 + box.x1) / 2.0
    axes.update_datalim(box.corners())
    axes.margins(0.0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    columns: dict[str, list[tuple[Floats, str]]] = {"left": [], "right": []}
    for link in turning(header):
        (place,), (turn,) = frames[link["name"]]
        axis = eye @ turn @ np.array(link["axis"])
        if np.abs(axis).argmax() != 2:
            continue
        at = (eye @ place)[:2]
        limits = card.joint(link["joint"])
        arc = at + radius * np.stack([np.cos(_ARC), np.sin(_ARC)], 1)[:: 1 if axis[2] > 0.0 else -1]
        axes.plot(*arc.T, color=WRONG, lw=1.1, zorder=5)
        draw_arrow_head(axes, arc[-1], arc[-2], color=WRONG, size=9, zorder=5)
        low, high = np.rad2deg([limits.lower_rad, limits.upper_rad])
        words = f"{link['joint'].replace('_', ' ')}  {low:.0f} .. {high:.0f}"
        columns["left" if at[0] < middle else "right"].append((at, words))
    for side, named in columns.items():
        named.sort(key=lambda entry: entry[0][1])
        shares = [(at[1] - box.y0) / box.height for at, _ in named]
        x, flush = (0.0, "left") if side == "left" else (1.0, "right")
        for (at, words), share in zip(named, spread(shares, _LINE), strict=True):
            axes.annotate(
                words,
                (at[0], at[1]),
                (x, share),
                "data",
                "axes fraction",
                arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.5, "shrinkB": 0},
                annotation_clip=False,
                ha=flush,
                va="center",
                fontsize=7.5,
                bbox={"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.85},
            )
