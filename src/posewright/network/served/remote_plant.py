"""The client's side: a plant, its bodies and their supervisors at the other end of a wire."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posewright.arenas import Arena
from posewright.bodies import BodyState, JointCommands, JointStates, Part, Supervisor, TorquePolicy
from posewright.documents import Node
from posewright.errors import BodyError, FormatError, PosewrightError
from posewright.network.served import values
from posewright.network.served.asking import pack, unpack
from posewright.network.served.door import Wire
from posewright.network.served.plant_server import ERRORS
from posewright.robots import Robot

TRIES = 3
"""So often an ask is sent when no answer comes: the other side moves once all the same."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long the other side took to answer what lets time pass, from the ask to the answer.

    Attributes:
        frames: how many frames passed.
        asks: by how many asks.
        lost: asks that came to nothing, and were sent again.
        p50_ms: half of the answers came within [ms].
        p99_ms: ninety-nine of a hundred [ms].
        worst_ms: the last of them [ms].
    """

    frames: int
    asks: int
    lost: int
    p50_ms: float
    p99_ms: float
    worst_ms: float

    @property
    def summary(self) -> str:
        """All of it in a line."""
        within = f"half of the answers within {self.p50_ms:.2f} ms, 99 % within {self.p99_ms:.2f} ms"
        asked = f"{self.asks} asks for {self.frames} frames, {self.lost} lost"
        return f"{asked}: {within}, all within {self.worst_ms:.1f} ms"


class Line:
    """The asks of one session, one after the other.

    Args:
        now: a clock that only runs forward [s], where latencies are wanted.
    """

    def __init__(self, wire: Wire, timeout_s: float, now: Callable[[], float] | None) -> None:
        self._wire, self._timeout_s = wire, timeout_s
        self.now = now or (lambda: 0.0)
        self.session = secrets.token_hex(8)
        self.lost = 0
        self._number = 0
        self.is_open = True

    def ask(self, name: str, timeout_s: float | None = None, /, **told: Any) -> dict[str, Node]:
        """Return what is in the answer.

        Raises:
            BodyError: no answer came, or the line was let go.
            PosewrightError: whatever the other side raised.
        """
        if not self.is_open:
            raise BodyError("this robot was let go", hint="make the plant anew")
        head = {"ask": name, "session": self.session, "number": self._number}
        answer = Node(
            unpack(self._sent(pack({**head, **told}), timeout_s or self._timeout_s)), trail="answer"
        )
        entries = answer.fields()
        is_of_this = "session" in entries and entries["session"].value == self.session
        if is_of_this and _entry(entries, "number").value == self._number:
            self._number += 1
        elif "error" not in entries:
            raise BodyError("an answer to another ask")
        if "error" in entries:
            kind = ERRORS.get(entries["error"].text(), BodyError)
            hint = _entry(entries, "hint").value
            raise kind(_entry(entries, "message").text(), hint=hint if isinstance(hint, str) else None)
        return entries

    def _sent(self, request: bytes, timeout_s: float) -> bytes:
        for left in range(TRIES, 0, -1):
            try:
                return self._wire.ask(request, timeout_s)
            except BodyError:
                self.lost += 1
                if left == 1:
                    self.is_open = False
                    self._wire.close()
                    raise
        raise BodyError("no answer")

    def close(self) -> None:
        """End the session, and let go of the wire; never raises."""
        if self.is_open:
            with suppress(PosewrightError):
                self.ask("close")
            if self.is_open:
                self._wire.close()
            self.is_open = False


class RemotePlant:
    """A plant at the other end of a wire: to the last bit what it would be here.

    The other side makes it of the same parts. Each call of `advance` is one round trip, however many frames
    pass, and brings along what the bodies say next. It has no clock: the other side paces what is real.

    Args:
        wire: which is let go with the last body.
        parts: the robots, cards that the other side has, too.
        arena: the field; None for a bare floor, or for whatever is under a real robot.
        who: what this client calls itself.
        timeout_s: how long an answer may take, and a plant in making ten times as long [s].
        now: a clock that only runs forward [s], for `latencies`.

    Attributes:
        frame_period_s: the time between two commands [s].
        is_real: whether a robot that can break moves on the other side.
        clock: None.

    Raises:
        BodyError: nobody answers, or somebody else drives that robot.
        InputError: the other side does not take the parts.
    """

    clock = None

    def __init__(
        self,
        wire: Wire,
        parts: Sequence[Part],
        arena: Arena | None = None,
        *,
        who: str = "a client",
        timeout_s: float = 3.0,
        now: Callable[[], float] | None = None,
    ) -> None:
        self._line = line = Line(wire, timeout_s, now)
        self._asks_s: list[float] = []
        self._frames = 0
        weakref.finalize(self, line.close)  # of a run that ended before it began
        robots = {part.name: part.robot for part in parts}
        told: dict[str, Any] = {"who": who, "parts": [values.tell_part(part) for part in parts]}
        told["arena"] = None if arena is None else arena.to_dict()
        try:
            answer = line.ask("open", 10.0 * timeout_s, **told)
            self.frame_period_s = _entry(answer, "frame_period_s").number(low=1e-4, high=10.0)
            self.is_real = _entry(answer, "is_real").boolean()
            self._bodies: dict[str, RemoteBody] = {}
            self._supervised: set[str] = set()
            for name, entry in _by_name(answer, "bodies", robots).items():
                description = entry.fields(required=("facts", "supervised"), optional=())
                description["facts"].fields()
                self._bodies[name] = RemoteBody(self, name, robots[name], description["facts"].value)
                if description["supervised"].boolean():
                    self._supervised.add(name)
        except PosewrightError:
            line.close()
            raise

    def __repr__(self) -> str:
        return f"<RemotePlant with {', '.join(self._bodies)}>"

    @property
    def bodies(self) -> Mapping[str, RemoteBody]:
        """The robots in it."""
        return self._bodies

    def supervisor(self, name: str) -> Supervisor | None:
        """Return the body of that name where somebody on the other side can put it somewhere."""
        return self._bodies[name] if name in self._supervised else None

    @property
    def latencies(self) -> Latencies:
        """How long the asks took, where a clock was handed in."""
        times = np.array(self._asks_s or [0.0]) * 1000.0
        p50, p99, worst = (float(one) for one in np.percentile(times, (50.0, 99.0, 100.0)))
        return Latencies(self._frames, len(self._asks_s), self._line.lost, p50, p99, worst)

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Let as many frames pass as there are rows for every body, and return what the joints did."""
        told = {name: values.tell_commands(one) for name, one in commands.items()}
        began_s = self._line.now()
        answer = self._line.ask("advance", commands=told)
        self._asks_s.append(self._line.now() - began_s)
        seen = {
            name: values.read_states(entry, len(self._bodies[name].robot.joint_names))
            for name, entry in _by_name(answer, "states", self._bodies).items()
        }
        self._frames += len(next(iter(seen.values())))
        for name, one in seen.items():
            self._bodies[name].seen(one)
        self.take_readings(answer)
        return seen

    def ask(self, name: str, **told: Any) -> dict[str, Node]:
        """Ask the other side; for the bodies."""
        return self._line.ask(name, **told)

    def take_readings(self, answer: Mapping[str, Node]) -> None:
        """Keep what the bodies say."""
        for name, entry in _by_name(answer, "read", self._bodies).items():
            self._bodies[name].said(entry)

    def let_go(self) -> None:
        """End the session once all bodies are closed."""
        if not any(body.is_open for body in self._bodies.values()):
            self._line.close()

    @property
    def is_open(self) -> bool:
        """Whether the other side may still be asked."""
        return self._line.is_open


class RemoteBody:
    """One robot of a remote plant: a `bodies.Body`, and its `Supervisor` where the other side has one.

    `read` returns what came along with the latest answer; once it is closed, `observe` the last frame.
    """

    def __init__(self, plant: RemotePlant, name: str, robot: Robot, facts: Mapping[str, Any]) -> None:
        self._plant, self._name, self._robot, self._facts = plant, name, robot, facts
        self._n_joints = len(robot.joint_names)
        self._state: BodyState | None = None
        self._row: JointStates | None = None
        self._is_current = False
        self.is_open = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._name}>"

    @property
    def robot(self) -> Robot:
        """The robot this is a body of."""
        return self._robot

    @property
    def time_s(self) -> float:
        """The body's own time [s]."""
        return self.read().time_s

    def open(self) -> None:
        """Take hold of the robot."""
        if self.is_open:
            return
        answer = self._plant.ask("engage", body=self._name)
        self._row = values.read_states(_entry(answer, "observe"), self._n_joints)
        self._plant.take_readings(answer)
        self._is_current = self.is_open = True

    def read(self) -> BodyState:
        """Return what it said last, after the latest frame."""
        if self._state is None:
            self._plant.take_readings(self._plant.ask("read"))
        if self._state is None:
            raise BodyError(f"{self._name} says nothing")
        return self._state

    def observe(self) -> JointStates:
        """Return one row: what the joints do now, and the truth where the other side knows it."""
        if self._row is None or (not self._is_current and self._plant.is_open):
            answer = self._plant.ask("observe", body=self._name)
            self._row = values.read_states(_entry(answer, "observe"), self._n_joints)
            self._is_current = True
        return self._row

    def facts(self) -> Mapping[str, Any]:
        """Return what the other side knows of it."""
        return self._facts

    def stop(self, policy: TorquePolicy) -> None:
        """Stop moving; where nobody answers, the other side does so itself after a while."""
        with suppress(PosewrightError):
            self._plant.ask("stop", body=self._name, policy=policy.value)

    def close(self) -> None:
        """Let go of the robot."""
        self.is_open = False
        self._plant.let_go()

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Put the robot upright on its feet there (BodyError: nobody on the other side can)."""
        answer = self._plant.ask("place", body=self._name, x_m=x_m, y_m=y_m, yaw_rad=yaw_rad)
        self._plant.take_readings(answer)

    def seen(self, states: JointStates) -> None:
        """Keep the last of the frames that passed."""
        truth = states.truth
        if truth is not None:
            last = {name: getattr(truth, name)[-1:] for name in _ROWS}
            truth = replace(truth, **last, slips=None, contacts=None)
        self._row = JointStates(states.times[-1:], states.positions[-1:], states.efforts[-1:], truth)
        self._is_current = False

    def said(self, entry: Node) -> None:
        """Keep what it says."""
        self._state = values.read_state(entry, self._n_joints)
        self._is_current = False


_ROWS = ("base", "footprints", "foot_contacts", "boxes", "box_contacts")


def _by_name(answer: Mapping[str, Node], what: str, names: Iterable[str]) -> dict[str, Node]:
    """Return what stands under each of the names, and under no other."""
    return _entry(answer, what).fields(required=tuple(names), optional=())


def _entry(answer: Mapping[str, Node], name: str) -> Node:
    if name not in answer:
        raise FormatError(f"an answer without {name}")
    return answer[name]
