"""A line that damages bytes by chance: some get lost, come twice, or come wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.errors import InputError


@dataclass(slots=True)
class ByteErrors:
    """How many bytes came through otherwise than they were sent."""

    dropped: int = 0
    doubled: int = 0
    flipped: int = 0


class NoisyLine:
    """What becomes of bytes, the same for the same seed.

    Args:
        dropped: share of bytes that get lost; `doubled` that come twice, `flipped` with one wrong bit.
        seed: of what is by chance.

    Attributes:
        errors: how many bytes it damaged.

    Raises:
        InputError: a share is below 0, or they are more than 1 together.
    """

    def __init__(self, dropped: float, doubled: float, flipped: float, seed: int) -> None:
        shares = (dropped, doubled, flipped)
        if not (min(shares) >= 0.0 and sum(shares) <= 1.0):
            raise InputError(f"shares of bytes {shares}", hint="each 0 or more, at most 1 together")
        self._bounds = (dropped, dropped + doubled, dropped + doubled + flipped)
        self._chance = np.random.default_rng(seed)
        self.errors = ByteErrors()

    def through(self, data: bytes) -> list[bytes]:
        """Return what comes out for each byte: none, two, another, or most often itself."""
        if not self._bounds[-1]:
            return [bytes((byte,)) for byte in data]
        return [self._changed(byte) for byte in data]

    def noise(self) -> int:
        """Return by which bits a byte is wrong over which two speak: 1..255."""
        return int(self._chance.integers(1, 256))

    def _changed(self, byte: int) -> bytes:
        lot = self._chance.random()
        if lot < self._bounds[0]:
            self.errors.dropped += 1
            return b""
        if lot < self._bounds[1]:
            self.errors.doubled += 1
            return bytes((byte, byte))
        if lot < self._bounds[2]:
            self.errors.flipped += 1
            return bytes((byte ^ 1 << int(self._chance.integers(8)),))
        return bytes((byte,))
