"""A YARP port: accepts connections, and connects to other ports."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from posewright.errors import BodyError, FormatError, InputError, PosewrightError, UnknownNameError
from posewright.network.yarp.administration import Route
from posewright.network.yarp.bottle import Bottle
from posewright.network.yarp.carriers import CODES, LONGEST_REQUEST, Carrier, Envelope, Message
from posewright.network.yarp.incoming import Incoming, serve_port
from posewright.network.yarp.listening import (
    MAX_CONNECTIONS,
    Address,
    Listener,
    line_bytes,
    open_connection,
    read_line,
)
from posewright.network.yarp.names import NameClient, require_rooted
from posewright.network.yarp.outgoing import Outgoing, close_all

__all__ = ["Envelope", "OnData", "OnRequest", "Port"]

OnData: TypeAlias = Callable[[Bottle, Envelope | None, str], None]
"""Is called with a bottle, its envelope and the sender's name, in the thread of the connection."""

OnRequest: TypeAlias = Callable[[Bottle, str], Bottle]
"""Is called with a request and the sender's name, in the thread of the connection; returns the answer."""

LOOPBACK = "127.0.0.1"
CARRIERS = " ".join(carrier.value for carrier in Carrier)
COUNTERS = ("received", "sent", "dropped", "malformed", "refused", "lost", "gone")


class Port:
    """A named port on loopback, listening and registered as soon as it is created; a context manager.

    Callbacks are called one at a time; a PosewrightError from one closes the connection that it serves, and
    is counted. `on_request` is also called with data that want no answer; its result is then discarded.

    Args:
        name: its name, with the leading slash.
        name_client: a client of the name server to register with.
        on_data: is called with data.
        on_request: is called with data instead of `on_data`, and answers them.
        max_queued: most messages that wait for each slow reader.
        max_message_bytes: longest message that it accepts [bytes].

    Raises:
        BodyError: no name server answers.
        InputError: the name is invalid, or an existing port has it.
    """

    def __init__(
        self,
        name: str,
        name_client: NameClient,
        *,
        on_data: OnData | None = None,
        on_request: OnRequest | None = None,
        max_queued: int = 8,
        max_message_bytes: int = LONGEST_REQUEST,
    ) -> None:
        """Listen on a free TCP port, and register its number with the name server."""
        self.name = require_rooted(name)
        self._name_client = name_client
        self.max_message_bytes = max_message_bytes
        self._on_data = on_data
        self._on_request = on_request
        self._max_queued = max_queued
        self._callback_lock = threading.Lock()
        self._connect_lock = threading.Lock()
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._inputs: list[Incoming] = []
        self._outputs: dict[str, Outgoing] = {}
        self._is_closing = False
        self._require_unused_name()
        self._listener = Listener(Address(LOOPBACK, 0), lambda connection: serve_port(connection, self))
        self.address = self._listener.address
        self._listener.start()
        try:
            self._register()
        except PosewrightError:
            self._listener.close()
            raise

    def _require_unused_name(self) -> None:
        """Raise InputError if an existing port has the name; a port that no longer answers does not count."""
        registered = self._name_client.query(self.name)
        if registered is not None and _answers(registered, self.name):
            hint = "stop it, or choose another name"
            raise InputError(f"there is a port called {self.name} already", hint=hint)

    def _register(self) -> None:
        self._name_client.register(self.name, self.address)
        properties = {"offers": CARRIERS, "accepts": CARRIERS, "ips": LOOPBACK, "process": str(os.getpid())}
        self._name_client.announce(self.name, properties)

    def __enter__(self) -> Port:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unregister, close all connections and wait for the threads; must not raise."""
        with self._lock:
            if self._is_closing:
                return
            self._is_closing = True
            inputs = list(self._inputs)
            outputs = list(self._outputs.values())
            self._outputs = {}
        with suppress(PosewrightError):
            self._name_client.unregister(self.name)
        close_all(outputs)
        for incoming in inputs:
            incoming.end()
        self._listener.close()

    def write(self, bottle: Bottle, envelope: Envelope | None = None) -> None:
        """Send a bottle to all connected ports, without waiting for them.

        Raises:
            InputError: the bottle cannot be encoded.
        """
        with self._lock:
            outputs = list(self._outputs.values())
        if outputs:
            message = Message("D", bottle, envelope).encode()
            for output in outputs:
                output.put(message)

    def connect(self, to: str, carrier: str = "tcp") -> None:
        """Connect to a port by name, over tcp, fast_tcp or udp; an earlier connection to it is closed.

        If this port closes meanwhile, so does the new connection.

        Raises:
            UnknownNameError: there is no such port or carrier.
            BodyError: the port does not answer, or there are too many connections.
            InputError: the port is on another machine.
        """
        carriers = {item.value: item for item in CODES}
        if carrier not in carriers:
            raise UnknownNameError.among("carrier", carrier, carriers)
        with self._connect_lock:
            address = self._name_client.find(to)
            self.disconnect(to)
            if len(self.outputs) >= MAX_CONNECTIONS:
                raise BodyError(f"{self.name} has {MAX_CONNECTIONS} connections", hint="close one of them")
            output = Outgoing(
                self.name,
                to,
                address,
                carrier=carriers[carrier],
                max_queued=self._max_queued,
                count=self.count,
                on_lost=self._remove_output,
            )
            with self._lock:
                is_closing = self._is_closing
                if not is_closing:
                    self._outputs[to] = output
            if is_closing:
                output.close()

    def disconnect(self, to: str) -> bool:
        """Close the connection to a port; return whether there was one."""
        with self._lock:
            output = self._outputs.pop(to, None)
        if output is not None:
            output.close()
        return output is not None

    def _remove_output(self, output: Outgoing) -> None:
        """Count a lost connection, and remove it unless another one has replaced it."""
        self.count("gone")
        with self._lock:
            if self._outputs.get(output.to) is output:
                del self._outputs[output.to]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the ports that it is connected to."""
        with self._lock:
            return tuple(self._outputs)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the ports that are connected to it."""
        with self._lock:
            return tuple(incoming.sender for incoming in self._inputs)

    def facts(self) -> dict[str, float]:
        """Return its counters, and the present numbers of connections."""
        with self._lock:
            counts = {name: float(self._counts[name]) for name in COUNTERS}
            return {**counts, "inputs": float(len(self._inputs)), "outputs": float(len(self._outputs))}

    # The following methods are called by its connections.

    def count(self, counter: str, by: int = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._counts[counter] += by

    def add_input(self, incoming: Incoming) -> None:
        """Add a connection; an earlier one from the same port is closed."""
        with self._lock:
            if self._is_closing:
                raise EOFError
            earlier: list[Incoming] = []
            # other clients than ports, such as `admin`, have no unique names
            if incoming.sender.startswith("/"):
                earlier = [source for source in self._inputs if source.sender == incoming.sender]
            self._inputs.append(incoming)
        for source in earlier:
            source.end()

    def leave(self, incoming: Incoming) -> None:
        """Remove a connection."""
        with self._lock:
            self._inputs.remove(incoming)

    def deliver(self, message: Message, sender: str) -> Bottle | None:
        """Pass a message to the callback for requests, or without one to that for data.

        Returns:
            The answer, which is empty for data; None if the callback rejects the message.
        """
        bottle = message.bottle or ()
        self.count("received")
        try:
            with self._callback_lock:
                if self._on_request is not None:
                    return self._on_request(bottle, sender)
                if self._on_data is not None:
                    self._on_data(bottle, message.envelope, sender)
        except PosewrightError:
            self.count("refused")
            return None
        return ()

    def expel(self, name: str) -> bool:
        """Close the connections from a port; return whether there was one."""
        with self._lock:
            sources = [incoming for incoming in self._inputs if incoming.sender == name]
        for incoming in sources:
            incoming.end()
        return bool(sources)

    def routes(self) -> tuple[list[Route], list[Route]]:
        """Return the outgoing and the incoming connections."""
        with self._lock:
            outputs = [Route(self.name, output.to, output.carrier) for output in self._outputs.values()]
            return outputs, [Route(source.sender, self.name, source.carrier) for source in self._inputs]


def _answers(address: Address, name: str) -> bool:
    """Return whether the port of that name listens at an address, which another program may have now."""
    try:
        with open_connection(address, 1.0) as link, link.makefile("rb") as stream:
            link.sendall(b"CONNACK admin\r\n" + line_bytes("*", "q"))
            read_line(stream)  # Welcome admin
            return read_line(stream).startswith(f"This is {name} ")
    except TimeoutError:  # it hangs, but it exists
        return True
    except (BodyError, FormatError, EOFError, OSError):
        return False
