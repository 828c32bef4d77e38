"""The name server as a port: `yarp exists /root`, `yarp check` and `yarp clean` talk to it as to any.

It has no connections but those to it, and takes no data but the commands that it takes otherwise, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from posewright.errors import BodyError
from posewright.network.yarp.administration import Route
from posewright.network.yarp.bottle import Bottle
from posewright.network.yarp.carriers import LONGEST_REQUEST, Message
from posewright.network.yarp.incoming import Incoming
from posewright.network.yarp.listening import Address
from posewright.network.yarp.text import from_text

NAME = "/root"


class Root:
    """What a connection sees of the name server, an `incoming.Inside`.

    Args:
        answer: returns the lines that answer a command.
    """

    def __init__(self, address: Address, answer: Callable[[list[str]], list[str]]) -> None:
        self.name = NAME
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
            return [], [Route(one.sender, self.name, one.carrier) for one in self._inputs]

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
