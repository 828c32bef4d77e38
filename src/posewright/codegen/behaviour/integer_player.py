"""A player of motions in integer arithmetic: the Python counterpart of `player.c` on a board.

It follows the rules of `controllers.Player`: motions begin, end and join at the same frames. Its positions
are the player's to a fraction of a servo tick.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    """Return the progress of a minimum-jerk trajectory after a fraction of its time."""
    cube = multiply(multiply(s, s), s)
    return multiply(cube, 10 * ONE - multiply(s, 15 * ONE - 6 * s))


HALF_TURN = (421657428, 173399667, 21392326, 1256749, 43068, 950)
"""Coefficients of the sine of a quarter turn: pi/2 and its powers over the factorials of 1, 3, 5 to 11, in
ONE. The last one is adjusted so that the sine of a full quarter turn is ONE."""


def smooth(u: int) -> int:
    """Return the progress of a half-cosine trajectory: the squared sine of a fraction of a quarter turn."""
    square = multiply(u, u)
    series = HALF_TURN[-1]
    for term in HALF_TURN[-2::-1]:
        series = term - multiply(square, series)
    sine = multiply(u, series)
    return min(multiply(sine, sine), ONE)


def trapezoid(u: int, accel: int) -> int:
    """Return the progress at constant acceleration for a fraction of the time, and deceleration as long."""
    cruise = (ONE << FRACTION_BITS) // (ONE - accel)
    if u < accel:
        return multiply(cruise, u * u // accel) // 2
    remaining = ONE - u
    if remaining < accel:
        return ONE - multiply(cruise, remaining * remaining // accel) // 2
    return multiply(cruise, u - accel // 2)


def ease(easing: Easing, u: int, accel: int) -> int:
    """Return the progress of a trajectory after a fraction of its time."""
    if easing is Easing.SMOOTH:
        return smooth(u)
    return trapezoid(u, accel) if easing is Easing.TRAPEZOID else u


def interpolate(begin: Integers, end: Integers, progress: int) -> Integers:
    """Return the positions after a fraction of the distance."""
    return (begin * ONE + (end - begin) * progress + HALF) >> FRACTION_BITS


@dataclass
class _RunningPass:
    """A pass that is being played.

    Attributes:
        page: its motion.
        rows_left: number of rows still to come.
        time: of the last row [parts of a frame].
        begin: positions at the begin of the present segment; before the first one, of the pass.
        end: positions at the end of the segment.
        segment: index of the keyframe that the segment leads to; -1 before the first.
    """

    page: Page
    rows_left: int
    time: int
    begin: Integers
    end: Integers
    segment: int = -1

    def next_row(self, parts: int) -> Integers:
        """Return the next row, `parts` of a frame after the last."""
        page = self.page
        self.rows_left -= 1
        self.time += parts
        now = min(self.time, page.ends[-1])
        while self._segment_is_over(now):
            self._next_segment()
        start = page.ends[self.segment - 1] if self.segment else 0
        duration = page.arrives[self.segment] - start
        has_arrived = now >= page.arrives[self.segment] or duration <= 0
        fraction = ONE if has_arrived else (now - start) * ONE // duration
        progress = ease(page.easings[self.segment], fraction, page.accel[self.segment])
        return interpolate(self.begin, self.end, progress)

    def final_positions(self) -> Integers:
        """Return the positions at the end of the pass."""
        while self.segment + 1 < len(self.page.ends):
            self._next_segment()
        return self.end

    def _segment_is_over(self, now: int) -> bool:
        """Return whether the segment is over; at its end, a jump of the next segment wins."""
        page = self.page
        next_segment = self.segment + 1
        if self.segment < 0 or next_segment == len(page.ends):
            return self.segment < 0
        jumps = page.arrives[next_segment] <= page.ends[self.segment]
        return now > page.ends[self.segment] or (now == page.ends[self.segment] and jumps)

    def _next_segment(self) -> None:
        self.segment += 1
        positions = self.page.positions[self.segment]
        self.begin = self.end
        self.end = np.where(positions == UNCHANGED, self.end, positions)


class PagePlayer:
    """Plays motions by name, frame by frame, in integer arithmetic.

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
        """Stand in the start pose."""
        self._succession = Succession({name: page.motion for name, page in self.tables.pages.items()})
        self._command = self.tables.start_pose
        self._last_frame = self.tables.start_pose
        self._pass: _RunningPass | None = None
        self._phase = 0  # time from the last row to the end of the present pass [parts of a frame]
        self._join: tuple[Integers, Integers, int] = (self._command, self._command, 0)
        self._join_frame = 0
        self.speed = GENTLE_SPEED

    @property
    def playing(self) -> str | None:
        """The motion that is played or joined to; None while the robot stands still."""
        return None if self._succession.now is None else self._succession.now.name

    @property
    def ticks(self) -> tuple[int, ...]:
        """Goal positions of the servos in the last frame [servo ticks]."""
        return tuple(((self._last_frame + TICK // 2) >> 16).tolist())

    def request(self, name: str | None) -> None:
        """Request a motion, or None to stand still where the present one ends."""
        self._succession.request(name)
        if self._succession.now is None and self._succession.next_pass() is not None:
            self._begin_next_pass()

    def frame(self) -> None:
        """Advance by one frame."""
        if self._is_over:
            self._begin_next_pass()
        begin, end, n = self._join
        if self._join_frame < n:
            self._join_frame += 1
            progress = minimum_jerk((self._join_frame << FRACTION_BITS) // n)
            self._command = interpolate(begin, end, progress)
        elif self._pass is not None:
            self._command = self._pass.next_row(self.tables.parts)
        self._last_frame = self._command  # the pass may end a little after its last frame
        if self._is_over and self._succession.next_pass() is None:
            self._begin_next_pass()

    @property
    def _is_over(self) -> bool:
        """Whether all rows of the present pass and of the join before it have been played."""
        return self._pass is not None and not self._pass.rows_left and self._join_frame == self._join[2]

    def _begin_next_pass(self) -> None:
        """Begin the next planned pass, with a join to its start pose; stand still if none is left."""
        planned = self._succession.advance()
        if planned is None:
            self._command = self._pose_at_end()
            self._pass = None
            self._phase = 0
            return
        self.speed = FULL_SPEED
        page = self.tables.pages[planned.name]
        if planned.pass_index:
            self._begin_pass(page, self._final_positions())
        elif page.start is not None:
            self._phase = 0
            self._begin_join(np.where(page.start == UNCHANGED, self._command, page.start))
            self._begin_pass(page, self._join[1])
        else:
            self._begin_first_pass_from_here(page, linked=planned.is_linked)

    def _final_positions(self) -> Integers:
        return self._command if self._pass is None else self._pass.final_positions()

    def _pose_at_end(self) -> Integers:
        """Return the pose at the end of the present pass, which may lie after its last frame."""
        return self._final_positions() if self._phase else self._command

    def _begin_first_pass_from_here(self, page: Page, *, linked: bool) -> None:
        """Begin a motion without a start pose, in its own time where the servos can, else by a join."""
        pose = self._pose_at_end() if linked else self._command
        self._phase = self._phase if linked else 0
        if self._servos_can_follow(page, pose, self.tables.steps[0 if linked else 1]):
            self._begin_pass(page, pose)
            return
        first = page.positions[0]
        self._phase = 0
        self._begin_join(np.where(first == UNCHANGED, pose, first))
        self._begin_pass(page, self._join[1], skipped=page.frames_to_first_keyframe)

    def _servos_can_follow(self, page: Page, pose: Integers, steps: Integers) -> bool:
        """Return whether no joint exceeds its step up to the first keyframe."""
        trial_pass = self._new_pass(page, pose)
        previous = self._command
        for _ in range(min(page.frames_to_first_keyframe + 1, trial_pass.rows_left)):
            row = trial_pass.next_row(self.tables.parts)
            if (np.abs(row - previous) > steps).any():
                return False
            previous = row
        return True

    def _begin_join(self, pose: Integers) -> None:
        """Begin a join from the present command to a pose, of no frames where they are equal."""
        distances = np.abs(pose - self._command)
        n = 0
        if (distances > self.tables.touching).any():
            frame = TICK * ONE
            duration = int((distances * self.tables.join_frames).max())
            n = max(self.tables.shortest_join, (duration + frame - 1 - frame // 10**9) // frame)
        self._join = (self._command, pose, n)
        self._join_frame = 0

    def _new_pass(self, page: Page, pose: Integers) -> _RunningPass:
        rows = (page.length + self._phase) // self.tables.parts
        return _RunningPass(page, rows_left=rows, time=-self._phase, begin=pose, end=pose)

    def _begin_pass(self, page: Page, pose: Integers, skipped: int = 0) -> None:
        """Begin a pass in a pose, without some rows at its begin."""
        running_pass = self._new_pass(page, pose)
        running_pass.rows_left = max(0, running_pass.rows_left - skipped)
        running_pass.time += skipped * self.tables.parts
        self._pass = running_pass
        self._phase = (page.length + self._phase) % self.tables.parts
