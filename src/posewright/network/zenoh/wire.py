"""A client's side of the line to a robot that is served over Zenoh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Event
from typing import Any

from posewright.errors import BodyError, InputError
from posewright.network.zenoh.session import LOOPBACK, SessionConfig, zenoh_library

MEETING_S = 1.0
"""Longest wait for a robot's name to become known over a line that is open."""


class ZenohWire:
    """A `served.door.Wire` to the robot of that name; the line is opened at the first question."""

    def __init__(self, name: str, config: SessionConfig) -> None:
        self._name = robot_name(name)
        self._key = f"{self._name}/plant"
        self._config = config
        self._session: Any = None
        self._meeting: Any = None
        self._there, self._has_met = Event(), False

    @classmethod
    def to(cls, address: str, environ: Mapping[str, str]) -> ZenohWire:
        """Return the wire to `zenoh:NAME` or `zenoh:NAME@ENDPOINT`, credentials as the environment says.

        Raises:
            InputError: it is neither.
        """
        name, _, endpoint = address.removeprefix("zenoh:").partition("@")
        config = SessionConfig.from_environment(environ, connect=(endpoint,) if endpoint else ())
        return cls(name, config if config.connect else replace(config, connect=(LOOPBACK,)))

    def ask(self, request: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request, which is sent once.

        Raises:
            BodyError: none came in time, or nobody is there.
        """
        if self._session is None:
            self._open()
        if not self._there.wait(min(timeout_s, MEETING_S)):
            where = ", ".join(self._config.connect)
            hint = "is it served by another name, or may you only observe it?"
            hint = "it has left the network" if self._has_met else hint
            raise BodyError(f"no robot called {self._name} answers at {where}", hint=hint)
        try:
            replies = self._session.get(
                self._key, payload=request, timeout=timeout_s, congestion_control=self._block, express=True
            )
            reply = next(iter(replies), None)
        except self._zenoh.ZError as error:
            why = str(error).partition(" at /")[0]
            raise BodyError(f"the line to {self._name} is gone", hint=why) from error
        if reply is not None and reply.ok is not None:
            return bytes(reply.ok.payload.to_bytes())
        raise BodyError(
            f"{self._name} did not answer within {timeout_s:g} s",
            hint="the robot is busy" if self._there.is_set() else "it has left the network",
        )

    def _open(self) -> None:
        self._zenoh = zenoh = zenoh_library()
        self._session = self._config.open(self._name)
        self._block = zenoh.CongestionControl.BLOCK
        self._meeting = self._session.declare_querier(self._key)  # only to know whether anybody answers
        self._meeting.declare_matching_listener(zenoh.handlers.Callback(self._meet, indirect=False))
        if self._meeting.matching_status.matching:
            self._there.set()
            self._has_met = True

    def _meet(self, status: Any) -> None:
        self._has_met |= status.matching
        (self._there.set if status.matching else self._there.clear)()

    def close(self) -> None:
        """Let go of the line; must not raise."""
        session, self._session, self._meeting = self._session, None, None
        self._there.clear()
        if session is not None:
            session.close()


def robot_name(text: str) -> str:
    """Return a robot's name as it stands before its topics, or raise InputError.

    A name of ROS: letters, digits and underscores, the first no digit; parts parted by slashes.
    """
    parts = text.split("/")
    if not all(part.isidentifier() and part.isascii() for part in parts):
        raise InputError(f"no robot is called {text!r}", hint="letters, digits and _, such as zenoh:bioloid")
    return text
