"""Strangers on a port neither stop its robot, nor lock others out, nor fill the memory."""

from __future__ import annotations

import socket
import string
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from tests.work import Calls

from posewright.errors import FormatError, PosewrightError
from posewright.network.yarp.administration import administer as answer_to
from posewright.network.yarp.bottle import MAX_BYTES, MAX_ITEMS, Bottle, Vocab, decode
from posewright.network.yarp.carriers import LONGEST_REQUEST
from posewright.network.yarp.clients import RpcClient
from posewright.network.yarp.listening import MAX_CONNECTIONS, Address
from posewright.network.yarp.names import MAX_PROPERTIES, MAX_PROPERTY_LENGTH, NameClient, NameServer
from posewright.network.yarp.port import Port
from posewright.network.yarp.text import from_text
from posewright.network.yarp.transport import YarpTransport

from .yarp_peers import TCP, UDP, RawClient, frame_payload, wait_for
from .yarp_robots import SteppedService

LONG = 1 << 16
CALLS_A_SIGN = 20
UNITS = (*string.printable, "1.", "\\\\a", "()", "{}", "[]", '""', "1e", "{1", "a:/", "-.")


@pytest.fixture
def names() -> Iterator[NameClient]:
    with NameServer(port=0) as server:
        yield NameClient(port=server.address.port)


@pytest.fixture
def port(names: NameClient) -> Iterator[Port]:
    with Port("/robot/rpc:i", names, on_request=lambda request, _: request) as port:
        yield port


@pytest.mark.parametrize(("before", "after"), [("", ""), ("", "x"), ('"', ""), ("{", ""), ("[", "")])
def test_long_runs_of_anything_are_read_with_work_in_step_with_their_length(before: str, after: str) -> None:
    for unit in UNITS:
        text = before + unit * (LONG // len(unit)) + after
        with Calls() as calls, suppress(PosewrightError):
            from_text(text)
        assert calls.count < CALLS_A_SIGN * LONG, unit


def test_long_runs_of_anything_in_administration_are_refused_with_as_much_work(
    port: Port,
) -> None:
    for unit in ("a", "a:", "tcp+", "/", ":/", "_"):
        for verb in ("add", "del", "list"):
            request = (Vocab(verb), unit * LONG, unit * LONG)
            with Calls() as calls:
                answer = answer_to(port, request)
            assert calls.count < CALLS_A_SIGN * LONG, (verb, unit)
            assert answer[:1] in {(-1,), (Vocab("fail"),), ()}


def test_who_was_silent_for_longest_makes_room(names: NameClient, port: Port) -> None:
    with ExitStack() as held, RpcClient(names, port.name, sender="/friend/rpc:o") as friend:
        assert friend.ask((1,)) == (1,)
        idle = [held.enter_context(RawClient(port.address)) for _ in range(2 * MAX_CONNECTIONS)]
        for number, raw in enumerate(idle):
            raw.send(b"CONNACK /idle%d\r\n" % number)
            raw.expect(b"Welcome /idle%d\r\n" % number)
            # those that make room may take a while to leave; with too many of them a new one is turned away
            wait_for(lambda: len(port.inputs) <= MAX_CONNECTIONS + 1)
        idle[0].expect_end()
        assert friend.ask((2,)) == (2,)
        with RpcClient(names, port.name, sender="/new/rpc:o") as new:
            assert new.ask((3,)) == (3,)
        wait_for(lambda: len(port.inputs) <= MAX_CONNECTIONS)


def test_senders_of_datagrams_that_died_make_room(port: Port) -> None:
    for number in range(2 * MAX_CONNECTIONS):
        name = b"/dead%d/command:o\0" % number
        with RawClient(port.address) as raw:
            raw.send(UDP + struct.pack("<i", len(name)) + name)
            assert raw.link.recv(8, socket.MSG_WAITALL)[:2] == b"YA"
    wait_for(lambda: len(port.inputs) <= MAX_CONNECTIONS)
    assert f"/dead{2 * MAX_CONNECTIONS - 1}/command:o" in port.inputs


def test_a_stream_whose_client_hung_up_is_ended() -> None:
    served, transport = SteppedService(), YarpTransport(port=0, start_name_server=True)
    transport.open(served)
    try:
        names = NameClient(port=transport.name_server_port)
        with Port("/client/command:o", names) as stream:
            with RpcClient(names, "/ravebot/rpc:i", sender="/client/rpc:o") as rpc:
                rpc.ask(("get", "axes"))
                stream.connect("/ravebot/command:i", "udp")
                wait_for(lambda: transport.facts()["inputs"] == 2)
                assert rpc.ask(("set", "pos", 3, 1.0)) == ("fail",)
            wait_for(lambda: transport.facts()["inputs"] == 1)
            served.step(20)
            transport.publish(served.state, served.commands)
            wait_for(lambda: transport.facts()["inputs"] == 0)
        assert transport.facts()["refused (axis 3 has no joint)"] == transport.facts()["refused"] == 1
    finally:
        transport.close()


def test_observers_that_are_stuck_are_given_up_together(
    names: NameClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers = list[threading.Timer]()

    class CountedTimer(threading.Timer):
        def start(self) -> None:
            timers.append(self)
            super().start()

    monkeypatch.setattr("posewright.network.yarp.outgoing.threading.Timer", CountedTimer)
    monkeypatch.setattr("posewright.network.yarp.outgoing.CLOSE_TIMEOUT_S", 0.1)
    port, done = Port("/w", names), threading.Event()
    with ExitStack() as held:
        for number in range(8):
            server = held.enter_context(socket.create_server(("127.0.0.1", 0)))
            names.register(f"/stuck{number}", Address("127.0.0.1", server.getsockname()[1]))

            def let_in(number: int = number) -> None:
                port.connect(f"/stuck{number}")
                done.set()

            done.clear()
            thread = threading.Thread(target=let_in)
            thread.start()
            link = held.enter_context(server.accept()[0])
            link.sendall(b"YA\1\0\0\0RP")
            assert done.wait(600.0)
            thread.join()
        port.write((1,))
        port.close()
        assert len(timers) == 1  # at the same time, not one after another


def test_a_port_takes_no_more_than_it_asked_for(names: NameClient, port: Port) -> None:
    bomb = struct.pack("<i", 0) + b"~d\0\1" + struct.pack("<ii", 0x109, LONG) + b"abcd" * LONG
    with RawClient(port.address) as raw:
        raw.introduce(TCP, port.address)
        raw.send(frame_payload(bomb)[:100])
        raw.expect_end()
    assert port.facts()["malformed"] == 1
    assert LONGEST_REQUEST < len(bomb) < MAX_BYTES
    with pytest.raises(FormatError, match="too many items"):
        decode(struct.pack("<ii", 0x100 | 32, MAX_ITEMS + 1) + bytes(MAX_ITEMS + 1))
    with Port("/plant:i", names, on_request=lambda request, _: request, max_message_bytes=MAX_BYTES) as plant:
        request: Bottle = (bytes(len(bomb)),)
        with RpcClient(names, plant.name) as client:
            assert client.ask(request) == request


def test_the_name_server_keeps_little_and_of_ports_alone(names: NameClient) -> None:
    names.ask("set /nobody key value")
    assert names.ask("get /nobody key") == ["port /nobody property key = "]
    names.register("/x", Address("127.0.0.1", 10500))
    names.ask("set /x long " + "v" * (MAX_PROPERTY_LENGTH + 1))
    for number in range(MAX_PROPERTIES + 1):
        names.ask(f"set /x key{number} value")
    are_kept = [
        names.ask(f"get /x {key}")[0].endswith("value") for key in ("key0", f"key{MAX_PROPERTIES}", "long")
    ]
    assert are_kept == [True, False, False]


def test_a_name_whose_number_another_port_has_by_now_is_taken_over(names: NameClient, port: Port) -> None:
    names.register("/mine", port.address)
    with Port("/mine", names) as mine:
        assert names.query("/mine") == mine.address
