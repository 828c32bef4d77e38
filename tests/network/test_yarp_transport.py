"""A served robot on YARP: programs of YARP find its ports, send requests, stream commands and read states."""

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

from .yarp_robots import BIOLOID, READINGS, SteppedService

LASER = "/ravebot/Humanoid_Robot_Bioloid_mylaserfront/depth:o"


class ReceivedMessages:
    """A callback that keeps the messages a reader receives."""

    def __init__(self) -> None:
        self.messages: list[tuple[Bottle, Envelope | None]] = []
        self._changed = threading.Condition()

    def __call__(self, bottle: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002 -- a port's
        with self._changed:
            self.messages.append((bottle, envelope))
            self._changed.notify_all()

    def wait(self, done: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(done, 10.0)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, which another thread brings about."""
    pause = threading.Event()
    for _ in range(1000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("the condition never held")


@pytest.fixture
def service() -> SteppedService:
    return SteppedService()


@pytest.fixture
def transport(service: SteppedService) -> Iterator[YarpTransport]:
    transport = YarpTransport(port=0, start_name_server=True)
    try:
        transport.open(service)
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
    carrier: str, service: SteppedService, transport: YarpTransport, names: NameClient
) -> None:
    received = ReceivedMessages()
    with (
        RpcClient(names, "/ravebot/rpc:i", sender="/client/rpc:o") as rpc,
        Port("/client/command:o", names) as stream,
        Reader(names, "/ravebot/stateExt:o", received, name="/client/stateExt:i", carrier=carrier),
    ):
        assert rpc.ask((Vocab("get"), Vocab("axes")))[:3] == ("is", "axes", 23)
        assert rpc.ask((Vocab("set"), Vocab("icmd"), Vocab("cmod"), 1, Vocab("posd"))) == ("ok",)
        stream.connect("/ravebot/command:i", carrier)
        stream.write(((Vocab("dpog"), 2, (1, 2)), (7.0, -9.0)))
        wait_for(lambda: bool(service.trajectories))
        service.step(1)
        wait_for(lambda: bool(transport.facts()["observers"]))
        transport.publish(service.state, service.commands)
        received.wait(lambda: bool(received.messages))
    state, envelope = received.messages[0]
    positions = state[0]
    assert isinstance(positions, tuple)
    assert positions[1:3] == pytest.approx((7.0, -9.0))
    assert envelope == Envelope(1, service.state.time_s)
    assert transport.facts()["refused"] == 0


def test_the_laser_is_read_at_its_rate(
    service: SteppedService, transport: YarpTransport, names: NameClient
) -> None:
    received, positions = ReceivedMessages(), ReceivedMessages()
    with (
        Reader(names, LASER, received, name="/read", carrier="tcp"),
        Reader(names, "/ravebot/state:o", positions, name="/positions", carrier="tcp"),
    ):
        for second in range(1, 3):
            for frame in range(128):
                service.step(1)
                transport.publish(service.state, service.commands)
                if frame % 4 == 3:  # no faster than the reader, since full queues lose the oldest
                    n_sent = (second - 1) * 128 + frame + 1
                    positions.wait(lambda n_sent=n_sent: len(positions.messages) >= n_sent)  # type: ignore[misc]
        received.wait(lambda: len(received.messages) >= 20)
    assert 20 <= len(received.messages) <= 21
    assert {bottle for bottle, _ in received.messages} == {(1.25,)}
    times = [envelope.time_s for _, envelope in received.messages if envelope is not None]
    assert np.diff(times) == pytest.approx(0.1, abs=2 / 128)


def test_readings_come_back_from_what_their_ports_tell() -> None:
    ports = sensor_ports("/r", BIOLOID, BIOLOID.sensors)
    assert {port.name for port in ports} >= {"/r/imu:o", "/r/left_foot_contact:o"}
    back: dict[str, object] = {}
    for port in ports:
        bottle = port.encode(READINGS)
        assert bottle is not None
        assert port.encode({}) is None
        back |= port.readings(bottle)
    assert set(back) == set(READINGS)
    for channel, value in READINGS.items():
        assert np.asarray(back[channel]) == pytest.approx(np.asarray(value)), channel


def test_the_inertial_vector_is_in_yarps_order_and_units() -> None:
    (imu,) = (port for port in sensor_ports("/r", BIOLOID, BIOLOID.sensors) if "imu" in port.name)
    bottle = imu.encode(READINGS)
    angles, speeds = np.degrees([0.1, -0.2, 0.3]), np.degrees([1.0, 2.0, 3.0])
    assert bottle == pytest.approx((*angles, 0.0, 0.5, 9.81, *speeds, 0.0, 0.0, 0.0))


@pytest.mark.parametrize("bottle", [(), (1.0, 2.0), ("far",), (float("nan"),)])
def test_a_vector_of_another_sensor_gives_no_reading(bottle: Bottle) -> None:
    port = SensorPort("/r", BIOLOID.sensor("laser_front"))
    with pytest.raises(InputError):
        port.readings(bottle)


def test_who_drives_in_lock_step_asks_on_a_port_of_its_own(
    service: SteppedService, names: NameClient
) -> None:
    channel = YarpChannel(names, "/ravebot")
    try:
        assert channel.request(b"\x00abc", 5.0) == b"cba\x00"
    finally:
        channel.close()
    with RpcClient(names, "/ravebot/plant:i") as rpc:
        for junk in ((), ("ask",), ("ask", "text"), (b"ask", b""), ("is", b"")):
            assert rpc.ask(junk) == ("fail",)
    assert service.requests == [b"\x00abc"]


def test_a_client_that_is_gone_moves_nothing_any_more(
    service: SteppedService, transport: YarpTransport, names: NameClient
) -> None:
    with RpcClient(names, "/ravebot/rpc:i", sender="/client/rpc:o") as rpc:
        assert rpc.ask(("set", "vmo", 1, 20.0)) == ("ok",)
        service.run(0.25)
        transport.publish(service.state, service.commands)
    moved = service.commands.angles[-1, 1]
    assert moved > 0.0

    def is_standing() -> bool:
        before = service.commands.angles[-1, 1]
        service.run(0.1)
        transport.publish(service.state, service.commands)
        return bool(service.commands.angles[-1, 1] == before)

    wait_for(is_standing)
    assert moved < service.commands.angles[-1, 1] < BIOLOID.joint("left_shoulder_pitch").upper_rad


def test_what_nobody_reads_waits_for_nobody(service: SteppedService, transport: YarpTransport) -> None:
    for _ in range(1000):
        transport.publish(service.state, service.commands)
    assert transport.facts()["sent"] == 0


def test_a_door_that_is_closed_leaves_no_name_behind(service: SteppedService) -> None:
    with NameServer(port=0) as server:
        names = NameClient(port=server.address.port)
        before = set(names.names())
        transport = YarpTransport("bioloid", port=server.address.port)
        transport.open(service)
        assert names.query("/bioloid/rpc:i") is not None
        transport.close()
        assert set(names.names()) == before
        transport.publish(service.state, service.commands)  # nobody listens
        assert transport.facts()["observers"] == 0


def test_two_robots_of_one_name_are_refused_and_the_first_stays(
    service: SteppedService, names: NameClient
) -> None:
    second = YarpTransport(port=names.server.port)
    with pytest.raises(InputError, match="there is a port called"):
        second.open(service)
    assert names.query("/ravebot/rpc:i") is not None


def test_without_a_name_server_it_says_so(service: SteppedService) -> None:
    with NameServer(port=0) as server:
        free = server.address.port
    with pytest.raises(BodyError, match="name server"):
        YarpTransport(port=free).open(service)


def test_it_listens_on_this_machine_only(service: SteppedService) -> None:
    with pytest.raises(InputError):
        YarpTransport(host="192.0.2.1").open(service)
    with pytest.raises(InputError):
        YarpTransport(host="0.0.0.0", start_name_server=True).open(service)  # noqa: S104 -- what is refused


@pytest.mark.parametrize("name", ["", "/", "a b", "/ra\nve", '/"'])
def test_a_name_that_yarp_could_not_say_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="not a name of a port"):
        port_name(name)


def test_readings_may_be_missing(
    service: SteppedService, transport: YarpTransport, names: NameClient
) -> None:
    blind = BodyState(service.state.time_s, service.state.positions, service.state.efforts)
    received = ReceivedMessages()
    with Reader(names, "/ravebot/state:o", received, name="/read", carrier="tcp"):
        transport.publish(blind, service.commands)
        received.wait(lambda: bool(received.messages))
