"""A remote plant behaves as a local one; requests out of turn move nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from posewright.arenas import Arena, arena, layout
from posewright.bodies import (
    Body,
    BodySpec,
    BodyState,
    DomainParameters,
    FaultKind,
    JointCommands,
    JointStates,
    MockBody,
    Plant,
    RealClock,
    Supervisor,
    TorquePolicy,
)
from posewright.control import Script, drive
from posewright.controllers.behaviours import read_behaviour
from posewright.errors import BodyError, InputError, UnsafeCommandError
from posewright.network import wire_records
from posewright.network.plant_server import PlantServer
from posewright.network.remote_plant import MAX_TRIES, RemotePlant
from posewright.network.wire_messages import pack, unpack
from posewright.recordings import Header, Recorder, Recording, RobotHeader
from posewright.robots import Robot, robot
from posewright.simulation import SimulatedBody, World

BIOLOID = robot("robotis_bioloid")
STAND = BIOLOID.pose("stand")
N_JOINTS = len(STAND)


class LocalChannel:
    """A request channel within this process that loses chosen messages.

    Attributes:
        lost: returns for the number of a request, from 0, what of it is lost: `ask`, `answer` or nothing.
        n_requests: number of requests sent.
    """

    def __init__(self, server: PlantServer, lost: Callable[[int], str] = lambda _: "") -> None:
        self.server, self.lost, self.n_requests, self.is_closed = server, lost, 0, False

    def request(self, message: bytes, timeout_s: float) -> bytes:
        fate, self.n_requests = self.lost(self.n_requests), self.n_requests + 1
        answer = b"" if fate == "ask" else self.server.answer_request(message)
        if fate:
            raise BodyError(f"no answer within {timeout_s} s")
        return answer

    def close(self) -> None:
        self.is_closed = True


class FakeClock:
    """A clock that tests set."""

    time_s = 0.0

    def __call__(self) -> float:
        return self.time_s


def make_world(parts: Sequence[BodySpec], field: Arena | None) -> Plant:
    world = World({part.name: part.robot for part in parts}, field, sensors=parts[0].sensors, contacts=True)
    for part in parts:
        start: dict[str, Any] = {"start_pose": part.start_pose, "start": part.start, "seed": part.seed}
        SimulatedBody(world, part.name, **start, domain=part.domain)
    return world


def make_parts(*names: str) -> list[BodySpec]:
    sensors = read_behaviour("obstacle_race", robot=BIOLOID).sensors
    domain = DomainParameters(friction=0.5, latency_frames=1)
    return [
        BodySpec(name, BIOLOID, STAND, (0.4 + 0.5 * k, 0.1, 0.3), sensors, 3, domain, record_contacts=True)
        for k, name in enumerate(names)
    ]


def make_script() -> Script:
    """Return a script of blocks of several lengths, with joints that go free and stiff."""
    draw = np.random.default_rng(1)
    free = np.zeros(N_JOINTS, dtype=np.bool_)
    free[2] = True
    blocks = [STAND + 0.05 * draw.standard_normal((n, N_JOINTS)) for n in (1, 7, 64, 20)]
    return Script(
        [
            JointCommands(blocks[0]),
            JointCommands(blocks[1], free=free),
            JointCommands(blocks[2], stiffness=np.full(N_JOINTS, 9.0)),
            JointCommands(blocks[3]),
        ]
    )


def record_run(plant: Plant) -> Recording:
    """Return the recording of a plant whose robots play the script and are put back once meanwhile."""
    header = Header(
        {name: RobotHeader.of(body) for name, body in plant.bodies.items()}, boxes=((1.5, 0.0, 0.0),) * 3
    )
    recorder = Recorder(header, plant, every=1)

    class PutBack:
        done = False

        def watch(self, block: Any) -> bool:
            if block.states.times[-1] > 0.4 and not self.done:
                self.done = True
                supervisor = plant.supervisor(block.robot)
                assert supervisor is not None
                supervisor.place_robot(0.8, 0.2, 1.0)
            return False

    drive(plant, {name: make_script() for name in plant.bodies}, until_s=0.75, watchers=[recorder, PutBack()])
    return recorder.recording()


@pytest.fixture
def field() -> Arena:
    return arena().with_boxes(layout("example_1"))


@pytest.mark.parametrize("names", [("red",), ("red", "blue")])
def test_what_happens_there_is_what_happens_here_to_the_last_bit(
    names: tuple[str, ...], field: Arena
) -> None:
    here = record_run(make_world(make_parts(*names), field))
    channel = LocalChannel(PlantServer(make_world, robot, now=FakeClock()))
    there = record_run(RemotePlant(channel, make_parts(*names), field))
    assert there.digest() == here.digest()
    assert there.robot(names[0]).contacts is not None
    assert channel.is_closed
    assert channel.server.client == ""


def test_what_bodies_say_of_themselves_is_the_same(field: Arena) -> None:
    here = make_world(make_parts("red"), field).bodies["red"]
    there = RemotePlant(
        LocalChannel(PlantServer(make_world, robot, now=FakeClock())), make_parts("red"), field
    ).bodies["red"]
    here.open()
    there.open()
    assert RobotHeader.of(there) == RobotHeader.of(here)
    assert isinstance(there, Body)
    assert isinstance(there, Supervisor)
    local, remote = here.read(), there.read()
    assert remote.sensors.keys() == local.sensors.keys()
    assert all(np.array_equal(remote.sensors[name], local.sensors[name]) for name in local.sensors)
    for name in ("time_s", "positions", "efforts", "velocities"):
        assert np.array_equal(getattr(remote, name), getattr(local, name))
    assert_same_row(there.observe(), here.observe())


def assert_same_row(first: JointStates, second: JointStates) -> None:
    assert first.truth is not None
    assert second.truth is not None
    for name in ("base", "footprints", "foot_contacts", "boxes", "box_contacts", "slips"):
        assert np.array_equal(getattr(first.truth, name), getattr(second.truth, name), equal_nan=True)


@pytest.mark.parametrize("fate", ["ask", "answer"])
def test_a_message_that_is_lost_changes_nothing_but_its_count(fate: str, field: Arena) -> None:
    here = record_run(make_world(make_parts("red"), field))
    channel = LocalChannel(
        PlantServer(make_world, robot, now=FakeClock()), lambda number: fate if number % 3 else ""
    )
    plant = RemotePlant(channel, make_parts("red"), field)
    assert record_run(plant).digest() == here.digest()
    assert plant.latencies.lost == channel.n_requests - channel.n_requests // 3 - 1 > 4


def test_a_frame_costs_one_ask_however_many_rows_it_has() -> None:
    body = MockBody(BIOLOID)
    now = FakeClock()
    channel = LocalChannel(PlantServer(lambda _parts, _field: body, robot, now=now))
    plant = RemotePlant(channel, [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))], now=now)
    drive(plant, {BIOLOID.name: Script([JointCommands(np.tile(STAND, (640, 1)))])}, until_s=5.0)
    assert plant.latencies.frames == len(body.commands) == 640
    assert plant.latencies.asks == 10
    assert channel.n_requests == 10 + 4  # open, engage, stop, close
    assert body.stops == [TorquePolicy.HOLD]
    assert not body.is_open


def test_latencies_are_told_by_the_clock() -> None:
    now, body = FakeClock(), MockBody(BIOLOID)

    class Slow(LocalChannel):
        def request(self, message: bytes, timeout_s: float) -> bytes:
            now.time_s += 0.002 if self.n_requests % 2 else 0.004
            return super().request(message, timeout_s)

    channel = Slow(PlantServer(lambda _parts, _field: body, robot, now=now))
    plant = RemotePlant(channel, [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))], now=now)
    for _ in range(10):
        plant.advance({BIOLOID.name: JointCommands(STAND[np.newaxis])})
    latencies = plant.latencies
    assert (latencies.asks, latencies.frames, latencies.lost) == (10, 10, 0)
    assert 2.0 <= latencies.p50_ms <= latencies.p99_ms <= latencies.worst_ms == pytest.approx(4.0)
    assert "10 requests for 10 frames, 0 lost" in latencies.summary


@pytest.fixture
def served() -> Iterator[tuple[MockBody, PlantServer, FakeClock]]:
    """Yield a body, its server, and the server's clock."""
    body, now = MockBody(BIOLOID), FakeClock()
    server = PlantServer(lambda _parts, _field: body, robot, now=now, silent_s=5.0)
    yield body, server, now
    server.close()
    assert server.client == ""


def open_plant(server: PlantServer, **options: Any) -> RemotePlant:
    return RemotePlant(
        LocalChannel(server), [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))], **options
    )


def test_a_second_client_is_told_who_drives(served: tuple[MockBody, PlantServer, FakeClock]) -> None:
    body, server, _ = served
    first = open_plant(server, client_name="Ada")
    with pytest.raises(BodyError, match="Ada drives this robot"):
        open_plant(server, client_name="Bob")
    first.advance({BIOLOID.name: JointCommands(STAND[np.newaxis])})
    assert len(body.played_commands) == 1
    for each in first.bodies.values():
        each.close()
    open_plant(server, client_name="Bob")
    assert server.client == "Bob"


def test_a_client_that_falls_silent_loses_a_robot_that_is_stopped(
    served: tuple[MockBody, PlantServer, FakeClock],
) -> None:
    body, server, now = served
    plant = open_plant(server)
    plant.bodies[BIOLOID.name].open()
    now.time_s = 5.0
    server.end_silent_session()
    assert server.client
    now.time_s = 5.1
    server.end_silent_session()
    assert not server.client
    assert body.stops == [TorquePolicy.HOLD]
    assert not body.is_open
    with pytest.raises(BodyError, match="session is over"):
        plant.advance({BIOLOID.name: JointCommands(STAND[np.newaxis])})
    assert not body.played_commands


def test_asks_out_of_their_order_move_nothing(served: tuple[MockBody, PlantServer, FakeClock]) -> None:
    body, server, _ = served
    open_plant(server)
    session = server._session
    assert session is not None
    request: dict[str, Any] = {"ask": "stop", "body": BIOLOID.name, "policy": "hold"}
    for wrong in ({"number": 5}, {"number": -1}, {"number": True}, {"number": 1, "session": "another"}):
        assert "error" in unpack(server.answer_request(pack({"session": session.id, **request, **wrong})))
    assert not body.stops
    for _ in range(3):  # a repeated request gets the same answer and is done once
        assert "error" not in unpack(
            server.answer_request(pack({"session": session.id, **request, "number": 1}))
        )
    assert body.stops == [TorquePolicy.HOLD]


def test_what_the_other_side_raises_is_raised_here(served: tuple[MockBody, PlantServer, FakeClock]) -> None:
    _, server, _ = served
    plant = open_plant(server)
    with pytest.raises(InputError, match="not a finite angle"):
        plant.advance({BIOLOID.name: JointCommands(np.full((1, N_JOINTS), np.nan))})
    with pytest.raises(InputError, match="missing"):
        plant.advance({})
    with pytest.raises(InputError, match="another robot here"):
        RemotePlant(
            LocalChannel(PlantServer(make_world, lambda _name: robot("sony_ers7"), now=FakeClock())),
            [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))],
        )
    states = plant.advance({BIOLOID.name: JointCommands(STAND[np.newaxis])})  # it goes on
    assert len(states[BIOLOID.name]) == 1


def repeat_name(field: dict[str, Any]) -> None:
    field["shapes"][1]["name"] = field["shapes"][0]["name"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (repeat_name, "repeated name"),
        (lambda field: field["shapes"][1].update(name="a\0b"), "not a name"),
        (lambda field: field["shapes"][1].update(size_m=[0.0, 0.0, 0.0]), "does not compile"),
        (lambda field: field.update(boxes=field["boxes"] * 30), "90 boxes"),
        (lambda field: field.update(shapes=1), "expected a list"),
    ],
)
def test_a_field_that_makes_no_sense_is_refused_and_the_next_client_is_let_in(
    change: Callable[[dict[str, Any]], Any], words: str, field: Arena
) -> None:
    changed, part = field.to_dict(), wire_records.encode_part(make_parts("red")[0])
    change(changed)
    free = [True]
    server = PlantServer(
        make_world,
        robot,
        now=FakeClock(),
        acquire=lambda _who: free.append(False),
        release=lambda: free.append(True),
    )
    head = {"ask": "open", "session": "mine", "number": 0, "who": "me"}
    answer = unpack(server.answer_request(pack({**head, "parts": [part], "arena": changed})))
    assert answer["error"] in {"InputError", "UnknownNameError"}
    assert re.search(words, answer["message"])
    assert free[-1]
    assert not server.client


@pytest.mark.parametrize("is_real", [False, True])
def test_whether_a_robot_is_real_and_can_be_placed_is_told_by_the_other_side(is_real: bool) -> None:
    class Held(MockBody):
        def supervisor(self, name: str) -> Supervisor | None:
            return None if is_real else super().supervisor(name)

    body = Held(BIOLOID)
    body.is_real = is_real
    plant = open_plant(PlantServer(lambda _parts, _field: body, robot, now=FakeClock()))
    assert plant.is_real is is_real
    assert plant.clock is None
    if is_real:
        assert plant.supervisor(BIOLOID.name) is None
        with pytest.raises(BodyError, match="robotis_bioloid cannot be placed"):
            plant.bodies[BIOLOID.name].place_robot(0.1, 0.2, 0.3)
    else:
        assert plant.supervisor(BIOLOID.name) is plant.bodies[BIOLOID.name]
        plant.bodies[BIOLOID.name].place_robot(0.1, 0.2, 0.3)
        assert [(placement.x_m, placement.yaw_rad) for placement in body.placements] == [(0.1, 0.3)]


def test_rows_for_a_robot_with_a_clock_go_out_one_by_one_at_their_times() -> None:
    now, slept = FakeClock(), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now.time_s += seconds

    class Bus(MockBody):
        def play(self, rows: JointCommands) -> JointStates:
            now.time_s += 0.03 if self.n_frames_played == 2 else 0.001
            return super().play(rows)

    body = Bus(BIOLOID, positions=STAND)
    body.clock = RealClock(now, sleep)
    plant = open_plant(PlantServer(lambda _parts, _field: body, robot, now=now))
    path = np.linspace(STAND, STAND + 0.05, 5)
    states = plant.advance({BIOLOID.name: JointCommands(path)})[BIOLOID.name]
    assert [len(rows) for rows in body.played_commands] == [1] * 5
    assert slept == pytest.approx([BIOLOID.frame_period_s - 0.001] * 3)  # the third frame was late
    assert np.array_equal(states.positions, path)
    assert states.times == pytest.approx(np.arange(1, 6) * BIOLOID.frame_period_s)
    (late,) = states.faults
    assert (late.kind, late.time_s) == (FaultKind.LATE, pytest.approx(3 * BIOLOID.frame_period_s))


def test_the_time_in_which_nobody_drove_a_lent_robot_is_not_late() -> None:
    now = FakeClock()
    body = MockBody(BIOLOID, positions=STAND)
    body.clock = clock = RealClock(now, lambda seconds: setattr(now, "time_s", now.time_s + seconds))
    server = PlantServer(lambda _parts, _field: body, robot, now=now)
    for _ in range(2):
        plant = open_plant(server)
        (remote,) = plant.bodies.values()
        remote.open()
        states = plant.advance({BIOLOID.name: JointCommands(np.repeat(STAND[np.newaxis], 3, 0))})
        assert not states[BIOLOID.name].faults
        remote.close()
        now.time_s += 60.0
    assert clock.late_frames == 0


def test_a_body_that_fails_there_fails_here_and_is_let_go() -> None:
    class Failing(MockBody):
        def play(self, rows: JointCommands) -> JointStates:  # noqa: ARG002 -- it fails in any case
            raise UnsafeCommandError("too hot")

    body = Failing(BIOLOID)
    channel = LocalChannel(PlantServer(lambda _parts, _field: body, robot, now=FakeClock()))
    plant = open_plant(channel.server)
    with pytest.raises(UnsafeCommandError, match="too hot"):
        drive(plant, {BIOLOID.name: Script([JointCommands(STAND[np.newaxis])])}, until_s=1.0)
    assert body.stops == [TorquePolicy.RELEASE]
    assert channel.server.client == ""


def test_a_wire_that_is_cut_ends_the_run_without_a_second_wait(
    served: tuple[MockBody, PlantServer, FakeClock],
) -> None:
    _, server, _ = served
    channel = LocalChannel(server, lambda number: "ask" if number >= 4 else "")
    plant = RemotePlant(channel, [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))])
    with pytest.raises(BodyError, match="no answer"):
        drive(plant, {BIOLOID.name: Script([JointCommands(np.tile(STAND, (9, 1)))])}, until_s=9.0)
    assert channel.n_requests == 4 + MAX_TRIES
    assert channel.is_closed
    assert plant.latencies.lost == MAX_TRIES


def test_commands_of_strangers_to_a_real_robot_are_made_safe() -> None:
    body = MockBody(BIOLOID, positions=STAND)
    server = PlantServer(lambda _parts, _field: body, robot, now=FakeClock(), safety=True)
    plant = open_plant(server)
    far = STAND + 3.0
    with pytest.raises(BodyError, match="was not opened"):
        plant.advance({BIOLOID.name: JointCommands(far[np.newaxis])})
    plant.bodies[BIOLOID.name].open()
    plant.advance({BIOLOID.name: JointCommands(far[np.newaxis])})
    assert (np.abs(body.commands[0] - STAND) <= BIOLOID.max_speeds * BIOLOID.frame_period_s + 1e-9).all()


def test_observers_are_told_of_the_last_frame() -> None:
    observed: list[tuple[Robot, BodyState, JointCommands]] = []
    body = MockBody(BIOLOID)
    server = PlantServer(
        lambda _parts, _field: body, robot, now=FakeClock(), on_frames=lambda *frame: observed.append(frame)
    )
    plant = open_plant(server)
    plant.advance({BIOLOID.name: JointCommands(np.linspace(STAND, STAND + 0.1, 5))})
    ((card, state, commands),) = observed
    assert card is BIOLOID
    assert state.time_s == pytest.approx(5 * BIOLOID.frame_period_s)
    assert np.array_equal(commands.angles, [STAND + 0.1])
