"""A served robot: one sender commands it until it falls silent; observers never slow it; clients take it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.arrays import Floats
from posewright.bodies import (
    BodySpec,
    BodyState,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    MockBody,
    TorquePolicy,
)
from posewright.control import Block, Controller, Safety
from posewright.errors import BodyError, InputError
from posewright.network.commander import Commander, Watchdog
from posewright.network.host import Host, Publisher
from posewright.network.plant_server import MakePlant
from posewright.network.remote_plant import RemotePlant
from posewright.network.transport import RobotService, Trajectory, Transport
from posewright.robots import robot

BIOLOID = robot("robotis_bioloid")
STAND = BIOLOID.pose("stand")
N_JOINTS, FRAME_S = len(STAND), BIOLOID.frame_period_s
TIMEOUT_S = 600.0


def trajectory_to(position: float, *joints: int, at_s: float = 0.0) -> Trajectory:
    return Trajectory(joints or (0,), np.array([at_s]), np.full((1, len(joints or (0,))), position))


class CommandedRobot:
    """A robot under a commander, run frame by frame; it reaches each command at once.

    Only a `slow` one is held to the speed limits of its card.
    """

    def __init__(self, *, slow: bool = False, **watchdog: Any) -> None:
        self.commander = Commander(BIOLOID, Watchdog(**watchdog))
        self.safety = Safety(BIOLOID, hardware=not slow)
        self.frame, self.positions, self.free = -1, STAND, False
        self.run(1)

    def run(self, frames: int) -> Floats:
        """Run frames; return the angle of joint 0 in each [rad]."""
        angles = []
        for _ in range(frames):
            self.frame += 1
            state = BodyState(self.frame * FRAME_S, self.positions, STAND * 0.0)
            rows = self.commander.next(state, 64)
            assert len(rows) == 1
            sent = self.safety.filter(rows, self.positions).commands
            reached = JointStates(np.array([state.time_s]), sent.angles, sent.angles * 0.0)
            assert not self.commander.watch(Block(BIOLOID.name, state, rows, sent, reached))
            self.positions, self.free = sent.angles[0], rows.free is not None
            angles.append(float(self.positions[0]))
        return np.array(angles)


def test_joints_move_evenly_between_points_and_stay_at_the_last() -> None:
    commanded = CommandedRobot()
    times, positions = np.array([10.0, 30.0]) * FRAME_S, np.array([[0.1, 0.2], [0.5, 0.2]])
    assert not commanded.commander.accept("me", Trajectory((0, 3), times, positions))
    path = commanded.run(40)
    begin = STAND[0]
    assert path[:10] == pytest.approx(begin + (0.1 - begin) * np.arange(1, 11) / 10)
    assert path[10:30] == pytest.approx(0.1 + 0.4 * np.arange(1, 21) / 20)
    assert path[30:] == pytest.approx(0.5)
    assert commanded.positions[3] == pytest.approx(0.2)
    others = [joint for joint in range(N_JOINTS) if joint not in {0, 3}]
    assert np.array_equal(commanded.positions[others], STAND[others])


def test_joints_that_are_not_named_go_on_and_a_stop_holds_all() -> None:
    commanded = CommandedRobot()
    commanded.commander.accept("me", trajectory_to(1.0, 0, at_s=20 * FRAME_S))
    commanded.run(5)
    commanded.commander.accept("me", trajectory_to(1.0, 1, at_s=20 * FRAME_S))
    commanded.run(5)
    assert commanded.positions[0] == pytest.approx(STAND[0] + (1.0 - STAND[0]) / 2)
    assert not commanded.commander.stop("me")
    held = commanded.positions
    commanded.run(30)
    assert np.array_equal(commanded.positions, held)


def test_one_commands_until_nothing_is_heard_of_him() -> None:
    commanded = CommandedRobot(hold_after_s=10 * FRAME_S)
    assert not commanded.commander.accept("me", trajectory_to(0.5, at_s=20 * FRAME_S))
    assert commanded.commander.accept("you", trajectory_to(0.1)) == "me commands"
    assert commanded.commander.stop("you") == "me commands"
    commanded.run(20)
    assert commanded.commander.sender == "me"  # its trajectory goes on so long
    commanded.run(9)
    assert commanded.commander.sender == "me"
    commanded.run(3)
    assert commanded.commander.sender == ""
    assert commanded.positions[0] == pytest.approx(0.5)
    assert not commanded.commander.accept("you", trajectory_to(0.1))
    assert commanded.commander.counts == {"taken": 2, "stops": 0, "refused": 2, "held": 1, "relaxed": 0}


def test_after_more_silence_the_torque_is_taken_until_somebody_commands() -> None:
    commanded = CommandedRobot(hold_after_s=5 * FRAME_S, relax_after_s=10 * FRAME_S)
    commanded.run(100)
    assert not commanded.free  # nobody has commanded it yet, so it stays at the start pose
    commanded.commander.accept("me", trajectory_to(0.5))
    commanded.run(9)
    assert not commanded.free
    commanded.run(3)
    assert commanded.free
    commanded.positions = STAND + 0.2  # by hand
    commanded.run(1)
    commanded.commander.accept("me", trajectory_to(STAND[0], at_s=10 * FRAME_S))
    assert commanded.run(1)[0] == pytest.approx(STAND[0] + 0.2 * 0.9)
    assert not commanded.free
    assert np.array_equal(commanded.positions[1:], STAND[1:] + 0.2)
    assert commanded.commander.counts["relaxed"] == 1


def test_silence_is_counted_too_from_when_another_gave_the_robot_back() -> None:
    commanded = CommandedRobot(hold_after_s=5 * FRAME_S, relax_after_s=10 * FRAME_S)
    commanded.run(100)
    commanded.commander.reset()
    commanded.run(9)
    assert not commanded.free
    commanded.run(3)
    assert commanded.free


@pytest.mark.parametrize(
    ("joints", "times", "positions"),
    [
        ((), [0.1], np.zeros((1, 0))),
        ((0, 0), [0.1], np.zeros((1, 2))),
        ((N_JOINTS,), [0.1], np.zeros((1, 1))),
        ((-1,), [0.1], np.zeros((1, 1))),
        ((0,), [], np.zeros((0, 1))),
        ((0,), [0.1], np.zeros((2, 1))),
        ((0,), [-0.1], np.zeros((1, 1))),
        ((0,), [0.2, 0.1], np.zeros((2, 1))),
        ((0,), [0.1, 0.1], np.zeros((2, 1))),
        ((0,), [np.nan], np.zeros((1, 1))),
        ((0,), [0.1], np.full((1, 1), np.inf)),
        ((0,), [0.1], np.full((1, 1), 1e308)),
        ((0,), [0.1], np.full((1, 1), -12.6)),
        ((0,), [1e9], np.zeros((1, 1))),
        ((0,), np.arange(1, 5000) * 0.1, np.zeros((4999, 1))),
    ],
)
def test_trajectories_that_make_no_sense_are_refused_and_counted(
    joints: tuple[int, ...], times: Any, positions: Floats
) -> None:
    commanded = CommandedRobot()
    assert commanded.commander.accept("me", Trajectory(joints, np.array(times, dtype=np.float64), positions))
    assert commanded.commander.counts["refused"] == 1
    assert commanded.commander.sender == ""
    assert np.array_equal(commanded.run(5), np.full(5, STAND[0]))


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(-2.0, 2.0), st.integers(1, 30)), max_size=6))
def test_what_is_commanded_never_jumps_beyond_what_was_asked(orders: list[tuple[int, float, int]]) -> None:
    commanded = CommandedRobot()
    farthest = max([abs(STAND[0]), *(abs(position) for _, position, _ in orders)])
    for pause, position, frames in orders:
        commanded.run(pause)
        before = float(commanded.positions[0])
        assert not commanded.commander.accept("me", trajectory_to(position, at_s=frames * FRAME_S))
        assert abs(commanded.run(1)[0] - before) <= abs(position - before) / frames + 1e-9
    assert (np.abs(commanded.run(40)) <= farthest + 1e-9).all()


TIMES = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(0.0, 0.2))
FINITE = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(-12.5, 12.5))


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.lists(st.tuples(TIMES, FINITE), min_size=1, max_size=4).map(sorted)),
        max_size=5,
    )
)
def test_no_finite_trajectory_ends_a_run_or_passes_a_limit(trajectories: list[tuple[int, list[Any]]]) -> None:
    commanded = CommandedRobot(slow=True)
    for frames, points in trajectories:
        times, positions = np.array(points).T
        commanded.commander.accept("me", Trajectory((0,), times, positions[:, np.newaxis]))
        before = commanded.positions[0]
        path = np.r_[before, commanded.run(frames)]
        (low, *_), (high, *_) = BIOLOID.limits
        assert ((path >= low) & (path <= high)).all()
        assert (np.abs(np.diff(path)) <= BIOLOID.max_speeds[0] * FRAME_S + 2e-6).all()


def test_the_next_trajectory_begins_where_the_robot_is_not_where_it_was_wanted() -> None:
    commanded, high = CommandedRobot(slow=True), float(BIOLOID.limits[1][0])
    commanded.commander.accept("me", trajectory_to(12.0, at_s=200 * FRAME_S))
    assert commanded.run(200)[-1] == pytest.approx(high)
    commanded.commander.accept("me", trajectory_to(high - 1.0, at_s=100 * FRAME_S))
    assert commanded.run(50)[-1] == pytest.approx(high - 0.5)
    commanded.commander.accept("me", trajectory_to(-12.0))
    commanded.run(3)
    assert not commanded.commander.stop("me")
    held = commanded.positions
    commanded.run(20)
    assert np.array_equal(commanded.positions, held)


def test_a_servo_that_says_nothing_is_taken_up_again_where_it_was() -> None:
    commanded = CommandedRobot(hold_after_s=FRAME_S, relax_after_s=2 * FRAME_S)
    commanded.commander.accept("me", trajectory_to(STAND[0]))
    commanded.run(9)
    assert commanded.free
    silent = BodyState(
        commanded.frame * FRAME_S, np.where(np.arange(N_JOINTS) == 3, np.nan, STAND), STAND * 0.0
    )
    commanded.commander.next(silent, 1)
    commanded.commander.accept("me", trajectory_to(STAND[3], 3, at_s=5 * FRAME_S))
    commanded.run(9)
    assert np.array_equal(commanded.positions, STAND)


@pytest.mark.parametrize("times", [(0.0, None), (1.0, 0.5), (float("nan"), None)])
def test_a_watchdog_whose_times_make_no_sense_is_refused(times: tuple[float, float | None]) -> None:
    with pytest.raises(InputError, match="hold after"):
        Watchdog(*times)


class OpenTransport:
    """A transport whose served robot tests reach directly; `publish` waits for `block`, if given."""

    def __init__(self, block: threading.Event | None = None) -> None:
        self.block, self.n_published, self.is_open = block, 0, False
        self.served: RobotService

    def open(self, served: RobotService) -> None:
        self.served, self.is_open = served, True

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        assert state.positions.shape == commands.angles[0].shape
        self.n_published += 1
        if self.block is not None:
            self.block.wait(TIMEOUT_S)

    def facts(self) -> Mapping[str, float]:
        return {"published": self.n_published}

    def close(self) -> None:
        self.is_open = False
        if self.block is not None:
            self.block.set()


class LocalChannel:
    """A request channel to the robot that an `OpenTransport` serves."""

    def __init__(self, transport: OpenTransport) -> None:
        self._transport = transport

    def request(self, message: bytes, timeout_s: float) -> bytes:  # noqa: ARG002 -- the answer is immediate
        return self._transport.served.answer_request(message)

    def close(self) -> None:
        pass


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end_s = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.005)


def make_host(
    body: MockBody, transports: Mapping[str, Transport], make: MakePlant | None = None, **options: Any
) -> Host:
    return Host(body, make, transports, now=time.monotonic, sleep=time.sleep, **options)


@contextmanager
def served(
    transport: OpenTransport, *, lent_itself: bool = False, **options: Any
) -> Iterator[tuple[Host, MockBody, list[MockBody]]]:
    """Serve a mock in a thread; yield the host, the mock, and those made for clients."""
    own, lent = MockBody(BIOLOID, positions=STAND), list[MockBody]()

    def make(parts: Any, _field: Any) -> MockBody:
        lent.append(MockBody(parts[0].robot, positions=parts[0].start_pose))
        return lent[-1]

    host = make_host(own, {"transport": transport}, None if lent_itself else make, **options)
    thread = threading.Thread(target=host.run)
    thread.start()
    try:
        wait_for(lambda: host.counts["frames"] > 0)
        yield host, own, lent
    finally:
        host.end()
        thread.join(TIMEOUT_S)
        assert not thread.is_alive()
    assert not transport.is_open
    assert not own.is_open


def open_plant(transport: OpenTransport) -> RemotePlant:
    return RemotePlant(
        LocalChannel(transport), [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))], client_name="Ada"
    )


def test_a_host_and_its_commander_are_controllers() -> None:
    host = make_host(MockBody(BIOLOID), {})
    assert isinstance(host, Controller)
    assert isinstance(host.commander, Controller)


def test_a_trajectory_moves_the_robot_and_observers_see_it() -> None:
    transport = OpenTransport()
    with served(transport) as (host, _, _):
        assert not transport.served.command("me", trajectory_to(STAND[0] + 0.1, at_s=5 * FRAME_S))
        wait_for(lambda: abs(transport.served.state.positions[0] - STAND[0] - 0.1) < 1e-9)
        wait_for(lambda: transport.n_published > 10)
        assert transport.served.commands.angles.shape == (1, N_JOINTS)
        assert not transport.served.stop("me")
    status = host.status()
    assert status.counts["taken"] == status.counts["stops"] == 1
    assert status.counts["transport: published"] >= 10


def test_what_is_wrong_with_the_body_is_told_the_latest_last() -> None:
    body = MockBody(BIOLOID, positions=STAND)
    host = make_host(body, {})
    state, sent = body.read(), JointCommands(STAND[np.newaxis])
    faults = [Fault(n * FRAME_S, FaultKind.SILENT, "no answer", "left_knee") for n in range(20)]
    for fault in faults:
        states = replace(body.observe(), faults=(fault,))
        host.watch(Block(BIOLOID.name, state, sent, sent, states))
    assert 1 < len(host.faults) < 20
    assert list(host.faults) == faults[-len(host.faults) :]


def test_a_transport_that_is_stuck_slows_nothing_and_what_it_misses_is_counted() -> None:
    transport = OpenTransport(threading.Event())
    with served(transport) as (host, own, _):
        wait_for(lambda: len(own.played_commands) > 60)
        assert transport.n_published == 1
        wait_for(lambda: host.status().counts["transport: missed"] > 10)


def test_the_robot_is_stopped_before_the_transports_close_and_a_stuck_one_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("posewright.network.host.CLOSE_S", 0.2)
    own = MockBody(BIOLOID, positions=STAND)
    stopped = list[bool]()

    class Slow(OpenTransport):
        def close(self) -> None:
            stopped.append(own.stops[-1:] == [TorquePolicy.RELEASE] and not own.is_open)
            stuck.wait()

    stuck = threading.Event()
    host = make_host(own, {"one": Slow(), "two": Slow()})
    host.run(0.05)
    assert stopped == [True, True]  # both are still closing
    stuck.set()


def test_a_publisher_gives_up_on_a_transport_that_never_comes_back() -> None:
    transport = OpenTransport(threading.Event())
    publisher = Publisher(transport, close_s=0.01)
    for _ in range(100):
        publisher.publish(MockBody(BIOLOID).read(), JointCommands(STAND[np.newaxis]))
    publisher.close()
    assert publisher.missed > 0
    transport.close()


def test_a_client_gets_a_robot_of_its_own_and_then_the_other_goes_on() -> None:
    transport = OpenTransport()
    with served(transport) as (host, own, lent):
        plant = open_plant(transport)
        wait_for(lambda: host.status().client == "Ada")
        stood = len(own.played_commands)
        assert "controls the robot's time" in transport.served.command("me", trajectory_to(0.5))
        states = plant.advance({BIOLOID.name: JointCommands(np.tile(STAND, (64, 1)))})
        assert len(states[BIOLOID.name]) == len(lent[0].commands) == 64
        assert len(own.played_commands) == stood
        for body in plant.bodies.values():
            body.close()
        wait_for(lambda: len(own.played_commands) > stood + 3)
        assert not transport.served.command("me", trajectory_to(0.5))
        with pytest.raises(BodyError, match="me commands this robot"):
            open_plant(transport)


def test_a_real_robot_is_lent_itself_and_goes_on_from_where_it_is() -> None:
    transport = OpenTransport()
    with served(transport, lent_itself=True) as (_, own, lent):
        plant = open_plant(transport)
        plant.bodies[BIOLOID.name].open()
        path = np.linspace(STAND, STAND + 0.05, 64)
        plant.advance({BIOLOID.name: JointCommands(path)})
        assert np.array_equal(own.positions, path[-1])
        frames = len(own.played_commands)
        for body in plant.bodies.values():
            body.stop(TorquePolicy.HOLD)
            body.close()
        wait_for(lambda: len(own.played_commands) > frames + 3)
        assert np.allclose(own.positions, path[-1])
        assert not lent
        with pytest.raises(InputError, match="this robot is not sony_ers7"):
            RemotePlant(
                LocalChannel(transport), [BodySpec("dog", robot("sony_ers7"), np.zeros(20), (0.0, 0.0, 0.0))]
            )


def test_a_client_that_vanishes_gives_the_robot_back() -> None:
    transport = OpenTransport()
    with served(transport, silent_s=0.1) as (host, own, lent):
        plant = open_plant(transport)
        plant.bodies[BIOLOID.name].open()
        wait_for(lambda: not host.status().client)
        frames = len(own.played_commands)
        wait_for(lambda: len(own.played_commands) > frames)
        assert lent[0].stops == [TorquePolicy.HOLD]
        assert host.status().counts["clients' lapsed"] == 1


def test_junk_disturbs_nobody() -> None:
    transport = OpenTransport()
    with served(transport) as (host, own, lent):
        frames = len(own.played_commands)
        for junk in (b"", b"PWA1", bytes(100)):
            assert b"FormatError" in transport.served.answer_request(junk)
        wait_for(lambda: len(own.played_commands) > frames + 2)
        assert host.status().counts["clients' refused"] == 3
        assert not lent


@pytest.mark.parametrize("policy", TorquePolicy)
def test_in_the_end_the_servos_do_what_was_asked(policy: TorquePolicy) -> None:
    with served(OpenTransport(), on_end=policy) as (_, own, _):
        pass
    assert own.stops[-1] is policy


def test_a_transport_that_cannot_listen_leaves_nothing_behind() -> None:
    class Shut(OpenTransport):
        def open(self, served: RobotService) -> None:  # noqa: ARG002 -- it fails before
            raise BodyError("somebody else listens there")

    first, own = OpenTransport(), MockBody(BIOLOID, positions=STAND)
    host = make_host(own, {"one": first, "two": Shut()})
    with pytest.raises(BodyError, match="somebody else listens"):
        host.run()
    assert not first.is_open
    assert not own.is_open
    assert not own.played_commands
