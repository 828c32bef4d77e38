"""Opens `zenoh:NAME[@ENDPOINT]`, a robot that is served over Zenoh, as a plant."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Event

from posewright.arenas import Arena
from posewright.bodies import BodySpec, Plant
from posewright.errors import BodyError
from posewright.network.remote_plant import open_remote_plant
from posewright.network.zenoh.session import (
    LOOPBACK,
    SessionConfig,
    ZenohObject,
    error_reason,
    parse_robot_name,
    zenoh_library,
)

DISCOVERY_S = 1.0
"""Longest wait for a robot to be discovered in an open session [s]."""


def open_link(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    """Return the plant at `zenoh:NAME` or `zenoh:NAME@ENDPOINT`.

    Credentials come from the environment; see `SessionConfig.from_environment`.

    Raises:
        InputError: the address is invalid, or the server rejects the parts.
        BodyError: no robot answers, or another client drives it.
    """
    return open_remote_plant(ZenohChannel.to(address, os.environ), parts, arena)


class ZenohChannel:
    """A `RequestChannel` to a served robot; its Zenoh session is opened at the first request."""

    def __init__(self, name: str, config: SessionConfig) -> None:
        """Store the arguments; the first request opens the session."""
        self._name = parse_robot_name(name)
        self._plant_key = f"{self._name}/plant"  # the Zenoh key that requests are sent to
        self._config = config
        self._session: ZenohObject = None
        self._querier: ZenohObject = None
        self._is_present = Event()  # while the robot's host is on the network
        self._was_present = False  # whether it ever was

    @classmethod
    def to(cls, address: str, environ: Mapping[str, str]) -> ZenohChannel:
        """Return the channel to an address.

        Args:
            address: `zenoh:NAME` or `zenoh:NAME@ENDPOINT`.
            environ: environment variables with credentials; see `SessionConfig.from_environment`.

        Raises:
            InputError: the address is invalid.
        """
        name, _, endpoint = address.removeprefix("zenoh:").partition("@")
        config = SessionConfig.from_environment(environ, connect=(endpoint,) if endpoint else ())
        return cls(name, config if config.connect else replace(config, connect=(LOOPBACK,)))

    def request(self, message: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request, which is sent once.

        Raises:
            BodyError: no answer came in time, or the robot is not there.
        """
        if self._session is None:
            self._open()
        if not self._is_present.wait(min(timeout_s, DISCOVERY_S)):
            endpoints = ", ".join(self._config.connect)
            hint = "check the name; you may also only be allowed to observe it"
            if self._was_present:
                hint = "it has left the network"
            raise BodyError(f"no robot called {self._name} answers at {endpoints}", hint=hint)
        try:
            replies = self._session.get(
                self._plant_key,
                payload=message,
                timeout=timeout_s,
                congestion_control=self._blocking_control,
                express=True,
            )
            reply = next(iter(replies), None)
        except self._zenoh.ZError as error:
            reason = error_reason(error)
            raise BodyError(f"the connection to {self._name} is lost", hint=reason) from error
        if reply is not None and reply.ok is not None:
            return bytes(reply.ok.payload.to_bytes())
        raise BodyError(
            f"{self._name} did not answer within {timeout_s:g} s",
            hint="the robot is busy" if self._is_present.is_set() else "it has left the network",
        )

    def _open(self) -> None:
        """Open the session, and watch whether the robot is on the network."""
        self._zenoh = zenoh = zenoh_library()
        self._session = self._config.open(self._name)
        self._blocking_control = zenoh.CongestionControl.BLOCK
        self._querier = self._session.declare_querier(self._plant_key)  # shows whether the robot is there
        self._querier.declare_matching_listener(zenoh.handlers.Callback(self._on_match, indirect=False))
        if self._querier.matching_status.matching:
            self._is_present.set()
            self._was_present = True

    def _on_match(self, status: ZenohObject) -> None:
        """Store whether the robot is on the network, when Zenoh reports a change."""
        self._was_present |= status.matching
        if status.matching:
            self._is_present.set()
        else:
            self._is_present.clear()

    def close(self) -> None:
        """Close the session; must not raise."""
        session = self._session
        self._session = None
        self._querier = None
        self._is_present.clear()
        if session is not None:
            session.close()
