"""A connection from an output port to somebody's input port."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from posewright.errors import BodyError, FormatError
from posewright.network.yarp.carriers import (
    GOODBYE,
    Carrier,
    Message,
    datagram,
    datagrams,
    introduction,
    take_numbered,
)
from posewright.network.yarp.listening import Address, dial, hang_up, line_bytes, take_from

PATIENCE_S = 2.0
"""So long may a peer take to let us in."""

GOODBYE_S = 1.0
"""So long may all peers together take when we leave."""

SILENCE_S = 30.0
"""A peer that takes nothing for so long is dropped."""


def open_binary(
    address: Address, carrier: Carrier, sender: str, timeout_s: float
) -> tuple[socket.socket, int]:
    """Return a connection over which a port lets us speak, and the number it answers with.

    Raises:
        BodyError: nobody is there, or it is no port.
    """
    link = dial(address, timeout_s)
    try:
        link.sendall(introduction(carrier, sender))
        with link.makefile("rb") as stream:
            return link, take_numbered(take_from(stream))
    except (OSError, EOFError, FormatError) as error:
        link.close()
        raise BodyError(f"no YARP port answers at {address} over {carrier.value}") from error


class Outgoing:
    """Sends what it is given, in order, on a thread of its own.

    Args:
        sender: the name of our port.
        to: the name of theirs.
        count: told of what is `sent`, `dropped` for a full queue.
        lost: called when the peer is gone, on the thread of the connection.

    Raises:
        BodyError: nobody lets us in.
    """

    def __init__(
        self,
        sender: str,
        to: str,
        address: Address,
        carrier: Carrier,
        *,
        queue: int,
        count: Callable[[str], None],
        lost: Callable[[Outgoing], None],
    ) -> None:
        self.to = to
        self.carrier = carrier
        self._sender = sender
        self._address = address
        self._max_queued = queue
        self._count = count
        self._lost = lost
        self._link, number = open_binary(address, carrier, sender, PATIENCE_S)
        self._stream = self._link.makefile("rb")
        if carrier is Carrier.UDP:
            self._hang_up()
            self._link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._link.connect((address.host, number & 0xFFFF))
        self._link.settimeout(SILENCE_S)
        self._queue: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"yarp {sender} -> {to}", daemon=True)
        self._thread.start()

    def put(self, message: bytes) -> None:
        """Send a message after those that wait; the oldest that waits makes room."""
        with self._changed:
            if len(self._queue) >= self._max_queued:
                self._queue.popleft()
                self._count("dropped")
            self._queue.append(message)
            self._changed.notify()

    def leave(self) -> None:
        """Send what waits, say good-bye and end, without waiting until all that is done."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def give_up(self) -> None:
        """End at once."""
        hang_up(self._link)

    def wait(self) -> None:
        """Wait until it has ended."""
        if self._thread is not threading.current_thread():
            self._thread.join()

    def close(self) -> None:
        """Send what waits, say good-bye and end; a peer that does not listen is given up soon."""
        close_all([self])

    def _next(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            return self._queue.popleft() if self._queue else None

    def _run(self) -> None:
        try:
            while (message := self._next()) is not None:
                self._send(message)
            self._say_goodbye()
        except (OSError, EOFError, FormatError):
            if not self._closing:
                self._lost(self)
        finally:
            self._hang_up()

    def _send(self, message: bytes) -> None:
        for part in datagrams(message) if self.carrier is Carrier.UDP else [message]:
            self._link.sendall(part)
        if self.carrier.acks and take_numbered(take_from(self._stream)) != 0:
            raise FormatError("a message is not acknowledged")
        self._count("sent")

    def _say_goodbye(self) -> None:
        if self.carrier is not Carrier.UDP:
            self._link.settimeout(GOODBYE_S)
            self._link.sendall(Message("q").encode())
            if self.carrier.acks:
                take_numbered(take_from(self._stream))
            return
        with suppress(OSError):
            self._link.send(datagram(GOODBYE, b""))
        with suppress(BodyError, OSError):
            self._link.close()
            self._link = dial(self._address, GOODBYE_S)
            self._link.sendall(b"CONNECT admin\r\n" + line_bytes(f"~{self._sender}", "q"))
            while self._link.recv(1 << 12):  # until it has obeyed: a new connection of ours is not meant
                pass

    def _hang_up(self) -> None:
        self._stream.close()
        self._link.close()


def _give_up(outputs: Sequence[Outgoing]) -> None:
    for output in outputs:
        output.give_up()


def close_all(outputs: Sequence[Outgoing]) -> None:
    """Close connections; those whose peers do not listen are given up together, soon."""
    if not outputs:
        return
    for output in outputs:
        output.leave()
    ending = threading.Timer(GOODBYE_S, _give_up, [outputs])
    ending.start()
    for output in outputs:
        output.wait()
    ending.cancel()
    ending.join()
