"""What safety would not let through of a walk, counted by time: it does not matter how the walk is cut."""

from __future__ import annotations

from itertools import pairwise

from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.control import Safety
from posewright.control.safety import Guard, Intervention
from posewright.evaluation.walking.track import Correction
from posewright.robots import Robot

COUNT_FRAMES = 32
"""Each joint and guard counts once in so many frames since the robot was let go, 0.256 s of an AIBO."""


class Corrections:
    """Safety over a walk, and what it held back of each joint in each `COUNT_FRAMES` frames."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._safety = robot, Safety(robot)
        self._worst: dict[tuple[int, int, int], tuple[int, Intervention]] = {}

    def let_through(self, asked: Floats, start: int, last: Floats) -> JointCommands:
        """Return what may be sent of the frames of a block, and note what may not.

        Args:
            asked: joint angles, `(n, n_joints)` [rad].
            start: so many frames were before.
            last: what was sent before, `(n_joints,)` [rad].
        """
        safe = self._safety.filter(JointCommands(asked), last)
        if safe.interventions:
            self._note(asked, start, last, safe.frames.angles)
        return safe.frames

    @property
    def found(self) -> tuple[Correction, ...]:
        """What a servo would notice, in the order of time: the worst, and the time of the first."""
        return tuple(
            self._correction(first, worst)
            for _, (first, worst) in sorted(self._worst.items(), key=lambda item: item[0])
            if _is_worth_a_word(worst, self._robot)
        )

    def _note(self, asked: Floats, start: int, last: Floats, sent: Floats) -> None:
        """Look again at each part of a block that counts by itself: safety tells of whole blocks only."""
        end = start + len(asked)
        marks = range(start - start % COUNT_FRAMES + COUNT_FRAMES, end, COUNT_FRAMES)
        for low, high in pairwise((start, *marks, end)):
            before = last if low == start else sent[low - start - 1]
            part = JointCommands(asked[low - start : high - start])
            for found in self._safety.filter(part, before).interventions:
                key = low // COUNT_FRAMES, list(Guard).index(found.guard), self._robot.index(found.joint)
                first, worst = self._worst.get(key, (low + found.frame, found))
                self._worst[key] = first, max(worst, found, key=_excess)

    def _correction(self, first: int, worst: Intervention) -> Correction:
        time_s = (first + 1) * self._robot.frame_period_s
        return Correction(time_s, worst.joint, worst.guard.value, worst.value, worst.limit)


def _excess(found: Intervention) -> float:
    return abs(found.value - found.limit)


def _is_worth_a_word(found: Intervention, robot: Robot) -> bool:
    """Tell whether a servo would notice: poses in whole ticks may lie a rounding beyond a limit."""
    tick_rad = robot.servo(found.joint).tick_rad
    return found.guard is not Guard.JOINT_LIMIT or _excess(found) > tick_rad
