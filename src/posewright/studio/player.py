"""The player: the playhead on the motion, the pose that the 3-D view shows, and limits that joints set."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.playhead import Playhead
from posewright.studio.requests import View
from posewright.studio.scene_view import SceneView
from posewright.studio.session import Session

SLACK_RAD = math.radians(0.05)
"""A joint that is beyond a limit by less than this is beyond it by rounding only."""


class Source(Protocol):
    """What is played besides the motion itself, such as what became of it in physics."""

    @property
    def duration_s(self) -> float:
        """How long it lasts [s]."""

    def at(self, time_s: float) -> tuple[Floats, Floats]:
        """Return the base `(7,)` as in `LinkPoses`, and the joints `(n_joints,)` [rad], at a time [s]."""


class Player(Playhead):
    """Plays the page under the cursor; publishes `player`, `pose` and `reach`."""

    name = "player"

    def __init__(self, session: Session, scene: SceneView) -> None:
        super().__init__(session)
        self._scene = scene
        self._source: Source | None = None
        self._page = session.cursor.page

    @property
    def _motion(self) -> Motion:
        return self._session.document.pages.motion(self._session.cursor.page)

    @property
    def _duration_s(self) -> float:
        return self._motion.duration if self._source is None else self._source.duration_s

    @property
    def source(self) -> Source | None:
        """What is played instead of the motion; None for the motion itself."""
        return self._source

    def use(self, source: Source | None) -> None:
        """Play something else at the motion's times; None for the motion itself."""
        self._source = source
        self._time_s = min(self._time_s, self._duration_s)
        self._show()

    def changed(self, before: Pages, after: Pages) -> None:
        """Go to the keyframe under the cursor, unless it plays."""
        if self._scene.robot is not self._session.document.robot:
            self._source = None
            self._scene.use(self._session.document.robot)
        cursor = self._session.cursor
        if self._since is None or cursor.page != self._page:
            times = self._motion.keyframe_times
            self._time_s = 0.0 if cursor.keyframe < 0 else float(times[cursor.keyframe])
        self._page = cursor.page
        self._show()

    def _show(self) -> None:
        angles = angles_at(self._motion, self._session.document.robot, self._time_s)
        if self._session.mode == "motion":
            if self._source is None:
                self._scene.stand(angles)
            else:
                self._scene.take(*self._source.at(self._time_s))
        self._session.publish("pose", angles_deg(angles))
        self._session.publish("reach", reach_view(self._session.document.robot, angles))
        view = {
            "time_s": round(self._time_s, 6),
            "duration_s": self._duration_s,
            "speed": self._speed,
            "loop": self._loops,
            "playing": self._since is not None,
        }
        self._session.publish("player", view)


def angles_at(motion: Motion, robot: Robot, time_s: float) -> Floats:
    """Return all joints of a robot as a motion has them at a time [s], `(n_joints,)` [rad]."""
    commanded = motion.at(time_s).angles
    angles = motion.first_pose(robot)
    columns = [robot.index(joint) for joint in motion.joints]
    angles[columns] = np.where(np.isnan(commanded), angles[columns], commanded)
    return angles


def reach_view(robot: Robot, angles: Floats) -> View:
    """Return, by joint, the range that other joints leave it, where that is less than its own.

    For angles of all joints `(n_joints,)` [rad]: `lower_deg`, `upper_deg`, and `wrong`, which says in words
    that the joint is beyond it; empty where it is not.
    """
    coupling = robot.coupling
    lower, upper = (bounds[0].tolist() for bounds in coupling.bounds(angles))
    own_lower, own_upper = robot.limits
    ranges: dict[str, tuple[float, float]] = {}
    causes: dict[str, dict[str, None]] = {}  # by joint the joints that limit it, in order
    for joint, others, low, high in zip(
        coupling.joints, coupling.condition_joints, lower, upper, strict=True
    ):
        index = robot.index(joint)
        joint_low, joint_high = ranges.get(joint, (float(own_lower[index]), float(own_upper[index])))
        if low > joint_low or high < joint_high:
            ranges[joint] = (max(low, joint_low), min(high, joint_high))
            causes.setdefault(joint, {}).update(dict.fromkeys(others))
    return {
        joint: {
            "lower_deg": round(math.degrees(low), 3),
            "upper_deg": round(math.degrees(high), 3),
            "wrong": _out_of_reach(robot, joint, list(causes[joint]), angles, low, high),
        }
        for joint, (low, high) in ranges.items()
    }


def _out_of_reach(  # noqa: PLR0917 -- a joint, its range, and why
    robot: Robot, joint: str, others: list[str], angles: Floats, low: float, high: float
) -> str:
    """Return in words that a joint is beyond a range [rad]; empty where it is in it."""
    angle = float(angles[robot.index(joint)])
    if low - SLACK_RAD <= angle <= high + SLACK_RAD:
        return ""
    causes = " and ".join(
        f"{other.replace('_', ' ')} at {math.degrees(angles[robot.index(other)]):.1f}°" for other in others
    )
    if angle < low:
        return f"out of reach: with {causes} it goes no lower than {math.degrees(low):.1f}°"
    return f"out of reach: with {causes} it goes no higher than {math.degrees(high):.1f}°"
