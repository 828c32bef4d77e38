"""Ports exchange the same bytes as observed ports of YARP 3.9.1, and reach each other over all carriers."""

from __future__ import annotations

import socket
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress

import pytest

from posewright.errors import BodyError, InputError, UnknownNameError
from posewright.network.yarp.bottle import Bottle, Vocab
from posewright.network.yarp.carriers import Envelope, Message, datagram
from posewright.network.yarp.clients import Reader, RpcClient, administer
from posewright.network.yarp.listening import Address
from posewright.network.yarp.names import NameClient, NameServer
from posewright.network.yarp.port import Port

from .yarp_peers import (
    ACK,
    ANSWER,
    ASK,
    FAST_TCP,
    QUIT,
    TCP,
    TELL,
    UDP,
    RawClient,
    ReceivedMessages,
    frame_payload,
    wait_for,
    wait_until_received,
)


@pytest.fixture
def names() -> Iterator[NameClient]:
    with NameServer(port=0) as server:
        yield NameClient(port=server.address.port)
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("yarp")]
    assert left == []


def board(request: Bottle, _: str) -> Bottle:
    """Answer like a control board with one joint, and echo other requests."""
    if request[:2] == ("get", "encs"):
        return Vocab("is"), (1.0,)
    if request == ("damaged",):
        raise InputError("no such request")
    return request


@pytest.fixture
def rpc(names: NameClient) -> Iterator[Port]:
    with Port("/robot/rpc:i", names, on_request=board) as port:
        yield port


def test_binary_requests_are_answered_bare_and_acknowledged(rpc: Port) -> None:
    with RawClient(rpc.address) as raw:
        raw.introduce(TCP, rpc.address)
        raw.send(frame_payload(ASK))
        raw.expect(ANSWER + ACK)
        raw.send(frame_payload(ASK, 3, 3, 8, 15))  # blocks cut anywhere
        raw.expect(ANSWER + ACK)
        raw.send(frame_payload(TELL))
        raw.expect(ACK)
        raw.send(frame_payload(QUIT))
        raw.expect(ACK)
        raw.expect_end()
    assert rpc.facts()["malformed"] == 0


def test_fast_tcp_acknowledges_nothing(rpc: Port) -> None:
    with RawClient(rpc.address) as raw:
        raw.introduce(FAST_TCP, rpc.address)
        raw.send(frame_payload(TELL) + frame_payload(ASK) + frame_payload(QUIT))
        raw.expect(ANSWER)
        raw.expect_end()


def test_bytes_may_come_one_by_one(rpc: Port) -> None:
    with RawClient(rpc.address) as raw:
        for byte in TCP + b"\x03\0\0\0/w\0" + frame_payload(ASK, 5):
            raw.send(bytes((byte,)))
        raw.expect(b"YA" + struct.pack("<i", rpc.address.port) + b"RP" + ANSWER + ACK)


def test_text_mode_reads_like_a_real_port(rpc: Port) -> None:
    with RawClient(rpc.address) as raw:
        raw.send(b"CONNACK me\r\n")
        raw.expect(b"Welcome me\r\n")
        for said, answered in [
            (b"d\r\n[get] [encs]\r\n", b"[is] (1.0)\r\n"),
            (b"d\r\nget encs\r\n", b"[is] (1.0)\r\n"),
            (b'd\r\nhello "a b" 3 (1 2.5)\r\n', b'hello "a b" 3 (1 2.5)\r\n'),
            (b"do\r\nhello\r\n", b""),
            (b"D\r\nhello\r\n", b""),
            (b"a\r\n[ver]\r\n", b"[ver] 1 2 3\r\n"),
            (b'a\r\n[list] [out] "/r"\r\n', b"\r\n"),
            (b"a\r\n[list] [in]\r\n", b"me\r\n"),
            (b"a\r\n[add] /nope\r\n", b'-1 "Do not know how to connect to /nope\\r\\n"\r\n'),
            (b"a\r\n[sing]\r\n", b'[fail] "send [help] for list of valid commands"\r\n'),
            (b"*\r\n",
             f"This is /robot/rpc:i at tcp://127.0.0.1:{rpc.address.port}/\r\n"
             "There are no outgoing connections\r\n"
             "There is an input connection from me to /robot/rpc:i using text_ack\r\n".encode()),
            (b"sing\r\n", b"Port command not understood.\r\nType d to send data.\r\nType ? for help.\r\n"),
        ]:  # fmt: skip
            raw.send(said)
            raw.expect(answered + b"<ACK>\r\n")
        raw.send(b"q\r\n")
        raw.expect(b"<ACK>\r\n")
        raw.expect_end()


def test_text_without_acknowledgements_says_only_the_answers(rpc: Port) -> None:
    with RawClient(rpc.address) as raw:
        raw.send(b"CONNECT me\nd\nget encs\nq\n")
        raw.expect(b"Welcome me\r\n[is] (1.0)\r\n")
        raw.expect_end()


@pytest.mark.parametrize(
    "junk",
    [
        b"GET / HTTP/1.1\r\nHost: robot\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # somebody tries TLS
        b"YA",
    ],
)
def test_who_speaks_another_protocol_is_told_so(rpc: Port, junk: bytes) -> None:
    with RawClient(rpc.address) as raw:
        raw.send(junk)
        raw.link.shutdown(socket.SHUT_WR)
        raw.expect(b"* Error. Protocol not found\r\n")
        raw.expect_end()
    assert rpc.facts()["malformed"] == 1


@pytest.mark.parametrize(
    "damaged",
    [
        TCP + b"\xff\xff\xff\x7f",
        TCP + b"\x02\0\0\0/w",
        TCP + b"\x03\0\0\0/w\0" + frame_payload(ASK)[:-1],
        TCP + b"\x03\0\0\0/w\0" + frame_payload(TELL)[:9] + frame_payload(TELL),
        TCP + b"\x03\0\0\0/w\0" + frame_payload(TELL[:-4]),
        TCP + b"\x03\0\0\0/w\0" + frame_payload(struct.pack("<i", 0) + b"~d\0\1"),
        UDP + b"\x02\0\0\0/w",
        b"CONNACK me\r\nd\r\n(1 2\r\n",
        b"CONNACK me\r\nd\r\n",
        b"CONNECT " + b"x" * (1 << 17),
    ],
)
def test_damaged_and_half_sent_messages_end_the_connection_and_are_counted(
    names: NameClient, damaged: bytes
) -> None:
    received = ReceivedMessages()
    with Port("/in", names, on_data=received) as port:
        with suppress(OSError), RawClient(port.address) as raw:  # it may have hung up already
            raw.send(damaged)
            raw.link.shutdown(socket.SHUT_WR)
            while raw.link.recv(1000):
                pass
        wait_for(lambda: port.facts()["malformed"] == 1)
        wait_for(lambda: port.facts()["inputs"] == 0)
    assert received.messages == []


def test_a_client_and_a_port_of_ours_understand_each_other(names: NameClient, rpc: Port) -> None:
    requests: list[Bottle] = [(), ("a", 1, (2.0, b"\0" * 30_000)), (Vocab("get"), Vocab("encs"))]
    with RpcClient(names, "/robot/rpc:i") as client:
        assert [client.ask(request) for request in requests] == [*requests[:2], ("is", (1.0,))]
        with pytest.raises(BodyError, match="does not answer"):
            client.ask(("damaged",))
        assert client.ask(("again",)) == ("again",)  # connected anew
    assert rpc.facts()["refused"] == 1
    wait_for(lambda: rpc.inputs == ())


def test_a_client_waits_no_longer_than_it_is_told(names: NameClient) -> None:
    done = threading.Event()

    def slow(request: Bottle, _: str) -> Bottle:
        done.wait(10.0)
        return request

    with Port("/slow", names, on_request=slow), RpcClient(names, "/slow") as client:
        with pytest.raises(BodyError):
            client.ask(("hello",), timeout_s=0.05)
        done.set()
        assert client.ask(("hello",)) == ("hello",)


def test_a_client_of_nobody_is_told_who_there_is(names: NameClient, rpc: Port) -> None:
    with RpcClient(names, "/robot/rpc") as client, pytest.raises(UnknownNameError, match=rpc.name):
        client.ask(())
    names.register("/dead", Address("127.0.0.1", 1))
    with RpcClient(names, "/dead") as client, pytest.raises(BodyError):
        client.ask(())


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp"])
def test_a_reader_hears_an_output_port_over_every_carrier(names: NameClient, carrier: str) -> None:
    received = ReceivedMessages()
    with (
        Port("/state:o", names) as out,
        Reader(names, "/state:o", received, name="/me", carrier=carrier) as reader,
    ):
        assert out.outputs == ("/me",)
        wait_for(lambda: reader.port.inputs == ("/state:o",))
        connectionless = (("connectionless", 1),) if carrier == "udp" else ()
        route = (("from", "/state:o"), ("to", "/me"), ("carrier", carrier), *connectionless)
        assert administer(out.address, (Vocab("list"), Vocab("out"), "/me")) == route
        assert administer(reader.port.address, (Vocab("list"), Vocab("in"), "/state:o")) == route
        sent = [((float(n), 2.0), Envelope(n, n / 8), "/state:o") for n in range(20)]
        for bottle, envelope, _ in sent:
            out.write(bottle, envelope)
            wait_until_received(reader.port, envelope.count + 1)
        wait_for(lambda: received.messages == sent)
        out.write(("no envelope",))
        wait_for(lambda: received.messages[-1] == (("no envelope",), None, "/state:o"))
        assert reader.port.facts()["received"] == out.facts()["sent"] == 21
    assert names.query("/me") is None


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp"])
def test_connections_are_made_and_ended_by_text_as_yarp_connect_does(names: NameClient, carrier: str) -> None:
    received = ReceivedMessages()
    with Port("/w", names) as out, Port("/r", names, on_data=received) as into, RawClient(out.address) as raw:
        raw.send(b"CONNACK admin\r\n")
        raw.expect(b"Welcome admin\r\n")
        for _ in range(2):  # again: the earlier connection ends
            raw.send(b'a\r\n[add] "%s://r"\r\n' % carrier.encode())
            raw.expect(b'0 "Added connection from /w to %s://r\\r\\n"\r\n<ACK>\r\n' % carrier.encode())
            wait_for(lambda: into.inputs == ("/w",))
        raw.send(b"a\r\n[list] [out]\r\n")
        raw.expect(b'"/r"\r\n<ACK>\r\n')
        raw.send(b'a\r\n[list] [out] "/r"\r\n')
        udp = b" (connectionless 1)" if carrier == "udp" else b""
        raw.expect(b'(from "/w") (to "/r") (carrier %s)%s\r\n<ACK>\r\n' % (carrier.encode(), udp))
        raw.send(b"*\r\n")
        raw.expect(b"This is /w at tcp://127.0.0.1:%d/\r\n" % out.address.port)
        raw.expect(b"There is an output connection from /w to /r using %s\r\n" % carrier.encode())
        raw.expect(b"There is an input connection from admin to /w using text_ack\r\n<ACK>\r\n")
        raw.send(b'a\r\n[del] "/r"\r\n')
        raw.expect(b'0 "Removed connection from /w to /r\\r\\n"\r\n<ACK>\r\n')
        wait_for(lambda: into.inputs == ())
        raw.send(b'a\r\n[del] "/r"\r\n')
        raw.expect(b"-1 ")


def test_a_port_registers_tells_its_carriers_and_takes_its_name_off(names: NameClient) -> None:
    with Port("/r", names) as port:
        assert names.query("/r") == port.address
        assert names.ask("check /r accepts udp") == ["port /r property accepts value udp present true"]
        assert names.ask("get /r ips") == ["port /r property ips = 127.0.0.1"]
        with pytest.raises(InputError, match="there is a port called /r"):
            Port("/r", names)
        assert names.query("/r") == port.address
    assert names.query("/r") is None


def test_a_name_whose_port_died_is_taken_over(names: NameClient) -> None:
    names.register("/r", Address("127.0.0.1", 1))
    with Port("/r", names) as port:
        assert names.query("/r") == port.address


def test_a_reader_that_stopped_slows_nobody_and_loses_the_oldest(names: NameClient) -> None:
    go, received = threading.Event(), ReceivedMessages()

    def stuck(bottle: Bottle, envelope: Envelope | None, sender: str) -> None:
        go.wait(10.0)
        received(bottle, envelope, sender)

    with (
        Port("/w", names, max_queued=4) as out,
        Port("/slow", names, on_data=stuck),
        Port("/r", names) as other,
    ):
        out.connect("/slow")
        out.connect("/r")
        for n in range(30):
            out.write((n,))
            wait_until_received(other, n + 1)
        assert out.facts()["dropped"] == 25  # one is on its way, four wait
        go.set()
        wait_for(lambda: len(received.messages) == 5)
        assert received.bottles == [(0,), (26,), (27,), (28,), (29,)]


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp"])
def test_a_peer_that_died_is_dropped(names: NameClient, carrier: str) -> None:
    with Port("/w", names) as out:
        with Port("/r", names):
            out.connect("/r", carrier)
        wait_for(lambda: out.write((1,)) or out.outputs == ())  # type: ignore[func-returns-value]
        assert out.facts()["gone"] == 1


def test_nobody_is_connected_to_by_mistake(names: NameClient) -> None:
    names.ask("register /far tcp 192.168.1.7 10002")
    names.register("/dead", Address("127.0.0.1", 1))
    with Port("/w", names) as out:
        with pytest.raises(UnknownNameError, match="unknown port"):
            out.connect("/nobody")
        with pytest.raises(UnknownNameError, match="unknown carrier"):
            out.connect("/dead", "mcast")
        with pytest.raises(BodyError):
            out.connect("/dead")
        with pytest.raises(InputError, match="another machine"):
            out.connect("/far")
        assert administer(out.address, (Vocab("add"), "udp://far"))[0] == -1
        assert out.outputs == ()


class Datagrams:
    """A sender of arbitrary datagrams to a port."""

    def __init__(self, port: Port) -> None:
        with RawClient(port.address) as raw:
            raw.send(UDP + b"\x03\0\0\0/w\0")
            answer = raw.link.recv(8, socket.MSG_WAITALL)
            raw.expect_end()
        assert (answer[:2], answer[6:]) == (b"YA", b"RP")
        self._address = ("127.0.0.1", int.from_bytes(answer[2:6], "little"))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", 0))
            self._own_address = udp.getsockname()

    def send(self, data: bytes, *, as_stranger: bool = False) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", 0) if as_stranger else self._own_address)
            udp.sendto(data, self._address)

    def send_number(self, number: int) -> None:
        self.send(datagram(0, Message("D", (number,)).encode()))


def test_datagrams_lost_doubled_disordered_and_damaged_are_counted(names: NameClient) -> None:
    received = ReceivedMessages()
    with Port("/r", names, on_data=received) as port:
        sender = Datagrams(port)
        assert port.inputs == ("/w",)
        for number in (0, 1, 2):
            sender.send_number(number)
        long = Message("D", (b"x" * 4000,)).encode()
        parts = [datagram(n, long[n * 1024 : (n + 1) * 1024]) for n in range(4)]
        for n in (0, 2, 3, 0, 1):  # part 1 is lost, then the last two
            sender.send(parts[n])
        sender.send_number(3)
        message = Message("D", (9,)).encode()
        sender.send(struct.pack("<Ii", zlib.crc32(message) ^ 1, 0) + message)
        sender.send(b"short")
        sender.send(datagram(0, message + b"\0"))
        sender.send(datagram(0, Message("q").encode()))
        sender.send_number(4)
        wait_for(lambda: len(received.messages) == 5)
        assert received.bottles == [(number,) for number in range(5)]
        assert (port.facts()["lost"], port.facts()["malformed"]) == (2, 6)
        sender.send(datagram(-1, b""))
        wait_for(lambda: port.inputs == ())


def test_what_is_too_long_for_one_datagram_comes_in_several(names: NameClient) -> None:
    received = ReceivedMessages()
    with Port("/w", names) as out, Reader(names, "/w", received, name="/r", carrier="udp"):
        out.write((b"x" * 70_000,))
        wait_for(lambda: received.bottles == [(b"x" * 70_000,)])


def test_a_sender_of_datagrams_is_removed_out_of_band(names: NameClient) -> None:
    with Port("/r", names) as port:
        Datagrams(port)
        with RawClient(port.address) as raw:
            raw.send(b"CONNECT admin\r\n~/w\r\nq\r\n")
            raw.expect(b"Welcome admin\r\nRemoved connection from /w to /r\r\n")
            raw.expect_end()
        wait_for(lambda: port.inputs == ())


def test_a_port_that_comes_back_replaces_its_earlier_connection(names: NameClient) -> None:
    with Port("/r", names) as port:
        Datagrams(port)
        Datagrams(port)
        with RawClient(port.address) as raw:
            raw.introduce(TCP, port.address, b"/w")
            wait_for(lambda: port.inputs == ("/w",))


def test_a_port_closes_whoever_is_connected(names: NameClient) -> None:
    port = Port("/r", names, on_data=ReceivedMessages())
    out = Port("/w", names)
    with RawClient(port.address) as idle, RawClient(port.address) as text, RawClient(port.address) as half:
        text.send(b"CONNACK me\r\n")
        text.expect(b"Welcome me\r\n")
        half.introduce(TCP, port.address)
        half.send(frame_payload(TELL)[:20])
        Datagrams(port)
        out.connect("/r")
        port.close()
        out.close()
        port.close()
        for raw in (idle, text, half):
            raw.expect_end()


def test_datagrams_of_others_than_the_first_sender_are_not_heard(names: NameClient) -> None:
    received = ReceivedMessages()
    with Port("/r", names, on_data=received) as port:
        sender = Datagrams(port)
        sender.send_number(1)
        wait_until_received(port, 1)
        sender.send(datagram(0, Message("D", (2,)).encode()), as_stranger=True)
        sender.send(datagram(-1, b""), as_stranger=True)
        sender.send_number(3)
        wait_until_received(port, 2)
        assert received.bottles == [(1,), (3,)]
        assert port.facts()["malformed"] == 2
