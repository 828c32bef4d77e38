"""Who is where: YARP's name server, and how to ask one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """Where a port listens."""

    host: str
    port: int


class NameClient:
    """Asks a name server (loopback only: InputError); BodyError where none answers."""

    def __init__(self, host: str = "127.0.0.1", port: int = 10000, *, timeout_s: float = 5.0) -> None:
        self.server = Address(host, port)

    def query(self, name: str) -> Address | None:
        """Return where a port is, or None where nobody is called that."""
        raise NotImplementedError

    def register(self, name: str, address: Address) -> None:
        raise NotImplementedError

    def unregister(self, name: str) -> None:
        raise NotImplementedError

    def names(self) -> dict[str, Address]:
        """Return every port that is registered."""
        raise NotImplementedError


class NameServer:
    """A small built-in name server; `port` 0 takes any that is free: `server.address`."""

    def __init__(self, host: str = "127.0.0.1", port: int = 10000) -> None:
        raise NotImplementedError

    address: Address

    def close(self) -> None:
        """Hang up on everybody; a name server is its own context manager too."""
