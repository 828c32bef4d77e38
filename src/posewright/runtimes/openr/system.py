"""The system in which OPEN-R objects run: starts them, delivers their messages, reports missing answers.

Messages are delivered one after the other in the order in which they were sent, all of them before the next
frame begins. So the same start gives the same run, message by message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot
from posewright.runtimes.openr.connections import ConnectConfig, connect
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.services import Connection, OObject

ANSWER_WITHIN_S = 2.0
"""An observer that does not answer for so long is reported [s]."""


class System:
    """The connected objects of one robot.

    Args:
        robot: the robot whose joints they move.
        objects: the objects in the order in which they start; their names differ.
        config: their connections.
        answer_within_s: an observer that does not answer for so long is reported [s].

    Raises:
        FormatError: the connections do not fit the objects.
        InputError: two objects have one name, or the robot is not an OPEN-R robot.
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
        for item in self.objects:
            if "observers" not in vars(item):  # a subclass that did not call OObject.__init__
                message = f"{type(item).__name__} was not initialised as an object"
                raise InputError(message, hint="begin its __init__ with super().__init__()")
        names = [item.name for item in self.objects]
        duplicate = next((name for name in names if names.count(name) > 1), None)
        if duplicate is not None:
            raise InputError(f"two objects are called {duplicate}", hint="give each its own name")
        self.connections = connect(self.objects, config)
        self._answer_within_s = answer_within_s

    def start(self) -> None:
        """Initialise all OPEN-R objects, the programs of an AIBO, then start them.

        `openr` is the environment that they run in: the robot's joints and sensors, as OPEN-R offers them.

        Raises:
            UnknownNameError: an object needs a joint or sensor that the robot lacks.
        """
        for item in self.objects:
            item.run_in(self.openr)
        for item in self.objects:
            try:
                item.do_init()
            except UnknownNameError as error:
                error.message = f"{self.openr.robot.name} cannot run {item.name}: {error.message}"
                raise
        for item in self.objects:
            item.do_start()

    def run(self) -> None:
        """Deliver all messages that are due, and log once each observer that does not answer in time."""
        self.openr.deliver()
        for connection, deadline_frame in self._iterate_unanswered_connections():
            if deadline_frame <= self.openr.frame:
                connection.is_silent = True
                negation = "not" if connection.was_ready else "never"
                reason = f"it has {negation} said assert_ready"
                self.openr.log(
                    "silent",
                    **connection.ends,
                    waits_s=self._answer_within_s,
                    n=len(connection.buffer),
                    why=reason,
                )

    @property
    def n_frames_until_event(self) -> int | None:
        """Number of frames until a scheduled call or the report of a missing answer; None for neither."""
        frames = [
            deadline_frame - self.openr.frame for _, deadline_frame in self._iterate_unanswered_connections()
        ]
        if self.openr.frames_to_alarm is not None:
            frames.append(self.openr.frames_to_alarm)
        return min(frames, default=None)

    def _iterate_unanswered_connections(self) -> Iterator[tuple[Connection, int]]:
        """Yield each connection whose observer has not answered, and the frame in which that is logged.

        Connections are left out if that has been logged, or if the observer has announced a late answer.
        """
        for connection in self.connections:
            is_reported_or_announced = connection.is_silent or connection.is_answered_later
            if connection.busy_since_s is not None and not is_reported_or_announced:
                deadline_s = connection.busy_since_s + self._answer_within_s
                yield connection, self.openr.frame_at(deadline_s)
