"""Serial ports: addresses, opening, the programs that hold them, and the latency of USB adapters."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.errors import BodyError, InputError, MissingExtraError
from posewright.units import parse_whole_number

SerialDevice = Any
"""pyserial's `serial.Serial`, or an object with the same methods: the library has no types."""


@dataclass(frozen=True, slots=True)
class SerialPort:
    """The address of a serial port, such as `/dev/ttyUSB0` at 1,000,000 bits per second.

    Attributes:
        path: the port's name.
        baud: bits per second.
    """

    path: str
    baud: int

    @classmethod
    def parse(cls, text: str, prefix: str, baud: int) -> SerialPort:
        """Parse `PREFIX:PORT` or `PREFIX:PORT@BAUD`.

        Args:
            text: the address.
            prefix: the prefix with its colon, such as `dynamixel:`.
            baud: the rate of an address without `@BAUD` [bits per second].

        Raises:
            InputError: the text has another form.
        """
        path, separator, rate_text = text.removeprefix(prefix).partition("@")
        rate = parse_whole_number(rate_text) if separator else baud
        if not text.startswith(prefix) or not path or not rate:
            hint = f"such as {prefix}/dev/ttyUSB0, {prefix}COM3 or {prefix}/dev/ttyUSB0@57600"
            raise InputError(f"{text!r} is not the address of a serial port", hint=hint)
        return cls(path, rate)


WRITE_TIMEOUT_S = 1.0
"""A port that accepts no byte for this long is treated as gone [s]."""


@dataclass(frozen=True, slots=True)
class SerialLine:
    """An open serial line, and the clock that times its bytes.

    Attributes:
        port: the open device.
        now: returns the time [s].
        sleep: waits for a time [s].
    """

    port: SerialDevice
    now: Callable[[], float]
    sleep: Callable[[float], None]


LINE_OPENERS: dict[str, Callable[[SerialPort], SerialLine]] = {}
"""Functions that open ports of other kinds, by the scheme of the path: `fake` for `fake://bioloid`."""


def open_line(port: SerialPort) -> SerialLine:
    """Open a serial port for this process alone, or the line that is registered for its scheme.

    Raises:
        BodyError: there is no such port, or another program holds it.
    """
    scheme, separator, _name = port.path.partition("://")
    opener = LINE_OPENERS[scheme] if separator and scheme in LINE_OPENERS else _open_serial_line
    try:
        return opener(port)
    except port_exceptions() as error:
        raise port_open_error(port, error) from error


def _open_serial_line(port: SerialPort) -> SerialLine:
    import serial

    device = serial.Serial(port.path, port.baud, timeout=0.0, write_timeout=WRITE_TIMEOUT_S, exclusive=True)
    return SerialLine(device, time.monotonic, time.sleep)


def require_pyserial(feature: str, extra: str) -> None:
    """Raise a MissingExtraError, which names the extra to install, unless pyserial is installed."""
    if importlib.util.find_spec("serial") is None:
        raise MissingExtraError.for_extra(feature, extra)


def port_exceptions() -> tuple[type[Exception], ...]:
    """Return the exceptions that pyserial raises when a port cannot be opened or is gone.

    Not all of them are OSErrors.
    """
    import serial

    exceptions: list[type[Exception]] = [serial.SerialException, OSError, TypeError, ValueError]
    with suppress(ImportError):  # Windows has no termios
        import termios

        exceptions.append(termios.error)
    return tuple(exceptions)


def require_exclusive(port: SerialPort) -> None:
    """Raise a BodyError if another program has the port open: it would receive some of our bytes."""
    if is_pseudo_terminal(port.path):
        return
    if holders := find_port_holders(port.path):
        raise BodyError(f"the serial port {port.path} is shared", hint=_format_holders(holders))


def _format_holders(holders: tuple[PortHolder, ...]) -> str:
    if not holders:
        return "port busy: a program of yours or of another user holds it"
    verb = "holds" if len(holders) == 1 else "hold"
    return f"port busy: {' and '.join(map(str, holders))} {verb} it"


def port_open_error(port: SerialPort, error: Exception) -> BodyError:
    """Return the error for a port that cannot be opened; its hint has the reason and the present ports."""
    ports = ", ".join(present_ports())
    present = f"there is {ports}" if ports else "no serial port is plugged in"
    reason = str(error).lower()
    if "permission" in reason or "denied" in reason:
        hint = "you may not open it; on Linux join the group dialout, or another program holds it"
    elif "lock" in reason or "busy" in reason:
        hint = _format_holders(find_port_holders(port.path))
    elif not Path(port.path).exists():
        hint = f"there is no such port; {present}"
    else:
        hint = f"{error}; {present}"
    return BodyError(f"cannot open the serial port {port.path}", hint=hint)


@dataclass(frozen=True, slots=True)
class PortHolder:
    """A process that has a port open."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"{self.command} (process {self.pid})"


def find_port_holders(path: str, proc: Path = Path("/proc")) -> tuple[PortHolder, ...]:
    """Return the other processes that have a port open, as far as this user may see them; on Linux only.

    Children of this process, which inherited the port, do not count. Neither does the program behind a
    pseudo-terminal, such as a fake bus, which has both its ends open.
    """
    device = os.path.realpath(path)
    holders: list[PortHolder] = []
    for process in sorted(proc.glob("[0-9]*"), key=lambda folder: int(folder.name)):
        if int(process.name) != os.getpid() and _holds(process, device):
            with suppress(OSError):  # the process may have ended meanwhile
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                holders.append(PortHolder(int(process.name), command.strip() or "a process without a name"))
    return tuple(holders)


def _holds(process: Path, device: str) -> bool:
    """Return whether another program's process has a device open."""
    try:
        # "PID (COMMAND) STATE PARENT ...", where the command may have parentheses and blanks
        _, _, state_and_rest = (process / "stat").read_text(errors="replace").rpartition(")")
        parent = int(state_and_rest.split()[1])
        open_paths = {file.name: os.readlink(file) for file in (process / "fd").iterdir()}  # noqa: PTH115
        is_open = device in open_paths.values()
        return parent != os.getpid() and is_open and not _has_other_end(process, open_paths, device)
    except OSError:  # the process belongs to another user or has ended
        return False


def _has_other_end(process: Path, open_paths: Mapping[str, str], device: str) -> bool:
    """Return whether a process has the other end of a pseudo-terminal open (Linux: `tty-index`).

    Args:
        process: its folder in /proc.
        open_paths: paths of its open files by file descriptor.
        device: path of the terminal.
    """
    descriptors = [name for name, path in open_paths.items() if path in {"/dev/ptmx", "/dev/pts/ptmx"}]
    descriptions = [(process / "fdinfo" / name).read_text() for name in descriptors]
    return any(f"tty-index:\t{Path(device).name}\n" in description for description in descriptions)


def latency_timer_ms(path: str, sys: Path = Path("/sys")) -> float | None:
    """Return how long a USB adapter buffers bytes before it passes them on [ms]; None if it is unknown."""
    try:
        return float(latency_timer_file(path, sys).read_text())
    except (OSError, ValueError):
        return 0.0 if is_pseudo_terminal(path) else None


DEFAULT_LATENCY_MS = 16.0
"""Default latency of FTDI's chips [ms], which dynamixel-sdk assumes as well."""

SLACK_S = 0.01
"""Additional time allowed to the operating system [s]; ours."""

PROGRAM_TIMEOUT_S = 0.02
"""Time allowed to a program at the other end of a pseudo-terminal [s]; ours."""


def default_answer_timeout_s(path: str) -> float:
    """Return how long an answer may take beyond its bytes [s]: twice the latency plus slack."""
    if is_pseudo_terminal(path):
        return PROGRAM_TIMEOUT_S
    latency_ms = latency_timer_ms(path)
    if latency_ms is None:
        latency_ms = DEFAULT_LATENCY_MS
    return 2.0 * latency_ms / 1000.0 + SLACK_S


def latency_timer_file(path: str, sys: Path = Path("/sys")) -> Path:
    """Return the path of the latency timer of an FTDI adapter in Linux' sysfs."""
    return sys / "bus" / "usb-serial" / "devices" / Path(os.path.realpath(path)).name / "latency_timer"


def is_pseudo_terminal(path: str) -> bool:
    """Return whether a port is a pseudo-terminal, whose other end is a program."""
    return os.path.realpath(path).startswith("/dev/pts/")


def present_ports(*, usb: bool = False) -> tuple[str, ...]:
    """Return the names of all serial ports of this computer, or only of those of USB adapters."""
    from serial.tools import list_ports

    ports = list_ports.comports()
    return tuple(sorted(port.device for port in ports if not usb or port.vid is not None))
