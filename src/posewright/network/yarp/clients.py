"""Clients of other ports: one that sends requests, and one that reads a stream."""

from __future__ import annotations

import itertools
import os
import socket
import threading
from contextlib import suppress

from posewright.errors import BodyError, FormatError, PosewrightError
from posewright.network.yarp.bottle import MAX_BYTES, Bottle, Vocab, exact_reader, read_bottle
from posewright.network.yarp.carriers import Carrier, Message, take_number
from posewright.network.yarp.listening import Address, line_bytes, open_connection, read_line
from posewright.network.yarp.names import NameClient
from posewright.network.yarp.outgoing import open_binary
from posewright.network.yarp.port import OnData, Port
from posewright.network.yarp.text import from_text, to_text

ANSWER_TIMEOUT_S = 5.0
"""Longest wait for an answer by default [s]."""

_client_numbers = itertools.count(1)


def client_name() -> str:
    """Return a unique prefix for the names of one client's ports."""
    return f"/posewright/{os.getpid()}/{next(_client_numbers)}"


class RpcClient:
    """Sends requests to a port over tcp, connected at the first request; a context manager.

    Args:
        name_client: a client of the name server.
        port_name: the name of the port.
        sender: the name by which the port knows this client.
        timeout_s: longest wait for an answer by default [s].
    """

    def __init__(
        self,
        name_client: NameClient,
        port_name: str,
        *,
        sender: str = "posewright_rpc",
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        """Store the arguments; the first request connects."""
        self._name_client = name_client
        self._port_name = port_name
        self._sender = sender
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._link: socket.socket | None = None

    def __enter__(self) -> RpcClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: Bottle, timeout_s: float | None = None) -> Bottle:
        """Return the answer to a request.

        Raises:
            BodyError: no answer came in time, or the port is gone; the next request connects again.
            InputError: the request cannot be encoded.
            UnknownNameError: there is no such port.
        """
        message = Message("d", request).encode()  # "d": data that want an answer
        with self._lock:
            try:
                return self._exchange(message, self._timeout_s if timeout_s is None else timeout_s)
            except (OSError, EOFError, FormatError) as error:
                self._close_link()
                reason = str(error) or "it closed the connection"
                raise BodyError(f"{self._port_name} does not answer", hint=reason) from error

    def _exchange(self, message: bytes, timeout_s: float) -> Bottle:
        """Connect if necessary, send a message and return the answer."""
        if self._link is None:
            address = self._name_client.find(self._port_name)
            self._link, _ = open_binary(address, Carrier.TCP, self._sender, self._timeout_s)
        self._link.settimeout(timeout_s)
        self._link.sendall(message)
        with self._link.makefile("rb") as stream:
            take = exact_reader(stream)
            answer = read_bottle(take)
            take_number(take)  # the acknowledgement
        return answer

    def close(self) -> None:
        """Disconnect; must not raise."""
        with self._lock, suppress(OSError, EOFError, FormatError):
            if self._link is not None:
                self._link.settimeout(1.0)
                self._link.sendall(Message("q").encode())
                with self._link.makefile("rb") as stream:
                    take_number(exact_reader(stream))
        self._close_link()

    def _close_link(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


def administer(address: Address, request: Bottle, timeout_s: float = ANSWER_TIMEOUT_S) -> Bottle:
    """Return a port's answer to an administrative message, which is sent in text mode.

    Raises:
        BodyError: nothing listens there, or it is no YARP port.
    """
    with open_connection(address, timeout_s) as link, link.makefile("rb") as stream:
        try:
            link.sendall(b"CONNACK admin\r\n" + line_bytes("a", to_text(request)))
            read_line(stream)  # Welcome admin
            answer = from_text(read_line(stream))
            read_line(stream)  # <ACK>
            link.sendall(line_bytes("q"))
            read_line(stream)
        except (OSError, EOFError, FormatError) as error:
            raise BodyError(f"no YARP port answers at {address}") from error
    return answer


class Reader:
    """A port that reads the messages of an output port; a context manager.

    Args:
        name_client: a client of the name server.
        source: the name of the output port, which is told to connect to this one.
        on_data: is called with each message.
        name: the name of this port.
        carrier: tcp, fast_tcp or udp.

    Raises:
        BodyError: the source does not answer, or does not connect.
        InputError: another port has the name.
        UnknownNameError: there is no such source.
    """

    def __init__(
        self, name_client: NameClient, source: str, on_data: OnData, *, name: str, carrier: str = "udp"
    ) -> None:
        """Open a port, and ask the source to connect to it."""
        self._source = name_client.find(source)
        self.port = Port(name, name_client, on_data=on_data, max_message_bytes=MAX_BYTES)
        try:
            result = administer(self._source, (Vocab("add"), f"{carrier}:/{name}"))
            if result[:1] != (0,):
                raise BodyError(f"{source} does not connect to {name}", hint=to_text(result))
        except PosewrightError:
            self.port.close()
            raise

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect the source and close the port; must not raise."""
        with suppress(PosewrightError):
            administer(self._source, (Vocab("del"), self.port.name), timeout_s=1.0)
        self.port.close()
