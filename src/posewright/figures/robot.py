"""The picture of a robot: the positions, names, ranges and positive directions of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.figures.motion.panel import spread_positions
from posewright.figures.outline import VIEWS, Frames, draw_outline, link_frames
from posewright.figures.playback import playback_of_motion
from posewright.figures.style import (
    GREY,
    INK,
    WRONG,
    canvas,
    create_mosaic,
    draw_arrow_head,
    label_figure,
    styled,
)
from posewright.motions import Keyframe, Motion, Pose
from posewright.recordings import RobotHeader
from posewright.recordings.scene import movable_links
from posewright.robots import Robot
from posewright.robots import robot as robot_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_TITLES = {"side": "from its right", "front": "from ahead", "above": "from above"}
_LINE = 0.045
"""Height of a joint's label, as a share of a panel."""

_ARC = np.linspace(0.2 * np.pi, 1.7 * np.pi, 24)
"""Angles of an arrow's arc [rad]; its radius and the margin of a view are shares of the view's height."""
_RADIUS = 0.025
_MARGIN = 0.15


def header_of(robot: Robot) -> RobotHeader:
    """Return the recording header of a robot, with its links, or raise InputError if it has no model."""
    if robot.model_path is None:
        raise InputError(f"{robot.name} has no model: there is nothing to show", hint="name another robot")
    from posewright.simulation.robot_model import robot_links

    return RobotHeader(robot.name, joints=robot.joint_names, links=robot_links(robot))


def _standing_base(robot: Robot, positions: Floats) -> Floats:
    """Return the pose of the base of a robot standing on its feet: x y z qw qx qy qz, `(7,)`."""
    still_motion = Motion(
        "still",
        robot=robot.name,
        joints=robot.joint_names,
        keyframes=(Keyframe(Pose(robot.joint_names, positions), 0.0),),
    )
    (bases,) = playback_of_motion(still_motion, robot).poses_at(np.zeros(1)).base_poses.values()
    base: Floats = bases[0]
    return base


@styled("drawing a robot")
def draw_robot(robot: Robot | str, *, pose: str = "stand", figure: Canvas | None = None) -> Figure:
    """Draw a robot from three sides with the name, range and positive direction of each joint.

    Args:
        robot: the robot to be drawn, or its name.
        pose: name of one of its poses.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.

    Raises:
        InputError: the robot has no model.
        UnknownNameError: there is no such robot, or no such pose.
    """
    drawn_robot = robot_named(robot)
    header = header_of(drawn_robot)
    positions = drawn_robot.pose(pose)
    base = _standing_base(drawn_robot, positions)
    robot_figure = canvas(figure, (12.0, 9.0), dpi=120, layout="constrained")
    cells = [["side", "front"], ["above", "words"]]
    axes = create_mosaic(robot_figure, cells, width_ratios=(1.15, 1.0))
    for view in VIEWS:
        draw_outline(axes[view], header, base, positions, view)
        _draw_joints(
            axes[view],
            drawn_robot,
            frames=link_frames(header, base[np.newaxis], positions[np.newaxis]),
            view=view,
        )
        axes[view].set_title(_TITLES[view], color=GREY)
    description = (
        f"{drawn_robot.name}\n{drawn_robot.maker} {drawn_robot.title}\n\n"
        f"{len(drawn_robot.joints)} joints, in the pose {pose!r}\n\n"
        "A joint is named where its axis points at you.\n"
        "An arrow shows which way it turns as its angle grows;\n"
        "numbers are the range its card allows [deg].\nx is forward, y to the left, z up."
    )
    axes["words"].text(
        0.1, 0.8, description, va="top", fontsize=9, color=INK, linespacing=1.5, parse_math=False
    )
    axes["words"].set_axis_off()
    return label_figure(robot_figure, f"joints of {drawn_robot.name}")


class _JointLabel(NamedTuple):
    """The label of a joint, and the joint's position in the view [m]."""

    joint_x: float
    joint_y: float
    text: str


def _draw_joints(axes: Axes, robot: Robot, frames: Mapping[str, Frames], view: str) -> None:
    """Draw an arrow around each joint whose axis points towards the viewer or away, and its name at the edge.

    Args:
        axes: the axes with the outline of the robot.
        robot: the robot.
        frames: the frames of its links at one time, by name.
        view: one of `VIEWS`.
    """
    header = header_of(robot)
    view_axes = VIEWS[view]
    box = axes.dataLim.padded(_MARGIN * axes.dataLim.height)
    radius = _RADIUS * box.height
    middle_x = (box.x0 + box.x1) / 2.0
    axes.update_datalim(box.corners())
    axes.margins(0.0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    labels_by_side: dict[str, list[_JointLabel]] = {"left": [], "right": []}
    for link in movable_links(header):
        (joint_position,), (rotation,) = frames[link["name"]]
        axis = view_axes @ rotation @ np.array(link["axis"])
        is_along_view = np.abs(axis).argmax() == 2  # the third direction of a view is towards the viewer
        if not is_along_view:
            continue
        position = (view_axes @ joint_position)[:2]
        limits = robot.joint(link["joint"])
        arc = position + radius * np.stack([np.cos(_ARC), np.sin(_ARC)], 1)
        if axis[2] <= 0.0:  # seen from its other side, it turns clockwise
            arc = arc[::-1]
        axes.plot(*arc.T, color=WRONG, lw=1.1, zorder=5)
        draw_arrow_head(axes, arc[-1], arc[-2], color=WRONG, size=9, zorder=5)
        low, high = np.rad2deg([limits.lower_rad, limits.upper_rad])
        label = f"{link['joint'].replace('_', ' ')}  {low:.0f} .. {high:.0f}"
        joint_x, joint_y = position.tolist()
        labels_by_side["left" if joint_x < middle_x else "right"].append(_JointLabel(joint_x, joint_y, label))
    for side, labels in labels_by_side.items():
        labels.sort(key=lambda label: label.joint_y)  # from the lowest joint up
        joint_heights = [(label.joint_y - box.y0) / box.height for label in labels]
        label_heights = spread_positions(joint_heights, _LINE)
        x = 0.0 if side == "left" else 1.0
        for joint_label, height in zip(labels, label_heights, strict=True):
            axes.annotate(
                joint_label.text,
                (joint_label.joint_x, joint_label.joint_y),
                (x, height),
                "data",
                "axes fraction",
                arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.5, "shrinkB": 0},
                annotation_clip=False,
                ha=side,
                va="center",
                fontsize=7.5,
                bbox={"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.85},
            )
