"""A controller that follows trajectories from the network, with a watchdog for a silent commander."""

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
    """What happens when the commander becomes silent.

    Silence is measured in the robot's time, from the commander's last message or the end of its last
    trajectory, whichever is later.

    Attributes:
        hold_after_s: time of silence after which the pose is held and another sender may command [s].
        relax_after_s: time of silence after which the joints' torque is switched off; None for never [s].

    Raises:
        InputError: a time is not positive, or the torque would be switched off before the pose is held.
    """

    hold_after_s: float = 0.25
    relax_after_s: float | None = None

    def __post_init__(self) -> None:
        relax = np.inf if self.relax_after_s is None else self.relax_after_s
        if not 0.0 < self.hold_after_s <= relax:  # also false for NaN
            raise InputError(
                f"hold after {self.hold_after_s} s and relax after {self.relax_after_s} s",
                hint="both must be above 0, and relax must not come before hold",
            )


class _Track(NamedTuple):
    """Commanded positions of one joint [rad] at times of the body [s]."""

    times: Floats
    positions: Floats


class Commander(Controller):
    """A controller that follows trajectories; `accept` and `stop` may be called from any thread.

    As a watcher it stores the commands that safety let through: a new trajectory starts there, however far
    the previous one was ahead.

    Attributes:
        counts: numbers of trajectories and stops accepted (`taken`, `stops`), of those rejected (`refused`),
            and of times that the watchdog held the pose (`held`) or switched the torque off (`relaxed`).
    """

    def __init__(self, robot: Robot, watchdog: Watchdog | None = None) -> None:
        """Begin without a commander; the first frame sets the pose."""
        names = ("taken", "stops", "refused", "held", "relaxed")
        self.counts: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._robot = robot
        self._watchdog = watchdog or Watchdog()
        self._lock = threading.Lock()
        self._sender = ""  # the commander; empty without one
        self._pose: Floats | None = None  # the requested pose, before safety; None before the first frame
        self._sent_pose: Floats  # the pose after safety
        self._joint_tracks: dict[int, _Track] = {}  # by index of the joint; those that have not ended
        self._end_s = 0.0  # of the frame that was commanded last
        self._last_message_s = 0.0  # when the commander was last heard, in the robot's time
        self._is_relaxed = False  # whether the watchdog has switched the torque off
        self._was_commanded = False  # whether anybody has commanded since the start

    @property
    def sender(self) -> str:
        """The name of the commander; empty without one."""
        return self._sender

    def accept(self, sender: str, trajectory: Trajectory) -> str:
        """Follow a trajectory; return an empty string, or the reason why it is rejected."""
        with self._lock:
            n_joints = len(self._robot.joint_names)
            reason = self._rejection_reason(sender) or trajectory.describe_fault(n_joints)
            if reason:
                self.counts["refused"] += 1
                return reason
            self._note_message(sender, "taken")
            for joint, positions in zip(trajectory.joints, trajectory.positions.T, strict=True):
                times = trajectory.times_s
                angles = positions
                if times[0] > 0.0:  # it begins where the joint is commanded to be now
                    times = np.concatenate([[0.0], times])
                    angles = np.concatenate([[self._sent_pose[joint]], positions])
                self._joint_tracks[joint] = _Track(self._end_s + times, angles.astype(np.float64))
            return ""

    def stop(self, sender: str) -> str:
        """Hold the commanded pose; return an empty string, or the reason why this is rejected."""
        with self._lock:
            reason = self._rejection_reason(sender)
            if reason:
                self.counts["refused"] += 1
                return reason
            self._note_message(sender, "stops")
            self._joint_tracks.clear()
            self._pose = self._sent_pose
            return ""

    def reset(self) -> None:
        """Drop the commander and its trajectories; continue from the robot's pose, which may have changed."""
        with self._lock:
            self._sender = ""
            self._pose = None
            self._is_relaxed = False
            self._was_commanded = True  # by the client, so the watchdog relaxes the joints later
            self._joint_tracks.clear()

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- a message may come any time
        """Return one row: the commands at the end of the next frame.

        At the first frame the commanded pose is the measured one. While relaxed it follows the measured
        joints, whose torque is off; otherwise joints with a trajectory move along it, and all others stay.
        """
        with self._lock:
            end_s = self._end_s = state.time_s + self._robot.frame_period_s
            if self._pose is None:
                self._pose = np.array(state.positions)
                self._last_message_s = state.time_s
                self._sent_pose = self._pose
            self._check_silence(state)
            if self._is_relaxed:  # a servo that does not answer keeps its last position
                self._pose = np.where(np.isfinite(state.positions), state.positions, self._pose)
                self._sent_pose = self._pose
                return JointCommands(self._pose[np.newaxis], np.ones(len(self._pose), dtype=np.bool_))
            self._pose = self._pose.copy()
            for joint, track in list(self._joint_tracks.items()):
                self._pose[joint] = np.interp(end_s, track.times, track.positions)
                if end_s >= track.times[-1]:
                    del self._joint_tracks[joint]
            return JointCommands(self._pose[np.newaxis])

    def watch(self, block: Block) -> bool:
        """Store the commands that were sent; never ends a run."""
        with self._lock:
            if self._pose is not None and not self._is_relaxed:
                self._sent_pose = block.commands.angles[-1]
        return False

    def _rejection_reason(self, sender: str) -> str:
        """Return why a sender may not command now; empty if it may."""
        if self._pose is None:
            return "the robot is not running yet"
        return f"{self._sender} commands" if self._sender not in {"", sender} else ""

    def _note_message(self, sender: str, counter: str) -> None:
        """Make a sender the commander, and restart the watchdog."""
        self.counts[counter] += 1
        self._sender = sender
        self._last_message_s = self._end_s
        self._is_relaxed = False
        self._was_commanded = True

    def _check_silence(self, state: BodyState) -> None:
        """Drop the commander after the watchdog's first time of silence; relax the joints after its second.

        The commander is not silent while its trajectories last.
        """
        last_end_s = max((float(track.times[-1]) for track in self._joint_tracks.values()), default=-np.inf)
        self._last_message_s = max(self._last_message_s, min(last_end_s, state.time_s))
        silent_s = state.time_s - self._last_message_s
        if self._sender and silent_s >= self._watchdog.hold_after_s:
            self._sender = ""
            self.counts["held"] += 1
        relax_s = self._watchdog.relax_after_s
        must_relax = relax_s is not None and self._was_commanded and silent_s >= relax_s
        if must_relax and not self._is_relaxed:
            self._is_relaxed = True
            self.counts["relaxed"] += 1
