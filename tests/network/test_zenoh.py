"""A robot over Zenoh, on loopback: requests, several observers, one commander, and who is let in."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trustme

from posewright.errors import BodyError, InputError, MissingExtraError
from posewright.network.transport import RequestChannel, Transport
from posewright.network.zenoh.link import ZenohChannel
from posewright.network.zenoh.session import LOOPBACK, SessionConfig, parse_robot_name
from posewright.network.zenoh.transport import ZenohTransport

from .test_ros_messages import point, read, trajectory
from .zenoh_peers import FakeService, endpoint, wait_for

zenoh = pytest.importorskip("zenoh")

Serve = Callable[..., tuple[ZenohTransport, FakeService, str]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Yield a function that serves a robot called robi; it returns transport, service and address."""
    transports: list[ZenohTransport] = []

    def serve(config: SessionConfig | None = None, **options: Any) -> tuple[ZenohTransport, FakeService, str]:
        config = config or SessionConfig(listen=(endpoint(),))
        transport, service = ZenohTransport(config, "robi", **options), FakeService()
        transports.append(transport)
        transport.open(service)
        return transport, service, (*config.listen, "")[0]

    yield serve
    for transport in transports:
        transport.close()


@pytest.fixture
def join() -> Iterator[Callable[..., Any]]:
    """Yield a function that opens a plain session at an address."""
    sessions: list[Any] = []

    def join(address: str, **options: Any) -> Any:
        sessions.append(SessionConfig(connect=(address,), **options).open("robi"))
        return sessions[-1]

    yield join
    for session in sessions:
        session.close()


@pytest.fixture
def open_channel() -> Iterator[Callable[..., ZenohChannel]]:
    """Yield a function that opens a request channel to robi."""
    channels: list[ZenohChannel] = []

    def open_one(address: str, name: str = "robi", **options: Any) -> ZenohChannel:
        channels.append(ZenohChannel(name, SessionConfig(connect=(address,), **options)))
        return channels[-1]

    yield open_one
    for channel in channels:
        channel.close()


def subscribe(session: Any, key: str) -> list[tuple[str, bytes]]:
    """Return a list that gets key and payload of each later message under a key expression."""
    received: list[tuple[str, bytes]] = []
    session.declare_subscriber(
        key, lambda sample: received.append((str(sample.key_expr), sample.payload.to_bytes()))
    )
    return received


def go_to(angle: float, frame_id: str = "") -> bytes:
    """Return a trajectory message that moves the robot's first joint to an angle."""
    joint = FakeService().robot.joint_names[0]
    return trajectory([joint], point([angle], 0.5), frame_id=frame_id)


def has_subscriber(publisher: Any) -> bool:
    return bool(publisher.matching_status.matching)


def is_counted(transport: ZenohTransport, key: str) -> bool:
    return transport.facts()[key] > 0.0


def test_a_door_and_a_wire_are_what_a_served_robot_asks_for(serve: Serve, open_channel: Any) -> None:
    transport, _, address = serve()
    served_transport: Transport = transport
    channel: RequestChannel = open_channel(address)
    assert channel.request(b"abc", 5.0) == b"cba"
    assert served_transport.facts()["answered"] == 1.0


def test_megabytes_are_asked_and_answered(serve: Serve, open_channel: Any) -> None:
    _, _, address = serve()
    request = np.random.default_rng(3).bytes(6_000_000)
    assert open_channel(address).request(request, 20.0) == request[::-1]


def test_a_client_is_told_whether_nobody_listens_or_the_robot_does_not_answer(
    serve: Serve, open_channel: Any
) -> None:
    with pytest.raises(BodyError, match="nothing listens at tcp/"):
        open_channel(endpoint()).request(b"abc", 1.0)
    transport, service, address = serve()
    with pytest.raises(BodyError, match="no robot called other"):
        open_channel(address, "other").request(b"abc", 0.2)
    channel = open_channel(address)
    channel.request(b"abc", 5.0)
    service.busy.set()
    with pytest.raises(BodyError, match=r"robi did not answer within 0.2 s \(the robot is busy\)"):
        channel.request(b"abc", 0.2)
    service.busy.clear()
    transport.close()
    with pytest.raises(BodyError, match="robi"):
        channel.request(b"abc", 0.2)


def test_a_line_that_was_cut_is_taken_up_again(serve: Serve, open_channel: Any) -> None:
    transport, _, address = serve()
    channel = open_channel(address)
    assert channel.request(b"abc", 5.0) == b"cba"
    transport.close()
    serve(SessionConfig(listen=(address,)))

    def answered() -> bool:
        try:
            return channel.request(b"abc", 1.0) == b"cba"
        except BodyError:
            return False

    assert wait_for(answered)


def test_several_observe_and_each_hears_every_topic(serve: Serve, join: Any) -> None:
    transport, service, address = serve()
    received = [subscribe(join(address), "robi/*") for _ in range(3)]

    def all_heard() -> bool:
        transport.publish(service.state_at(0.5), service.commands)
        return all("robi/joint_states" in dict(list(messages)) for messages in received)

    wait_for(all_heard)
    for messages in received:
        raw = dict(messages)["robi/joint_states"]
        message = read("sensor_msgs/msg/JointState", raw)
        assert tuple(message.name) == service.robot.joint_names
        np.testing.assert_array_equal(message.position, service.state_at(0.5).positions)
    assert transport.facts()["observers"] >= 3.0


def test_a_bridge_finds_every_topic_by_its_token(serve: Serve, join: Any) -> None:
    _, service, address = serve()
    found = [
        str(reply.ok.key_expr) for reply in join(address).liveliness().get("@/*/@ros2_lv/**", timeout=5.0)
    ]
    announced = {tuple(token.split("/")[3:6]) for token in found}
    assert ("MP", "robi§joint_states", "sensor_msgs§msg§JointState") in announced
    assert ("MS", "robi§joint_trajectory", "trajectory_msgs§msg§JointTrajectory") in announced
    assert {topic for _, topic, _ in announced} >= {
        f"robi§{sensor.name}§range" for sensor in service.sensors[:3]
    }


def test_one_commands_and_the_second_is_refused_and_told_so(serve: Serve, join: Any) -> None:
    transport, service, address = serve()
    session = join(address)
    messages = subscribe(session, "robi/status")
    session.put("robi/joint_trajectory", go_to(0.1, "anna"))
    wait_for(lambda: service.trajectories)
    session.put("robi/joint_trajectory", go_to(0.9, "bob"))
    wait_for(lambda: transport.facts()["refused"])
    assert [sent.positions[0, 0] for sent in service.trajectories] == [0.1]

    def find_refusal() -> Any:
        transport.publish(service.state_at(float(len(messages))), service.commands)
        statuses = [json.loads(read("std_msgs/msg/String", raw).data) for _, raw in list(messages)]
        return next((status for status in statuses if status["refused"]), None)

    status = wait_for(find_refusal)
    assert status["commander"] == "anna"
    assert status["refused"] == {"bob": "anna commands"}
    assert status["faults"] == [
        {"time_s": 0.25, "kind": "no answer", "joint": "left_knee", "message": "it says nothing"}
    ]


def test_sessions_that_name_themselves_are_told_apart(serve: Serve, join: Any) -> None:
    transport, service, address = serve()
    names = []
    for count, angle in (("accepted", 0.1), ("refused", 0.9)):
        publisher = join(address).declare_publisher("robi/joint_trajectory")
        wait_for(partial(has_subscriber, publisher))
        publisher.put(go_to(angle), source_info=zenoh.SourceInfo(publisher.id, 1))
        names.append(str(publisher.id.zid))
        wait_for(partial(is_counted, transport, count))
    assert (transport.facts()["accepted"], transport.facts()["refused"]) == (1.0, 1.0)
    assert service.commander == names[0] != names[1]


def test_a_trajectory_without_points_stops_the_robot(serve: Serve, join: Any) -> None:
    _, service, address = serve()
    join(address).put("robi/joint_trajectory", trajectory([], frame_id="anna"))
    assert wait_for(lambda: service.stop_senders) == ["anna"]


def test_garbage_moves_nothing_and_is_counted(serve: Serve, join: Any) -> None:
    transport, service, address = serve()
    session, rng = join(address), np.random.default_rng(7)
    for n in range(200):
        session.put("robi/joint_trajectory", rng.bytes(n), congestion_control=zenoh.CongestionControl.BLOCK)
    session.delete("robi/joint_trajectory")
    wait_for(lambda: transport.facts()["damaged"] == 201.0)
    assert (service.trajectories, service.stop_senders) == ([], [])
    session.put("robi/joint_trajectory", go_to(0.2))
    assert wait_for(lambda: service.trajectories)


def test_of_a_flood_the_latest_are_taken_and_the_door_leaves_no_thread(serve: Serve, join: Any) -> None:
    transport, service, address = serve()
    session, first, last = join(address), go_to(0.1, "flood"), go_to(0.5, "flood")
    for _ in range(20_000):
        session.put("robi/joint_trajectory", first)
    session.put("robi/joint_trajectory", last, congestion_control=zenoh.CongestionControl.BLOCK)
    assert wait_for(lambda: service.trajectories and service.trajectories[-1].positions[0, 0] == 0.5)
    transport.close()
    wait_for(lambda: "commands" not in {thread.name for thread in threading.enumerate()})


def test_who_sends_a_trajectory_that_makes_no_sense_is_told_by_name(serve: Serve, join: Any) -> None:
    transport, service, address = serve()
    session = join(address)
    status = subscribe(session, "robi/status")
    session.put("robi/joint_trajectory", go_to(1e308, "anna"))
    wait_for(
        lambda: (
            transport.publish(service.state_at(float(len(status))), service.commands)
            or b"anna" in b"".join(dict(status).values())
        )
    )
    assert b"more than two turns" in dict(status)["robi/status"]
    assert service.trajectories == []


def test_bytes_that_are_no_zenoh_at_all_move_nothing_and_close_no_door(
    serve: Serve, open_channel: Any
) -> None:
    _, service, address = serve()
    host, port = address.removeprefix("tcp/").split(":")
    rng = np.random.default_rng(11)
    for n in range(60):
        with socket.create_connection((host, int(port)), timeout=5.0) as line:
            line.sendall(rng.bytes(1 + 7 * n))
    assert open_channel(address).request(b"abc", 5.0) == b"cba"
    assert (service.trajectories, service.stop_senders) == ([], [])


def test_pictures_are_shown_only_to_who_watches_and_not_too_often(serve: Serve, join: Any) -> None:
    transport, service, address = serve(pictures=True)
    (camera,) = (sensor.name for sensor in service.sensors if sensor.kind == "camera")
    assert transport.cameras_due(0.0) == []
    received = subscribe(join(address), f"robi/{camera}/image_raw")
    wait_for(lambda: transport.cameras_due(0.0))
    assert (transport.cameras_due(0.1), transport.cameras_due(0.3)) == ([], [camera])
    transport.show(camera, 0.3, np.full((24, 32, 3), 9, np.uint8))
    (_, raw), *_ = wait_for(lambda: received)
    assert read("sensor_msgs/msg/Image", raw).width == 32


def test_through_a_router_a_robot_is_asked_observed_and_commanded(
    serve: Serve, open_channel: Any, join: Any
) -> None:
    address = endpoint()
    config = zenoh.Config()
    for key, value in SessionConfig(listen=(address,)).settings("robi").items():
        config.insert_json5(key, json.dumps("router" if key == "mode" else value))
    with zenoh.open(config):
        transport, service, _ = serve(SessionConfig.from_environment({"POSEWRIGHT_ZENOH_CONNECT": address}))
        wait_for(lambda: transport.facts()["observers"])
        assert open_channel(address).request(b"abc", 5.0) == b"cba"
        session = join(address)
        received = subscribe(session, "robi/joint_states")
        wait_for(lambda: transport.publish(service.state_at(0.5), service.commands) or received)
        session.put("robi/joint_trajectory", go_to(0.1))
        assert wait_for(lambda: service.trajectories)


def test_two_robots_of_one_name_are_not_served_on_one_network(serve: Serve) -> None:
    _, _, address = serve()
    with pytest.raises(BodyError, match="another robot on the network is called robi"):
        serve(SessionConfig(connect=(address,)))


def test_without_zenoh_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"posewright\[net\]"):
        ZenohChannel("robi", SessionConfig(connect=(LOOPBACK,))).request(b"abc", 1.0)


def test_a_door_that_cannot_listen_says_so(serve: Serve) -> None:
    _, _, address = serve()
    with pytest.raises(BodyError, match="cannot listen at"):
        serve(SessionConfig(listen=(address,)))


OBSERVER = """
import sys
from posewright.network.zenoh.session import SessionConfig
heard = []
session = SessionConfig(connect=(sys.argv[1],)).open("robi")
session.declare_subscriber("robi/**", heard.append)
print("there", flush=True)
sys.stdin.read()
session.close()
"""


def test_an_observer_that_stands_still_or_dies_costs_the_others_nothing(serve: Serve, join: Any) -> None:
    transport, service, address = serve()
    received = subscribe(join(address), "robi/joint_states")
    stopped = subprocess.Popen(  # noqa: S603 -- our own program
        [sys.executable, "-c", OBSERVER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with stopped:
        assert stopped.stdout is not None
        assert stopped.stdout.readline() == "there\n"
        wait_for(lambda: transport.facts()["observers"] >= 2.0)
        stopped.send_signal(signal.SIGSTOP)
        try:
            for n in range(6000):  # some megabytes, more than all buffers hold
                transport.publish(service.state_at(n / 128), service.commands)
            before = len(received)
            wait_for(
                lambda: (
                    transport.publish(service.state_at(50.0), service.commands) or len(received) > before + 5
                )
            )
        finally:
            stopped.kill()


def off_loopback(listen: str, **options: Any) -> dict[str, Any]:
    return SessionConfig(listen=(listen,), **options).settings("robi")


@pytest.fixture(scope="module")
def credentials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with certificates of two authorities, and a list of users."""
    folder = tmp_path_factory.mktemp("credentials")
    for name, authority in (("ours", trustme.CA()), ("theirs", trustme.CA())):
        authority.cert_pem.write_to_path(str(folder / f"{name}.ca"))
        for user in ("robi", "anna", "bob"):
            leaf = authority.issue_cert("127.0.0.1", common_name=user)
            (folder / f"{name}.{user}.pem").write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
            leaf.private_key_pem.write_to_path(str(folder / f"{name}.{user}.key"))
    (folder / "users").write_text("anna:secret\nbob:open\n")
    return folder


def credentials_of(credentials: Path, user: str, authority: str = "ours") -> dict[str, Any]:
    """Return the settings of somebody with a certificate of an authority."""
    return {
        "authority": credentials / f"{authority}.ca",
        "certificate": credentials / f"{authority}.{user}.pem",
        "key": credentials / f"{authority}.{user}.key",
    }


@pytest.mark.parametrize(
    "listen",
    [
        "tcp/0.0.0.0:7447",
        "tcp/[::]:7447",
        "udp/192.168.1.4:7447",
        "ws/robot.local:80",
        "tcp/127.0.0.1.evil:1",
    ],
)
def test_nobody_listens_to_strangers(listen: str) -> None:
    with pytest.raises(InputError, match="anyone could command"):
        off_loopback(listen)


def test_tls_alone_keeps_no_strangers_out_but_with_an_authority_or_users_it_does(credentials: Path) -> None:
    own = credentials_of(credentials, "robi")
    with pytest.raises(InputError, match="no certificate to listen"):
        off_loopback("tls/0.0.0.0:7447")
    with pytest.raises(InputError, match="anyone could command"):
        off_loopback("tls/0.0.0.0:7447", certificate=own["certificate"], key=own["key"])
    assert off_loopback("tls/0.0.0.0:7447", **own)["transport/link/tls/enable_mtls"] is True
    assert off_loopback("tcp/0.0.0.0:7447", users=credentials / "users")


@pytest.mark.parametrize(
    "listen", ["", "tcp", "7447", "tls/0.0.0.0:7447#enable_mtls=false", "tcp/127.0.0.1:1?x=1"]
)
def test_what_is_no_endpoint_or_would_switch_something_off_is_refused(listen: str, credentials: Path) -> None:
    with pytest.raises(InputError, match="invalid endpoint"):
        off_loopback(listen, **credentials_of(credentials, "robi"))


@pytest.mark.parametrize(
    "listen", [LOOPBACK, "tcp/localhost:7447", "tcp/[::1]:7447", "unixsock-stream//tmp/robi"]
)
def test_loopback_needs_no_papers(listen: str) -> None:
    settings = off_loopback(listen)
    assert settings["scouting/multicast/enabled"] is False
    assert settings["listen/endpoints"] == [listen]


def test_a_client_listens_nowhere(join: Any, serve: Serve) -> None:
    _, _, address = serve()
    join(address)
    assert SessionConfig(connect=(address,)).settings("robi")["listen/endpoints"] == []


def test_over_tls_who_trusts_another_authority_or_has_no_certificate_is_not_let_in(
    serve: Serve, open_channel: Any, credentials: Path
) -> None:
    _, _, address = serve(SessionConfig(listen=(endpoint("tls"),), **credentials_of(credentials, "robi")))
    assert open_channel(address, **credentials_of(credentials, "anna")).request(b"abc", 5.0) == b"cba"
    forged = credentials_of(credentials, "anna", "theirs")
    for stranger in (
        forged,
        forged | {"authority": credentials / "ours.ca"},
        {"authority": credentials / "ours.ca"},
    ):
        with pytest.raises(BodyError, match="was rejected"):
            open_channel(address, **stranger).request(b"abc", 1.0)
    with pytest.raises(BodyError, match="was rejected"):
        open_channel(address.replace("tls/", "tcp/")).request(b"abc", 1.0)


def test_a_wrong_password_is_not_let_in(serve: Serve, open_channel: Any, credentials: Path) -> None:
    _, _, address = serve(SessionConfig(listen=(endpoint(),), users=credentials / "users"))
    assert open_channel(address, user="anna", password="secret").request(b"abc", 5.0) == b"cba"  # noqa: S106
    for user, password in (("anna", "open"), ("carl", "secret"), ("", "")):
        with pytest.raises(BodyError, match="was rejected"):
            open_channel(address, user=user, password=password).request(b"abc", 1.0)


@pytest.mark.parametrize("by", ["password", "certificate"])
def test_who_may_only_observe_hears_the_robot_and_commands_nothing(
    by: str, serve: Serve, open_channel: Any, join: Any, credentials: Path
) -> None:
    if by == "password":
        config = SessionConfig(listen=(endpoint(),), users=credentials / "users")
        anna, bob = ({"user": "anna", "password": "secret"}, {"user": "bob", "password": "open"})
    else:
        config = SessionConfig(listen=(endpoint("tls"),), **credentials_of(credentials, "robi"))
        anna, bob = (credentials_of(credentials, user) for user in ("anna", "bob"))
    transport, service, address = serve(replace(config, commanders=("anna",)))
    watching = join(address, **bob)
    received = subscribe(watching, "robi/joint_states")
    wait_for(lambda: transport.publish(service.state_at(0.5), service.commands) or received)
    assert list(watching.liveliness().get("@/*/@ros2_lv/**", timeout=5.0))
    watching.put("robi/joint_trajectory", go_to(0.9))
    with pytest.raises(BodyError, match="only be allowed to observe it"):
        open_channel(address, **bob).request(b"abc", 0.5)
    assert open_channel(address, **anna).request(b"abc", 5.0) == b"cba"
    join(address, **anna).put("robi/joint_trajectory", go_to(0.1))
    assert [sent.positions[0, 0] for sent in wait_for(lambda: service.trajectories)] == [0.1]


def test_credentials_come_from_the_environment(credentials: Path) -> None:
    environment = {
        "POSEWRIGHT_ZENOH_USER": "anna",
        "POSEWRIGHT_ZENOH_PASSWORD": "secret",
        "POSEWRIGHT_ZENOH_USERS": str(credentials / "users"),
        "POSEWRIGHT_ZENOH_CA": str(credentials / "ours.ca"),
        "POSEWRIGHT_ZENOH_COMMANDERS": "anna, bob",
        "POSEWRIGHT_ZENOH_CONNECT": "tcp/router:7447",
    }
    config = SessionConfig.from_environment(environment, connect=("tls/robot:7447",))
    assert (config.user, config.authority, config.commanders) == (
        "anna",
        credentials / "ours.ca",
        ("anna", "bob"),
    )
    assert "secret" not in repr(config)
    assert config.connect == ("tls/robot:7447",)
    assert SessionConfig.from_environment(environment).connect == ("tcp/router:7447",)
    with pytest.raises(InputError, match="no file"):
        replace(config, users=credentials / "nowhere").settings("robi")


@pytest.mark.parametrize("name", ["", "a b", "robi/", "/robi", "ro*bi", "3po", "ärm", "@robi", "a$b"])
def test_a_name_that_is_no_topic_of_ros_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no robot can be called"):
        parse_robot_name(name)
    with pytest.raises(InputError, match="no robot can be called"):
        ZenohChannel.to(f"zenoh:{name}@{LOOPBACK}", {})


def test_zenoh_says_nothing_on_stdout_or_stderr(
    serve: Serve, open_channel: Any, capfd: pytest.CaptureFixture[str], credentials: Path
) -> None:
    _, _, address = serve(SessionConfig(listen=(endpoint(),), users=credentials / "users"))
    with pytest.raises(BodyError):
        open_channel(address, user="anna", password="wrong").request(b"abc", 1.0)  # noqa: S106
    assert capfd.readouterr() == ("", "")
