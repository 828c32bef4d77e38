"""YARP's name server, which knows the address of each port, and a client of it.

Each request is a connection of its own: the client sends `NAME_SERVER` and a command; the server answers with
lines, the last of which is `*** end of message`.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from posewright.errors import BodyError, FormatError, InputError, UnknownNameError
from posewright.network.yarp.administration import Route
from posewright.network.yarp.bottle import Bottle
from posewright.network.yarp.carriers import HEADER_BYTES, LONGEST_REQUEST, Carrier, Message, carrier_of
from posewright.network.yarp.incoming import Incoming, serve_port
from posewright.network.yarp.listening import (
    Address,
    Connection,
    Listener,
    can_listen,
    is_loopback,
    line_bytes,
    open_connection,
    read_line,
)
from posewright.network.yarp.text import from_text, to_text

__all__ = ["Address", "NameClient", "NameServer"]

DEFAULT = Address("127.0.0.1", 10000)
ROOT_NAME = "/root"
"""The name of the name server as a port."""

FIRST_PORT = 10002
REQUEST_PREFIX = "NAME_SERVER "
END_OF_ANSWER = "*** end of message"
ANNOUNCED = "[ok]"
ALLOCATE = "..."
MAX_NAMES = 1024
MAX_PROPERTIES = 16
MAX_PROPERTY_LENGTH = 2048
MAX_ADDRESS_LENGTH = 255
"""Limits of names, of the properties of a name, and of their lengths [characters]; the excess is ignored."""

REQUEST_TIMEOUT_S = 5.0
"""Longest wait for the other side of a request [s]."""

ROOTED = re.compile(r"/[!-~]{1,255}")
REGISTRATION = re.compile(r"registration name (\S+) ip (\S+) port (\d{1,5}) type (\S+)", re.ASCII)


def require_rooted(name: str) -> str:
    """Return a port's name unchanged.

    Raises:
        InputError: it is invalid, for example without a leading slash.
    """
    if not ROOTED.fullmatch(name):
        raise InputError(
            f"no port can be called {name[:80]!r}", hint="write a name such as /robot/left_leg/state:o"
        )
    return name


class Registration(NamedTuple):
    """A registered port: where it listens, and its carrier; the host may be another machine."""

    host: str
    port: int
    carrier: str


class PropertyKey(NamedTuple):
    """A property of a registered port: the name of the port, and the key of the property."""

    port_name: str
    key: str


class NameClient:
    """A client of a name server.

    Raises:
        InputError: the name server is not on this machine.
    """

    def __init__(
        self, host: str = DEFAULT.host, port: int = DEFAULT.port, *, timeout_s: float = REQUEST_TIMEOUT_S
    ) -> None:
        self.server = Address(host, port)
        self._timeout_s = timeout_s

    def ask(self, command: str) -> list[str]:
        """Return the lines of the answer to a command, without the last.

        Raises:
            BodyError: no name server answers.
        """
        lines: list[str] = []
        try:
            with open_connection(self.server, self._timeout_s) as link, link.makefile("rb") as stream:
                link.sendall(line_bytes(REQUEST_PREFIX + command))
                while len(lines) <= MAX_NAMES and (line := read_line(stream)) != END_OF_ANSWER:
                    lines.append(line)
                    if line == ANNOUNCED:  # the only answer without an end
                        break
        except (OSError, EOFError, FormatError, BodyError) as error:
            message = f"no name server answers at {self.server}"
            hint = "start `yarpserver`, or add --name-server"
            raise BodyError(message, hint=hint) from error
        return lines

    def query(self, name: str) -> Address | None:
        """Return the address of a port; None if there is no such port.

        Raises:
            BodyError: no name server answers.
            InputError: the port is on another machine.
        """
        registrations = _parse_registrations(self.ask(f"query {require_rooted(name)}"))
        if name not in registrations:
            return None
        return Address(registrations[name].host, registrations[name].port)

    def find(self, name: str) -> Address:
        """Return the address of a port.

        Raises:
            UnknownNameError: there is no such port.
            BodyError: no name server answers.
            InputError: the port is on another machine.
        """
        address = self.query(name)
        if address is None:
            raise UnknownNameError.among("port", name, self.names())
        return address

    def register(self, name: str, address: Address) -> None:
        """Register the address of a port.

        Raises:
            BodyError: no name server answers, or it does not register the address.
        """
        lines = self.ask(f"register {require_rooted(name)} tcp {address.host} {address.port}")
        registration = _parse_registrations(lines).get(name)
        if registration is None or (registration.host, registration.port) != (address.host, address.port):
            raise BodyError(f"the name server does not register {name} at {address}", hint=" ".join(lines))

    def unregister(self, name: str) -> None:
        """Remove a name.

        Raises:
            BodyError: no name server answers.
        """
        self.ask(f"unregister {require_rooted(name)}")

    def announce(self, name: str, properties: Mapping[str, str]) -> None:
        """Register a port's properties, such as the carriers it `accepts`, and announce the port.

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
        registrations = _parse_registrations(self.ask("list"))
        return {
            name: Address(registration.host, registration.port)
            for name, registration in registrations.items()
            if is_loopback(registration.host)
        }


def _parse_registrations(lines: list[str]) -> dict[str, Registration]:
    """Return the registrations in the lines of an answer, by name; other lines are ignored."""
    registrations: dict[str, Registration] = {}
    for line in lines:
        if match := REGISTRATION.fullmatch(line.strip()):
            name, host, port, carrier = match.groups()
            registrations[name] = Registration(host, int(port), carrier)
    return registrations


def _take_words(words: Sequence[str], n: int) -> list[str]:
    """Return the first `n` of some words, padded with empty ones."""
    return [*words, *[""] * n][:n]


class NameServer:
    """A small name server for systems without a `yarpserver`; a context manager.

    Args:
        host: on this machine.
        port: 0 chooses a free one, which `address` has.

    Raises:
        BodyError: another program listens there, such as a `yarpserver`.
        InputError: the host is another machine.
    """

    def __init__(self, host: str = DEFAULT.host, port: int = DEFAULT.port) -> None:
        """Listen for requests, and register the server itself as the port `/root`."""
        self._lock = threading.Lock()
        self._registrations: dict[str, Registration] = {}
        self._properties: dict[PropertyKey, str] = {}
        self._command_handlers: Mapping[str, Callable[[list[str]], list[str]]] = {
            "query": lambda arguments: self._registration_line(arguments[0]),
            "register": self._register,
            "unregister": self._unregister,
            "set": self._set,
            "get": self._get,
            "check": self._check,
            "route": self._route,
        }
        self._listener = Listener(Address(host, port), self._serve_connection)
        self.address = self._listener.address
        self._root_port = RootPort(self.address, self._answer_on_root_port)
        self._registrations[ROOT_NAME] = Registration(self.address.host, self.address.port, "tcp")
        self._listener.start()

    def __enter__(self) -> NameServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; raises nothing."""
        self._listener.close()

    def _serve_connection(self, connection: Connection) -> None:
        """Serve a connection: a request of one line, or a port that connects to `/root`.

        The first eight bytes tell which: those of a port are the header of a carrier.
        """
        link = connection.link
        link.settimeout(REQUEST_TIMEOUT_S)
        header = b""
        while len(header) < HEADER_BYTES and (part := link.recv(HEADER_BYTES - len(header))):
            header += part
        if carrier_of(header) in {Carrier.TEXT, Carrier.TEXT_ACK, Carrier.TCP, Carrier.FAST_TCP}:
            serve_port(connection, self._root_port, header)
            return
        with link.makefile("rb") as stream:
            try:
                request_line = header.decode("latin-1") + read_line(stream)
            except FormatError:
                return
            if not request_line.startswith(REQUEST_PREFIX):
                return
            link.sendall(line_bytes(*self.answer(request_line.removeprefix(REQUEST_PREFIX).split())))
            link.shutdown(socket.SHUT_WR)
            stream.read(1)  # let the client close first, so that it reads all lines

    def _answer_on_root_port(self, words: list[str]) -> list[str]:
        """Return the answer to a command without its last line, which only the server's own protocol has."""
        return [line for line in self.answer(words) if line != END_OF_ANSWER]

    def answer(self, words: list[str]) -> list[str]:
        """Return the lines of the answer to a request, which is a command and its arguments.

        A request that begins with `bot` is answered with a bottle, as one line of text; an unknown command
        only with `END_OF_ANSWER`.
        """
        with self._lock:
            match words:
                case ["announce", *_]:
                    return [ANNOUNCED]
                case ["bot", ("list" | "query" | "set" | "get") as verb, *arguments] if (
                    arguments or verb == "list"
                ):
                    return [to_text(self._answer_as_bottle(verb, arguments))]
                case ["list", *arguments]:
                    lines: list[str] = []
                    for name in self._list_names(arguments):
                        lines += self._registration_line(name)
                    return [*lines, END_OF_ANSWER]
                case [verb, *arguments] if arguments and verb in self._command_handlers:
                    return [*self._command_handlers[verb](arguments), END_OF_ANSWER]
            return [END_OF_ANSWER]

    def _list_names(self, arguments: list[str]) -> list[str]:
        """Return the names at or below the first argument; all names without one."""
        prefix = arguments[0].rstrip("/") if arguments else ""
        return [name for name in sorted(self._registrations) if f"{name}/".startswith(f"{prefix}/")]

    def _registration_line(self, name: str) -> list[str]:
        """Return the line about a name; no line if it is not registered."""
        if name not in self._registrations:
            return []
        host, port, carrier = self._registrations[name]
        return [f"registration name {name} ip {host} port {port} type {carrier}"]

    def _answer_as_bottle(self, verb: str, arguments: list[str]) -> Bottle:
        """Return the answer for programs that expect a bottle, such as `yarp clean`."""
        if verb == "list":
            return "ports", *map(self._registration_bottle, self._list_names(arguments))
        if verb == "query":
            return self._registration_bottle(arguments[0])
        if verb == "set":
            self._set(arguments)
        name, key = _take_words(arguments, 2)
        return from_text(self._properties.get(PropertyKey(name, key), ""))

    def _registration_bottle(self, name: str) -> Bottle:
        if name not in self._registrations:
            return "port", ("error", -2, "port not known")
        host, port, carrier = self._registrations[name]
        return "port", ("name", name), ("ip", host), ("port_number", port), ("carrier", carrier)

    def _register(self, arguments: list[str]) -> list[str]:
        """Register a port, by default with a free number; return its line, or nothing if it is rejected."""
        words = ["" if word == ALLOCATE else word for word in arguments]  # the server is to choose
        name, carrier, host, port_text = _take_words(words, 4)
        if re.fullmatch(r"\d{1,5}", port_text, re.ASCII):
            port = int(port_text)
        elif name in self._registrations and self._registrations[name].port:
            # a known name keeps its number, so that a second port of that name cannot listen there
            port = self._registrations[name].port
        else:
            port = self._free_port()
        name = name or f"/anonymous/{port}"
        is_full = len(self._registrations) >= MAX_NAMES and name not in self._registrations
        is_valid = ROOTED.fullmatch(name) and port < 1 << 16 and len(host + carrier) <= MAX_ADDRESS_LENGTH
        if is_full or not is_valid:
            return []
        self._registrations[name] = Registration(host or self.address.host, port, carrier or "tcp")
        return self._registration_line(name)

    def _free_port(self) -> int:
        """Return a free port, which no other name server has assigned either."""
        used_ports = {registration.port for registration in self._registrations.values()}
        unused_ports = (port for port in range(FIRST_PORT, 1 << 16) if port not in used_ports)
        return next(port for port in unused_ports if can_listen(Address(self.address.host, port)))

    def _unregister(self, arguments: list[str]) -> list[str]:
        """Remove a port and its properties; the answer has no lines."""
        name = arguments[0]
        self._registrations.pop(name, None)
        for property_key in list(self._properties):
            if property_key.port_name == name:
                del self._properties[property_key]
        return []

    def _set(self, arguments: list[str]) -> list[str]:
        """Set a property, unless the port is unknown or a limit is exceeded; return the line of its value."""
        name, key = _take_words(arguments, 2)
        value = " ".join(arguments[2:])
        n_properties = sum(property_key.port_name == name for property_key in self._properties)
        is_short = len(key) + len(value) <= MAX_PROPERTY_LENGTH
        if name in self._registrations and is_short and n_properties < MAX_PROPERTIES:
            self._properties[PropertyKey(name, key)] = value
        return self._get([name, key])

    def _get(self, arguments: list[str]) -> list[str]:
        name, key = _take_words(arguments, 2)
        value = self._properties.get(PropertyKey(name, key), "")
        return [f"port {name} property {key} = {value}"]

    def _check(self, arguments: list[str]) -> list[str]:
        """Return a line that states whether a value is one of the words of a property."""
        name, key, value = _take_words(arguments, 3)
        words = self._properties.get(PropertyKey(name, key), "").split()
        present = str(value in words).lower()
        return [f"port {name} property {key} value {value} present {present}"]

    def _route(self, arguments: list[str]) -> list[str]:
        begin, end = _take_words(arguments, 2)
        return [f"port {begin} route {end} = tcp:/{end}"]


class RootPort:
    """The name server as a port, for `yarp exists /root`, `yarp check` and `yarp clean`.

    It is an `incoming.DeliveryPort` with incoming connections only, and accepts commands only.

    Args:
        answer: returns the lines that answer a command.
    """

    def __init__(self, address: Address, answer: Callable[[list[str]], list[str]]) -> None:
        """Store the arguments; the name server accepts the connections."""
        self.name = ROOT_NAME
        self.address = address
        self.max_message_bytes = LONGEST_REQUEST
        self._answer = answer
        self._lock = threading.Lock()
        self._inputs: list[Incoming] = []

    def connect(self, to: str, carrier: str = "tcp") -> None:
        """Raise a BodyError: the name server sends only answers."""
        message = f"{self.name} does not connect to {to} over {carrier}"
        raise BodyError(message, hint="connect another port")

    def disconnect(self, to: str) -> bool:  # noqa: ARG002 -- required by DeliveryPort
        """Return False: there are no outgoing connections."""
        return False

    def expel(self, name: str) -> bool:  # noqa: ARG002 -- required by DeliveryPort
        """Return False: clients close their connections themselves."""
        return False

    def routes(self) -> tuple[list[Route], list[Route]]:
        """Return no outgoing and all incoming connections."""
        with self._lock:
            return [], [Route(source.sender, self.name, source.carrier) for source in self._inputs]

    def add_input(self, incoming: Incoming) -> None:
        """Add a connection."""
        with self._lock:
            self._inputs.append(incoming)

    def leave(self, incoming: Incoming) -> None:
        """Remove a connection."""
        with self._lock:
            self._inputs.remove(incoming)

    def deliver(self, message: Message, sender: str) -> Bottle:  # noqa: ARG002 -- required by DeliveryPort
        """Return the answer to a command as a bottle."""
        return from_text(" ".join(self._answer([str(word) for word in message.bottle or ()])))

    def count(self, counter: str, by: int = 1) -> None:
        """Do nothing: the name server has no counters."""
