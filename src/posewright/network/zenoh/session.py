"""How a Zenoh session is set up: where it listens, whom it meets, and what keeps strangers out.

Nobody is met who was not named: multicast scouting and gossip are off, so is shared memory, and a session
that is told no endpoint to listen at listens nowhere, while Zenoh itself would listen on every interface.
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
"""An object of the library `zenoh`, whose types are known only where it is installed."""

LOOPBACK = "tcp/127.0.0.1:7447"
"""Where a robot listens and a client looks for it unless told otherwise; 7447 is Zenoh's own port."""

MAX_MESSAGE_BYTES = 1 << 26
"""A longer message of anybody's is not put together; the longest of ours are answers of some megabytes."""

_ON_THIS_MACHINE = frozenset({"unixsock-stream", "unixpipe"})


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """One side's part in a Zenoh network.

    Attributes:
        listen: endpoints at which others may connect: `tcp/127.0.0.1:7447`, `tls/0.0.0.0:7447`.
        connect: endpoints at which others listen: a robot, or a router.
        user: whom this side says to be, with `password`, to who has `users`.
        users: a file of those who may connect here, a line `user:password` each.
        authority: the certificate (PEM, as the next two) of who signed the other side's; with one, who
            connects here over TLS must show a certificate that it signed.
        certificate: this side's own, and its private `key`.
        commanders: users, or common names of certificates, who may command the robot or drive its time,
            while everybody else may only observe; nobody named: whoever may connect may.
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
        """Return what the variables `POSEWRIGHT_ZENOH_*` say: texts, paths, and lists with commas.

        They are USER, PASSWORD, USERS, CA, CERTIFICATE, KEY, COMMANDERS and CONNECT; the argument `connect`
        takes precedence over the last.
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
        """Return this as keys and values of Zenoh's own configuration, for the side a robot is served from.

        Raises:
            InputError: it was asked to listen where strangers are, without what would keep them out; or an
                endpoint, or a file that does not exist.
        """
        for endpoint in (*self.listen, *self.connect):
            _host(endpoint)
        for endpoint in self.listen:
            self._refuse_strangers(endpoint)
        for path in (self.users, self.authority, self.certificate, self.key):
            if path is not None and not path.is_file():
                raise InputError(
                    f"no file {path}", hint="certificates and keys are PEM, users lines NAME:PASSWORD"
                )
        return {key: value for key, value in self._items(robot) if value is not None}

    def _items(self, robot: str) -> Iterator[tuple[str, object]]:
        yield "mode", "peer" if self.listen or not self.connect else "client"
        yield "listen/endpoints", list(self.listen)
        yield "connect/endpoints", list(self.connect)
        yield "scouting/multicast/enabled", False
        yield "scouting/gossip/enabled", False
        yield "transport/shared_memory/enabled", False
        yield "transport/link/rx/max_message_size", MAX_MESSAGE_BYTES
        # who publishes waits for no queue: Zenoh's own default is 1 ms and, for pictures, 50 ms
        yield "transport/link/tx/queue/congestion_control/drop/wait_before_drop", 0
        yield "transport/link/tx/queue/congestion_control/drop/max_wait_before_drop_fragments", 0
        yield "transport/link/tx/queue/size/data", 16
        yield "transport/auth/usrpwd/user", self.user or None
        yield "transport/auth/usrpwd/password", self.password or None
        yield "transport/auth/usrpwd/dictionary_file", _text(self.users)
        yield "transport/link/tls/root_ca_certificate", _text(self.authority)
        yield "transport/link/tls/enable_mtls", True if self.authority and self.certificate else None
        for side in ("listen", "connect"):
            yield f"transport/link/tls/{side}_certificate", _text(self.certificate)
            yield f"transport/link/tls/{side}_private_key", _text(self.key)
        if self.commanders and self.listen:
            yield "access_control", _access(robot, self.commanders)

    def _refuse_strangers(self, endpoint: str) -> None:
        protocol, host = _host(endpoint)
        secret = protocol in {"tls", "quic"}
        if secret and not (self.certificate and self.key):
            raise InputError(
                f"no certificate to listen at {endpoint} with", hint="POSEWRIGHT_ZENOH_CERTIFICATE, _KEY"
            )
        if protocol in _ON_THIS_MACHINE or _is_loopback(host):
            return
        if self.users is None and not (secret and self.authority):
            raise InputError(
                f"strangers could command the robot at {endpoint}",
                hint="name who may connect: POSEWRIGHT_ZENOH_USERS or, with tls/, POSEWRIGHT_ZENOH_CA",
            )

    def open(self, robot: str) -> ZenohObject:
        """Return a `zenoh.Session`.

        Raises:
            MissingExtraError: there is no Zenoh.
            InputError: as `settings`.
            BodyError: it cannot listen there, or nobody lets it in where it should connect.
        """
        settings = self.settings(robot)
        zenoh = zenoh_library()
        config = zenoh.Config()
        try:
            for key, value in settings.items():
                config.insert_json5(key, json.dumps(value))
            return zenoh.open(config)
        except zenoh.ZError as error:
            raise self._cannot_open(str(error).partition(" at /")[0]) from error

    def _cannot_open(self, reason: str) -> BodyError:
        if self.listen:
            where = ", ".join(self.listen)
            return BodyError(
                f"cannot listen at {where}", hint=f"another program may do so there; Zenoh: {reason}"
            )
        where = ", ".join(self.connect)
        if any(map(_somebody_listens, self.connect)):
            hint = "somebody listens there and refuses: user, password, or a certificate that is not trusted"
            return BodyError(f"not let in at {where}", hint=hint)
        return BodyError(
            f"nobody listens at {where}", hint="is the robot served? posewright serve ROBOT --zenoh"
        )


def parse_robot_name(text: str) -> str:
    """Return a robot's name as it stands before its topics, or raise InputError.

    A name of ROS: letters, digits and underscores, the first no digit; parts parted by slashes.
    """
    parts = text.split("/")
    if not all(part.isidentifier() and part.isascii() for part in parts):
        raise InputError(f"no robot is called {text!r}", hint="letters, digits and _, such as zenoh:bioloid")
    return text


def zenoh_library() -> ZenohObject:
    """Return the module `zenoh`, or raise MissingExtraError."""
    if importlib.util.find_spec("zenoh") is None:
        raise MissingExtraError.for_extra("a robot across a network", "net")
    import zenoh

    return zenoh


def _access(robot: str, commanders: tuple[str, ...]) -> dict[str, object]:
    """Return Zenoh's access control: everybody hears the robot, who is named may command it."""
    topics = [f"{robot}/**", "@/*/@ros2_lv/**"]  # a wild card does not stand for what begins with @
    commands = [f"{robot}/joint_trajectory", f"{robot}/plant"]
    asking = ["declare_subscriber", "liveliness_query", "declare_liveliness_subscriber"]
    rules = [
        _rule("ask", "ingress", asking, topics),
        _rule("tell", "egress", ["put", "delete", "liveliness_token"], topics),
        _rule("command", "ingress", ["put", "query"], commands),
        _rule("answer", "egress", ["reply", "declare_queryable", "declare_subscriber"], commands),
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


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _host(endpoint: str) -> tuple[str, str]:
    """Return the protocol and the host of an endpoint, or raise InputError."""
    protocol, slash, address = endpoint.partition("/")
    # what may follow `#` could switch off what keeps strangers out
    if not protocol or not slash or not address or {"#", "?"} & set(endpoint):
        raise InputError(f"no endpoint: {endpoint!r}", hint=f"such as {LOOPBACK} or tls/robot.local:7447")
    return protocol, address.rpartition(":")[0].strip("[]")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _somebody_listens(endpoint: str) -> bool:
    protocol, host = _host(endpoint)
    if protocol not in {"tcp", "tls"}:
        return False
    try:
        socket.create_connection((host, int(endpoint.rpartition(":")[2])), timeout=1.0).close()
    except (OSError, ValueError):
        return False
    return True
