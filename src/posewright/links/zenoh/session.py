"""How a Zenoh session is set up: where it listens, whom it meets, and what keeps strangers out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOOPBACK = "tcp/127.0.0.1:7447"
"""Where a robot listens and a client looks for it unless told otherwise; 7447 is Zenoh's own port."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM that make the links of a session private.

    Attributes:
        authority: the certificate of who signed the other side's.
        certificate: this side's own; a client needs none unless the other side is `mutual`.
        key: the private key of that certificate.
        mutual: whether who connects must show a certificate signed by the authority.
    """

    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    mutual: bool = False


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """One side's part in a Zenoh network; multicast scouting is always off.

    Attributes:
        listen: endpoints at which others may connect: `tcp/127.0.0.1:7447`, `tls/0.0.0.0:7447`.
        connect: endpoints at which others listen, a router for one.
        user: whom this side says to be, with `password`.
        users: a file of those who may connect, a line `user:password` each.
        commanders: users, or common names of certificates, who may command the robot; all others observe.
            Nothing named: whoever may connect may command.
        file: a document of Zenoh's own (JSON5) that all this is set in.
    """

    listen: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    tls: Tls | None = None
    user: str = ""
    password: str = ""
    users: Path | None = None
    commanders: tuple[str, ...] = ()
    file: Path | None = None

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str], *, listen: tuple[str, ...] = (), connect: tuple[str, ...] = ()
    ) -> SessionConfig:
        """Return what the variables `POSEWRIGHT_ZENOH_*` and `ZENOH_CONFIG` say, with these endpoints."""
        raise NotImplementedError

    def open(self, robot: str) -> Any:
        """Return a `zenoh.Session` for a robot of that name.

        Raises:
            MissingExtraError: there is no Zenoh.
            InputError: it was asked to listen off loopback without what would keep strangers out.
            BodyError: it cannot listen there, or nobody listens where it should connect.
        """
        raise NotImplementedError
