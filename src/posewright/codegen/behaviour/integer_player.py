"""A player of motions in integer arithmetic: the Python counterpart of `player.c` on a board.

It follows the rules of `controllers.Player`: motions begin, end and join at the same frames. Its positions
are the player's to a fraction of a servo tick. A pass is one repetition of a motion; a join is a movement to
where a motion starts. A row has the positions of one frame. Times are counted in parts of a frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posewright.buses.dynamixel.packets import FULL_SPEED, GENTLE_SPEED
from posewright.codegen.behaviour.tables import ONE, TICK, UNCHANGED, Integers, Page, PageTables
from posewright.controllers.player import Succession
from posewright.motions import Easing

FRACTION_BITS = 28
"""Binary places of a fraction."""

HALF = ONE >> 1


def multiply(a: int, b: int) -> int:
    """Return the product of two fractions."""
    return a * b >> FRACTION_BITS


def minimum_jerk(s: int) -> int:
    """Return the progress of a minimum-jerk trajectory after a fraction s of its time.

    It is 10 s^3 - 15 s^4 + 6 s^5.
    """
    cube = multiply(multiply(s, s), s)
    return multiply(cube, 10 * ONE - multiply(s, 15 * ONE - 6 * s))


QUARTER_SINE_COEFFICIENTS = (421657428, 173399667, 21392326, 1256749, 43068, 950)
"""Coefficients of the sine of a quarter turn: pi/2 and its powers over the factorials of 1, 3, 5 to 11, in
ONE. The last one is adjusted so that the sine of a full quarter turn is ONE."""


def smooth(time_fraction: int) -> int:
    """Return the progress of a half-cosine trajectory: the squared sine of a fraction of a quarter turn."""
    square = multiply(time_fraction, time_fraction)
    *lower_coefficients, series = QUARTER_SINE_COEFFICIENTS
    for coefficient in reversed(lower_coefficients):  # Horner's scheme
        series = coefficient - multiply(square, series)
    sine = multiply(time_fraction, series)
    return min(multiply(sine, sine), ONE)


def trapezoid(time_fraction: int, accel_fraction: int) -> int:
    """Return the progress of a movement that accelerates, cruises, and decelerates as long as it accelerated.

    Args:
        time_fraction: the time so far, as a fraction of the movement's.
        accel_fraction: the time for which it accelerates, as a fraction of the movement's.
    """
    cruise_speed = (ONE << FRACTION_BITS) // (ONE - accel_fraction)
    if time_fraction < accel_fraction:
        return multiply(cruise_speed, time_fraction * time_fraction // accel_fraction) // 2
    time_left = ONE - time_fraction
    if time_left < accel_fraction:
        return ONE - multiply(cruise_speed, time_left * time_left // accel_fraction) // 2
    return multiply(cruise_speed, time_fraction - accel_fraction // 2)


def ease(easing: Easing, time_fraction: int, accel_fraction: int) -> int:
    """Return the progress of a trajectory after a fraction of its time; see `trapezoid`."""
    if easing is Easing.SMOOTH:
        return smooth(time_fraction)
    return trapezoid(time_fraction, accel_fraction) if easing is Easing.TRAPEZOID else time_fraction


def interpolate(begin: Integers, end: Integers, progress: int) -> Integers:
    """Return the positions after a fraction of the distance."""
    return (begin * ONE + (end - begin) * progress + HALF) >> FRACTION_BITS


@dataclass
class _RunningPass:
    """A pass that is being played: one repetition of a motion.

    A segment is the way into a keyframe, with the pause after it.

    Attributes:
        page: its motion.
        n_rows_left: number of rows still to come.
        time: the time of the last row, from the begin of the pass [parts of a frame].
        start_positions: those at the begin of the present segment; before the first one, of the pass.
        end_positions: those at the end of the segment.
        segment_index: index of the keyframe that the segment leads to; -1 before the first.
    """

    page: Page
    n_rows_left: int
    time: int
    start_positions: Integers
    end_positions: Integers
    segment_index: int = -1

    def next_positions(self, elapsed_parts: int) -> Integers:
        """Return the positions at the next row, `(n_joints,)` [TICK].

        Args:
            elapsed_parts: the time since the last row [parts of a frame].
        """
        page = self.page
        self.n_rows_left -= 1
        self.time += elapsed_parts
        now = min(self.time, page.end_times[-1])  # the last row may lie a little beyond the end
        while self._is_segment_over(now):
            self._begin_next_segment()
        segment_start = page.end_times[self.segment_index - 1] if self.segment_index else 0
        arrival = page.arrival_times[self.segment_index]
        duration = arrival - segment_start
        has_arrived = now >= arrival or duration <= 0
        time_fraction = ONE if has_arrived else (now - segment_start) * ONE // duration
        progress = ease(
            page.easings[self.segment_index], time_fraction, page.accel_fractions[self.segment_index]
        )
        return interpolate(self.start_positions, self.end_positions, progress)

    def final_positions(self) -> Integers:
        """Return the positions at the end of the pass, which is then in its last segment."""
        while self.segment_index + 1 < len(self.page.end_times):
            self._begin_next_segment()
        return self.end_positions

    def _is_segment_over(self, now: int) -> bool:
        """Return whether the present segment is over at a time [parts of a frame].

        At the very end of a segment it is over only if the next one is a jump, which takes no time. The last
        segment is never over.
        """
        page = self.page
        if self.segment_index < 0:  # none has begun
            return True
        next_segment = self.segment_index + 1
        if next_segment == len(page.end_times):
            return False
        segment_end = page.end_times[self.segment_index]
        is_jump_next = page.arrival_times[next_segment] <= segment_end
        return now > segment_end or (now == segment_end and is_jump_next)

    def _begin_next_segment(self) -> None:
        """Go on to the next keyframe; joints that it leaves UNCHANGED keep their position."""
        self.segment_index += 1
        positions = self.page.positions[self.segment_index]
        self.start_positions = self.end_positions
        self.end_positions = np.where(positions == UNCHANGED, self.end_positions, positions)


class _Join(NamedTuple):
    """A movement from the robot's positions to the start of a motion, before its first pass.

    Attributes:
        start_positions: where it begins, `(n_joints,)` [TICK].
        end_positions: where it ends, `(n_joints,)` [TICK].
        n_frames: its duration in frames; 0 where no join is needed.
    """

    start_positions: Integers
    end_positions: Integers
    n_frames: int


class PagePlayer:
    """Plays motions by name, frame by frame, in integer arithmetic.

    A motion is played as a join to its start pose, where one is needed, and one or more passes.

    Args:
        tables: the motions.

    Attributes:
        tables: the motions.
        speed: speed of the servos: low until a motion has begun.
    """

    def __init__(self, tables: PageTables) -> None:
        self.tables = tables
        self.restart()

    def restart(self) -> None:
        """Return to the start pose, with no motion playing or requested."""
        # which motion, and which pass of it, follows the present one
        self._succession = Succession({name: page.motion for name, page in self.tables.pages.items()})
        self._command_positions = self.tables.start_pose  # the positions of the present frame
        self._sent_positions = self.tables.start_pose  # the positions sent to the servos
        self._running_pass: _RunningPass | None = None  # None while the robot stands still
        # time from the last row to the end of the present pass [parts of a frame]
        self._parts_after_last_row = 0
        self._join = _Join(self._command_positions, self._command_positions, n_frames=0)
        self._n_join_frames_played = 0
        self.speed = GENTLE_SPEED

    @property
    def playing(self) -> str | None:
        """The motion that is played or joined to; None while the robot stands still."""
        return None if self._succession.present_pass is None else self._succession.present_pass.name

    @property
    def ticks(self) -> tuple[int, ...]:
        """Goal positions of the servos in the last frame [servo ticks]."""
        return tuple(((self._sent_positions + TICK // 2) >> 16).tolist())

    def request(self, name: str | None) -> None:
        """Request a motion, or None to stand still where the present one ends."""
        self._succession.request(name)
        if self._succession.present_pass is None and self._succession.plan_next_pass() is not None:
            self._begin_next_pass()

    def interrupt(self) -> None:
        """Stand where the last frame was, in the middle of a motion, with none requested."""
        # which motion, and which pass of it, follows the present one
        self._succession = Succession({name: page.motion for name, page in self.tables.pages.items()})
        self._running_pass = None
        self._parts_after_last_row = 0
        self._join = _Join(self._command_positions, self._command_positions, n_frames=0)
        self._n_join_frames_played = 0

    @property
    def is_joining(self) -> bool:
        """Whether the join that began last is not over."""
        return self._n_join_frames_played < self._join.n_frames

    def join(self, positions: Integers) -> None:
        """Begin a join to positions `(n_joints,)` [TICK] in which a gait begins; no motion may be playing."""
        self.speed = FULL_SPEED
        self._begin_join(positions)

    def put(self, positions: Integers) -> None:
        """Send positions `(n_joints,)` [TICK] of a gait in this frame; no motion may be playing."""
        self._command_positions = positions
        self._sent_positions = positions

    def advance_frame(self) -> None:
        """Advance by one frame, and compute the positions that are sent to the servos in it."""
        if self._is_pass_over:
            self._begin_next_pass()
        join = self._join
        if self._n_join_frames_played < join.n_frames:
            self._n_join_frames_played += 1
            progress = minimum_jerk((self._n_join_frames_played << FRACTION_BITS) // join.n_frames)
            self._command_positions = interpolate(join.start_positions, join.end_positions, progress)
        elif self._running_pass is not None:
            self._command_positions = self._running_pass.next_positions(self.tables.parts_per_frame)
        self._sent_positions = self._command_positions  # the pass may end a little after its last frame
        if self._is_pass_over and self._succession.plan_next_pass() is None:
            self._begin_next_pass()

    @property
    def _is_pass_over(self) -> bool:
        """Whether all rows of the present pass and of the join before it have been played."""
        if self._running_pass is None:
            return False
        is_join_over = self._n_join_frames_played == self._join.n_frames
        return not self._running_pass.n_rows_left and is_join_over

    def _begin_next_pass(self) -> None:
        """Begin the next planned pass, with a join to its start pose; stand still if none is left.

        A repeated pass begins where the last one ended, a motion without a start pose in the present pose if
        the servos can follow.
        """
        planned = self._succession.advance()
        if planned is None:
            self._command_positions = self._pose_at_end()
            self._running_pass = None
            self._parts_after_last_row = 0
            return
        self.speed = FULL_SPEED
        page = self.tables.pages[planned.name]
        if planned.pass_index:
            self._begin_pass(page, self._final_positions())
        elif page.start_positions is not None:
            self._parts_after_last_row = 0
            self._begin_join(
                np.where(page.start_positions == UNCHANGED, self._command_positions, page.start_positions)
            )
            self._begin_pass(page, self._join.end_positions)
        else:
            self._begin_first_pass_from_here(page, is_linked=planned.is_linked)

    def _final_positions(self) -> Integers:
        """Return the positions at the end of the present pass; without one, the command."""
        return self._command_positions if self._running_pass is None else self._running_pass.final_positions()

    def _pose_at_end(self) -> Integers:
        """Return the pose at the end of the present pass, which may lie after its last frame."""
        return self._final_positions() if self._parts_after_last_row else self._command_positions

    def _begin_first_pass_from_here(self, page: Page, *, is_linked: bool) -> None:
        """Begin a motion that has no start pose.

        If the servos can follow, it is played at once. Else the robot first moves to the first keyframe (by a
        join), and the frames of the motion up to that keyframe are left out.

        Args:
            page: the motion.
            is_linked: whether it follows the present motion without a gap, as the `next` of it.
        """
        if is_linked:
            pose = self._pose_at_end()
            max_steps = self.tables.max_steps.no_load
        else:
            pose = self._command_positions
            max_steps = self.tables.max_steps.loaded
            self._parts_after_last_row = 0
        if self._servos_can_follow(page, pose, max_steps):
            self._begin_pass(page, pose)
            return
        first_positions = page.positions[0]
        self._parts_after_last_row = 0
        self._begin_join(np.where(first_positions == UNCHANGED, pose, first_positions))
        self._begin_pass(page, self._join.end_positions, n_skipped_rows=page.frames_to_first_keyframe)

    def _servos_can_follow(self, page: Page, pose: Integers, max_steps: Integers) -> bool:
        """Return whether every joint can move fast enough in each frame up to the first keyframe.

        It computes the commands of a pass through the motion (one playing of it) without sending them.

        Args:
            page: the motion.
            pose: the positions in which its pass would begin.
            max_steps: greatest distance of each joint in a frame, `(n_joints,)` [TICK].
        """
        trial_pass = self._new_pass(page, pose)
        previous_positions = self._command_positions
        n_frames = page.frames_to_first_keyframe + 1  # with the frame in which the keyframe is passed
        for _ in range(min(n_frames, trial_pass.n_rows_left)):
            positions = trial_pass.next_positions(self.tables.parts_per_frame)
            if (np.abs(positions - previous_positions) > max_steps).any():
                return False
            previous_positions = positions
        return True

    def _begin_join(self, pose: Integers) -> None:
        """Begin a join from the present positions to a pose, of no frames where they are equal."""
        distances = np.abs(pose - self._command_positions)
        n_frames = 0
        if (distances > self.tables.equality_distance).any():
            # distances are in units of 1 / TICK of a servo tick, the frames per tick in units of 1 / ONE
            scaled_frame = TICK * ONE
            scaled_duration = int((distances * self.tables.join_frames_per_tick).max())
            rounding_error = scaled_frame // 10**9
            # rounded up, but not because of a rounding error
            n_started_frames = (scaled_duration + scaled_frame - 1 - rounding_error) // scaled_frame
            n_frames = max(self.tables.min_join_frames, n_started_frames)
        self._join = _Join(self._command_positions, pose, n_frames)
        self._n_join_frames_played = 0

    def _new_pass(self, page: Page, pose: Integers) -> _RunningPass:
        """Return a pass (one repetition of a motion) that begins in a pose.

        The last pass may have ended some parts of a frame before the present frame: `_parts_after_last_row`.
        The new one begins at that time, so its own time at the present frame is negative.
        """
        n_rows = (page.duration + self._parts_after_last_row) // self.tables.parts_per_frame
        return _RunningPass(
            page,
            n_rows_left=n_rows,
            time=-self._parts_after_last_row,
            start_positions=pose,
            end_positions=pose,
        )

    def _begin_pass(self, page: Page, pose: Integers, n_skipped_rows: int = 0) -> None:
        """Begin a pass in a pose, without the first `n_skipped_rows` rows."""
        running_pass = self._new_pass(page, pose)
        running_pass.n_rows_left = max(0, running_pass.n_rows_left - n_skipped_rows)
        running_pass.time += n_skipped_rows * self.tables.parts_per_frame
        self._running_pass = running_pass
        exact_duration = page.duration + self._parts_after_last_row
        self._parts_after_last_row = exact_duration % self.tables.parts_per_frame
