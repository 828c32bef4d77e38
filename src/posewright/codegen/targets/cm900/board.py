"""An emulated CM-900: the image that would be flashed runs on an emulated STM32F103."""

from __future__ import annotations

from pathlib import Path

from .chip import Stm32F103
from .elf import ElfImage


class EmulatedCm900:
    """An emulated board (see `EmulatedBoard`), whose line is USART2, to a computer.

    Args:
        image: the ELF file that `posewright board build` made.
        has_crystal: whether its crystal works; without it the board runs at 64 MHz instead of 72.

    Attributes:
        chip: its chip, for its pins.

    Raises:
        MissingExtraError: Unicorn is not installed.
        FormatError: the file is not an image.
    """

    def __init__(self, image: Path, *, has_crystal: bool = True) -> None:
        self.chip = Stm32F103(ElfImage.read(image), has_crystal=has_crystal)
        self._time_s = 0.0

    @property
    def time_s(self) -> float:
        """Time since it was switched on [s]."""
        return self._time_s

    def send(self, data: bytes) -> None:
        """Send bytes to the board."""
        self.chip.receive(data)

    def advance(self, seconds: float) -> bytes:
        """Advance the board's time and return the bytes that it sent meanwhile.

        Raises:
            BodyError: its program accesses memory that does not exist.
        """
        self._time_s += seconds
        self.chip.run(self._time_s)
        return self.chip.take_serial_bytes()

    def bus(self) -> tuple[tuple[float, int], ...]:
        """Return the times [s] and bytes sent on the Dynamixel bus since the last call."""
        return self.chip.take_bus()

    def press_reset(self) -> None:
        """Press the board's reset button."""
        self.chip.press_reset()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
