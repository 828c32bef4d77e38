"""A serial line that damages bytes at random: it drops them, doubles them or flips one of their bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.errors import InputError


@dataclass(slots=True)
class ByteErrors:
    """How many bytes a line dropped, doubled and flipped."""

    dropped: int = 0
    doubled: int = 0
    flipped: int = 0


class NoisyLine:
    """A line that damages bytes at random, in the same way for the same seed.

    Args:
        dropped: share of the bytes that are lost, 0..1.
        doubled: share of the bytes that arrive twice.
        flipped: share of the bytes that arrive with one wrong bit.
        seed: the seed of the random generator.

    Attributes:
        errors: how many bytes were damaged so far.

    Raises:
        InputError: a share is below 0, or the shares add up to more than 1.
    """

    def __init__(self, dropped: float, doubled: float, flipped: float, seed: int) -> None:
        """Check the shares, and seed the random generator."""
        probabilities = (dropped, doubled, flipped)
        if not (min(probabilities) >= 0.0 and sum(probabilities) <= 1.0):
            message = f"the probabilities of damaged bytes are {probabilities}"
            raise InputError(message, hint="each is 0 or more, their sum at most 1")
        # a random number in 0..1 below the first bound drops a byte, below the second doubles it, and so on
        self._drop_bound = dropped
        self._double_bound = dropped + doubled
        self._flip_bound = dropped + doubled + flipped
        self._rng = np.random.default_rng(seed)
        self.errors = ByteErrors()

    def transmit(self, data: bytes) -> list[bytes]:
        """Return what arrives for each byte: nothing, two bytes, a wrong byte or the byte itself."""
        if self._flip_bound == 0.0:
            return [bytes((byte,)) for byte in data]
        return [self._transmit(byte) for byte in data]

    def noise(self) -> int:
        """Return a random error mask for a byte that collides with another, 1..255."""
        return int(self._rng.integers(1, 256))

    def _transmit(self, byte: int) -> bytes:
        """Return a byte as it arrives: dropped, doubled, with a flipped bit, or unchanged."""
        draw = self._rng.random()
        if draw < self._drop_bound:
            self.errors.dropped += 1
            return b""
        if draw < self._double_bound:
            self.errors.doubled += 1
            return bytes((byte, byte))
        if draw < self._flip_bound:
            self.errors.flipped += 1
            wrong_bit = int(self._rng.integers(8))
            return bytes((byte ^ 1 << wrong_bit,))
        return bytes((byte,))
