"""The server side of connections to a port: in text mode, over tcp, or with datagrams."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from posewright.errors import FormatError, InputError
from posewright.network.yarp.administration import AdministeredPort, administer, describe, reconnect
from posewright.network.yarp.bottle import Bottle, encode, exact_reader
from posewright.network.yarp.carriers import (
    ACK,
    HEADER_BYTES,
    LONGEST_NAME,
    Assembly,
    Carrier,
    Envelope,
    Message,
    carrier_of,
    encode_number,
    take_introduction,
    take_message,
)
from posewright.network.yarp.listening import Connection, line_bytes, read_line
from posewright.network.yarp.text import from_text, to_text

INTRODUCTION_S = 5.0
"""Longest wait for a client to introduce itself [s]."""

SILENT_S = 600.0
"""A sender of datagrams that is silent for this long is considered gone, as UDP has no disconnection [s]."""

RECEIVE_BUFFER_BYTES = 1 << 20
"""Size of the buffer for datagrams; the system may limit it."""

NOT_FOUND = "* Error. Protocol not found"
ACK_LINE = "<ACK>"
HELP = (
    "This is a YARP port: * describes it, q disconnects, ? is this help.",
    "d or do: data follow, which want an answer or none; a: an administrative message follows.",
    "/port, !/port, ~/port: send output there, no more, take no more input from there.",
)


@dataclass(frozen=True, slots=True, eq=False)
class Incoming:
    """A connection to a port.

    Attributes:
        sender: the name of the port at its other end.
        carrier: its carrier.
        end: makes its thread end.
    """

    sender: str
    carrier: Carrier
    end: Callable[[], None]


class DeliveryPort(AdministeredPort, Protocol):
    """The interface of a port to its connections.

    Attributes:
        max_message_bytes: longest message that it accepts [bytes].
    """

    max_message_bytes: int

    def add_input(self, incoming: Incoming) -> None:
        """Add a connection; raise an EOFError if the port closes."""

    def leave(self, incoming: Incoming) -> None:
        """Remove a connection."""

    def deliver(self, message: Message, sender: str) -> Bottle | None:
        """Return the answer to data; None if the connection is to be closed."""

    def count(self, counter: str, by: int = 1) -> None:
        """Increase a counter of the port."""


def serve_port(connection: Connection, port: DeliveryPort, header: bytes = b"") -> None:
    """Serve a connection until it ends, for example because its bytes are malformed.

    Args:
        connection: the connection.
        port: the port that it is to.
        header: the first eight bytes, if they are read already.
    """
    link = connection.link
    link.settimeout(INTRODUCTION_S)
    with link.makefile("rb") as stream:
        header = header or stream.read(HEADER_BYTES)
        if not header:
            return
        conversation = _Conversation(
            connection, take=exact_reader(stream), read_line=lambda: read_line(stream), port=port
        )
        carrier = carrier_of(header)
        try:
            if carrier in {Carrier.TEXT, Carrier.TEXT_ACK}:
                conversation.serve_text(carrier)
            elif carrier is Carrier.UDP:  # served below, when the stream is closed
                sender = take_introduction(conversation.take)
            elif carrier is not None:
                conversation.serve_binary(carrier, lambda: bool(stream.peek(1)))
        except (InputError, EOFError):
            port.count("malformed")
            return
    if carrier is None:
        port.count("malformed")
        _reject_connection(link)
    elif carrier is Carrier.UDP:
        _DatagramReceiver(sender, port, connection).serve(link)


def _reject_connection(link: socket.socket) -> None:
    """Answer that the protocol is unknown, and end the connection."""
    link.sendall(line_bytes(NOT_FOUND))
    link.shutdown(socket.SHUT_WR)
    link.settimeout(0.2)
    with suppress(OSError):  # unread bytes would discard the answer
        link.recv(1 << 16)


@contextmanager
def _registered(port: DeliveryPort, incoming: Incoming) -> Iterator[None]:
    """Count a connection among the inputs of a port while the context lasts."""
    port.add_input(incoming)
    try:
        yield
    finally:
        port.leave(incoming)


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A connection over TCP.

    Attributes:
        connection: the connection.
        take: reads a number of bytes.
        read_line: reads a line.
        port: the port.
    """

    connection: Connection
    take: Callable[[int], bytes]
    read_line: Callable[[], str]
    port: DeliveryPort

    def serve_text(self, carrier: Carrier) -> None:
        """Serve a client in text mode, which may be a person at a terminal."""
        sender = self.read_line()[:LONGEST_NAME]
        link = self.connection.link
        with _registered(self.port, Incoming(sender, carrier, self.connection.end)):
            link.settimeout(None)
            link.sendall(line_bytes(f"Welcome {sender}"))
            has_ended = False
            while not has_ended:
                try:
                    command = self.read_line()
                except EOFError:
                    return
                lines = self._execute(command, sender)
                self.connection.note_activity()
                has_ended = lines is None or command[:1] == "q"
                acknowledgement = [ACK_LINE] if carrier.acks and lines is not None else []
                link.sendall(line_bytes(*(lines or []), *acknowledgement))

    def _execute(self, command: str, sender: str) -> list[str] | None:
        """Return the lines that answer a command; None if the port rejects data and the connection ends.

        The first character of a command says what it does: `HELP` lists them.
        """
        key = command[:1]
        if key in {"d", "D"}:
            return self._deliver_text(command, sender)
        if key == "a":
            return [to_text(administer(self.port, from_text(self.read_line())))]
        if key == "*":
            return describe(self.port)
        if key in {"/", "!", "~"}:
            return [reconnect(self.port, command)]
        if key in {"?", "h"}:
            return list(HELP)
        unknown = ["Port command not understood.", "Type d to send data.", "Type ? for help."]
        return [] if key == "q" else unknown

    def _deliver_text(self, command: str, sender: str) -> list[str] | None:
        """Deliver the data on the next line; return the answer, or None if the port rejects them.

        Only the command `d` wants an answer; `D` and `do` do not.
        """
        wants_answer = command.startswith("d") and not command.startswith("do")
        envelope = Envelope.parse(command[1:])
        message = Message("d" if wants_answer else "D", from_text(self.read_line()), envelope)
        answer = self.port.deliver(message, sender)
        if answer is None:
            return None
        return [to_text(answer)] if wants_answer else []

    def serve_binary(self, carrier: Carrier, has_next: Callable[[], bool]) -> None:
        """Serve a client over tcp or fast_tcp; `has_next` waits, and returns whether more bytes came."""
        sender = take_introduction(self.take)
        link = self.connection.link
        with _registered(self.port, Incoming(sender, carrier, self.connection.end)):
            link.sendall(encode_number(self.port.address.port))
            link.settimeout(None)
            has_ended = False
            while not has_ended and has_next():
                message = take_message(self.take, self.port.max_message_bytes)
                answer = self._answer(message, sender)
                self.connection.note_activity()
                has_ended = message.command == "q" or answer is None
                if answer is not None:
                    link.sendall(answer + (ACK if carrier.acks else b""))

    def _answer(self, message: Message, sender: str) -> bytes | None:
        """Return the bytes that answer a message; None if the port rejects it and the connection ends.

        Data (`d`, or `D` if no answer is wanted) go to the port; an `a` is an administrative command; all
        others, such as `q`, are answered with no bytes.
        """
        if (message.is_data or message.command == "a") and message.bottle is None:
            raise FormatError("the command has no bottle")
        if message.command == "a":
            return encode(administer(self.port, message.bottle or ()))
        if not message.is_data:
            return b""
        answer = self.port.deliver(message, sender)
        if answer is None:
            return None
        return encode(answer) if message.command == "d" else b""


class _DatagramReceiver:
    """Receives messages over udp; the TCP connection before only tells the sender the number of the port."""

    def __init__(self, sender: str, port: DeliveryPort, connection: Connection) -> None:
        """Begin without a message; `serve` receives."""
        self._sender = sender
        self._port = port
        self._connection = connection
        self._is_closed = False
        self._source: tuple[str, int] | None = None
        self._assembly = Assembly(port.max_message_bytes)

    def serve(self, link: socket.socket) -> None:
        """Receive datagrams until a side ends the connection or it stays silent for SILENT_S."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            udp.bind((self._port.address.host, 0))
            self._connection.end = lambda: self._end(udp)
            with _registered(self._port, Incoming(self._sender, Carrier.UDP, self._connection.end)):
                link.sendall(encode_number(udp.getsockname()[1]))
                link.close()
                udp.settimeout(SILENT_S)
                while not self._is_closed:
                    data, source = udp.recvfrom(1 << 16)
                    goes_on = self._receive(data, source)
                    if not goes_on:  # `_end` in another thread may have closed it meanwhile
                        self._is_closed = True

    def _end(self, udp: socket.socket) -> None:
        """End the connection; an empty datagram wakes its thread, which waits for one."""
        self._is_closed = True
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b"", udp.getsockname())

    def _receive(self, data: bytes, source: tuple[str, int]) -> bool:
        """Process a datagram; return whether the connection goes on.

        Args:
            data: the datagram.
            source: the address that sent it; only the one that sent the first valid datagram is accepted.
        """
        if self._is_closed:
            return False
        if self._source is not None and source != self._source:
            self._port.count("malformed")
            return True
        n_dropped_before = self._assembly.n_dropped
        try:
            message = self._assembly.add(data)
            if message is not None and (not message.is_data or message.bottle is None):
                raise FormatError("the datagram has no data")
        except FormatError:
            self._port.count("malformed")
            message = None
        except EOFError:
            return False
        else:
            self._source = source  # datagrams from elsewhere are ignored from now on
            self._connection.note_activity()
        self._port.count("lost", self._assembly.n_dropped - n_dropped_before)
        return message is None or self._port.deliver(message, self._sender) is not None
