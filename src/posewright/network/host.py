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
from posewright.network.commander import Commander, Watchdog
from posewright.network.plant_server import MakePlant, PlantServer
from posewright.network.transport import Trajectory, Transport
from posewright.robots import Robot, SensorSpec, robot_names
from posewright.robots import robot as shipped_robot

MAX_WAITING = 16
"""So many frames wait for a transport; further ones are missed by its observers, and counted."""

PATIENCE_S = 0.5
"""How long a transport may still take over a frame when all is over [s]."""

CLOSE_S = 3.0
"""How long all transports together may take to close when the robot has stopped [s]."""

CLIENT_CHECK_S = 0.05
"""How often the host checks whether a client has gone silent [s]."""

HAND_OVER_S = 5.0
"""How long a client waits for the robot at most while another frame is being finished [s]."""

LATEST_FAULTS = 8
"""So many faults of the body are remembered, for its observers."""


class _Control(Enum):
    """Who drives the robot's time."""

    HOST = "host"
    REQUESTED = "requested"  # by a client that waits for the frame under way to end
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """The status of a served robot.

    Attributes:
        time_s: the robot's own time [s].
        commander: who commands; empty where nobody does.
        client: who drives the robot's time; empty where nobody does.
        rate_hz: frames per second of the host's clock since the status before this one [Hz].
        counts: frames, late ones, and whatever was taken, refused or missed; a transport's after its name.
    """

    time_s: float
    commander: str
    client: str
    rate_hz: float
    counts: Mapping[str, float]


class Host(Controller):
    """A robot that is served; a `RobotService`, whose `run` drives it in real time until somebody ends it.

    Args:
        plant: of the one robot.
        make_plant: makes the plant that a client drives, of its parts and in its arena; None lends this one.
        transports: by which others come in, by name.
        sensors: of the robot; default its card's.
        watchdog: what happens when the commander falls silent.
        now: a clock that only runs forward [s].
        sleep: waits for so long [s].
        watchers: see every frame that is not a client's.
        on_end: what the servos do in the end.
        silent_s: a client that requests nothing for so long loses the robot [s].
        on_tick: is called after every frame, and while a client has the robot some twenty times a second.

    Raises:
        InputError: the plant has not one robot.
    """

    def __init__(
        self,
        plant: Plant,
        make_plant: MakePlant | None,
        transports: Mapping[str, Transport],
        *,
        sensors: Sequence[SensorSpec] | None = None,
        watchdog: Watchdog | None = None,
        now: Callable[[], float],
        sleep: Callable[[float], None],
        watchers: Sequence[Watcher] = (),
        on_end: TorquePolicy = TorquePolicy.RELEASE,
        silent_s: float = 10.0,
        on_tick: Callable[[Host], None] | None = None,
    ) -> None:
        if len(plant.bodies) != 1:
            raise InputError(
                f"{len(plant.bodies)} robots to be served", hint="one; start another for another"
            )
        ((self._name, self._body),) = plant.bodies.items()
        self._plant = plant
        self._transports = dict(transports)
        self._now = now
        self._sleep = sleep
        self._lends_own_plant = make_plant is None
        self._watchers = watchers
        self._on_end = on_end
        self._on_tick = on_tick
        self.sensors = self._body.robot.sensors if sensors is None else tuple(sensors)
        self.commander = Commander(self._body.robot, watchdog)
        self.server = PlantServer(
            make_plant or (lambda _parts, _arena: self._plant),
            self._robot_by_name,
            now=now,
            silent_s=silent_s,
            safety=self._lends_own_plant,
            acquire=self._acquire,
            release=self._release,
            on_frames=self._publish_client_frame,
        )
        self.counts: Counter[str] = Counter(frames=0, late=0)
        self._publishers: dict[str, Publisher] = {}
        self._control = _Control.HOST
        self._control_changed = threading.Condition()
        self._until_s = math.inf
        self._state: BodyState | None = None
        self._commands: JointCommands | None = None
        self._faults = deque[Fault](maxlen=LATEST_FAULTS)
        self._rate_since_s = now()
        self._rate_since_frame = 0
        self._final_status: ServiceStatus | None = None

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
        return self.server.client or self.commander.sender

    @property
    def faults(self) -> Sequence[Fault]:
        """The latest faults of the body."""
        return tuple(self._faults)

    def command(self, sender: str, trajectory: Trajectory) -> str:
        """Take a trajectory from the one who commands; return nothing, or why it is not taken."""
        return self._refuse_while_lent() or self.commander.take(sender, trajectory)

    def stop(self, sender: str) -> str:
        """Hold every joint where it is commanded now; return nothing, or why not."""
        return self._refuse_while_lent() or self.commander.stop(sender)

    def answer_request(self, request: bytes) -> bytes:
        """Answer a client that drives the robot's time, in the calling thread."""
        return self.server.answer_request(request)

    def status(self) -> ServiceStatus:
        """Return the status now, or that at the end once `run` has returned."""
        if self._final_status is not None:
            return self._final_status
        now_s = self._now()
        elapsed_s = now_s - self._rate_since_s
        n_frames = self.counts["frames"] - self._rate_since_frame
        self._rate_since_s = now_s
        self._rate_since_frame = self.counts["frames"]
        counts: dict[str, float] = {**self.counts, **self.commander.counts}
        counts |= {f"clients' {name}": count for name, count in self.server.counts.items()}
        for name, transport in self._transports.items():
            transport_counts = dict(transport.facts())
            if name in self._publishers:
                missed = transport_counts.get("missed", 0) + self._publishers[name].missed
                transport_counts["missed"] = missed
            else:
                transport_counts.setdefault("missed", 0)
            counts |= {f"{name}: {counter}": count for counter, count in transport_counts.items()}
        return ServiceStatus(
            time_s=0.0 if self._state is None else self._state.time_s,
            commander=self.commander.sender,
            client=self.server.client,
            rate_hz=n_frames / elapsed_s if elapsed_s > 0.0 else 0.0,
            counts=counts,
        )

    def run(self, seconds: float = math.inf) -> None:
        """Serve the robot for so long by the host's clock, or until an exception or a signal ends it.

        Raises:
            BodyError: the robot does not answer, or a transport cannot listen.
            InputError: a transport was asked to let strangers in.
        """
        self._until_s = self._now() + seconds
        with sigterm_raises(), ExitStack() as ending:
            ending.callback(self._close_transports)  # what was registered last is done first: the robot stops
            ending.callback(self._stop_body)
            self._body.open()
            self._state = self._body.read()
            for name, transport in self._transports.items():
                transport.open(self)
                self._publishers[name] = Publisher(transport)
            ending.callback(self._end_client_session)
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
        """Note what was sent; return whether a client waits for the robot, or time is over."""
        self._commands = block.commands
        self.counts["frames"] += len(block.commands)
        self._faults.extend(block.states.faults)
        self.counts["late"] += sum(fault.kind is FaultKind.LATE for fault in block.states.faults)
        self.commander.watch(block)
        self._tick()
        return self._control is not _Control.HOST or self._is_over()

    def _tick(self) -> None:
        if self._on_tick is not None:
            self._on_tick(self)

    def _is_over(self) -> bool:
        return self._now() >= self._until_s

    def _publish(self, state: BodyState, commands: JointCommands) -> None:
        self._state = state
        self._commands = commands
        for publisher in list(self._publishers.values()):
            publisher.publish(state, commands)

    def _publish_client_frame(self, robot: Robot, state: BodyState, commands: JointCommands) -> None:
        if robot is self.robot:
            self._publish(state, commands)

    def _refuse_while_lent(self) -> str:
        """Count a command and return why it is refused, while a client has the robot; else return nothing."""
        if self._control is _Control.HOST:
            return ""
        self.commander.counts["refused"] += 1
        return f"{self.server.client or 'a client'} drives the robot's time"

    def _robot_by_name(self, name: str) -> Robot:
        """Return the robot of a name that a client sent; paths are refused, as a client may send anything."""
        if name == self.robot.name:
            return self.robot
        if self._lends_own_plant or name not in robot_names():
            raise InputError(f"this is not {name}", hint=f"it is {self.robot.name}")
        return shipped_robot(name)

    def _acquire(self, client: str) -> None:
        """Wait, in the thread of a client, until it has the robot."""
        if self.commander.sender:
            raise BodyError(f"{self.commander.sender} commands this robot", hint="one at a time; ask later")
        with self._control_changed:
            self._control = _Control.REQUESTED
            self._control_changed.wait_for(
                lambda: self._control is _Control.CLIENT or self._is_over(), HAND_OVER_S
            )
            if self._control is not _Control.CLIENT:
                self._control = _Control.HOST
                raise BodyError(f"the robot is busy: it cannot be lent to {client}")

    def _release(self) -> None:
        with self._control_changed:
            self._control = _Control.HOST
            self._control_changed.notify_all()

    def _lend(self) -> None:
        """Let a client have the robot until it releases it, or is silent for too long."""
        with self._control_changed:
            if self._control is not _Control.REQUESTED:
                return
            self._control = _Control.CLIENT
            self._control_changed.notify_all()
            while self._control is _Control.CLIENT and not self._is_over():
                self._control_changed.wait(CLIENT_CHECK_S)
                self._control_changed.release()
                try:
                    self.server.lapse()
                    self._tick()
                finally:
                    self._control_changed.acquire()
        self._commands = None
        if self._lends_own_plant:
            self.commander.forget()
        else:
            self._state = self._body.read()

    def _end_client_session(self) -> None:
        """Let no further client in, end the session of the present one, and keep the final status."""
        self.end()
        with self._control_changed:
            self._control_changed.notify_all()
        self.server.close()
        self._final_status = self.status()

    def _stop_body(self) -> None:
        """Stop and close the body; until now its servos held."""
        with suppress(BodyError):
            if self._on_end is not TorquePolicy.HOLD:
                self._body.open()
        self._body.stop(self._on_end)
        self._body.close()

    def _close_transports(self) -> None:
        """Close all transports at once; one that is stuck is abandoned, and ends with the program."""
        deadline_s = self._now() + CLOSE_S

        def close(name: str, transport: Transport) -> None:
            if name in self._publishers:
                self._publishers[name].close()
            transport.close()

        threads = [
            threading.Thread(target=close, args=(name, transport), name=f"close {name}", daemon=True)
            for name, transport in self._transports.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, deadline_s - self._now()))


class Publisher:
    """Passes frames to a transport in a thread of its own.

    A slow transport misses frames, a stuck one all of them; the robot waits for neither.

    Attributes:
        missed: frames that the transport had no time for.
    """

    def __init__(self, transport: Transport, patience_s: float = PATIENCE_S) -> None:
        self.missed = 0
        self._transport = transport
        self._patience_s = patience_s
        self._queue: queue.Queue[tuple[BodyState, JointCommands] | None] = queue.Queue(MAX_WAITING)
        self._thread = threading.Thread(target=self._work, name="observers", daemon=True)
        self._thread.start()

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Queue a frame, or count it as missed."""
        try:
            self._queue.put_nowait((state, commands))
        except queue.Full:
            self.missed += 1

    def close(self) -> None:
        """End the thread; one that is stuck in its transport is left behind, and ends with the program."""
        with suppress(queue.Full):
            self._queue.put(None, timeout=self._patience_s)
        self._thread.join(self._patience_s)

    def _work(self) -> None:
        while (frame := self._queue.get()) is not None:
            self._transport.publish(*frame)
