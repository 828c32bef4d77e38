"""Which frames of a body become rows of a trace."""

from __future__ import annotations

ROWS_EVERY = 4
"""A trace keeps every fourth frame: 32 rows a second of a robot with 128 frames a second."""


def kept_frames(seen: int, every: int = ROWS_EVERY) -> slice:
    """Return which of the next frames are kept when `seen` went before: every `every`-th of them all.

    So a block of frames gives the same rows however it is cut into smaller ones.
    """
    return slice((every - 1 - seen) % every, None, every)
