"""Torque off when the program that drove a robot is gone without a word: `kill -9`, a crash of Python, OOM.

```
python -m posewright.buses.dynamixel.guard PORT BAUD
```

It waits at a pipe. `GOODBYE` ends it; the pipe's end without that means that whoever held the other end died,
and then it opens the port and broadcasts torque off. SIGTERM, Ctrl-C and exceptions need no guard:
`control.drive` stops and closes its bodies then.

How far it goes: it needs the computer, the adapter and the cable alive. It does nothing when the computer
loses power or hangs, when the cable is pulled, when the program hangs or is stopped (SIGSTOP) with the pipe
open, when it is killed as well (a whole control group, a container), or while a child that the program forked
keeps the pipe open. An AX-12 has no watchdog: it then holds its last goal, and only its power switch helps.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from posewright.buses.dynamixel.packets import BROADCAST_ID, InstructionPacket
from posewright.buses.serial_port import SerialPort

GOODBYE = b"goodbye"

RELEASES = 20
"""Torque off goes out so often: whoever died may have left half a packet on the wire, which swallows some."""

TORQUE_OFF = InstructionPacket(BROADCAST_ID, 0x03, bytes((24, 0))).encode()
"""e-Manual, AX-12A: Torque Enable is register 24."""


class Guard:
    """A process that takes a robot's torque off when this one dies."""

    def __init__(self, port: SerialPort) -> None:
        command = [sys.executable, "-m", __name__, port.path, str(port.baud)]
        self._process = subprocess.Popen(  # noqa: S603 -- our own module
            command,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def dismiss(self) -> None:
        """Tell it that all is well; it ends."""
        with suppress(OSError):
            self._process.communicate(GOODBYE)


def main(arguments: Sequence[str]) -> int:
    """Wait for the end of the pipe; return 0 where nothing had to be done, 1 where torque was taken off."""
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.SIG_IGN)  # they are for whoever drives
    if sys.stdin.buffer.read() == GOODBYE:
        return 0
    import serial

    path, baud = arguments
    with serial.Serial(path, int(baud), write_timeout=1.0) as port:
        port.write(TORQUE_OFF * RELEASES)
        port.flush()
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
