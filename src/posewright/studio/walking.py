"""A gait in the 3-D view: its foot paths, and a robot that walks it by a joystick's command."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.evaluation.walking.report import WalkResult
from posewright.figures.gait.content import COLOURS, GaitContent
from posewright.gaits import STILL, Gait, GaitTiming, QuadrupedGait, VelocityCommand
from posewright.studio.gait_view import command_view, result_view
from posewright.studio.stage import ROBOT
from posewright.studio.walks import KinematicWalk, Moment, PhysicsWalk, Speedometer, Walk

if TYPE_CHECKING:
    from posewright.studio.opening import Parts

REST_S = 0.3
"""A walk begins anew with another gait when that has not changed for so long [s]."""

DRAW_S = 0.1
"""Foot paths are drawn anew no more often than this [s]."""

SIDE_POINTS = 32
"""So many points, or up to twice as many, a window is shown of a foot's way from the side."""

FLOOR_CELL_M = 0.25
"""The floor looks the same after so far: it moves below a robot that stays in the middle of the view."""


class Walking:
    """Walks a gait on the stage; publishes `steering`, `footing`, `walk` and `walked`."""

    def __init__(self, parts: Parts) -> None:
        self._session, self._stage = parts.session, parts.stage
        self._gait: Gait | None = None
        self._walker: QuadrupedGait | None = None
        self._command = STILL
        self._walk: Walk | None = None
        self._watched: PhysicsWalk | None = None
        self._paths: dict[str, Any] = {}
        self._is_shown = False
        self._draw_s: float | None = None
        self._begin_s: float | None = None
        self._speedometer = Speedometer()

    def use(self, gait: Gait | None) -> GaitTiming | None:
        """Take another gait, and return its times; a walk goes on with it in a moment.

        Raises:
            InputError: its times do not go together.
            UnreachableError: a foot cannot stand where it is to stand.
        """
        self._gait, self._walker = gait, None
        if gait is None:
            self.stop()
            return None
        self._walker = QuadrupedGait(gait, self._session.document.robot)
        self.steer(self._command)
        if self._walk is None:
            self._stand()
        else:
            self._begin_s = time.monotonic() + REST_S
        return self._walker.timing

    def show(self, *, is_shown: bool) -> None:
        """Come on the stage, or leave it."""
        if self._is_shown is is_shown:
            return
        self._is_shown = is_shown
        for path in self._paths.values():
            path.visible = is_shown
        if not is_shown:
            self.stop()
            self._stage.floor.position = (0.0, 0.0, 0.0)
        self._stand()

    def forget_robot(self) -> None:
        """Know that another robot is on the stage: what hung on the one before is gone."""
        self.stop()
        self._paths.clear()

    @property
    def command(self) -> VelocityCommand:
        """What is asked for, within what the gait can do."""
        return self._command

    def steer(self, command: VelocityCommand) -> None:
        """Ask for a velocity; one that is out of range is brought into it, in the same direction."""
        self._command = command if self._walker is None else self._walker.clipped(command)
        self._session.publish("steering", command_view(self._command))
        self._draw_s = self._draw_s or time.monotonic() + DRAW_S
        self._session.tick("walking", self._tick)

    def begin(self, *, in_physics: bool) -> None:
        """Begin to walk; an error as of `use` where the gait cannot be walked."""
        self.stop()
        if self._gait is None or not self._is_shown:
            return
        self._begin_s, self._speedometer = None, Speedometer()
        robot, steering = self._session.document.robot, lambda: self._command
        if in_physics:
            self._walk = self._watched = walk = PhysicsWalk(self._gait, robot, steering=steering)
            self._session.publish("walked", None)
            walk.result.add_done_callback(lambda done: self._session.post(lambda: self._over(walk, done)))
        else:
            walker = QuadrupedGait(self._gait, robot)
            base = self._stage.mannequin.stand(walker.standing_pose).base
            self._walk = KinematicWalk(walker, robot, steering=steering, base=base)
        self._tell(None)
        self._session.tick("walking", self._tick)

    def stop(self) -> None:
        """End the walk where it is."""
        if self._walk is not None:
            self._walk.stop()
        self._walk = self._begin_s = None
        self._tell(None)

    def reset(self) -> None:
        """End the walk, and put the robot on its feet again."""
        self.stop()
        self._stand()

    def _stand(self) -> None:
        if self._is_shown and self._walker is not None:
            standing = self._walker.standing_pose
            self._stage.take(self._stage.mannequin.stand(standing).base, standing)

    def _tick(self, now_s: float) -> None:
        if self._begin_s is not None and now_s >= self._begin_s and self._walker is not None:
            self.begin(in_physics=isinstance(self._walk, PhysicsWalk))
        if self._draw_s is not None and now_s >= self._draw_s:
            self._draw_s = None
            self._draw()
        moment = None if self._walk is None else self._walk.now()
        if moment is not None:
            self._take(moment)
            self._tell(moment)
        if self._walk is None and self._draw_s is None:
            self._session.tick("walking", None)

    def _take(self, moment: Moment) -> None:
        base = moment.base.copy()
        self._stage.floor.position = (*(-base[:2] % FLOOR_CELL_M).tolist(), 0.0)
        base[:2] = 0.0
        self._stage.take(base, moment.angles)

    def _tell(self, moment: Moment | None) -> None:
        told: dict[str, Any] = {
            "walking": self._walk is not None,
            "time_s": 0.0,
            "phase": None,
            "speed": None,
        }
        told["physics"] = isinstance(self._walk, PhysicsWalk)
        if moment is not None and self._gait is not None and self._walker is not None:
            phase = moment.time_s / self._walker.timing.period_s + self._gait.phases.starts[0]
            speed = command_view(self._speedometer.look(moment))
            told |= {"time_s": round(moment.time_s, 3), "phase": round(phase % 1.0, 4), "speed": speed}
        self._session.publish("walk", told)

    def _over(self, walk: PhysicsWalk, done: Future[WalkResult]) -> None:
        """See that a walk in physics has ended: stopped, fallen, or failed."""
        if self._walk is walk:
            self.stop()
        if self._watched is walk:
            self._watched = None
            self._session.publish("walked", result_view(done.result()))

    def _draw(self) -> None:
        """Draw the ways of the feet in a steady cycle, and tell which joint comes nearest to its speed."""
        if self._gait is None or self._walker is None or not self._is_shown:
            return
        content, ways = GaitContent(self._gait, self._stage.robot, self._command), {}
        for foot, way in content.feet.items():
            self._draw_path(foot, np.stack([way.led[:-1], way.led[1:]], axis=1))
            side = 1000.0 * (way.led - way.equilibrium_m)[:, [0, 2]]
            ways[foot] = side.round(2)[:: max(1, len(side) // SIDE_POINTS)].tolist()
        joint, share = content.fastest
        self._session.publish("footing", {"fastest": joint, "share": round(share, 3), "ways_mm": ways})

    def _draw_path(self, foot: str, lines: Any) -> None:
        if foot in self._paths:
            self._paths[foot].points = lines.astype(np.float32)
            return
        red, green, blue = bytes.fromhex(COLOURS[foot].removeprefix("#"))
        self._paths[foot] = self._stage.viser.scene.add_line_segments(
            f"{ROBOT}/{self._stage.mannequin.links[0]}/way of {foot}",
            lines.astype(np.float32), (red, green, blue), thickness=5.0, thickness_units="screen",
        )  # fmt: skip
