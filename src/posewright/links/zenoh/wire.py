"""A client's side of the line to a robot that is served over Zenoh."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.links.zenoh.session import SessionConfig


class ZenohWire:
    """A `served.door.Wire` to the robot of that name."""

    def __init__(self, name: str, config: SessionConfig) -> None:
        self._name = name
        self._config = config

    @classmethod
    def to(cls, address: str, environ: Mapping[str, str]) -> ZenohWire:
        """Return the wire to `zenoh:NAME` or `zenoh:NAME@ENDPOINT`, credentials as the environment says."""
        raise NotImplementedError

    def ask(self, request: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the line."""
        raise NotImplementedError
