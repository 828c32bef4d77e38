"""OPEN-R objects as a controller: whatever body there is, they are its program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.robots import Robot
from posewright.runtimes.openr.connections import ConnectConfig
from posewright.runtimes.openr.kernel import LogEntry
from posewright.runtimes.openr.regions import MICRO
from posewright.runtimes.openr.services import OObject
from posewright.runtimes.openr.system import ANSWER_WITHIN_S, System
from posewright.runtimes.openr.virtual_robot import OVirtualRobotComm

EVENT = "openr"
"""The kind of events in a recording that tell of OPEN-R objects; their `what` is the kind of a log entry."""


class OpenRController:
    """Lets OPEN-R objects drive a robot.

    The body is asked for its state whenever an object can be told something, and else not. What the objects
    said is in the decisions, and so in a recording, as events `openr`.

    Args:
        robot: whose joints they move.
        objects: all but `OVirtualRobotComm`, which is made here and starts first.
        config: their connections.
        pose: where the joints are at first, `(n_joints,)` [rad].
        on_idle: is called when the objects have nothing to do, and gives them something or returns False;
            time stands still meanwhile.
        answer_within_s: after so long an observer that does not answer is reported [s].

    Attributes:
        is_over: whether `on_idle` had nothing more.

    Raises:
        FormatError: the connections do not fit the objects.
        InputError: two objects have one name, or the robot is no OPEN-R robot.
    """

    def __init__(
        self,
        robot: Robot,
        objects: Sequence[OObject],
        config: ConnectConfig,
        pose: Floats,
        *,
        on_idle: Callable[[], bool] | None = None,
        answer_within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self._comm = OVirtualRobotComm(robot, pose)
        self.system = System(robot, (self._comm, *objects), config, answer_within_s=answer_within_s)
        self.is_over = False
        self._on_idle = on_idle
        self._begun = False

    @property
    def is_idle(self) -> bool:
        """Whether no joint is being moved, nothing is to be done later, and nobody owes an answer."""
        return not self._comm.is_moving and self.system.frames_ahead is None

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the next one at which an object can be told something."""
        openr = self.system.openr
        openr.see(state)
        if not self._begun:
            self._begun = True
            self.system.start()
            for one in self.system.objects[1:]:
                for subject in one.subjects.values():
                    if not subject.connections:
                        one.say(f"{subject.name.short} leads nowhere: no line of CONNECT.CFG begins with it")
        elif self._on_idle is not None and self.is_idle and not self.is_over:
            self.is_over = not self._on_idle()
        self._comm.see(state)
        self.system.run()
        ahead = [left for left in (self._comm.frames_left, self.system.frames_ahead) if left is not None]
        if self._on_idle is not None and self.is_idle:
            ahead.append(1)  # who watches sees how it ended before more is asked for
        rows = self._comm.frames(max(1, min(n, *ahead) if ahead else n))
        openr.frame += len(rows)
        return JointCommands(np.asarray(rows / MICRO), decision=self._decision())

    def _decision(self) -> Decision | None:
        entries = self.system.openr.entries
        if not entries:
            return None
        self.system.openr.entries = []
        states = {one.name: one.state for one in self.system.objects if one.state}
        told = (
            " ".join(states.values()) if len(states) == 1 else " ".join(f"{k}:{v}" for k, v in states.items())
        )
        events = tuple((EVENT, {**one.data, "what": one.kind}) for one in entries)
        return Decision(told, outputs=states, events=events)


def entry_of(time_s: float, data: Mapping[str, object]) -> LogEntry:
    """Return the entry that an event of the kind `EVENT` tells."""
    return LogEntry(time_s, str(data.get("what", "")), {k: v for k, v in data.items() if k != "what"})
