"""Clients of other ports: somebody who asks, somebody who reads."""

from __future__ import annotations

import itertools
import os
import socket
import threading
from contextlib import suppress

from posewright.errors import BodyError, FormatError, PosewrightError
from posewright.network.yarp.bottle import MAX_BYTES, Bottle, Vocab, read_bottle
from posewright.network.yarp.carriers import Carrier, Message, take_numbered
from posewright.network.yarp.listening import Address, dial, line_bytes, take_from, take_line
from posewright.network.yarp.names import NameClient
from posewright.network.yarp.outgoing import open_binary
from posewright.network.yarp.port import OnData, Port
from posewright.network.yarp.text import from_text, to_text

PATIENCE_S = 5.0

_client_numbers = itertools.count(1)


def client_name() -> str:
    """Return what the ports of one client of ours begin with, unlike all others on this machine."""
    return f"/posewright/{os.getpid()}/{next(_client_numbers)}"


class RpcClient:
    """Asks a port over tcp, one request after another, connected when first asked; a context manager."""

    def __init__(
        self,
        names: NameClient,
        port_name: str,
        *,
        sender: str = "posewright_rpc",
        timeout_s: float = PATIENCE_S,
    ) -> None:
        self._names = names
        self._to = port_name
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
            BodyError: no answer came in time, or nobody is there; the next request connects anew.
            InputError: a bottle cannot hold that, or nobody is called so.
        """
        message = Message("d", request).encode()
        with self._lock:
            try:
                return self._ask(message, self._timeout_s if timeout_s is None else timeout_s)
            except (OSError, EOFError, FormatError) as error:
                self._hang_up()
                raise BodyError(f"{self._to} does not answer", hint=str(error) or "it hung up") from error

    def _ask(self, message: bytes, timeout_s: float) -> Bottle:
        if self._link is None:
            where = self._names.find(self._to)
            self._link, _ = open_binary(where, Carrier.TCP, self._sender, self._timeout_s)
        self._link.settimeout(timeout_s)
        self._link.sendall(message)
        with self._link.makefile("rb") as stream:
            take = take_from(stream)
            answer = read_bottle(take)
            take_numbered(take)  # the acknowledgement
        return answer

    def close(self) -> None:
        """Say good-bye; must not raise."""
        with self._lock, suppress(OSError, EOFError, FormatError):
            if self._link is not None:
                self._link.settimeout(1.0)
                self._link.sendall(Message("q").encode())
                with self._link.makefile("rb") as stream:
                    take_numbered(take_from(stream))
        self._hang_up()

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


def administer(address: Address, request: Bottle, timeout_s: float = PATIENCE_S) -> Bottle:
    """Return a port's answer to an administrative message, which goes in text.

    Raises:
        BodyError: nobody is there, or it is no port.
    """
    with dial(address, timeout_s) as link, link.makefile("rb") as stream:
        try:
            link.sendall(b"CONNACK admin\r\n" + line_bytes("a", to_text(request)))
            take_line(stream)  # Welcome admin
            answer = from_text(take_line(stream))
            take_line(stream)  # <ACK>
            link.sendall(line_bytes("q"))
            take_line(stream)
        except (OSError, EOFError, FormatError) as error:
            raise BodyError(f"no YARP port answers at {address}") from error
    return answer


class Reader:
    """A port of ours that an output port was asked to connect to; a context manager.

    Args:
        source: the output port.
        name: of ours.
        carrier: tcp, fast_tcp or udp.

    Raises:
        BodyError: the source does not answer, or does not connect.
        InputError: nobody is called so, or `name` is taken.
    """

    def __init__(
        self, names: NameClient, source: str, on_data: OnData, *, name: str, carrier: str = "udp"
    ) -> None:
        self._source = names.find(source)
        self.port = Port(name, names, on_data=on_data, longest=MAX_BYTES)
        try:
            done = administer(self._source, (Vocab("add"), f"{carrier}:/{name}"))
            if done[:1] != (0,):
                raise BodyError(f"{source} does not connect to {name}", hint=to_text(done))
        except PosewrightError:
            self.port.close()
            raise

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the source go, and close the port; must not raise."""
        with suppress(PosewrightError):
            administer(self._source, (Vocab("del"), self.port.name), 1.0)
        self.port.close()
