"""The configuration of a Zenoh session: endpoints, credentials and access control.

A session connects only to configured endpoints: multicast scouting, gossip and shared memory are off. Without
an endpoint to listen at it does not listen, whereas Zenoh itself would listen on every interface.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.errors import BodyError, InputError, MissingExtraError

ZenohObject = Any
"""An object of the library `zenoh`, which is optional, so its types may be unknown."""

LOOPBACK = "tcp/127.0.0.1:7447"
"""The default endpoint of a robot and its clients; 7447 is Zenoh's own port."""

MAX_MESSAGE_BYTES = 1 << 26
"""Longest message that is received; the longest of ours are answers of some megabytes."""

_ON_THIS_MACHINE = frozenset({"unixsock-stream", "unixpipe"})


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """The configuration of a session.

    Attributes:
        listen: endpoints at which others can connect: `tcp/127.0.0.1:7447`, `tls/0.0.0.0:7447`.
        connect: endpoints of a robot or router to connect to.
        user: the user name with which this side logs in where it connects.
        password: the password of that user.
        users: a file with the users who may connect here, one `user:password` per line.
        authority: the certificate (PEM) of the authority that signs the other side's certificates; with it,
            clients that connect here over TLS need a certificate that it has signed.
        certificate: the certificate of this side (PEM).
        key: the private key of that certificate (PEM).
        commanders: users, or common names of certificates, that may command the robot or control its time;
            all others may only observe. If empty, everybody who may connect may also command.
    """

    listen: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    user: str = ""
    password: str = ""
    users: Path | None = None
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    commanders: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<SessionConfig listen {self.listen}, connect {self.connect}, user {self.user!r}>"

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str], *, listen: tuple[str, ...] = (), connect: tuple[str, ...] = ()
    ) -> SessionConfig:
        """Return the configuration in the environment variables `POSEWRIGHT_ZENOH_*`.

        They are USER, PASSWORD, USERS, CA, CERTIFICATE, KEY, COMMANDERS and CONNECT; the last two are lists
        with commas. The argument `connect` takes precedence over CONNECT.
        """

        def text(name: str) -> str:
            return environ.get(f"POSEWRIGHT_ZENOH_{name}", "")

        def path(name: str) -> Path | None:
            return Path(text(name)) if text(name) else None

        def items(name: str) -> tuple[str, ...]:
            return tuple(filter(None, map(str.strip, text(name).split(","))))

        return cls(
            listen=listen,
            connect=connect or items("CONNECT"),
            user=text("USER"),
            password=text("PASSWORD"),
            users=path("USERS"),
            authority=path("CA"),
            certificate=path("CERTIFICATE"),
            key=path("KEY"),
            commanders=items("COMMANDERS"),
        )

    def settings(self, robot: str) -> dict[str, object]:
        """Return the keys and values of Zenoh's own configuration.

        Args:
            robot: the name of the robot, for access control.

        Raises:
            InputError: everybody on the network could connect, an endpoint is invalid, or a file is missing.
        """
        for endpoint in (*self.listen, *self.connect):
            _split_endpoint(endpoint)  # raises if it is invalid
        for endpoint in self.listen:
            self._require_access_control(endpoint)
        for path in (self.users, self.authority, self.certificate, self.key):
            if path is not None and not path.is_file():
                hint = "certificates and keys are PEM files; a file of users has lines NAME:PASSWORD"
                raise InputError(f"there is no file {path}", hint=hint)
        return {key: value for key, value in self._zenoh_settings(robot) if value is not None}

    def _zenoh_settings(self, robot: str) -> Iterator[tuple[str, object]]:
        """Yield each key of Zenoh's configuration with its value; None leaves Zenoh's default."""
        yield "mode", "peer" if self.listen or not self.connect else "client"
        yield "listen/endpoints", list(self.listen)
        yield "connect/endpoints", list(self.connect)
        yield "scouting/multicast/enabled", False
        yield "scouting/gossip/enabled", False
        yield "transport/shared_memory/enabled", False
        yield "transport/link/rx/max_message_size", MAX_MESSAGE_BYTES
        # publishing never waits for a full queue; by default Zenoh waits 1 ms and, for pictures, 50 ms
        yield "transport/link/tx/queue/congestion_control/drop/wait_before_drop", 0
        yield "transport/link/tx/queue/congestion_control/drop/max_wait_before_drop_fragments", 0
        yield "transport/link/tx/queue/size/data", 16
        yield "transport/auth/usrpwd/user", self.user or None
        yield "transport/auth/usrpwd/password", self.password or None
        yield "transport/auth/usrpwd/dictionary_file", _path_text(self.users)
        yield "transport/link/tls/root_ca_certificate", _path_text(self.authority)
        yield "transport/link/tls/enable_mtls", True if self.authority and self.certificate else None
        for side in ("listen", "connect"):
            yield f"transport/link/tls/{side}_certificate", _path_text(self.certificate)
            yield f"transport/link/tls/{side}_private_key", _path_text(self.key)
        if self.commanders and self.listen:
            yield "access_control", _build_access_control(robot, self.commanders)

    def _require_access_control(self, endpoint: str) -> None:
        """Raise InputError if everybody on the network could connect to an endpoint."""
        protocol, host = _split_endpoint(endpoint)
        is_encrypted = protocol in {"tls", "quic"}
        if is_encrypted and not (self.certificate and self.key):
            hint = "set POSEWRIGHT_ZENOH_CERTIFICATE and POSEWRIGHT_ZENOH_KEY"
            raise InputError(f"no certificate to listen at {endpoint} with", hint=hint)
        if protocol in _ON_THIS_MACHINE or _is_loopback(host):
            return
        if self.users is None and not (is_encrypted and self.authority):
            hint = "restrict who may connect: set POSEWRIGHT_ZENOH_USERS or, with tls/, POSEWRIGHT_ZENOH_CA"
            raise InputError(f"anyone could command the robot at {endpoint}", hint=hint)

    def open(self, robot: str) -> ZenohObject:
        """Return a `zenoh.Session`.

        Raises:
            MissingExtraError: Zenoh is not installed.
            InputError: everybody on the network could connect, an endpoint is invalid, or a file is missing.
            BodyError: it cannot listen or connect there.
        """
        settings = self.settings(robot)
        zenoh = zenoh_library()
        config = zenoh.Config()
        try:
            for key, value in settings.items():
                config.insert_json5(key, json.dumps(value))
            return zenoh.open(config)
        except zenoh.ZError as error:
            raise self._build_error(error_reason(error)) from error

    def _build_error(self, reason: str) -> BodyError:
        """Return the error for a session that Zenoh does not open."""
        if self.listen:
            endpoints = ", ".join(self.listen)
            hint = f"another program may listen there; Zenoh reports: {reason}"
            return BodyError(f"cannot listen at {endpoints}", hint=hint)
        endpoints = ", ".join(self.connect)
        if any(map(_is_listening, self.connect)):
            hint = "check user and password, or the certificates"
            return BodyError(f"the connection was rejected at {endpoints}", hint=hint)
        hint = "serve the robot with `posewright serve ROBOT --zenoh`"
        return BodyError(f"nothing listens at {endpoints}", hint=hint)


def parse_robot_name(text: str) -> str:
    """Return the name of a robot in its topics unchanged; raise InputError if it is invalid.

    As in ROS, it has parts of letters, digits and underscores, separated by slashes, and no part begins
    with a digit.
    """
    parts = text.split("/")
    if not all(part.isidentifier() and part.isascii() for part in parts):
        hint = "use letters, digits and _, as in zenoh:bioloid"
        raise InputError(f"no robot can be called {text!r}", hint=hint)
    return text


def error_reason(error: Exception) -> str:
    """Return the text of a Zenoh error without the place in Zenoh's source, which follows ` at /`."""
    return str(error).partition(" at /")[0]


def zenoh_library() -> ZenohObject:
    """Return the module `zenoh`; raise MissingExtraError if it is not installed."""
    if importlib.util.find_spec("zenoh") is None:
        raise MissingExtraError.for_extra("a robot across a network", "net")
    import zenoh

    return zenoh


def _build_access_control(robot: str, commanders: tuple[str, ...]) -> dict[str, object]:
    """Return Zenoh's access control: everybody may observe the robot, only the commanders may command it."""
    topics = [f"{robot}/**", "@/*/@ros2_lv/**"]  # ** does not match a part that begins with @
    commands = [f"{robot}/joint_trajectory", f"{robot}/plant"]
    subscriptions = ["declare_subscriber", "liveliness_query", "declare_liveliness_subscriber"]
    rules = [
        _rule("ask", flow="ingress", messages=subscriptions, keys=topics),
        _rule("tell", flow="egress", messages=["put", "delete", "liveliness_token"], keys=topics),
        _rule("command", flow="ingress", messages=["put", "query"], keys=commands),
        _rule(
            "answer",
            flow="egress",
            messages=["reply", "declare_queryable", "declare_subscriber"],
            keys=commands,
        ),
    ]
    by_name = "commanders by name"
    by_certificate = "commanders by certificate"
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": [
            {"id": "everybody"},
            {"id": by_name, "usernames": list(commanders)},
            {"id": by_certificate, "cert_common_names": list(commanders)},
        ],
        "policies": [
            {"rules": ["ask", "tell"], "subjects": ["everybody"]},
            {"rules": ["command", "answer"], "subjects": [by_name, by_certificate]},
        ],
    }


def _rule(name: str, flow: str, messages: list[str], keys: list[str]) -> dict[str, object]:
    return {"id": name, "permission": "allow", "flows": [flow], "messages": messages, "key_exprs": keys}


def _path_text(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _split_endpoint(endpoint: str) -> tuple[str, str]:
    """Return the protocol and the host of an endpoint; raise InputError if it is invalid."""
    protocol, slash, address = endpoint.partition("/")
    # settings after `#` or `?` could disable access control
    if not protocol or not slash or not address or {"#", "?"} & set(endpoint):
        hint = f"write one such as {LOOPBACK} or tls/robot.local:7447"
        raise InputError(f"invalid endpoint {endpoint!r}", hint=hint)
    return protocol, address.rpartition(":")[0].strip("[]")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_listening(endpoint: str) -> bool:
    """Return whether a program listens at an endpoint."""
    protocol, host = _split_endpoint(endpoint)
    if protocol not in {"tcp", "tls"}:
        return False
    try:
        socket.create_connection((host, int(endpoint.rpartition(":")[2])), timeout=1.0).close()
    except (OSError, ValueError):
        return False
    return True
