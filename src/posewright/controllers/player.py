"""The player: a controller that plays motions by name, one after the other and never with a jump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import BodyState, JointCommands
from posewright.controllers.passes import SHARE_OF_SPEED, Pass, Passes, Stretch, apart, join_frames
from posewright.errors import UnknownNameError
from posewright.motions import Motion
from posewright.robots import Robot


@dataclass(frozen=True, slots=True)
class Turn:
    """One pass of one motion.

    Attributes:
        lap: which of its passes, counted from 0.
        linked: whether the page before led here, rather than a request.
    """

    name: str
    lap: int = 0
    linked: bool = False


class Succession:
    """What is played, pass by pass.

    A motion that is left goes through its `exit` motion, that through its own, and so on, no motion
    twice; then what is asked for begins. (ROBOTIS' action module stops a page in the same way.)
    """

    def __init__(self, motions: Mapping[str, Motion]) -> None:
        self._motions = dict(motions)
        self._asked: str | None = None
        self._served: str | None = None  # the request that the present turn belongs to
        self._left_through: frozenset[str] = frozenset()  # exits played since something else was asked for
        self.now: Turn | None = None
        for name, motion in motions.items():
            for link in (motion.next, motion.exit):
                if link is not None and link not in motions:
                    raise UnknownNameError.among(f"motion that {name!r} leads to", link, motions)

    def request(self, name: str | None) -> None:
        """Ask for a motion, or for none."""
        if name is not None and name not in self._motions:
            raise UnknownNameError.among("motion", name, self._motions)
        self._asked = name
        if self.now is None and name is None:
            self._served = None  # nothing to leave: the next request counts as new

    @property
    def is_left(self) -> bool:
        """Whether something else was asked for than what is played."""
        return self._asked != self._served or bool(self._left_through)

    def following(self) -> Turn | None:
        """Return the turn after the present one, as things stand now; None for standing still."""
        now = self.now
        if now is None:
            return Turn(self._asked) if self._asked is not None and self.is_left else None
        motion = self._motions[now.name]
        if self.is_left:
            if now.name in self._left_through and now.lap + 1 < (motion.repeat or 1):
                return Turn(now.name, now.lap + 1)
            if motion.exit is not None and motion.exit not in self._left_through:
                return Turn(motion.exit, linked=True)
            return None if self._asked is None else Turn(self._asked)
        if motion.repeat is None or now.lap + 1 < motion.repeat:
            return Turn(now.name, now.lap + 1)
        return None if motion.next is None else Turn(motion.next, linked=True)

    def advance(self) -> Turn | None:
        """Go on to the following turn and return it; None for standing still."""
        turn = self.following()
        if turn is not None and turn.linked and self.is_left:
            self._left_through |= {turn.name}
        elif turn is None or not turn.lap:
            self._left_through = frozenset()
            if turn is None or not turn.linked:
                self._served = self._asked
        self.now = turn
        return turn


STILL_FRAMES = 128
"""Standing still is prepared for so many frames at a time."""


class Player:
    """Plays the motion last asked for, one after the other and never with a jump.

    * A pass that has begun is played to its end. Where its motion has an exit motion, that is played
      next; then the motion asked for begins.
    * Without a new request a motion is repeated as often as it says, then its `next` follows. Without
      `next` the robot stays in the last pose with torque on, and nothing is playing.
    * A request that stays is one request: a motion that is over is played again only after something
      else, or None, was asked for.
    * A motion is begun from its starting pose, to which the joints go without a jerk. One that has none
      goes to its first keyframe in its own time where the servos can, else in as long as they need.

    Times are kept in fractions of a frame: passes of any length stay on their own clock.
    """

    def __init__(self, robot: Robot, motions: Mapping[str, Motion], start_pose: Floats) -> None:
        """Prepare to play.

        Args:
            robot: whose joints the motions move.
            motions: what may be asked for, by name; their `next` and `exit` name others of them.
            start_pose: where the joints are, `(n_joints,)` [rad].

        Raises:
            UnknownNameError: a motion's `next` or `exit` is not among the motions.
            InputError: a motion is made for another robot.
        """
        self._succession = Succession(motions)
        self._passes = {name: Passes(motion, robot) for name, motion in motions.items()}
        self._max_speeds = robot.max_speeds
        self._frame_s = robot.frame_period_s
        self._command = np.array(start_pose, dtype=np.float64)
        self._base = self._command  # the pose the present motion was started from
        self._end = self._command
        self._phase = Fraction(0)
        self._stretches: tuple[Stretch, ...] = ()  # what is to be sent; the first is begun
        self._row = 0  # of the first stretch
        self._free: Flags | None = None  # joints without torque in the frames handed out last
        self._stand()

    @property
    def command(self) -> Floats:
        """The pose sent last, `(n_joints,)` [rad]; not to be written to."""
        return self._command

    @property
    def playing(self) -> str | None:
        """The motion that is being played, or gone to; None while the robot stands still."""
        return None if self._succession.now is None else self._succession.now.name

    def request(self, name: str | None) -> None:
        """Ask for a motion, or with None for standing still in the pose the present motion ends in.

        Raises:
            UnknownNameError: there is no such motion.
        """
        self._succession.request(name)
        if self._succession.now is None and self._succession.following() is not None:
            self._go_on()

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the next frames; what had no torque goes on from where it really is."""
        if self._free is not None:
            self.follow(state.positions, self._free)
        rows = self.frames(n)
        self._free = rows.free
        return rows

    def take_over(self, pose: Floats) -> None:
        """Stand in a pose to which somebody else has brought the joints, `(n_joints,)` [rad]."""
        self._succession.request(None)
        while self._succession.now is not None:
            self._succession.advance()
        self._command, self._free = np.array(pose, dtype=np.float64), None
        self._phase = Fraction(0)
        self._stand()

    def follow(self, positions: Floats, free: Flags) -> None:
        """Go on from the positions [rad] of joints that were free in the last frame, `(n_joints,)` both."""
        self._command = np.where(free, positions, self._command)
        if self.playing is None:
            self._stand()

    def frames(self, n: int) -> JointCommands:
        """Return the next frames, at most `n` and at least one; they end where a setting changes."""
        first = self._current()
        rows = self._take(n)
        if len(rows) < n:
            rows = self._take_on(rows, n, first)
        if self._is_over() and self._succession.following() is None:
            self._go_on()
        return JointCommands(rows, first.free, first.stiffness, lights=first.lights)

    def _take(self, n: int) -> Floats:
        rows = self._stretches[0].rows[self._row : self._row + n]
        self._row += len(rows)
        self._command = rows[-1]
        return rows

    def _take_on(self, rows: Floats, n: int, first: Stretch) -> Floats:
        """Return `rows` and what follows them, up to `n`."""
        parts, missing = [rows], n - len(rows)
        while missing and self._current().drives_like(first):
            parts.append(self._take(missing))
            missing -= len(parts[-1])
        return np.concatenate(parts)

    def _is_over(self) -> bool:
        """Return whether all rows prepared have been sent."""
        return self._row == len(self._stretches[0]) and len(self._stretches) == 1

    def _current(self) -> Stretch:
        """Return the stretch that has the next row."""
        if self._is_over():
            self._go_on()
        elif self._row == len(self._stretches[0]):
            self._stretches, self._row = self._stretches[1:], 0
        return self._stretches[0]

    def _go_on(self) -> None:
        """Prepare what follows: a further pass, another motion, or standing still."""
        turn = self._succession.advance()
        if turn is None:
            self._stand()
        elif turn.lap:
            self._play(self._passes[turn.name].get(self._base, turn.lap, self._phase))
        else:
            self._begin(turn)

    def _stand(self) -> None:
        self._command = self._arrived()
        self._phase = Fraction(0)
        self._prepare(Stretch(np.tile(self._command, (STILL_FRAMES, 1))))

    def _arrived(self) -> Floats:
        """Return where the present pass ends; its last frame may have come a little before that."""
        if not self._phase:
            return self._command
        free = self._stretches[0].free
        return self._end if free is None else np.where(free, self._command, self._end)

    def _begin(self, turn: Turn) -> None:
        passes = self._passes[turn.name]
        start = passes.starting_pose(self._command)
        if start is not None:
            self._phase, self._base = Fraction(0), start
            self._play(passes.get(start, 0, self._phase), *self._join(start))
        else:
            self._begin_anywhere(passes, linked=turn.linked)

    def _begin_anywhere(self, passes: Passes, *, linked: bool) -> None:
        """Begin a motion that does not say from where.

        The page before leads here at the speed its maker meant; a request may come in any pose.
        """
        self._base = now = self._arrived() if linked else self._command
        self._phase = self._phase if linked else Fraction(0)
        share = 1.0 if linked else SHARE_OF_SPEED
        whole = passes.get(now, 0, self._phase)
        way = np.concatenate((self._command[np.newaxis], whole.rows[: int(passes.first_way) + 1]))
        if (np.abs(np.diff(way, axis=0)) <= share * self._max_speeds * self._frame_s).all():
            self._play(whole)
            return
        self._base = passes.first_keyframe(now)
        self._phase = Fraction(0)
        rest = passes.get(self._base, 0, self._phase)
        self._phase, self._end = rest.phase, rest.end
        self._prepare(*self._join(self._base), *rest.without(int(passes.first_way)))

    def _join(self, pose: Floats) -> tuple[Stretch, ...]:
        """Return the way from the present command to a pose; nothing where they are one."""
        if not apart(self._command, pose):
            return ()
        return (Stretch(join_frames(self._command, pose, self._max_speeds, self._frame_s)),)

    def _play(self, passed: Pass, *join: Stretch) -> None:
        self._phase, self._end = passed.phase, passed.end
        self._prepare(*join, *passed.stretches)

    def _prepare(self, *stretches: Stretch) -> None:
        self._stretches, self._row = stretches, 0
