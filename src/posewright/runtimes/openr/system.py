"""The system that OPEN-R objects run in: it starts them, hands their messages over, and sees who is silent.

Nothing happens between two frames but what somebody was told: messages are handed over one after the other in
the order in which they were sent, all of them before the next frame begins. So the same start gives the same
run, message by message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot
from posewright.runtimes.openr.connections import ConnectConfig, connect
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.services import Connection, OObject

ANSWER_WITHIN_S = 2.0
"""An observer that owes an answer for so long is reported [s]."""


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
        for one in self.objects:
            if not hasattr(one, "observers"):
                what = f"{type(one).__name__} was not made as an object"
                raise InputError(what, hint="its __init__ begins with super().__init__()")
        names = [one.name for one in self.objects]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"two objects are called {twice}", hint="each has a name of its own")
        self.connections = connect(self.objects, config)
        self._answer_within_s = answer_within_s

    def start(self) -> None:
        """Let all objects prepare, then begin."""
        for one in self.objects:
            one.run_in(self.openr)
        for one in self.objects:
            try:
                one.do_init()
            except UnknownNameError as error:
                error.message = f"{self.openr.robot.name} cannot run {one.name}: {error.message}"
                raise
        for one in self.objects:
            one.do_start()

    def run(self) -> None:
        """Hand over all messages that are due, and report who does not answer."""
        self.openr.deliver()
        for connection, due in self._unanswered():
            if due <= self.openr.frame:
                connection.is_silent = True
                n = len(connection.buffer)
                why = f"it has {'not' if connection.was_ready else 'never'} said assert_ready"
                self.openr.log("silent", **connection.ends, waits_s=self._answer_within_s, n=n, why=why)

    @property
    def frames_ahead(self) -> int | None:
        """How many frames pass before an alarm, or a report of one that is silent; None before neither."""
        reports = [due - self.openr.frame for _, due in self._unanswered()]
        alarm = self.openr.frames_to_alarm
        return min(reports if alarm is None else [*reports, alarm], default=None)

    def _unanswered(self) -> Iterator[tuple[Connection, int]]:
        """Yield the connections with an answer owed, and the frame in which it is reported."""
        for one in self.connections:
            if one.busy_since_s is not None and not one.is_silent:
                yield one, self.openr.frame_at(one.busy_since_s + self._answer_within_s)
