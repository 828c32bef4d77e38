"""Our ports, clients and readers say to others what those of YARP 3.9.1 were seen to say, byte by byte."""

from __future__ import annotations

import socket
import struct
import threading
import zlib
from collections.abc import Iterator

import pytest

from posewright.errors import BodyError
from posewright.network.yarp.bottle import Vocab
from posewright.network.yarp.carriers import Envelope
from posewright.network.yarp.clients import Reader, RpcClient
from posewright.network.yarp.names import NameClient, NameServer
from posewright.network.yarp.port import Port

from .yarp_peers import (
    ACK,
    ANSWER,
    ASK,
    ENCS,
    FAST_TCP,
    QUIT,
    TCP,
    TELL,
    UDP,
    Peer,
    ReceivedMessages,
    Script,
    frame_payload,
)


@pytest.fixture
def names() -> Iterator[NameClient]:
    with NameServer(port=0) as server:
        yield NameClient(port=server.address.port)
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("yarp")]
    assert left == []


GET_ENCS = (Vocab("get"), Vocab("encs"))
NUMBER = ("says", b"YA\x99\x99\0\0RP")
OPENING = b"\x03\0\0\0/w\0"
STAMPED = struct.pack("<i", 8) + b"~\0\0\1D 7 0.5\0" + ENCS


@pytest.mark.parametrize(("carrier", "header", "ack"), [("tcp", TCP, ACK), ("fast_tcp", FAST_TCP, b"")])
def test_an_output_says_these_bytes(names: NameClient, carrier: str, header: bytes, ack: bytes) -> None:
    said = [("hears", frame_payload(TELL)), ("hears", frame_payload(STAMPED)), ("hears", frame_payload(QUIT))]
    acked = [step for one in said for step in (one, ("says", ack))]
    with Peer(names, "/r", (("hears", header + OPENING), NUMBER, *acked)) as peer, Port("/w", names) as out:
        out.connect("/r", carrier)
        out.write(GET_ENCS)
        out.write(GET_ENCS, Envelope(7, 0.5))
        assert out.disconnect("/r")
    assert peer.played == 1


def test_an_output_over_udp_says_these_bytes(names: NameClient) -> None:
    with Port("/w", names) as out, socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(5.0)
        number = ("says", b"YA" + struct.pack("<i", udp.getsockname()[1]) + b"RP")
        goodbye = (("hears", b"CONNECT admin\r\n~/w\r\nq\r\n"),)
        with Peer(names, "/r", (("hears", UDP + OPENING), number), goodbye) as peer:
            out.connect("/r", "udp")
            out.write(GET_ENCS)
            out.write(GET_ENCS, Envelope(7, 0.5))
            for payload in (TELL, STAMPED):  # the count begins anew with each message
                message = frame_payload(payload)
                assert udp.recv(1000) == struct.pack("<Ii", zlib.crc32(message), 0) + message
            assert out.disconnect("/r")
            assert udp.recv(1000)[4:] == b"\xff\xff\xff\xff"
        assert peer.played == 2


def test_a_client_says_these_bytes(names: NameClient) -> None:
    opening = ("hears", TCP + struct.pack("<i", 15) + b"posewright_rpc\0")
    asks = (("hears", frame_payload(ASK)), ("says", ANSWER + ACK))
    leaves = (("hears", frame_payload(QUIT)), ("says", ACK))
    script = (opening, NUMBER, *asks, *asks, *leaves)
    with Peer(names, "/board/rpc:i", script) as peer, RpcClient(names, "/board/rpc:i") as client:
        assert client.ask(GET_ENCS) == client.ask(GET_ENCS) == ("is", (1.0,))
    assert peer.played == 1


def test_a_reader_asks_in_these_bytes(names: NameClient) -> None:
    def conversation(request: bytes, answer: bytes) -> Script:
        return (
            ("hears", b"CONNACK admin\r\na\r\n" + request),
            ("says", b"Welcome admin\r\n" + answer + b"<ACK>\r\n"),
            ("hears", b"q\r\n"),
            ("says", b"<ACK>\r\n"),
        )

    added = b'0 "Added connection from /o to udp://me/i\\r\\n"\r\n'
    refused = b'-1 "Do not know how to connect to udp://me/i\\r\\n"\r\n'
    scripts = [
        conversation(b'[add] "udp://me/i"\r\n', added),
        conversation(b'[del] "/me/i"\r\n', b'0 "Removed connection from /o to /me/i\\r\\n"\r\n'),
        conversation(b'[add] "udp://me/i"\r\n', refused),
    ]
    with Peer(names, "/o", *scripts) as peer:
        with Reader(names, "/o", ReceivedMessages(), name="/me/i"):
            pass
        with pytest.raises(BodyError, match="does not connect"):
            Reader(names, "/o", ReceivedMessages(), name="/me/i")
    assert peer.played == 3
