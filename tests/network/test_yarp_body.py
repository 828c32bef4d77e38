"""A robot on YARP as a body: one served by Posewright, and one behind another program's control board."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from posewright.bodies import BodySpec, FaultKind, JointCommands, MockBody, TorquePolicy
from posewright.control import Block, RealClock, Script, SimulatedClock, drive
from posewright.errors import BodyError, InputError
from posewright.network.yarp.body import YarpBody
from posewright.network.yarp.bottle import Bottle, Value, Vocab
from posewright.network.yarp.link import find_control_board, find_served_robot
from posewright.network.yarp.names import NameClient, NameServer
from posewright.network.yarp.port import Envelope, Port
from posewright.network.yarp.transport import YarpTransport
from posewright.robots import Robot
from posewright.runs.plants import make_plant

from .yarp_peers import wait_for
from .yarp_robots import BIOLOID, READINGS, served_in_real_time

N_JOINTS = len(BIOLOID.joints)


def make_part(card: Robot = BIOLOID) -> BodySpec:
    return BodySpec(card.name, card, np.zeros(len(card.joints)), (0.0, 0.0, 0.0))


def make_real_clock() -> RealClock:
    return RealClock(time.monotonic, time.sleep)


def constant_commands(angle_rad: float, n: int) -> dict[str, JointCommands]:
    return {BIOLOID.name: JointCommands(np.full((n, N_JOINTS), angle_rad))}


@pytest.fixture
def server() -> Iterator[NameServer]:
    with NameServer(port=0) as server:
        yield server


@pytest.fixture
def names(server: NameServer) -> NameClient:
    return NameClient(port=server.address.port)


class Board:
    """Another program's control board; its joints reach streamed positions at once."""

    def __init__(self, names: NameClient, axes: tuple[str, ...]) -> None:
        self.axes = axes
        self.positions = np.zeros(len(axes))
        self.requests: list[Bottle] = []
        self.stream = Port("/other/stateExt:o", names)
        self.ports = [
            Port("/other/rpc:i", names, on_request=self.answer),
            Port("/other/command:i", names, on_data=self.receive),
            self.stream,
        ]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_sending)
        self._thread.start()

    def _keep_sending(self) -> None:
        while not self._ended.wait(0.005):
            self.send_state()

    def fall_silent(self, last_deg: float) -> None:
        """Send one last state, and nothing after it."""
        self._ended.set()
        self._thread.join()
        self.positions[:] = last_deg
        self.send_state()

    def answer(self, request: Bottle, sender: str) -> Bottle:  # noqa: ARG002 -- the sender does not matter
        stamp: Bottle = (Vocab("tsta"), 3, 0.5, Vocab("ok"))
        match request:
            case ("get", "prot"):
                return Vocab("prot"), 1, 9, 0, Vocab("ok")
            case ("get", "axes"):
                return Vocab("is"), Vocab("axes"), len(self.axes), *stamp
            case ("get", "name", int(axis)):
                return Vocab("is"), Vocab("name"), self.axes[axis], *stamp
            case ("set", *_):
                self.requests.append(request)
                return (Vocab("ok"),)
        return (Vocab("fail"),)

    def receive(self, message: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002 -- the signature of a callback
        (_, _, axes), values = message
        for axis, value in zip(axes, values, strict=True):  # type: ignore[arg-type]
            self.positions[axis] = value

    def send_state(self) -> None:
        values: tuple[Value, ...] = tuple(self.positions.tolist())
        known, unknown = (values, Vocab("ok")), ((0.0,) * len(values), Vocab("fail"))
        codes: tuple[Value, ...] = ((0,) * len(values), Vocab("ok"))
        self.stream.write((*known, *unknown * 8, *codes * 2), Envelope(1, 0.5))

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        for port in self.ports:
            port.close()


JOINTS = BIOLOID.joint_names
NUMBERED = tuple(f"motor_{number}" for number in range(1, 24))


@pytest.fixture(params=["its own names", "the document's numbers"])
def board(request: pytest.FixtureRequest, names: NameClient) -> Iterator[Board]:
    axes = ("torso", *reversed(JOINTS)) if request.param == "its own names" else NUMBERED
    board = Board(names, axes)
    yield board
    board.close()


def find_axis(board: Board, joint: str) -> int:
    if board.axes == NUMBERED:
        return BIOLOID.ids("uc3m_thesis")[joint] - 1
    return board.axes.index(joint)


def test_joints_are_matched_by_name_or_else_by_number_and_go_where_they_are_sent(
    board: Board, names: NameClient
) -> None:
    body = YarpBody(names, "/other", make_part(), make_real_clock())
    body.open()
    try:
        pose = np.radians(np.arange(float(N_JOINTS)))
        states = body.advance({BIOLOID.name: JointCommands(np.tile(pose, (3, 1)))})[BIOLOID.name]
        assert states.times == pytest.approx(np.arange(1, 4) / 128)
        wait_for(lambda: np.allclose(body.read().positions, pose))  # other threads send the states
        assert body.observe().positions[0] == pytest.approx(pose)
        assert np.isnan(body.observe().efforts).all()
        assert body.read().velocities is None
        for j, joint in enumerate(JOINTS):
            assert board.positions[find_axis(board, joint)] == pytest.approx(j)
    finally:
        body.close()


def test_joints_are_taken_over_freed_stopped_and_released_by_their_modes(
    board: Board, names: NameClient
) -> None:
    body = YarpBody(names, "/other", make_part(), make_real_clock())
    body.open()
    try:
        free = np.zeros(N_JOINTS, np.bool_)
        free[BIOLOID.index("left_knee")] = True
        knee = find_axis(board, "left_knee")
        other_knee = find_axis(board, "right_knee")
        body.advance(constant_commands(0.25, 1))
        wait_for(lambda: board.positions[knee] == pytest.approx(np.degrees(0.25)))
        body.advance({BIOLOID.name: JointCommands(np.where(free, np.nan, np.full((1, N_JOINTS), 0.5)), free)})
        wait_for(lambda: board.positions[other_knee] == pytest.approx(np.degrees(0.5)))
        assert board.positions[knee] == pytest.approx(np.degrees(0.25))
        body.advance(constant_commands(0.0, 1))
        body.stop(TorquePolicy.HOLD)
        body.stop(TorquePolicy.RELEASE)
    finally:
        body.close()
    taken, freed, held, stopped, released = board.requests
    assert taken[:4] == ("set", "icmd", "cmog", N_JOINTS)
    assert taken[5] == ("posd",) * N_JOINTS
    assert freed == ("set", "icmd", "cmog", 1, (knee,), ("idl",))
    assert held == ("set", "icmd", "cmog", 1, (knee,), ("posd",))
    assert stopped == ("set", "stos")
    assert released[5] == ("idl",) * N_JOINTS


def test_a_board_that_falls_silent_is_a_fault_and_then_the_end(board: Board, names: NameClient) -> None:
    body = YarpBody(names, "/other", make_part(), SimulatedClock())
    body.open()
    try:
        board.fall_silent(9.0)
        wait_for(lambda: np.allclose(body.read().positions, np.radians(9.0)))
        faults = body.advance(constant_commands(0.0, 40))[BIOLOID.name].faults
        assert [fault.kind for fault in faults] == [FaultKind.SILENT]
        with pytest.raises(BodyError, match="sent nothing"):
            body.advance(constant_commands(0.0, 60))
    finally:
        body.close()
    with pytest.raises(BodyError, match="not open"):
        body.read()
    body.stop(TorquePolicy.RELEASE)  # the board is gone


@pytest.mark.parametrize("axes", [JOINTS[:5], ("one", "two")])
def test_a_board_of_another_robot_is_not_driven(axes: tuple[str, ...], names: NameClient) -> None:
    board = Board(names, axes)
    try:
        with pytest.raises(BodyError, match="has the axes"):
            YarpBody(names, "/other", make_part(), SimulatedClock()).open()
        assert not board.requests
    finally:
        board.close()
    assert names.names().keys() <= {"/root"}


JUNK: tuple[Bottle, ...] = (
    (),
    (1,) * 22,
    ((), Vocab("ok")) * 11,
    ((0.0,) * N_JOINTS, Vocab("fail")) * 11,
    (("far",) * N_JOINTS, Vocab("ok")) * 11,
    ((float("nan"),) * N_JOINTS, Vocab("ok")) * 11,
)


def test_what_is_no_state_is_not_taken(names: NameClient) -> None:
    board = Board(names, JOINTS)
    body = YarpBody(names, "/other", make_part(), make_real_clock())
    try:
        body.open()
        body.advance(constant_commands(0.25, 1))
        for bottle in JUNK:
            board.stream.write(bottle, None)
        wait_for(lambda: np.allclose(body.read().positions, 0.25))
    finally:
        body.close()
        board.close()


def test_a_served_robot_moves_by_its_control_board_in_real_time(
    server: NameServer, names: NameClient
) -> None:
    with served_in_real_time(YarpTransport(port=server.address.port)) as host:
        body = YarpBody(names, "/ravebot", make_part(), make_real_clock())
        pose = BIOLOID.pose("stand")

        class Arrived:
            def watch(self, block: Block) -> bool:
                return np.allclose(block.states.positions[-1], pose, atol=1e-9)

        standing = Script([JointCommands(pose[np.newaxis])])
        drive(body, {BIOLOID.name: standing}, until_s=20.0, watchers=[Arrived()])
        assert body.time_s < 20.0
        assert host.state.positions == pytest.approx(pose, abs=1e-9)
        assert host.commander.counts["refused"] == 0
    assert names.names().keys() <= {"/root"}


def test_its_sensors_are_read_too(server: NameServer, names: NameClient) -> None:
    with served_in_real_time(YarpTransport(port=server.address.port)):
        body = YarpBody(names, "/ravebot", make_part(), SimulatedClock())
        body.open()
        try:
            wait_for(lambda: set(body.read().sensors) == set(READINGS))
            sensors = body.read().sensors
        finally:
            body.close()
    assert set(sensors) == set(READINGS)
    for channel, value in READINGS.items():
        assert np.asarray(sensors[channel]) == pytest.approx(np.asarray(value)), channel


def test_a_served_robot_is_driven_in_lock_step_as_if_it_were_here(server: NameServer) -> None:
    generator = np.random.default_rng(17)
    commands = {BIOLOID.name: JointCommands(generator.uniform(-0.1, 0.1, (50, N_JOINTS)))}
    here = MockBody(BIOLOID, lambda _time_s: READINGS)
    address = f"yarp:ravebot@127.0.0.1:{server.address.port}"
    with served_in_real_time(YarpTransport(port=server.address.port), made_anew=True):
        far = make_plant(address, [make_part()], None)
        (body,) = far.bodies.values()
        body.open()
        assert far.frame_period_s == here.frame_period_s
        for _ in range(3):
            remote, local = far.advance(commands), here.advance(commands)
            assert np.array_equal(remote[BIOLOID.name].positions, local[BIOLOID.name].positions)
            assert np.array_equal(remote[BIOLOID.name].times, local[BIOLOID.name].times)
        assert body.read().sensors["laser_front"] == 1.25
        body.close()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("yarp:", "not a name of a port"),
        ("yarp:/r@127.0.0.1:x", "not a port of a name server"),
        ("yarp:/r@127.0.0.1:70000", "not a port of a name server"),
        (f"yarp:/r@127.0.0.1:{'9' * 5000}", "not a port of a name server"),
        ("yarp:/r@192.0.2.1:10000", "192.0.2.1"),
    ],
)
def test_an_address_that_means_nothing_is_refused(address: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        find_served_robot(address)


def test_who_is_not_there_is_missed_by_name(server: NameServer) -> None:
    address = f"yarp:/nobody@127.0.0.1:{server.address.port}"
    assert find_served_robot(address) is None
    with pytest.raises(BodyError, match="there is no port /nobody/rpc:i"):
        make_plant(address, [make_part()], None)
    with pytest.raises(InputError, match="takes one robot, not 2"):
        find_control_board(address, [make_part(), make_part()], SimulatedClock())
