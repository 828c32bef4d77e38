"""A bad line, to try out what a controller does on one: bytes get lost, come twice, or come wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

from posewright.buses.noisy_line import NoisyLine
from posewright.codegen.unit import EmulatedBoard


@dataclass(frozen=True, slots=True)
class LineDamage:
    """How bad a line is; all by chance, but the same of the same seed.

    Attributes:
        dropped: share of bytes that get lost; `doubled` that come twice, `flipped` with one wrong bit.
        silent: times from when to when the line is dead both ways, in the board's time [s].
        resets: when somebody presses the board's reset button [s].
    """

    dropped: float = 0.0
    doubled: float = 0.0
    flipped: float = 0.0
    silent: tuple[tuple[float, float], ...] = ()
    resets: tuple[float, ...] = ()
    seed: int = 0


@dataclass(eq=False)
class DamagedLine:
    """A line to a board with damage in both directions."""

    port: EmulatedBoard
    damage: LineDamage
    time_s: float = 0.0
    _pressed: int = 0
    _line: NoisyLine = field(init=False)

    def __post_init__(self) -> None:
        damage = self.damage
        self._line = NoisyLine(damage.dropped, damage.doubled, damage.flipped, damage.seed)

    def send(self, data: bytes) -> None:
        """Put what is left of some bytes on the line to the board."""
        self.port.send(self._through(data))

    def advance(self, seconds: float) -> bytes:
        """Let the board's time go on and return what is left of what it has sent meanwhile."""
        self.time_s += seconds
        while self._pressed < len(self.damage.resets) and self.damage.resets[self._pressed] <= self.time_s:
            self._pressed += 1
            self.press_reset()
        return self._through(self.port.advance(seconds))

    def press_reset(self) -> None:
        """Press the board's reset button."""
        self.port.press_reset()

    def close(self) -> None:
        """Switch the board off."""
        self.port.close()

    def _through(self, data: bytes) -> bytes:
        if any(begin <= self.time_s < end for begin, end in self.damage.silent):
            return b""
        return b"".join(self._line.transmit(data))
