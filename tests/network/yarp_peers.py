"""Peers of the YARP ports under test: raw sockets that send and expect single bytes."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from posewright.network.yarp.bottle import Bottle
from posewright.network.yarp.carriers import Envelope
from posewright.network.yarp.listening import Address
from posewright.network.yarp.names import NameClient
from posewright.network.yarp.port import Port

TCP, FAST_TCP, UDP = (b"YA" + struct.pack("<i", code) + b"RP" for code in (7908, 7780, 7777))
ACK = b"YA\0\0\0\0RP"
ENCS = bytes.fromhex("09010000 02000000 67657400 656e6373")  # [get] [encs]
ANSWER = bytes.fromhex("00010000 02000000 09000000 69730000 0a010000 01000000 000000000000f03f")  # [is] (1.0)


@dataclass
class ReceivedMessages:
    """A callback of a port that keeps the messages it receives."""

    messages: list[tuple[Bottle, Envelope | None, str]] = field(default_factory=list)

    def __call__(self, bottle: Bottle, envelope: Envelope | None, sender: str) -> None:
        self.messages.append((bottle, envelope, sender))

    @property
    def bottles(self) -> list[Bottle]:
        return [bottle for bottle, _, _ in self.messages]


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, which another thread brings about."""
    end_s = time.monotonic() + 600.0
    while not condition():
        assert time.monotonic() < end_s, "the condition never held"
        time.sleep(0.002)


def wait_until_received(port: Port, count: int) -> None:
    wait_for(lambda: port.facts()["received"] == count)


class RawClient:
    """A socket that exchanges single bytes with a port."""

    def __init__(self, address: Address) -> None:
        self.link = socket.create_connection((address.host, address.port), 5.0)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    def send(self, data: bytes) -> None:
        self.link.sendall(data)

    def expect(self, data: bytes) -> None:
        """Require that exactly these bytes come next."""
        received = b""
        while len(received) < len(data) and (part := self.link.recv(len(data) - len(received))):
            received += part
        assert received == data

    def expect_end(self) -> None:
        """Require that the port closes the connection."""
        with suppress(ConnectionResetError):
            assert self.link.recv(100) == b""

    def introduce(self, header: bytes, address: Address, name: bytes = b"anon_rpc") -> None:
        """Introduce itself, and require an answer with the number of the port."""
        self.send(header + struct.pack("<i", len(name) + 1) + name + b"\0")
        self.expect(b"YA" + struct.pack("<i", address.port) + b"RP")


def frame_payload(payload: bytes, *cuts: int) -> bytes:
    """Return a message of the protocol with a payload cut into blocks at the given offsets."""
    ends = (*cuts, len(payload))
    lengths = [end - begin for begin, end in zip((0, *cuts), ends, strict=True)]
    index = b"YA\x0a\0\0\0RP" + bytes((len(lengths), 1)) + b"\xff" * 8
    return index + struct.pack(f"<{len(lengths)}i", *lengths) + struct.pack("<i", 0) + payload


ASK = struct.pack("<i", 0) + b"~d\0\1" + ENCS
TELL = struct.pack("<i", 0) + b"~D\0\1" + ENCS
QUIT = struct.pack("<i", 2) + b"~\0\0\1q\0"


Script = tuple[tuple[str, bytes], ...]


class Peer:
    """A port of another program that plays a script for each connection: it sends and expects exact bytes."""

    def __init__(self, names: NameClient, name: str, *scripts: Script) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(5.0)
        names.register(name, Address("127.0.0.1", self._server.getsockname()[1]))
        self._scripts, self.played = scripts, 0
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._server.close()

    def _play(self) -> None:
        for script in self._scripts:
            link, _ = self._server.accept()
            link.settimeout(5.0)
            with link:
                for who, data in script:
                    for n in range(len(data)):  # one byte at a time
                        if who == "says":
                            link.sendall(data[n : n + 1])
                        else:
                            assert link.recv(1) == data[n : n + 1], f"{who} {data!r}, but not byte {n}"
            self.played += 1
