"""The one loop that drives a plant: read, decide, make safe, advance, tell who watches."""

from __future__ import annotations

import gc
import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import (
    Body,
    BodyState,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    Plant,
    TorquePolicy,
)
from posewright.control.controller import Controller
from posewright.control.safety import Interventions, Safety
from posewright.errors import BodyError, InputError


class Clock(Protocol):
    """How the frames of a run are paced."""

    @property
    def is_real(self) -> bool:
        """Whether frames are due at real times; a run then sends them one by one."""

    def wait_until(self, time_s: float) -> None:
        """Wait until a time of the run [s] has come."""

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return how long ago a time of the run was [s]; a delay beyond the tolerance is returned once."""


class SimulatedClock:
    """Never waits."""

    is_real = False

    def wait_until(self, time_s: float) -> None:
        """Return at once."""

    def delay(self, time_s: float, tolerance_s: float) -> float:  # noqa: ARG002 -- any time has come
        """Return 0: nobody is late."""
        return 0.0


class RealClock:
    """Waits for each frame; a run that is late goes on from there, nothing is hurried to catch up.

    Args:
        now: a clock that only runs forward [s], such as `time.monotonic`.
        sleep: waits for so long [s], such as `time.sleep`.
    """

    is_real = True

    def __init__(self, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._now, self._sleep = now, sleep
        self._zero_s: float | None = None

    def wait_until(self, time_s: float) -> None:
        """Wait until a time of the run has come; the first one has come when it is asked for."""
        now = self._now()
        if self._zero_s is None:
            self._zero_s = now - time_s
        ahead_s = self._zero_s + time_s - now
        if ahead_s > 0.0:
            self._sleep(ahead_s)

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return how long ago a time of the run was [s]; beyond the tolerance the run goes on from now."""
        late_s = self._now() - (self._zero_s or 0.0) - time_s
        if late_s >= tolerance_s and self._zero_s is not None:
            self._zero_s += late_s
        return late_s


SLACK_FRAMES = 1e-6
"""A time that misses a frame by less is that frame's: rounding."""

MOST_FRAMES = 64
"""A controller is asked for so many frames at most, so that whoever watches sees them soon enough."""

ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some frames of one robot: what was asked for, what was sent, what happened.

    Attributes:
        state: what the body said when the controller was asked last.
        requests: what the controller wants; its `decision` is there in the first block of what it decided.
        commands: what was sent: the same, made safe.
        states: what the joints did.
    """

    robot: str
    state: BodyState
    requests: JointCommands
    commands: JointCommands
    states: JointStates
    interventions: Interventions | None = None


class Watcher(Protocol):
    """Someone who sees every block: a recorder, a referee, a progress line."""

    def watch(self, block: Block) -> bool:
        """See a block; return True to end the run after it."""


class Until:
    """A watcher that ends a run when something has been so for a while.

    Args:
        is_so: asked after every block.
        for_s: how long it has to be so [s].
    """

    def __init__(self, is_so: Callable[[], bool], for_s: float = 0.0) -> None:
        self._is_so, self._for_s = is_so, for_s
        self._since_s = 0.0

    def watch(self, block: Block) -> bool:
        """Return whether it has been so for long enough."""
        now_s = float(block.states.times[-1])
        if not self._is_so():
            self._since_s = now_s
            return False
        return now_s - self._since_s >= self._for_s


def drive(
    plant: Plant,
    controllers: Mapping[str, Controller],
    *,
    until_s: float,
    watchers: Sequence[Watcher] = (),
    clock: Clock | None = None,
    safety: Mapping[str, Safety] | None = None,
    on_end: TorquePolicy = TorquePolicy.HOLD,
    on_failure: TorquePolicy = TorquePolicy.RELEASE,
) -> None:
    """Let controllers drive the robots of a plant.

    Bodies are opened first. Whatever ends the run, an exception, and in the main thread Ctrl-C, SIGTERM or a
    terminal that is closed, all are stopped and closed before anybody hears of it; further signals wait for
    that. A controller is asked when the rows it gave are used up, so each robot has a rhythm of its own.

    Args:
        plant: what time passes in.
        controllers: one for each body of the plant, by its name there.
        until_s: the plant's time to stop at [s]; infinity for as long as nobody ends the run.
        watchers: each sees every block, in this order; the run ends after a block for which one says so.
        clock: paces the frames; simulated time by default. In real time frames go out one by one; one that
            is over a frame or more too late has a fault `late`.
        safety: what stands between a controller and its body where it is not `Safety(robot)`.
        on_end: what the servos do in the end.
        on_failure: what they do where an exception or a signal ends the run.

    Raises:
        InputError: the controllers are not those of the plant's bodies, or a time makes no sense.
        BodyError: a body does not answer, or answers for other frames than it was sent.
        UnsafeCommandError: a command is not finite.
        SystemExit: SIGTERM or SIGHUP came.
    """
    missing = set(plant.bodies) ^ set(controllers)
    if missing:
        raise InputError(
            f"controllers and bodies do not match: {', '.join(sorted(missing))}",
            hint=f"one controller for each of {', '.join(plant.bodies)}",
        )
    if not plant.bodies or math.isnan(until_s) or not plant.frame_period_s > 0.0:
        told = f"{len(plant.bodies)} bodies, frames of {plant.frame_period_s} s, until {until_s} s"
        raise InputError(told, hint="at least one body, and times above 0")
    with _held(plant.bodies, on_end, on_failure), _few_pauses(clock):
        run = _Run(plant, controllers, watchers, clock or SimulatedClock(), safety or {})
        while not run.advance(until_s):
            pass


@contextmanager
def _held(bodies: Mapping[str, Body], on_end: TorquePolicy, on_failure: TorquePolicy) -> Iterator[None]:
    """Open all bodies; in the end, however it comes, stop and close them all."""
    with sigterm_raises():
        opened: list[Body] = []
        policy = on_failure
        try:
            for body in bodies.values():
                opened.append(body)
                body.open()
            yield
            policy = on_end
        finally:
            with _handled((*ENDING_SIGNALS, signal.SIGINT), signal.SIG_IGN), ExitStack() as ending:
                for body in opened:  # each is called whatever the others raise; all stop before any is closed
                    ending.callback(body.close)
                for body in opened:
                    ending.callback(body.stop, policy)


@contextmanager
def _few_pauses(clock: Clock | None) -> Iterator[None]:
    """Keep Python's garbage collector in real time from looking through all that was there before the run."""
    if clock is None or not clock.is_real:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit meanwhile, where nobody else has asked for them."""
    free = [one for one in ENDING_SIGNALS if signal.getsignal(one) is signal.SIG_DFL]
    with _handled(free, _terminate):
        yield


@contextmanager
def _handled(signals: Sequence[int], handler: Any) -> Iterator[None]:
    """Handle signals so meanwhile; in other threads than the main one nothing can be done about them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, handler) for one in signals}
    try:
        yield
    finally:
        for one, old in before.items():
            signal.signal(one, old)


def _terminate(signum: int, frame: Any) -> NoReturn:  # noqa: ARG001 -- what signal handlers are given
    raise SystemExit(128 + signum)


class _Seat:
    """One robot of a run: its body, its controller, and what is still to be sent."""

    def __init__(self, name: str, body: Body, controller: Controller, safety: Safety) -> None:
        self.name, self.body, self._controller, self._safety = name, body, controller, safety
        self._last: Floats = body.observe().positions[0].copy()
        blind = np.flatnonzero(np.isnan(self._last))
        if len(blind):
            joints = ", ".join(body.robot.joint_names[joint] for joint in blind[:3])
            raise BodyError(
                f"{name} does not say where {joints} stands", hint="no command is safe before that"
            )
        self.state: BodyState
        self.requests: JointCommands
        self.commands: JointCommands
        self.interventions: Interventions | None = None
        self.left = 0

    def decide(self, n: int) -> None:
        """Ask the controller for at most n frames, and make them safe."""
        self.state = self.body.read()
        self.requests = self._controller.next(self.state, n)
        if not 1 <= len(self.requests) <= n:
            raise BodyError(
                f"the controller of {self.name} returned {len(self.requests)} frames", hint=f"1 to {n} rows"
            )
        safe = self._safety.filter(self.requests, self._last)
        self.commands, self.interventions = safe.commands, safe.interventions
        self.left = len(self.requests)

    def block(self, n: int, states: JointStates) -> Block:
        """Take n frames off what is to be sent; return them with what the joints did."""
        begin = len(self.requests) - self.left
        rows = slice(begin, begin + n)
        sent = self.commands if n == len(self.commands) else self.commands[rows]
        asked = self.requests if n == len(self.requests) else self.requests[rows]
        found = None if self.interventions is None else self.interventions.within(begin, begin + n)
        self.left -= n
        self._last = sent.angles[-1].copy()  # a controller may use its array again
        if sent.free is not None:
            seen = states.positions[-1]
            self._last = np.where(sent.free & np.isfinite(seen), seen, self._last)
        return Block(self.name, self.state, asked, sent, states, found)

    def rows(self, n: int) -> JointCommands:
        """Return the next n frames to be sent."""
        begin = len(self.commands) - self.left
        return self.commands if n == len(self.commands) else self.commands[begin : begin + n]


class _Run:
    """A run under way."""

    def __init__(
        self,
        plant: Plant,
        controllers: Mapping[str, Controller],
        watchers: Sequence[Watcher],
        clock: Clock,
        safety: Mapping[str, Safety],
    ) -> None:
        self._plant, self._watchers, self._clock = plant, watchers, clock
        self._seats = [
            _Seat(name, body, controllers[name], safety.get(name) or Safety(body.robot))
            for name, body in plant.bodies.items()
        ]
        self._frame_s = plant.frame_period_s

    def advance(self, until_s: float) -> bool:
        """Let some frames pass; return whether the run is over."""
        now_s = self._seats[0].body.time_s
        left = int(min((until_s - now_s) / self._frame_s, MOST_FRAMES) + SLACK_FRAMES)
        if left <= 0:
            return True
        for seat in self._seats:
            if not seat.left:
                seat.decide(left)
        n = 1 if self._clock.is_real else min(left, *(seat.left for seat in self._seats))
        self._clock.wait_until(now_s)
        states = self._plant.advance({seat.name: seat.rows(n) for seat in self._seats})
        over_s = now_s + n * self._frame_s
        late_s = self._clock.delay(over_s, self._frame_s)
        stops = False
        for seat in self._seats:
            done = states.get(seat.name)
            if done is None or len(done) != n:
                came = 0 if done is None else len(done)
                raise BodyError(f"{seat.name} was sent {n} frames, and {came} came back")
            if late_s >= self._frame_s:
                done = replace(done, faults=(*done.faults, self._late(over_s, late_s)))
            block = seat.block(n, done)
            for watcher in self._watchers:
                stops = watcher.watch(block) or stops
        return stops

    def _late(self, time_s: float, late_s: float) -> Fault:
        missed = int(late_s / self._frame_s)
        message = f"a frame was over {late_s * 1000.0:.1f} ms late: {missed} of the clock's frames missed"
        return Fault(time_s, FaultKind.LATE, message)
