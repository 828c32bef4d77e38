"""The referee of the stairs, who puts a robot that does not get up back on its step, and ends the run."""

from __future__ import annotations

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import GroundTruth, PlanarPose, Supervisor
from posewright.contests.contest import HALT, NEW_TRY, Note
from posewright.contests.observation import StartDetector, measured_or_commanded, require_ground_truth
from posewright.contests.stairs.climb import ARRIVED, NEVER_MOVED, TIME_OUT, base_above_ground
from posewright.contests.stairs.rules import NO_LEVEL, Flight, StairsRules
from posewright.control import Block
from posewright.recordings import Event
from posewright.recordings.falls import DownInterval, FallDetector

_SIDE_MARGIN_M = 0.15
"""Least distance of a robot that is put back from the side of the stairs [m]."""


class StairsReferee:
    """Watches one robot for falls and for its arrival.

    A robot that does not get up is put back on the last step that both its feet had passed. Its controller is
    restarted, so it waits again while the clock runs on.

    Args:
        rules: the rules of the stairs.
        arena: the field.
        robot: its name in the plant, which simulates all robots of a run.
        supervisor: what puts the robot back, as a referee does by hand.
        start: its start place: x, y [m] and yaw [rad] on the field.
        note: writes an event into the recording.
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
        """Begin with the first try."""
        self._rules = rules
        self._robot = robot
        self._supervisor = supervisor
        self._flight = Flight.of(arena)
        self._start = start
        self._note = note
        self._start_detector = StartDetector(rules.wait_s, rules.moved_rad)
        self._fall_detector = FallDetector(rules.falls)
        self._levels: Floats | None = None  # the last level (floor or step) that each foot stood on
        self._y_m = 0.0  # of the base when the robot last stood
        self._try_number = 1  # number of the present try, from 1
        self._now_s = 0.0  # time of the last frame processed
        self._fell_s: float | None = None  # when its last fall began; None before the first
        self._halted_s: float | None = None  # when it was halted before it is put back; None otherwise
        self._behind_since_s: float | None = None  # since when both feet are behind the stairs

    def progress(self) -> str:
        """Return the number of passed steps and the time."""
        began_s = self._start_detector.moved_s
        n_passed = 0 if self._levels is None else int(self._levels.min())
        return f"step {n_passed}  {0.0 if began_s is None else self._now_s - began_s:5.1f} s"

    def watch(self, block: Block) -> bool:
        """Process a block, intervene if need be, and return whether the run is over.

        A robot that does not get up after a fall is halted first, and put back when it has come to rest.
        """
        if block.robot != self._robot:
            return False
        truth = require_ground_truth(block)
        times = block.states.times
        self._now_s = float(times[-1])
        has_started = self._start_detector.moved_s is not None
        if not has_started:
            joints = measured_or_commanded(block.states.positions, block.commands.angles)
            self._start_detector.advance(times, joints)
        if self._halted_s is None:
            self._observe(times, truth)
        elif self._now_s >= self._halted_s + self._rules.settle_s:
            self._put_back()
        return self._end_if_over()

    def _observe(self, times: Floats, truth: GroundTruth) -> None:
        """Update the levels of the feet, and since when both are behind the stairs; note a fall.

        The level of a foot is the number of the step it stands on, 0 for the floor before the stairs.
        """
        fall = self._fall_detector.advance(times, base_above_ground(truth.base, self._flight))
        if fall is not None:
            self._note_fall(fall)
            return
        (foot_levels,) = self._flight.find_foot_levels(truth.footprints[-1:], truth.foot_contacts[-1:])
        if self._levels is None:
            self._levels = np.maximum(foot_levels, 0).astype(np.float64)
        self._levels = np.where(foot_levels != NO_LEVEL, foot_levels, self._levels)
        self._y_m = float(truth.base[-1, 1])
        last_level = len(self._flight.edges)  # the floor behind the stairs
        if (foot_levels < last_level).any():
            self._behind_since_s = None
        elif self._behind_since_s is None:
            self._behind_since_s = self._now_s

    def _note_fall(self, fall: DownInterval) -> None:
        """Note a new fall, and halt the robot if it has been down for too long."""
        self._behind_since_s = None
        if self._fell_s != fall.since_s:
            self._fell_s = fall.since_s
            self._note(Event(self._now_s, "fall", {"since_s": fall.since_s}))
        if self._now_s - fall.since_s >= self._rules.rise_s:
            self._halted_s = self._now_s
            self._note(Event(self._now_s, HALT, {"reason": "fall", "since_s": fall.since_s}))

    def _put_back(self) -> None:
        """Place the robot on the last step that both feet had passed, or at the start, for another try.

        A try is the time from one placement of the robot to the next.
        """
        last_step = len(self._flight.edges) - 1
        level = 0 if self._levels is None else min(int(self._levels.min()), last_step)
        x, y, yaw = self._start
        if level > 0:
            max_y = self._flight.width_m / 2.0 - _SIDE_MARGIN_M
            x = self._flight.middle_x_m(level)
            y = min(max(self._y_m, -max_y), max_y)
        self._supervisor.place_robot(x, y, yaw)
        self._levels = None
        self._halted_s = None
        self._try_number += 1
        self._fall_detector.start_new_interval()
        start_pose = {"x_m": x, "y_m": y, "yaw_rad": yaw}
        self._note(Event(self._now_s, "touch", {"reason": "fall", "since_s": self._fell_s, "step": level}))
        self._note(Event(self._now_s, NEW_TRY, {"number": self._try_number, **start_pose}))

    def _end_if_over(self) -> bool:
        """Note the end of the run on arrival or when the time is over, and return whether it is over.

        The robot has arrived when both feet have been behind the stairs for some time. The time begins with
        the robot's first move, or with the end of the wait while it has not moved.
        """
        moved_s = self._start_detector.moved_s
        clock_start_s = self._rules.wait_s if moved_s is None else moved_s
        behind_since_s = self._behind_since_s
        has_arrived = behind_since_s is not None and self._now_s - behind_since_s >= self._rules.steady_s
        if has_arrived:
            reason = ARRIVED
        elif self._now_s > clock_start_s + self._rules.limit_s:
            reason = NEVER_MOVED if moved_s is None else TIME_OUT
        else:
            return False
        self._note(Event(self._now_s, "stop", {"reason": reason}))
        return True
