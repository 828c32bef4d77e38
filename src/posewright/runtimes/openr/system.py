"""The system that OPEN-R objects run in: it starts them, hands their messages over, and sees who is silent.

Nothing happens between two frames but what somebody was told: messages are handed over one after the other in
the order in which they were sent, all of them before the next frame begins. So the same start gives the same
run, message by message.
"""

from __future__ import annotations

from collections.abc import Iterable

from posewright.errors import InputError
from posewright.robots import Robot
from posewright.runtimes.openr.connections import ConnectConfig, connect
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.services import OObject

ANSWER_WITHIN_S = 2.0
"""An observer that something waits for longer is reported."""


class System:
    """Objects, connected, in one robot.

    Args:
        robot: whose joints they move.
        objects: in the order in which they start; their names differ.
        config: their connections.
        answer_within_s: after so long somebody who does not answer is reported [s].

    Raises:
        FormatError: the connections do not fit the objects.
        InputError: two objects have one name, or the robot is no OPEN-R robot.
    """

    def __init__(
        self,
        robot: Robot,
        objects: Iterable[OObject],
        config: ConnectConfig,
        *,
        answer_within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self.openr = OpenR(robot)
        self.objects = tuple(objects)
        names = [one.name for one in self.objects]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"two objects are called {twice}", hint="each has a name of its own")
        self.connections = connect(self.objects, config)
        self._answer_within_s = answer_within_s
        self._reported: set[int] = set()

    def start(self) -> None:
        """Let all objects prepare, then begin."""
        for one in self.objects:
            one.run_in(self.openr)
        for one in self.objects:
            one.do_init()
        for one in self.objects:
            one.do_start()

    def run(self) -> None:
        """Hand over all messages that are due, and report who does not answer."""
        self.openr.deliver()
        for number, connection in enumerate(self.connections):
            since = connection.waits_since_s
            if since is None:
                self._reported.discard(number)
            elif self.openr.time_s - since >= self._answer_within_s and number not in self._reported:
                self._reported.add(number)
                ends = connection.ends
                self.openr.log("silent", **ends, waits_s=self._answer_within_s, n=len(connection.buffer))

    def stop(self) -> None:
        """Let all objects end; nothing is sent any more."""
        for one in self.objects:
            one.do_stop()
        self.openr.deliver()
