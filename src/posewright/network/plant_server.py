"""The server of a plant whose time a client controls: it answers requests from any transport.

A client opens a session with an id of its choice and numbers its requests 0, 1, 2, ... The last answer is
stored: if a request is repeated because its answer was lost, it is not executed again.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import (
    Body,
    BodySpec,
    BodyState,
    Contacts,
    GroundTruth,
    JointCommands,
    JointStates,
    Plant,
    TorquePolicy,
)
from posewright.control import Safety, advance_on_clock
from posewright.documents import Node
from posewright.documents.plain import plain_with_arrays, to_plain
from posewright.errors import (
    BodyError,
    FormatError,
    InputError,
    MissingExtraError,
    PosewrightError,
    UnavailableError,
    UnknownNameError,
    UnsafeCommandError,
)
from posewright.network import wire_records
from posewright.network.wire_messages import pack, unpack
from posewright.robots import Robot

MakePlant = Callable[[Sequence[BodySpec], Arena | None], Plant]

Answer = Mapping[str, object]
"""Plain data with arrays, as `pack` encodes it."""

ERRORS: Mapping[str, type[PosewrightError]] = {
    kind.__name__: kind
    for kind in (BodyError, FormatError, InputError, MissingExtraError, UnavailableError, UnknownNameError)
} | {"UnsafeCommandError": UnsafeCommandError}
"""Errors that keep their class on their way to the client; others become a `BodyError`."""

_MAX_COORDINATE_M = 1000.0


@dataclass(slots=True, eq=False)
class Session:
    """The session of a client.

    Attributes:
        id: its secret id.
        client: the client's name for itself.
        plant: the plant that it controls.
        last_request_s: when its last request came, or was answered [s].
        number: the number of its last request.
        answer: the answer to its last request.
        last_commands: the last commands of each robot, `(n_joints,)` [rad].
        driven_names: robots that were opened or moved, and not stopped since.
    """

    id: str
    client: str
    plant: Plant
    last_request_s: float
    number: int = -1
    answer: bytes = b""
    last_commands: dict[str, Floats] = field(default_factory=dict)
    driven_names: set[str] = field(default_factory=set)


class PlantServer:
    """Answers the requests of one client at a time; callable from any thread.

    Args:
        make_plant: creates the plant of a client from the parts and the arena that it requests.
        robot_by_name: returns the robot with a name, or raises an `UnknownNameError`.
        now: returns a monotonic time [s].
        silent_s: a client without requests for this long loses its session [s].
        safety: whether commands are filtered by safety here, which protects a real robot.
        acquire: is called with the client's name before a plant is created; may raise a `BodyError`.
        release: is called when a session has ended.
        on_frames: is called after frames with the first robot, its state and the commands of the last frame.

    Attributes:
        counts: numbers of sessions, of requests (`asks`), of errors (`refused`), and of sessions that ended
            because their client was silent (`lapsed`).
    """

    def __init__(
        self,
        make_plant: MakePlant,
        robot_by_name: Callable[[str], Robot],
        *,
        now: Callable[[], float],
        silent_s: float = 10.0,
        safety: bool = False,
        acquire: Callable[[str], None] = lambda _client: None,
        release: Callable[[], None] = lambda: None,
        on_frames: Callable[[Robot, BodyState, JointCommands], None] = lambda *_: None,
    ) -> None:
        """Begin without a session; the first request of a client opens one."""
        self.counts: Counter[str] = Counter(dict.fromkeys(("sessions", "asks", "refused", "lapsed"), 0))
        self._make_plant = make_plant
        self._robot_by_name = robot_by_name
        self._now = now
        self._silent_s = silent_s
        self._filters_commands = safety
        self._acquire_robot = acquire
        self._release_robot = release
        self._on_frames = on_frames
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._actions: Mapping[str, Callable[[Session, Node], Answer]] = {
            "engage": self._open_body,
            "read": self._read,
            "observe": self._observe,
            "advance": self._advance,
            "place": self._place,
            "stop": self._stop,
        }

    @property
    def client(self) -> str:
        """The name of the client that has a session; empty without one."""
        session = self._session
        return "" if session is None else session.client

    def answer_request(self, request: bytes) -> bytes:
        """Return the answer to a request; errors are answers, too."""
        self.counts["asks"] += 1
        try:
            message = Node(unpack(request), trail="request")
            head = message.fields(required=("ask", "session", "number"))
            action = head["ask"].choice("ask", ("open", "close", *self._actions))
            session_id = wire_records.read_name(head["session"])
            number = head["number"].integer(low=0)
            with self._lock:
                return self._answer_in_order(action, session_id, number, message)
        except PosewrightError as error:
            self.counts["refused"] += 1
            return pack(_error_answer(error))

    def end_silent_session(self) -> None:
        """End the session if its client has been silent for too long; never blocks."""
        if self._lock.acquire(blocking=False):
            try:
                session = self._session
                if session is not None and self._now() - session.last_request_s > self._silent_s:
                    self.counts["lapsed"] += 1
                    self._end_session(session)
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the session, if there is one."""
        with self._lock:
            if self._session is not None:
                self._end_session(self._session)

    def _answer_in_order(self, action: str, session_id: str, number: int, message: Node) -> bytes:
        """Return the answer to a request of a session; a repeated request gets its first answer again.

        Request 0 of a new session must be `open`; the robot must be free then.

        Args:
            action: the requested action.
            session_id: the secret id of the client's session.
            number: the number of the request, from 0.
            message: the request with the arguments of the action.

        Raises:
            BodyError: the session is over, or another client drives the robot.
            InputError: the number of the request is not the next one.
        """
        session = self._session
        if session is None or session.id != session_id:
            if action != "open" or number:
                hint = f"a session ends after {self._silent_s:g} s without requests; open another"
                raise BodyError("this session is over", hint=hint)
            if session is not None:
                hint = "one client at a time; try again later"
                raise BodyError(f"{session.client} drives this robot", hint=hint)
            session = self._open_session(session_id, message)
        elif number == session.number:
            return session.answer  # the first answer was lost
        elif number != session.number + 1 or action == "open":
            error_text = f"request {number} came after request {session.number}"
            raise InputError(error_text, hint="number the requests 0, 1, 2, ...")
        session.last_request_s = self._now()
        session.number = number
        try:
            answer = self._execute(action, session, message)
        except PosewrightError as error:
            self.counts["refused"] += 1
            answer = _error_answer(error)
        session.answer = pack({"session": session.id, "number": session.number, **answer})
        session.last_request_s = self._now()
        return session.answer

    def _execute(self, action: str, session: Session, message: Node) -> Answer:
        """Execute a request of an open session and return its answer."""
        if action == "open":
            return _describe_plant(session.plant)
        if action == "close":
            self._end_session(session)
            return {}
        return self._actions[action](session, message)

    def _open_session(self, session_id: str, message: Node) -> Session:
        """Open a session: acquire the robot and make the plant from the parts and arena of the request.

        Raises:
            DocumentError: the request is invalid.
            BodyError: the robot is not available, or its plant cannot be made.
        """
        entries = _entries(message, "who", "parts", "arena")
        part_nodes = entries["parts"].items()
        parts = [
            wire_records.read_part(node, self._robot_by_name) for node in part_nodes[: wire_records.MAX_PARTS]
        ]
        names = {part.name for part in parts}
        if not names or len(names) != len(part_nodes):
            entries["parts"].fail(
                "no robots, too many, or two with the same name", hint=f"send 1 to {wire_records.MAX_PARTS}"
            )
        arena = wire_records.read_arena(entries["arena"])
        client = wire_records.read_name(entries["who"])
        self._acquire_robot(client)
        with ExitStack() as on_failure:
            on_failure.callback(self._release_robot)
            plant = self._make_plant(parts, arena)
            on_failure.pop_all()  # it succeeded, so the robot stays acquired
        if plant.clock is not None:
            plant.clock.restart()  # the time before a client came is no delay
        session = self._session = Session(session_id, client, plant, last_request_s=self._now())
        self.counts["sessions"] += 1
        return session

    def _open_body(self, session: Session, message: Node) -> Answer:
        """Open a body and return its joint states, and the readings of all bodies."""
        name, body = _find_body(session, _entries(message, "body")["body"])
        body.open()
        observed = body.observe()
        session.last_commands[name] = observed.positions[0]
        session.driven_names.add(name)
        return {"observe": plain_with_arrays(observed), "read": _readings(session)}

    def _read(self, session: Session, message: Node) -> Answer:
        _entries(message)
        return {"read": _readings(session)}

    def _observe(self, session: Session, message: Node) -> Answer:
        _, body = _find_body(session, _entries(message, "body")["body"])
        return {"observe": plain_with_arrays(body.observe())}

    def _advance(self, session: Session, message: Node) -> Answer:
        """Advance the plant by the commanded frames; return joint states and readings of all bodies.

        Commands are filtered by safety first, if the server is to protect the robot. `on_frames` gets the
        last frame of the first robot.
        """
        plant = session.plant
        node = _entries(message, "commands")["commands"]
        commands = {
            name: wire_records.read_commands(entry, plant.bodies[name].robot)
            for name, entry in node.fields(required=tuple(plant.bodies), optional=()).items()
        }
        if len({len(rows) for rows in commands.values()}) > 1:
            node.fail("the robots have different numbers of rows", hint="send one row per robot and frame")
        if self._filters_commands:
            commands = {name: _filter_commands(session, name, rows) for name, rows in commands.items()}
        states = _advance_paced(plant, commands)
        session.driven_names.update(commands)
        for name, rows in commands.items():
            session.last_commands[name] = rows.angles[-1]
        readings = {name: body.read() for name, body in plant.bodies.items()}
        first_name = next(iter(readings))
        last_row = commands[first_name][len(commands[first_name]) - 1 :]
        self._on_frames(plant.bodies[first_name].robot, readings[first_name], last_row)
        return {
            "states": {name: plain_with_arrays(rows) for name, rows in states.items()},
            "read": {name: plain_with_arrays(reading) for name, reading in readings.items()},
        }

    def _place(self, session: Session, message: Node) -> Answer:
        """Place a simulated robot on the floor; return the readings of all bodies."""
        entries = _entries(message, "body", "x_m", "y_m", "yaw_rad")
        name, _ = _find_body(session, entries["body"])
        supervisor = session.plant.supervisor(name)
        if supervisor is None:
            raise BodyError(f"{name} cannot be placed", hint="only a simulated robot can")
        keys = ("x_m", "y_m", "yaw_rad")
        bound = _MAX_COORDINATE_M
        x_m, y_m, yaw_rad = (entries[key].number(low=-bound, high=bound) for key in keys)
        supervisor.place_robot(x_m, y_m, yaw_rad)
        return {"read": _readings(session)}  # the sensors of other robots may see it now

    def _stop(self, session: Session, message: Node) -> Answer:
        """Stop a body with the torque policy of the request."""
        entries = _entries(message, "body", "policy")
        policies = {policy.value: policy for policy in TorquePolicy}
        policy = policies[entries["policy"].choice("torque policy", policies)]
        name, body = _find_body(session, entries["body"])
        body.stop(policy)
        session.driven_names.discard(name)
        return {}

    def _end_session(self, session: Session) -> None:
        """Close the plant of a session; a robot that its client has not stopped holds its pose.

        Each callback runs even if another one raises; in reverse order, so all robots stop before any closes.
        """
        self._session = None
        bodies = session.plant.bodies
        with ExitStack() as ending:
            ending.callback(self._release_robot)
            for body in bodies.values():
                ending.callback(body.close)
            for name in session.driven_names:
                ending.callback(bodies[name].stop, TorquePolicy.HOLD)


def _advance_paced(plant: Plant, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
    """Advance the plant by all frames of some commands; with a real clock, frame by frame in real time."""
    clock = plant.clock
    if clock is None:
        return plant.advance(commands)
    if not clock.is_real:
        return advance_on_clock(plant, commands, clock)
    n_frames = len(next(iter(commands.values())))
    frames = [
        advance_on_clock(plant, {name: rows[i : i + 1] for name, rows in commands.items()}, clock)
        for i in range(n_frames)
    ]
    return {name: _join_states([frame[name] for frame in frames]) for name in commands}


def _join_states(blocks: Sequence[JointStates]) -> JointStates:
    """Return the states of consecutive blocks as one block."""
    truths = [block.truth for block in blocks if block.truth is not None]
    return JointStates(
        times=np.concatenate([block.times for block in blocks]),
        positions=np.concatenate([block.positions for block in blocks]),
        efforts=np.concatenate([block.efforts for block in blocks]),
        truth=_join_ground_truths(truths) if len(truths) == len(blocks) else None,
        faults=tuple(chain.from_iterable(block.faults for block in blocks)),
    )


def _join_ground_truths(blocks: Sequence[GroundTruth]) -> GroundTruth:
    """Return the ground truth of consecutive blocks as one; a part that a block lacks is None."""
    slips = [block.slips for block in blocks if block.slips is not None]
    contacts: dict[int, Contacts] = {}
    n_frames = 0
    for block in blocks:
        if block.contacts is not None:
            contacts[n_frames] = block.contacts
        n_frames += len(block)
    return GroundTruth(
        base=np.concatenate([block.base for block in blocks]),
        footprints=np.concatenate([block.footprints for block in blocks]),
        foot_contacts=np.concatenate([block.foot_contacts for block in blocks]),
        boxes=np.concatenate([block.boxes for block in blocks]),
        box_contacts=np.concatenate([block.box_contacts for block in blocks]),
        slips=np.concatenate(slips) if len(slips) == len(blocks) else None,
        contacts=Contacts.concatenate(contacts) if len(contacts) == len(blocks) else None,
    )


def _filter_commands(session: Session, name: str, commands: JointCommands) -> JointCommands:
    """Return commands limited by the safety filter, given the previous angles of the body."""
    if name not in session.last_commands:
        raise BodyError(f"{name} was not opened", hint="open a body before you command it")
    robot = session.plant.bodies[name].robot
    return Safety(robot).filter(commands, session.last_commands[name]).commands


def _describe_plant(plant: Plant) -> Answer:
    """Return the answer to the request that opens a session: the frame period, and each body's facts."""
    bodies = {
        name: {"facts": to_plain(body.facts()), "supervised": plant.supervisor(name) is not None}
        for name, body in plant.bodies.items()
    }
    return {"frame_period_s": plant.frame_period_s, "is_real": plant.is_real, "bodies": bodies}


def _error_answer(error: PosewrightError) -> Answer:
    """Return an error with the name of its class, or of the nearest base class in `ERRORS`."""
    kind = type(error).__name__
    if kind not in ERRORS:
        kind = next(
            (name for name, error_type in ERRORS.items() if isinstance(error, error_type)), "BodyError"
        )
    return {"error": kind, "message": error.message, "hint": error.hint}


def _entries(message: Node, *names: str) -> dict[str, Node]:
    """Return the entries of a request with some names, all of which must be there, and no others."""
    return message.fields(required=names, optional=("ask", "session", "number"))


def _readings(session: Session) -> Answer:
    return {name: plain_with_arrays(body.read()) for name, body in session.plant.bodies.items()}


def _find_body(session: Session, node: Node) -> tuple[str, Body]:
    """Return the name and the body that a node names."""
    bodies = session.plant.bodies
    name = node.choice("robot of the plant", bodies)
    return name, bodies[name]
