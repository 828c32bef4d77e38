"""A unit on a board, stepped beside the interpreter with the same inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from posewright.codegen.hil.board_link import BAUD, GREETING_S, SLICE_S, BoardLink, BoardRequest, LinkCounts
from posewright.codegen.hil.frames import PROTOCOL, FrameKind
from posewright.codegen.unit import EmulatedBoard, UnitSpec
from posewright.errors import BodyError, ExpressionError

SHARE_OF_PERIOD = 0.1
"""Timeout of an attempt as a share of the time between two ticks, so that eight attempts fit."""

SHORTEST_S = 0.004
"""Shortest timeout of an emulated board: a behaviour's longest step and its packet take 3 ms [s]."""

SHORTEST_REAL_S = 0.02
"""Shortest timeout of a real board: a USB adapter may delay bytes by 16 ms [s]."""

_FAILURES: Mapping[int, str] = {
    1: "it divides by zero",
    2: "the tick does not end",
    3: "a sensor read no number at the first tick",
}
"""Meaning of a unit's status."""

Record = np.void
"""One record, of inputs or of states."""

Event = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StepTrace:
    """A step of the board and of the interpreter with the same inputs, each with its record of states."""

    time_s: float
    inputs: Record
    board_state: Record
    reference_state: Record

    @property
    def agrees(self) -> bool:
        """Whether the records are the same, bit for bit."""
        return self.board_state.tobytes() == self.reference_state.tobytes()


@dataclass(frozen=True, slots=True)
class Parity:
    """The steps of a board compared with those of the interpreter.

    Attributes:
        steps: all steps that the board answered, in order.
        missed_times_s: times of ticks without an answer in time, at which the robot had to stand still [s].
        late_times_s: times of ticks answered after the next tick was due [s]; empty for a real board.
        time_ratio: the board's time over the run's; above 1 the board cannot keep up.
    """

    steps: tuple[StepTrace, ...] = field(repr=False)
    missed_times_s: tuple[float, ...] = ()
    late_times_s: tuple[float, ...] = ()
    time_ratio: float = 1.0

    @property
    def mismatches(self) -> tuple[StepTrace, ...]:
        """The steps at which board and interpreter differ."""
        return tuple(step for step in self.steps if not step.agrees)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        mismatches = self.mismatches
        data = {
            "ticks": len(self.steps),
            "mismatches": len(mismatches),
            "missed": len(self.missed_times_s),
            "late": len(self.late_times_s),
            "pace": round(self.time_ratio, 3),
        }
        if mismatches:
            data["first_mismatch_s"] = mismatches[0].time_s
        return data


class _PendingRequest(NamedTuple):
    """A request that was not answered yet, and the inputs of the step that it requests; None for a reset."""

    request: BoardRequest
    inputs: Record | None


class BoardUnit:
    """Steps a unit on a board, each step at most once, and the interpreter beside it.

    A step that is not answered in time is requested again when the next one is due, so that the board takes
    it once; the steps due meanwhile are left out. After a reset of the board, the unit and the interpreter
    start again.

    Args:
        port: the line to the board.
        unit_spec: the unit on it.
        period_s: time between two steps [s].
        is_real: whether the board's time advances by itself.
        baud: baud rate of the line [bit/s].

    Raises:
        BodyError: no board answers, or it runs another unit.
    """

    def __init__(
        self,
        port: EmulatedBoard,
        unit_spec: UnitSpec,
        period_s: float,
        *,
        is_real: bool = False,
        baud: int = BAUD,
    ) -> None:
        """Greet the board, and prepare the interpreter beside it."""
        timeout_s = max(SHARE_OF_PERIOD * period_s, SHORTEST_REAL_S if is_real else SHORTEST_S)
        self.link = BoardLink(port, timeout_s=timeout_s, slice_s=min(SLICE_S, period_s / 32), baud=baud)
        self.unit_spec = unit_spec
        self._is_real = is_real
        self._period_s = period_s
        self._interpreter = unit_spec.reference()  # takes the same steps as the board
        self._pending_request: _PendingRequest | None = None  # None while all are answered
        self._answered_steps: list[StepTrace] = []  # all steps that were answered
        self._events: list[Event] = []  # since the last `take_events`
        self._missed_times_s: list[float] = []  # of steps without an answer in time
        self._late_times_s: list[float] = []  # of steps whose answer came after the next was due
        self._n_missed_in_a_row = 0  # steps without an answer up to now
        self._time_s = 0.0  # the present time of the run
        self._run_start_s = 0.0  # the link's time at which the run began
        try:
            self._require_greeting()
        except BodyError:
            self.close()
            raise
        self.restart()

    @property
    def parity(self) -> Parity:
        """The board compared with the interpreter so far."""
        run_s = self._time_s + self._period_s
        time_ratio = 1.0 if self._is_real else max(1.0, (self.link.time_s - self._run_start_s) / run_s)
        return Parity(
            tuple(self._answered_steps),
            missed_times_s=tuple(self._missed_times_s),
            late_times_s=tuple(self._late_times_s),
            time_ratio=time_ratio,
        )

    @property
    def counts(self) -> LinkCounts:
        """What has happened on the line so far."""
        return self.link.counts

    def restart(self) -> None:
        """Restart the interpreter now, and the board before its next step."""
        self._pending_request = _PendingRequest(self.link.new_request(FrameKind.RESET), inputs=None)
        self._interpreter.reset()

    def wait_until(self, time_s: float) -> None:
        """Advance the board's time to a time of the run [s], and notice a reset."""
        self._time_s = time_s
        if not self._is_real:
            self.link.wait_until(self._run_start_s + time_s)

    def step(self, inputs: Record) -> Record | None:
        """Return the record of states after a step; None where the board does not answer in time.

        The time of a missed or late step is stored for `parity`. An event for the recording is made of the
        first missed step of several in a row, of the next answer after these, and of the first late answer.

        Raises:
            ExpressionError: the chart on the board has failed.
        """
        state = self._request_step(inputs)
        if state is None:
            self._missed_times_s.append(self._time_s)
            self._n_missed_in_a_row += 1
            was_reset = self._pending_request is None
            if self._n_missed_in_a_row == 1 and not was_reset:
                self._record_event("no answer in time", counts=self.counts.to_dict())
        elif self._n_missed_in_a_row:
            self._record_event("answers again", missed=self._n_missed_in_a_row)
            self._n_missed_in_a_row = 0
        if state is not None and self._is_late:
            self._late_times_s.append(self._time_s)
            if len(self._late_times_s) == 1:
                self._record_event("answers after the next tick is due")
        return state

    @property
    def _is_late(self) -> bool:
        """Whether the next step is due already; always False for a real board, whose time is not known."""
        due_s = self._run_start_s + self._time_s + self._period_s
        return not self._is_real and self.link.time_s > due_s

    def take_events(self) -> tuple[Event, ...]:
        """Return the events since the last call, as kind and details for a recording."""
        events = tuple(self._events)
        self._events = []
        return events

    def close(self) -> None:
        """Close the line to the board and the interpreter."""
        self.link.close()
        self._interpreter.close()

    def _request_step(self, inputs: Record) -> Record | None:
        """Run one step on the board; return its state record, or None if the board has not answered.

        The board runs one request at a time. A step without an answer stays pending, and is sent again at the
        next tick, before the step of that tick.

        Args:
            inputs: the record of the chart's inputs at this tick.
        """
        if self.link.was_reset:
            self._resume_after_reset()
            return None  # the robot stands still for a tick at least, as the chart's state is lost
        if self._pending_request is not None and not self._send_pending(self._pending_request):
            return None  # an earlier step has not been answered yet
        request = self.link.new_request(FrameKind.STEP, inputs.tobytes())
        self._pending_request = _PendingRequest(request, inputs)
        if not self._send_pending(self._pending_request):
            return None
        return self._answered_steps[-1].board_state

    def _send_pending(self, pending: _PendingRequest) -> bool:
        """Send the pending request and return whether it was answered; then it is no longer pending.

        The state in the answer to a step is compared with that of the interpreter after the same step. If the
        board was reset meanwhile, there is no answer, and the interpreter starts again as the board does.
        """
        payload = self.link.send_request(pending.request)
        if payload is None:
            if self.link.was_reset:
                self._resume_after_reset()
            return False
        self._pending_request = None
        if pending.inputs is not None:  # the request was a step, which is answered by its state
            board_state = np.frombuffer(payload, self.unit_spec.state_dtype)[0]
            self._compare_with_interpreter(pending.inputs, board_state)
        return True

    def _compare_with_interpreter(self, inputs: Record, state: Record) -> None:
        """Step the interpreter with the inputs of a step of the board, and store both states for `parity`.

        Raises:
            ExpressionError: the status of the board's state is a failure.
        """
        reference_state = self._interpreter.run(np.array([inputs], self.unit_spec.input_dtype))[0]
        self._answered_steps.append(
            StepTrace(self._time_s, inputs, board_state=state, reference_state=reference_state)
        )
        status = int(state["status"])
        if status:
            failure = _FAILURES.get(status, f"status {status}")
            raise ExpressionError(
                f"{self.unit_spec.name} has failed on the board at {self._time_s:.2f} s: {failure}"
            )

    def _resume_after_reset(self) -> None:
        """Restart the interpreter and greet a board that was reset."""
        self._pending_request = None
        self._interpreter.reset()
        if self.link.greet() is not None:
            self._record_event("was reset and begins anew")

    def _record_event(self, description: str, **details: object) -> None:
        """Append an event of the kind `board`, which `take_events` returns."""
        self._events.append(("board", {"what": description, **details}))

    def _require_greeting(self) -> None:
        """Wait for the board's hello and require that it runs this unit.

        Raises:
            BodyError: no board answers, or it runs another unit.
        """
        hello = self.link.greet(GREETING_S)
        if hello is None:
            raise BodyError(
                "no board answers",
                hint="flash it with the output of `posewright board build`, and check the baud rate",
            )
        unit_spec = self.unit_spec
        input_bytes = unit_spec.input_dtype.itemsize
        state_bytes = unit_spec.state_dtype.itemsize
        unit_on_board = (hello.protocol, hello.name, hello.input_bytes, hello.state_bytes)
        if unit_on_board != (PROTOCOL, unit_spec.name, input_bytes, state_bytes):
            raise BodyError(
                f"the board has {hello.name!r} on it, with records of {hello.input_bytes} and "
                f"{hello.state_bytes} bytes, protocol {hello.protocol}",
                hint=f"flash {unit_spec.name!r}: {input_bytes} and {state_bytes} bytes, protocol {PROTOCOL}",
            )
        self._run_start_s = self.link.time_s
        self.link.reset_counts()
