"""A fake bus on a pseudo-terminal, in real time: any program can open its path like that of an adapter."""

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
from typing import NamedTuple

from posewright.buses.dynamixel.fake.bus import FakeBus, Reply
from posewright.errors import PosewrightError, UnavailableError

IDLE_S = 0.05
"""Longest wait for a byte before the loop checks whether it is to end [s]."""

UNPLUGGED_S = 0.005
"""Wait of the loop while the port is unplugged [s]."""

CONVERSATION_S = 0.02
"""After the last byte a precise port polls the wire for this long [s]."""

QUIET_S = 0.0005
"""Physics goes on after the wire was idle for this long [s]: a controller may pause between packets."""

MAX_LATE_FRAMES = 4
"""Physics that is so many frames late goes on even while an answer is due."""

SLACK_S = 0.005
"""Bytes of a packet that come so much later count as sent at once [s]."""

SPIN_S = 150e-6
"""The last part of a wait for a reply is spent polling, as timers are imprecise [s]."""

N_PASSAGES = 50
CHUNK_BYTES = 4096
LINUX_TCGETS2 = 0x802C542A
_TERMIOS2 = struct.Struct("=4IB19s2I")  # four flag words, line discipline, characters, input and output speed


class _PseudoTerminal(NamedTuple):
    """Descriptors of the ends of a pseudo-terminal.

    Attributes:
        controller_end: where this program reads and writes.
        device_end: what clients open by its path; open here too, so that the terminal outlives its clients.
    """

    controller_end: int
    device_end: int


class FakePort:
    """Runs a bus on a pseudo-terminal in a thread, from `start` (or `with`) to `close`.

    The bytes of a reply are written when the last of them has been on the wire. Clients may come and go; each
    sets its own rate. Physics goes on while no answer is due.

    Args:
        bus: the fake bus.
        now: a monotonic clock [s], such as `time.perf_counter`.
        precise: poll the clock before a reply is due, and compensate the time of bytes through the
            pseudo-terminal: replies come within some 10 us of their time, which uses much of a core.
            Otherwise the system's timers make them some 60 us late.

    Attributes:
        path: the path to be opened by clients; the same after `plug`.
        error: ended the loop, if the physics failed.
        n_unread_bytes: number of bytes that no client read.

    Raises:
        UnavailableError: this system has no pseudo-terminals.
    """

    def __init__(self, bus: FakeBus, *, now: Callable[[], float], precise: bool = False) -> None:
        """Create the port; `start` runs the bus."""
        self.bus = bus
        self.precise = precise
        self.error: PosewrightError | None = None
        self.n_unread_bytes = 0
        self._now = now
        self._start_s = now() - bus.time_s  # the clock's time at which the bus's time is 0
        self._last_activity_s = 0.0  # of the wire, by the bus's time
        self._reply_lead_s = 0.0  # how much earlier a precise port writes replies
        self._folder = tempfile.TemporaryDirectory(prefix="posewright-bus-")
        self.path = str(Path(self._folder.name) / "ttyAX12")
        self._terminal: _PseudoTerminal | None = None  # None while it is unplugged
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
        return self._now() - self._start_s

    def start(self) -> FakePort:
        """Start the loop in a thread; return this port."""
        self._thread = threading.Thread(target=self.run, name="fake bus", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop the loop, and remove the port."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.unplug()
        self._folder.cleanup()

    def unplug(self) -> None:
        """Remove the port as if the adapter was unplugged: a client that has it open gets errors."""
        with self._lock:
            terminal = self._terminal
            self._terminal = None
            Path(self.path).unlink(missing_ok=True)
            if terminal is not None:
                os.close(terminal.controller_end)
                os.close(terminal.device_end)

    def plug(self) -> None:
        """Create the port at its path, as if the adapter was plugged in."""
        try:
            import tty
        except ImportError as error:
            raise UnavailableError(
                "a fake bus needs pseudo-terminals", hint="Linux and macOS have them"
            ) from error
        with self._lock:
            if self._terminal is None:
                controller_end, device_end = os.openpty()
                tty.setraw(device_end)
                os.set_blocking(controller_end, False)
                self._terminal = _PseudoTerminal(controller_end, device_end)
                if self.precise:  # a request and its reply both pass through the pseudo-terminal
                    self._reply_lead_s = 2.0 * _measure_passage_s(device_end, controller_end, self._now)
                Path(self.path).symlink_to(os.ttyname(device_end))

    def run(self, until_s: float = math.inf) -> None:
        """Run the bus until a time [s], until `close`, or until the physics fails, which sets `error`."""
        try:
            while not self._stop.is_set() and self.time_s < until_s:
                self._run_once()
        except PosewrightError as error:
            self.error = error
            self.unplug()

    def _run_once(self) -> None:
        """Wait for bytes or for the next event on the wire, and process it; advance the physics if it is due.

        The physics waits while an answer is due, but not for more than `MAX_LATE_FRAMES`.
        """
        with self._lock:
            controller_end = None if self._terminal is None else self._terminal.controller_end
        timeout_s = self._timeout_s()
        if controller_end is None:
            self._stop.wait(UNPLUGGED_S)
        elif timeout_s > 0.0:
            with suppress(OSError, ValueError):  # unplugged meanwhile
                select.select([controller_end], [], [], timeout_s)
        with self._lock:
            now_s = self.time_s
            if data := self._read():
                self.bus.receive(data, now_s, self._client_baud(), slack_s=SLACK_S)
            for reply in self.bus.advance(now_s + self._reply_lead_s, physics=False):
                self._write(reply)
            if data or self.bus.next_s is not None:
                self._last_activity_s = now_s
            late_s = now_s - self.bus.frame_due_s
            max_late_s = MAX_LATE_FRAMES * self.bus.physics.frame_period_s
            is_quiet = self.bus.next_s is None and now_s - self._last_activity_s > QUIET_S
            if late_s >= 0.0 and is_quiet:
                self.bus.step(self.bus.frame_due_s + min(late_s, max_late_s))
            elif late_s > max_late_s:
                self.bus.step(self.bus.frame_due_s)

    def _timeout_s(self) -> float:
        """Return how long to wait for bytes of the client [s].

        It is the time to the next event on the wire, such as a reply; without one, to the next frame of the
        physics, which begins when the wire has been quiet. A precise port polls before a reply is due.
        """
        is_in_conversation = self.time_s - self._last_activity_s < CONVERSATION_S
        if self.precise and is_in_conversation:
            return 0.0  # waking up would take longer than a short request
        next_event_s = self.bus.next_s
        if next_event_s is None:
            due_s = max(self.bus.frame_due_s, self._last_activity_s + QUIET_S)
        else:
            due_s = next_event_s - SPIN_S if self.precise else next_event_s
        return min(IDLE_S, max(0.0, due_s - self.time_s))

    def _read(self) -> bytes:
        """Return the bytes that a client has sent, without waiting."""
        if self._terminal is None:
            return b""
        with suppress(BlockingIOError):
            return os.read(self._terminal.controller_end, CHUNK_BYTES)
        return b""

    def _write(self, reply: Reply) -> None:
        """Send a reply to the client; count what the terminal does not take, as no client reads it."""
        n_written = 0
        if self._terminal is not None:
            with suppress(BlockingIOError):
                n_written = os.write(self._terminal.controller_end, reply.data)
        self.n_unread_bytes += len(reply.data) - n_written

    def _client_baud(self) -> int:
        """Return the rate that the client has set [bits per second]."""
        return terminal_baud(self._terminal.device_end) if self._terminal else 0


def _measure_passage_s(sender: int, receiver: int, now: Callable[[], float]) -> float:
    """Measure the shortest time of a byte from one end of a pseudo-terminal to the other [s]."""
    durations_s = []
    for _ in range(N_PASSAGES):
        start_s = now()
        os.write(sender, b"\0")
        while True:
            with suppress(BlockingIOError):
                os.read(receiver, 1)
                break
        durations_s.append(now() - start_s)
    return min(durations_s)


def terminal_baud(terminal: int) -> int:
    """Return the rate of a terminal, including rates without a constant in termios [bits per second]."""
    import fcntl
    import termios

    with suppress(OSError):
        settings = fcntl.ioctl(terminal, LINUX_TCGETS2, bytes(_TERMIOS2.size))
        return int(_TERMIOS2.unpack(settings)[-1])
    _iflag, _oflag, _cflag, _lflag, _input_speed, speed_code, _characters = termios.tcgetattr(terminal)
    names = {
        getattr(termios, name): name for name in dir(termios) if name.startswith("B") and name[1:].isdecimal()
    }
    return int(names[speed_code][1:]) if speed_code in names else int(speed_code)
