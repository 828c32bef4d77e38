"""A page player that counts in whole numbers: what a board does, in Python.

It follows the rules of `control.Player`, frame by frame: at the same frames motions begin, end and join. Its
positions are the player's to a fraction of a servo tick. `player.c` is the same arithmetic in C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.buses.dynamixel.packets import FULL_SPEED, GENTLE_SPEED
from posewright.codegen.behaviour.tables import HELD, ONE, TICK, Page, PageTables, Whole
from posewright.controllers.player import Succession
from posewright.motions import Easing

PLACES = 28  # binary places of a share
FAR = ONE >> 1


def times(a: int, b: int) -> int:
    """Return the product of two shares."""
    return a * b >> PLACES


def minimum_jerk(s: int) -> int:
    """Return how much of the way is gone after a share of its time."""
    cube = times(times(s, s), s)
    return times(cube, 10 * ONE - times(s, 15 * ONE - 6 * s))


HALF_TURN = (421657428, 173399667, 21392326, 1256749, 43068, 950)
"""pi/2 and its powers over the factorials of 1, 3, 5 to 11, in ONE: the series of the sine; the last makes
its end ONE."""


def smooth(u: int) -> int:
    """Return half a cosine: the square of the sine of a quarter turn's share."""
    square = times(u, u)
    series = HALF_TURN[-1]
    for term in HALF_TURN[-2::-1]:
        series = term - times(square, series)
    sine = times(u, series)
    return min(times(sine, sine), ONE)


def trapezoid(u: int, accel: int) -> int:
    """Return the way gone by one who speeds up for a share of the time, and brakes as long."""
    cruise = (ONE << PLACES) // (ONE - accel)
    if u < accel:
        return times(cruise, u * u // accel) // 2
    rest = ONE - u
    if rest < accel:
        return ONE - times(cruise, rest * rest // accel) // 2
    return times(cruise, u - accel // 2)


def eased(easing: Easing, u: int, accel: int) -> int:
    """Return how much of a way is gone after a share of its time."""
    if easing is Easing.SMOOTH:
        return smooth(u)
    return trapezoid(u, accel) if easing is Easing.TRAPEZOID else u


def between(begin: Whole, end: Whole, share: int) -> Whole:
    """Return the positions after a share of the way."""
    return (begin * ONE + (end - begin) * share + FAR) >> PLACES


@dataclass
class _Course:
    """One pass that is being played.

    Attributes:
        left: rows to come.
        local: when the last row was [parts of a frame].
        way: which keyframe is gone to; -1 before the first.
        begin: positions at the beginning of the way; before the first, of the pass.
        end: positions at its end.
    """

    page: Page
    left: int
    local: int
    begin: Whole
    end: Whole
    way: int = -1

    def row(self, parts: int) -> Whole:
        """Return the next row."""
        page = self.page
        self.left, self.local = self.left - 1, self.local + parts
        now = min(self.local, page.ends[-1])
        while self._is_behind(now):
            self._next_way()
        leaves = page.ends[self.way - 1] if self.way else 0
        reach = page.arrives[self.way] - leaves
        share = ONE if now >= page.arrives[self.way] or reach <= 0 else (now - leaves) * ONE // reach
        return between(self.begin, self.end, eased(page.easings[self.way], share, page.accel[self.way]))

    def arrival(self) -> Whole:
        """Return the positions at the very end of the pass."""
        while self.way + 1 < len(self.page.ends):
            self._next_way()
        return self.end

    def _is_behind(self, now: int) -> bool:
        """Return whether the way is over; at its very end a jump that begins there wins."""
        page, after = self.page, self.way + 1
        if self.way < 0 or after == len(page.ends):
            return self.way < 0
        jumps = page.arrives[after] <= page.ends[self.way]
        return now > page.ends[self.way] or (now == page.ends[self.way] and jumps)

    def _next_way(self) -> None:
        self.way += 1
        told = self.page.positions[self.way]
        self.begin, self.end = self.end, np.where(told == HELD, self.end, told)


class PagePlayer:
    """Plays motions by number, frame by frame.

    Attributes:
        tables: what it reads.
        speed: how fast servos are to go: gently until a motion has begun.
    """

    def __init__(self, tables: PageTables) -> None:
        self.tables = tables
        self.restart()

    def restart(self) -> None:
        """Stand in the start pose."""
        self._succession = Succession({name: page.motion for name, page in self.tables.pages.items()})
        self._command = self._sent = self.tables.start_pose
        self._course: _Course | None = None
        self._phase = 0  # how far the present pass ends after its last row [parts of a frame]
        self._join: tuple[Whole, Whole, int] = (self._command, self._command, 0)
        self._joined = 0
        self.speed = GENTLE_SPEED

    @property
    def playing(self) -> str | None:
        """The motion that is being played, or gone to; None while the robot stands still."""
        return None if self._succession.now is None else self._succession.now.name

    @property
    def ticks(self) -> tuple[int, ...]:
        """Where the servos were sent in the last frame."""
        return tuple(((self._sent + TICK // 2) >> 16).tolist())

    def request(self, name: str | None) -> None:
        """Ask for a motion, or with None for standing still where the present one ends."""
        self._succession.request(name)
        if self._succession.now is None and self._succession.next_pass() is not None:
            self._go_on()

    def frame(self) -> None:
        """Go on by one frame."""
        if self._is_over:
            self._go_on()
        begin, end, n = self._join
        if self._joined < n:
            self._joined += 1
            self._command = between(begin, end, minimum_jerk((self._joined << PLACES) // n))
        elif self._course is not None:
            self._command = self._course.row(self.tables.parts)
        self._sent = self._command  # the pass may end a little after its last frame
        if self._is_over and self._succession.next_pass() is None:
            self._go_on()

    @property
    def _is_over(self) -> bool:
        return self._course is not None and not self._course.left and self._joined == self._join[2]

    def _go_on(self) -> None:
        turn = self._succession.advance()
        if turn is None:
            self._command, self._course, self._phase = self._arrived(), None, 0
            return
        self.speed = FULL_SPEED
        page = self.tables.pages[turn.name]
        if turn.lap:
            self._play(page, self._arrival())
        elif page.start is not None:
            self._phase = 0
            self._join_to(np.where(page.start == HELD, self._command, page.start))
            self._play(page, self._join[1])
        else:
            self._begin_anywhere(page, linked=turn.linked)

    def _arrival(self) -> Whole:
        return self._command if self._course is None else self._course.arrival()

    def _arrived(self) -> Whole:
        """Return where the present pass ends; its last frame may have come a little before that."""
        return self._arrival() if self._phase else self._command

    def _begin_anywhere(self, page: Page, *, linked: bool) -> None:
        """Begin a motion that does not say from where: in its own time where the servos can."""
        now = self._arrived() if linked else self._command
        self._phase = self._phase if linked else 0
        if self._can_follow(page, now, self.tables.steps[0 if linked else 1]):
            self._play(page, now)
            return
        first = page.positions[0]
        self._phase = 0
        self._join_to(np.where(first == HELD, now, first))
        self._play(page, self._join[1], skipped=page.first_way)

    def _can_follow(self, page: Page, now: Whole, steps: Whole) -> bool:
        """Return whether no joint is asked for more than its step, up to the first keyframe."""
        course, before = self._made(page, now), self._command
        for _ in range(min(page.first_way + 1, course.left)):
            row = course.row(self.tables.parts)
            if (np.abs(row - before) > steps).any():
                return False
            before = row
        return True

    def _join_to(self, pose: Whole) -> None:
        """Prepare the way from the present command to a pose; none where they are one."""
        way = np.abs(pose - self._command)
        n = 0
        if (way > self.tables.touching).any():
            frame = TICK * ONE
            exact = int((way * self.tables.join_frames).max())
            n = max(self.tables.shortest_join, (exact + frame - 1 - frame // 10**9) // frame)
        self._join, self._joined = (self._command, pose, n), 0

    def _made(self, page: Page, now: Whole) -> _Course:
        rows = (page.length + self._phase) // self.tables.parts
        return _Course(page, rows, -self._phase, now, now)

    def _play(self, page: Page, now: Whole, skipped: int = 0) -> None:
        self._course = course = self._made(page, now)
        self._phase = (page.length + self._phase) % self.tables.parts
        course.left = max(0, course.left - skipped)
        course.local += skipped * self.tables.parts
