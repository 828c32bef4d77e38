"""A server on loopback: a thread that accepts connections, and a thread for each connection."""

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

MAX_CONNECTIONS = 32
"""Most connections of a port; when another one comes, the one silent for longest is closed."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server on this machine.

    Raises:
        InputError: the host is another machine, or the number is no port.
    """

    host: str
    port: int

    def __post_init__(self) -> None:
        if not is_loopback(self.host):
            hint = "YARP has neither TLS nor passwords: use a tunnel (`ssh -L`), or run this program there"
            raise InputError(f"{self.host} is another machine", hint=hint)
        if not 0 <= self.port < 1 << 16:
            raise InputError(f"no port has the number {self.port}", hint="use 1 to 65535")

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def is_loopback(host: str) -> bool:
    """Return whether a host is on loopback; YARP supports IPv4 only."""
    try:
        return host == "localhost" or ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False


def open_connection(address: Address, timeout_s: float) -> socket.socket:
    """Return a TCP connection to an address.

    Raises:
        BodyError: nothing listens there.
    """
    try:
        link = socket.create_connection((address.host, address.port), timeout_s)
    except OSError as error:
        raise BodyError(f"nothing answers at {address}", hint=str(error)) from error
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def can_listen(address: Address) -> bool:
    """Return whether an address is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as link:
        try:
            link.bind((address.host, address.port))
        except OSError:
            return False
        return True


def shut_down(link: socket.socket) -> None:
    """Shut a connection down, which wakes its thread, and that closes it."""
    with suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


LONGEST_LINE = 1 << 16


def read_line(stream: BinaryIO) -> str:
    """Read a line; return it without its end.

    Raises:
        EOFError: there is no complete line.
        FormatError: it is too long.
    """
    line = stream.readline(LONGEST_LINE)
    if not line.endswith(b"\n"):
        if len(line) < LONGEST_LINE:
            raise EOFError
        raise FormatError("the line is too long", hint=f"at most {LONGEST_LINE} bytes")
    return line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def line_bytes(*lines: str) -> bytes:
    """Return lines as bytes to send."""
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogateescape")


class Connection:
    """A connection to a server.

    Args:
        link: the socket.
        activity_numbers: counts the activities of all connections of the server.

    Attributes:
        link: the socket.
        end: makes the thread of the connection end.
        last_activity: the number of its latest activity; 0 before the first.
        is_closing_for_room: whether `end` was called to make room for another connection.
    """

    def __init__(self, link: socket.socket, activity_numbers: Iterator[int]) -> None:
        self.link = link
        self._activity_numbers = activity_numbers
        self.end: Callable[[], None] = lambda: shut_down(link)
        self.last_activity = 0
        self.is_closing_for_room = False

    def note_activity(self) -> None:
        """Record an activity; the connection silent for longest makes room for a new one."""
        self.last_activity = next(self._activity_numbers)


class Listener:
    """Accepts connections on loopback, each served by a thread of its own, from `start` until `close`.

    Args:
        address: where to listen; port 0 stands for any free port.
        serve: is called with each connection, which is closed when it returns or raises OSError or EOFError.
        max_connections: largest number of connections at a time.

    Attributes:
        address: where it listens.

    Raises:
        BodyError: another program listens there.
    """

    def __init__(
        self, address: Address, serve: Callable[[Connection], None], max_connections: int = MAX_CONNECTIONS
    ) -> None:
        """Bind the address; `start` accepts connections."""
        self._serve = serve
        self._max_connections = max_connections
        self._activity_numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._threads: dict[Connection, threading.Thread] = {}
        self._closed = threading.Event()
        try:
            self._socket = socket.create_server((address.host, address.port))
        except OSError as error:
            raise BodyError(f"cannot listen at {address}", hint=str(error)) from error
        self.address = Address(address.host, self._socket.getsockname()[1])
        self._acceptor = threading.Thread(
            target=self._accept_connections, name=f"yarp {self.address}", daemon=True
        )

    def start(self) -> None:
        """Start accepting connections."""
        self._acceptor.start()

    def _accept_connections(self) -> None:
        """Accept connections until `close`; runs in a thread of its own."""
        while not self._closed.is_set():
            try:
                link, _ = self._socket.accept()
            except OSError:  # the client is gone already, or this process has no file handles left
                self._closed.wait(0.05)
                continue
            self._start_serving(link)

    def _start_serving(self, link: socket.socket) -> None:
        """Start a thread that serves a connection; close it if there are too many or none can be started."""
        with self._lock:
            has_room = len(self._threads) < 2 * self._max_connections  # half of them may be leaving
            if self._closed.is_set() or not has_room:
                link.close()
                return
            self._make_room()
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection = Connection(link, self._activity_numbers)
            thread = threading.Thread(
                target=self._serve_and_forget, args=(connection,), name=f"yarp {self.address}", daemon=True
            )
            self._threads[connection] = thread
            try:
                thread.start()
            except RuntimeError:  # no more threads can be started
                del self._threads[connection]
                link.close()

    def _make_room(self) -> None:
        """Close the connection that has been silent for longest, if there are too many."""
        staying = [connection for connection in self._threads if not connection.is_closing_for_room]
        if len(staying) >= self._max_connections:
            most_silent = min(staying, key=lambda connection: connection.last_activity)
            most_silent.is_closing_for_room = True
            most_silent.end()

    def _serve_and_forget(self, connection: Connection) -> None:
        """Serve a connection until it ends, and forget it then."""
        try:
            with connection.link, suppress(OSError, EOFError):
                self._serve(connection)
        finally:
            with self._lock:
                self._threads.pop(connection, None)

    def close(self) -> None:
        """Close all connections and wait for the threads; must not raise."""
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
        if self._acceptor.ident is not None:
            with suppress(OSError):  # a connection is what wakes accept() on every system
                socket.create_connection((self.address.host, self.address.port), 1.0).close()
            self._acceptor.join()
        self._socket.close()
        with self._lock:
            threads = dict(self._threads)
        for connection in threads:
            connection.end()
        for thread in threads.values():
            if thread is not threading.current_thread():
                thread.join()
