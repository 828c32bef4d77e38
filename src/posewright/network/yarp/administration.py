"""The administration of a port: answers to requests that list or change its connections (`yarp connect`)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from posewright.errors import PosewrightError
from posewright.network.yarp.bottle import Bottle, Value, Vocab
from posewright.network.yarp.carriers import LONGEST_NAME, Carrier
from posewright.network.yarp.listening import Address


@dataclass(frozen=True, slots=True)
class Route:
    """A connection between two ports."""

    begin: str
    end: str
    carrier: Carrier

    def details(self) -> Bottle:
        """Return its description for `[list]`."""
        connectionless = (("connectionless", 1),) if self.carrier is Carrier.UDP else ()
        return ("from", self.begin), ("to", self.end), ("carrier", self.carrier.value), *connectionless


class AdministeredPort(Protocol):
    """The interface of a port for its administration."""

    name: str
    address: Address

    def connect(self, to: str, carrier: str = "tcp") -> None:
        """Connect to a port by name; raise a PosewrightError if that fails."""

    def disconnect(self, to: str) -> bool:
        """Close the connection to a port; return whether there was one."""

    def expel(self, name: str) -> bool:
        """Close the connections from a port; return whether there was one."""

    def routes(self) -> tuple[list[Route], list[Route]]:
        """Return the outgoing and the incoming connections."""


def describe(port: AdministeredPort) -> list[str]:
    """Return the connections of a port, in the lines that `yarp ping` prints."""
    lines = [f"This is {port.name} at tcp://{port.address}/"]
    outputs, inputs = port.routes()
    for kind, direction, routes in (("output", "outgoing", outputs), ("input", "incoming", inputs)):
        for route in routes:
            lines.append(
                f"There is an {kind} connection from {route.begin} to {route.end} using {route.carrier.value}"
            )
        if not routes:
            lines.append(f"There are no {direction} connections")
    return lines


def reconnect(port: AdministeredPort, command: str) -> str:
    """Execute `/port` (connect), `!/port` or `~/port` (disconnect); return the result as a line."""
    name = _word(command[1:])
    if command[0] == "/":
        result = _connect(port, f"/{name}")
    elif command[0] == "!":
        result = _disconnect_output(port, name)
    else:
        result = _disconnect_input(port, name)
    return result.rstrip()


def administer(port: AdministeredPort, request: Bottle) -> Bottle:
    """Return the answer to an administrative message."""
    handler = HANDLERS.get(_word(request[0])) if request else None
    return handler(port, request[1:]) if handler else FAIL


def _word(value: Value) -> str:
    """Return a word, cut to the longest name; empty if the value is none."""
    return value[:LONGEST_NAME] if isinstance(value, str) else ""


def _list(port: AdministeredPort, arguments: Bottle) -> Bottle:
    """Answer `[list] [in]` and `[list] [out]`, each with or without the name of a port."""
    direction = _word(arguments[0]) if arguments else ""
    name = _word(arguments[1]) if len(arguments) > 1 else ""
    outputs, inputs = port.routes()
    routes_by_direction = {
        "out": {route.end: route for route in outputs},
        "in": {route.begin: route for route in inputs},
    }
    if direction not in routes_by_direction:
        return FAIL
    routes = routes_by_direction[direction]
    if not name:
        return tuple(routes)
    return routes[name].details() if name in routes else ()


def _add(port: AdministeredPort, arguments: Bottle) -> Bottle:
    """Answer `[add] NAME` or `[add] NAME CARRIER`, which connect the port to another one."""
    target = ":/".join(map(_word, reversed(arguments[:2])))  # as in tcp://reader
    result = _connect(port, target)
    return (0 if result.startswith("Added") else -1), result


def _delete(port: AdministeredPort, arguments: Bottle) -> Bottle:
    """Answer `[del] NAME`, which closes the connections to and from a port."""
    name = _word(arguments[0]) if arguments else ""
    results = [_disconnect_output(port, name), _disconnect_input(port, name)]
    successes = [result for result in results if result.startswith("Removed")]
    return (0 if successes else -1), "".join(successes or results)


def _connect(port: AdministeredPort, target: str) -> str:
    """Connect the port to another one, written NAME or CARRIER://NAME; return the text of the answer."""
    match = re.fullmatch(r"([a-z_]++)[^:/]*+:/(/.+)", target)  # as fast_tcp://reader, or tcp+log.in://reader
    carrier = match[1] if match else "tcp"
    name = match[2] if match else target
    try:
        port.connect(name, carrier)
    except PosewrightError:
        return f"Do not know how to connect to {target}\r\n"
    return f"Added connection from {port.name} to {target}\r\n"


def _disconnect_output(port: AdministeredPort, name: str) -> str:
    if port.disconnect(name):
        return f"Removed connection from {port.name} to {name}\r\n"
    return f"Could not find an outgoing connection to {name}\r\n"


def _disconnect_input(port: AdministeredPort, name: str) -> str:
    if port.expel(name):
        return f"Removed connection from {name} to {port.name}\r\n"
    return f"Could not find an incoming connection from {name}\r\n"


FAIL: Bottle = (Vocab("fail"), "send [help] for list of valid commands")
HELP: Bottle = (
    Vocab("many"),
    "[ver] | [list] [in] $port | [list] [out] $port",
    "[add] $port, tcp://port, fast_tcp://port or udp://port | [del] $port",
)
HANDLERS: Mapping[str, Callable[[AdministeredPort, Bottle], Bottle]] = MappingProxyType(
    {
        "ver": lambda _port, _arguments: (Vocab("ver"), 1, 2, 3),
        "help": lambda _port, _arguments: HELP,
        "list": _list,
        "add": _add,
        "del": _delete,
        "prop": lambda _port, arguments: () if arguments[:1] == ("get",) else (Vocab("fail"),),
        "pid": lambda _port, _arguments: (1, "", os.getpid()),
    }
)
