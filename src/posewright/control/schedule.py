"""At which frames the ticks of a slower clock are due, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

FINEST = 1_000_000
"""Times in documents are decimals; a microsecond is finer than any of them means."""


def exactly(seconds: float) -> Fraction:
    """Return the decimal or simple fraction a time was meant to be: 0.1 is 1/10, not its nearest double."""
    return Fraction(seconds).limit_denominator(FINEST)


def in_frames(seconds: float, frame_period_s: float) -> Fraction:
    """Return how many frames a time lasts, both taken as what they were meant to be."""
    return exactly(seconds) / exactly(frame_period_s)


class Schedule:
    """Tick k is due at the first frame f with `f * frame_period >= k * tick_period`."""

    def __init__(self, tick_period_s: float, frame_period_s: float) -> None:
        ratio = in_frames(tick_period_s, frame_period_s)
        self._numerator, self._denominator = ratio.numerator, ratio.denominator

    def frame_of(self, tick: int) -> int:
        """Return the frame at whose beginning a tick is due; both are counted from 0."""
        return -(-tick * self._numerator // self._denominator)
