"""The server: one port for the page, its requests, and the 3-D view.

viser serves its view and its own websocket; the studio serves its page and websocket on the same port. All
requests pass one check: they must come from a page of this server, by their `Host` and `Origin`, and carry
the token in a cookie, which the page's URL sets once. So other sites in the same browser have no access, and
neither have other users of the computer.
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
from posewright.studio.requests import MAX_REQUEST_BYTES
from posewright.studio.session import Session

if TYPE_CHECKING:
    from viser import ViserServer
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.http11 import Request, Response
    from websockets.typing import Subprotocol

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = frozenset({LOOPBACK, "localhost", "::1"})
"""Host names of this computer, which other computers cannot reach."""

COOKIE = "posewright-studio"
SOCKET = "/socket"
VIEW = "/view"
VIEW_SOCKET = "/view/socket"
MAX_QUEUED_CHARACTERS = 100_000_000
"""A window with more unsent text is disconnected; it reconnects, and gets all topics again."""
_CONTENT_TYPES = {
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
_PAGE_POLICY = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'"
}
"""Headers of the studio's own pages: no script of another origin runs, whatever a file name contains."""

_VIEW_STYLE = b"<style>.mantine-Notifications-root,.mantine-Paper-root{display:none!important}</style>"
"""Hides viser's own panel and notices; the studio's page has its own controls."""


class Server:
    """The web server of a studio.

    Args:
        host: address to listen on; other computers can connect unless it is the loopback address.
        port: 0 for any free port.
        page: file name of the page that the URL opens.
        token: secret that a browser must send; None for a new one.

    Attributes:
        viser: the server of the 3-D view; `viser.scene` holds its nodes.
        token: secret that a browser must send.

    Raises:
        MissingExtraError: the extra `studio` is not installed.
        InputError: the port is in use, or this computer has no such address.
    """

    def __init__(
        self, host: str = LOOPBACK, port: int = 0, page: str = "index.html", token: str | None = None
    ) -> None:
        """Start the server, together with that of the 3-D view."""
        try:
            import websockets.asyncio.server as websockets_server
            from viser import ViserServer
        except ImportError as error:
            raise MissingExtraError.for_extra("the studio", "studio") from error
        self.host = host
        self.port = _free_port(host, port)
        self._first_page = page
        self.token = token or secrets.token_urlsafe(18)
        self.session: Session | None = None
        self._window_numbers = itertools.count(1)
        self._serve = websockets_server.serve
        # viser has no hook for this: replace the `serve` that it calls by ours, which adds check and pages
        with (
            mock.patch.object(websockets_server, "serve", self._serve_guarded),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            self.viser: ViserServer = ViserServer(host=host, port=self.port, verbose=False)
        if self.viser.get_port() != self.port:
            self.viser.stop()
            raise _port_error(host, self.port)

    @property
    def url(self) -> str:
        """The URL that opens the studio, with the token."""
        host = LOOPBACK if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - compared, not bound
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    def close(self) -> None:
        """Stop the server and free the port."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.viser.stop()

    def _serve_guarded(
        self,
        handler: Callable[[ServerConnection], Awaitable[None]],
        host: str,
        port: int,
        *,
        process_request: Callable[[ServerConnection, Request], Response],
        select_subprotocol: Callable[[ServerConnection, Sequence[Subprotocol]], Subprotocol],
        max_size: int,
        **options: Any,  # other options that this version of viser sets
    ) -> serve:
        """Serve the studio's pages and websocket too; viser calls this instead of websockets' `serve`.

        Args:
            handler: viser's handler of the websocket of its view.
            host: address to listen on.
            port: port to listen on.
            process_request: viser's answer to a request for a page.
            select_subprotocol: viser's choice of a websocket subprotocol.
            max_size: viser's limit of a message, which `MAX_REQUEST_BYTES` replaces.
            options: passed on.
        """

        async def handle_websocket(connection: ServerConnection) -> None:
            if connection.request is not None and _path(connection.request) == VIEW_SOCKET:
                await handler(connection)
            else:
                await self._handle_window(connection)

        def answer_request(connection: ServerConnection, request: Request) -> Response | None:
            try:
                return self._answer(connection, request, process_request)
            except ValueError:  # a malformed address or header
                return _response(http.HTTPStatus.BAD_REQUEST, b"the request is malformed\n")

        def select_protocol(
            connection: ServerConnection, offered: Sequence[Subprotocol]
        ) -> Subprotocol | None:
            # only windows of the 3-D view offer subprotocols
            return select_subprotocol(connection, offered) if offered else None

        return self._serve(
            handle_websocket,
            host,
            port,
            process_request=answer_request,
            select_subprotocol=select_protocol,
            max_size=MAX_REQUEST_BYTES,
            logger=_log(),
            **options,
        )

    async def _handle_window(self, connection: ServerConnection) -> None:
        """Pass the requests of a window to the session, and messages back, until the window is closed.

        Messages wait in a queue, since the session's thread must not wait for a slow window. A window with
        more than `MAX_QUEUED_CHARACTERS` in it is disconnected.
        """
        import asyncio

        from websockets.exceptions import ConnectionClosed

        session = self.session
        if session is None:
            return
        window_number = next(self._window_numbers)
        loop = asyncio.get_running_loop()
        queued_texts = asyncio.Queue[str]()
        n_queued_characters = 0

        def enqueue(text: str) -> None:
            """Queue a text for the window, or drop the connection if too much waits."""
            nonlocal n_queued_characters
            n_queued_characters += len(text)
            if n_queued_characters > MAX_QUEUED_CHARACTERS:
                connection.transport.abort()
            else:
                queued_texts.put_nowait(text)

        def send(text: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(enqueue, text)

        async def send_queued() -> None:
            nonlocal n_queued_characters
            while True:
                text = await queued_texts.get()
                await connection.send(text)
                n_queued_characters -= len(text)

        sending = asyncio.create_task(send_queued())
        session.add_window(window_number, send)
        try:
            async for text in connection:
                session.handle_request(text, send)
        except ConnectionClosed:
            pass
        finally:
            session.remove_window(window_number)
            sending.cancel()

    def _answer(
        self,
        connection: ServerConnection,
        request: Request,
        viser_pages: Callable[[ServerConnection, Request], Response],
    ) -> Response | None:
        """Return the response to a request: a page or an error; None to accept a websocket.

        Args:
            connection: the connection, which viser needs.
            request: the request.
            viser_pages: viser's answer to a request for a page.
        """
        if not self._is_same_origin(request):
            return _response(http.HTTPStatus.FORBIDDEN, b"requests from other sites are not accepted\n")
        query = parse_qs(urlsplit(request.path).query)
        path = _path(request)
        token = query.get("token", [""])[0]
        if path == "/" and token:
            return self._accept_token(token)
        if not self._has_token(request):
            return _response(
                http.HTTPStatus.UNAUTHORIZED,
                b"open the address that `posewright studio` prints, which ends in a token\n",
            )
        if _header(request, "Upgrade").lower() == "websocket":
            is_valid = path in {SOCKET, VIEW_SOCKET} and _header(request, "Origin")
            return None if is_valid else _response(http.HTTPStatus.NOT_FOUND, b"")
        if path == VIEW:
            request = type(request)("/", request.headers)
            del request.headers[
                "Accept-Encoding"
            ]  # the response is changed below, so it must not be compressed
            response = viser_pages(connection, request)
            return _response(
                http.HTTPStatus.OK, bytes(response.body).replace(b"<body>", b"<body>" + _VIEW_STYLE, 1)
            )
        return _page(path if path != "/" else f"/{self._first_page}")

    def _is_same_origin(self, request: Request) -> bool:
        """Return whether a request names this server, and comes from one of its pages or from none."""
        host = _header(request, "Host")
        host_name = urlsplit(f"//{host}").hostname or ""
        if self.host in LOOPBACK_NAMES and host_name not in LOOPBACK_NAMES:
            return False  # another site whose name was made to resolve to this computer
        origin = _header(request, "Origin")
        if origin:
            return origin == f"http://{host}"
        fetch_site = _header(request, "Sec-Fetch-Site") or "none"
        return fetch_site in {"none", "same-origin"} or _path(request) == "/"

    def _has_token(self, request: Request) -> bool:
        """Return whether a request has the cookie with the token."""
        pairs = (part.strip().partition("=") for part in _header(request, "Cookie").split(";"))
        cookies = {name: value for name, _, value in pairs}
        token = cookies.get(f"{COOKIE}-{self.port}", "")
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _accept_token(self, token: str) -> Response:
        """Return the response to the URL with a token: if it is right, a cookie and the URL without it."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return _response(http.HTTPStatus.UNAUTHORIZED, b"the token is not valid for this studio\n")
        cookie = f"{COOKIE}-{self.port}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return _response(http.HTTPStatus.SEE_OTHER, body=b"", headers={"Location": "/", "Set-Cookie": cookie})


def _path(request: Request) -> str:
    return urlsplit(request.path).path


def _header(request: Request, name: str) -> str:
    """Return a header of a request; both values joined, which match nothing, if it occurs twice."""
    return ", ".join(request.headers.get_all(name))


def _page(path: str) -> Response:
    """Return the response with a file of the folder `page`, or that there is none at this path."""
    folder = resources.files("posewright.studio").joinpath("page")
    files = {f"/{file.name}": file for file in folder.iterdir()}
    content_type = _CONTENT_TYPES.get(PurePosixPath(path).suffix)
    if content_type is None or path not in files:
        return _response(http.HTTPStatus.NOT_FOUND, b"there is no such page\n")
    headers = {"Content-Type": content_type, **_PAGE_POLICY}
    return _response(http.HTTPStatus.OK, files[path].read_bytes(), headers)


def _log() -> logging.Logger:
    """Return the server's logger, which omits connections that do not speak HTTP: anybody can open those."""
    from websockets.exceptions import WebSocketException

    def is_of_interest(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, WebSocketException | OSError)

    log = logging.getLogger("posewright.studio")
    log.addFilter(is_of_interest)
    return log


def _response(status: http.HTTPStatus, body: bytes, headers: dict[str, str] | None = None) -> Response:
    """Return an HTTP response with the studio's security headers."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    content_type = "text/html; charset=utf-8" if status is http.HTTPStatus.OK else "text/plain; charset=utf-8"
    all_headers = {
        "Content-Type": content_type,
        "Content-Length": str(len(body)),
        **_HEADERS,
        **(headers or {}),
    }
    return Response(status, status.phrase, Headers(all_headers), body)


def _free_port(host: str, port: int) -> int:
    """Return the port, or a free one for 0, after binding to it once.

    Raises:
        InputError: the port cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if not host:
            raise _port_error("an empty address,", port)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError, TypeError, ValueError) as error:  # not a number, not a host name
            raise _port_error(host, port) from error
        return int(probe.getsockname()[1])


def _port_error(host: str, port: int) -> InputError:
    return InputError(
        f"cannot listen on {host} port {port}", hint="choose another --port, or none for any free one"
    )
