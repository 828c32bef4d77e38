"""The kernel of OPEN-R: primitives, time, the log, and the queue of calls to objects."""

from __future__ import annotations

import heapq
import inspect
import itertools
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from posewright.documents.plain import PlainMapping
from posewright.errors import InputError, UnknownNameError
from posewright.runtimes.openr.regions import MICRO_PER_UNIT

if TYPE_CHECKING:
    from posewright.bodies import BodyState
    from posewright.robots import Robot

LOCATORS = "open_r"  # the naming on a robot's card with Sony's locators

MAX_CALLS = 10_000
"""Largest number of calls at one instant; objects that cause more are in an endless loop."""


_SERVICE_FIELDS = ("from", "to")
REQUIRED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "state": ("object", "state"),
    "refused": ("object", "asked", "why"),
    "syslog": ("object", "text"),
    **dict.fromkeys(("notify", "waits", "ready", "not ready"), _SERVICE_FIELDS),
    "silent": (*_SERVICE_FIELDS, "why"),
}
"""Data fields that entries of these kinds always have."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An event between two objects, or in one.

    Attributes:
        time_s: since the start [s].
        kind: `notify`, `waits`, `ready`, `not ready` between two; `state`, `refused`, `syslog`, ... of one;
            `silent` of an observer that does not answer.
        data: `from` and `to`, or `object`; and further fields by kind.
    """

    time_s: float
    kind: str
    data: PlainMapping = field(default_factory=dict)


class _Alarm(NamedTuple):
    """A scheduled call: its frame, its place in the order of scheduling, and what is called."""

    frame: int
    order: int
    call: Callable[[], None]


class OpenR:
    """The services of the system for objects: `OPENR::` in Sony's programs."""

    def __init__(self, robot: Robot) -> None:
        names = robot.namings.get(LOCATORS)
        if not names:
            hint = "its card needs Sony's locators, as in the card of sony_ers7"
            raise InputError(f"{robot.name} is not an OPEN-R robot", hint=hint)
        self.robot = robot
        self.frame = 0  # number of the frame, from 0
        self.log_entries: list[LogEntry] = []
        self._locators = {locator: robot.index(joint) for locator, joint in names.items()}
        self._calls: deque[Callable[[], None]] = deque()
        self._alarms: list[_Alarm] = []  # a heap
        # numbers the alarms, so that those of one frame keep their order
        self._next_order = itertools.count()
        self._body_state: BodyState | None = None

    @property
    def time_s(self) -> float:
        """Time since the start [s]; it does not advance while messages are delivered."""
        return self.frame * self.robot.frame_period_s

    def open_primitive(self, locator: str) -> int:
        """Return the number of a joint for commands, by its locator: `OPENR::OpenPrimitive`.

        Raises:
            UnknownNameError: the robot has no such joint.
        """
        if locator not in self._locators:
            raise UnknownNameError.among("primitive", locator, self._locators)
        return self._locators[locator]

    def get_joint_value(self, primitive: int) -> int:
        """Return the measured angle of a joint [micro-radians]: `OPENR::GetJointValue`.

        Raises:
            InputError: the body has not been read yet.
        """
        if self._body_state is None:
            message = "joint angles are not available before the objects have started"
            raise InputError(message, hint="read them when a message arrives")
        return round(float(self._body_state.positions[primitive]) * MICRO_PER_UNIT)

    def update(self, state: BodyState) -> None:
        """Store the state of the body at the beginning of a frame."""
        self._body_state = state

    def log(self, kind: str, **data: Any) -> None:
        """Add an entry to the log.

        Raises:
            InputError: a field that entries of this kind need is missing.
        """
        missing = [name for name in REQUIRED_FIELDS.get(kind, ()) if name not in data]
        if missing:
            message = f"log({kind!r}) lacks {', '.join(missing)}"
            raise InputError(message, hint="use syslog, report_refusal or enter_state of an object")
        fields = {name: _recordable(value) for name, value in data.items()}
        self.log_entries.append(LogEntry(self.time_s, str(_recordable(kind)), fields))

    def post(self, call: Callable[[], None]) -> None:
        """Queue a call after all calls that were posted before."""
        require_callable("post", call)
        self._calls.append(call)

    def call_at(self, time_s: float, call: Callable[[], None]) -> None:
        """Schedule a call for the first frame that begins at a time [s] or later."""
        if not math.isfinite(time_s):
            raise InputError(
                f"call_at({time_s})", hint="the time is a finite number of seconds since the start"
            )
        require_callable("call_at", call)
        frame = max(self.frame_at(time_s), self.frame)
        heapq.heappush(self._alarms, _Alarm(frame, next(self._next_order), call))

    def frame_at(self, time_s: float) -> int:
        """Return the first frame that begins at a time [s] or later."""
        rounding = 1e-6  # of a frame: a time at which a frame begins gives that frame
        return math.ceil(time_s / self.robot.frame_period_s - rounding)

    @property
    def frames_to_alarm(self) -> int | None:
        """Number of frames until the next scheduled call; None if there is none."""
        return self._alarms[0].frame - self.frame if self._alarms else None

    def deliver(self) -> None:
        """Make all calls that are posted or due, including those that they cause.

        Raises:
            InputError: the objects are in an endless loop.
        """
        n_calls = 0
        first_new_order = next(self._next_order)  # alarms that are scheduled from here on have a greater one
        while n_calls < MAX_CALLS:
            n_calls += 1
            if self._calls:
                call = self._calls.popleft()
                call()
            elif self._alarms and self._alarms[0].frame <= self.frame:
                alarm = heapq.heappop(self._alarms)
                if alarm.order < first_new_order:  # scheduled earlier, so no sign of a loop
                    n_calls = 0
                alarm.call()
            else:
                return
        services: list[str] = []
        for entry in self.log_entries[-MAX_CALLS:]:
            services += [entry.data[name] for name in _SERVICE_FIELDS if name in entry.data]
        object_names = dict.fromkeys(service.partition(".")[0] for service in services)
        message = f"more than {MAX_CALLS:,} messages at {self.time_s:.3f} s"
        raise InputError(message, hint=f"endless loop of {' and '.join(object_names) or 'an object'}")


def _recordable(value: Any) -> Any:  # any value of an object's author
    """Return a finite number as it is, and anything else as text that can be encoded."""
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def require_callable(caller: str, call: object, *, takes_event: bool = False) -> None:
    """Raise an InputError unless an object can be called with an event, or without arguments.

    Args:
        caller: name of the service or method that is to call it, for the message.
        call: the object.
        takes_event: whether it is called with an event.
    """
    arguments = ["event"] if takes_event else []
    try:
        inspect.signature(call).bind(*arguments)  # type: ignore[arg-type]  # it may not be callable
    except TypeError as error:
        handler = call.__name__ if inspect.isroutine(call) else repr(call)
        message = f"{caller} cannot call {handler}: {error}"
        hint = f"pass a method that takes {'one event' if takes_event else 'no arguments'}"
        raise InputError(message, hint=hint) from error
    except ValueError:  # a builtin without a signature
        return
