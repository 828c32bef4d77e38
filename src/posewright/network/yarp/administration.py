"""What a port answers to those who ask about its connections and change them: `yarp connect`, `yarp ping`."""

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
        """Return what `[list]` says of it."""
        connectionless = (("connectionless", 1),) if self.carrier is Carrier.UDP else ()
        return ("from", self.begin), ("to", self.end), ("carrier", self.carrier.value), *connectionless


class Connected(Protocol):
    """A port, as those see it who ask about its connections."""

    name: str
    address: Address

    def connect(self, to: str, carrier: str = "tcp") -> None:
        """Connect to a port by name; PosewrightError: it cannot."""

    def disconnect(self, to: str) -> bool:
        """End the connection to a port; return whether there was one."""

    def expel(self, name: str) -> bool:
        """End the connections that somebody made; return whether there was one."""

    def routes(self) -> tuple[list[Route], list[Route]]:
        """Return its connections: those to others, and those from others."""


def describe(port: Connected) -> list[str]:
    """Return who is connected, in the lines that `yarp ping` prints."""
    said = [f"This is {port.name} at tcp://{port.address}/"]
    for kind, none, routes in zip(("output", "input"), ("outgoing", "incoming"), port.routes(), strict=True):
        of = f"There is an {kind} connection"
        lines = [f"{of} from {one.begin} to {one.end} using {one.carrier.value}" for one in routes]
        said += lines or [f"There are no {none} connections"]
    return said


def reconnect(port: Connected, command: str) -> str:
    """Obey `/port`, `!/port` or `~/port`; return what was done."""
    obey = {"/": lambda name: _add(port, f"/{name}"), "!": lambda name: _end_output(port, name)}
    return obey.get(command[0], lambda name: _end_input(port, name))(_word(command[1:])).rstrip()


def administer(port: Connected, request: Bottle) -> Bottle:
    """Return the answer to an administrative message."""
    said = ANSWERS.get(_word(request[0])) if request else None
    return said(port, request[1:]) if said else FAIL


def _word(value: Value) -> str:
    """Return a word or a name, and of what is longer than any the beginning."""
    return value[:LONGEST_NAME] if isinstance(value, str) else ""


def _list(port: Connected, rest: Bottle) -> Bottle:
    way, name = map(_word, (*rest, "", "")[:2])
    outputs, inputs = port.routes()
    ways = {"out": {one.end: one for one in outputs}, "in": {one.begin: one for one in inputs}}
    if way not in ways:
        return FAIL
    if not name:
        return tuple(ways[way])
    return ways[way][name].details() if name in ways[way] else ()


def _added(port: Connected, rest: Bottle) -> Bottle:
    target = ":/".join(map(_word, reversed(rest[:2])))
    said = _add(port, target)
    return (0 if said.startswith("Added") else -1), said


def _deleted(port: Connected, rest: Bottle) -> Bottle:
    name = _word(rest[0]) if rest else ""
    said = [_end_output(port, name), _end_input(port, name)]
    done = [one for one in said if one.startswith("Removed")]
    return (0 if done else -1), "".join(done or said)


def _add(port: Connected, target: str) -> str:
    found = re.fullmatch(r"([a-z_]++)[^:/]*+:/(/.+)", target)  # as fast_tcp://reader, or tcp+log.in://reader
    carrier, to = (found[1], found[2]) if found else ("tcp", target)
    try:
        port.connect(to, carrier)
    except PosewrightError:
        return f"Do not know how to connect to {target}\r\n"
    return f"Added connection from {port.name} to {target}\r\n"


def _end_output(port: Connected, name: str) -> str:
    if port.disconnect(name):
        return f"Removed connection from {port.name} to {name}\r\n"
    return f"Could not find an outgoing connection to {name}\r\n"


def _end_input(port: Connected, name: str) -> str:
    if port.expel(name):
        return f"Removed connection from {name} to {port.name}\r\n"
    return f"Could not find an incoming connection from {name}\r\n"


FAIL: Bottle = (Vocab("fail"), "send [help] for list of valid commands")
HELP: Bottle = (
    Vocab("many"),
    "[ver] | [list] [in] $port | [list] [out] $port",
    "[add] $port, tcp://port, fast_tcp://port or udp://port | [del] $port",
)
ANSWERS: Mapping[str, Callable[[Connected, Bottle], Bottle]] = MappingProxyType(
    {
        "ver": lambda _port, _rest: (Vocab("ver"), 1, 2, 3),
        "help": lambda _port, _rest: HELP,
        "list": _list,
        "add": _added,
        "del": _deleted,
        "prop": lambda _port, rest: () if rest[:1] == ("get",) else (Vocab("fail"),),
        "pid": lambda _port, _rest: (1, "", os.getpid()),
    }
)
