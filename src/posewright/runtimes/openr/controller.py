"""OPEN-R objects as a controller: whatever body there is, they are its program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Controller
from posewright.robots import Robot
from posewright.runtimes.openr.commander import Commander, Live
from posewright.runtimes.openr.connections import ConnectConfig
from posewright.runtimes.openr.kernel import LogEntry
from posewright.runtimes.openr.regions import MICRO
from posewright.runtimes.openr.services import OObject
from posewright.runtimes.openr.system import ANSWER_WITHIN_S, System
from posewright.runtimes.openr.virtual_robot import OVirtualRobotComm

EVENT = "openr"
"""The kind of events in a recording that tell of OPEN-R objects; their `what` is the kind of a log entry."""


class OpenRController(Controller):
    """Lets OPEN-R objects drive a robot.

    The body is asked for its state whenever an object can be told something, and else not. What the objects
    said is in the decisions, and so in a recording, as events `openr`.

    Args:
        robot: whose joints they move.
        make_objects: makes all objects but `OVirtualRobotComm`, which is made here and starts first; called
            again whenever the program begins anew.
        config: their connections.
        pose: where the joints are at first, `(n_joints,)` [rad].
        live: asks a person what Commander is to send further when the objects have nothing to do; time
            stands still meanwhile.
        answer_within_s: after so long an observer that does not answer is reported [s].

    Attributes:
        is_over: whether the person who was asked had nothing more.

    Raises:
        FormatError: the connections do not fit the objects, or nobody knows a command of Commander's script.
        InputError: two objects have one name, or the robot is no OPEN-R robot.
    """

    def __init__(
        self,
        robot: Robot,
        make_objects: Callable[[], Sequence[OObject]],
        config: ConnectConfig,
        pose: Floats,
        *,
        live: Live | None = None,
        answer_within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self._robot = robot
        self._make_objects = make_objects
        self._config = config
        self._pose = pose
        self._live = live
        self._answer_within_s = answer_within_s
        self.restart()

    def restart(self) -> None:
        """Begin the program anew: all objects are made again, and start when the next frame begins."""
        objects = tuple(self._make_objects())
        self._comm = OVirtualRobotComm(self._robot, self._pose)
        self.system = System(
            self._robot, (self._comm, *objects), self._config, answer_within_s=self._answer_within_s
        )
        self._commander = next((each for each in objects if isinstance(each, Commander)), None)
        if self._commander is not None:
            self._commander.check()
        self.is_over = False
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
        elif self._commander is not None and self._live is not None and self.is_idle and not self.is_over:
            self.is_over = not self._commander.ask(self._live)
        self._comm.see(state)
        self.system.run()
        ahead = [left for left in (self._comm.frames_left, self.system.frames_ahead) if left is not None]
        if self._live is not None and self.is_idle:
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
