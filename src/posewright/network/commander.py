"""The commander of a robot that is served, and what happens when it falls silent."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.control import Block, Controller
from posewright.errors import InputError
from posewright.network.transport import Trajectory
from posewright.robots import Robot


@dataclass(frozen=True, slots=True)
class Watchdog:
    """What happens when the commander falls silent.

    Silence is counted in the robot's time, from the commander's last word or the end of its last trajectory,
    whichever is later.

    Attributes:
        hold_after_s: after so much silence the pose is held, and another may command [s].
        relax_after_s: after so much silence the joints' torque is taken; None for never [s].

    Raises:
        InputError: a time makes no sense.
    """

    hold_after_s: float = 0.25
    relax_after_s: float | None = None

    def __post_init__(self) -> None:
        relax = np.inf if self.relax_after_s is None else self.relax_after_s
        if not 0.0 < self.hold_after_s <= relax:  # a NaN is not
            raise InputError(
                f"hold after {self.hold_after_s} s and relax after {self.relax_after_s} s",
                hint="above 0, and to relax not before to hold",
            )


class _Track(NamedTuple):
    """Where a joint is to be, and when, in the body's time."""

    times: Floats
    positions: Floats


class Commander(Controller):
    """A controller that does what somebody far away wants; `take` and `stop` may come from any thread.

    It watches, too: a trajectory begins at what was sent, however far beyond that the one before it wanted to
    go.

    Attributes:
        counts: trajectories and stops taken; refused, because another commands or they make no sense; how
            often the watchdog held and relaxed.
    """

    def __init__(self, robot: Robot, watchdog: Watchdog | None = None) -> None:
        names = ("taken", "stops", "refused", "held", "relaxed")
        self.counts: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._robot = robot
        self._watchdog = watchdog or Watchdog()
        self._lock = threading.Lock()
        self._sender = ""
        self._pose: Floats | None = None  # what is wanted
        self._sent_pose: Floats  # what of it was let through
        self._tracks: dict[int, _Track] = {}
        self._end_s = self._heard_s = 0.0  # of the frame that was commanded last
        self._is_relaxed = self._was_commanded = False

    @property
    def sender(self) -> str:
        """Who commands, as it calls itself; empty where nobody does."""
        return self._sender

    def take(self, sender: str, trajectory: Trajectory) -> str:
        """Take a trajectory; return nothing, or why it is not taken."""
        with self._lock:
            reason = self._refusal(sender) or trajectory.fault(len(self._robot.joint_names))
            if reason:
                self.counts["refused"] += 1
                return reason
            self._hear(sender, "taken")
            pose = self._sent_pose
            begin_s = self._end_s
            for joint, positions in zip(trajectory.joints, trajectory.positions.T, strict=True):
                begins_at_once = trajectory.times_s[0] == 0.0
                times = trajectory.times_s if begins_at_once else np.r_[0.0, trajectory.times_s]
                angles = positions if begins_at_once else np.r_[pose[joint], positions]
                self._tracks[joint] = _Track(begin_s + times, angles.astype(np.float64))
            return ""

    def stop(self, sender: str) -> str:
        """Hold every joint where it is commanded now; return nothing, or why not."""
        with self._lock:
            reason = self._refusal(sender)
            if reason:
                self.counts["refused"] += 1
                return reason
            self._hear(sender, "stops")
            self._tracks.clear()
            self._pose = self._sent_pose
            return ""

    def forget(self) -> None:
        """Let nobody command; go on from where the robot then is: somebody else has moved it until now."""
        with self._lock:
            self._sender = ""
            self._pose = None
            self._is_relaxed = False
            self._was_commanded = True
            self._tracks.clear()

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- a word may come any time
        """Return one row: what is commanded at the end of the frame that comes."""
        with self._lock:
            end_s = self._end_s = state.time_s + self._robot.frame_period_s
            if self._pose is None:
                self._pose = np.array(state.positions)
                self._heard_s = state.time_s
                self._sent_pose = self._pose
            self._fall_silent(state)
            if self._is_relaxed:  # a servo that says nothing is where it was
                self._pose = np.where(np.isfinite(state.positions), state.positions, self._pose)
                self._sent_pose = self._pose
                return JointCommands(self._pose[np.newaxis], np.ones(len(self._pose), dtype=np.bool_))
            self._pose = self._pose.copy()
            for joint, track in list(self._tracks.items()):
                self._pose[joint] = np.interp(end_s, *track)
                if end_s >= track.times[-1]:
                    del self._tracks[joint]
            return JointCommands(self._pose[np.newaxis])

    def watch(self, block: Block) -> bool:
        """Note what was sent; never ends a run."""
        with self._lock:
            if self._pose is not None and not self._is_relaxed:
                self._sent_pose = block.commands.angles[-1]
        return False

    def _refusal(self, sender: str) -> str:
        if self._pose is None:
            return "the robot does not move yet"
        return f"{self._sender} commands" if self._sender not in {"", sender} else ""

    def _hear(self, sender: str, counter: str) -> None:
        self.counts[counter] += 1
        self._sender = sender
        self._heard_s = self._end_s
        self._is_relaxed = False
        self._was_commanded = True

    def _fall_silent(self, state: BodyState) -> None:
        """Hold, and then relax, where nothing was heard for long enough."""
        busy_s = max((float(track.times[-1]) for track in self._tracks.values()), default=self._heard_s)
        self._heard_s = max(self._heard_s, min(busy_s, state.time_s))
        silent_s = state.time_s - self._heard_s
        if self._sender and silent_s >= self._watchdog.hold_after_s:
            self._sender = ""
            self.counts["held"] += 1
        relax_s = self._watchdog.relax_after_s
        is_due = relax_s is not None and self._was_commanded and silent_s >= relax_s
        if is_due and not self._is_relaxed:
            self._is_relaxed = True
            self.counts["relaxed"] += 1
