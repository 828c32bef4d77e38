"""What listens on loopback: an acceptor, and a thread for each of those who connect."""

from __future__ import annotations

import ipaddress
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from posewright.errors import BodyError, FormatError, InputError

MOST_CONNECTIONS = 32
"""Where one more comes, who has been silent for longest is hung up on: handles are left for all ports."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where something listens.

    Raises:
        InputError: that is not on this machine, or no port.
    """

    host: str
    port: int

    def __post_init__(self) -> None:
        if not is_loopback(self.host):
            hint = "YARP has neither TLS nor passwords: bring it here with `ssh -L`, or run over there"
            raise InputError(f"{self.host} is another machine", hint=hint)
        if not 0 <= self.port < 1 << 16:
            raise InputError(f"no port has the number {self.port}", hint="1 to 65535")

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, seen from itself; YARP knows IPv4 only."""
    try:
        return host == "localhost" or ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False


def dial(address: Address, timeout_s: float) -> socket.socket:
    """Return a connection.

    Raises:
        BodyError: nobody is there.
    """
    try:
        link = socket.create_connection((address.host, address.port), timeout_s)
    except OSError as error:
        raise BodyError(f"nobody answers at {address}", hint=str(error)) from error
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def can_listen(where: Address) -> bool:
    """Return whether nobody listens there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as link:
        try:
            link.bind((where.host, where.port))
        except OSError:
            return False
        return True


def hang_up(link: socket.socket) -> None:
    """Wake whoever waits for a connection; its own thread closes it."""
    with suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


def take_from(stream: BinaryIO) -> Callable[[int], bytes]:
    """Return a function that takes exactly so many bytes, or raises EOFError."""

    def take(count: int) -> bytes:
        data = stream.read(count)
        if len(data) != count:
            raise EOFError
        return data

    return take


LONGEST_LINE = 1 << 16


def take_line(stream: BinaryIO) -> str:
    """Take a line without its end.

    Raises:
        EOFError: there is none.
        FormatError: it is too long.
    """
    line = stream.readline(LONGEST_LINE)
    if not line.endswith(b"\n"):
        if len(line) < LONGEST_LINE:
            raise EOFError
        raise FormatError("a line has no end", hint=f"at most {LONGEST_LINE} bytes")
    return line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def line_bytes(*lines: str) -> bytes:
    """Return lines as they are sent."""
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogateescape")


class Guest:
    """Somebody who is connected.

    Attributes:
        end: wakes its thread, which leaves.
        last_activity: number of this guest's latest activity among those of all guests; 0 before the first.
        leaves: whether it was told to.
    """

    def __init__(self, link: socket.socket, order: Iterator[int]) -> None:
        self.link = link
        self._order = order
        self.end: Callable[[], None] = lambda: hang_up(link)
        self.last_activity = 0
        self.leaves = False

    def speaks(self) -> None:
        """Record an activity; the guest that was silent for longest makes room for a new one."""
        self.last_activity = next(self._order)


class Listener:
    """Accepts on loopback once it is started, and serves each connection on a thread of its own until closed.

    Args:
        where: port 0 is any that is free; `address` says which.
        serve: called with each guest, whose link is closed when it returns; an OSError or EOFError ends it.
        max_guests: largest number of guests at a time.

    Raises:
        BodyError: another program listens there.
    """

    def __init__(
        self, where: Address, serve: Callable[[Guest], None], max_guests: int = MOST_CONNECTIONS
    ) -> None:
        self._serve = serve
        self._max_guests = max_guests
        self._order = itertools.count(1)
        self._lock = threading.Lock()
        self._live: dict[Guest, threading.Thread] = {}
        self._closed = threading.Event()
        try:
            self._socket = socket.create_server((where.host, where.port))
        except OSError as error:
            raise BodyError(f"cannot listen at {where}", hint=str(error)) from error
        self.address = Address(where.host, self._socket.getsockname()[1])
        self._acceptor = threading.Thread(target=self._accept, name=f"yarp {self.address}", daemon=True)

    def start(self) -> None:
        """Begin to accept."""
        self._acceptor.start()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                link, _ = self._socket.accept()
            except OSError:  # as when the other side is gone again, or this one is out of handles
                self._closed.wait(0.05)
                continue
            self._begin(link)

    def _begin(self, link: socket.socket) -> None:
        with self._lock:
            if (
                self._closed.is_set() or len(self._live) >= 2 * self._max_guests
            ):  # those told to leave have not yet
                link.close()
                return
            self._make_room()
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            guest = Guest(link, self._order)
            thread = threading.Thread(
                target=self._run, args=(guest,), name=f"yarp {self.address}", daemon=True
            )
            self._live[guest] = thread
            try:
                thread.start()
            except RuntimeError:  # this machine has no more threads
                del self._live[guest]
                link.close()

    def _make_room(self) -> None:
        staying = [guest for guest in self._live if not guest.leaves]
        if len(staying) >= self._max_guests:
            silent = min(staying, key=lambda guest: guest.last_activity)
            silent.leaves = True
            silent.end()

    def _run(self, guest: Guest) -> None:
        try:
            with guest.link, suppress(OSError, EOFError):
                self._serve(guest)
        finally:
            with self._lock:
                self._live.pop(guest, None)

    def close(self) -> None:
        """Hang up on everybody and wait for the threads; must not raise."""
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
        if self._acceptor.ident is not None:
            with suppress(OSError):  # accept wakes for nothing else on every system
                socket.create_connection((self.address.host, self.address.port), 1.0).close()
            self._acceptor.join()
        self._socket.close()
        with self._lock:
            live = dict(self._live)
        for guest in live:
            guest.end()
        for thread in live.values():
            if thread is not threading.current_thread():
                thread.join()
