"""What OPEN-R objects know of the world around them: joints, time, a log, and what is to be done next."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from posewright.errors import InputError, UnknownNameError
from posewright.runtimes.openr.regions import MICRO

if TYPE_CHECKING:
    from posewright.bodies import BodyState
    from posewright.robots import Robot

LOCATORS = "open_r"  # the naming on a robot's card that has Sony's locators

MOST_MESSAGES = 10_000
"""At one instant; objects that send each other more never come to an end."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Something that happened between objects, or in one.

    Attributes:
        kind: `notify`, `waits`, `ready`, `not ready` between two; `state`, `refused`, `syslog`, ... of one;
            `silent` of an observer that does not answer.
        data: `from` and `to`, or `object`; and particulars.
    """

    time_s: float
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


class OpenR:
    """What objects know of the world: `OPENR::` in Sony's programs."""

    def __init__(self, robot: Robot) -> None:
        names = robot.namings.get(LOCATORS)
        if not names:
            hint = "a robot with Sony's locators on its card, such as sony_ers7"
            raise InputError(f"{robot.name} is no OPEN-R robot", hint=hint)
        self.robot = robot
        self.frame = 0  # how many frames have passed
        self.entries: list[LogEntry] = []
        self._locators = {locator: robot.index(joint) for locator, joint in names.items()}
        self._posted: deque[Callable[[], None]] = deque()
        self._alarms: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._state: BodyState | None = None

    @property
    def time_s(self) -> float:
        """The time since the start [s]; it stands still while messages are handed over."""
        return self.frame * self.robot.frame_period_s

    def open_primitive(self, locator: str) -> int:
        """Return by which number commands know a joint: `OPENR::OpenPrimitive`.

        Raises:
            UnknownNameError: the robot has no such joint.
        """
        if locator not in self._locators:
            raise UnknownNameError.among("primitive", locator, self._locators)
        return self._locators[locator]

    def get_joint_value(self, primitive: int) -> int:
        """Return where a joint is now [micro-radians]: `OPENR::GetJointValue`.

        Raises:
            InputError: nothing is known of the robot yet.
        """
        if self._state is None:
            raise InputError(
                "joints are known once the objects have started", hint="read them when told something"
            )
        return round(float(self._state.positions[primitive]) * MICRO)

    def see(self, state: BodyState) -> None:
        """Take what the body says at the beginning of a frame."""
        self._state = state

    def log(self, kind: str, **data: Any) -> None:
        """Note what happened, with its particulars."""
        self.entries.append(LogEntry(self.time_s, kind, data))

    def post(self, call: Callable[[], None]) -> None:
        """Have something done after everything that was posted before."""
        self._posted.append(call)

    def call_at(self, time_s: float, call: Callable[[], None]) -> None:
        """Have something done at the first frame that does not begin before a time [s]."""
        frame = max(self.frame_at(time_s), self.frame)
        heapq.heappush(self._alarms, (frame, next(self._order), call))

    def frame_at(self, time_s: float) -> int:
        """Return the first frame that does not begin before a time [s]."""
        return math.ceil(time_s / self.robot.frame_period_s - 1e-6)

    @property
    def frames_to_alarm(self) -> int | None:
        """How many frames pass before something is to be done; None where nothing is."""
        return self._alarms[0][0] - self.frame if self._alarms else None

    def deliver(self) -> None:
        """Do all that is due, until nobody has anything to say.

        Raises:
            InputError: the objects do not come to an end.
        """
        for _ in range(MOST_MESSAGES):
            if self._posted:
                self._posted.popleft()()
            elif self._alarms and self._alarms[0][0] <= self.frame:
                heapq.heappop(self._alarms)[2]()
            else:
                return
        what = f"more than {MOST_MESSAGES:,} messages at {self.time_s:.3f} s"
        raise InputError(what, hint="two objects answer each other without end")
