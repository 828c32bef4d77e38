"""Serves a robot: drives it in real time for a commander, or lends it to a client that drives its time."""

from __future__ import annotations

import math
import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posewright.bodies import BodyState, Fault, FaultKind, JointCommands, Plant, TorquePolicy
from posewright.control import Block, Controller, RealClock, Watcher, drive
from posewright.control.loop import sigterm_raises
from posewright.errors import BodyError, InputError
from posewright.network.served.commander import Commander, Watchdog
from posewright.network.served.door import Door, Trajectory
from posewright.network.served.plant_server import Make, PlantServer
from posewright.robots import Robot, SensorSpec, robot_names
from posewright.robots import robot as shipped_robot

WAITING = 16
"""So many frames wait for a door; what comes besides is missed by its observers, and counted."""

PATIENCE_S = 0.5
"""How long a door may still take over a frame when all is over [s]."""

GOODBYE_S = 3.0
"""How long all doors together may take to close when the robot has stopped [s]."""

LOOK_S = 0.05
"""How often it is looked whether a client has gone [s]."""

HAND_OVER_S = 5.0
"""How long a client waits for the robot at most while another frame is being finished [s]."""

LATEST_FAULTS = 8
"""So many faults of the body are remembered, to be told to its observers."""


class _Mode(Enum):
    OWN = "own"
    ASKED_FOR = "asked for"
    LENT = "lent"


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands with a robot that is served.

    Attributes:
        time_s: the robot's own time [s].
        commander: who commands; nothing where nobody does.
        client: who drives the robot's time; nothing where nobody does.
        rate_hz: how many frames passed a second of the host's clock since it was asked last [Hz].
        counts: frames, late ones, and whatever was taken, refused or missed, by door where it is one's.
    """

    time_s: float
    commander: str
    client: str
    rate_hz: float
    counts: Mapping[str, float]


class Host(Controller):
    """A robot that is served; a `door.Served`, whose `run` drives it in real time until somebody ends it.

    Args:
        plant: of the one robot.
        make: makes the plant that a client drives, of its parts and in its arena; None to lend it this one.
        doors: by which others come in, by name.
        sensors: of the robot; default its card's.
        watchdog: what happens when the commander falls silent.
        now: a clock that only runs forward [s].
        sleep: waits for so long [s].
        watchers: see every frame that is not a client's.
        on_end: what the servos do in the end.
        silent_s: a client that asks nothing for so long is let go [s].
        on_look: is called after every frame, and while a client has the robot some twenty times a second.

    Raises:
        InputError: the plant has not one robot.
    """

    def __init__(
        self,
        plant: Plant,
        make: Make | None,
        doors: Mapping[str, Door],
        *,
        sensors: Sequence[SensorSpec] | None = None,
        watchdog: Watchdog | None = None,
        now: Callable[[], float],
        sleep: Callable[[float], None],
        watchers: Sequence[Watcher] = (),
        on_end: TorquePolicy = TorquePolicy.RELEASE,
        silent_s: float = 10.0,
        on_look: Callable[[Host], None] | None = None,
    ) -> None:
        if len(plant.bodies) != 1:
            raise InputError(
                f"{len(plant.bodies)} robots to be served", hint="one; start another for another"
            )
        ((self._name, self._body),) = plant.bodies.items()
        self._plant = plant
        self._doors = dict(doors)
        self._now = now
        self._sleep = sleep
        self._is_lent_itself = make is None
        self._watchers, self._on_end, self._on_look = watchers, on_end, on_look
        self.sensors = self._body.robot.sensors if sensors is None else tuple(sensors)
        self.commander = Commander(self._body.robot, watchdog)
        self.server = PlantServer(
            make or (lambda _parts, _arena: self._plant),
            self._robot_of,
            now=now,
            silent_s=silent_s,
            safety=self._is_lent_itself,
            acquire=self._acquire,
            release=self._release,
            on_frames=self._publish_a_clients,
        )
        self.counts: Counter[str] = Counter(frames=0, late=0)
        self._publishers: dict[str, Publisher] = {}
        self._mode, self._changed = _Mode.OWN, threading.Condition()
        self._until_s = math.inf
        self._state: BodyState | None = None
        self._commands: JointCommands | None = None
        self._faults = deque[Fault](maxlen=LATEST_FAULTS)
        self._asked = (now(), 0)
        self._last: Standing | None = None

    @property
    def robot(self) -> Robot:
        """The robot's card."""
        return self._body.robot

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""
        return self._plant.frame_period_s

    @property
    def state(self) -> BodyState:
        """The state after the latest frame."""
        if self._state is None:
            raise BodyError("the robot does not move yet")
        return self._state

    @property
    def commands(self) -> JointCommands:
        """What was sent to the robot in the latest frame; before the first, where it stands."""
        return JointCommands(self.state.positions[np.newaxis]) if self._commands is None else self._commands

    @property
    def commanded_by(self) -> str:
        """Who commands it, or drives its time; nothing where nobody does."""
        return self.server.client or self.commander.who

    @property
    def faults(self) -> Sequence[Fault]:
        """The latest faults of the body."""
        return tuple(self._faults)

    def command(self, sender: str, trajectory: Trajectory) -> str:
        """Take a trajectory from the one who commands; return nothing, or why it is not taken."""
        return self._lent_to() or self.commander.take(sender, trajectory)

    def stop(self, sender: str) -> str:
        """Hold every joint where it is commanded now; return nothing, or why not."""
        return self._lent_to() or self.commander.stop(sender)

    def ask(self, request: bytes) -> bytes:
        """Answer a client that drives the robot's time, in the thread that asks."""
        return self.server.handle(request)

    def standing(self) -> Standing:
        """Return how it stands; when all is over, how it stood in the end."""
        if self._last is not None:
            return self._last
        (before_s, before), now_s, frames = self._asked, self._now(), self.counts["frames"]
        self._asked = now_s, frames
        rate_hz = (frames - before) / (now_s - before_s) if now_s > before_s else 0.0
        counts: dict[str, float] = {**self.counts, **self.commander.counts}
        counts |= {f"clients' {name}": count for name, count in self.server.counts.items()}
        for name, door in self._doors.items():
            publisher = self._publishers.get(name)
            told = dict(door.facts())
            told["missed"] = told.get("missed", 0) + (0 if publisher is None else publisher.missed)
            counts |= {f"{name}: {what}": count for what, count in told.items()}
        time_s = 0.0 if self._state is None else self._state.time_s
        return Standing(time_s, self.commander.who, self.server.client, rate_hz, counts)

    def run(self, seconds: float = math.inf) -> None:
        """Serve the robot for so long by the host's clock, or until an exception or a signal ends it.

        Raises:
            BodyError: the robot does not answer, or a door cannot listen.
            InputError: a door was asked to let strangers in.
        """
        self._until_s = self._now() + seconds
        with sigterm_raises(), ExitStack() as ending:
            ending.callback(self._say_goodbye)  # what was registered last is done first: the robot stops
            ending.callback(self._let_go)
            self._body.open()
            self._state = self._body.read()
            for name, door in self._doors.items():
                door.open(self)
                self._publishers[name] = Publisher(door)
            ending.callback(self._end)
            while not self._is_over():
                drive(
                    self._plant,
                    {self._name: self},
                    until_s=math.inf,
                    watchers=(self, *self._watchers),
                    clock=RealClock(self._now, self._sleep),
                    on_end=TorquePolicy.HOLD,
                    on_failure=self._on_end,
                )
                self._lend()

    def end(self) -> None:
        """Let `run` return after this frame; callable from any thread."""
        self._until_s = -math.inf

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Tell observers of the frame that has passed, and return what is commanded in the next one."""
        self._publish(state, self.commands)
        return self.commander.next(state, n)

    def watch(self, block: Block) -> bool:
        """Note what was sent; return whether the robot is wanted by a client, or time is over."""
        self._commands = block.commands
        self.counts["frames"] += len(block.commands)
        self._faults.extend(block.states.faults)
        self.counts["late"] += sum(fault.kind is FaultKind.LATE for fault in block.states.faults)
        self.commander.watch(block)
        self._look()
        return self._mode is not _Mode.OWN or self._is_over()

    def _look(self) -> None:
        if self._on_look is not None:
            self._on_look(self)

    def _is_over(self) -> bool:
        return self._now() >= self._until_s

    def _publish(self, state: BodyState, commands: JointCommands) -> None:
        self._state, self._commands = state, commands
        for publisher in list(self._publishers.values()):
            publisher.publish(state, commands)

    def _publish_a_clients(self, robot: Robot, state: BodyState, commands: JointCommands) -> None:
        if robot is self.robot:
            self._publish(state, commands)

    def _lent_to(self) -> str:
        if self._mode is _Mode.OWN:
            return ""
        self.commander.counts["refused"] += 1
        return f"{self.server.client or 'a client'} drives the robot's time"

    def _robot_of(self, name: str) -> Robot:
        """Return the robot of a name that a stranger says: a path is none."""
        if name == self.robot.name:
            return self.robot
        if self._is_lent_itself or name not in robot_names():
            raise InputError(f"this is not {name}", hint=f"it is {self.robot.name}")
        return shipped_robot(name)

    def _acquire(self, who: str) -> None:
        """Wait, in the thread of a client, until it has the robot."""
        if self.commander.who:
            raise BodyError(f"{self.commander.who} commands this robot", hint="one at a time; ask later")
        with self._changed:
            self._mode = _Mode.ASKED_FOR
            self._changed.wait_for(lambda: self._mode is _Mode.LENT or self._is_over(), HAND_OVER_S)
            if self._mode is not _Mode.LENT:
                self._mode = _Mode.OWN
                raise BodyError(f"the robot is busy: it cannot be lent to {who}")

    def _release(self) -> None:
        with self._changed:
            self._mode = _Mode.OWN
            self._changed.notify_all()

    def _lend(self) -> None:
        """Let a client have the robot until it is done with it, or silent for too long."""
        with self._changed:
            if self._mode is not _Mode.ASKED_FOR:
                return
            self._mode = _Mode.LENT
            self._changed.notify_all()
            while self._mode is _Mode.LENT and not self._is_over():
                self._changed.wait(LOOK_S)
                self._changed.release()
                try:
                    self.server.lapse()
                    self._look()
                finally:
                    self._changed.acquire()
        if self._is_lent_itself:
            self.commander.forget()
        self._commands = None
        self._state = self._body.read() if not self._is_lent_itself else self._state

    def _end(self) -> None:
        """Let no client in any more, and the one that is there go."""
        self.end()
        with self._changed:
            self._changed.notify_all()
        self.server.close()
        self._last = self.standing()

    def _let_go(self) -> None:
        """Let the servos do what they are to do in the end: until then they held."""
        with suppress(BodyError):
            if self._on_end is not TorquePolicy.HOLD:
                self._body.open()
        self._body.stop(self._on_end)
        self._body.close()

    def _say_goodbye(self) -> None:
        """Close all doors at once; one that is stuck is left behind, and ends with the program."""
        publishers, ends_s = self._publishers, self._now() + GOODBYE_S

        def close(name: str, door: Door) -> None:
            if name in publishers:
                publishers[name].close()
            door.close()

        threads = [
            threading.Thread(target=close, args=one, name="goodbye", daemon=True)
            for one in self._doors.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, ends_s - self._now()))


class Publisher:
    """Hands frames to a door in a thread of its own.

    A door that is slow misses frames, one that is stuck all of them: neither is waited for.

    Attributes:
        missed: frames that the door had no time for.
    """

    def __init__(self, door: Door, patience_s: float = PATIENCE_S) -> None:
        self.missed = 0
        self._door, self._patience_s = door, patience_s
        self._queue: queue.Queue[tuple[BodyState, JointCommands] | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="observers", daemon=True)
        self._thread.start()

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Queue a frame, or count it as missed."""
        try:
            self._queue.put_nowait((state, commands))
        except queue.Full:
            self.missed += 1

    def close(self) -> None:
        """End the thread; one that is stuck in its door is left behind, and ends with the program."""
        with suppress(queue.Full):
            self._queue.put(None, timeout=self._patience_s)
        self._thread.join(self._patience_s)

    def _work(self) -> None:
        while (frame := self._queue.get()) is not None:
            self._door.publish(*frame)
