"""An emulated Arduino UNO: the image of a sketch, serial line, reset button and pins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from posewright.codegen.targets.arduino_uno.simavr import Simavr
from posewright.errors import InputError

FREQUENCY_HZ = 16_000_000

PORTS = (
    tuple(("D", n) for n in range(8)) + tuple(("B", n) for n in range(6)) + tuple(("C", n) for n in range(6))
)
"""Port and bit of each Arduino pin, A0 being 14; arduino-core-avr, variants/standard/pins_arduino.h."""

COMPARATORS = {  # pin: (TCCRnA, its bit COMnx1, OCRnx); ATmega328P datasheet, register summary
    6: (0x44, 7, 0x47),
    5: (0x44, 5, 0x48),
    9: (0x80, 7, 0x88),
    10: (0x80, 5, 0x8A),
    11: (0xB0, 7, 0xB3),
    3: (0xB0, 5, 0xB4),
}
PINS_IN = {"D": 0x29, "B": 0x23, "C": 0x26}
"""PINx of each port; ATmega328P datasheet, register summary."""

FIRST_ANALOGUE = 14


@dataclass(frozen=True)
class Edge:
    """An output pin that changed.

    Attributes:
        time_s: time since the board was switched on [s].
        pin: its Arduino number.
        level: the level after the change.
    """

    time_s: float
    pin: int
    level: bool


class EmulatedUno:
    """An emulated Arduino UNO, whose time passes by `advance` only.

    It has no boot loader: after a reset the sketch starts at once.

    Args:
        image: `build/NAME.elf` of a sketch.

    Attributes:
        edges: changes of output pins so far, in order, without those of PWM signals.
    """

    def __init__(self, image: Path) -> None:
        self._simulator = Simavr(image)
        self._time_s = 0.0
        self._cycles_run = 0
        self.edges: list[Edge] = []

    def send(self, data: bytes) -> None:
        """Send bytes to the board; they arrive one after the other, at 115200 bit/s."""
        if data:
            self._simulator.send_command(f"send {data.hex()}")

    def advance(self, seconds: float) -> bytes:
        """Advance the time and return the bytes that the board sent meanwhile.

        Raises:
            BodyError: the processor has stopped.
        """
        self._time_s += seconds
        cycles = round(self._time_s * FREQUENCY_HZ) - self._cycles_run
        self._cycles_run += cycles
        received = bytearray()
        _, event_lines = self._simulator.send_command(f"run {cycles}")
        for kind, *words in event_lines:
            if kind == "byte":
                received.append(int(words[0], 16))
                continue
            port, bit, level, cycle = words
            if (port, int(bit)) in PORTS:  # not the processor's other pins
                pin = PORTS.index((port, int(bit)))
                self.edges.append(Edge(int(cycle) / FREQUENCY_HZ, pin, level == "1"))
        return bytes(received)

    def press_reset(self) -> None:
        """Press and release the reset button; bytes on the line are lost."""
        self._simulator.send_command("reset")

    def close(self) -> None:
        """Switch the board off."""
        self._simulator.close()

    def set_pin(self, number: int, level: bool | None) -> None:
        """Drive a pin from outside; None releases it."""
        port, bit = _port(number)
        self._simulator.send_command(f"pin {port} {bit} {'-' if level is None else int(level)}")

    def set_analogue(self, number: int, volts: float) -> None:
        """Put a voltage on an analogue input, 0 for A0."""
        if not 0 <= number < len(PORTS) - FIRST_ANALOGUE or not 0.0 <= volts <= 5.0:
            raise InputError(f"A{number} cannot have {volts:g} V", hint="A0 to A5, 0 to 5 V")
        self._simulator.send_command(f"volts {number} {round(volts * 1000)}")

    def pin(self, number: int) -> bool:
        """Return the level of a pin."""
        port, bit = _port(number)
        return bool(self._peek(PINS_IN[port]) >> bit & 1)

    def pwm(self, number: int) -> float:
        """Return the duty cycle of a PWM pin, from 0 to 1; its level while PWM is off."""
        if number not in COMPARATORS:
            raise InputError(f"pin {number} has no PWM", hint="3, 5, 6, 9, 10 or 11")
        control_register, bit, compare_register = COMPARATORS[number]
        is_pwm_on = self._peek(control_register) >> bit & 1
        return self._peek(compare_register) / 255 if is_pwm_on else float(self.pin(number))

    def _peek(self, address: int) -> int:
        """Return the byte at an address of the data memory."""
        return int(self._simulator.send_command(f"peek {address}")[0][0])


def _port(number: int) -> tuple[str, int]:
    if not 0 <= number < len(PORTS):
        raise InputError(f"an Arduino UNO has no pin {number}", hint="0 to 13, and A0 to A5 are 14 to 19")
    return PORTS[number]
