"""The server: one port for the page, its requests, and the 3-D view.

viser serves its view and its own websocket; the studio's page and its websocket hang on the same port,
behind one guard. A request gets in only from a page of this server (`Host` and `Origin` say so) that has
the token: a cookie, which the address of the page sets once. Another site in the same browser gets nothing,
and neither does another user of the computer.
"""

from __future__ import annotations

import contextlib
import hmac
import http
import io
import itertools
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

from posewright.errors import InputError, MissingExtraError
from posewright.studio.requests import MOST_BYTES
from posewright.studio.session import Session

if TYPE_CHECKING:
    from viser import ViserServer
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.http11 import Request, Response
    from websockets.typing import Subprotocol

LOOPBACK = "127.0.0.1"
COOKIE = "posewright-studio"
SOCKET = "/socket"
VIEW = "/view"
VIEW_SOCKET = "/view/socket"
MOST_WAITING = 100_000_000
"""A window that is so many characters behind is disconnected; it connects again, and is shown all anew."""
_ENDINGS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_POLICY = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'"
}
"""Of our own pages: whatever name a file brings, no script of another place runs."""

_VIEW_STYLE = b"<style>.mantine-Notifications-root,.mantine-Paper-root{display:none!important}</style>"
"""Hides viser's own panel and notices: the studio's page has controls of its own."""


class Server:
    """The studio's door to the browser.

    Args:
        host: the address it listens on; other computers get in where it is not the loopback.
        port: 0 for any that is free.
        page: the page that its address opens.

    Attributes:
        viser: the 3-D view; `viser.scene` is what it shows.
        token: what a browser must bring.

    Raises:
        MissingExtraError: the extra `studio` is not installed.
        InputError: the port is taken, or this computer has no such address.
    """

    def __init__(self, host: str = LOOPBACK, port: int = 0, page: str = "index.html") -> None:
        try:
            import websockets.asyncio.server as websockets_server
            from viser import ViserServer
        except ImportError as error:
            raise MissingExtraError.for_extra("the studio", "studio") from error
        self.host = host
        self.port = _free_port(host, port)
        self._first_page = page
        self.token = secrets.token_urlsafe(18)
        self.session: Session | None = None
        self._numbers = itertools.count(1)
        self._serve = websockets_server.serve
        # viser has no hook for this: its call of `serve` is answered by ours, which adds guard and pages
        with (
            mock.patch.object(websockets_server, "serve", self._guarded),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            self.viser: ViserServer = ViserServer(host=host, port=self.port, verbose=False)
        if self.viser.get_port() != self.port:
            self.viser.stop()
            raise _port_error(host, self.port)

    @property
    def url(self) -> str:
        """The address that opens the studio, token and all."""
        host = LOOPBACK if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - compared, not bound
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    def close(self) -> None:
        """Let go of the port."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.viser.stop()

    def _guarded(
        self,
        handler: Callable[[ServerConnection], Awaitable[None]],
        host: str,
        port: int,
        *,
        process_request: Callable[[ServerConnection, Request], Response],
        select_subprotocol: Callable[[ServerConnection, Sequence[Subprotocol]], Subprotocol],
        max_size: int,
        **options: Any,  # whatever else this version of viser sets
    ) -> serve:
        """Serve the studio's own pages and websocket beside those of viser, which calls this."""

        async def handle(connection: ServerConnection) -> None:
            if connection.request is not None and _path(connection.request) == VIEW_SOCKET:
                await handler(connection)
            else:
                await self._converse(connection)

        def pages(connection: ServerConnection, request: Request) -> Response | None:
            try:
                return self._answer(connection, request, process_request)
            except ValueError:  # an address or a header that is none
                return _response(http.HTTPStatus.BAD_REQUEST, b"no browser asks like this\n")

        def protocol(connection: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
            return select_subprotocol(connection, offered) if offered else None

        return self._serve(
            handle,
            host,
            port,
            process_request=pages,
            select_subprotocol=protocol,
            max_size=MOST_BYTES,
            logger=_log(),
            **options,
        )

    async def _converse(self, connection: ServerConnection) -> None:
        """Pass requests of a window to the session until it is closed."""
        import asyncio

        from websockets.exceptions import ConnectionClosed

        session = self.session
        if session is None:
            return
        number = next(self._numbers)
        loop = asyncio.get_running_loop()
        waiting = asyncio.Queue[str]()
        length = 0

        def put(text: str) -> None:
            nonlocal length
            length += len(text)
            if length > MOST_WAITING:
                connection.transport.abort()
            else:
                waiting.put_nowait(text)

        def send(text: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(put, text)

        async def sending() -> None:
            nonlocal length
            while True:
                text = await waiting.get()
                await connection.send(text)
                length -= len(text)

        task = asyncio.create_task(sending())
        session.join(number, send)
        try:
            async for text in connection:
                session.ask(text, send)
        except ConnectionClosed:
            pass
        finally:
            session.leave(number)
            task.cancel()

    def _answer(
        self,
        connection: ServerConnection,
        request: Request,
        viser_pages: Callable[[ServerConnection, Request], Response],
    ) -> Response | None:
        """Return a page, a refusal, or None to let a websocket in."""
        if not self._is_ours(request):
            return _response(http.HTTPStatus.FORBIDDEN, b"not from another site\n")
        query = parse_qs(urlsplit(request.path).query)
        path = _path(request)
        token = query.get("token", [""])[0]
        if path == "/" and token:
            return self._let_in(token)
        if not self._has_token(request):
            return _response(
                http.HTTPStatus.UNAUTHORIZED,
                b"open the address that `posewright studio` prints: it ends in a token\n",
            )
        if _header(request, "Upgrade").lower() == "websocket":
            is_known = path in {SOCKET, VIEW_SOCKET} and _header(request, "Origin")
            return None if is_known else _response(http.HTTPStatus.NOT_FOUND, b"")
        if path == VIEW:
            request = type(request)("/", request.headers)
            del request.headers["Accept-Encoding"]
            response = viser_pages(connection, request)
            return _response(
                http.HTTPStatus.OK, bytes(response.body).replace(b"<body>", b"<body>" + _VIEW_STYLE, 1)
            )
        return _page(path if path != "/" else f"/{self._first_page}")

    def _is_ours(self, request: Request) -> bool:
        """Return whether a request names this server, and comes from one of its pages or from none."""
        host = _header(request, "Host")
        origin = _header(request, "Origin")
        name = urlsplit(f"//{host}").hostname or ""
        is_named = self.host not in {LOOPBACK, "localhost", "::1"} or name in {LOOPBACK, "localhost", "::1"}
        fetched_by = _header(request, "Sec-Fetch-Site") or "none"
        if origin:
            return is_named and origin == f"http://{host}"
        return is_named and (fetched_by in {"none", "same-origin"} or _path(request) == "/")

    def _has_token(self, request: Request) -> bool:
        pairs = (part.strip().partition("=") for part in _header(request, "Cookie").split(";"))
        token = {name: value for name, _, value in pairs}.get(f"{COOKIE}-{self.port}", "")
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _let_in(self, token: str) -> Response:
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return _response(http.HTTPStatus.UNAUTHORIZED, b"this token is not of this studio\n")
        cookie = f"{COOKIE}-{self.port}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return _response(http.HTTPStatus.SEE_OTHER, b"", {"Location": "/", "Set-Cookie": cookie})


def _path(request: Request) -> str:
    return urlsplit(request.path).path


def _header(request: Request, name: str) -> str:
    """Return a header of a request; the values of one that is there twice are joined, and match nothing."""
    return ", ".join(request.headers.get_all(name))


def _page(path: str) -> Response:
    """Return a file of the studio's own page."""
    folder = resources.files("posewright.studio").joinpath("page")
    files = {f"/{file.name}": file for file in folder.iterdir()}
    kind = _ENDINGS.get(PurePosixPath(path).suffix)
    if kind is None or path not in files:
        return _response(http.HTTPStatus.NOT_FOUND, b"there is no such page\n")
    return _response(http.HTTPStatus.OK, files[path].read_bytes(), {"Content-Type": kind, **_POLICY})


def _log() -> logging.Logger:
    """Return the log of the server, without connections that speak no HTTP: anybody can make those."""
    from websockets.exceptions import WebSocketException

    def is_of_interest(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, WebSocketException | OSError)

    log = logging.getLogger("posewright.studio")
    log.addFilter(is_of_interest)
    return log


def _response(status: http.HTTPStatus, body: bytes, headers: dict[str, str] | None = None) -> Response:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    kind = "text/html; charset=utf-8" if status is http.HTTPStatus.OK else "text/plain; charset=utf-8"
    fields = {"Content-Type": kind, "Content-Length": str(len(body)), **_HEADERS, **(headers or {})}
    return Response(status, status.phrase, Headers(fields), body)


def _free_port(host: str, port: int) -> int:
    """Return the port, or one that is free for 0; an `InputError` where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if not host:
            raise _port_error("an empty address,", port)
        try:
            trial.bind((host, port))
        except (OSError, OverflowError, TypeError, ValueError) as error:  # no number, no name
            raise _port_error(host, port) from error
        return int(trial.getsockname()[1])


def _port_error(host: str, port: int) -> InputError:
    return InputError(
        f"{host} port {port} cannot be listened on", hint="another --port, or none for any that is free"
    )
