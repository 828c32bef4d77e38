"""A plant at the other end of a wire is what it would be here; whoever is out of turn moves nothing."""

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
JOINTS = len(STAND)


class LocalChannel:
    """A wire within this process, that loses what it is told to.

    Attributes:
        asks: how many were sent.
        lost: tells of an ask, counted from 0, whether it is lost on its way, or its answer.
    """

    def __init__(self, server: PlantServer, lost: Callable[[int], str] = lambda _: "") -> None:
        self.server, self.lost, self.asks, self.is_closed = server, lost, 0, False

    def request(self, message: bytes, timeout_s: float) -> bytes:
        fate, self.asks = self.lost(self.asks), self.asks + 1
        answer = b"" if fate == "ask" else self.server.answer_request(message)
        if fate:
            raise BodyError(f"no answer within {timeout_s} s")
        return answer

    def close(self) -> None:
        self.is_closed = True


class Now:
    """A clock that somebody sets."""

    time_s = 0.0

    def __call__(self) -> float:
        return self.time_s


def world(parts: Sequence[BodySpec], field: Arena | None) -> Plant:
    made = World({part.name: part.robot for part in parts}, field, sensors=parts[0].sensors, contacts=True)
    for part in parts:
        begin: dict[str, Any] = {"start_pose": part.start_pose, "start": part.start, "seed": part.seed}
        SimulatedBody(made, part.name, **begin, domain=part.domain)
    return made


def parts_of(*names: str) -> list[BodySpec]:
    sensors = read_behaviour("obstacle_race", robot=BIOLOID).sensors
    domain = DomainParameters(friction=0.5, latency_frames=1)
    return [
        BodySpec(name, BIOLOID, STAND, (0.4 + 0.5 * k, 0.1, 0.3), sensors, 3, domain, record_contacts=True)
        for k, name in enumerate(names)
    ]


def steps() -> Script:
    """Return a script of blocks of several lengths, with joints that go free and stiff."""
    draw = np.random.default_rng(1)
    free = np.zeros(JOINTS, dtype=np.bool_)
    free[2] = True
    blocks = [STAND + 0.05 * draw.standard_normal((n, JOINTS)) for n in (1, 7, 64, 20)]
    return Script(
        [
            JointCommands(blocks[0]),
            JointCommands(blocks[1], free=free),
            JointCommands(blocks[2], stiffness=np.full(JOINTS, 9.0)),
            JointCommands(blocks[3]),
        ]
    )


def recorded(plant: Plant) -> Recording:
    """Return what happens in a plant whose robots do their steps, and are put back in between."""
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

    drive(plant, {name: steps() for name in plant.bodies}, until_s=0.75, watchers=[recorder, PutBack()])
    return recorder.recording()


@pytest.fixture
def field() -> Arena:
    return arena().with_boxes(layout("example_1"))


@pytest.mark.parametrize("names", [("red",), ("red", "blue")])
def test_what_happens_there_is_what_happens_here_to_the_last_bit(
    names: tuple[str, ...], field: Arena
) -> None:
    here = recorded(world(parts_of(*names), field))
    wire = LocalChannel(PlantServer(world, robot, now=Now()))
    there = recorded(RemotePlant(wire, parts_of(*names), field))
    assert there.digest() == here.digest()
    assert there.robot(names[0]).contacts is not None
    assert wire.is_closed
    assert wire.server.client == ""


def test_what_bodies_say_of_themselves_is_the_same(field: Arena) -> None:
    here = world(parts_of("red"), field).bodies["red"]
    there = RemotePlant(LocalChannel(PlantServer(world, robot, now=Now())), parts_of("red"), field).bodies[
        "red"
    ]
    here.open()
    there.open()
    assert RobotHeader.of(there) == RobotHeader.of(here)
    assert isinstance(there, Body)
    assert isinstance(there, Supervisor)
    one, other = here.read(), there.read()
    assert other.sensors.keys() == one.sensors.keys()
    assert all(np.array_equal(other.sensors[name], one.sensors[name]) for name in one.sensors)
    for name in ("time_s", "positions", "efforts", "velocities"):
        assert np.array_equal(getattr(other, name), getattr(one, name))
    assert_same_row(there.observe(), here.observe())


def assert_same_row(one: JointStates, other: JointStates) -> None:
    assert one.truth is not None
    assert other.truth is not None
    for name in ("base", "footprints", "foot_contacts", "boxes", "box_contacts", "slips"):
        assert np.array_equal(getattr(one.truth, name), getattr(other.truth, name), equal_nan=True)


@pytest.mark.parametrize("fate", ["ask", "answer"])
def test_a_message_that_is_lost_changes_nothing_but_its_count(fate: str, field: Arena) -> None:
    here = recorded(world(parts_of("red"), field))
    wire = LocalChannel(PlantServer(world, robot, now=Now()), lambda number: fate if number % 3 else "")
    plant = RemotePlant(wire, parts_of("red"), field)
    assert recorded(plant).digest() == here.digest()
    assert plant.latencies.lost == wire.asks - wire.asks // 3 - 1 > 4


def test_a_frame_costs_one_ask_however_many_rows_it_has() -> None:
    body = MockBody(BIOLOID)
    now = Now()
    wire = LocalChannel(PlantServer(lambda _parts, _field: body, robot, now=now))
    plant = RemotePlant(wire, [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))], now=now)
    drive(plant, {BIOLOID.name: Script([JointCommands(np.tile(STAND, (640, 1)))])}, until_s=5.0)
    assert plant.latencies.frames == len(body.commands) == 640
    assert plant.latencies.asks == 10
    assert wire.asks == 10 + 4  # open, engage, stop, close
    assert body.stops == [TorquePolicy.HOLD]
    assert not body.is_open


def test_latencies_are_told_by_the_clock() -> None:
    now, body = Now(), MockBody(BIOLOID)

    class Slow(LocalChannel):
        def request(self, message: bytes, timeout_s: float) -> bytes:
            now.time_s += 0.002 if self.asks % 2 else 0.004
            return super().request(message, timeout_s)

    wire = Slow(PlantServer(lambda _parts, _field: body, robot, now=now))
    plant = RemotePlant(wire, [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))], now=now)
    for _ in range(10):
        plant.advance({BIOLOID.name: JointCommands(STAND[np.newaxis])})
    told = plant.latencies
    assert (told.asks, told.frames, told.lost) == (10, 10, 0)
    assert 2.0 <= told.p50_ms <= told.p99_ms <= told.worst_ms == pytest.approx(4.0)
    assert "10 requests for 10 frames, 0 lost" in told.summary


@pytest.fixture
def served() -> Iterator[tuple[MockBody, PlantServer, Now]]:
    """Give a body, who serves it, and the server's clock."""
    body, now = MockBody(BIOLOID), Now()
    server = PlantServer(lambda _parts, _field: body, robot, now=now, silent_s=5.0)
    yield body, server, now
    server.close()
    assert server.client == ""


def plant_of(server: PlantServer, **how: Any) -> RemotePlant:
    return RemotePlant(LocalChannel(server), [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))], **how)


def test_a_second_client_is_told_who_drives(served: tuple[MockBody, PlantServer, Now]) -> None:
    body, server, _ = served
    first = plant_of(server, client_name="Ada")
    with pytest.raises(BodyError, match="Ada drives this robot"):
        plant_of(server, client_name="Bob")
    first.advance({BIOLOID.name: JointCommands(STAND[np.newaxis])})
    assert len(body.played) == 1
    for each in first.bodies.values():
        each.close()
    plant_of(server, client_name="Bob")
    assert server.client == "Bob"


def test_a_client_that_falls_silent_loses_a_robot_that_is_stopped(
    served: tuple[MockBody, PlantServer, Now],
) -> None:
    body, server, now = served
    plant = plant_of(server)
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
    assert not body.played


def test_asks_out_of_their_order_move_nothing(served: tuple[MockBody, PlantServer, Now]) -> None:
    body, server, _ = served
    plant_of(server)
    session = server._session
    assert session is not None
    told: dict[str, Any] = {"ask": "stop", "body": BIOLOID.name, "policy": "hold"}
    for wrong in ({"number": 5}, {"number": -1}, {"number": True}, {"number": 1, "session": "another"}):
        assert "error" in unpack(server.answer_request(pack({"session": session.id, **told, **wrong})))
    assert not body.stops
    for _ in range(3):  # the same ask again is the same answer, and is done once
        assert "error" not in unpack(
            server.answer_request(pack({"session": session.id, **told, "number": 1}))
        )
    assert body.stops == [TorquePolicy.HOLD]


def test_what_the_other_side_raises_is_raised_here(served: tuple[MockBody, PlantServer, Now]) -> None:
    _, server, _ = served
    plant = plant_of(server)
    with pytest.raises(InputError, match="not a finite angle"):
        plant.advance({BIOLOID.name: JointCommands(np.full((1, JOINTS), np.nan))})
    with pytest.raises(InputError, match="missing"):
        plant.advance({})
    with pytest.raises(InputError, match="another robot here"):
        RemotePlant(
            LocalChannel(PlantServer(world, lambda _name: robot("sony_ers7"), now=Now())),
            [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))],
        )
    states = plant.advance({BIOLOID.name: JointCommands(STAND[np.newaxis])})  # it goes on
    assert len(states[BIOLOID.name]) == 1


def twice(told: dict[str, Any]) -> None:
    told["shapes"][1]["name"] = told["shapes"][0]["name"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (twice, "repeated name"),
        (lambda told: told["shapes"][1].update(name="a\0b"), "not a name"),
        (lambda told: told["shapes"][1].update(size_m=[0.0, 0.0, 0.0]), "does not compile"),
        (lambda told: told.update(boxes=told["boxes"] * 30), "90 boxes"),
        (lambda told: told.update(shapes=1), "expected a list"),
    ],
)
def test_a_field_that_makes_no_sense_is_refused_and_the_next_client_is_let_in(
    change: Callable[[dict[str, Any]], Any], words: str, field: Arena
) -> None:
    told, part = field.to_dict(), wire_records.encode_part(parts_of("red")[0])
    change(told)
    free = [True]
    server = PlantServer(
        world, robot, now=Now(), acquire=lambda _who: free.append(False), release=lambda: free.append(True)
    )
    head = {"ask": "open", "session": "mine", "number": 0, "who": "me"}
    answer = unpack(server.answer_request(pack({**head, "parts": [part], "arena": told})))
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
    plant = plant_of(PlantServer(lambda _parts, _field: body, robot, now=Now()))
    assert plant.is_real is is_real
    assert plant.clock is None
    if is_real:
        assert plant.supervisor(BIOLOID.name) is None
        with pytest.raises(BodyError, match="robotis_bioloid cannot be placed"):
            plant.bodies[BIOLOID.name].place_robot(0.1, 0.2, 0.3)
    else:
        assert plant.supervisor(BIOLOID.name) is plant.bodies[BIOLOID.name]
        plant.bodies[BIOLOID.name].place_robot(0.1, 0.2, 0.3)
        assert [(one.x_m, one.yaw_rad) for one in body.placements] == [(0.1, 0.3)]


def test_rows_for_a_robot_with_a_clock_go_out_one_by_one_at_their_times() -> None:
    now, slept = Now(), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now.time_s += seconds

    class Bus(MockBody):
        def play(self, rows: JointCommands) -> JointStates:
            now.time_s += 0.03 if self.frames == 2 else 0.001
            return super().play(rows)

    body = Bus(BIOLOID, positions=STAND)
    body.clock = RealClock(now, sleep)
    plant = plant_of(PlantServer(lambda _parts, _field: body, robot, now=now))
    way = np.linspace(STAND, STAND + 0.05, 5)
    states = plant.advance({BIOLOID.name: JointCommands(way)})[BIOLOID.name]
    assert [len(rows) for rows in body.played] == [1] * 5
    assert slept == pytest.approx([BIOLOID.frame_period_s - 0.001] * 3)  # the third frame was late
    assert np.array_equal(states.positions, way)
    assert states.times == pytest.approx(np.arange(1, 6) * BIOLOID.frame_period_s)
    (late,) = states.faults
    assert (late.kind, late.time_s) == (FaultKind.LATE, pytest.approx(3 * BIOLOID.frame_period_s))


def test_the_time_in_which_nobody_drove_a_lent_robot_is_not_late() -> None:
    now = Now()
    body = MockBody(BIOLOID, positions=STAND)
    body.clock = clock = RealClock(now, lambda seconds: setattr(now, "time_s", now.time_s + seconds))
    server = PlantServer(lambda _parts, _field: body, robot, now=now)
    for _ in range(2):
        plant = plant_of(server)
        (remote,) = plant.bodies.values()
        remote.open()
        states = plant.advance({BIOLOID.name: JointCommands(np.repeat(STAND[np.newaxis], 3, 0))})
        assert not states[BIOLOID.name].faults
        remote.close()
        now.time_s += 60.0
    assert clock.late_frames == 0


def test_a_body_that_fails_there_fails_here_and_is_let_go() -> None:
    class Failing(MockBody):
        def play(self, rows: JointCommands) -> JointStates:  # noqa: ARG002 -- it does not even look
            raise UnsafeCommandError("too hot")

    body = Failing(BIOLOID)
    wire = LocalChannel(PlantServer(lambda _parts, _field: body, robot, now=Now()))
    plant = plant_of(wire.server)
    with pytest.raises(UnsafeCommandError, match="too hot"):
        drive(plant, {BIOLOID.name: Script([JointCommands(STAND[np.newaxis])])}, until_s=1.0)
    assert body.stops == [TorquePolicy.RELEASE]
    assert wire.server.client == ""


def test_a_wire_that_is_cut_ends_the_run_without_a_second_wait(
    served: tuple[MockBody, PlantServer, Now],
) -> None:
    _, server, _ = served
    wire = LocalChannel(server, lambda number: "ask" if number >= 4 else "")
    plant = RemotePlant(wire, [BodySpec(BIOLOID.name, BIOLOID, STAND, (0.0, 0.0, 0.0))])
    with pytest.raises(BodyError, match="no answer"):
        drive(plant, {BIOLOID.name: Script([JointCommands(np.tile(STAND, (9, 1)))])}, until_s=9.0)
    assert wire.asks == 4 + MAX_TRIES
    assert wire.is_closed
    assert plant.latencies.lost == MAX_TRIES


def test_commands_of_strangers_to_a_real_robot_are_made_safe() -> None:
    body = MockBody(BIOLOID, positions=STAND)
    server = PlantServer(lambda _parts, _field: body, robot, now=Now(), safety=True)
    plant = plant_of(server)
    far = STAND + 3.0
    with pytest.raises(BodyError, match="was not opened"):
        plant.advance({BIOLOID.name: JointCommands(far[np.newaxis])})
    plant.bodies[BIOLOID.name].open()
    plant.advance({BIOLOID.name: JointCommands(far[np.newaxis])})
    assert (np.abs(body.commands[0] - STAND) <= BIOLOID.max_speeds * BIOLOID.frame_period_s + 1e-9).all()


def test_observers_are_told_of_the_last_frame() -> None:
    told: list[tuple[Robot, BodyState, JointCommands]] = []
    body = MockBody(BIOLOID)
    server = PlantServer(
        lambda _parts, _field: body, robot, now=Now(), on_frames=lambda *frame: told.append(frame)
    )
    plant = plant_of(server)
    plant.advance({BIOLOID.name: JointCommands(np.linspace(STAND, STAND + 0.1, 5))})
    ((card, state, commands),) = told
    assert card is BIOLOID
    assert state.time_s == pytest.approx(5 * BIOLOID.frame_period_s)
    assert np.array_equal(commands.angles, [STAND + 0.1])
