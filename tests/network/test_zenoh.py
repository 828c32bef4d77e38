"""A robot over Zenoh, on loopback: asked, observed by several, commanded by one, and let in who may."""

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
from .zenoh_peers import FakeService, endpoint, until

zenoh = pytest.importorskip("zenoh")

Opened = Callable[..., tuple[ZenohTransport, FakeService, str]]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Give a function that serves a robot called robi: its transport, the robot, and where."""
    transports: list[ZenohTransport] = []

    def serve(config: SessionConfig | None = None, **how: Any) -> tuple[ZenohTransport, FakeService, str]:
        config = config or SessionConfig(listen=(endpoint(),))
        transport, served = ZenohTransport(config, "robi", **how), FakeService()
        transports.append(transport)
        transport.open(served)
        return transport, served, (*config.listen, "")[0]

    yield serve
    for transport in transports:
        transport.close()


@pytest.fixture
def joined() -> Iterator[Callable[..., Any]]:
    """Give a function that opens a plain session of somebody else's."""
    sessions: list[Any] = []

    def join(at: str, **how: Any) -> Any:
        sessions.append(SessionConfig(connect=(at,), **how).open("robi"))
        return sessions[-1]

    yield join
    for session in sessions:
        session.close()


@pytest.fixture
def wired() -> Iterator[Callable[..., ZenohChannel]]:
    """Give a function that makes a wire to robi."""
    wires: list[ZenohChannel] = []

    def wire(at: str, name: str = "robi", **how: Any) -> ZenohChannel:
        wires.append(ZenohChannel(name, SessionConfig(connect=(at,), **how)))
        return wires[-1]

    yield wire
    for one in wires:
        one.close()


def hearing(session: Any, key: str) -> list[tuple[str, bytes]]:
    """Return what comes under a key from now on."""
    heard: list[tuple[str, bytes]] = []
    session.declare_subscriber(key, lambda one: heard.append((str(one.key_expr), one.payload.to_bytes())))
    return heard


def go_to(angle: float, frame_id: str = "") -> bytes:
    """Return a trajectory of the robot's first joint."""
    joint = FakeService().robot.joint_names[0]
    return trajectory([joint], point([angle], 0.5), frame_id=frame_id)


def heard_by_somebody(publisher: Any) -> bool:
    return bool(publisher.matching_status.matching)


def counted(transport: ZenohTransport, what: str) -> bool:
    return transport.facts()[what] > 0.0


def test_a_door_and_a_wire_are_what_a_served_robot_asks_for(opened: Opened, wired: Any) -> None:
    transport, _, at = opened()
    door_of: Transport = transport
    wire_of: RequestChannel = wired(at)
    assert wire_of.request(b"abc", 5.0) == b"cba"
    assert door_of.facts()["answered"] == 1.0


def test_megabytes_are_asked_and_answered(opened: Opened, wired: Any) -> None:
    _, _, at = opened()
    request = np.random.default_rng(3).bytes(6_000_000)
    assert wired(at).request(request, 20.0) == request[::-1]


def test_a_client_is_told_whether_nobody_listens_or_the_robot_does_not_answer(
    opened: Opened, wired: Any
) -> None:
    with pytest.raises(BodyError, match="nothing listens at tcp/"):
        wired(endpoint()).request(b"abc", 1.0)
    transport, served, at = opened()
    with pytest.raises(BodyError, match="no robot called other"):
        wired(at, "other").request(b"abc", 0.2)
    wire = wired(at)
    wire.request(b"abc", 5.0)
    served.busy.set()
    with pytest.raises(BodyError, match=r"robi did not answer within 0.2 s \(the robot is busy\)"):
        wire.request(b"abc", 0.2)
    served.busy.clear()
    transport.close()
    with pytest.raises(BodyError, match="robi"):
        wire.request(b"abc", 0.2)


def test_a_line_that_was_cut_is_taken_up_again(opened: Opened, wired: Any) -> None:
    transport, _, at = opened()
    wire = wired(at)
    assert wire.request(b"abc", 5.0) == b"cba"
    transport.close()
    opened(SessionConfig(listen=(at,)))

    def answered() -> bool:
        try:
            return wire.request(b"abc", 1.0) == b"cba"
        except BodyError:
            return False

    assert until(answered)


def test_several_observe_and_each_hears_every_topic(opened: Opened, joined: Any) -> None:
    transport, served, at = opened()
    heard = [hearing(joined(at), "robi/*") for _ in range(3)]

    def all_heard() -> bool:
        transport.publish(served.at(0.5), served.commands)
        return all("robi/joint_states" in dict(list(one)) for one in heard)

    until(all_heard)
    for one in heard:
        raw = dict(one)["robi/joint_states"]
        message = read("sensor_msgs/msg/JointState", raw)
        assert tuple(message.name) == served.robot.joint_names
        np.testing.assert_array_equal(message.position, served.at(0.5).positions)
    assert transport.facts()["observers"] >= 3.0


def test_a_bridge_finds_every_topic_by_its_token(opened: Opened, joined: Any) -> None:
    _, served, at = opened()
    found = [str(one.ok.key_expr) for one in joined(at).liveliness().get("@/*/@ros2_lv/**", timeout=5.0)]
    announced = {tuple(token.split("/")[3:6]) for token in found}
    assert ("MP", "robi§joint_states", "sensor_msgs§msg§JointState") in announced
    assert ("MS", "robi§joint_trajectory", "trajectory_msgs§msg§JointTrajectory") in announced
    assert {one[1] for one in announced} >= {f"robi§{sensor.name}§range" for sensor in served.sensors[:3]}


def test_one_commands_and_the_second_is_refused_and_told_so(opened: Opened, joined: Any) -> None:
    transport, served, at = opened()
    session = joined(at)
    status = hearing(session, "robi/status")
    session.put("robi/joint_trajectory", go_to(0.1, "anna"))
    until(lambda: served.taken)
    session.put("robi/joint_trajectory", go_to(0.9, "bob"))
    until(lambda: transport.facts()["refused"])
    assert [one.positions[0, 0] for one in served.taken] == [0.1]

    def standing() -> Any:
        transport.publish(served.at(float(len(status))), served.commands)
        words = [json.loads(read("std_msgs/msg/String", raw).data) for _, raw in list(status)]
        return next((one for one in words if one["refused"]), None)

    told = until(standing)
    assert told["commander"] == "anna"
    assert told["refused"] == {"bob": "anna commands"}
    assert told["faults"] == [
        {"time_s": 0.25, "kind": "no answer", "joint": "left_knee", "message": "it says nothing"}
    ]


def test_sessions_that_name_themselves_are_told_apart(opened: Opened, joined: Any) -> None:
    transport, served, at = opened()
    names = []
    for count, angle in (("accepted", 0.1), ("refused", 0.9)):
        publisher = joined(at).declare_publisher("robi/joint_trajectory")
        until(partial(heard_by_somebody, publisher))
        publisher.put(go_to(angle), source_info=zenoh.SourceInfo(publisher.id, 1))
        names.append(str(publisher.id.zid))
        until(partial(counted, transport, count))
    assert (transport.facts()["accepted"], transport.facts()["refused"]) == (1.0, 1.0)
    assert served.commander == names[0] != names[1]


def test_a_trajectory_without_points_stops_the_robot(opened: Opened, joined: Any) -> None:
    _, served, at = opened()
    joined(at).put("robi/joint_trajectory", trajectory([], frame_id="anna"))
    assert until(lambda: served.stopped) == ["anna"]


def test_garbage_moves_nothing_and_is_counted(opened: Opened, joined: Any) -> None:
    transport, served, at = opened()
    session, rng = joined(at), np.random.default_rng(7)
    for n in range(200):
        session.put("robi/joint_trajectory", rng.bytes(n), congestion_control=zenoh.CongestionControl.BLOCK)
    session.delete("robi/joint_trajectory")
    until(lambda: transport.facts()["damaged"] == 201.0)
    assert (served.taken, served.stopped) == ([], [])
    session.put("robi/joint_trajectory", go_to(0.2))
    assert until(lambda: served.taken)


def test_of_a_flood_the_latest_are_taken_and_the_door_leaves_no_thread(opened: Opened, joined: Any) -> None:
    transport, served, at = opened()
    session, one, last = joined(at), go_to(0.1, "flood"), go_to(0.5, "flood")
    for _ in range(20_000):
        session.put("robi/joint_trajectory", one)
    session.put("robi/joint_trajectory", last, congestion_control=zenoh.CongestionControl.BLOCK)
    assert until(lambda: served.taken and served.taken[-1].positions[0, 0] == 0.5)
    transport.close()
    until(lambda: "commands" not in {thread.name for thread in threading.enumerate()})


def test_who_sends_a_trajectory_that_makes_no_sense_is_told_by_name(opened: Opened, joined: Any) -> None:
    transport, served, at = opened()
    session = joined(at)
    status = hearing(session, "robi/status")
    session.put("robi/joint_trajectory", go_to(1e308, "anna"))
    until(
        lambda: (
            transport.publish(served.at(float(len(status))), served.commands)
            or b"anna" in b"".join(dict(status).values())
        )
    )
    assert b"more than two turns" in dict(status)["robi/status"]
    assert served.taken == []


def test_bytes_that_are_no_zenoh_at_all_move_nothing_and_close_no_door(opened: Opened, wired: Any) -> None:
    _, served, at = opened()
    host, port = at.removeprefix("tcp/").split(":")
    rng = np.random.default_rng(11)
    for n in range(60):
        with socket.create_connection((host, int(port)), timeout=5.0) as line:
            line.sendall(rng.bytes(1 + 7 * n))
    assert wired(at).request(b"abc", 5.0) == b"cba"
    assert (served.taken, served.stopped) == ([], [])


def test_pictures_are_shown_only_to_who_watches_and_not_too_often(opened: Opened, joined: Any) -> None:
    transport, served, at = opened(pictures=True)
    (camera,) = (sensor.name for sensor in served.sensors if sensor.kind == "camera")
    assert transport.cameras_due(0.0) == []
    heard = hearing(joined(at), f"robi/{camera}/image_raw")
    until(lambda: transport.cameras_due(0.0))
    assert (transport.cameras_due(0.1), transport.cameras_due(0.3)) == ([], [camera])
    transport.show(camera, 0.3, np.full((24, 32, 3), 9, np.uint8))
    (_, raw), *_ = until(lambda: heard)
    assert read("sensor_msgs/msg/Image", raw).width == 32


def test_through_a_router_a_robot_is_asked_observed_and_commanded(
    opened: Opened, wired: Any, joined: Any
) -> None:
    at = endpoint()
    config = zenoh.Config()
    for key, value in SessionConfig(listen=(at,)).settings("robi").items():
        config.insert_json5(key, json.dumps("router" if key == "mode" else value))
    with zenoh.open(config):
        transport, served, _ = opened(SessionConfig.from_environment({"POSEWRIGHT_ZENOH_CONNECT": at}))
        until(lambda: transport.facts()["observers"])
        assert wired(at).request(b"abc", 5.0) == b"cba"
        session = joined(at)
        heard = hearing(session, "robi/joint_states")
        until(lambda: transport.publish(served.at(0.5), served.commands) or heard)
        session.put("robi/joint_trajectory", go_to(0.1))
        assert until(lambda: served.taken)


def test_two_robots_of_one_name_are_not_served_on_one_network(opened: Opened) -> None:
    _, _, at = opened()
    with pytest.raises(BodyError, match="another robot on the network is called robi"):
        opened(SessionConfig(connect=(at,)))


def test_without_zenoh_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"posewright\[net\]"):
        ZenohChannel("robi", SessionConfig(connect=(LOOPBACK,))).request(b"abc", 1.0)


def test_a_door_that_cannot_listen_says_so(opened: Opened) -> None:
    _, _, at = opened()
    with pytest.raises(BodyError, match="cannot listen at"):
        opened(SessionConfig(listen=(at,)))


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


def test_an_observer_that_stands_still_or_dies_costs_the_others_nothing(opened: Opened, joined: Any) -> None:
    transport, served, at = opened()
    heard = hearing(joined(at), "robi/joint_states")
    stopped = subprocess.Popen(  # noqa: S603 -- our own
        [sys.executable, "-c", OBSERVER, at], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with stopped:
        assert stopped.stdout is not None
        assert stopped.stdout.readline() == "there\n"
        until(lambda: transport.facts()["observers"] >= 2.0)
        stopped.send_signal(signal.SIGSTOP)
        try:
            for n in range(6000):  # some megabytes: more than lies in any buffer between
                transport.publish(served.at(n / 128), served.commands)
            before = len(heard)
            until(lambda: transport.publish(served.at(50.0), served.commands) or len(heard) > before + 5)
        finally:
            stopped.kill()


def off_loopback(listen: str, **how: Any) -> dict[str, Any]:
    return SessionConfig(listen=(listen,), **how).settings("robi")


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with certificates of an authority and of another, and a list of users."""
    folder = tmp_path_factory.mktemp("papers")
    for name, authority in (("ours", trustme.CA()), ("theirs", trustme.CA())):
        authority.cert_pem.write_to_path(str(folder / f"{name}.ca"))
        for who in ("robi", "anna", "bob"):
            leaf = authority.issue_cert("127.0.0.1", common_name=who)
            (folder / f"{name}.{who}.pem").write_bytes(b"".join(one.bytes() for one in leaf.cert_chain_pems))
            leaf.private_key_pem.write_to_path(str(folder / f"{name}.{who}.key"))
    (folder / "users").write_text("anna:secret\nbob:open\n")
    return folder


def paper(papers: Path, who: str, authority: str = "ours") -> dict[str, Any]:
    """Return what somebody with a certificate of that authority's is configured with."""
    return {
        "authority": papers / f"{authority}.ca",
        "certificate": papers / f"{authority}.{who}.pem",
        "key": papers / f"{authority}.{who}.key",
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
    with pytest.raises(InputError, match="strangers could command"):
        off_loopback(listen)


def test_tls_alone_keeps_no_strangers_out_but_with_an_authority_or_users_it_does(papers: Path) -> None:
    own = paper(papers, "robi")
    with pytest.raises(InputError, match="no certificate to listen"):
        off_loopback("tls/0.0.0.0:7447")
    with pytest.raises(InputError, match="strangers could command"):
        off_loopback("tls/0.0.0.0:7447", certificate=own["certificate"], key=own["key"])
    assert off_loopback("tls/0.0.0.0:7447", **own)["transport/link/tls/enable_mtls"] is True
    assert off_loopback("tcp/0.0.0.0:7447", users=papers / "users")


@pytest.mark.parametrize(
    "listen", ["", "tcp", "7447", "tls/0.0.0.0:7447#enable_mtls=false", "tcp/127.0.0.1:1?x=1"]
)
def test_what_is_no_endpoint_or_would_switch_something_off_is_refused(listen: str, papers: Path) -> None:
    with pytest.raises(InputError, match="invalid endpoint"):
        off_loopback(listen, **paper(papers, "robi"))


@pytest.mark.parametrize(
    "listen", [LOOPBACK, "tcp/localhost:7447", "tcp/[::1]:7447", "unixsock-stream//tmp/robi"]
)
def test_loopback_needs_no_papers(listen: str) -> None:
    settings = off_loopback(listen)
    assert settings["scouting/multicast/enabled"] is False
    assert settings["listen/endpoints"] == [listen]


def test_a_client_listens_nowhere(joined: Any, opened: Opened) -> None:
    _, _, at = opened()
    joined(at)
    assert SessionConfig(connect=(at,)).settings("robi")["listen/endpoints"] == []


def test_over_tls_who_trusts_another_authority_or_has_no_certificate_is_not_let_in(
    opened: Opened, wired: Any, papers: Path
) -> None:
    _, _, at = opened(SessionConfig(listen=(endpoint("tls"),), **paper(papers, "robi")))
    assert wired(at, **paper(papers, "anna")).request(b"abc", 5.0) == b"cba"
    forged = paper(papers, "anna", "theirs")
    for stranger in (forged, forged | {"authority": papers / "ours.ca"}, {"authority": papers / "ours.ca"}):
        with pytest.raises(BodyError, match="was rejected"):
            wired(at, **stranger).request(b"abc", 1.0)
    with pytest.raises(BodyError, match="was rejected"):
        wired(at.replace("tls/", "tcp/")).request(b"abc", 1.0)


def test_a_wrong_password_is_not_let_in(opened: Opened, wired: Any, papers: Path) -> None:
    _, _, at = opened(SessionConfig(listen=(endpoint(),), users=papers / "users"))
    assert wired(at, user="anna", password="secret").request(b"abc", 5.0) == b"cba"  # noqa: S106
    for user, password in (("anna", "open"), ("carl", "secret"), ("", "")):
        with pytest.raises(BodyError, match="was rejected"):
            wired(at, user=user, password=password).request(b"abc", 1.0)


@pytest.mark.parametrize("by", ["password", "certificate"])
def test_who_may_only_observe_hears_the_robot_and_commands_nothing(
    by: str, opened: Opened, wired: Any, joined: Any, papers: Path
) -> None:
    if by == "password":
        config = SessionConfig(listen=(endpoint(),), users=papers / "users")
        anna, bob = ({"user": "anna", "password": "secret"}, {"user": "bob", "password": "open"})
    else:
        config = SessionConfig(listen=(endpoint("tls"),), **paper(papers, "robi"))
        anna, bob = (paper(papers, who) for who in ("anna", "bob"))
    transport, served, at = opened(replace(config, commanders=("anna",)))
    watching = joined(at, **bob)
    heard = hearing(watching, "robi/joint_states")
    until(lambda: transport.publish(served.at(0.5), served.commands) or heard)
    assert list(watching.liveliness().get("@/*/@ros2_lv/**", timeout=5.0))
    watching.put("robi/joint_trajectory", go_to(0.9))
    with pytest.raises(BodyError, match="only be allowed to observe it"):
        wired(at, **bob).request(b"abc", 0.5)
    assert wired(at, **anna).request(b"abc", 5.0) == b"cba"
    joined(at, **anna).put("robi/joint_trajectory", go_to(0.1))
    assert [one.positions[0, 0] for one in until(lambda: served.taken)] == [0.1]


def test_credentials_come_from_the_environment(papers: Path) -> None:
    told = {
        "POSEWRIGHT_ZENOH_USER": "anna",
        "POSEWRIGHT_ZENOH_PASSWORD": "secret",
        "POSEWRIGHT_ZENOH_USERS": str(papers / "users"),
        "POSEWRIGHT_ZENOH_CA": str(papers / "ours.ca"),
        "POSEWRIGHT_ZENOH_COMMANDERS": "anna, bob",
        "POSEWRIGHT_ZENOH_CONNECT": "tcp/router:7447",
    }
    config = SessionConfig.from_environment(told, connect=("tls/robot:7447",))
    assert (config.user, config.authority, config.commanders) == ("anna", papers / "ours.ca", ("anna", "bob"))
    assert "secret" not in repr(config)
    assert config.connect == ("tls/robot:7447",)
    assert SessionConfig.from_environment(told).connect == ("tcp/router:7447",)
    with pytest.raises(InputError, match="no file"):
        replace(config, users=papers / "nowhere").settings("robi")


@pytest.mark.parametrize("name", ["", "a b", "robi/", "/robi", "ro*bi", "3po", "ärm", "@robi", "a$b"])
def test_a_name_that_is_no_topic_of_ros_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no robot can be called"):
        parse_robot_name(name)
    with pytest.raises(InputError, match="no robot can be called"):
        ZenohChannel.to(f"zenoh:{name}@{LOOPBACK}", {})


def test_zenoh_says_nothing_on_stdout_or_stderr(
    opened: Opened, wired: Any, capfd: pytest.CaptureFixture[str], papers: Path
) -> None:
    _, _, at = opened(SessionConfig(listen=(endpoint(),), users=papers / "users"))
    with pytest.raises(BodyError):
        wired(at, user="anna", password="wrong").request(b"abc", 1.0)  # noqa: S106
    assert capfd.readouterr() == ("", "")
