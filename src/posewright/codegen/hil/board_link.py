"""The line to a board: sends requests, repeats those that are not answered, and notices resets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from posewright.codegen.hil.frames import (
    ANSWER,
    FRAME_OVERHEAD,
    FrameKind,
    FrameReader,
    Hello,
    LinkFrame,
    Refusal,
)
from posewright.codegen.unit import EmulatedBoard

ATTEMPTS = 8
"""How often a request is sent before it counts as not answered in time."""

GREETING_S = 5.0
"""How long a board may take for its first hello: an Arduino's boot loader waits for two seconds [s]."""

BAUD = 115_200
"""Baud rate of the boards' own code for a chart [bit/s]."""

BITS_A_BYTE = 10
"""Bits of a byte on the line, with its start and stop bits."""

SLICE_S = 0.001
"""The board's time between two reads of the line [s]."""

_UNREQUESTED = 0
"""Sequence number of the hello that a board sends after a reset; no request has it."""

_MAX_LISTENING = 20
"""A line that never falls silent is read for so many times the timeout."""


@dataclass(frozen=True, slots=True)
class BoardRequest:
    """A request to a board, which recognises a repeated request by its sequence number."""

    kind: FrameKind
    sequence: int
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """What happened on the line to a board.

    Attributes:
        questions: number of requests answered.
        retries: repeated requests.
        timeouts: attempts without an answer in time.
        damaged: answers with a wrong CRC; requests that arrived damaged are among the timeouts.
        skipped: bytes that belong to no frame.
        stale: answers to another request than the last.
        resets: unexpected resets of the board.
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
        """Number of faults of all kinds; 0 on a sound line."""
        return self.retries + self.timeouts + self.damaged + self.skipped + self.stale + self.resets


class BoardLink:
    """The line to a board.

    Args:
        port: the board at the other end, whose time advances by `advance`.
        timeout_s: how long an attempt waits in silence once the request has arrived [s].
        slice_s: the board's time between two reads of the line [s].
        baud: baud rate of the line [bit/s].

    Attributes:
        time_s: the time by which this link has advanced the board [s].
        was_reset: whether the board was reset since its last hello; it answers nothing until the next one.
    """

    def __init__(
        self, port: EmulatedBoard, *, timeout_s: float, slice_s: float = SLICE_S, baud: int = BAUD
    ) -> None:
        """Prepare the line; nothing is sent yet."""
        self.port = port
        self.time_s = 0.0
        self.was_reset = False
        self._timeout_s = timeout_s
        self._slice_s = slice_s
        self._byte_duration_s = BITS_A_BYTE / baud
        self._reader = FrameReader()
        self._last_sequence = _UNREQUESTED  # of the last request
        self.reset_counts()

    @property
    def counts(self) -> LinkCounts:
        """What has happened on the line so far."""
        return replace(
            self._counts, damaged=self._reader.n_damaged_frames, skipped=self._reader.n_skipped_bytes
        )

    def reset_counts(self) -> None:
        """Start counting at 0: what a board sends while it starts is no fault of the line."""
        self._counts = LinkCounts()
        self._reader.n_damaged_frames = 0
        self._reader.n_skipped_bytes = 0

    def new_request(self, kind: FrameKind, payload: bytes = b"") -> BoardRequest:
        """Return a request with the next sequence number."""
        self._last_sequence = self._last_sequence % 255 + 1  # 1 to 255: no request has the number 0
        return BoardRequest(kind, self._last_sequence, payload)

    def greet(self, retry_for_s: float = 0.0) -> Hello | None:
        """Request a hello until the board answers, and return it; None if it does not for `retry_for_s`.

        After an answer `was_reset` is false; without one it is as before.
        """
        deadline_s = self.time_s + retry_for_s
        was_reset = self.was_reset
        self.was_reset = False
        while True:
            payload = self.send_request(self.new_request(FrameKind.HELLO))
            if payload is not None:
                return Hello.decode(payload)
            if self.time_s >= deadline_s:
                self.was_reset = was_reset
                return None

    def send_request(self, request: BoardRequest) -> bytes | None:
        """Send a request, repeatedly where needed, and return the payload of the answer.

        None means that no answer came in time, or that the board was reset.
        """
        for attempt in range(ATTEMPTS):
            if attempt > 0:
                self._counts = replace(self._counts, retries=self._counts.retries + 1)
            self.port.send(LinkFrame(request.kind, request.sequence, request.payload).encode())
            answer = self._wait_for_answer(request)
            counts = self._counts
            if answer is not None:
                self._counts = replace(counts, questions=counts.questions + 1)
                return answer
            if self.was_reset:
                return None
            self._counts = replace(counts, timeouts=counts.timeouts + 1)
        return None

    def wait_until(self, time_s: float) -> None:
        """Advance the board's time to a time of this link [s], unless it has passed already."""
        if time_s > self.time_s:
            remaining_s = time_s - self.time_s
            self.time_s = time_s
            self._find_answer(self._reader.feed(self.port.advance(remaining_s)), request=None)

    def close(self) -> None:
        """Close the line to the board."""
        self.port.close()

    def _wait_for_answer(self, request: BoardRequest) -> bytes | None:
        """Return the payload of the answer to a request; None where the line stays silent for the timeout."""
        transmission_s = (len(request.payload) + FRAME_OVERHEAD) * self._byte_duration_s
        n_timeout_slices = max(1, math.ceil((self._timeout_s + transmission_s) / self._slice_s))
        n_silent_slices = 0
        for _ in range(n_timeout_slices * _MAX_LISTENING):
            data = self.port.advance(self._slice_s)
            self.time_s += self._slice_s
            answer = self._find_answer(self._reader.feed(data), request)
            if answer is not None or self.was_reset:
                return answer
            n_silent_slices = 0 if data else n_silent_slices + 1
            if n_silent_slices >= n_timeout_slices:
                break
        return self._find_answer(self._reader.flush(), request)

    def _find_answer(self, frames: Iterable[LinkFrame], request: BoardRequest | None) -> bytes | None:
        """Return the payload of the answer to a request from frames received; None if none is the answer.

        Without a request, the frames are only checked for a reset of the board.

        A board shows that it was reset by a hello that nobody requested, or by refusing a request because it
        has not been greeted. Other frames answer an earlier request, and are counted as stale.
        """
        answer: bytes | None = None
        for frame in frames:
            is_answer = request is not None and frame.sequence == request.sequence
            if is_answer and request is not None and frame.kind == request.kind | ANSWER:
                answer = frame.payload
            elif is_answer and frame.kind is FrameKind.REFUSED:
                if frame.payload == bytes([Refusal.NOT_GREETED]):
                    self._record_reset()
            elif frame.kind is FrameKind.HELLO_ANSWER and frame.sequence == _UNREQUESTED:
                if request is None or request.kind is not FrameKind.HELLO:
                    self._record_reset()
            else:
                self._counts = replace(self._counts, stale=self._counts.stale + 1)
        return answer

    def _record_reset(self) -> None:
        """Set `was_reset`, and count the reset unless it is known already."""
        if not self.was_reset:
            self.was_reset = True
            self._counts = replace(self._counts, resets=self._counts.resets + 1)
