"""Serves a robot: drives it in real time for a commander, or lends it to a client that controls its time."""

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

MAX_QUEUED_FRAMES = 16
"""Most frames that wait for a transport; further ones are dropped and counted as missed."""

PUBLISHER_CLOSE_S = 0.5
"""Longest wait for a transport to finish its last frame when the service ends [s]."""

CLOSE_S = 3.0
"""Longest wait for all transports together to close after the robot has stopped [s]."""

CLIENT_CHECK_S = 0.05
"""Time between two checks whether a client has become silent [s]."""

HAND_OVER_S = 5.0
"""Longest wait of a client for the robot while the current frame is being finished [s]."""

MAX_FAULTS = 8
"""Number of the body's latest faults that observers can see."""


class _Control(Enum):
    """Who controls the robot's time."""

    HOST = "host"
    REQUESTED = "requested"  # a client waits for the current frame to end
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """The status of a served robot.

    Attributes:
        time_s: the robot's own time [s].
        commander: the name of the commander; empty without one.
        client: the name of the client that controls the robot's time; empty without one.
        rate_hz: frames per second of the host's clock since the previous status [Hz].
        counts: numbers of frames, late frames, and accepted, rejected and missed messages; those of a
            transport have its name before them.
    """

    time_s: float
    commander: str
    client: str
    rate_hz: float
    counts: Mapping[str, float]


class Host(Controller):
    """A `RobotService` that drives its robot in real time; `run` returns when the service ends.

    Args:
        plant: the plant of the robot, which must be its only one.
        make_plant: creates the plant for a client from its parts and arena; None lends `plant` itself.
        transports: the transports by name.
        sensors: the robot's sensors; by default those of its card.
        watchdog: what happens when the commander becomes silent.
        now: returns a monotonic time [s].
        sleep: waits for a time [s].
        watchers: are shown every frame that no client controls.
        on_end: what the servos do at the end.
        silent_s: a client without requests for this long loses the robot [s].
        on_tick: is called after every frame, and about twenty times a second while a client has the robot.

    Raises:
        InputError: the plant has no robot or several.
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
                f"the plant has {len(plant.bodies)} robots",
                hint="a host serves one; start one host per robot",
            )
        ((self._name, self._body),) = plant.bodies.items()
        self._plant = plant
        self._transports = dict(transports)
        self._now = now
        self._sleep = sleep
        self._lends_own_plant = make_plant is None  # otherwise clients get plants that `make_plant` makes
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
        self._last_commands: JointCommands | None = None
        self._faults = deque[Fault](maxlen=MAX_FAULTS)
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
            raise BodyError("the robot is not running yet", hint="wait until run() has opened it")
        return self._state

    @property
    def commands(self) -> JointCommands:
        """The commands of the latest frame; before the first one, the robot's present positions."""
        return (
            JointCommands(self.state.positions[np.newaxis])
            if self._last_commands is None
            else self._last_commands
        )

    @property
    def commanded_by(self) -> str:
        """The name of the commander, or of the client that controls its time; empty without one."""
        return self.server.client or self.commander.sender

    @property
    def faults(self) -> Sequence[Fault]:
        """The latest faults of the body."""
        return tuple(self._faults)

    def command(self, sender: str, trajectory: Trajectory) -> str:
        """Follow a trajectory; return an empty string, or the reason why it is rejected."""
        return self._reject_while_lent() or self.commander.accept(sender, trajectory)

    def stop(self, sender: str) -> str:
        """Hold the commanded pose; return an empty string, or the reason why this is rejected."""
        return self._reject_while_lent() or self.commander.stop(sender)

    def answer_request(self, request: bytes) -> bytes:
        """Answer a client that controls the robot's time, in the calling thread."""
        return self.server.answer_request(request)

    def status(self) -> ServiceStatus:
        """Return the present status, or the final one after `run` has returned."""
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
        """Serve the robot for some time of the host's clock, or until `end`, an exception or a signal.

        Raises:
            BodyError: the robot does not answer, or a transport cannot listen.
            InputError: a transport would be open to everybody on the network.
        """
        self._until_s = self._now() + seconds
        with sigterm_raises(), ExitStack() as ending:
            ending.callback(
                self._close_transports
            )  # callbacks run in reverse order, so the robot stops first
            ending.callback(self._stop_body)
            self._body.open()
            self._state = self._body.read()
            for name, transport in self._transports.items():
                transport.open(self)
                self._publishers[name] = Publisher(transport)
            ending.callback(self._end_client_session)
            while not self._is_time_over():
                drive(
                    self._plant,
                    {self._name: self},
                    until_s=math.inf,
                    watchers=(self, *self._watchers),
                    clock=RealClock(self._now, self._sleep),
                    on_end=TorquePolicy.HOLD,
                    on_failure=self._on_end,
                )
                self._lend_to_client()

    def end(self) -> None:
        """Make `run` return after this frame; callable from any thread."""
        self._until_s = -math.inf

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Publish the frame that has passed, and return the commands of the next one."""
        self._publish(state, self.commands)
        return self.commander.next(state, n)

    def watch(self, block: Block) -> bool:
        """Store the commands that were sent; return whether a client waits for the robot or time is over."""
        self._last_commands = block.commands
        self.counts["frames"] += len(block.commands)
        self._faults.extend(block.states.faults)
        self.counts["late"] += sum(fault.kind is FaultKind.LATE for fault in block.states.faults)
        self.commander.watch(block)
        self._call_on_tick()
        return self._control is not _Control.HOST or self._is_time_over()

    def _call_on_tick(self) -> None:
        if self._on_tick is not None:
            self._on_tick(self)

    def _is_time_over(self) -> bool:
        return self._now() >= self._until_s

    def _publish(self, state: BodyState, commands: JointCommands) -> None:
        self._state = state
        self._last_commands = commands
        for publisher in list(self._publishers.values()):
            publisher.publish(state, commands)

    def _publish_client_frame(self, robot: Robot, state: BodyState, commands: JointCommands) -> None:
        if robot is self.robot:
            self._publish(state, commands)

    def _reject_while_lent(self) -> str:
        """Return why a command is rejected while a client has the robot, and count it; empty otherwise."""
        if self._control is _Control.HOST:
            return ""
        self.commander.counts["refused"] += 1
        return f"{self.server.client or 'a client'} controls the robot's time"

    def _robot_by_name(self, name: str) -> Robot:
        """Return the robot with a name from a client, which must be a shipped one: no path is ever opened."""
        if name == self.robot.name:
            return self.robot
        if self._lends_own_plant or name not in robot_names():
            raise InputError(f"this robot is not {name}", hint=f"it is {self.robot.name}")
        return shipped_robot(name)

    def _acquire(self, client: str) -> None:
        """Wait, in the thread of a client, until the robot is lent to it.

        Raises:
            BodyError: somebody commands the robot, or it does not become free in time.
        """
        if self.commander.sender:
            hint = "only one can use it at a time; try again later"
            raise BodyError(f"{self.commander.sender} commands this robot", hint=hint)
        with self._control_changed:
            self._control = _Control.REQUESTED
            self._control_changed.wait_for(
                lambda: self._control is _Control.CLIENT or self._is_time_over(), HAND_OVER_S
            )
            if self._control is not _Control.CLIENT:
                self._control = _Control.HOST
                raise BodyError(f"the robot is busy: it cannot be lent to {client}")

    def _release(self) -> None:
        with self._control_changed:
            self._control = _Control.HOST
            self._control_changed.notify_all()

    def _lend_to_client(self) -> None:
        """Lend the robot to a client that requested it, until it releases it or is silent for too long.

        Returns at once if no client waits. Meanwhile `on_tick` is called regularly. Afterwards the commander
        starts from the robot's pose, which the client may have changed.
        """
        with self._control_changed:
            if self._control is not _Control.REQUESTED:
                return
            self._control = _Control.CLIENT
            self._control_changed.notify_all()
            while self._control is _Control.CLIENT and not self._is_time_over():
                self._control_changed.wait(CLIENT_CHECK_S)
                # ending the session calls `_release`, which needs the lock, maybe in another thread
                self._control_changed.release()
                try:
                    self.server.end_silent_session()
                    self._call_on_tick()
                finally:
                    self._control_changed.acquire()
        self._last_commands = None
        if self._lends_own_plant:
            self.commander.reset()
        else:
            self._state = self._body.read()

    def _end_client_session(self) -> None:
        """Accept no further client, end the present session, and store the final status."""
        self.end()
        with self._control_changed:
            self._control_changed.notify_all()
        self.server.close()
        self._final_status = self.status()

    def _stop_body(self) -> None:
        """Stop and close the body, whose servos have held their pose until now."""
        with suppress(BodyError):
            if self._on_end is not TorquePolicy.HOLD:
                self._body.open()  # a client may have closed it
        self._body.stop(self._on_end)
        self._body.close()

    def _close_transports(self) -> None:
        """Close all transports in parallel; one that hangs is left to its daemon thread."""
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
    """Passes frames to a transport in a thread of its own, so that the robot never waits for it.

    Args:
        transport: the transport.
        close_s: longest wait in `close` [s].

    Attributes:
        missed: number of frames dropped because the transport was too slow.
    """

    def __init__(self, transport: Transport, close_s: float = PUBLISHER_CLOSE_S) -> None:
        """Start the thread that publishes; `close` waits `close_s` for it [s]."""
        self.missed = 0
        self._transport = transport
        self._close_s = close_s
        self._queue: queue.Queue[tuple[BodyState, JointCommands] | None] = queue.Queue(MAX_QUEUED_FRAMES)
        self._thread = threading.Thread(target=self._work, name="observers", daemon=True)
        self._thread.start()

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Queue a frame, or count it as missed."""
        try:
            self._queue.put_nowait((state, commands))
        except queue.Full:
            self.missed += 1

    def close(self) -> None:
        """End the thread; if the transport hangs, the thread is abandoned (it is a daemon)."""
        with suppress(queue.Full):
            self._queue.put(None, timeout=self._close_s)
        self._thread.join(self._close_s)

    def _work(self) -> None:
        while (frame := self._queue.get()) is not None:
            self._transport.publish(*frame)
