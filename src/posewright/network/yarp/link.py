"""Opens `yarp:NAME[@HOST:PORT]`, a robot registered at YARP's name server, as a plant.

A robot served by Posewright is driven in lock-step through its port `NAME/plant:i`, with the same results to
the last bit as a local one; any other robot is driven through its control board.
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
from posewright.network.yarp.transport import REQUEST, port_name
from posewright.units import parse_whole_number

HOST = "127.0.0.1"
PORT = 10000
"""Address of YARP's name server by default."""


def open_link(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    """Return the plant at an address.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, with host and port of the name server.
        parts: the robots; a control board has only one.
        arena: the arena, for a robot served by Posewright.

    Raises:
        InputError: the address is invalid, or the robot there is another one.
        BodyError: no name server answers, or there is no robot of that name.
    """
    channel = find_served_robot(address)
    if channel is not None:
        return open_remote_plant(channel, parts, arena)
    return find_control_board(address, parts, RealClock(time.monotonic, time.sleep))


def find_served_robot(address: str) -> YarpChannel | None:
    """Return the channel to a robot served by Posewright; None if there is none.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, with host and port of the name server.

    Raises:
        InputError: the address is invalid.
        BodyError: no name server answers.
    """
    name, name_client = parse_address(address)
    return YarpChannel(name_client, name) if name_client.query(f"{name}/plant:i") is not None else None


def find_control_board(address: str, parts: Sequence[BodySpec], clock: Clock) -> YarpBody:
    """Return a robot whose control board is served by another program.

    Args:
        address: `yarp:NAME[@HOST:PORT]`, with host and port of the name server.
        parts: the robot, as the only part.
        clock: paces its frames.

    Raises:
        InputError: the address is invalid, or there are several parts.
        BodyError: no name server answers, or there is no robot of that name.
    """
    name, name_client = parse_address(address)
    part = require_single_body(parts, "a control board")
    if name_client.query(f"{name}/rpc:i") is None:
        raise BodyError(f"there is no port {name}/rpc:i", hint="`yarp name list` shows all ports")
    return YarpBody(name_client, name, part, clock)


def parse_address(address: str) -> tuple[str, NameClient]:
    """Return the name of a robot, and a client of its name server; raise InputError if it is invalid."""
    name, _, server = address.removeprefix("yarp:").partition("@")
    host, _, port_text = server.partition(":")
    port = parse_whole_number(port_text) if port_text else PORT
    if port is None or not 0 < port < 1 << 16:
        raise InputError(
            f"{port_text!r} is not a port of a name server",
            hint="write an address such as yarp:/ravebot@127.0.0.1:10000",
        )
    return port_name(name), NameClient(host or HOST, port)


class YarpChannel:
    """A `RequestChannel` to a robot served by Posewright."""

    def __init__(self, name_client: NameClient, name: str) -> None:
        self._rpc = RpcClient(name_client, f"{name}/plant:i", sender=f"{client_name()}/plant:o")

    def request(self, message: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request.

        Raises:
            BodyError: no answer came in time, or it is invalid.
        """
        match self._rpc.ask((REQUEST, message), timeout_s):
            case ("is", bytes(answer)):
                return answer
        hint = "serve it with the same version of Posewright"
        raise BodyError("the robot's answer is invalid", hint=hint)

    def close(self) -> None:
        """Close the port."""
        self._rpc.close()
