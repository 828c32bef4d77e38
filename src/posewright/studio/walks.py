"""Walks that are watched while they go on: as the gait would have it, and as physics lets it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import JointStates
from posewright.control import RealClock
from posewright.evaluation.walking.report import WalkResult
from posewright.gaits import WHOLE_TURN_RAD, Gait, QuadrupedGait, VelocityCommand, chain, left_behind
from posewright.kinematics import legs_by_foot
from posewright.robots import Robot
from posewright.rotation import heading
from posewright.runs import walk_live
from posewright.studio.latest import beside

NEAR_GROUND_M = 0.001
"""A foot no higher than this above where it stands is on the ground."""

MOST_FRAMES = 64
"""A walk that is further behind, as the computer slept, goes on from there."""

MEASURED_S = 1.0
"""The velocity that is shown is that over so long a time [s]."""


@dataclass(frozen=True, eq=False)
class Moment:
    """Where a walking robot is: `base` `(7,)` as in `Stance`, `angles` `(n_joints,)` [rad]."""

    time_s: float
    base: Floats = field(repr=False)
    angles: Floats = field(repr=False)


class Walk(Protocol):
    """A walk that goes on by itself, in real time."""

    def now(self) -> Moment | None:
        """Return where the robot is now; None before it has begun."""

    def stop(self) -> None:
        """End it."""


class KinematicWalk:
    """Walks as the gait would have it: feet on the ground stay where they are, and carry the base along.

    Args:
        walker: walks the gait.
        steering: returns what is asked for now.
        base: of the robot as it stands at first, `(7,)`.
    """

    def __init__(
        self, walker: QuadrupedGait, robot: Robot, *, steering: Callable[[], VelocityCommand], base: Floats
    ) -> None:
        self._walker, self._steering, self._base = walker, steering, base
        self._legs = list(legs_by_foot(robot).values())
        self._frame_s = robot.frame_period_s
        self._angles = self._walker.standing_pose
        self._feet = self._feet_in(self._angles)
        self._ground = self._feet[:, 2] + NEAR_GROUND_M
        self._place, self._step = np.zeros(3), np.zeros(3)
        self._frames, self._begun_s = 0, time.monotonic()

    def now(self) -> Moment:
        """Go on to where the robot is now."""
        due = int((time.monotonic() - self._begun_s) / self._frame_s) - self._frames
        if due > 0:
            self._walker.request(self._walker.clipped(self._steering()))
            self._frames += due
            for angles in self._walker.frames(min(due, MOST_FRAMES)):
                self._go(angles)
        return Moment(self._frames * self._frame_s, self._placed(), self._angles)

    def stop(self) -> None:
        """Do nothing: it goes no further than it is looked at."""

    def _feet_in(self, angles: Floats) -> Floats:
        return np.stack([leg.forward(angles[list(leg.indices)]) for leg in self._legs])

    def _go(self, angles: Floats) -> None:
        before, after = self._feet, self._feet_in(angles)
        down = (before[:, 2] < self._ground) & (after[:, 2] < self._ground)
        if down.any():  # else it flies on as it did
            self._step = _carried(before[down, :2], after[down, :2])
        self._place = chain(self._place, self._step)
        self._feet, self._angles = after, angles

    def _placed(self) -> Floats:
        x, y, yaw = self._place.tolist()
        c, s = np.cos(yaw / 2.0), np.sin(yaw / 2.0)
        *_, height, qw, qx, qy, qz = self._base.tolist()
        turned = (c * qw - s * qz, c * qx - s * qy, c * qy + s * qx, c * qz + s * qw)
        return np.array([x, y, height, *turned])


def _carried(before: Floats, after: Floats) -> Floats:
    """Return the displacement `(3,)` of a base that sees points at rest before and after it, `(n, 2)` [m]."""
    middle, arrived = before.mean(axis=0), after.mean(axis=0)
    (x, y), (to_x, to_y) = (before - middle).T, (after - arrived).T
    turn = -np.arctan2((x * to_y - y * to_x).sum(), (x * to_x + y * to_y).sum())
    cos, sin = np.cos(turn), np.sin(turn)
    ahead, aside = middle - (cos * arrived[0] - sin * arrived[1], sin * arrived[0] + cos * arrived[1])
    return np.array([ahead, aside, turn])


class PhysicsWalk:
    """Walks in physics on a thread of its own, in real time.

    Args:
        steering: returns what is asked for now; it is called on that thread.

    Attributes:
        result: what came of it, once it is over.
    """

    def __init__(self, gait: Gait, robot: Robot, *, steering: Callable[[], VelocityCommand]) -> None:
        self._moment: Moment | None = None
        self._is_stopped = False
        clock = RealClock(time.monotonic, time.sleep)
        self.result: Future[WalkResult] = beside(
            lambda: walk_live(gait, robot, steering=steering, watch=self._watch, clock=clock)
        )

    def now(self) -> Moment | None:
        """Return where the robot was seen last."""
        return self._moment

    def stop(self) -> None:
        """Let it end after this frame."""
        self._is_stopped = True

    def _watch(self, states: JointStates) -> bool:
        if states.truth is not None:
            self._moment = Moment(float(states.times[-1]), states.truth.base[-1], states.positions[-1])
        return self._is_stopped


class Speedometer:
    """Tells how fast a base goes, over the last second."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, Floats]] = deque()

    def look(self, moment: Moment) -> VelocityCommand | None:
        """Look where it is; return its velocity, or None in the first second."""
        place = np.array([*moment.base[:2], heading(moment.base[3:])])
        self._seen.append((moment.time_s, place))
        while len(self._seen) > 2 and self._seen[1][0] <= moment.time_s - MEASURED_S:
            self._seen.popleft()
        then_s, there = self._seen[0]
        took_s = moment.time_s - then_s
        if took_s < MEASURED_S:
            return None
        turn = np.remainder(place[2] - there[2] + WHOLE_TURN_RAD / 2.0, WHOLE_TURN_RAD) - WHOLE_TURN_RAD / 2.0
        return VelocityCommand.covering([*left_behind(place[:2], there), turn], took_s)
