"""OPEN-R objects: what they send and receive, and the flow control between them.

An object has subjects, which send, and observers, which receive; a connection leads from one to the other.
`set_data` puts something into the buffer of a subject, `notify_observers` sends all that is in it. Who is
notified is busy from then on until it says `assert_ready`, which the sender's object is told. What is sent
to a busy observer waits for it in the subject's buffer and is handed over when it is ready, all at once, in
the order in which it was sent. `clear_buffer` takes back what waits.

Source: seeds.md A4, A5 and D2; names are those of Sony's OPEN-R SDK, in Python's spelling. Whether the real
one hands over at ASSERT-READY, or at the next NotifyObservers, its documents in our hands do not say; the
first is built here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from posewright.errors import InputError
from posewright.runtimes.openr.kernel import OpenR, refuse_uncallable
from posewright.runtimes.openr.regions import RCRegion


class Side(Enum):
    """Whether a service sends or receives."""

    SUBJECT = "S"
    OBSERVER = "O"


@dataclass(frozen=True, slots=True)
class ServiceName:
    """`MoveHead.ReceiveCommand.char.O`: object, service, type of data, and S for subject, O for observer."""

    owner: str
    service: str
    data_type: str
    side: Side

    def __str__(self) -> str:
        return f"{self.owner}.{self.service}.{self.data_type}.{self.side.value}"

    @property
    def short(self) -> str:
        """Object and service: `MoveHead.ReceiveCommand`."""
        return f"{self.owner}.{self.service}"


@dataclass(frozen=True, slots=True)
class ONotifyEvent:
    """Data came.

    Attributes:
        sender: whose it is; hand it to `assert_ready` to answer this one only.
        data: in the order in which it was sent; regions as such.
    """

    sender: ServiceName
    data: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class OReadyEvent:
    """An observer said whether it is ready for more."""

    receiver: ServiceName
    is_ready: bool


@dataclass(eq=False, slots=True)
class Connection:
    """From a subject to an observer, with what waits on the way.

    Attributes:
        n_sent: how much of the buffer `notify_observers` has sent; the rest was only set.
        busy_since_s: since when the observer owes an answer to what it was handed, or to what waits for it.
        is_silent: whether it has been reported for that.
        was_ready: whether the observer has ever said that it is ready.
    """

    subject: OSubject
    observer: OObserver
    is_ready: bool = False
    buffer: list[Any] = field(default_factory=list)
    n_sent: int = 0
    busy_since_s: float | None = None
    is_silent: bool = False
    was_ready: bool = False

    @property
    def ends(self) -> dict[str, str]:
        """Both ends, as a log has them."""
        return {"from": self.subject.name.short, "to": self.observer.name.short}

    def put(self, data: Any) -> None:
        """Take something into the buffer, or raise InputError where the observer cannot use it."""
        wanted = self.observer.data
        if wanted is not None and not isinstance(data, wanted):
            one = shown(data) if isinstance(data, RCRegion) else repr(data)
            what = f"{self.subject.name.short} sent {self.observer.name.short} {one}"
            raise InputError(what, hint=f"{self.observer.name.data_type} is {wanted.__name__}")
        if isinstance(data, RCRegion):
            data.add_reference()
        self.buffer.append(data)

    def send(self, openr: OpenR) -> None:
        """Send what is in the buffer, or let it wait."""
        self.n_sent = len(self.buffer)
        if not self.n_sent:
            return
        if self.is_ready:
            self._hand_over(openr)
        else:
            self.busy_since_s = openr.time_s if self.busy_since_s is None else self.busy_since_s
            openr.log("waits", **self.ends, data=shown(self.buffer[-1]))

    def answer(self, openr: OpenR, *, is_ready: bool) -> None:
        """Tell the sender whether the observer is ready; then what waits for it is handed over."""
        self.is_ready, self.busy_since_s, self.is_silent = is_ready, None, False
        self.was_ready |= is_ready
        ends = {"from": self.observer.name.short, "to": self.subject.name.short}
        openr.log("ready" if is_ready else "not ready", **ends)
        handler = self.subject.ready
        if handler is not None:
            event = OReadyEvent(self.observer.name, is_ready)
            openr.post(lambda: handler(event))
        if is_ready and self.n_sent:
            self._hand_over(openr)

    def clear(self) -> None:
        """Take back what waits."""
        waiting, self.buffer, self.n_sent = self.buffer, [], 0
        _release(waiting)

    def _hand_over(self, openr: OpenR) -> None:
        data, self.buffer = tuple(self.buffer[: self.n_sent]), self.buffer[self.n_sent :]
        self.n_sent, self.busy_since_s, self.is_ready = 0, openr.time_s, False
        openr.log("notify", **self.ends, data=", ".join(map(shown, data)))
        event = ONotifyEvent(self.subject.name, data)

        def tell() -> None:
            self.observer.notified(event)
            _release(data)

        openr.post(tell)


def _release(data: Sequence[Any]) -> None:
    for one in data:
        if isinstance(one, RCRegion):
            one.remove_reference()


def shown(data: Any) -> str:
    """Return what is sent as a line of text."""
    return str(data.data if isinstance(data, RCRegion) else data)


class OSubject:
    """What an object sends under one name."""

    def __init__(
        self, owner: OObject, name: ServiceName, ready: Callable[[OReadyEvent], None] | None
    ) -> None:
        self._owner, self.name, self.ready = owner, name, ready
        self.connections: list[Connection] = []

    def set_data(self, data: Any) -> None:
        """Put data into the buffer for every observer; a region is needed from now on until they had it."""
        for connection in self.connections:
            connection.put(data)

    def notify_observers(self) -> None:
        """Send what is in the buffer: to those who are ready at once, to others when they are."""
        for connection in self.connections:
            connection.send(self._owner.openr)

    def send(self, data: Any) -> None:
        """Set data and notify."""
        self.set_data(data)
        self.notify_observers()

    def clear_buffer(self) -> None:
        """Take back what no observer has had yet."""
        for connection in self.connections:
            connection.clear()

    @property
    def all_ready(self) -> bool:
        """Whether every observer is ready."""
        return all(connection.is_ready for connection in self.connections)


class OObserver:
    """What an object receives under one name.

    Attributes:
        notified: is called with what came.
        from_text: makes data of a word of a script, or raises InputError that says which words there are.
        data: what is sent here must be of it; None takes anything.
    """

    def __init__(
        self,
        owner: OObject,
        name: ServiceName,
        notify: Callable[[ONotifyEvent], None],
        from_text: Callable[[str], Any] | None,
        data: type | None = None,
    ) -> None:
        self._owner, self.name, self.notified, self.from_text = owner, name, notify, from_text
        self.data = data
        self.connections: list[Connection] = []

    def assert_ready(self, sender: ServiceName | None = None) -> None:
        """Say that more may come, from one sender or from all."""
        self._answer(sender, is_ready=True)

    def deassert_ready(self, sender: ServiceName | None = None) -> None:
        """Say that nothing more may come for now, from one sender or from any."""
        self._answer(sender, is_ready=False)

    def _answer(self, sender: ServiceName | None, *, is_ready: bool) -> None:
        for connection in self.connections:
            if sender is None or connection.subject.name == sender:
                connection.answer(self._owner.openr, is_ready=is_ready)


class OObject:
    """An OPEN-R object: it acts when it is told something, and never waits.

    A class of one's own makes its services in `__init__`, by `self.subject` and `self.observer`, and moves
    joints through `self.openr`. docs/how-to-own-openr-object.md has one on a page.

    Attributes:
        name: by which CONNECT.CFG knows it; the class's own by default.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__
        self.subjects: dict[str, OSubject] = {}
        self.observers: dict[str, OObserver] = {}
        self._openr: OpenR | None = None
        self._state = ""

    @property
    def openr(self) -> OpenR:
        """The system it runs in: joints, time, a log.

        Raises:
            InputError: it runs in none yet; what needs the system belongs into `do_init` or `do_start`.
        """
        if self._openr is None:
            raise InputError(f"{self.name} runs nowhere yet", hint="use the system in do_init and later")
        return self._openr

    def run_in(self, openr: OpenR) -> None:
        """Say in which system it runs."""
        self._openr = openr

    def subject(
        self, service: str, data_type: str, ready: Callable[[OReadyEvent], None] | None = None
    ) -> OSubject:
        """Return a new subject; `ready` is called when an observer says whether it is ready."""
        if ready is not None:
            refuse_uncallable(f"{self.name}.{service}", ready, 1)
        made = OSubject(self, ServiceName(self.name, service, data_type, Side.SUBJECT), ready)
        self.subjects[service] = made
        return made

    def observer(
        self,
        service: str,
        data_type: str,
        notify: Callable[[ONotifyEvent], None],
        from_text: Callable[[str], Any] | None = None,
        data: type | None = None,
    ) -> OObserver:
        """Return a new observer; `notify` is called with what comes, all of the type `data` where given."""
        refuse_uncallable(f"{self.name}.{service}", notify, 1)
        name = ServiceName(self.name, service, data_type, Side.OBSERVER)
        made = OObserver(self, name, notify, from_text, data)
        self.observers[service] = made
        return made

    @property
    def state(self) -> str:
        """Where it is, for people; empty for an object without states."""
        return self._state

    def enter(self, state: str) -> None:
        """Say where it is now; what is said again is not told again."""
        if str(state) != self._state:
            self._state = str(state)
            self.openr.log("state", object=self.name, state=self._state)

    def say(self, text: str) -> None:
        """Note something for people: `OSYSLOG`."""
        self.openr.log("syslog", object=self.name, text=text)

    def refuse(self, what: str, why: str) -> None:
        """Note that something was asked for that is not done, and why."""
        self.openr.log("refused", object=self.name, asked=what, why=why)

    def do_init(self) -> None:
        """Prepare: open primitives, make vectors. All objects are made, none is told anything yet."""

    def do_start(self) -> None:
        """Begin: by default all observers are ready."""
        for observer in self.observers.values():
            observer.assert_ready()
