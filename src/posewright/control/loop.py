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
    Clock,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    Plant,
    SimulatedClock,
    TorquePolicy,
)
from posewright.control.controller import Controller
from posewright.control.safety import Interventions, Safety
from posewright.errors import BodyError, InputError

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


def advance_at_its_time(
    plant: Plant, commands: Mapping[str, JointCommands], clock: Clock
) -> Mapping[str, JointStates]:
    """Let the frames of some commands pass when the clock says so; return what the joints did.

    Frames that end over a frame too late have a fault `late`. In real time the commands are one row each.

    Raises:
        BodyError: a body does not answer, or answers for other frames than it was sent.
    """
    frame_s = plant.frame_period_s
    n = len(next(iter(commands.values())))
    begin_s = next(iter(plant.bodies.values())).time_s
    clock.wait_until(begin_s)
    states = plant.advance(commands)
    end_s = begin_s + n * frame_s
    delay_s = clock.delay(end_s, frame_s)
    for name in commands:
        n_answered = len(states[name]) if name in states else 0
        if n_answered != n:
            raise BodyError(f"{name} was sent {n} frames, and {n_answered} came back")
    if delay_s < frame_s:
        return states
    n_missed = int(delay_s / frame_s)
    message = f"a frame was over {delay_s * 1000.0:.1f} ms late: {n_missed} of the clock's frames missed"
    late = Fault(end_s, FaultKind.LATE, message)
    return {name: replace(rows, faults=(*rows.faults, late)) for name, rows in states.items()}


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
        clock: paces the frames of a plant without a clock of its own; simulated time by default. In real
            time frames go out one by one; one that is over a frame or more too late has a fault `late`.
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
        message = f"{len(plant.bodies)} bodies, frames of {plant.frame_period_s} s, until {until_s} s"
        raise InputError(message, hint="at least one body, and times above 0")
    pacing = plant.clock or clock or SimulatedClock()
    with _held(plant.bodies, on_end, on_failure), _few_pauses(pacing):
        pacing.restart()
        run = _Run(plant, controllers, watchers, pacing, safety or {})
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
def _few_pauses(clock: Clock) -> Iterator[None]:
    """Keep Python's garbage collector in real time from looking through all that was there before the run."""
    if not clock.is_real:
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
        states = advance_at_its_time(
            self._plant, {seat.name: seat.rows(n) for seat in self._seats}, self._clock
        )
        stops = False
        for seat in self._seats:
            block = seat.block(n, states[seat.name])
            for watcher in self._watchers:
                stops = watcher.watch(block) or stops
        return stops
