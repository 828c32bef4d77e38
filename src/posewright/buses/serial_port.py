"""A serial port by name: `dynamixel:/dev/ttyUSB0`, `serial:COM3@57600`."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.errors import BodyError, InputError, MissingExtraError

SerialDevice = Any
"""pyserial's `serial.Serial`, or an object with the same methods: the library has no types."""


@dataclass(frozen=True, slots=True)
class SerialPort:
    """Where something is plugged in.

    Attributes:
        path: the port's name.
        baud: bits a second.
    """

    path: str
    baud: int

    @classmethod
    def parse(cls, text: str, prefix: str, baud: int) -> SerialPort:
        """Read `PREFIX:PORT` or `PREFIX:PORT@BAUD`, `prefix` with its colon; `baud` where none is named.

        Raises:
            InputError: it is neither.
        """
        hint = f"such as {prefix}/dev/ttyUSB0, {prefix}COM3 or {prefix}/dev/ttyUSB0@57600"
        path, at, rate = text.removeprefix(prefix).partition("@")
        if not text.startswith(prefix) or not path or (at and not rate.isdecimal()):
            raise InputError(f"no serial port: {text!r}", hint=hint)
        return cls(path, int(rate) if at else baud)


WRITING_S = 1.0
"""A port that takes nothing for so long is gone [s]."""


@dataclass(frozen=True, slots=True)
class Line:
    """An open serial line, and the clock by which its bytes take time.

    Attributes:
        port: the open device.
        now: returns the time [s].
        sleep: lets time pass [s].
    """

    port: SerialDevice
    now: Callable[[], float]
    sleep: Callable[[float], None]


LINES: dict[str, Callable[[SerialPort], Line]] = {}
"""What opens the ports whose path begins with a scheme, by the scheme: `fake` for `fake://bioloid`."""


def open_line(port: SerialPort) -> Line:
    """Open a serial port for this process alone, or the line that is registered for its scheme.

    Raises:
        BodyError: there is no such port, or another program holds it.
    """
    scheme, mark, _name = port.path.partition("://")
    opener = LINES[scheme] if mark and scheme in LINES else _open_serial_line
    try:
        return opener(port)
    except port_failures() as error:
        raise cannot_open(port, error) from error


def _open_serial_line(port: SerialPort) -> Line:
    import serial

    device = serial.Serial(port.path, port.baud, timeout=0.0, write_timeout=WRITING_S, exclusive=True)
    return Line(device, time.monotonic, time.sleep)


def require_pyserial(what: str, extra: str) -> None:
    """Raise a MissingExtraError unless pyserial is installed, which that extra brings."""
    if importlib.util.find_spec("serial") is None:
        raise MissingExtraError.for_extra(what, extra)


def port_failures() -> tuple[type[Exception], ...]:
    """Return what pyserial raises of a port that cannot be opened or is gone: not all is an OSError."""
    import serial

    known: list[type[Exception]] = [serial.SerialException, OSError, TypeError, ValueError]
    with suppress(ImportError):  # where there are no terminals
        import termios

        known.append(termios.error)
    return tuple(known)


def refuse_shared(port: SerialPort) -> None:
    """Raise a BodyError where another program has a port open that it did not lock: it eats our bytes."""
    if not is_pseudo_terminal(port.path) and (found := holders(port.path)):
        raise BodyError(f"the serial port {port.path} is shared", hint=_busy(found))


def _busy(found: tuple[Holder, ...]) -> str:
    held = " and ".join(map(str, found))
    verb = "holds" if len(found) < 2 else "hold"
    return f"port busy: {held} {verb} it" if held else "port busy: this or another user's program holds it"


def cannot_open(port: SerialPort, error: Exception) -> BodyError:
    """Return the error that says why a port cannot be opened, who holds it, and what there is instead."""
    return BodyError(f"cannot open the serial port {port.path}", hint=_why(port, error))


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that has a port open."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"{self.command} (process {self.pid})"


def holders(path: str, proc: Path = Path("/proc")) -> tuple[Holder, ...]:
    """Return the other processes that have a port open, as far as this user may see; on Linux only.

    One that this process started, and that got the port from it, is no stranger; nor is the program behind a
    pseudo-terminal, such as a fake bus, which has both its ends open.
    """
    device = os.path.realpath(path)
    found: list[Holder] = []
    for process in sorted(proc.glob("[0-9]*"), key=lambda one: int(one.name)):
        if int(process.name) != os.getpid() and _holds(process, device):
            with suppress(OSError):  # it may end meanwhile
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(Holder(int(process.name), words.strip() or "a process without a name"))
    return tuple(found)


def _holds(process: Path, device: str) -> bool:
    try:
        parent = int((process / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        files = [(os.readlink(file), file.name) for file in (process / "fd").iterdir()]  # noqa: PTH115
        is_open = any(path == device for path, _ in files)
        return parent != os.getpid() and is_open and not _is_behind(process, files, device)
    except OSError:  # another user's, or over
        return False


def _is_behind(process: Path, files: Sequence[tuple[str, str]], device: str) -> bool:
    """Return whether a process has the other end of a pseudo-terminal open, as Linux tells (`tty-index`)."""
    others = [name for path, name in files if path in {"/dev/ptmx", "/dev/pts/ptmx"}]
    about = [(process / "fdinfo" / name).read_text() for name in others]
    return any(f"tty-index:\t{Path(device).name}\n" in one for one in about)


def latency_timer_ms(path: str, sys: Path = Path("/sys")) -> float | None:
    """Return how long a USB adapter keeps bytes before it hands them over [ms]; None where nobody says."""
    try:
        return float(latency_timer_file(path, sys).read_text())
    except (OSError, ValueError):
        return 0.0 if is_pseudo_terminal(path) else None


LATENCY_MS = 16.0
"""Latency of a USB adapter nobody set [ms]: that of FTDI's chips, and what dynamixel-sdk reckons with."""

SLACK_S = 0.01
"""What the operating system may take, beyond it [s]; ours."""

PROGRAM_S = 0.02
"""What a program at the other end of a pseudo-terminal may take [s]; ours."""


def patience_with(path: str) -> float:
    """Return how long an answer may take beyond its bytes [s]: twice the latency, and some."""
    if is_pseudo_terminal(path):
        return PROGRAM_S
    latency_ms = latency_timer_ms(path)
    return 2.0 * (LATENCY_MS if latency_ms is None else latency_ms) / 1000.0 + SLACK_S


def latency_timer_file(path: str, sys: Path = Path("/sys")) -> Path:
    """Return the file in which Linux keeps the latency timer of an FTDI adapter."""
    return sys / "bus" / "usb-serial" / "devices" / Path(os.path.realpath(path)).name / "latency_timer"


def is_pseudo_terminal(path: str) -> bool:
    """Return whether a port is a pseudo-terminal, behind which is a program."""
    return os.path.realpath(path).startswith("/dev/pts/")


def present_ports(*, usb: bool = False) -> tuple[str, ...]:
    """Return the serial ports that are there, or only those of USB adapters."""
    from serial.tools import list_ports

    return tuple(sorted(one.device for one in list_ports.comports() if not usb or one.vid is not None))


def _why(port: SerialPort, error: Exception) -> str:
    found = ", ".join(present_ports())
    there = f"there is {found}" if found else "no serial port is plugged in"
    reason = str(error).lower()
    if "permission" in reason or "denied" in reason:
        return "you may not open it; on Linux join the group dialout, or another program holds it"
    if "lock" in reason or "busy" in reason:
        return _busy(holders(port.path))
    if not Path(port.path).exists():
        return f"there is no such port; {there}"
    return f"{error}; {there}"
