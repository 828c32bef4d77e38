"""The server's side of a plant whose time a client drives: a request in, an answer out, whatever the wire.

A client opens a session under an id of its own choice and numbers its asks 0, 1, 2, ... The last answer is
kept: an ask that comes again, since its answer was lost, gets that answer again, and nothing moves twice.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import (
    Body,
    BodyState,
    Contacts,
    GroundTruth,
    JointCommands,
    JointStates,
    Part,
    Plant,
    TorquePolicy,
)
from posewright.control import Safety, advance_at_its_time
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
from posewright.network.served import values
from posewright.network.served.asking import pack, unpack
from posewright.robots import Robot

Make = Callable[[Sequence[Part], Arena | None], Plant]

ERRORS: Mapping[str, type[PosewrightError]] = {
    kind.__name__: kind
    for kind in (BodyError, FormatError, InputError, MissingExtraError, UnavailableError, UnknownNameError)
} | {"UnsafeCommandError": UnsafeCommandError}
"""What is raised on the client's side as it was on the server's; whatever else is a `BodyError` there."""

_FAR_M = 1000.0


@dataclass(slots=True, eq=False)
class Session:
    """A client that drives a plant.

    Attributes:
        id: which nobody else knows.
        who: as it calls itself.
        heard_s: when it last asked [s].
        number: of its last ask, and the answer to that.
        last: what each robot was commanded last, `(n_joints,)` [rad].
        held: robots that were opened and not stopped since.
    """

    id: str
    who: str
    plant: Plant
    heard_s: float
    number: int = -1
    answer: bytes = b""
    last: dict[str, Floats] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)


class PlantServer:
    """Answers a client that drives a plant; one at a time. Callable from any thread.

    Args:
        make: makes the plant that a client drives, of the parts and in the arena that it wants.
        robot_of: the robot of a name, or an `UnknownNameError`.
        now: a clock that only runs forward [s].
        silent_s: a client that says nothing for so long has lost its session [s].
        safety: whether commands are made safe here, too: of a robot that can break.
        acquire: is called before a plant is made, and may raise a `BodyError` that says why there is none.
        release: is called when a session is over.
        on_frames: is told what the first robot says after frames, and what it was sent in the last of them.

    Attributes:
        counts: sessions, asks, and what was refused.
    """

    def __init__(
        self,
        make: Make,
        robot_of: Callable[[str], Robot],
        *,
        now: Callable[[], float],
        silent_s: float = 10.0,
        safety: bool = False,
        acquire: Callable[[str], None] = lambda _who: None,
        release: Callable[[], None] = lambda: None,
        on_frames: Callable[[Robot, BodyState, JointCommands], None] = lambda *_: None,
    ) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(("sessions", "asks", "refused", "lapsed"), 0))
        self._make, self._robot_of, self._now, self._silent_s = make, robot_of, now, silent_s
        self._safety, self._acquire, self._release, self._on_frames = safety, acquire, release, on_frames
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._does: Mapping[str, Callable[[Session, Node], Any]] = {
            "engage": self._engage,
            "read": self._read,
            "observe": self._observe,
            "advance": self._advance,
            "place": self._place,
            "stop": self._stop,
        }

    @property
    def client(self) -> str:
        """Who drives a plant; nothing where nobody does."""
        session = self._session
        return "" if session is None else session.who

    def handle(self, request: bytes) -> bytes:
        """Return the answer to a request; whatever is wrong with it is an answer, too."""
        self.counts["asks"] += 1
        try:
            asked = Node(unpack(request), trail="request")
            head = asked.fields(required=("ask", "session", "number"))
            name = head["ask"].choice("ask", ("open", "close", *self._does))
            session_id, number = values.read_name(head["session"]), head["number"].integer(low=0)
            with self._lock:
                return self._answer(name, session_id, number, asked)
        except PosewrightError as error:
            self.counts["refused"] += 1
            return pack(_told_error(error))

    def lapse(self) -> None:
        """End the session of a client that has been silent for too long; waits for nobody."""
        if self._lock.acquire(blocking=False):
            try:
                session = self._session
                if session is not None and self._now() - session.heard_s > self._silent_s:
                    self.counts["lapsed"] += 1
                    self._end(session)
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the session, where there is one."""
        with self._lock:
            if self._session is not None:
                self._end(self._session)

    def _answer(self, name: str, session_id: str, number: int, asked: Node) -> bytes:
        session = self._session
        if session is None or session.id != session_id:
            if name != "open" or number:
                raise BodyError(
                    "this session is over", hint=f"after {self._silent_s:g} s of silence; open another"
                )
            if session is not None:
                raise BodyError(f"{session.who} drives this robot", hint="one client at a time; ask later")
            session = self._open(session_id, asked)
        elif number == session.number:
            return session.answer  # it was lost on its way
        elif number != session.number + 1 or name == "open":
            raise InputError(f"ask {number} after ask {session.number}", hint="asks come in their order")
        session.heard_s = self._now()
        session.number = number
        session.answer = self._answer_to(name, session, asked)
        session.heard_s = self._now()
        return session.answer

    def _answer_to(self, name: str, session: Session, asked: Node) -> bytes:
        """Return the answer, which is kept, so that one that is refused is refused again."""
        try:
            if name == "open":
                told = self._described(session)
            elif name == "close":
                self._end(session)
                told = {}
            else:
                told = self._does[name](session, asked)
        except PosewrightError as error:
            self.counts["refused"] += 1
            told = _told_error(error)
        return pack({"session": session.id, "number": session.number, **told})

    def _open(self, session_id: str, asked: Node) -> Session:
        told = _entries(asked, "who", "parts", "arena")
        parts = [
            values.read_part(entry, self._robot_of) for entry in told["parts"].items()[: values.MAX_PARTS]
        ]
        names = {part.name for part in parts}
        if not names or len(names) != len(told["parts"].items()):
            told["parts"].fail("no robots, or too many, or two of one name", hint=f"1 to {values.MAX_PARTS}")
        arena = values.read_arena(told["arena"])
        who = values.read_name(told["who"])
        self._acquire(who)
        with ExitStack() as undoing:
            undoing.callback(self._release)
            plant = self._make(parts, arena)
            undoing.pop_all()
        session = self._session = Session(session_id, who, plant, self._now())
        self.counts["sessions"] += 1
        return session

    def _described(self, session: Session) -> dict[str, Any]:
        plant = session.plant
        bodies = {
            name: {"facts": to_plain(body.facts()), "supervised": plant.supervisor(name) is not None}
            for name, body in plant.bodies.items()
        }
        return {"frame_period_s": plant.frame_period_s, "is_real": plant.is_real, "bodies": bodies}

    def _engage(self, session: Session, asked: Node) -> dict[str, Any]:
        name, body = _body(session, _entries(asked, "body")["body"])
        body.open()
        observed = body.observe()
        session.last[name] = observed.positions[0]
        session.held.add(name)
        return {"observe": plain_with_arrays(observed), "read": _readings(session)}

    def _read(self, session: Session, asked: Node) -> dict[str, Any]:
        _entries(asked)
        return {"read": _readings(session)}

    def _observe(self, session: Session, asked: Node) -> dict[str, Any]:
        _, body = _body(session, _entries(asked, "body")["body"])
        return {"observe": plain_with_arrays(body.observe())}

    def _advance(self, session: Session, asked: Node) -> dict[str, Any]:
        plant, told = session.plant, _entries(asked, "commands")["commands"]
        entries = told.fields(required=tuple(plant.bodies), optional=())
        commands = {
            name: values.read_commands(entry, plant.bodies[name].robot) for name, entry in entries.items()
        }
        if len({len(one) for one in commands.values()}) > 1:
            told.fail("not the same number of rows for each robot")
        if self._safety:
            commands = {name: self._made_safe(session, name, one) for name, one in commands.items()}
        states = _advance_paced(plant, commands)
        session.held.update(commands)
        for name, one in commands.items():
            session.last[name] = one.angles[-1]
        read = {name: body.read() for name, body in plant.bodies.items()}
        first = next(iter(read))
        self._on_frames(plant.bodies[first].robot, read[first], commands[first][len(commands[first]) - 1 :])
        return {
            "states": {name: plain_with_arrays(one) for name, one in states.items()},
            "read": {name: plain_with_arrays(one) for name, one in read.items()},
        }

    @staticmethod
    def _made_safe(session: Session, name: str, commands: JointCommands) -> JointCommands:
        if name not in session.last:
            raise BodyError(f"{name} was not opened", hint="open a body before it is driven")
        robot = session.plant.bodies[name].robot
        return Safety(robot).filter(commands, session.last[name]).commands

    def _place(self, session: Session, asked: Node) -> dict[str, Any]:
        told = _entries(asked, "body", "x_m", "y_m", "yaw_rad")
        name, _ = _body(session, told["body"])
        supervisor = session.plant.supervisor(name)
        if supervisor is None:
            raise BodyError(f"nobody can put {name} anywhere", hint="only a simulated robot can be placed")
        x_m, y_m, yaw_rad = (told[one].number(low=-_FAR_M, high=_FAR_M) for one in ("x_m", "y_m", "yaw_rad"))
        supervisor.place_robot(x_m, y_m, yaw_rad)
        return {"read": _readings(session)}  # others may see it from now on

    def _stop(self, session: Session, asked: Node) -> dict[str, Any]:
        told = _entries(asked, "body", "policy")
        policies = {one.value: one for one in TorquePolicy}
        policy = policies[told["policy"].choice("torque policy", policies)]
        name, body = _body(session, told["body"])
        body.stop(policy)
        session.held.discard(name)
        return {}

    def _end(self, session: Session) -> None:
        """Let go of a session's plant; a robot that its client has not stopped holds its pose."""
        self._session = None
        bodies = session.plant.bodies
        with ExitStack() as ending:  # each is called whatever the others raise; all stop before any is closed
            ending.callback(self._release)
            for body in bodies.values():
                ending.callback(body.close)
            for name in session.held:
                ending.callback(bodies[name].stop, TorquePolicy.HOLD)


def _advance_paced(plant: Plant, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
    """Let the frames of some commands pass, one by one at their times where the plant has a real clock."""
    clock = plant.clock
    if clock is None:
        return plant.advance(commands)
    if not clock.is_real:
        return advance_at_its_time(plant, commands, clock)
    n_frames = len(next(iter(commands.values())))
    frames = [
        advance_at_its_time(plant, {name: rows[i : i + 1] for name, rows in commands.items()}, clock)
        for i in range(n_frames)
    ]
    return {name: _join_states([frame[name] for frame in frames]) for name in commands}


def _join_states(blocks: Sequence[JointStates]) -> JointStates:
    """Return the states of blocks that follow each other as those of one."""
    truths = [block.truth for block in blocks if block.truth is not None]
    return JointStates(
        times=np.concatenate([block.times for block in blocks]),
        positions=np.concatenate([block.positions for block in blocks]),
        efforts=np.concatenate([block.efforts for block in blocks]),
        truth=_join_truths(truths) if len(truths) == len(blocks) else None,
        faults=tuple(chain.from_iterable(block.faults for block in blocks)),
    )


def _join_truths(blocks: Sequence[GroundTruth]) -> GroundTruth:
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
        contacts=Contacts.joined(contacts) if len(contacts) == len(blocks) else None,
    )


def _told_error(error: PosewrightError) -> dict[str, Any]:
    kind = type(error).__name__
    return {
        "error": kind
        if kind in ERRORS
        else next((n for n, k in ERRORS.items() if isinstance(error, k)), "BodyError"),
        "message": error.message,
        "hint": error.hint,
    }


def _entries(asked: Node, *names: str) -> dict[str, Node]:
    return asked.fields(required=names, optional=("ask", "session", "number"))


def _readings(session: Session) -> dict[str, Any]:
    return {name: plain_with_arrays(body.read()) for name, body in session.plant.bodies.items()}


def _body(session: Session, node: Node) -> tuple[str, Body]:
    bodies = session.plant.bodies
    name = node.choice("robot of the plant", bodies)
    return name, bodies[name]
