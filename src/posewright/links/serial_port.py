"""A serial port by name: `dynamixel:/dev/ttyUSB0`, `serial:COM3@57600`."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posewright.errors import BodyError, InputError, MissingExtraError


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


def require_pyserial(what: str, extra: str) -> None:
    """Raise a MissingExtraError unless pyserial is installed, which that extra brings."""
    if importlib.util.find_spec("serial") is None:
        raise MissingExtraError.for_extra(what, extra)


def cannot_open(port: SerialPort, error: Any) -> BodyError:
    """Return the error that says why a port cannot be opened, and what there is instead."""
    return BodyError(f"cannot open the serial port {port.path}", hint=_why(port, error))


def _why(port: SerialPort, error: Any) -> str:
    from serial.tools import list_ports

    found = ", ".join(sorted(one.device for one in list_ports.comports()))
    there = f"there is {found}" if found else "no serial port is plugged in"
    reason = str(error).lower()
    if "permission" in reason or "denied" in reason:
        return "you may not open it; on Linux join the group dialout, or another program holds it"
    if "lock" in reason or "busy" in reason:
        return "another program holds it: a serial monitor, or another run"
    if not Path(port.path).exists():
        return f"there is no such port; {there}"
    return f"{error}; {there}"
