"""A process that switches a robot's torque off when the program that drives it dies: `kill -9`, a crash, OOM.

```
python -m posewright.buses.dynamixel.guard PORT BAUD
```

It waits at a pipe. `GOODBYE` ends it; if the pipe closes without that, the driving program has died, and the
guard opens the port and broadcasts torque off. SIGTERM, Ctrl-C and exceptions need no guard: `control.drive`
stops and closes its bodies then.

Limits: the computer, the adapter and the cable have to work. The guard does nothing when the computer loses
power or hangs, when the cable is pulled, when the program hangs or is stopped (SIGSTOP) with the pipe open,
when the guard is killed as well (a whole control group, a container), or while a child that the program
forked keeps the pipe open. An AX-12 has no watchdog: it then holds its last goal, and only its power switch
helps.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from posewright.buses.dynamixel.control_table import Instruction
from posewright.buses.dynamixel.packets import BROADCAST_ID, InstructionPacket
from posewright.buses.serial_port import SerialPort

GOODBYE = b"goodbye"

RELEASES = 20
"""How often torque off is sent: half a packet that was left on the wire may swallow some of them."""

TORQUE_ENABLE_ADDRESS = 24
TORQUE_OFF = InstructionPacket(
    BROADCAST_ID, Instruction.WRITE, parameters=bytes((TORQUE_ENABLE_ADDRESS, 0))
).encode()
"""Switches the torque of all servos off (e-Manual, AX-12A: Torque Enable is register 24)."""


class KillGuard:
    """Starts a process that switches a robot's torque off when this one dies.

    The guard waits for the end of a pipe from this process, which the system closes however this process
    ends; `dismiss` sends `GOODBYE` first. It is in a session of its own, so that Ctrl-C does not end it.
    """

    def __init__(self, port: SerialPort) -> None:
        """Start the guard process."""
        command = [sys.executable, "-m", __name__, port.path, str(port.baud)]
        self._process = subprocess.Popen(  # noqa: S603 -- our own module
            command,
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def dismiss(self) -> None:
        """End the guard process; it leaves the torque as it is."""
        with suppress(OSError):
            self._process.communicate(GOODBYE)


def main(arguments: Sequence[str]) -> int:
    """Wait until the pipe closes; return 0 if nothing had to be done, 1 if the torque was switched off."""
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, signal.SIG_IGN)  # the driving program handles them
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
