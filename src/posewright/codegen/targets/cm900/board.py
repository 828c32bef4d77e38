"""A CM-900 that is not there: the image that is flashed runs on an emulated STM32F103."""

from __future__ import annotations

from pathlib import Path

from .chip import Stm32F103
from .elf import ElfImage


class EmulatedCm900:
    """An emulated board (see `EmulatedBoard`): its line is the one to a computer, USART2.

    Args:
        image: the ELF file that `posewright board build` made.
        has_crystal: whether its crystal starts; if not it runs at 64 MHz instead of 72.

    Attributes:
        chip: its processor, for what is on its pins.

    Raises:
        MissingExtraError: Unicorn is not installed.
        FormatError: the file is no image.
    """

    def __init__(self, image: Path, *, has_crystal: bool = True) -> None:
        self.chip = Stm32F103(ElfImage.read(image), has_crystal=has_crystal)
        self._asked_s = 0.0

    @property
    def time_s(self) -> float:
        """How long it has been switched on."""
        return self._asked_s

    def send(self, data: bytes) -> None:
        """Put bytes on the line to the board."""
        self.chip.receive(data)

    def advance(self, seconds: float) -> bytes:
        """Let the board's time go on and return what it has sent meanwhile.

        Raises:
            BodyError: its program touches memory that is not there.
        """
        self._asked_s += seconds
        self.chip.run(self._asked_s)
        return self.chip.take_line()

    def bus(self) -> tuple[tuple[float, int], ...]:
        """Return when [s] which byte has left on the Dynamixel bus since this was asked last."""
        return self.chip.take_bus()

    def press_reset(self) -> None:
        """Press the board's reset button."""
        self.chip.press_reset()

    def close(self) -> None:
        """Switch it off: there is nothing to let go of."""
