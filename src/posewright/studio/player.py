"""The player: plays the motion in the 3-D view, and shows the limits that joints impose on each other."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.playhead import Playhead, Time
from posewright.studio.requests import View, action
from posewright.studio.scene_view import SceneView
from posewright.studio.session import Session

SLACK_RAD = math.radians(0.05)
"""Tolerance of limits, for rounding [rad]."""


class PlaybackSource(Protocol):
    """Something that the player plays instead of the motion, such as the motion under gravity."""

    @property
    def duration_s(self) -> float:
        """Duration [s]."""

    def at(self, time_s: float) -> tuple[Floats, Floats]:
        """Return base pose `(7,)`, as in `LinkPoses`, and joint angles `(n_joints,)` [rad] at a time [s]."""


class Player(Playhead):
    """Plays the page under the cursor; publishes `player`, and `pose` and `reach` of the current keyframe.

    `pose` and `reach` stay those of the current keyframe while the playhead is elsewhere, since edits change
    that keyframe.
    """

    name = "player"

    def __init__(self, session: Session, scene: SceneView) -> None:
        super().__init__(session)
        self._scene = scene
        self._source: PlaybackSource | None = None
        self._page = session.cursor.page
        self._is_at_keyframe = True  # whether the playhead was put on the current keyframe

    @property
    def _motion(self) -> Motion:
        return self._session.document.pages.motion(self._session.cursor.page)

    @property
    def _duration_s(self) -> float:
        return self._motion.duration if self._source is None else self._source.duration_s

    @property
    def source(self) -> PlaybackSource | None:
        """What is played; None for the motion itself."""
        return self._source

    def set_source(self, source: PlaybackSource | None) -> None:
        """Play a source instead of the motion; None plays the motion itself."""
        self._source = source
        self._time_s = min(self._time_s, self._duration_s)
        self._show_at_playhead()

    @action
    def play(self) -> None:
        """Play from the playhead, or from the beginning if it is at the end."""
        self._is_at_keyframe = False
        super().play()

    @action
    def seek(self, *, time_s: Time) -> None:
        """Move the playhead to a time."""
        self._is_at_keyframe = False
        super().seek(time_s=time_s)

    def update(self, before: Pages, after: Pages) -> None:
        """Move the playhead to the keyframe under the cursor, unless the motion is playing."""
        if self._scene.robot is not self._session.document.robot:
            self._source = None
            self._scene.set_robot(self._session.document.robot)
        cursor = self._session.cursor
        if self._last_tick_s is None or cursor.page != self._page:
            times = self._motion.keyframe_times
            self._time_s = 0.0 if cursor.keyframe < 0 else float(times[cursor.keyframe])
            self._is_at_keyframe = self._last_tick_s is None
        self._page = cursor.page
        self._show_at_playhead()

    def _show_at_playhead(self) -> None:
        """Show the robot at the playhead, and publish `player`, and `pose` and `reach` of the keyframe."""
        robot = self._session.document.robot
        keyframe_angles = self._motion.keyframe_angles(robot, self._session.cursor.keyframe)
        if self._session.mode == "motion":
            if self._source is not None:
                self._scene.show_pose(*self._source.at(self._time_s))
            elif self._is_at_keyframe:  # by its index: keyframes without a duration share a time
                self._scene.show_standing(keyframe_angles)
            else:
                self._scene.show_standing(angles_at(self._motion, robot, self._time_s))
        self._session.publish("pose", angles_deg(keyframe_angles))
        self._session.publish("reach", reach_view(robot, keyframe_angles))
        view = {
            "time_s": round(self._time_s, 6),
            "duration_s": self._duration_s,
            "speed": self._speed,
            "loop": self._loops,
            "playing": self._last_tick_s is not None,
            "at_keyframe": self._is_at_keyframe,
        }
        self._session.publish("player", view)


def angles_at(motion: Motion, robot: Robot, time_s: float) -> Floats:
    """Return the angles of all joints in a motion at a time [s], `(n_joints,)` [rad]."""
    commanded = motion.at(time_s).angles  # NaN for joints without an angle, which stay as they were
    angles = motion.first_pose(robot)
    columns = [robot.index(joint) for joint in motion.joints]
    angles[columns] = np.where(np.isnan(commanded), angles[columns], commanded)
    return angles


def reach_view(robot: Robot, angles: Floats) -> View:
    """Return the ranges of joints that the angles of other joints reduce, by joint.

    Each has `lower_deg`, `upper_deg`, and `wrong`: a text if the joint is outside the range, else empty.

    Args:
        robot: the robot.
        angles: angles of all joints, `(n_joints,)` [rad].
    """
    coupling = robot.coupling
    lower_bounds, upper_bounds = (bounds[0].tolist() for bounds in coupling.bounds(angles))  # of the only row
    own_lower, own_upper = robot.limits
    ranges: dict[str, tuple[float, float]] = {}
    causes: dict[str, dict[str, None]] = {}  # by joint the joints that limit it, in order
    for joint, limiting_joints, low, high in zip(
        coupling.joints, coupling.condition_joints, lower_bounds, upper_bounds, strict=True
    ):
        index = robot.index(joint)
        # a joint occurs once for each condition; the conditions before this one may have reduced its range
        joint_low, joint_high = ranges.get(joint, (float(own_lower[index]), float(own_upper[index])))
        if low > joint_low or high < joint_high:
            ranges[joint] = (max(low, joint_low), min(high, joint_high))
            causes.setdefault(joint, {}).update(dict.fromkeys(limiting_joints))
    return {
        joint: {
            "lower_deg": round(math.degrees(low), 3),
            "upper_deg": round(math.degrees(high), 3),
            "wrong": _describe_violation(
                robot, joint, limiting_joints=list(causes[joint]), angles=angles, low=low, high=high
            ),
        }
        for joint, (low, high) in ranges.items()
    }


def _describe_violation(  # noqa: PLR0917 -- a joint, its range and its cause
    robot: Robot, joint: str, limiting_joints: list[str], angles: Floats, low: float, high: float
) -> str:
    """Return a text if a joint is outside a range [rad], else an empty one."""
    angle = float(angles[robot.index(joint)])
    if low - SLACK_RAD <= angle <= high + SLACK_RAD:
        return ""
    causes = " and ".join(
        f"{cause.replace('_', ' ')} at {math.degrees(angles[robot.index(cause)]):.1f}°"
        for cause in limiting_joints
    )
    if angle < low:
        return f"out of reach: with {causes} it goes no lower than {math.degrees(low):.1f}°"
    return f"out of reach: with {causes} it goes no higher than {math.degrees(high):.1f}°"
