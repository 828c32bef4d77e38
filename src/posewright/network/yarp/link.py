"""`yarp:NAME[@HOST:PORT]`: a robot that YARP's name server knows, as a plant.

One that Posewright serves is driven in lock-step, to the last bit, through its port `NAME/plant:i`; any other
through its control board.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from posewright.arenas import Arena
from posewright.bodies import BodySpec, Clock, Plant, RealClock, require_single_body
from posewright.errors import BodyError, InputError
from posewright.network.remote_plant import open_remote_plant
from posewright.network.yarp.body import YarpBody
from posewright.network.yarp.clients import RpcClient, client_name
from posewright.network.yarp.names import NameClient
from posewright.network.yarp.transport import ASK, port_name

HOST = "127.0.0.1"
PORT = 10000
"""Of YARP's name server, unless the address says otherwise."""


def open_link(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    """Return the plant at an address, driven in lock-step where Posewright serves it.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, where the name server is.
        parts: the robots; a control board is of one.
        arena: the field of a robot that Posewright serves.

    Raises:
        InputError: the address cannot be read, or the robot is another one.
        BodyError: no name server answers, or nobody of that name does.
    """
    channel = find_served_robot(address)
    if channel is not None:
        return open_remote_plant(channel, parts, arena)
    return find_control_board(address, parts, RealClock(time.monotonic, time.sleep))


def find_served_robot(address: str) -> YarpChannel | None:
    """Return the channel to a robot that Posewright serves; None where another program serves it.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, where the name server is.

    Raises:
        InputError: the address cannot be read.
        BodyError: no name server answers.
    """
    name, names = parse_address(address)
    return YarpChannel(names, name) if names.query(f"{name}/plant:i") is not None else None


def find_control_board(address: str, parts: Sequence[BodySpec], clock: Clock) -> YarpBody:
    """Return a robot at an address that another program serves.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, where the name server is.
        parts: the one robot that it is.
        clock: paces its frames.

    Raises:
        InputError: the address cannot be read, or it is of several robots.
        BodyError: no name server answers, or nobody of that name does.
    """
    name, names = parse_address(address)
    part = require_single_body(parts, "a control board")
    if names.query(f"{name}/rpc:i") is None:
        raise BodyError(f"nobody is called {name}/rpc:i", hint="`yarp name list` tells who is there")
    return YarpBody(names, name, part, clock)


def parse_address(address: str) -> tuple[str, NameClient]:
    """Return the name of a robot, and a client of its name server (InputError: it is no such address)."""
    name, _, server = address.removeprefix("yarp:").partition("@")
    host, _, port = server.partition(":")
    if port and not (port.isdecimal() and port.isascii() and 0 < int(port) < 1 << 16):
        raise InputError(f"{port!r} is no port of a name server", hint="yarp:/ravebot@127.0.0.1:10000")
    return port_name(name), NameClient(host or HOST, int(port or PORT))


class YarpChannel:
    """A `RequestChannel` to the robot of that name."""

    def __init__(self, names: NameClient, name: str) -> None:
        self._rpc = RpcClient(names, f"{name}/plant:i", sender=f"{client_name()}/plant:o")

    def request(self, message: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request; errors as of `RequestChannel`."""
        match self._rpc.ask((ASK, message), timeout_s):
            case ("is", bytes(answer)):
                return answer
        raise BodyError("the answer is none", hint="is it served by the same version of Posewright?")

    def close(self) -> None:
        """Close the port."""
        self._rpc.close()
