"""Who is where: YARP's name server, and how to ask one.

Each request is a connection of its own: `NAME_SERVER` and a command, then lines, the last of them
`*** end of message`.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Mapping

from posewright.errors import BodyError, FormatError, InputError, UnknownNameError
from posewright.network.yarp.administration import Route
from posewright.network.yarp.bottle import Bottle
from posewright.network.yarp.carriers import HEADER_BYTES, LONGEST_REQUEST, Carrier, Message, carrier_of
from posewright.network.yarp.incoming import Incoming, serve
from posewright.network.yarp.listening import (
    Address,
    Guest,
    Listener,
    can_listen,
    dial,
    is_loopback,
    line_bytes,
    take_line,
)
from posewright.network.yarp.text import from_text, to_text

__all__ = ["Address", "NameClient", "NameServer"]

DEFAULT = Address("127.0.0.1", 10000)
ROOT = "/root"
"""What the name server is called as a port."""

FIRST_PORT = 10002
ASK = "NAME_SERVER "
END = "*** end of message"
ANNOUNCED = "[ok]"
ALLOCATE = "..."
MOST_NAMES = 1024
MOST_PROPERTIES = 16
LONGEST_PROPERTY = 2048
LONGEST_WHERE = 255
"""So many properties a port that is registered may have, of so many letters each: the rest is not kept."""

PATIENCE_S = 5.0
"""So long may the two sides of a request keep each other waiting."""

ROOTED = re.compile(r"/[!-~]{1,255}")
REGISTRATION = re.compile(r"registration name (\S+) ip (\S+) port (\d{1,5}) type (\S+)", re.ASCII)


def require_rooted(name: str) -> str:
    """Return a port's name.

    Raises:
        InputError: it is none.
    """
    if not ROOTED.fullmatch(name):
        raise InputError(f"no port can be called {name[:80]!r}", hint="such as /robot/left_leg/state:o")
    return name


class NameClient:
    """Asks a name server.

    Raises:
        InputError: the name server is not on this machine.
    """

    def __init__(
        self, host: str = DEFAULT.host, port: int = DEFAULT.port, *, timeout_s: float = PATIENCE_S
    ) -> None:
        self.server = Address(host, port)
        self._timeout_s = timeout_s

    def ask(self, command: str) -> list[str]:
        """Return the lines of the answer to a command, without the last.

        Raises:
            BodyError: no name server answers.
        """
        found: list[str] = []
        try:
            with dial(self.server, self._timeout_s) as link, link.makefile("rb") as stream:
                link.sendall(line_bytes(ASK + command))
                while len(found) <= MOST_NAMES and (line := take_line(stream)) != END:
                    found.append(line)
                    if line == ANNOUNCED:  # the one answer without an end
                        break
        except (OSError, EOFError, FormatError, BodyError) as error:
            what = f"no name server answers at {self.server}"
            hint = "start `yarpserver`, or let the gateway bring its own"
            raise BodyError(what, hint=hint) from error
        return found

    def query(self, name: str) -> Address | None:
        """Return where a port is, or None where nobody is called that.

        Raises:
            BodyError: no name server answers.
            InputError: the port is on another machine.
        """
        found = _registered(self.ask(f"query {require_rooted(name)}"))
        return Address(*found[name]) if name in found else None

    def find(self, name: str) -> Address:
        """Return where a port is.

        Raises:
            UnknownNameError: nobody is called that.
            BodyError: no name server answers.
            InputError: the port is on another machine.
        """
        address = self.query(name)
        if address is None:
            raise UnknownNameError.among("port", name, self.names())
        return address

    def register(self, name: str, address: Address) -> None:
        """Tell where a port is.

        Raises:
            BodyError: no name server answers, or it says otherwise.
        """
        lines = self.ask(f"register {require_rooted(name)} tcp {address.host} {address.port}")
        if _registered(lines).get(name) != (address.host, address.port):
            raise BodyError(f"the name server does not register {name} at {address}", hint=" ".join(lines))

    def unregister(self, name: str) -> None:
        """Take a name off.

        Raises:
            BodyError: no name server answers.
        """
        self.ask(f"unregister {require_rooted(name)}")

    def announce(self, name: str, properties: Mapping[str, str]) -> None:
        """Tell a port's properties, such as the carriers it `accepts`, and that it is there.

        Raises:
            BodyError: no name server answers.
        """
        for key, value in properties.items():
            self.ask(f"set {name} {key} {value}")
        self.ask(f"announce {name}")

    def names(self) -> dict[str, Address]:
        """Return every port on this machine that is registered.

        Raises:
            BodyError: no name server answers.
        """
        there = _registered(self.ask("list")).items()
        return {name: Address(*where) for name, where in there if is_loopback(where[0])}


def _registered(lines: list[str]) -> dict[str, tuple[str, int]]:
    """Return host and port by name."""
    found = [parts for line in lines if (parts := REGISTRATION.fullmatch(line.strip()))]
    return {parts[1]: (parts[2], int(parts[3])) for parts in found}


class NameServer:
    """A small name server, for where no `yarpserver` runs; a context manager.

    Args:
        host: on this machine.
        port: 0 is any that is free: `address` says which.

    Raises:
        BodyError: another program listens there, such as a `yarpserver`.
        InputError: the host is another machine.
    """

    def __init__(self, host: str = DEFAULT.host, port: int = DEFAULT.port) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, tuple[str, int, str]] = {}
        self._properties: dict[tuple[str, str], str] = {}
        self._verbs: Mapping[str, Callable[[list[str]], list[str]]] = {
            "query": lambda rest: self._line(rest[0]),
            "register": self._register,
            "unregister": self._unregister,
            "set": self._set,
            "get": self._get,
            "check": self._check,
            "route": self._route,
        }
        self._listener = Listener(Address(host, port), self._serve)
        self.address = self._listener.address
        self._root = RootPort(
            self.address, lambda words: [line for line in self.answer(words) if line != END]
        )
        self._names[ROOT] = (self.address.host, self.address.port, "tcp")
        self._listener.start()

    def __enter__(self) -> NameServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up on everybody; must not raise."""
        self._listener.close()

    def _serve(self, guest: Guest) -> None:
        link = guest.link
        link.settimeout(PATIENCE_S)
        header = b""
        while len(header) < HEADER_BYTES and (part := link.recv(HEADER_BYTES - len(header))):
            header += part
        if carrier_of(header) in {Carrier.TEXT, Carrier.TEXT_ACK, Carrier.TCP, Carrier.FAST_TCP}:
            serve(guest, self._root, header)
            return
        with link.makefile("rb") as stream:
            try:
                asked = header.decode("latin-1") + take_line(stream)
            except FormatError:
                return
            if not asked.startswith(ASK):
                return
            link.sendall(line_bytes(*self.answer(asked.removeprefix(ASK).split())))
            link.shutdown(socket.SHUT_WR)
            stream.read(1)  # let the asker close first: what it has not read yet is not lost

    def answer(self, words: list[str]) -> list[str]:
        """Return the lines that answer a command."""
        with self._lock:
            match words:
                case ["announce", *_]:
                    return [ANNOUNCED]
                case ["bot", ("list" | "query" | "set" | "get") as verb, *rest] if rest or verb == "list":
                    return [to_text(self._bottle(verb, rest))]
                case ["list", *rest]:
                    return [*(line for name in self._below(rest) for line in self._line(name)), END]
                case [verb, *rest] if rest and verb in self._verbs:
                    return [*self._verbs[verb](rest), END]
            return [END]

    def _below(self, rest: list[str]) -> list[str]:
        """Return the names that are a word, or below it; all where there is none."""
        above = rest[0].rstrip("/") if rest else ""
        return [name for name in sorted(self._names) if f"{name}/".startswith(f"{above}/")]

    def _line(self, name: str) -> list[str]:
        if name not in self._names:
            return []
        host, port, carrier = self._names[name]
        return [f"registration name {name} ip {host} port {port} type {carrier}"]

    def _bottle(self, verb: str, rest: list[str]) -> Bottle:
        """Return what programs are answered that want a bottle, such as `yarp clean`."""
        if verb == "list":
            return "ports", *map(self._entry, self._below(rest))
        if verb == "query":
            return self._entry(rest[0])
        if verb == "set":
            self._set(rest)
        name, key = [*rest, ""][:2]
        return from_text(self._properties.get((name, key), ""))

    def _entry(self, name: str) -> Bottle:
        if name not in self._names:
            return "port", ("error", -2, "port not known")
        host, port, carrier = self._names[name]
        return "port", ("name", name), ("ip", host), ("port_number", port), ("carrier", carrier)

    def _register(self, rest: list[str]) -> list[str]:
        name, carrier, host, port = (word if word != ALLOCATE else "" for word in [*rest, "", "", ""][:4])
        had = self._names[name][1] if name in self._names else 0  # a second of that name is to find it taken
        number = int(port) if re.fullmatch(r"\d{1,5}", port, re.ASCII) else had or self._free()
        name = name or f"/anonymous/{number}"
        full = len(self._names) >= MOST_NAMES and name not in self._names
        if full or not (ROOTED.fullmatch(name) and number < 1 << 16 and len(host + carrier) <= LONGEST_WHERE):
            return []
        self._names[name] = (host or self.address.host, number, carrier or "tcp")
        return self._line(name)

    def _free(self) -> int:
        """Return a port that nobody has, whether or not we gave it: another name server may have."""
        taken = {port for _, port, _ in self._names.values()}
        there = (port for port in range(FIRST_PORT, 1 << 16) if port not in taken)
        return next(port for port in there if can_listen(Address(self.address.host, port)))

    def _unregister(self, rest: list[str]) -> list[str]:
        self._names.pop(rest[0], None)
        for key in [key for key in self._properties if key[0] == rest[0]]:
            del self._properties[key]
        return []

    def _set(self, rest: list[str]) -> list[str]:
        name, key, *words = [*rest, ""][: max(len(rest), 2)]
        value = " ".join(words)
        known = sum(name == one for one, _ in self._properties)
        if name in self._names and len(key) + len(value) <= LONGEST_PROPERTY and known < MOST_PROPERTIES:
            self._properties[name, key] = value
        return self._get([name, key])

    def _get(self, rest: list[str]) -> list[str]:
        name, key = [*rest, ""][:2]
        return [f"port {name} property {key} = {self._properties.get((name, key), '')}"]

    def _check(self, rest: list[str]) -> list[str]:
        name, key, value = [*rest, "", ""][:3]
        present = str(value in self._properties.get((name, key), "").split()).lower()
        return [f"port {name} property {key} value {value} present {present}"]

    def _route(self, rest: list[str]) -> list[str]:
        begin, end = [*rest, ""][:2]
        return [f"port {begin} route {end} = tcp:/{end}"]


class RootPort:
    """The name server as a port: `yarp exists /root`, `yarp check` and `yarp clean` talk to it as to any.

    It is an `incoming.Inside` without connections but those to it, and takes no data but commands.

    Args:
        answer: returns the lines that answer a command.
    """

    def __init__(self, address: Address, answer: Callable[[list[str]], list[str]]) -> None:
        self.name = ROOT
        self.address = address
        self.longest = LONGEST_REQUEST
        self._answer = answer
        self._lock = threading.Lock()
        self._inputs: list[Incoming] = []

    def connect(self, to: str, carrier: str = "tcp") -> None:
        """Refuse: it tells nothing but answers."""
        raise BodyError(f"{self.name} does not connect to {to} over {carrier}", hint="others do")

    def disconnect(self, to: str) -> bool:  # noqa: ARG002 -- a port's
        """Return that there was no connection."""
        return False

    def expel(self, name: str) -> bool:  # noqa: ARG002 -- a port's
        """Return that nobody was hung up on: who asks leaves when answered."""
        return False

    def routes(self) -> tuple[list[Route], list[Route]]:
        """Return its connections: none, and those from others."""
        with self._lock:
            return [], [Route(source.sender, self.name, source.carrier) for source in self._inputs]

    def enter(self, incoming: Incoming) -> None:
        """Make a connection known."""
        with self._lock:
            self._inputs.append(incoming)

    def leave(self, incoming: Incoming) -> None:
        """Forget it."""
        with self._lock:
            self._inputs.remove(incoming)

    def deliver(self, message: Message, sender: str) -> Bottle:  # noqa: ARG002 -- anybody may ask
        """Return the answer to a command, as a bottle."""
        return from_text(" ".join(self._answer([str(word) for word in message.bottle or ()])))

    def count(self, what: str, by: int = 1) -> None:
        """Count nothing: who asks for names moves no robot."""
