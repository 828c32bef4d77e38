"""A gait in the 3-D view: its foot paths, and a robot that walks it, with and without physics."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import JointStates
from posewright.control import RealClock
from posewright.evaluation.walking.report import WalkResult
from posewright.figures.gait.content import COLOURS, GaitContent
from posewright.gaits import (
    STILL,
    WHOLE_TURN_RAD,
    Gait,
    GaitTiming,
    QuadrupedGait,
    VelocityCommand,
    chain,
    to_moved_frame,
)
from posewright.kinematics import legs_by_foot
from posewright.robots import Robot
from posewright.rotation import heading
from posewright.runs import walk_live
from posewright.studio.background import run_in_background
from posewright.studio.gait_view import command_view, result_view
from posewright.studio.parts import Parts
from posewright.studio.scene_view import ROBOT

if TYPE_CHECKING:
    from viser import LineSegmentsHandle

NEAR_GROUND_M = 0.001
"""A foot no higher than this above where it stands is on the ground."""

MOST_FRAMES = 64
"""A walk that is further behind, as the computer slept, goes on from there."""

MEASURED_S = 1.0
"""The velocity that is shown is that over so long a time [s]."""

REST_S = 0.3
"""A walk begins anew with another gait when that has not changed for so long [s]."""

DRAW_S = 0.1
"""Foot paths are drawn anew no more often than this [s]."""

SIDE_POINTS = 32
"""So many points, or up to twice as many, a window is shown of a foot's way from the side."""

FLOOR_CELL_M = 0.25
"""The floor looks the same after so far: it moves below a robot that stays in the middle of the view."""


@dataclass(frozen=True, eq=False)
class WalkState:
    """Where a walking robot is: `base` `(7,)` as in `LinkPoses`, `angles` `(n_joints,)` [rad]."""

    time_s: float
    base: Floats = field(repr=False)
    angles: Floats = field(repr=False)


class Walk(Protocol):
    """A walk that goes on by itself, in real time."""

    def now(self) -> WalkState | None:
        """Return where the robot is now; None before it has begun."""

    def stop(self) -> None:
        """End it."""


class KinematicWalk:
    """Walks as the gait would have it: feet on the ground stay where they are, and carry the base along.

    Args:
        walker: walks the gait.
        steering: returns the velocity that is commanded now.
        base: of the robot as it stands at first, `(7,)`.
    """

    def __init__(
        self, walker: QuadrupedGait, robot: Robot, *, steering: Callable[[], VelocityCommand], base: Floats
    ) -> None:
        self._walker = walker
        self._steering = steering
        self._base = base
        self._legs = list(legs_by_foot(robot).values())
        self._frame_s = robot.frame_period_s
        self._angles = self._walker.standing_pose
        self._feet = self._feet_in(self._angles)
        self._ground = self._feet[:, 2] + NEAR_GROUND_M
        self._place = np.zeros(3)
        self._step = np.zeros(3)
        self._frames = 0
        self._began_s = time.monotonic()

    def now(self) -> WalkState:
        """Go on to where the robot is now."""
        due = int((time.monotonic() - self._began_s) / self._frame_s) - self._frames
        if due > 0:
            self._walker.request(self._walker.clip_command(self._steering()))
            self._frames += due
            for angles in self._walker.frames(min(due, MOST_FRAMES)):
                self._go(angles)
        return WalkState(self._frames * self._frame_s, self._placed(), self._angles)

    def stop(self) -> None:
        """Do nothing: the walk goes on only when `now` is called."""

    def _feet_in(self, angles: Floats) -> Floats:
        return np.stack([leg.forward(angles[list(leg.indices)]) for leg in self._legs])

    def _go(self, angles: Floats) -> None:
        before = self._feet
        after = self._feet_in(angles)
        down = (before[:, 2] < self._ground) & (after[:, 2] < self._ground)
        if down.any():  # else it flies on as it did
            self._step = _carried(before[down, :2], after[down, :2])
        self._place = chain(self._place, self._step)
        self._feet = after
        self._angles = angles

    def _placed(self) -> Floats:
        x, y, yaw = self._place.tolist()
        c = np.cos(yaw / 2.0)
        s = np.sin(yaw / 2.0)
        *_, height, qw, qx, qy, qz = self._base.tolist()
        rotation = (c * qw - s * qz, c * qx - s * qy, c * qy + s * qx, c * qz + s * qw)
        return np.array([x, y, height, *rotation])


def _carried(before: Floats, after: Floats) -> Floats:
    """Return the displacement `(3,)` of a base that sees points at rest before and after it, `(n, 2)` [m]."""
    middle_before = before.mean(axis=0)
    middle_after = after.mean(axis=0)
    x, y = (before - middle_before).T
    to_x, to_y = (after - middle_after).T
    turn = -np.arctan2((x * to_y - y * to_x).sum(), (x * to_x + y * to_y).sum())
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    forward, left = middle_before - rotation @ middle_after
    return np.array([forward, left, turn])


class PhysicsWalk:
    """Walks in physics on a thread of its own, in real time.

    Args:
        steering: returns the velocity that is commanded now; it is called on that thread.

    Attributes:
        result: the result of the walk, once it is over.
    """

    def __init__(self, gait: Gait, robot: Robot, *, steering: Callable[[], VelocityCommand]) -> None:
        self._state: WalkState | None = None
        self._is_stopped = False
        clock = RealClock(time.monotonic, time.sleep)
        self.result: Future[WalkResult] = run_in_background(
            lambda: walk_live(gait, robot, steering=steering, watch=self._watch, clock=clock)
        )

    def now(self) -> WalkState | None:
        """Return where the robot was in the last frame."""
        return self._state

    def stop(self) -> None:
        """End it after this frame."""
        self._is_stopped = True

    def _watch(self, states: JointStates) -> bool:
        if states.truth is not None:
            self._state = WalkState(float(states.times[-1]), states.truth.base[-1], states.positions[-1])
        return self._is_stopped


class Speedometer:
    """Measures how fast a base goes, over the last second."""

    def __init__(self) -> None:
        self._places: deque[tuple[float, Floats]] = deque()

    def measure(self, state: WalkState) -> VelocityCommand | None:
        """Return the velocity of a base that is there now, or None in the first second."""
        place = np.array([*state.base[:2], heading(state.base[3:])])
        self._places.append((state.time_s, place))
        while len(self._places) > 2 and self._places[1][0] <= state.time_s - MEASURED_S:
            self._places.popleft()
        first_s, first_place = self._places[0]
        duration_s = state.time_s - first_s
        if duration_s < MEASURED_S:
            return None
        turn = (
            np.remainder(place[2] - first_place[2] + WHOLE_TURN_RAD / 2.0, WHOLE_TURN_RAD)
            - WHOLE_TURN_RAD / 2.0
        )
        return VelocityCommand.covering([*to_moved_frame(place[:2], first_place), turn], duration_s)


class WalkPreview:
    """Walks a gait in the 3-D view; publishes `steering`, `footing`, `walk` and `walked`."""

    def __init__(self, parts: Parts) -> None:
        self._session = parts.session
        self._scene = parts.scene
        self._gait: Gait | None = None
        self._walker: QuadrupedGait | None = None
        self._command = STILL
        self._walk: Walk | None = None
        self._judged_walk: PhysicsWalk | None = None  # the one whose result is published
        self._paths: dict[str, LineSegmentsHandle] = {}
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
        self._gait = gait
        self._walker = None
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
        """Show the robot that walks in the 3-D view, or take it out."""
        if self._is_shown is is_shown:
            return
        self._is_shown = is_shown
        for path in self._paths.values():
            path.visible = is_shown
        if not is_shown:
            self.stop()
            self._scene.floor.position = (0.0, 0.0, 0.0)
        self._stand()

    def forget_robot(self) -> None:
        """Forget what hung on the robot before: another one is in the scene."""
        self.stop()
        self._paths.clear()

    @property
    def command(self) -> VelocityCommand:
        """The velocity that is commanded, within what the gait can do."""
        return self._command

    def steer(self, command: VelocityCommand) -> None:
        """Command a velocity; one that is out of range is brought into it, in the same direction."""
        self._command = command if self._walker is None else self._walker.clip_command(command)
        self._session.publish("steering", command_view(self._command))
        self._draw_s = self._draw_s or time.monotonic() + DRAW_S
        self._session.tick("walking", self._tick)

    def begin(self, *, in_physics: bool) -> None:
        """Begin to walk; an error as of `use` where the gait cannot be walked."""
        self.stop()
        if self._gait is None or not self._is_shown:
            return
        self._begin_s = None
        self._speedometer = Speedometer()
        robot = self._session.document.robot
        if in_physics:
            walk = PhysicsWalk(self._gait, robot, steering=lambda: self._command)
            self._walk = walk
            self._judged_walk = walk
            self._session.publish("walked", None)
            walk.result.add_done_callback(lambda done: self._session.post(lambda: self._end(walk, done)))
        else:
            walker = QuadrupedGait(self._gait, robot)
            base = self._scene.kinematic_model.stand(walker.standing_pose).base
            self._walk = KinematicWalk(walker, robot, steering=lambda: self._command, base=base)
        self._publish(None)
        self._session.tick("walking", self._tick)

    def stop(self) -> None:
        """End the walk where it is."""
        if self._walk is not None:
            self._walk.stop()
        self._walk = None
        self._begin_s = None
        self._publish(None)

    def reset(self) -> None:
        """End the walk, and put the robot on its feet again."""
        self.stop()
        self._stand()

    def _stand(self) -> None:
        if self._is_shown and self._walker is not None:
            standing = self._walker.standing_pose
            self._scene.take(self._scene.kinematic_model.stand(standing).base, standing)

    def _tick(self, now_s: float) -> None:
        if self._begin_s is not None and now_s >= self._begin_s and self._walker is not None:
            self.begin(in_physics=isinstance(self._walk, PhysicsWalk))
        if self._draw_s is not None and now_s >= self._draw_s:
            self._draw_s = None
            self._draw()
        state = None if self._walk is None else self._walk.now()
        if state is not None:
            base = state.base.copy()
            floor_x, floor_y = (-base[:2] % FLOOR_CELL_M).tolist()
            self._scene.floor.position = (floor_x, floor_y, 0.0)
            base[:2] = 0.0
            self._scene.take(base, state.angles)
            self._publish(state)
        if self._walk is None and self._draw_s is None:
            self._session.tick("walking", None)

    def _publish(self, state: WalkState | None) -> None:
        time_s = 0.0
        phase = speed = None
        if state is not None and self._gait is not None and self._walker is not None:
            cycles = state.time_s / self._walker.timing.period_s + self._gait.phases.starts[0]
            time_s = round(state.time_s, 3)
            phase = round(cycles % 1.0, 4)
            speed = command_view(self._speedometer.measure(state))
        view = {
            "walking": self._walk is not None,
            "time_s": time_s,
            "phase": phase,
            "speed": speed,
            "physics": isinstance(self._walk, PhysicsWalk),
        }
        self._session.publish("walk", view)

    def _end(self, walk: PhysicsWalk, result: Future[WalkResult]) -> None:
        """Publish the result of a walk in physics that has ended: stopped, fallen, or failed."""
        if self._walk is walk:
            self.stop()
        if self._judged_walk is walk:
            self._judged_walk = None
            self._session.publish("walked", result_view(result.result()))

    def _draw(self) -> None:
        """Draw the paths of the feet in a steady cycle; publish which joint comes nearest to its speed."""
        if self._gait is None or self._walker is None or not self._is_shown:
            return
        content = GaitContent(self._gait, self._scene.robot, self._command)
        paths_mm = {}
        for foot, path in content.feet.items():
            self._draw_path(foot, np.stack([path.executed[:-1], path.executed[1:]], axis=1))
            side = 1000.0 * (path.executed - path.equilibrium_m)[:, [0, 2]]
            paths_mm[foot] = side.round(2)[:: max(1, len(side) // SIDE_POINTS)].tolist()
        joint, share = content.fastest
        self._session.publish("footing", {"fastest": joint, "share": round(share, 3), "ways_mm": paths_mm})

    def _draw_path(self, foot: str, lines: Floats) -> None:
        if foot in self._paths:
            self._paths[foot].points = lines.astype(np.float32)
            return
        red, green, blue = bytes.fromhex(COLOURS[foot].removeprefix("#"))
        self._paths[foot] = self._scene.viser.scene.add_line_segments(
            f"{ROBOT}/{self._scene.kinematic_model.links[0]}/way of {foot}",
            lines.astype(np.float32),
            (red, green, blue),
            thickness=5.0,
            thickness_units="screen",
        )
