"""Ports and tokens of earlier studios, so that a page that is still open connects again after a restart."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import NamedTuple

from posewright.documents import atomic_replacement
from posewright.errors import InputError, OutputError
from posewright.studio.server import Server

MAX_ADDRESSES = 50
"""Number of files and folders whose address is stored; the oldest are forgotten."""


class KnownAddress(NamedTuple):
    """The address of an earlier studio: its port, and the token that browsers have in a cookie."""

    port: int
    token: str


def start_server(
    host: str, port: int, *, shown_path: Path, address_file: Path | None, page: str = "index.html"
) -> Server:
    """Start a server, if possible with the address of the last one that showed the same file or folder.

    Args:
        host: as for `Server`.
        port: as for `Server`; 0 for the last port if it is free, else for any free one.
        shown_path: the file or folder that it shows.
        address_file: the file with known addresses, which only its owner can read; None for a new address.
        page: as for `Server`.

    Raises:
        MissingExtraError, InputError: as for `Server`.
    """
    if address_file is None:
        return Server(host, port, page)
    key = f"{page} {shown_path.resolve()}"
    known = _read_addresses(address_file).get(key)
    if known is not None and port in {0, known.port}:
        try:
            return Server(host, known.port, page, token=known.token)
        except InputError:
            if port:
                raise
        return Server(host, port, page)  # that studio still runs, and keeps its address
    server = Server(host, port, page)
    _store_address(address_file, key, KnownAddress(server.port, server.token))
    return server


def _read_addresses(path: Path) -> dict[str, KnownAddress]:
    """Return the known addresses by page and shown path; none if there is no such file or it is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {key: KnownAddress(int(port), str(token)) for key, (port, token) in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _store_address(path: Path, key: str, address: KnownAddress) -> None:
    """Add an address to a file that only its owner can read; without write permission, do nothing."""
    addresses = _read_addresses(path)
    addresses.pop(key, None)
    addresses[key] = address  # the newest is the last
    newest = dict(list(addresses.items())[-MAX_ADDRESSES:])
    with contextlib.suppress(OSError, OutputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # its permissions stay when it is replaced
        with atomic_replacement(path) as (unfinished, handle):
            unfinished.chmod(0o600)
            os.write(handle, json.dumps(newest).encode())
