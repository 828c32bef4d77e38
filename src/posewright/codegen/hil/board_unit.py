"""A unit on a board, and the interpreter beside it, which gets the same inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posewright.codegen.hil.board_link import BAUD, GREETING_S, SLICE_S, BoardLink, LinkCounts, Question
from posewright.codegen.hil.frames import PROTOCOL, FrameKind
from posewright.codegen.unit import EmulatedBoard, Subject
from posewright.errors import BodyError, ExpressionError

SHARE_OF_PERIOD = 0.1
"""So much of the time between two ticks an attempt waits in silence: eight of them leave some of it."""

SHORTEST_S, SHORTEST_REAL_S = 0.004, 0.02
"""No attempt is shorter: a behaviour's longest step and its packet take 3 ms; what makes a serial port
of a USB one may hold bytes back for 16 ms [s]."""

_FAILED: Mapping[int, str] = {
    1: "it divides by zero",
    2: "the tick does not end",
    3: "a sensor read no number at the first tick",
}
"""What a unit's status says."""

Record = np.void
"""One record, of inputs or of states."""

Event = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StepTrace:
    """A step of the board beside the interpreter's: each with its record of states."""

    time_s: float
    inputs: Record
    board: Record
    reference: Record

    @property
    def agrees(self) -> bool:
        """Whether the records are the same, bit for bit."""
        return self.board.tobytes() == self.reference.tobytes()


@dataclass(frozen=True, slots=True)
class Parity:
    """Whether a board did what the interpreter does on the same inputs.

    Attributes:
        steps: all that the board answered, in order.
        missed: when no answer came in time, and the robot was to stand [s].
        late: ticks whose answer came after the next one was due [s]; a real board's are not known.
        pace: the board's time over the run's: above 1 the board cannot keep up.
    """

    steps: tuple[StepTrace, ...] = field(repr=False)
    missed: tuple[float, ...] = ()
    late: tuple[float, ...] = ()
    pace: float = 1.0

    @property
    def mismatches(self) -> tuple[StepTrace, ...]:
        """The steps at which the two do not agree."""
        return tuple(one for one in self.steps if not one.agrees)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, fit for JSON."""
        wrong = self.mismatches
        first = {"first_mismatch_s": wrong[0].time_s} if wrong else {}
        times = {"missed": len(self.missed), "late": len(self.late), "pace": round(self.pace, 3)}
        return {"ticks": len(self.steps), "mismatches": len(wrong), **times, **first}


class BoardUnit:
    """Steps a unit on a board: each step at most once, and the interpreter's beside it.

    A step that is not answered in time is asked for again when the next one falls due, so that the board
    takes it once; the steps that fall due meanwhile are left out. A board that was reset begins anew,
    and so does the interpreter beside it.

    Args:
        port: the line to the board.
        subject: what is on it.
        period_s: between two steps [s].
        is_real: whether the board's time goes on by itself.
        baud: of the line [bit/s].

    Raises:
        BodyError: no board answers, or there is something else on it.
    """

    def __init__(
        self,
        port: EmulatedBoard,
        subject: Subject,
        period_s: float,
        *,
        is_real: bool = False,
        baud: int = BAUD,
    ) -> None:
        timeout_s = max(SHARE_OF_PERIOD * period_s, SHORTEST_REAL_S if is_real else SHORTEST_S)
        self.link = BoardLink(port, timeout_s=timeout_s, slice_s=min(SLICE_S, period_s / 32), baud=baud)
        self.subject, self._is_real, self._period_s = subject, is_real, period_s
        self._reference = subject.reference()
        self._open: tuple[Question, Record | None] | None = None
        self._steps: list[StepTrace] = []
        self._events: list[Event] = []
        self._missed: list[float] = []
        self._late: list[float] = []
        self._in_a_row = 0
        self._time_s = self._zero_s = 0.0
        try:
            self._greet()
        except BodyError:
            self.close()
            raise
        self.begin()

    @property
    def parity(self) -> Parity:
        """How the board did beside the interpreter, so far."""
        run_s = self._time_s + self._period_s
        pace = 1.0 if self._is_real else max(1.0, (self.link.time_s - self._zero_s) / run_s)
        return Parity(tuple(self._steps), tuple(self._missed), tuple(self._late), pace)

    @property
    def counts(self) -> LinkCounts:
        """How the line did, so far."""
        return self.link.counts

    def begin(self) -> None:
        """Begin anew: the board is reset before its next step."""
        self._open = self.link.question(FrameKind.RESET), None
        self._reference.reset()

    def wait_until(self, time_s: float) -> None:
        """Let the board's time go on up to a time of the run [s], and notice a reset."""
        self._time_s = time_s
        if not self._is_real:
            self.link.wait_until(self._zero_s + time_s)

    def step(self, inputs: Record) -> Record | None:
        """Return the record of states after a step; None where the board does not answer in time.

        Raises:
            ExpressionError: the chart on it has failed.
        """
        state = self._step(inputs)
        if state is None:
            self._missed.append(self._time_s)
            self._in_a_row += 1
            if self._in_a_row == 1 and self._open is not None:  # it was not reset
                self._tell("no answer in time", counts=self.counts.to_dict())
        elif self._in_a_row:
            self._tell("answers again", missed=self._in_a_row)
            self._in_a_row = 0
        if state is not None and self._is_late:
            self._late.append(self._time_s)
            if len(self._late) == 1:
                self._tell("answers after the next tick is due")
        return state

    @property
    def _is_late(self) -> bool:
        due_s = self._zero_s + self._time_s + self._period_s
        return not self._is_real and self.link.time_s > due_s

    def events(self) -> tuple[Event, ...]:
        """Return what happened since this was asked last, as kind and particulars for a recording."""
        told, self._events = tuple(self._events), []
        return told

    def close(self) -> None:
        """Let go of the board, and of the interpreter."""
        self.link.close()
        self._reference.close()

    def _step(self, inputs: Record) -> Record | None:
        if self.link.was_reset:
            self._come_back()
            return None  # the robot is to stand for a tick at least: where it was is lost
        if self._open is not None and not self._ask(*self._open):
            return None
        self._open = self.link.question(FrameKind.STEP, inputs.tobytes()), inputs
        return self._steps[-1].board if self._ask(*self._open) else None

    def _ask(self, question: Question, inputs: Record | None) -> bool:
        """Ask the open question, and return whether it was answered, which closes it."""
        payload = self.link.ask(question)
        if payload is not None:
            self._open = None
            if inputs is not None:
                self._compare(inputs, np.frombuffer(payload, self.subject.states)[0])
        elif self.link.was_reset:
            self._come_back()
        return payload is not None

    def _compare(self, inputs: Record, state: Record) -> None:
        reference = self._reference.run(np.array([inputs], self.subject.inputs))[0]
        self._steps.append(StepTrace(self._time_s, inputs, state, reference))
        status = int(state["status"])
        if status:
            what = f"{self.subject.name} has failed on the board at {self._time_s:.2f} s"
            raise ExpressionError(f"{what}: {_FAILED.get(status, f'status {status}')}")

    def _come_back(self) -> None:
        """Greet a board that was reset, whose unit has begun anew."""
        self._open = None
        self._reference.reset()
        if self.link.greet() is not None:
            self._tell("was reset and begins anew")

    def _tell(self, what: str, **further: Any) -> None:
        self._events.append(("board", {"what": what, **further}))

    def _greet(self) -> None:
        hello = self.link.greet(GREETING_S)
        if hello is None:
            what = "no board answers"
            hint = (
                "has it been flashed with what `posewright board build` made, and is the line's speed right?"
            )
            raise BodyError(what, hint=hint)
        subject = self.subject
        told = (hello.protocol, hello.name, hello.input_bytes, hello.state_bytes)
        wanted = (PROTOCOL, subject.name, subject.inputs.itemsize, subject.states.itemsize)
        if told != wanted:
            what = f"the board has {hello.name!r} on it, with records of {hello.input_bytes} and "
            what += f"{hello.state_bytes} bytes, protocol {hello.protocol}"
            hint = f"flash {subject.name!r}: {wanted[2]} and {wanted[3]} bytes, protocol {PROTOCOL}"
            raise BodyError(what, hint=hint)
        self._zero_s = self.link.time_s
        self.link.count_anew()
