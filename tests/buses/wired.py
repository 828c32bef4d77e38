"""A fake bus as an open port of pyserial, in the bus's own time: no thread, no waiting, no chance."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import serial

from posewright.buses.dynamixel.bus import Bus
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.serial_port import LINE_OPENERS, SerialLine, SerialPort

STEP_S, POLL_S = 1e-3, 2e-5
"""What a read takes that nothing comes to, and a look whether something has come [s]."""


class FakeSerial:
    """What `serial.Serial` would return on the port of a fake bus; time passes while somebody reads.

    Bytes can be read `delay_s` after they have come over the wire, as on a computer that is busy; of every
    `pause_every`th reply the second half comes another `pause_s` later.
    """

    name = "fake://bus"

    def __init__(self, fake: FakeBus) -> None:
        self.fake, self.baudrate = fake, 1_000_000
        self.is_open, self.is_plugged = False, True
        self.is_quick = False
        self.sent: list[bytes] = []
        self.delay_s = 0.0
        self.pause_every, self.pause_s = 0, 0.0
        self._n_replies = 0
        self._arriving: list[tuple[float, bytes]] = []
        self._held = b""

    def open(self, *_args: object, **_more: object) -> FakeSerial:
        if self.is_open or not self.is_plugged:
            raise serial.SerialException(
                "could not exclusively lock port" if self.is_open else "no such port"
            )
        self.is_open, self._held = True, b""
        return self

    def set_low_latency_mode(self, is_low: bool) -> None:
        self.is_quick = is_low

    def plug(self, is_plugged: bool) -> None:
        self.is_plugged = is_plugged

    @property
    def in_waiting(self) -> int:
        return len(self._held)

    def write(self, data: Sequence[int]) -> int:
        if not self.is_plugged:
            raise OSError("device disconnected")
        self.sent.append(bytes(data))
        self.fake.receive(bytes(data), self.fake.time_s, self.baudrate)
        return len(data)

    def read(self, size: int) -> bytes:
        if not self._held:
            due_s = self.fake.next_s
            most_s = STEP_S if size else POLL_S
            self.sleep(most_s if due_s is None else max(0.0, min(due_s - self.fake.time_s, most_s)))
        taken, self._held = self._held[: max(size, 0)], self._held[max(size, 0) :]
        return taken

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")

    def now(self) -> float:
        return self.fake.time_s

    def sleep(self, seconds: float) -> None:
        """Let time pass, as `time.sleep` would."""
        replies = self.fake.advance(self.fake.time_s + seconds)
        for reply in replies:
            self._n_replies += 1
            is_paused = bool(self.pause_every) and self._n_replies % self.pause_every == 0
            half = len(reply.data) // 2 if is_paused else len(reply.data)
            due_s = self.fake.time_s + self.delay_s
            self._arriving += [
                (due_s, reply.data[:half]),
                (due_s + is_paused * self.pause_s, reply.data[half:]),
            ]
        while self._arriving and self._arriving[0][0] <= self.fake.time_s:
            self._held += self._arriving.pop(0)[1]

    def reset_input_buffer(self) -> None:
        self._held = b""

    def close(self) -> None:
        self.is_open = False


WireUp = Callable[..., Bus]


def plug_in(fake: FakeBus, monkeypatch: pytest.MonkeyPatch) -> FakeSerial:
    """Let the port `fake://bus` be that of a fake bus, in the bus's own time."""
    line = FakeSerial(fake)
    monkeypatch.setitem(LINE_OPENERS, "fake", lambda _port: SerialLine(line.open(), line.now, line.sleep))
    return line


def wire_up(monkeypatch: pytest.MonkeyPatch) -> WireUp:
    """Return a function that opens a `Bus` on a fake one."""

    def start(fake: FakeBus, **options: Any) -> Bus:
        line = plug_in(fake, monkeypatch)
        return Bus(SerialPort(line.name, 1_000_000), **({"answer_timeout_s": 0.02} | options))

    return start
