"""The referee of the stairs: puts a robot that does not get up back on its step, and ends the run."""

from __future__ import annotations

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import GroundTruth, PlanarPose, Supervisor
from posewright.contests.contest import HALT, NEW_TRY, Note
from posewright.contests.stairs.climb import ARRIVED, NEVER_MOVED, TIME_OUT, above_ground
from posewright.contests.stairs.rules import Flight, StairsRules
from posewright.contests.watching import StartWatch, done_or_told, truth_of
from posewright.control import Block
from posewright.recordings import Event
from posewright.recordings.falls import FallDetector, Spell

_ROOM_M = 0.15
"""How far from the side of the stairs a robot is put down at least."""


class StairsReferee:
    """Watches one robot's blocks for falls and for the arrival.

    It puts a robot back on the step that both its feet had passed when it fell, which gains it nothing. Its
    behaviour is started anew, and so waits again; the clock runs on.
    """

    def __init__(
        self,
        rules: StairsRules,
        arena: Arena,
        robot: str,
        supervisor: Supervisor,
        *,
        start: PlanarPose,
        note: Note,
    ) -> None:
        self._rules, self._robot, self._supervisor = rules, robot, supervisor
        self._flight, self._place, self._note = Flight.of(arena), start, note
        self._clock = StartWatch(rules.wait_s, rules.moved_rad)
        self._falls = FallDetector(rules.falls)
        self._levels: Floats | None = None
        self._y_m, self._tries, self._now_s = 0.0, 1, 0.0
        self._fell_s: float | None = None
        self._halted_s: float | None = None
        self._behind_s: float | None = None

    def progress(self) -> str:
        """Return the steps passed, and the time."""
        began = self._clock.moved_s
        passed = 0 if self._levels is None else int(self._levels.min())
        return f"step {passed}  {0.0 if began is None else self._now_s - began:5.1f} s"

    def watch(self, block: Block) -> bool:
        """Look at a block; return whether the run is over."""
        if block.robot != self._robot:
            return False
        truth, times = truth_of(block), block.states.times
        self._now_s = float(times[-1])
        if self._clock.moved_s is None:
            self._clock.advance(times, done_or_told(block.states.positions, block.commands.angles))
        if self._halted_s is not None:
            if self._now_s >= self._halted_s + self._rules.settle_s:
                self._put_back()
        else:
            self._look(times, truth)
        return self._is_over()

    def _look(self, times: Floats, truth: GroundTruth) -> None:
        fall = self._falls.advance(times, above_ground(truth.base, self._flight))
        if fall is not None:
            self._lies(fall)
            return
        stood = self._flight.stood_on(truth.footprints[-1:], truth.foot_contacts[-1:])[0]
        if self._levels is None:
            self._levels = np.maximum(stood, 0).astype(np.float64)
        self._levels = np.where(stood >= 0, stood, self._levels)
        self._y_m = float(truth.base[-1, 1])
        if (stood < len(self._flight.edges)).any():
            self._behind_s = None
        elif self._behind_s is None:
            self._behind_s = self._now_s

    def _lies(self, fall: Spell) -> None:
        self._behind_s = None
        if self._fell_s != fall.since_s:
            self._fell_s = fall.since_s
            self._note(Event(self._now_s, "fall", {"since_s": fall.since_s}))
        if self._now_s - fall.since_s >= self._rules.rise_s:
            self._halted_s = self._now_s
            self._note(Event(self._now_s, HALT, {"reason": "fall", "since_s": fall.since_s}))

    def _put_back(self) -> None:
        level = 0 if self._levels is None else min(int(self._levels.min()), len(self._flight.edges) - 1)
        x, y, yaw = self._place
        if level:
            most = self._flight.width_m / 2.0 - _ROOM_M
            x, y = self._flight.middle_x_m(level), min(max(self._y_m, -most), most)
        self._supervisor.place_robot(x, y, yaw)
        self._levels, self._halted_s, self._tries = None, None, self._tries + 1
        self._falls.forget()
        placed = {"x_m": x, "y_m": y, "yaw_rad": yaw}
        self._note(Event(self._now_s, "touch", {"reason": "fall", "since_s": self._fell_s, "step": level}))
        self._note(Event(self._now_s, NEW_TRY, {"number": self._tries, **placed}))

    def _is_over(self) -> bool:
        began = self._clock.moved_s
        limit_s = (self._rules.wait_s if began is None else began) + self._rules.limit_s
        if self._behind_s is not None and self._now_s - self._behind_s >= self._rules.steady_s:
            reason = ARRIVED
        elif self._now_s > limit_s:
            reason = NEVER_MOVED if began is None else TIME_OUT
        else:
            return False
        self._note(Event(self._now_s, "stop", {"reason": reason}))
        return True
