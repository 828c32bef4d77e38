"""A YARP port: what others connect to, and what connects to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from posewright.links.yarp.bottle import Bottle
from posewright.links.yarp.names import Address, NameClient


@dataclass(frozen=True, slots=True)
class Envelope:
    """A stamp beside a message: its number and its time [s]."""

    count: int
    time_s: float


OnData: TypeAlias = Callable[[Bottle, Envelope | None, str], None]
"""Called with a bottle, its envelope and the sender's name; on the thread of that connection."""

OnRequest: TypeAlias = Callable[[Bottle, str], Bottle]
"""Called with a request and the sender's name; returns the answer. One at a time for each port."""


class Port:
    """A named port on loopback. `with Port("/robot/rpc:i", names, on_request=answer) as port: ...`

    It listens from the moment it is made, and is registered then. Callbacks are called on the threads of
    connections, one at a time for each port; what a callback raises (PosewrightError) closes that connection.
    """

    name: str
    address: Address

    def __init__(
        self,
        name: str,
        names: NameClient,
        *,
        on_data: OnData | None = None,
        on_request: OnRequest | None = None,
        queue: int = 8,
    ) -> None:
        raise NotImplementedError

    def write(self, bottle: Bottle, envelope: Envelope | None = None) -> None:
        """Send to every outgoing connection; never blocks: the oldest of a full queue is dropped and counted."""

    def connect(self, to: str, carrier: str = "tcp") -> None:
        """Connect to a port by name, over `tcp`, `fast_tcp` or `udp` (BodyError: nobody there)."""

    def disconnect(self, to: str) -> bool:
        """End the connection to a port; return whether there was one."""
        raise NotImplementedError

    @property
    def outputs(self) -> tuple[str, ...]:
        """Whom it is connected to."""
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[str, ...]:
        """Who is connected to it."""
        raise NotImplementedError

    def facts(self) -> dict[str, float]:
        """Counters: received, sent, dropped (full queue), malformed, refused, lost (datagrams), connections."""
        raise NotImplementedError

    def close(self) -> None:
        """Unregister, hang up on everybody, join all threads; must not raise."""
