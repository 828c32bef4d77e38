"""What OPEN-R objects know of the world around them: joints, time, a log, and what is to be done next."""

from __future__ import annotations

import heapq
import inspect
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


_BETWEEN = ("from", "to")
PARTICULARS: Mapping[str, tuple[str, ...]] = {
    "state": ("object", "state"),
    "refused": ("object", "asked", "why"),
    "syslog": ("object", "text"),
    **dict.fromkeys(("notify", "waits", "ready", "not ready"), _BETWEEN),
    "silent": (*_BETWEEN, "why"),
}
"""What entries of these kinds always have."""


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
        """Note what happened, with its particulars.

        Raises:
            InputError: an entry of that kind has others besides.
        """
        lacking = [name for name in PARTICULARS.get(kind, ()) if name not in data]
        if lacking:
            what = f"log({kind!r}) without {', '.join(lacking)}"
            raise InputError(what, hint="say, refuse and enter of an object note them")
        told = {name: _recordable(value) for name, value in data.items()}
        self.entries.append(LogEntry(self.time_s, str(_recordable(kind)), told))

    def post(self, call: Callable[[], None]) -> None:
        """Have something done after everything that was posted before."""
        refuse_uncallable("post", call)
        self._posted.append(call)

    def call_at(self, time_s: float, call: Callable[[], None]) -> None:
        """Have something done at the first frame that does not begin before a time [s]."""
        if not math.isfinite(time_s):
            raise InputError(f"call_at({time_s})", hint="seconds since the start")
        refuse_uncallable("call_at", call)
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
        n, planned = 0, next(self._order)
        while n < MOST_MESSAGES:
            n += 1
            if self._posted:
                self._posted.popleft()()
            elif self._alarms and self._alarms[0][0] <= self.frame:
                _, order, call = heapq.heappop(self._alarms)
                n = 0 if order < planned else n  # what was planned before is not the objects' fault
                call()
            else:
                return
        ends = (one.data[end] for one in self.entries[-MOST_MESSAGES:] for end in _BETWEEN if end in one.data)
        names = dict.fromkeys(end.partition(".")[0] for end in ends)
        what = f"more than {MOST_MESSAGES:,} messages at {self.time_s:.3f} s"
        raise InputError(what, hint=f"{' and '.join(names) or 'an object'} had something to say without end")


def _recordable(value: Any) -> Any:
    """Return a number as it is, and anything else as text that can be written."""
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def refuse_uncallable(what: str, call: object, n: int = 0) -> None:
    """Raise InputError where something cannot be called with `n` arguments, an event for one."""
    try:
        inspect.signature(call).bind(*range(n))  # type: ignore[arg-type]  # whether it can be called is asked
    except TypeError as error:
        told = f"{what} tells {getattr(call, '__name__', repr(call))}: {error}"
        raise InputError(told, hint=f"a method that takes {'one event' if n else 'nothing'}") from error
    except ValueError:  # one of Python's own, of which nothing is known
        return
