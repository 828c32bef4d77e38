"""Our name server answers as YARP's was seen to, byte by byte, and our client understands both."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from posewright.errors import BodyError, InputError
from posewright.network.yarp.listening import Address, Connection, Listener
from posewright.network.yarp.names import NameClient, NameServer

END = b"*** end of message\r\n"
ALLOCATED = re.compile(rb"\b100\d\d\b")
"""A port number that the server chose: what it is depends on what else runs here."""


@pytest.fixture
def server() -> Iterator[NameServer]:
    with NameServer(port=0) as server:
        yield server


@pytest.fixture
def names(server: NameServer) -> NameClient:
    return NameClient(port=server.address.port)


def exchange(server: NameServer, request: bytes) -> bytes:
    """Send a request on a new connection; return the whole answer."""
    with socket.create_connection((server.address.host, server.address.port), 5.0) as link:
        link.sendall(request)
        answer = b""
        while part := link.recv(4096):
            answer += part
    return answer


def test_a_name_server_answers_like_yarps(server: NameServer) -> None:
    first = b"registration name /x ip 127.0.0.1 port N type tcp\r\n"
    entry = b'port (name "/x") (ip "127.0.0.1") (port_number N) (carrier tcp)'
    root = b"registration name /root ip 127.0.0.1 port %d type tcp\r\n" % server.address.port
    for request, answer in [
        (b"list\n", root + END),
        (b"query /x\r\n", END),
        (b"register /x\n", first + END),
        (b"query /x\n", first + END),
        (
            b"register /y tcp 127.0.0.1 10999\n",
            b"registration name /y ip 127.0.0.1 port 10999 type tcp\r\n" + END,
        ),
        (b"register /z ... ... ...\n", b"registration name /z ip 127.0.0.1 port N type tcp\r\n" + END),
        (b"register ...\n", b"registration name /anonymous/N ip 127.0.0.1 port N type tcp\r\n" + END),
        (b"list /x\n", first + END),
        (b"bot list /x\n", b"ports (" + entry + b")\r\n"),
        (b"bot list /nobody\n", b"ports\r\n"),
        (b"bot query /x\n", entry + b"\r\n"),
        (b"bot query /nobody\n", b'port (error -2 "port not known")\r\n'),
        (b"bot set /x place 3 4\n", b"3 4\r\n"),
        (b"bot get /x place\n", b"3 4\r\n"),
        (b"bot get /x nothing\n", b"\r\n"),
        (b"bot sing /x\n", END),
        (b"bot\n", END),
        (b"set /x ips 127.0.0.1\n", b"port /x property ips = 127.0.0.1\r\n" + END),
        (b"set /x offers tcp fast_tcp\n", b"port /x property offers = tcp fast_tcp\r\n" + END),
        (b"get /x ips\n", b"port /x property ips = 127.0.0.1\r\n" + END),
        (b"check /x ips 127.0.0.1\n", b"port /x property ips value 127.0.0.1 present true\r\n" + END),
        (b"check /x offers udp\n", b"port /x property offers value udp present false\r\n" + END),
        (b"route /a /b\n", b"port /a route /b = tcp://b\r\n" + END),
        (b"announce /x\n", b"[ok]\r\n"),
        (b"sing\n", END),
        (b"query\n", END),
        (b"\n", END),
        (b"unregister /x\n", END),
        (b"query /x\n", END),
        (b"get /x ips\n", b"port /x property ips = \r\n" + END),
        (b"register /again\n", first.replace(b"/x", b"/again") + END),
    ]:
        assert ALLOCATED.sub(b"N", exchange(server, b"NAME_SERVER " + request)) == answer


def test_the_name_server_is_a_port_itself_as_yarp_exists_and_yarp_check_want_it(server: NameServer) -> None:
    there = b"tcp://127.0.0.1:%d/" % server.address.port
    for request, answer in [
        (b"a\r\n[ver]\r\n", b"[ver] 1 2 3\r\n"),
        (b"a\r\n[list] [out]\r\n", b"\r\n"),
        (b"a\r\n[add] /x\r\n", b'-1 "Do not know how to connect to /x\\r\\n"\r\n'),
        (b"a\r\n[del] /x\r\n", None),
        (b"*\r\n", b"This is /root at " + there + b"\r\nThere are no outgoing connections\r\n"
         b"There is an input connection from me to /root using text_ack\r\n"),
        (b"d\r\nregister /x\r\n", None),
        (b"d\r\nbot list /x\r\n",
         b'ports (port (name "/x") (ip "127.0.0.1") (port_number N) (carrier tcp))\r\n'),
        (b"d\r\ngc\r\n", b"\r\n"),
    ]:  # fmt: skip
        received = exchange(server, b"CONNACK me\r\n" + request + b"q\r\n")
        begins, ends = b"Welcome me\r\n", b"<ACK>\r\n<ACK>\r\n"
        assert received.startswith(begins)
        assert received.endswith(ends)
        if answer is not None:
            assert ALLOCATED.sub(b"N", received[len(begins) : -len(ends)]) == answer


def test_who_registers_a_name_again_gets_the_same_port_so_that_two_of_one_name_collide(
    server: NameServer,
) -> None:
    once, other, again = (server.answer(["register", name])[0] for name in ("/x", "/y", "/x"))
    assert once == again  # a yarpserver does so: the second port fails to listen, unless the first one died
    assert once.split()[6] != other.split()[6]
    assert " 10999 " in server.answer(["register", "/x", "tcp", "127.0.0.1", "10999"])[0]


def test_a_port_number_that_another_program_has_is_not_given(
    server: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        monkeypatch.setattr("posewright.network.yarp.names.FIRST_PORT", taken)
        (line, _) = server.answer(["register", "/x"])
    assert int(line.split()[6]) > taken


@pytest.mark.parametrize("junk", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100 + b"\n", b"x" * 70_000, b""])
def test_junk_is_hung_up_on_and_others_are_served(server: NameServer, names: NameClient, junk: bytes) -> None:
    where = (server.address.host, server.address.port)
    with socket.create_connection(where, 30.0) as link:
        with suppress(OSError):  # it may have hung up before it has all of it
            link.sendall(junk)
            link.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            assert link.recv(100) == b""
    assert list(names.names()) == ["/root"]


def test_a_client_registers_finds_and_takes_off(names: NameClient) -> None:
    there = Address("127.0.0.1", 10500)
    names.register("/robot/leg/state:o", there)
    names.announce("/robot/leg/state:o", {"ips": "127.0.0.1"})
    assert names.query("/robot/leg/state:o") == there
    assert names.names()["/robot/leg/state:o"] == there
    assert names.ask("get /robot/leg/state:o ips") == ["port /robot/leg/state:o property ips = 127.0.0.1"]
    names.unregister("/robot/leg/state:o")
    assert names.query("/robot/leg/state:o") is None


@pytest.mark.parametrize(
    "name", ["", "x", "/", "/a b", "/a\nNAME_SERVER unregister /b", "/\xe9", "/" + "x" * 300]
)
def test_a_name_that_no_port_can_have_is_not_asked_for(names: NameClient, name: str) -> None:
    with pytest.raises(InputError, match="no port can be called"):
        names.query(name)


@pytest.mark.parametrize("host", ["192.168.1.7", "10.0.0.1", "robot.local", "::1", ""])
def test_nothing_off_this_machine_is_listened_on_or_asked(host: str) -> None:
    with pytest.raises(InputError, match="another machine"):
        NameServer(host, 0)
    with pytest.raises(InputError, match="ssh"):
        NameClient(host)


def test_a_port_on_another_machine_is_not_gone_to(names: NameClient) -> None:
    names.ask("register /far tcp 192.168.1.7 10002")
    with pytest.raises(InputError, match="another machine"):
        names.query("/far")
    assert "/far" not in names.names()


def test_no_name_server_is_an_error_that_says_what_to_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        free = reserved.getsockname()[1]
    with pytest.raises(BodyError, match="start `yarpserver`"):
        NameClient(port=free).names()


def test_a_server_that_hangs_up_amid_its_answer_is_an_error() -> None:
    def half(connection: Connection) -> None:
        connection.link.recv(100)
        connection.link.sendall(b"registration name /x ip 127.0.0.1 port 100")

    listener = Listener(Address("127.0.0.1", 0), half)
    listener.start()
    try:
        with pytest.raises(BodyError, match="no name server answers"):
            NameClient(port=listener.address.port).query("/x")
    finally:
        listener.close()


def test_a_second_name_server_is_told_who_is_there(server: NameServer) -> None:
    with pytest.raises(BodyError, match="cannot listen"):
        NameServer(port=server.address.port)
