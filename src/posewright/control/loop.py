"""The loop that drives a plant: read, decide, filter, advance, pass the block to the watchers."""

from __future__ import annotations

import gc
import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import NoReturn, Protocol

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
"""Tolerance for rounding when a time is converted to frames."""

MAX_BLOCK_FRAMES = 64
"""Greatest number of frames a controller is called for, so that watchers see blocks soon enough."""

ENDING_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__
)
"""Signals that end a run; Windows has no SIGHUP."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some frames of one robot: its controller's requests, the commands sent, the joint states.

    Attributes:
        robot: its name in the plant.
        state: the body's state at the controller's last decision.
        requests: the controller's commands; the first block of a decision carries the `decision`.
        commands: the commands sent, after the safety filter.
        states: the joint states at the end of each frame.
        interventions: corrections by the safety filter; None where there are none.
    """

    robot: str
    state: BodyState
    requests: JointCommands
    commands: JointCommands
    states: JointStates
    interventions: Interventions | None = None


class Watcher(Protocol):
    """Receives every block of a run: a recorder, a referee, a progress line."""

    def watch(self, block: Block) -> bool:
        """Process a block; return True to end the run after it."""


class Until:
    """A watcher that ends a run when a condition has held for a while.

    Args:
        condition: evaluated after every block.
        for_s: how long it has to hold [s].
    """

    def __init__(self, condition: Callable[[], bool], for_s: float = 0.0) -> None:
        self._condition = condition
        self._for_s = for_s
        self._since_s = 0.0

    def watch(self, block: Block) -> bool:
        """Return whether the condition has held for long enough."""
        now_s = float(block.states.times[-1])
        if not self._condition():
            self._since_s = now_s
            return False
        return now_s - self._since_s >= self._for_s


def advance_on_clock(
    plant: Plant, commands: Mapping[str, JointCommands], clock: Clock
) -> Mapping[str, JointStates]:
    """Wait until the frames are due, let them pass in the plant, and return the joint states.

    Frames that end a frame or more too late get a fault `late`. In real time there is one row of commands.

    Raises:
        BodyError: a body does not answer, or returns another number of frames than it was sent.
    """
    frame_s = plant.frame_period_s
    n_frames = len(next(iter(commands.values())))  # the same for all robots
    begin_s = next(iter(plant.bodies.values())).time_s
    clock.wait_until(begin_s)
    states = plant.advance(commands)
    end_s = begin_s + n_frames * frame_s
    delay_s = clock.delay(end_s, tolerance_s=frame_s)
    for name in commands:
        n_returned = len(states[name]) if name in states else 0
        if n_returned != n_frames:
            raise BodyError(f"{name} was sent {n_frames} frames, but returned {n_returned}")
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
    """Drive the robots of a plant by controllers.

    All bodies are opened first. However the run ends (by an exception, or in the main thread by Ctrl-C,
    SIGTERM or SIGHUP), all bodies are stopped and closed before the exception is raised; further signals are
    ignored meanwhile. A controller is called when its rows are used up, so each robot has a rhythm of its
    own.

    Args:
        plant: the plant.
        controllers: one for each body of the plant, by its name there.
        until_s: the plant's time at which the run ends [s]; infinity for no limit.
        watchers: each receives every block, in this order; the run ends after a block for which one of them
            returns True.
        clock: paces the frames of a plant without a clock; simulated time by default. In real time frames are
            sent one by one, and one that is a frame or more too late gets a fault `late`.
        safety: safety filters other than `Safety(robot)`, by robot.
        on_end: what the servos do after the run.
        on_failure: what the servos do where an exception or a signal ends the run.

    Raises:
        InputError: controllers and bodies do not match, or a time is not valid.
        BodyError: a body does not answer, or returns another number of frames than it was sent.
        UnsafeCommandError: a command is not finite.
        SystemExit: on SIGTERM or SIGHUP.
    """
    unmatched = set(plant.bodies) ^ set(controllers)
    if unmatched:
        raise InputError(
            f"controllers and bodies do not match: {', '.join(sorted(unmatched))}",
            hint=f"one controller for each of {', '.join(plant.bodies)}",
        )
    if not plant.bodies or math.isnan(until_s) or not plant.frame_period_s > 0.0:
        message = f"{len(plant.bodies)} bodies, frames of {plant.frame_period_s} s, until {until_s} s"
        raise InputError(message, hint="at least one body, and times above 0")
    run_clock = plant.clock or clock or SimulatedClock()
    with _open_bodies(plant.bodies, on_end, on_failure), _garbage_collection_frozen(run_clock):
        run_clock.restart()
        loop = _DriveLoop(plant, controllers, watchers, run_clock, safety=safety or {})
        while not loop.advance(until_s):
            pass


@contextmanager
def _open_bodies(
    bodies: Mapping[str, Body], on_end: TorquePolicy, on_failure: TorquePolicy
) -> Iterator[None]:
    """Open all bodies; on leaving the context, stop all of them, then close them."""
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
            with _signals_handled((*ENDING_SIGNALS, signal.SIGINT), signal.SIG_IGN), ExitStack() as ending:
                # called in reverse order, even where some raise: all bodies stop before any is closed
                for body in opened:
                    ending.callback(body.close)
                for body in opened:
                    ending.callback(body.stop, policy)


@contextmanager
def _garbage_collection_frozen(clock: Clock) -> Iterator[None]:
    """In real time, exclude objects older than the run from garbage collection, which shortens its pauses."""
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
    """Raise SystemExit on SIGTERM and SIGHUP in this context, unless they have a handler already."""
    unhandled = [ending for ending in ENDING_SIGNALS if signal.getsignal(ending) is signal.SIG_DFL]
    with _signals_handled(unhandled, _exit_on_signal):
        yield


SignalHandler = Callable[[int, FrameType | None], object] | signal.Handlers


@contextmanager
def _signals_handled(signals: Sequence[signal.Signals], handler: SignalHandler) -> Iterator[None]:
    """Set a handler of signals in this context; has no effect outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handlers = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, previous_handler in previous_handlers.items():
            signal.signal(number, previous_handler)


def _exit_on_signal(signum: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- a signal handler
    raise SystemExit(128 + signum)


class _DrivenRobot:
    """One robot of a run: its body, its controller, and the commands that are still to be sent.

    Attributes:
        name: its name in the plant.
        body: its body.
        state: the body's state at the controller's last decision.
        requests: the controller's last commands.
        commands: the same commands after the safety filter.
        interventions: what the filter corrected; None if nothing.
        n_unsent: number of rows of `commands` that are still to be sent.

    Raises:
        BodyError: the body does not know the position of a joint.
    """

    def __init__(self, name: str, body: Body, controller: Controller, safety: Safety) -> None:
        """Observe the body, whose positions count as the angles commanded before the first command.

        Raises:
            BodyError: the position of a joint is unknown.
        """
        self.name = name
        self.body = body
        self._controller = controller
        self._safety = safety
        self._last_angles: Floats = body.observe().positions[0].copy()
        unknown = np.flatnonzero(np.isnan(self._last_angles))
        if len(unknown):
            joints = ", ".join(body.robot.joint_names[joint] for joint in unknown[:3])
            raise BodyError(f"{name} gives no position of {joints}", hint="no command is safe without it")
        self.state: BodyState
        self.requests: JointCommands
        self.commands: JointCommands
        self.interventions: Interventions | None = None
        self.n_unsent = 0

    def decide(self, max_frames: int) -> None:
        """Read the body, get its next commands from the controller, and filter them.

        Args:
            max_frames: the greatest number of rows that the controller may return.

        Raises:
            BodyError: the body does not answer, or the controller returned no row or too many.
            UnsafeCommandError: a command is not finite.
        """
        self.state = self.body.read()
        self.requests = self._controller.next(self.state, max_frames)
        if not 1 <= len(self.requests) <= max_frames:
            raise BodyError(
                f"the controller of {self.name} returned {len(self.requests)} frames",
                hint=f"1 to {max_frames} rows",
            )
        filtered = self._safety.filter(self.requests, self._last_angles)
        self.commands = filtered.commands
        self.interventions = filtered.interventions
        self.n_unsent = len(self.requests)

    def next_rows(self, n_rows: int) -> JointCommands:
        """Return the next `n_rows` rows of commands that are still to be sent."""
        if n_rows == len(self.commands):  # all of them, without a copy
            return self.commands
        begin = len(self.commands) - self.n_unsent
        return self.commands[begin : begin + n_rows]

    def finish_rows(self, n_rows: int, states: JointStates) -> Block:
        """Count the next rows as sent, and return them with the joint states that followed as a block.

        A row is a frame of joint commands. `requests` are the rows as the controller asked for them; the
        commands sent may differ from them by interventions, corrections at limits of angle and speed.

        Args:
            n_rows: number of rows that were sent; at most `n_unsent`.
            states: the joint states at the end of each of these frames.
        """
        sent_commands = self.next_rows(n_rows)
        begin = len(self.requests) - self.n_unsent
        end = begin + n_rows
        requests = self.requests
        if n_rows < len(self.requests):  # otherwise all of them, without a copy
            requests = self.requests[begin:end]
        interventions = None if self.interventions is None else self.interventions.within(begin, end)
        self.n_unsent -= n_rows
        self._store_last_angles(sent_commands, measured=states.positions[-1])
        return Block(self.name, self.state, requests, sent_commands, states, interventions)

    def _store_last_angles(self, sent_commands: JointCommands, measured: Floats) -> None:
        """Store the angles from which the safety filter limits the next change.

        They are those commanded last. Joints without torque do not follow commands, so theirs are measured.

        Args:
            sent_commands: the rows that were sent.
            measured: the positions after the last of them, `(n_joints,)` [rad]; NaN where unknown.
        """
        last_commanded = sent_commands.angles[-1].copy()  # the controller may reuse its array
        if sent_commands.free is None:
            self._last_angles = last_commanded
            return
        is_free_and_known = sent_commands.free & np.isfinite(measured)
        self._last_angles = np.where(is_free_and_known, measured, last_commanded)


class _DriveLoop:
    """Drives the robots of an open plant: gets rows of the controllers, sends them, calls the watchers."""

    def __init__(
        self,
        plant: Plant,
        controllers: Mapping[str, Controller],
        watchers: Sequence[Watcher],
        clock: Clock,
        safety: Mapping[str, Safety],
    ) -> None:
        """Observe all bodies, which must be open."""
        self._plant = plant
        self._watchers = watchers
        self._clock = clock
        self._robots = [
            _DrivenRobot(
                name, body, controller=controllers[name], safety=safety.get(name) or Safety(body.robot)
            )
            for name, body in plant.bodies.items()
        ]
        self._frame_s = plant.frame_period_s

    def advance(self, until_s: float) -> bool:
        """Let some frames pass and return whether the run is over.

        As many frames pass as all robots have rows for; in real time a single one.

        Args:
            until_s: the plant's time at which the run ends [s].
        """
        now_s = self._robots[0].body.time_s
        max_frames = int(min((until_s - now_s) / self._frame_s, MAX_BLOCK_FRAMES) + SLACK_FRAMES)
        if max_frames <= 0:
            return True
        for robot in self._robots:
            if robot.n_unsent == 0:
                robot.decide(max_frames)
        n_frames = 1
        if not self._clock.is_real:
            n_frames = min(max_frames, *(robot.n_unsent for robot in self._robots))
        commands = {robot.name: robot.next_rows(n_frames) for robot in self._robots}
        states = advance_on_clock(self._plant, commands, self._clock)
        is_over = False
        for robot in self._robots:
            block = robot.finish_rows(n_frames, states[robot.name])
            for watcher in self._watchers:  # all of them get the block, even if one ends the run
                is_over = watcher.watch(block) or is_over
        return is_over
