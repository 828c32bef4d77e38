"""OPEN-R objects: the services by which they send and receive, and the flow control between them.

An object has subjects, which send, and observers, which receive; a connection leads from one to the other.
`set_data` puts data into the buffer of a subject, `notify_observers` sends the whole buffer. An observer that
was notified is busy until it calls `assert_ready`, which notifies the subject. Data for a busy observer waits
in the buffer and is delivered when it is ready, all at once, in the order in which it was sent.
`clear_buffer` discards waiting data.

Source: seeds.md A4, A5 and D2; names are those of Sony's OPEN-R SDK, in Python's spelling. The documents do
not specify whether waiting data is delivered at ASSERT-READY or at the next NotifyObservers; here it is the
first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from posewright.errors import InputError
from posewright.runtimes.openr.kernel import OpenR, require_callable
from posewright.runtimes.openr.regions import RCRegion


class ServiceSide(Enum):
    """The direction of a service: it sends or receives."""

    SUBJECT = "S"
    OBSERVER = "O"


@dataclass(frozen=True, slots=True)
class ServiceName:
    """`MoveHead.ReceiveCommand.char.O`: object, service, type of data, and S for subject, O for observer."""

    owner: str
    service: str
    data_type: str
    side: ServiceSide

    def __str__(self) -> str:
        return f"{self.owner}.{self.service}.{self.data_type}.{self.side.value}"

    @property
    def short_name(self) -> str:
        """Object and service: `MoveHead.ReceiveCommand`."""
        return f"{self.owner}.{self.service}"


@dataclass(frozen=True, slots=True)
class ONotifyEvent:
    """Data was received.

    Attributes:
        sender: pass it to `assert_ready` to answer this one only.
        data: the data in the order in which it was sent; regions as such.
    """

    sender: ServiceName
    data: tuple[Any, ...]  # of any type, by the data type of the service


@dataclass(frozen=True, slots=True)
class OReadyEvent:
    """An observer called assert_ready or deassert_ready."""

    receiver: ServiceName
    is_ready: bool


@dataclass(eq=False, slots=True)
class Connection:
    """A connection from a subject to an observer, with the buffer of waiting data.

    Attributes:
        is_ready: whether the observer is ready.
        buffer: data that has not been delivered.
        n_to_deliver: number of items of the buffer that `notify_observers` has sent; others were only set.
        busy_since_s: since when the observer has not answered delivered or waiting data [s]; None if it has.
        is_silent: whether the missing answer has been reported.
        is_answered_later: whether the observer has announced that its answer comes at the end of long work,
            so that a missing answer is not reported.
        was_ready: whether the observer was ever ready.
    """

    subject: OSubject
    observer: OObserver
    is_ready: bool = False
    buffer: list[object] = field(default_factory=list)
    n_to_deliver: int = 0
    busy_since_s: float | None = None
    is_silent: bool = False
    is_answered_later: bool = False
    was_ready: bool = False

    @property
    def ends(self) -> dict[str, str]:
        """Names of both ends, for the log."""
        return {"from": self.subject.name.short_name, "to": self.observer.name.short_name}

    def put(self, data: object) -> None:
        """Add data to the buffer; raise an InputError if it is not of the observer's type.

        An RCRegion is memory that counts its references; the buffer holds one of them.
        """
        required_type = self.observer.required_type
        if required_type is not None and not isinstance(data, required_type):
            text = format_data(data) if isinstance(data, RCRegion) else repr(data)
            message = f"{self.subject.name.short_name} sent {self.observer.name.short_name} {text}"
            raise InputError(message, hint=f"{self.observer.name.data_type} is {required_type.__name__}")
        if isinstance(data, RCRegion):
            data.add_reference()
        self.buffer.append(data)

    def send(self, openr: OpenR) -> None:
        """Deliver all data in the buffer if the observer is ready; otherwise it waits for the answer."""
        self.n_to_deliver = len(self.buffer)
        if not self.n_to_deliver:
            return
        if self.is_ready:
            self._deliver(openr)
        else:
            if self.busy_since_s is None:
                self.busy_since_s = openr.time_s
            openr.log("waits", **self.ends, data=format_data(self.buffer[-1]))

    def answer(self, openr: OpenR, *, is_ready: bool) -> None:
        """Notify the subject whether the observer is ready; if it is, deliver what waits for it.

        The missing answer is no longer counted, and the answer is logged.
        """
        self.is_ready = is_ready
        self.busy_since_s = None
        self.is_silent = False
        self.is_answered_later = False
        self.was_ready |= is_ready
        ends = {"from": self.observer.name.short_name, "to": self.subject.name.short_name}
        openr.log("ready" if is_ready else "not ready", **ends)
        on_answer = self.subject.on_answer
        if on_answer is not None:
            event = OReadyEvent(self.observer.name, is_ready)
            openr.post(lambda: on_answer(event))
        if is_ready and self.n_to_deliver:
            self._deliver(openr)

    def clear(self) -> None:
        """Discard waiting data."""
        waiting = self.buffer
        self.buffer = []
        self.n_to_deliver = 0
        _release(waiting)

    def _deliver(self, openr: OpenR) -> None:
        """Post the data that is to be sent to the observer, which is not ready until it answers."""
        data = tuple(self.buffer[: self.n_to_deliver])
        self.buffer = self.buffer[self.n_to_deliver :]
        self.n_to_deliver = 0
        self.busy_since_s = openr.time_s
        self.is_ready = False
        openr.log("notify", **self.ends, data=", ".join(map(format_data, data)))
        event = ONotifyEvent(self.subject.name, data)

        def notify() -> None:
            self.observer.on_notify(event)
            _release(data)

        openr.post(notify)


def _release(data: Sequence[object]) -> None:
    """Remove the references to the regions among some data, so that they can be written again."""
    for region in data:
        if isinstance(region, RCRegion):
            region.remove_reference()


def format_data(data: object) -> str:
    """Return data as a line of text."""
    return str(data.data if isinstance(data, RCRegion) else data)


class OSubject:
    """A service by which an object sends.

    Args:
        owner: the object.
        name: the name of the service.
        on_answer: is called when an observer calls assert_ready or deassert_ready; None for no call.
    """

    def __init__(
        self, owner: OObject, name: ServiceName, on_answer: Callable[[OReadyEvent], None] | None
    ) -> None:
        self._owner = owner
        self.name = name
        self.on_answer = on_answer
        self.connections: list[Connection] = []

    def set_data(self, data: object) -> None:
        """Add data to the buffer of every observer; a region stays referenced until they have received it."""
        for connection in self.connections:
            connection.put(data)

    def notify_observers(self) -> None:
        """Send the buffer: to observers that are ready at once, to others when they are."""
        for connection in self.connections:
            connection.send(self._owner.openr)

    def send(self, data: object) -> None:
        """Set data and notify."""
        self.set_data(data)
        self.notify_observers()

    def clear_buffer(self) -> None:
        """Discard data that has not been delivered."""
        for connection in self.connections:
            connection.clear()

    @property
    def all_ready(self) -> bool:
        """Whether every observer is ready."""
        return all(connection.is_ready for connection in self.connections)


class OObserver:
    """A service by which an object receives.

    Attributes:
        name: the name of the service.
        on_notify: is called with the received data.
        from_text: parses a word of a command script; raises an InputError that lists the known words.
        required_type: required type of the data; None for any.
    """

    def __init__(
        self,
        owner: OObject,
        name: ServiceName,
        on_notify: Callable[[ONotifyEvent], None],
        from_text: Callable[[str], Any] | None,
        required_type: type | None = None,
    ) -> None:
        self._owner = owner
        self.name = name
        self.on_notify = on_notify
        self.from_text = from_text
        self.required_type = required_type
        self.connections: list[Connection] = []

    def assert_ready(self, sender: ServiceName | None = None) -> None:
        """Declare the observer ready for data, from one sender or from all."""
        self._answer(sender, is_ready=True)

    def deassert_ready(self, sender: ServiceName | None = None) -> None:
        """Declare the observer not ready for data, from one sender or from all."""
        self._answer(sender, is_ready=False)

    def answer_later(self, sender: ServiceName) -> None:
        """Announce that `assert_ready` comes at the end of long work; this is not reported as silence."""
        for connection in self.connections:
            if connection.subject.name == sender:
                connection.is_answered_later = True

    def _answer(self, sender: ServiceName | None, *, is_ready: bool) -> None:
        for connection in self.connections:
            if sender is None or connection.subject.name == sender:
                connection.answer(self._owner.openr, is_ready=is_ready)


class OObject:
    """An OPEN-R object: it reacts to messages, and never waits.

    A subclass creates its services in `__init__`, by `self.subject` and `self.observer`, and moves joints
    through `self.openr`. docs/how-to-own-openr-object.md has an example.

    Attributes:
        name: the name in CONNECT.CFG; that of the class by default.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__
        self.subjects: dict[str, OSubject] = {}
        self.observers: dict[str, OObserver] = {}
        self._openr: OpenR | None = None
        self._state = ""

    @property
    def openr(self) -> OpenR:
        """The system in which it runs: joints, time, a log.

        Raises:
            InputError: it does not run yet; use the system in `do_init`, `do_start` or later.
        """
        if self._openr is None:
            raise InputError(f"{self.name} does not run yet", hint="use the system in do_init and later")
        return self._openr

    def run_in(self, openr: OpenR) -> None:
        """Set the system in which it runs."""
        self._openr = openr

    def subject(
        self, service: str, data_type: str, ready: Callable[[OReadyEvent], None] | None = None
    ) -> OSubject:
        """Return a new subject; `ready` is called when an observer calls assert_ready or deassert_ready."""
        if ready is not None:
            require_callable(f"{self.name}.{service}", ready, takes_event=True)
        name = ServiceName(self.name, service, data_type, side=ServiceSide.SUBJECT)
        subject = OSubject(self, name, ready)
        self.subjects[service] = subject
        return subject

    def observer(
        self,
        service: str,
        data_type: str,
        notify: Callable[[ONotifyEvent], None],
        from_text: Callable[[str], Any] | None = None,
        data: type | None = None,
    ) -> OObserver:
        """Return a new observer.

        Args:
            service: its name in CONNECT.CFG.
            data_type: the name of its data type in CONNECT.CFG.
            notify: is called with an event that has the received data.
            from_text: parses a word of a command script; None if commands are sent as text.
            data: the Python type of the data; None for any.
        """
        require_callable(f"{self.name}.{service}", notify, takes_event=True)
        name = ServiceName(self.name, service, data_type, side=ServiceSide.OBSERVER)
        observer = OObserver(self, name, notify, from_text, data)
        self.observers[service] = observer
        return observer

    @property
    def state(self) -> str:
        """Name of its state, for the log; empty for an object without states."""
        return self._state

    def enter_state(self, state: str) -> None:
        """Set its state, and log it if it changed."""
        if str(state) != self._state:
            self._state = str(state)
            self.openr.log("state", object=self.name, state=self._state)

    def syslog(self, text: str) -> None:
        """Log a text: `OSYSLOG`."""
        self.openr.log("syslog", object=self.name, text=text)

    def report_refusal(self, command: str, reason: str) -> None:
        """Log that a command is not executed, and why."""
        self.openr.log("refused", object=self.name, asked=command, why=reason)

    def do_init(self) -> None:
        """Prepare: open primitives, create vectors. All objects exist, no message has been sent yet."""

    def do_start(self) -> None:
        """Start: by default all observers become ready."""
        for observer in self.observers.values():
            observer.assert_ready()
