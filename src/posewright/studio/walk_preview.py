"""Shows a gait in the 3-D view: its foot paths, and a walking robot, with and without physics."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import JointStates
from posewright.control import RealClock
from posewright.evaluation.walking.report import WalkResult
from posewright.figures.gait.content import COLOURS, GaitContent
from posewright.gaits import (
    STILL,
    WHOLE_TURN_RAD,
    GaitTiming,
    QuadrupedGait,
    QuadrupedGenerator,
    VelocityCommand,
    chain,
    to_moved_frame,
)
from posewright.kinematics import legs_by_foot
from posewright.robots import Robot
from posewright.rotation import heading
from posewright.runs import walk_live
from posewright.studio.background import run_in_background
from posewright.studio.context import StudioContext
from posewright.studio.gait_view import command_view, result_view
from posewright.studio.scene_view import ROBOT

if TYPE_CHECKING:
    from viser import LineSegmentsHandle

NEAR_GROUND_M = 0.001
"""A foot at most this high above its standing position is on the ground [m]."""

MAX_FRAMES_AT_ONCE = 64
"""Frames computed at once; a walk that is further behind, after a sleep of the computer, skips the rest."""

MEASURED_S = 1.0
"""Time over which the displayed velocity is measured [s]."""

RESTART_DELAY_S = 0.3
"""Delay between an edit of the gait and the restart of the walk [s]."""

DRAW_S = 0.1
"""Minimum time between two drawings of the foot paths [s]."""

SIDE_POINTS = 32
"""Minimum number of points of a foot path that is sent to windows; at most twice as many are sent."""

FLOOR_CELL_M = 0.25
"""Period of the floor's grid [m]; the floor moves below a robot that stays in the middle of the view."""


@dataclass(frozen=True, eq=False)
class WalkState:
    """State of a walking robot: `base` `(7,)` as in `LinkPoses`, `angles` `(n_joints,)` [rad]."""

    time_s: float
    base: Floats = field(repr=False)
    angles: Floats = field(repr=False)


class Walk(Protocol):
    """A walk in real time."""

    def now(self) -> WalkState | None:
        """Return the current state; None before the walk has begun."""

    def stop(self) -> None:
        """End the walk."""


class KinematicWalk:
    """A walk without physics: feet on the ground do not slip, which moves the base.

    Args:
        walker: generates the joint angles.
        robot: the robot that walks.
        steering: returns the current velocity command.
        base: base pose of the standing robot, `(7,)`.
    """

    def __init__(
        self,
        walker: QuadrupedGenerator,
        robot: Robot,
        *,
        steering: Callable[[], VelocityCommand],
        base: Floats,
    ) -> None:
        """Begin the walk now, in the standing pose."""
        self._walker = walker
        self._steering = steering
        self._start_base = base
        self._legs = list(legs_by_foot(robot).values())
        self._frame_s = robot.frame_period_s
        self._angles = self._walker.standing_pose
        self._feet = self._foot_positions(self._angles)  # in the frame of the base, `(n_feet, 3)` [m]
        self._ground_heights = self._feet[:, 2] + NEAR_GROUND_M
        self._displacement = np.zeros(3)  # x, y and turn since the start [m, m, rad]
        self._frame_displacement = np.zeros(3)  # that of the last frame, in the frame of the base
        self._n_frames = 0
        self._start_s = time.monotonic()

    def now(self) -> WalkState:
        """Compute the frames that are due by the present time, and return the state after them."""
        elapsed_frames = int((time.monotonic() - self._start_s) / self._frame_s)
        n_due = elapsed_frames - self._n_frames
        if n_due > 0:
            self._walker.request(self._walker.clip_command(self._steering()))
            self._n_frames += n_due
            # after a long pause the walk goes on from where it was, rather than catching up
            for angles in self._walker.frames(min(n_due, MAX_FRAMES_AT_ONCE)):
                self._advance_base(angles)
        return WalkState(self._n_frames * self._frame_s, self._base_pose(), self._angles)

    def stop(self) -> None:
        """Do nothing: the walk advances only in `now`."""

    def _foot_positions(self, angles: Floats) -> Floats:
        """Return the positions of the feet in the frame of the base, `(n_feet, 3)` [m]."""
        return np.stack([leg.forward(angles[list(leg.indices)]) for leg in self._legs])

    def _advance_base(self, angles: Floats) -> None:
        """Move the base by a frame: feet near the ground before and after it do not slide.

        Without such a foot the base moves on as in the last frame.
        """
        feet_before = self._feet
        feet_after = self._foot_positions(angles)
        is_down = (feet_before[:, 2] < self._ground_heights) & (feet_after[:, 2] < self._ground_heights)
        if is_down.any():
            self._frame_displacement = _base_displacement(feet_before[is_down, :2], feet_after[is_down, :2])
        self._displacement = chain(self._displacement, self._frame_displacement)
        self._feet = feet_after
        self._angles = angles

    def _base_pose(self) -> Floats:
        """Return the base pose x y z qw qx qy qz, moved and turned by the walk."""
        x, y, yaw = self._displacement.tolist()
        c = np.cos(yaw / 2.0)
        s = np.sin(yaw / 2.0)
        *_, height, qw, qx, qy, qz = self._start_base.tolist()
        # the quaternion product of the turn (c, 0, 0, s) and the attitude at the start
        rotation = (c * qw - s * qz, c * qx - s * qy, c * qy + s * qx, c * qz + s * qw)
        return np.array([x, y, height, *rotation])


def _base_displacement(before: Floats, after: Floats) -> Floats:
    """Return the displacement of a base, computed from points of the ground that it sees before and after.

    In the frame of the base the points move opposite to it; their turn is that of the least-squares fit.

    Args:
        before: points in the frame of the base before the displacement, `(n, 2)` [m].
        after: the same points in the frame after it, `(n, 2)` [m].

    Returns:
        x, y and turn, `(3,)` [m, m, rad].
    """
    middle_before = before.mean(axis=0)
    middle_after = after.mean(axis=0)
    x, y = (before - middle_before).T
    x_after, y_after = (after - middle_after).T
    turn = -np.arctan2((x * y_after - y * x_after).sum(), (x * x_after + y * y_after).sum())
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    forward, left = middle_before - rotation @ middle_after
    return np.array([forward, left, turn])


class PhysicsWalk:
    """A walk in physics, in real time, on its own thread.

    Args:
        gait: the gait.
        robot: the robot that walks.
        steering: returns the current velocity command; it is called on that thread.

    Attributes:
        result: the result of the walk when it has ended.
    """

    def __init__(self, gait: QuadrupedGait, robot: Robot, *, steering: Callable[[], VelocityCommand]) -> None:
        self._state: WalkState | None = None
        self._is_stopped = False
        clock = RealClock(time.monotonic, time.sleep)
        self.result: Future[WalkResult] = run_in_background(
            lambda: walk_live(gait, robot, steering=steering, watch=self._watch, clock=clock)
        )

    def now(self) -> WalkState | None:
        """Return the state in the last frame."""
        return self._state

    def stop(self) -> None:
        """End the walk after this frame."""
        self._is_stopped = True

    def _watch(self, states: JointStates) -> bool:
        if states.truth is not None:
            self._state = WalkState(float(states.times[-1]), states.truth.base[-1], states.positions[-1])
        return self._is_stopped


class _PlaneSample(NamedTuple):
    """Position of a base on the floor at a time [s]: x, y and heading, `(3,)` [m, m, rad]."""

    time_s: float
    position: Floats


class Speedometer:
    """Measures the velocity of a base over the last second."""

    def __init__(self) -> None:
        self._samples: deque[_PlaneSample] = deque()

    def measure(self, state: WalkState) -> VelocityCommand | None:
        """Add a state, and return the velocity of the base; None in the first second."""
        current = _PlaneSample(state.time_s, np.array([*state.base[:2], heading(state.base[3:])]))
        self._samples.append(current)
        # the first sample is the last one that is at least a second old
        while len(self._samples) > 2 and self._samples[1].time_s <= state.time_s - MEASURED_S:
            self._samples.popleft()
        first = self._samples[0]
        duration_s = state.time_s - first.time_s
        if duration_s < MEASURED_S:
            return None
        half_turn = WHOLE_TURN_RAD / 2.0
        turn = current.position[2] - first.position[2]
        wrapped_turn = np.remainder(turn + half_turn, WHOLE_TURN_RAD) - half_turn  # -pi to pi
        distances = to_moved_frame(current.position[:2], first.position)
        return VelocityCommand.covering([*distances, wrapped_turn], duration_s)


class WalkPreview:
    """Shows a walk in the 3-D view; publishes `steering`, `footing`, `walk` and `walked`."""

    def __init__(self, context: StudioContext) -> None:
        self._session = context.session
        self._scene = context.scene
        self._gait: QuadrupedGait | None = None
        self._walker: QuadrupedGenerator | None = None
        self._command = STILL
        self._current_walk: Walk | None = None
        self._judged_walk: PhysicsWalk | None = None  # its result will be published
        self._path_lines: dict[str, LineSegmentsHandle] = {}  # drawn foot path by foot
        self._is_visible = False
        self._redraw_at_s: float | None = None  # the clock's time; None if the foot paths are up to date
        self._restart_at_s: float | None = None  # the clock's time; None if the gait has not changed
        self._speedometer = Speedometer()

    def set_gait(self, gait: QuadrupedGait | None) -> GaitTiming | None:
        """Replace the gait, and return its timing; a running walk soon restarts with it.

        Raises:
            InputError: its times are not consistent.
            UnreachableError: a foot cannot reach its equilibrium point.
        """
        self._gait = gait
        self._walker = None
        if gait is None:
            self.stop()
            return None
        self._walker = QuadrupedGenerator(gait, self._session.document.robot)
        self.steer(self._command)
        if self._current_walk is None:
            self._show_standing_pose()
        else:
            self._restart_at_s = time.monotonic() + RESTART_DELAY_S
        return self._walker.timing

    def show(self, *, is_visible: bool) -> None:
        """Show or hide the walk in the 3-D view."""
        if self._is_visible is is_visible:
            return
        self._is_visible = is_visible
        for path in self._path_lines.values():
            path.visible = is_visible
        if not is_visible:
            self.stop()
            self._scene.floor.position = (0.0, 0.0, 0.0)
        self._show_standing_pose()

    def forget_robot(self) -> None:
        """Stop, and drop the foot paths of the previous robot, which is no longer in the scene."""
        self.stop()
        self._path_lines.clear()

    @property
    def command(self) -> VelocityCommand:
        """The velocity command, within the range of the gait."""
        return self._command

    def steer(self, command: VelocityCommand) -> None:
        """Set the velocity command; one out of range is reduced, in the same direction."""
        self._command = command if self._walker is None else self._walker.clip_command(command)
        self._session.publish("steering", command_view(self._command))
        self._redraw_at_s = self._redraw_at_s or time.monotonic() + DRAW_S
        self._session.set_ticker("walking", self._tick)

    def begin(self, *, in_physics: bool) -> None:
        """Start the walk from its beginning, with or without physics.

        Without a gait, or if the walk is hidden, there is no walk.

        Raises:
            InputError: the times of the gait are not consistent.
            UnreachableError: a foot cannot reach its equilibrium point.
        """
        self.stop()
        if self._gait is None or not self._is_visible:
            return
        self._restart_at_s = None
        self._speedometer = Speedometer()
        robot = self._session.document.robot
        if in_physics:
            walk = PhysicsWalk(self._gait, robot, steering=lambda: self._command)
            self._current_walk = walk
            self._judged_walk = walk
            self._session.publish("walked", None)
            walk.result.add_done_callback(
                lambda result: self._session.post(lambda: self._publish_result(walk, result))
            )
        else:
            walker = QuadrupedGenerator(self._gait, robot)
            base = self._scene.kinematic_model.stand(walker.standing_pose).base
            self._current_walk = KinematicWalk(walker, robot, steering=lambda: self._command, base=base)
        self._publish(None)
        self._session.set_ticker("walking", self._tick)

    def stop(self) -> None:
        """End the walk; the robot stays where it is."""
        if self._current_walk is not None:
            self._current_walk.stop()
        self._current_walk = None
        self._restart_at_s = None
        self._publish(None)

    def reset(self) -> None:
        """End the walk, and put the robot back into its standing pose."""
        self.stop()
        self._show_standing_pose()

    def _show_standing_pose(self) -> None:
        """Show the robot standing, as the walk begins, unless the walk is hidden or there is no gait."""
        if self._is_visible and self._walker is not None:
            standing = self._walker.standing_pose
            self._scene.show_pose(self._scene.kinematic_model.stand(standing).base, standing)

    def _tick(self, now_s: float) -> None:
        """Show the walk at a time of the clock [s]; restart or redraw it if that is due.

        The ticker that calls this ends when there is nothing more to show.
        """
        is_restart_due = self._restart_at_s is not None and now_s >= self._restart_at_s
        if is_restart_due and self._walker is not None:
            self.begin(in_physics=isinstance(self._current_walk, PhysicsWalk))
        is_redraw_due = self._redraw_at_s is not None and now_s >= self._redraw_at_s
        if is_redraw_due:
            self._redraw_at_s = None
            self._draw()
        state = None if self._current_walk is None else self._current_walk.now()
        if state is not None:
            self._show_state(state)
        if self._current_walk is None and self._redraw_at_s is None:
            self._session.set_ticker("walking", None)

    def _show_state(self, state: WalkState) -> None:
        """Show the robot in the middle of the view, with the floor moving below it, and publish the state."""
        base = state.base.copy()
        floor_x, floor_y = (-base[:2] % FLOOR_CELL_M).tolist()
        self._scene.floor.position = (floor_x, floor_y, 0.0)
        base[:2] = 0.0
        self._scene.show_pose(base, state.angles)
        self._publish(state)

    def _publish(self, state: WalkState | None) -> None:
        """Publish the topic `walk`: time, phase and measured speed; None before a walk."""
        time_s = 0.0
        phase = speed = None
        if state is not None and self._gait is not None and self._walker is not None:
            cycles = state.time_s / self._walker.timing.period_s + self._gait.phases.starts[0]
            time_s = round(state.time_s, 3)
            phase = round(cycles % 1.0, 4)
            speed = command_view(self._speedometer.measure(state))
        view = {
            "walking": self._current_walk is not None,
            "time_s": time_s,
            "phase": phase,
            "speed": speed,
            "physics": isinstance(self._current_walk, PhysicsWalk),
        }
        self._session.publish("walk", view)

    def _publish_result(self, walk: PhysicsWalk, result: Future[WalkResult]) -> None:
        """Publish the result of a walk in physics that was stopped, has fallen, or has failed."""
        if self._current_walk is walk:
            self.stop()
        if self._judged_walk is walk:
            self._judged_walk = None
            self._session.publish("walked", result_view(result.result()))

    def _draw(self) -> None:
        """Draw the foot paths of a steady cycle, and publish the joint that is closest to its speed limit."""
        if self._gait is None or self._walker is None or not self._is_visible:
            return
        content = GaitContent(self._gait, self._scene.robot, self._command)
        paths_mm = {}
        for foot, path in content.feet.items():
            positions = path.executed_positions
            line_segments = np.stack([positions[:-1], positions[1:]], axis=1)
            self._draw_path(foot, line_segments)
            x_and_z = [0, 2]
            side_view_mm = 1000.0 * (positions - path.equilibrium_m)[:, x_and_z]
            every = max(1, len(side_view_mm) // SIDE_POINTS)  # fewer points are enough for the window
            paths_mm[foot] = side_view_mm.round(2)[::every].tolist()
        joint, share = content.fastest_joint_and_share
        self._session.publish("footing", {"fastest": joint, "share": round(share, 3), "ways_mm": paths_mm})

    def _draw_path(self, foot: str, lines: Floats) -> None:
        """Draw the path of a foot from line segments `(n, 2, 3)` [m], or replace its points."""
        if foot in self._path_lines:
            self._path_lines[foot].points = lines.astype(np.float32)
            return
        red, green, blue = bytes.fromhex(COLOURS[foot].removeprefix("#"))
        self._path_lines[foot] = self._scene.viser.scene.add_line_segments(
            f"{ROBOT}/{self._scene.kinematic_model.links[0]}/way of {foot}",
            lines.astype(np.float32),
            (red, green, blue),
            thickness=5.0,
            thickness_units="screen",
        )
