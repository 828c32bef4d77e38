"""The client of a plant server: a plant, its bodies and their supervisors across a network."""

from __future__ import annotations

import os
import platform
import secrets
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from posewright.arenas import Arena
from posewright.bodies import (
    BodySpec,
    BodyState,
    GroundTruth,
    JointCommands,
    JointStates,
    Supervisor,
    TorquePolicy,
)
from posewright.documents import Node
from posewright.documents.plain import PlainMapping
from posewright.errors import BodyError, FormatError, PosewrightError
from posewright.network import wire_records
from posewright.network.plant_server import ERRORS
from posewright.network.transport import RequestChannel
from posewright.network.wire_messages import pack, unpack
from posewright.robots import Robot

MAX_TRIES = 3
"""How often a request is sent if no answer comes; the server executes it once only."""

OPEN_TIMEOUT_FACTOR = 10.0
"""To create a plant takes so much longer than other requests: a simulation has to be compiled."""

MAX_CLIENT_NAME = 100
"""Longest name of a client [characters]."""


def open_remote_plant(channel: RequestChannel, parts: Sequence[BodySpec], arena: Arena | None) -> RemotePlant:
    """Return the plant at the other end of a channel; the client is named after this process and computer.

    Raises:
        BodyError: no server answers, or another client drives that robot.
        InputError: the server rejects the parts.
    """
    client = f"process {os.getpid()} on {platform.node() or 'some machine'}"
    return RemotePlant(channel, parts, arena, client_name=client[:MAX_CLIENT_NAME], now=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Latencies:
    """Round trip times of the requests that advance time.

    Attributes:
        frames: number of frames.
        asks: number of requests.
        lost: number of requests of any kind that had no answer.
        p50_ms: median of the round trip times [ms].
        p99_ms: 99th percentile [ms].
        worst_ms: the longest [ms].
    """

    frames: int
    asks: int
    lost: int
    p50_ms: float
    p99_ms: float
    worst_ms: float

    @property
    def summary(self) -> str:
        """The times and counts in one line."""
        counts = f"{self.asks} requests for {self.frames} frames, {self.lost} lost"
        median = f"half of the answers within {self.p50_ms:.2f} ms"
        return f"{counts}: {median}, 99 % within {self.p99_ms:.2f} ms, all within {self.worst_ms:.1f} ms"


class ClientSession:
    """A session on a plant server; it sends one request after the other.

    Args:
        channel: the connection to the server; closed with the session.
        timeout_s: longest wait for an answer [s].

    Attributes:
        id: the secret id of the session.
        n_unanswered: how often a request had no answer in time.
        is_open: whether requests can be sent.
    """

    def __init__(self, channel: RequestChannel, timeout_s: float) -> None:
        self._channel = channel
        self._timeout_s = timeout_s
        self.id = secrets.token_hex(8)
        self.n_unanswered = 0
        self._next_number = 0
        self.is_open = True

    def request(
        self, action: str, details: Mapping[str, object] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Node]:
        """Send a request; return the entries of its answer.

        Args:
            action: the requested action, such as `advance`.
            details: its arguments.
            timeout_s: longest wait for the answer; by default that of the session [s].

        Raises:
            BodyError: no answer came, or the session is over.
            PosewrightError: the error that the server raised.
        """
        if not self.is_open:
            raise BodyError("the session with this robot is over", hint="create a new plant")
        head = {"ask": action, "session": self.id, "number": self._next_number}
        message = self._exchange(pack({**head, **(details or {})}), timeout_s or self._timeout_s)
        entries = Node(unpack(message), trail="answer").fields()
        is_own_session = "session" in entries and entries["session"].value == self.id
        if is_own_session and _entry(entries, "number").value == self._next_number:
            self._next_number += 1
        elif "error" not in entries:  # an error may come before the server knows the session
            raise BodyError("the answer belongs to another request")
        if "error" in entries:
            kind = ERRORS.get(entries["error"].text(), BodyError)
            hint = _entry(entries, "hint").value
            raise kind(_entry(entries, "message").text(), hint=hint if isinstance(hint, str) else None)
        return entries

    def _exchange(self, message: bytes, timeout_s: float) -> bytes:
        """Send a message and return the answer; if none comes, send it again, up to MAX_TRIES times.

        The server executes a repeated request once only. After the last try the session ends and the channel
        is closed.

        Raises:
            BodyError: no answer came.
        """
        for tries_left in range(MAX_TRIES, 0, -1):
            try:
                return self._channel.request(message, timeout_s)
            except BodyError:
                self.n_unanswered += 1
                if tries_left == 1:
                    self.is_open = False
                    self._channel.close()
                    raise
        raise BodyError("no answer")

    def close(self) -> None:
        """End the session and close the channel; never raises."""
        if self.is_open:
            with suppress(PosewrightError):
                self.request("close")
            if self.is_open:
                self._channel.close()
            self.is_open = False


class RemotePlant:
    """A plant on a server, with the same results to the last bit as a local one.

    The server creates it from the same parts. Each call of `advance` is one round trip for any number of
    frames; the answer includes the new states of all bodies. It has no clock: the server paces a real robot.

    Args:
        channel: the connection to the server; closed with the last body.
        parts: the robots; the server must have the same cards.
        arena: the arena; None for a bare floor, or for the floor of a real robot.
        client_name: the name of this client.
        timeout_s: longest wait for an answer; ten times as long for the plant to be created [s].
        now: returns a monotonic time for `latencies` [s].

    Attributes:
        frame_period_s: the time between two commands [s].
        is_real: whether the server moves a real robot.
        clock: None.
        session: the session on the server.

    Raises:
        BodyError: no server answers, or another client drives that robot.
        InputError: the server rejects the parts.
    """

    clock = None

    def __init__(
        self,
        channel: RequestChannel,
        parts: Sequence[BodySpec],
        arena: Arena | None = None,
        *,
        client_name: str = "a client",
        timeout_s: float = 3.0,
        now: Callable[[], float] | None = None,
    ) -> None:
        """Open a session, and make a body of each robot that the server describes in its answer."""
        self.session = session = ClientSession(channel, timeout_s)
        self._now = now or (lambda: 0.0)
        self._round_trips_s: list[float] = []
        self._n_frames = 0
        weakref.finalize(self, session.close)  # in case no body is ever opened
        robots = {part.name: part.robot for part in parts}
        details = {
            "who": client_name,
            "parts": [wire_records.encode_part(part) for part in parts],
            "arena": None if arena is None else arena.to_dict(),
        }
        try:
            answer = session.request("open", details, timeout_s=OPEN_TIMEOUT_FACTOR * timeout_s)
            self.frame_period_s = _entry(answer, "frame_period_s").number(low=1e-4, high=10.0)
            self.is_real = _entry(answer, "is_real").boolean()
            self._bodies: dict[str, RemoteBody] = {}
            self._supervised: set[str] = set()
            for name, description in _entries_by_name(answer, "bodies", robots).items():
                entries = description.fields(required=("facts", "supervised"), optional=())
                entries["facts"].fields()  # raises if they are no mapping
                self._bodies[name] = RemoteBody(self, name, robot=robots[name], facts=entries["facts"].value)
                if entries["supervised"].boolean():
                    self._supervised.add(name)
        except PosewrightError:
            session.close()
            raise

    def __repr__(self) -> str:
        return f"<RemotePlant with {', '.join(self._bodies)}>"

    @property
    def bodies(self) -> Mapping[str, RemoteBody]:
        """The robots in it."""
        return self._bodies

    def supervisor(self, name: str) -> Supervisor | None:
        """Return the body of that name if the server can place it, else None."""
        return self._bodies[name] if name in self._supervised else None

    @property
    def latencies(self) -> Latencies:
        """The round trip times so far; 0 without a `now`."""
        times_ms = np.array(self._round_trips_s or [0.0]) * 1000.0
        p50, p99, worst = (float(percentile) for percentile in np.percentile(times_ms, (50.0, 99.0, 100.0)))
        return Latencies(
            self._n_frames,
            len(self._round_trips_s),
            self.session.n_unanswered,
            p50_ms=p50,
            p99_ms=p99,
            worst_ms=worst,
        )

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Advance by one frame per row of the commands; return the states of the joints in these frames."""
        encoded = {name: wire_records.encode_commands(rows) for name, rows in commands.items()}
        request_s = self._now()
        answer = self.session.request("advance", {"commands": encoded})
        self._round_trips_s.append(self._now() - request_s)
        states = {
            name: wire_records.read_states(entry, len(self._bodies[name].robot.joint_names))
            for name, entry in _entries_by_name(answer, "states", self._bodies).items()
        }
        self._n_frames += len(next(iter(states.values())))
        for name, rows in states.items():
            self._bodies[name].update_row(rows)
        self.update_states(answer)
        return states

    def update_states(self, answer: Mapping[str, Node]) -> None:
        """Store the states of all bodies in an answer."""
        for name, entry in _entries_by_name(answer, "read", self._bodies).items():
            self._bodies[name].update_state(entry)

    def close_if_unused(self) -> None:
        """End the session once all bodies are closed."""
        if not any(body.is_open for body in self._bodies.values()):
            self.session.close()


class RemoteBody:
    """One robot of a remote plant: a `bodies.Body`, and its `Supervisor` if the server has one.

    `read` returns the state in the latest answer. After the session has ended, `observe` returns the last
    frame.
    """

    def __init__(self, plant: RemotePlant, name: str, robot: Robot, facts: PlainMapping) -> None:
        """Store the arguments; `facts` is the server's description of the body."""
        self._plant = plant
        self._session = plant.session
        self._name = name
        self._robot = robot
        self._facts = facts
        self._n_joints = len(robot.joint_names)
        self._state: BodyState | None = None  # in the latest answer
        self._latest_row: JointStates | None = None  # the states of the last frame
        self._is_row_current = False  # whether no frame or placement came after it
        self.is_open = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._name}>"

    @property
    def robot(self) -> Robot:
        """The robot's card."""
        return self._robot

    @property
    def time_s(self) -> float:
        """The body's own time [s]."""
        return self.read().time_s

    def open(self) -> None:
        """Open the body on the server, and store its state and those of the other bodies."""
        if self.is_open:
            return
        answer = self._session.request("engage", {"body": self._name})
        self._latest_row = wire_records.read_states(_entry(answer, "observe"), self._n_joints)
        self._plant.update_states(answer)
        self._is_row_current = True
        self.is_open = True

    def read(self) -> BodyState:
        """Return its state after the latest frame."""
        if self._state is None:
            self._plant.update_states(self._session.request("read"))
        if self._state is None:
            raise BodyError(f"the answer has no state of {self._name}")
        return self._state

    def observe(self) -> JointStates:
        """Return one row: the present states of the joints, and the ground truth if the server has it."""
        if self._latest_row is None or (not self._is_row_current and self._session.is_open):
            answer = self._session.request("observe", {"body": self._name})
            self._latest_row = wire_records.read_states(_entry(answer, "observe"), self._n_joints)
            self._is_row_current = True
        return self._latest_row

    def facts(self) -> PlainMapping:
        """Return the server's description of the body."""
        return self._facts

    def stop(self, policy: TorquePolicy) -> None:
        """Stop moving; if no server answers, it stops the robot itself once the session has timed out."""
        with suppress(PosewrightError):
            self._session.request("stop", {"body": self._name, "policy": policy.value})

    def close(self) -> None:
        """Close the body; the session ends with the last one."""
        self.is_open = False
        self._plant.close_if_unused()

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Place the robot upright on its feet; raise BodyError if the server cannot."""
        details = {"body": self._name, "x_m": x_m, "y_m": y_m, "yaw_rad": yaw_rad}
        self._plant.update_states(self._session.request("place", details))

    def update_row(self, states: JointStates) -> None:
        """Store the last frame of some states, for `observe`; slips and contacts are left out."""
        truth = states.truth
        if truth is not None:
            truth = GroundTruth(
                base=truth.base[-1:],
                footprints=truth.footprints[-1:],
                foot_contacts=truth.foot_contacts[-1:],
                boxes=truth.boxes[-1:],
                box_contacts=truth.box_contacts[-1:],
            )
        self._latest_row = JointStates(
            states.times[-1:], positions=states.positions[-1:], efforts=states.efforts[-1:], truth=truth
        )
        self._is_row_current = False

    def update_state(self, entry: Node) -> None:
        """Store the state in an answer."""
        self._state = wire_records.read_state(entry, self._n_joints)
        self._is_row_current = False


def _entries_by_name(answer: Mapping[str, Node], key: str, names: Iterable[str]) -> dict[str, Node]:
    """Return the sub-entries of an answer's entry, which must have exactly the given names."""
    return _entry(answer, key).fields(required=tuple(names), optional=())


def _entry(answer: Mapping[str, Node], key: str) -> Node:
    if key not in answer:
        raise FormatError(f"the answer has no entry {key}")
    return answer[key]
