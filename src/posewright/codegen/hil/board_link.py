"""Asks a board, asks again where no answer comes, and notices when it was reset."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from posewright.codegen.hil.frames import ANSWER, AROUND, Frame, FrameKind, FrameReader, Hello, Refusal
from posewright.codegen.unit import EmulatedBoard

ATTEMPTS = 8
"""How often a question is asked before it is taken that there will be no answer in time."""

GREETING_S = 5.0
"""How long a board may take to say hello at first: an Arduino's boot loader waits for two seconds [s]."""

BAUD = 115_200
"""What the boards' own code sets its line to for a chart [bit/s]."""

SLICE_S = 0.001
"""The board's time between two looks at the line [s]."""

_UNASKED = 0
"""The sequence number of a hello that nobody asked for; a question never has it."""

_ENDLESS = 20
"""A line that never falls silent is listened to so many times as long as a silent one."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a board is asked; asked again it has the same number, so that the board knows it."""

    kind: FrameKind
    sequence: int
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """How the line to a board did.

    Attributes:
        questions: that were answered.
        retries: questions asked again.
        timeouts: attempts that no answer came to in time.
        damaged: answers that the CRC did not confirm; what the board found damaged is among the timeouts.
        skipped: bytes that belonged to no frame, before the next one was found.
        stale: answers to another question than the last.
        resets: of the board, that nobody here asked for.
    """

    questions: int = 0
    retries: int = 0
    timeouts: int = 0
    damaged: int = 0
    skipped: int = 0
    stale: int = 0
    resets: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return it as plain data, fit for JSON."""
        return asdict(self)

    @property
    def faults(self) -> int:
        """How many things went wrong; 0 on a sound line."""
        return self.retries + self.timeouts + self.damaged + self.skipped + self.stale + self.resets


class BoardLink:
    """The line to a board.

    Args:
        port: the line, and what lets the board's time go on.
        timeout_s: how long an attempt waits in silence, once the question is on the board's side [s].
        slice_s: the board's time between two looks at the line [s].
        baud: of the line [bit/s].

    Attributes:
        time_s: how long the board's time went on here [s]; a real board's goes on besides.
        was_reset: whether the board has started anew since it was greeted: it answers nothing until it is
            greeted again.
    """

    def __init__(
        self, port: EmulatedBoard, *, timeout_s: float, slice_s: float = SLICE_S, baud: int = BAUD
    ) -> None:
        self.port = port
        self.time_s = 0.0
        self.was_reset = False
        self._timeout_s, self._slice_s, self._byte_s = timeout_s, slice_s, 10 / baud
        self._reader = FrameReader()
        self._sequence = _UNASKED
        self.count_anew()

    @property
    def counts(self) -> LinkCounts:
        """What happened on the line so far."""
        own = {"damaged": self._reader.damaged, "skipped": self._reader.skipped}
        return LinkCounts(**(self._counted | own))

    def count_anew(self) -> None:
        """Forget what was counted: what a board says while it starts is no fault of the line."""
        self._counted = dict.fromkeys(LinkCounts().to_dict(), 0)
        self._reader.damaged = self._reader.skipped = 0

    def question(self, kind: FrameKind, payload: bytes = b"") -> Question:
        """Return a question with the next number."""
        self._sequence = self._sequence % 255 + 1
        return Question(kind, self._sequence, payload)

    def greet(self, patience_s: float = 0.0) -> Hello | None:
        """Ask the board to say hello; None where it does not, however often within the time it is asked."""
        until_s, was_reset = self.time_s + patience_s, self.was_reset
        self.was_reset = False
        while True:
            payload = self.ask(self.question(FrameKind.HELLO))
            if payload is not None:
                return Hello.decoded(payload)
            if self.time_s >= until_s:
                self.was_reset = was_reset
                return None

    def ask(self, question: Question) -> bytes | None:
        """Return the payload of the answer; None where none came in time, or the board was reset."""
        for attempt in range(ATTEMPTS):
            self._counted["retries"] += attempt > 0
            self.port.send(Frame(question.kind, question.sequence, question.payload).encoded())
            answer = self._listen(question)
            if answer is not None:
                self._counted["questions"] += 1
                return answer
            if self.was_reset:
                return None
            self._counted["timeouts"] += 1
        return None

    def wait_until(self, time_s: float) -> None:
        """Let the board's time go on up to a time that its clock here has not reached yet [s]."""
        if time_s > self.time_s:
            ahead_s, self.time_s = time_s - self.time_s, time_s
            self._see(self._reader.feed(self.port.advance(ahead_s)), None)

    def close(self) -> None:
        """Let go of the board."""
        self.port.close()

    def _listen(self, question: Question) -> bytes | None:
        """Wait for the answer to a question."""
        on_the_way_s = (len(question.payload) + AROUND) * self._byte_s
        slices = max(1, math.ceil((self._timeout_s + on_the_way_s) / self._slice_s))
        quiet = 0
        for _ in range(slices * _ENDLESS):
            data = self.port.advance(self._slice_s)
            self.time_s += self._slice_s
            answer = self._see(self._reader.feed(data), question)
            if answer is not None or self.was_reset:
                return answer
            quiet = 0 if data else quiet + 1
            if quiet >= slices:
                break
        return self._see(self._reader.give_up(), question)

    def _see(self, frames: Iterable[Frame], question: Question | None) -> bytes | None:
        """Look at what came; return the payload of the answer that is waited for."""
        answer: bytes | None = None
        for frame in frames:
            is_ours = question is not None and frame.sequence == question.sequence
            if is_ours and question is not None and frame.kind == question.kind | ANSWER:
                answer = frame.payload
            elif is_ours and frame.kind is FrameKind.REFUSED:
                self._notice_reset(frame.payload == bytes([Refusal.NOT_GREETED]))
            elif frame.kind is FrameKind.HELLO_ANSWER and frame.sequence == _UNASKED:
                self._notice_reset(question is None or question.kind is not FrameKind.HELLO)
            else:
                self._counted["stale"] += 1
        return answer

    def _notice_reset(self, was_reset: bool) -> None:
        if was_reset and not self.was_reset:
            self.was_reset = True
            self._counted["resets"] += 1
