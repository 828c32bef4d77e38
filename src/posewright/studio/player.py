"""The player: the playhead on the motion, and the pose that the 3-D view shows."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.studio.motion_panel import angles_deg
from posewright.studio.pages import Pages
from posewright.studio.playhead import Playhead
from posewright.studio.reach import reach_view
from posewright.studio.session import Session
from posewright.studio.stage import Stage


class Source(Protocol):
    """What is played besides the motion itself, such as what became of it in physics."""

    @property
    def duration_s(self) -> float:
        """How long it lasts [s]."""

    def at(self, time_s: float) -> tuple[Floats, Floats]:
        """Return the base `(7,)` as in `Stance`, and the joints `(n_joints,)` [rad], at a time [s]."""


class Player(Playhead):
    """Plays the page under the cursor; publishes `player`, `pose` and `reach`."""

    name = "player"

    def __init__(self, session: Session, stage: Stage) -> None:
        super().__init__(session)
        self._stage = stage
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
        if self._stage.robot is not self._session.document.robot:
            self._source = None
            self._stage.use(self._session.document.robot)
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
                self._stage.stand(angles)
            else:
                self._stage.take(*self._source.at(self._time_s))
        self._session.publish("pose", angles_deg(angles))
        self._session.publish("reach", reach_view(self._session.document.robot, angles))
        told = {"time_s": round(self._time_s, 6), "duration_s": self._duration_s, "speed": self._speed}
        self._session.publish("player", {**told, "loop": self._loops, "playing": self._since is not None})


def angles_at(motion: Motion, robot: Robot, time_s: float) -> Floats:
    """Return all joints of a robot as a motion has them at a time [s], `(n_joints,)` [rad]."""
    asked = motion.at(time_s).angles
    angles = motion.first_pose(robot)
    columns = [robot.index(joint) for joint in motion.joints]
    angles[columns] = np.where(np.isnan(asked), angles[columns], asked)
    return angles
