"""The line to a robot that Posewright serves on YARP: its port `NAME/plant:i`."""

from __future__ import annotations

import itertools
import os

from posewright.errors import BodyError
from posewright.network.yarp.bottle import Vocab
from posewright.network.yarp.clients import RpcClient
from posewright.network.yarp.names import NameClient

ASK = Vocab("ask")
"""`[ask] {blob}` is answered `[is] {blob}`."""

_clients = itertools.count(1)


def own_name() -> str:
    """Return what the ports of one client of ours begin with, unlike all others on this machine."""
    return f"/posewright/{os.getpid()}/{next(_clients)}"


class YarpWire:
    """A `served.Wire` to the robot of that name."""

    def __init__(self, names: NameClient, name: str) -> None:
        self._rpc = RpcClient(names, f"{name}/plant:i", sender=f"{own_name()}/plant:o")

    def ask(self, request: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request; errors as of `served.Wire`."""
        match self._rpc.ask((ASK, request), timeout_s):
            case ("is", bytes(answer)):
                return answer
        raise BodyError("the answer is none", hint="is it served by the same version of Posewright?")

    def close(self) -> None:
        """Let go of the port."""
        self._rpc.close()
