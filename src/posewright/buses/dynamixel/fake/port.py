"""A fake bus on a pseudo-terminal, in real time: any program opens its path as the port of an adapter."""

from __future__ import annotations

import math
import os
import select
import struct
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from posewright.buses.dynamixel.fake.bus import FakeBus, Reply
from posewright.errors import PosewrightError, UnavailableError

IDLE_S = 0.05
"""How long the loop waits at most for a byte before it looks whether it shall end [s]."""

CONVERSATION_S = 0.02
"""For so long after the last byte a precise port watches the wire without a pause [s]."""

QUIET_S = 0.0005
"""Nobody has spoken for so long before physics goes on [s]: a controller may take a breath in between."""

LATE_FRAMES = 4
"""Physics that is so far behind goes on even while somebody waits for an answer."""

SLACK_S = 0.005
"""The rest of a packet that comes so much later still followed at once [s]."""

SPIN_S = 150e-6
"""So long before a reply is due the system's timers are trusted no more [s]."""

PASSAGES = 50
CHUNK = 4096
LINUX_TCGETS2 = 0x802C542A
_TERMIOS2 = struct.Struct("=4IB19s2I")  # flags of four kinds, line discipline, characters, speeds in and out


class FakePort:
    """Runs a bus on a pseudo-terminal in a thread, from `start` (or `with`) to `close`.

    The bytes of a reply come out when the last of them has been on the wire. Clients may come and go; the
    rate that one sets is the rate at which it speaks. Physics goes on while nobody waits for an answer.

    Args:
        now: a clock that only runs forward [s], such as `time.perf_counter`.
        precise: watch the clock before a reply is due, and send it as much earlier as bytes take through a
            pseudo-terminal and back, which no wire has: it comes out within some 10 us of its time. That
            costs much of a core. Otherwise the system's timers decide, some 60 us late.

    Attributes:
        path: what a client opens; the same after `plug`.
        error: what ended the loop, where the physics failed.
        unread: bytes that no client took.

    Raises:
        UnavailableError: there are no pseudo-terminals here.
    """

    def __init__(self, bus: FakeBus, *, now: Callable[[], float], precise: bool = False) -> None:
        self.bus = bus
        self.precise = precise
        self.error: PosewrightError | None = None
        self.unread = 0
        self._now = now
        self._zero_s = now() - bus.time_s
        self._spoken_s = self._ahead_s = 0.0
        self._folder = tempfile.TemporaryDirectory(prefix="posewright-bus-")
        self.path = str(Path(self._folder.name) / "ttyAX12")
        self._ends: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.plug()

    def __enter__(self) -> FakePort:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def time_s(self) -> float:
        """The bus's time now [s]."""
        return self._now() - self._zero_s

    def start(self) -> FakePort:
        """Run it in a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="fake bus", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """End it, and take the port away."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.unplug()
        self._folder.cleanup()

    def unplug(self) -> None:
        """Pull the adapter's plug: the port is gone, and a client that has it open gets errors."""
        with self._lock:
            ends = self._ends
            self._ends = None
            Path(self.path).unlink(missing_ok=True)
            for end in ends or ():
                os.close(end)

    def plug(self) -> None:
        """Plug the adapter in again: the port is back under its path."""
        try:
            import tty
        except ImportError as error:
            raise UnavailableError(
                "a fake bus needs pseudo-terminals", hint="Linux and macOS have them"
            ) from error
        with self._lock:
            if self._ends is None:
                outer, inner = os.openpty()
                tty.setraw(inner)
                os.set_blocking(outer, False)
                self._ends = outer, inner  # the inner end stays open, so that a client that goes ends nothing
                if self.precise:
                    self._ahead_s = 2.0 * _passage_s(inner, outer, self._now)
                Path(self.path).symlink_to(os.ttyname(inner))

    def run(self, until_s: float = math.inf) -> None:
        """Let the bus live until its time has come, `close`, or the physics fails, which `error` tells."""
        try:
            while not self._stop.is_set() and self.time_s < until_s:
                self._turn()
        except PosewrightError as error:
            self.error = error
            self.unplug()

    def _turn(self) -> None:
        """Wait for bytes or for something to end, and let it happen."""
        with self._lock:
            outer = None if self._ends is None else self._ends[0]
        patience_s = self._patience_s()
        if outer is None:
            self._stop.wait(IDLE_S / 10.0)
        elif patience_s > 0.0:
            with suppress(OSError, ValueError):  # pulled meanwhile
                select.select([outer], [], [], patience_s)
        with self._lock:
            now_s = self.time_s
            if data := self._read():
                self.bus.receive(data, now_s, self._baud(), slack_s=SLACK_S)
            for reply in self.bus.advance(now_s + self._ahead_s, physics=False):
                self._write(reply)
            if data or self.bus.next_s is not None:
                self._spoken_s = now_s
            late_s = now_s - self.bus.frame_due_s
            most_s = LATE_FRAMES * self.bus.physics.frame_period_s
            is_quiet = self.bus.next_s is None and now_s - self._spoken_s > QUIET_S
            if late_s >= 0.0 and (is_quiet or late_s > most_s):  # the wire waits for one frame, or a few
                self.bus.step(self.bus.frame_due_s + (min(late_s, most_s) if is_quiet else 0.0))

    def _patience_s(self) -> float:
        """Return how long nothing but a byte of the client can happen [s]."""
        next_s = self.bus.next_s
        if self.precise and self.time_s - self._spoken_s < CONVERSATION_S:
            return 0.0  # to wake up for the next request would take longer than many a request
        due_s = max(self.bus.frame_due_s, self._spoken_s + QUIET_S) if next_s is None else next_s
        spin_s = SPIN_S if self.precise and next_s is not None else 0.0
        return min(IDLE_S, max(0.0, due_s - self.time_s - spin_s))

    def _read(self) -> bytes:
        if self._ends is None:
            return b""
        with suppress(BlockingIOError):
            return os.read(self._ends[0], CHUNK)
        return b""

    def _write(self, reply: Reply) -> None:
        sent = 0
        with suppress(BlockingIOError):
            sent = os.write(self._ends[0], reply.data) if self._ends else 0
        self.unread += len(reply.data) - sent

    def _baud(self) -> int:
        """Return the rate that the client has set [bits a second]."""
        return baud_of(self._ends[1]) if self._ends else 0


def _passage_s(sender: int, receiver: int, now: Callable[[], float]) -> float:
    """Return how long a byte takes from one end of a pseudo-terminal to the other, at best [s]."""
    took = []
    for _ in range(PASSAGES):
        begun = now()
        os.write(sender, b"\0")
        while True:
            with suppress(BlockingIOError):
                os.read(receiver, 1)
                break
        took.append(now() - begun)
    return min(took)


def baud_of(terminal: int) -> int:
    """Return the rate that is set on a terminal, also one that no constant stands for [bits a second]."""
    import fcntl
    import termios

    with suppress(OSError):
        *_rest, speed = _TERMIOS2.unpack(fcntl.ioctl(terminal, LINUX_TCGETS2, bytes(_TERMIOS2.size)))
        return int(speed)
    speed_code = termios.tcgetattr(terminal)[5]
    names = {
        getattr(termios, name): name for name in dir(termios) if name.startswith("B") and name[1:].isdecimal()
    }
    return int(names[speed_code][1:]) if speed_code in names else int(speed_code)
