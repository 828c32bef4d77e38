"""The serial port of a real board: `serial:/dev/ttyACM0`, `serial:COM3@57600`."""

from __future__ import annotations

from typing import Any

from posewright.buses.serial_port import SerialPort, port_open_error, require_pyserial
from posewright.errors import BodyError, InputError

PREFIX = "serial:"
BAUD = 115_200
"""Baud rate of the boards' own code [bit/s]."""

RESET_S = 0.05
"""How long DTR, to which an Arduino's reset is wired, is held low; 0.1 us would do [s]."""


class SerialLine:
    """The line to a real board, whose time advances by itself, so that `advance` only waits for bytes.

    Opening the port resets an Arduino, whose boot loader then takes a second or two.

    Args:
        port: path and baud rate.

    Raises:
        MissingExtraError: pyserial is not installed.
        BodyError: there is no such port, or it is in use.
    """

    def __init__(self, port: SerialPort) -> None:
        """Open the port for this process alone."""
        require_pyserial("a serial port", "boards")
        import serial

        self._port_exceptions = (serial.SerialException, OSError)  # raised when the port is gone
        self._port_settings = port
        try:
            self._serial_port: Any = serial.Serial(port.path, port.baud, timeout=0.0, exclusive=True)
        except serial.SerialException as error:
            raise port_open_error(port, error) from None
        except ValueError as error:
            raise InputError(f"the serial port {port.path} cannot be set: {error}") from None

    def send(self, data: bytes) -> None:
        """Send bytes to the board.

        Raises:
            BodyError: the port has gone, because the board was unplugged.
        """
        try:
            self._serial_port.write(data)
        except self._port_exceptions as error:
            raise self._gone_error(error) from None

    def advance(self, seconds: float) -> bytes:
        """Return the bytes received, waiting at most `seconds` for the first one.

        Raises:
            BodyError: the port has gone, because the board was unplugged.
        """
        try:
            self._serial_port.timeout = seconds
            first_byte: bytes = self._serial_port.read(1)
            further_bytes: bytes = self._serial_port.read(self._serial_port.in_waiting) if first_byte else b""
        except self._port_exceptions as error:
            raise self._gone_error(error) from None
        return first_byte + further_bytes

    def press_reset(self) -> None:
        """Reset an Arduino, whose reset is wired to DTR."""
        self._serial_port.dtr = False
        self.advance(RESET_S)
        self._serial_port.dtr = True

    def close(self) -> None:
        """Close the port."""
        self._serial_port.close()

    def _gone_error(self, error: Exception) -> BodyError:
        """Return the error for a port that has gone while it was open."""
        return BodyError(
            f"the serial port {self._port_settings.path} has gone: {error}", hint="plug the board in again"
        )
