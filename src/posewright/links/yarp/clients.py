"""Clients of other ports: somebody who asks, somebody who reads."""

from __future__ import annotations

from posewright.links.yarp.bottle import Bottle
from posewright.links.yarp.names import NameClient
from posewright.links.yarp.port import OnData, Port


class RpcClient:
    """Asks a port over tcp, one request after another. A context manager; `close` never raises."""

    def __init__(
        self, names: NameClient, port_name: str, *, sender: str = "/posewright/rpc", timeout_s: float = 5.0
    ) -> None:
        raise NotImplementedError

    def ask(self, request: Bottle, timeout_s: float | None = None) -> Bottle:
        """Return the answer (BodyError: none in time, nobody there; the next `ask` connects anew)."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Reader:
    """A port of its own that an output port was asked to connect to. A context manager.

    BodyError: nobody is called `source`, or it does not connect.
    """

    port: Port

    def __init__(
        self, names: NameClient, source: str, on_data: OnData, *, name: str, carrier: str = "udp"
    ) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
