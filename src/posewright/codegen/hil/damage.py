"""A faulty line for tests of controllers: bytes are lost, doubled or changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from posewright.buses.noisy_line import NoisyLine
from posewright.codegen.unit import EmulatedBoard


@dataclass(frozen=True, slots=True)
class LineDamage:
    """The faults of a line, random but the same for the same seed.

    Attributes:
        dropped: share of bytes that are lost.
        doubled: share of bytes that arrive twice.
        flipped: share of bytes that arrive with one wrong bit.
        silent: intervals in which the line is dead in both directions, in the board's time [s].
        resets: times at which the board's reset button is pressed [s].
        seed: the seed of the random faults.
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
    _n_resets_done: int = 0
    _noisy_line: NoisyLine = field(init=False)

    def __post_init__(self) -> None:
        damage = self.damage
        self._noisy_line = NoisyLine(damage.dropped, damage.doubled, damage.flipped, damage.seed)

    def send(self, data: bytes) -> None:
        """Send bytes to the board, with faults."""
        self.port.send(self._transmit(data))

    def advance(self, seconds: float) -> bytes:
        """Advance the board's time and return the bytes that it sent meanwhile, with faults."""
        self.time_s += seconds
        resets = self.damage.resets
        while self._n_resets_done < len(resets) and resets[self._n_resets_done] <= self.time_s:
            self._n_resets_done += 1
            self.press_reset()
        return self._transmit(self.port.advance(seconds))

    def press_reset(self) -> None:
        """Press the board's reset button."""
        self.port.press_reset()

    def close(self) -> None:
        """Switch the board off."""
        self.port.close()

    def _transmit(self, data: bytes) -> bytes:
        """Return what arrives of some bytes; nothing while the line is silent."""
        if any(begin <= self.time_s < end for begin, end in self.damage.silent):
            return b""
        return b"".join(self._noisy_line.transmit(data))
