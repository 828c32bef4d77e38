"""A player of motions by name, and the order in which motions and their passes follow each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import BodyState, JointCommands
from posewright.controllers.passes import SHARE_OF_SPEED, Pass, Passes, Stretch, join_frames, poses_differ
from posewright.errors import UnknownNameError
from posewright.motions import Motion
from posewright.robots import Robot


@dataclass(frozen=True, slots=True)
class PlannedPass:
    """One pass of a motion: its keyframes played once.

    Attributes:
        name: the name of the motion.
        pass_index: index of the pass among the repetitions of the motion, from 0.
        is_linked: whether a motion's `next` or `exit` led here, rather than a request.
    """

    name: str
    pass_index: int = 0
    is_linked: bool = False


class Succession:
    """The sequence of passes of motions, as requested and as `next` and `exit` of the motions lead on.

    A motion that is left is followed by its `exit` motion, that by its own, and so on, no motion twice; then
    the requested motion begins. (ROBOTIS' action module stops a page in the same way.)

    Args:
        motions: all motions by name.

    Attributes:
        present_pass: the present pass; None while standing still.

    Raises:
        UnknownNameError: a motion's `next` or `exit` is not among the motions.
    """

    def __init__(self, motions: Mapping[str, Motion]) -> None:
        """Check that all motions that `next` and `exit` name are there; nothing is requested."""
        self._motions = dict(motions)
        self._request: str | None = None
        self._request_of_pass: str | None = None  # the request that the present pass belongs to
        self._exits_played: frozenset[str] = frozenset()  # since the request changed
        self.present_pass: PlannedPass | None = None
        for name, motion in motions.items():
            for link in (motion.next, motion.exit):
                if link is not None and link not in motions:
                    raise UnknownNameError.among("motion", link, motions, owner=f"after {name!r}")

    def request(self, name: str | None) -> None:
        """Request a motion, or None to stand still.

        Raises:
            UnknownNameError: there is no such motion.
        """
        if name is not None and name not in self._motions:
            raise UnknownNameError.among("motion", name, self._motions)
        self._request = name
        if self.present_pass is None and name is None:
            self._request_of_pass = None  # nothing to leave: the next request counts as new

    @property
    def is_leaving(self) -> bool:
        """Whether another motion is requested than that of the present pass, or exits are being played."""
        return self._request != self._request_of_pass or bool(self._exits_played)

    def plan_next_pass(self) -> PlannedPass | None:
        """Return the pass that follows the present one by the present request; None to stand still.

        Nothing changes; `advance` makes the pass the present one.
        """
        if self.present_pass is None:
            return self._requested_first_pass() if self.is_leaving else None
        if self.is_leaving:
            return self._plan_leaving_pass(self.present_pass)
        # nothing else was requested: the motion is repeated, then its `next` follows
        name = self.present_pass.name
        motion = self._motions[name]
        next_index = self.present_pass.pass_index + 1
        if motion.repeat is None or next_index < motion.repeat:  # None repeats for ever
            return PlannedPass(name, next_index)
        return None if motion.next is None else PlannedPass(motion.next, is_linked=True)

    def _plan_leaving_pass(self, present_pass: PlannedPass) -> PlannedPass | None:
        """Return the pass after the present one when its motion is left for another request.

        An exit motion is played with all its repetitions; then its own exit follows, and after the last exit
        the requested motion. None to stand still.
        """
        motion = self._motions[present_pass.name]
        next_index = present_pass.pass_index + 1
        is_exit_motion = present_pass.name in self._exits_played
        if is_exit_motion and next_index < (motion.repeat or 1):
            return PlannedPass(present_pass.name, next_index)
        if motion.exit is not None and motion.exit not in self._exits_played:
            return PlannedPass(motion.exit, is_linked=True)
        return self._requested_first_pass()

    def _requested_first_pass(self) -> PlannedPass | None:
        """Return the first pass of the requested motion; None if standing still is requested."""
        return None if self._request is None else PlannedPass(self._request)

    def advance(self) -> PlannedPass | None:
        """Make the planned pass the present one and return it; None to stand still."""
        planned = self.plan_next_pass()
        if planned is not None and planned.is_linked and self.is_leaving:  # an exit motion
            self._exits_played |= {planned.name}
        elif planned is None or planned.pass_index == 0:
            # a new motion, or standing still: no motion is being left any more
            self._exits_played = frozenset()
            is_as_requested = planned is None or not planned.is_linked
            if is_as_requested:
                self._request_of_pass = self._request
        self.present_pass = planned
        return planned


STILL_FRAMES = 128
"""Frames of standing still that are prepared at a time."""


class Player:
    """Plays the requested motion; joints never jump between motions.

    * A pass that has begun is played to its end. Then the exit motion of its motion is played, if it has one;
      then the requested motion begins.
    * Without a new request a motion is repeated as often as it states, then its `next` follows. Without
      `next` the robot stays in the last pose with torque on, and `playing` is None.
    * A motion that has ended is played again only after another motion, or None, was requested.
    * A motion begins at its start pose, which the joints reach by a minimum-jerk trajectory. One without a
      start pose goes to its first keyframe in its own time where the servos can, else in as long as they
      need.

    Times are stored in fractions of a frame, so passes of any length stay on their own clock.

    Args:
        robot: the robot.
        motions: all motions by name, with those that their `next` and `exit` name.
        start_pose: joint angles at the start, `(n_joints,)` [rad].

    Raises:
        UnknownNameError: a motion's `next` or `exit` is not among the motions.
        InputError: a motion is for another robot.
    """

    def __init__(self, robot: Robot, motions: Mapping[str, Motion], start_pose: Floats) -> None:
        """Stand in the start pose.

        Commands are prepared in stretches: blocks of rows that are sent one after the other.
        """
        self._succession = Succession(motions)
        self._passes_by_motion = {name: Passes(motion, robot) for name, motion in motions.items()}
        self._max_speeds = robot.max_speeds
        self._frame_s = robot.frame_period_s
        self._command = np.array(start_pose, dtype=np.float64)
        self._motion_start = self._command  # the pose before the first pass of the present motion
        self._pass_end = self._command  # the pose at the end of the present pass
        self._phase = Fraction(0)  # time from the last frame to that end [frames]
        self._stretches: tuple[Stretch, ...] = ()  # to be sent, from row `_row` of the first one on
        self._row = 0
        self._free_joints: Flags | None = None  # those without torque in the last frames returned
        self._stand()

    @property
    def command(self) -> Floats:
        """The last pose commanded, `(n_joints,)` [rad]; read-only."""
        return self._command

    @property
    def playing(self) -> str | None:
        """The motion that is played or joined to; None while the robot stands still."""
        return None if self._succession.present_pass is None else self._succession.present_pass.name

    def request(self, name: str | None) -> None:
        """Request a motion, or None to stand still in the pose in which the present motion ends.

        Raises:
            UnknownNameError: there is no such motion.
        """
        self._succession.request(name)
        # a robot that stands begins at once; otherwise the present pass is played to its end first
        if self._succession.present_pass is None and self._succession.plan_next_pass() is not None:
            self._prepare_next_pass()

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the next frames; joints that were free continue from their actual positions."""
        if self._free_joints is not None:
            self.follow(state.positions, self._free_joints)
        rows = self.frames(n)
        self._free_joints = rows.free
        return rows

    def take_over(self, pose: Floats) -> None:
        """Stand in a pose that another controller has reached, `(n_joints,)` [rad]."""
        self._succession.request(None)
        while self._succession.present_pass is not None:
            self._succession.advance()
        self._command = np.array(pose, dtype=np.float64)
        self._free_joints = None
        self._phase = Fraction(0)
        self._stand()

    def follow(self, positions: Floats, free: Flags) -> None:
        """Continue from the positions of joints that were free.

        Args:
            positions: actual joint angles, `(n_joints,)` [rad].
            free: joints that were free in the last frame, `(n_joints,)`.
        """
        self._command = np.where(free, positions, self._command)
        if self.playing is None:
            self._stand()

    def frames(self, n: int) -> JointCommands:
        """Return the next frames, at least one and at most `n`; they end where a setting changes."""
        first_stretch = self._current_stretch()
        first_rows = self._pop_rows(n)
        parts = [first_rows]
        n_missing = n - len(first_rows)
        while n_missing and self._current_stretch().has_settings_of(first_stretch):
            further_rows = self._pop_rows(n_missing)
            parts.append(further_rows)
            n_missing -= len(further_rows)
        if self._are_all_rows_sent() and self._succession.plan_next_pass() is None:
            self._prepare_next_pass()  # so that `playing` is None as soon as the robot stands
        rows = first_rows if len(parts) == 1 else np.concatenate(parts)
        return JointCommands(rows, first_stretch.free, first_stretch.stiffness, lights=first_stretch.lights)

    def _pop_rows(self, n: int) -> Floats:
        """Return up to n rows of the current stretch, and advance by them."""
        rows = self._stretches[0].rows[self._row : self._row + n]
        self._row += len(rows)
        self._command = rows[-1]
        return rows

    def _are_all_rows_sent(self) -> bool:
        """Return whether all rows prepared have been sent."""
        return self._row == len(self._stretches[0]) and len(self._stretches) == 1

    def _current_stretch(self) -> Stretch:
        """Return the stretch of the next row, having prepared it where all rows were sent."""
        if self._are_all_rows_sent():
            self._prepare_next_pass()
        elif self._row == len(self._stretches[0]):
            self._stretches = self._stretches[1:]
            self._row = 0
        return self._stretches[0]

    def _prepare_next_pass(self) -> None:
        """Prepare another pass of the motion (its keyframes once), another motion, or standing still."""
        planned = self._succession.advance()
        if planned is None:
            self._stand()
        elif planned.pass_index > 0:
            passes = self._passes_by_motion[planned.name]
            self._prepare_pass(passes.sample(self._motion_start, planned.pass_index, self._phase))
        else:
            self._prepare_first_pass(planned)

    def _stand(self) -> None:
        """Prepare frames of standing still in the pose in which the present pass ends."""
        self._command = self._pose_at_end()
        self._phase = Fraction(0)
        self._prepare(Stretch(np.tile(self._command, (STILL_FRAMES, 1))))

    def _pose_at_end(self) -> Floats:
        """Return the pose at the end of the present pass, which may lie after its last frame."""
        if not self._phase:
            return self._command
        free = self._stretches[0].free
        return self._pass_end if free is None else np.where(free, self._command, self._pass_end)

    def _prepare_first_pass(self, planned: PlannedPass) -> None:
        """Prepare the first pass of a motion, after a movement to its start pose if it has one.

        A pass is the keyframes of the motion played once. `_prepare_pass` sends it after the stretches of
        `_join`, the movement from the last command to the start pose.

        Args:
            planned: the motion's name, and whether its predecessor's `next` or `exit` led here (`is_linked`)
                or a request did; that matters only without a start pose.
        """
        passes = self._passes_by_motion[planned.name]
        start = passes.starting_pose(self._command)
        if start is None:
            self._prepare_first_pass_from_here(passes, is_linked=planned.is_linked)
            return
        self._phase = Fraction(0)  # time from the last frame to the begin of this pass [frames]
        self._motion_start = start
        first_pass = passes.sample(start, pass_index=0, phase=self._phase)
        self._prepare_pass(first_pass, *self._join(start))

    def _prepare_first_pass_from_here(self, passes: Passes, *, is_linked: bool) -> None:
        """Prepare the first pass of a motion without a start pose.

        A linked motion may use the full speed of the servos, as its author intended; a requested one may
        begin in any pose. Where the servos are too slow, a join leads to the first keyframe.

        Args:
            passes: samples the passes of the motion, its keyframes played once each.
            is_linked: whether the `next` or `exit` of another motion led to this one.
        """
        if is_linked:
            self._motion_start = self._pose_at_end()
            share_of_speed = 1.0
        else:
            self._motion_start = self._command
            self._phase = Fraction(0)
            share_of_speed = SHARE_OF_SPEED
        first_pass = passes.sample(self._motion_start, pass_index=0, phase=self._phase)
        n_rows = int(passes.frames_to_first_keyframe) + 1
        approach = np.concatenate((self._command[np.newaxis], first_pass.rows[:n_rows]))
        max_change = share_of_speed * self._max_speeds * self._frame_s
        if (np.abs(np.diff(approach, axis=0)) <= max_change).all():
            self._prepare_pass(first_pass)
            return
        # a join to the first keyframe, then the pass as it goes on from there
        self._motion_start = passes.first_keyframe(self._motion_start)
        first_pass = passes.sample(self._motion_start, pass_index=0, phase=Fraction(0))
        self._phase = first_pass.phase
        self._pass_end = first_pass.end
        after_keyframe = first_pass.stretches_from(int(passes.frames_to_first_keyframe))
        self._prepare(*self._join(self._motion_start), *after_keyframe)

    def _join(self, pose: Floats) -> tuple[Stretch, ...]:
        """Return a join, the movement from the last command to a pose; empty where the poses are equal."""
        if not poses_differ(self._command, pose):
            return ()
        return (Stretch(join_frames(self._command, pose, self._max_speeds, frame_period_s=self._frame_s)),)

    def _prepare_pass(self, sampled_pass: Pass, *join: Stretch) -> None:
        """Make a pass the present one, after the frames of a join, if any."""
        self._phase = sampled_pass.phase
        self._pass_end = sampled_pass.end
        self._prepare(*join, *sampled_pass.stretches)

    def _prepare(self, *stretches: Stretch) -> None:
        """Set the stretches that are sent next, from the first row of the first one on."""
        self._stretches = stretches
        self._row = 0
