"""A connection from an output port to an input port of another program."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from posewright.errors import BodyError, FormatError
from posewright.network.yarp.bottle import exact_reader
from posewright.network.yarp.carriers import (
    GOODBYE,
    Carrier,
    Message,
    datagram,
    datagrams,
    introduction,
    take_number,
)
from posewright.network.yarp.listening import (
    Address,
    line_bytes,
    open_connection,
    shut_down,
)

CONNECT_S = 2.0
"""Longest wait for a peer to accept a connection [s]."""

LAST_READ_BYTES = 1 << 12
"""Most bytes that are read at once from a connection that is being closed."""

CLOSE_TIMEOUT_S = 1.0
"""Longest wait for all peers together when connections are closed [s]."""

SEND_TIMEOUT_S = 30.0
"""A peer that accepts no bytes for this long is disconnected [s]."""


def open_binary(
    address: Address, carrier: Carrier, sender: str, timeout_s: float
) -> tuple[socket.socket, int]:
    """Return a binary connection to a port, and the number that the port answers with.

    Raises:
        BodyError: nothing listens there, or it is no YARP port.
    """
    link = open_connection(address, timeout_s)
    try:
        link.sendall(introduction(carrier, sender))
        with link.makefile("rb") as stream:
            return link, take_number(exact_reader(stream))
    except (OSError, EOFError, FormatError) as error:
        link.close()
        raise BodyError(f"no YARP port answers at {address} over {carrier.value}") from error


class Outgoing:
    """Sends queued messages to a port in a thread of its own.

    Args:
        sender: the name of our port.
        to: the name of the other port.
        address: the address of the other port.
        carrier: the carrier.
        max_queued: most messages that wait; the oldest is dropped for another one.
        count: is called with `sent` or `dropped` for each message.
        on_lost: is called, in the thread of the connection, when the peer is gone.

    Raises:
        BodyError: the other port does not accept the connection.
    """

    def __init__(
        self,
        sender: str,
        to: str,
        address: Address,
        carrier: Carrier,
        *,
        max_queued: int,
        count: Callable[[str], None],
        on_lost: Callable[[Outgoing], None],
    ) -> None:
        """Connect, and start the thread that sends; over udp, the port answers with the number to send to."""
        self.to = to
        self.carrier = carrier
        self._sender = sender
        self._address = address
        self._max_queued = max_queued
        self._count = count
        self._on_lost = on_lost
        self._link, port_number = open_binary(address, carrier, sender, timeout_s=CONNECT_S)
        self._stream = self._link.makefile("rb")
        if carrier is Carrier.UDP:
            self._close_link()
            self._link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._link.connect((address.host, port_number & 0xFFFF))
        self._link.settimeout(SEND_TIMEOUT_S)
        self._queue: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(
            target=self._send_queued_messages, name=f"yarp {sender} -> {to}", daemon=True
        )
        self._thread.start()

    def put(self, message: bytes) -> None:
        """Queue a message; if the queue is full, drop the oldest one."""
        with self._changed:
            if len(self._queue) >= self._max_queued:
                self._queue.popleft()
                self._count("dropped")
            self._queue.append(message)
            self._changed.notify()

    def start_closing(self) -> None:
        """Close the connection after the queued messages are sent, without waiting for that."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()

    def abort(self) -> None:
        """Close the connection at once."""
        shut_down(self._link)

    def wait(self) -> None:
        """Wait until the connection is closed."""
        if self._thread is not threading.current_thread():
            self._thread.join()

    def close(self) -> None:
        """Send the queued messages and close the connection, waiting for at most `CLOSE_TIMEOUT_S`."""
        close_all([self])

    def _next_message(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closing)
            return self._queue.popleft() if self._queue else None

    def _send_queued_messages(self) -> None:
        """Send messages as they are queued, until the connection is closed or lost."""
        try:
            while (message := self._next_message()) is not None:
                self._send(message)
            self._send_quit()
        except (OSError, EOFError, FormatError):
            if not self._is_closing:
                self._on_lost(self)
        finally:
            self._close_link()

    def _send(self, message: bytes) -> None:
        """Send a message, and wait for its acknowledgement if the carrier has one."""
        for part in datagrams(message) if self.carrier is Carrier.UDP else [message]:
            self._link.sendall(part)
        if self.carrier.acks and take_number(exact_reader(self._stream)) != 0:
            raise FormatError("the message is not acknowledged")
        self._count("sent")

    def _send_quit(self) -> None:
        """Send `q`, which ends the connection; over udp also by tcp, as a datagram may be lost."""
        if self.carrier is not Carrier.UDP:
            self._link.settimeout(CLOSE_TIMEOUT_S)
            self._link.sendall(Message("q").encode())
            if self.carrier.acks:
                take_number(exact_reader(self._stream))
            return
        with suppress(OSError):
            self._link.send(datagram(GOODBYE, b""))
        with suppress(BodyError, OSError):
            self._link.close()
            self._link = open_connection(self._address, CLOSE_TIMEOUT_S)
            self._link.sendall(b"CONNECT admin\r\n" + line_bytes(f"~{self._sender}", "q"))
            # read until the reader closes: a "q" that it executes later could close a later connection
            while self._link.recv(LAST_READ_BYTES):
                pass

    def _close_link(self) -> None:
        self._stream.close()
        self._link.close()


def _abort_all(outputs: Sequence[Outgoing]) -> None:
    for output in outputs:
        output.abort()


def close_all(outputs: Sequence[Outgoing]) -> None:
    """Close connections in parallel; those still open after `CLOSE_TIMEOUT_S` are aborted."""
    if not outputs:
        return
    for output in outputs:
        output.start_closing()
    deadline = threading.Timer(CLOSE_TIMEOUT_S, _abort_all, [outputs])
    deadline.start()
    for output in outputs:
        output.wait()
    deadline.cancel()
    deadline.join()
