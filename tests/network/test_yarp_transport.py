"""A served robot on YARP: its ports are found, asked, streamed to and read as YARP's programs do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from posewright.bodies import BodyState
from posewright.errors import BodyError, InputError
from posewright.network.yarp.bottle import Bottle, Vocab
from posewright.network.yarp.clients import Reader, RpcClient
from posewright.network.yarp.link import YarpChannel
from posewright.network.yarp.names import NameClient, NameServer
from posewright.network.yarp.port import Envelope, Port
from posewright.network.yarp.sensors import SensorPort, sensor_ports
from posewright.network.yarp.transport import YarpTransport, port_name

from .yarp_robots import BIOLOID, READINGS, Stepped

LASER = "/ravebot/Humanoid_Robot_Bioloid_mylaserfront/depth:o"


class Heard:
    """Keeps what is read."""

    def __init__(self) -> None:
        self.all: list[tuple[Bottle, Envelope | None]] = []
        self._changed = threading.Condition()

    def __call__(self, bottle: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002 -- a port's
        with self._changed:
            self.all.append((bottle, envelope))
            self._changed.notify_all()

    def wait(self, done: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(done, 10.0)


def soon(happened: Callable[[], bool]) -> None:
    """Wait until something has happened in another thread."""
    pause = threading.Event()
    for _ in range(1000):
        if happened():
            return
        pause.wait(0.01)
    raise AssertionError("it never happened")


@pytest.fixture
def served() -> Stepped:
    return Stepped()


@pytest.fixture
def transport(served: Stepped) -> Iterator[YarpTransport]:
    transport = YarpTransport(port=0, start_name_server=True)
    try:
        transport.open(served)
        yield transport
    finally:
        transport.close()


@pytest.fixture
def names(transport: YarpTransport) -> NameClient:
    return NameClient(port=transport.name_server_port)


def test_its_ports_are_called_as_the_source_document_calls_them(names: NameClient) -> None:
    called = {name for name in names.names() if name.startswith("/ravebot")}
    assert called == {
        *(f"/ravebot/{port}" for port in ("rpc:i", "command:i", "state:o", "stateExt:o", "plant:i")),
        *(f"/ravebot/Humanoid_Robot_Bioloid_mylaser{side}/depth:o" for side in ("front", "left", "right")),
        *(f"/ravebot/{sensor}:o" for sensor in ("imu", "right_foot_contact", "left_foot_contact")),
    }


@pytest.mark.parametrize("carrier", ["tcp", "fast_tcp", "udp"])
def test_a_client_asks_streams_and_reads_over_every_carrier(
    carrier: str, served: Stepped, transport: YarpTransport, names: NameClient
) -> None:
    heard = Heard()
    with (
        RpcClient(names, "/ravebot/rpc:i", sender="/client/rpc:o") as rpc,
        Port("/client/command:o", names) as stream,
        Reader(names, "/ravebot/stateExt:o", heard, name="/client/stateExt:i", carrier=carrier),
    ):
        assert rpc.ask((Vocab("get"), Vocab("axes")))[:3] == ("is", "axes", 23)
        assert rpc.ask((Vocab("set"), Vocab("icmd"), Vocab("cmod"), 1, Vocab("posd"))) == ("ok",)
        stream.connect("/ravebot/command:i", carrier)
        stream.write(((Vocab("dpog"), 2, (1, 2)), (7.0, -9.0)))
        soon(lambda: bool(served.told))
        served.step(1)
        soon(lambda: bool(transport.facts()["observers"]))
        transport.publish(served.state, served.commands)
        heard.wait(lambda: bool(heard.all))
    told, envelope = heard.all[0]
    positions = told[0]
    assert isinstance(positions, tuple)
    assert positions[1:3] == pytest.approx((7.0, -9.0))
    assert envelope == Envelope(1, served.state.time_s)
    assert transport.facts()["refused"] == 0


def test_the_laser_is_read_at_its_rate(served: Stepped, transport: YarpTransport, names: NameClient) -> None:
    heard, positions = Heard(), Heard()
    with (
        Reader(names, LASER, heard, name="/read", carrier="tcp"),
        Reader(names, "/ravebot/state:o", positions, name="/positions", carrier="tcp"),
    ):
        for second in range(1, 3):
            for frame in range(128):
                served.step(1)
                transport.publish(served.state, served.commands)
                if frame % 4 == 3:  # no faster than a reader follows: full queues lose the oldest
                    told = (second - 1) * 128 + frame + 1
                    positions.wait(lambda told=told: len(positions.all) >= told)  # type: ignore[misc]
        heard.wait(lambda: len(heard.all) >= 20)
    assert 20 <= len(heard.all) <= 21
    assert {told for told, _ in heard.all} == {(1.25,)}
    times = [envelope.time_s for _, envelope in heard.all if envelope is not None]
    assert np.diff(times) == pytest.approx(0.1, abs=2 / 128)


def test_readings_come_back_from_what_their_ports_tell() -> None:
    ports = sensor_ports("/r", BIOLOID, BIOLOID.sensors)
    assert {port.name for port in ports} >= {"/r/imu:o", "/r/left_foot_contact:o"}
    back: dict[str, object] = {}
    for port in ports:
        told = port.encode(READINGS)
        assert told is not None
        assert port.encode({}) is None
        back |= port.readings(told)
    assert set(back) == set(READINGS)
    for channel, value in READINGS.items():
        assert np.asarray(back[channel]) == pytest.approx(np.asarray(value)), channel


def test_the_inertial_vector_is_in_yarps_order_and_units() -> None:
    (imu,) = (port for port in sensor_ports("/r", BIOLOID, BIOLOID.sensors) if "imu" in port.name)
    told = imu.encode(READINGS)
    angles, speeds = np.degrees([0.1, -0.2, 0.3]), np.degrees([1.0, 2.0, 3.0])
    assert told == pytest.approx((*angles, 0.0, 0.5, 9.81, *speeds, 0.0, 0.0, 0.0))


@pytest.mark.parametrize("told", [(), (1.0, 2.0), ("far",), (float("nan"),)])
def test_a_vector_of_another_sensor_gives_no_reading(told: Bottle) -> None:
    port = SensorPort("/r", BIOLOID.sensor("laser_front"))
    with pytest.raises(InputError):
        port.readings(told)


def test_who_drives_in_lock_step_asks_on_a_port_of_its_own(served: Stepped, names: NameClient) -> None:
    wire = YarpChannel(names, "/ravebot")
    try:
        assert wire.request(b"\x00abc", 5.0) == b"cba\x00"
    finally:
        wire.close()
    with RpcClient(names, "/ravebot/plant:i") as rpc:
        for junk in ((), ("ask",), ("ask", "text"), (b"ask", b""), ("is", b"")):
            assert rpc.ask(junk) == ("fail",)
    assert served.asked == [b"\x00abc"]


def test_a_client_that_is_gone_moves_nothing_any_more(
    served: Stepped, transport: YarpTransport, names: NameClient
) -> None:
    with RpcClient(names, "/ravebot/rpc:i", sender="/client/rpc:o") as rpc:
        assert rpc.ask(("set", "vmo", 1, 20.0)) == ("ok",)
        served.run(0.25)
        transport.publish(served.state, served.commands)
    moved = served.commands.angles[-1, 1]
    assert moved > 0.0

    def stands() -> bool:
        before = served.commands.angles[-1, 1]
        served.run(0.1)
        transport.publish(served.state, served.commands)
        return bool(served.commands.angles[-1, 1] == before)

    soon(stands)
    assert moved < served.commands.angles[-1, 1] < BIOLOID.joint("left_shoulder_pitch").upper_rad


def test_what_nobody_reads_waits_for_nobody(served: Stepped, transport: YarpTransport) -> None:
    for _ in range(1000):
        transport.publish(served.state, served.commands)
    assert transport.facts()["sent"] == 0


def test_a_door_that_is_closed_leaves_no_name_behind(served: Stepped) -> None:
    with NameServer(port=0) as server:
        names = NameClient(port=server.address.port)
        before = set(names.names())
        transport = YarpTransport("bioloid", port=server.address.port)
        transport.open(served)
        assert names.query("/bioloid/rpc:i") is not None
        transport.close()
        assert set(names.names()) == before
        transport.publish(served.state, served.commands)  # to nobody
        assert transport.facts()["observers"] == 0


def test_two_robots_of_one_name_are_refused_and_the_first_stays(served: Stepped, names: NameClient) -> None:
    second = YarpTransport(port=names.server.port)
    with pytest.raises(InputError, match="there is a port called"):
        second.open(served)
    assert names.query("/ravebot/rpc:i") is not None


def test_without_a_name_server_it_says_so(served: Stepped) -> None:
    with NameServer(port=0) as server:
        free = server.address.port
    with pytest.raises(BodyError, match="name server"):
        YarpTransport(port=free).open(served)


def test_it_listens_on_this_machine_only(served: Stepped) -> None:
    with pytest.raises(InputError):
        YarpTransport(host="192.0.2.1").open(served)
    with pytest.raises(InputError):
        YarpTransport(host="0.0.0.0", start_name_server=True).open(served)  # noqa: S104 -- what is refused


@pytest.mark.parametrize("name", ["", "/", "a b", "/ra\nve", '/"'])
def test_a_name_that_yarp_could_not_say_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no name of a port"):
        port_name(name)


def test_readings_may_be_missing(served: Stepped, transport: YarpTransport, names: NameClient) -> None:
    blind = BodyState(served.state.time_s, served.state.positions, served.state.efforts)
    heard = Heard()
    with Reader(names, "/ravebot/state:o", heard, name="/read", carrier="tcp"):
        transport.publish(blind, served.commands)
        heard.wait(lambda: bool(heard.all))
