"""Conversion of times to frames in exact fractions, and the frames at which a chart's ticks are due."""

from __future__ import annotations

from fractions import Fraction

MAX_DENOMINATOR = 1_000_000
"""Times in documents are decimals of a microsecond or coarser."""


def to_fraction(seconds: float) -> Fraction:
    """Return the decimal or simple fraction nearest to a time: 1/10 for 0.1, not the value of its double."""
    return Fraction(seconds).limit_denominator(MAX_DENOMINATOR)


def in_frames(seconds: float, frame_period_s: float) -> Fraction:
    """Return a time in frames, with both times rounded to simple fractions."""
    return to_fraction(seconds) / to_fraction(frame_period_s)


class Schedule:
    """The frames of ticks: tick k is due at the first frame f with `f * frame_period >= k * tick_period`."""

    def __init__(self, tick_period_s: float, frame_period_s: float) -> None:
        self._frames_per_tick = in_frames(tick_period_s, frame_period_s)

    def frame_of(self, tick: int) -> int:
        """Return the frame at whose beginning a tick is due; both are counted from 0."""
        # floor division of the negative number rounds the frame up
        return -(-tick * self._frames_per_tick.numerator // self._frames_per_tick.denominator)
