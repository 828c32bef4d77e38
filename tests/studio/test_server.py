"""The server lets in who brings the token, from its own page, to its own files; and nobody else."""

from __future__ import annotations

import http.client
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from posewright.studio.server import Server

client = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")


@pytest.fixture(scope="module")
def server() -> Any:
    pytest.importorskip("viser")
    made = Server()
    yield made
    made.close()


Get = Callable[..., Any]


@pytest.fixture
def get(server: Server) -> Get:
    """Fetch a path with headers; with the cookie of a browser that was let in, unless it is refused one."""

    def fetch(path: str, *, is_known: bool = True, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600.0)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if is_known:
            sent.setdefault("Cookie", cookie(server))
        connection.request("GET", path, headers=sent)
        answer = connection.getresponse()
        answer.body = answer.read()  # type: ignore[attr-defined]
        connection.close()
        return answer

    return fetch


def cookie(server: Server) -> str:
    return f"posewright-studio-{server.port}={server.token}"


def test_the_address_it_prints_lets_a_browser_in_and_hides_the_token_at_once(
    server: Server, get: Get
) -> None:
    address = urlsplit(server.url)
    answer = get(f"{address.path}?{address.query}", is_known=False)
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    for word in ("HttpOnly", "SameSite=Strict"):
        assert word in answer.headers["Set-Cookie"]
    assert get("/").status == 200
    assert "script" not in get("/").headers["Content-Security-Policy"].replace("default-src 'self'", "")


@pytest.mark.parametrize("path", ["/", "/main.js", "/view", "/?token=", "/?token=wrong", "/socket"])
def test_who_has_no_token_or_a_wrong_one_gets_nothing(get: Get, path: str) -> None:
    for brought in ({}, {"Cookie": "posewright-studio=x"}):
        answer = get(path, is_known=False, **brought)
        assert answer.status == 401
        assert b"<" not in answer.body


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_pages_of_other_sites_are_refused_even_with_the_cookie(get: Get, headers: dict[str, str]) -> None:
    for path in ("/view", "/view?websocket=ws://evil.example", "/main.js", "/socket"):
        assert get(path, **headers).status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "//etc/passwd",
        "/page/../../__init__.py",
        "/server.py",
        "/main.js/..",
        "/main.js%00.html",
        "/nothing.js",
    ],
)
def test_nothing_but_the_files_of_the_page_is_served(get: Get, path: str) -> None:
    answer = get(path)
    assert answer.status == 404
    assert b"import" not in answer.body


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("GET / HTTP/1.1\r\nHost: [\r\n\r\n", "400"),
        ("GET //[ HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: a\r\nOrigin: b\r\n\r\n", "403"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", ""),
        ("\x16\x03\x01", ""),
    ],
)
def test_what_no_browser_asks_is_refused_and_leaves_nothing_on_the_terminal(
    server: Server, caplog: pytest.LogCaptureFixture, asked: str, status: str
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=600.0) as door:
        door.sendall(asked.encode())
        if not status:
            door.shutdown(socket.SHUT_WR)
        assert door.makefile("rb").read()[9:12].decode() == status
    assert not caplog.records


def test_a_window_that_never_reads_is_cut_off_and_stalls_nobody(server: Server) -> None:
    session = Listeners()
    server.session = session  # type: ignore[assignment]
    own = f"http://127.0.0.1:{server.port}"
    address = f"ws://127.0.0.1:{server.port}/socket"
    how = {"additional_headers": {"Cookie": cookie(server)}, "max_size": None, "close_timeout": 0.1}
    try:
        with client.connect(address, origin=own, max_queue=1, **how):
            (send,) = session.wait_for(1)
            text = secrets.token_hex(5_000_000)  # what can be compressed is gone at once
            for _ in range(12):
                send(text)
            assert session.wait_for(0) == []
    finally:
        server.session = None


class Listeners:
    """Knows which windows there are."""

    def __init__(self) -> None:
        self.windows: dict[int, Any] = {}
        self._changed = threading.Condition()

    def add_window(self, window: int, send: Any) -> None:
        with self._changed:
            self.windows[window] = send
            self._changed.notify_all()

    def remove_window(self, window: int) -> None:
        with self._changed:
            del self.windows[window]
            self._changed.notify_all()

    def wait_for(self, count: int) -> list[Any]:
        with self._changed:
            self._changed.wait_for(lambda: len(self.windows) == count)
        return list(self.windows.values())


@pytest.mark.parametrize("path", ["/socket", "/view/socket"])
def test_a_websocket_needs_the_token_and_the_right_origin(server: Server, path: str) -> None:
    own, known = f"http://127.0.0.1:{server.port}", {"Cookie": cookie(server)}
    wrong: list[tuple[str | None, dict[str, str]]] = [
        (own, {}),
        (own, {"Cookie": f"posewright-studio-{server.port}=x"}),
        ("http://evil.example", known),
        (None, known),
    ]
    for origin, headers in wrong:
        with pytest.raises(exceptions.InvalidStatus):
            client.connect(f"ws://127.0.0.1:{server.port}{path}", origin=origin, additional_headers=headers)


def test_bound_elsewhere_it_still_wants_the_token_and_its_address_has_it() -> None:
    made = Server("0.0.0.0")  # noqa: S104 -- what is tested
    try:
        assert made.token in made.url
        connection = http.client.HTTPConnection("127.0.0.1", made.port, timeout=600.0)
        connection.request("GET", "/", headers={"Host": f"robot.example:{made.port}"})
        assert connection.getresponse().status == 401
        connection.close()
    finally:
        made.close()
