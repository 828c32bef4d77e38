"""Seeds: whole numbers, each for what is drawn by chance in one trial, one body or one search."""

from __future__ import annotations

from posewright.errors import InputError

MAX_SEED = 2**63 - 1
"""Seeds are whole numbers that every file format at hand can carry."""


def checked_seed(seed: object, *, count: int = 1) -> int:
    """Return a seed, or raise InputError where it is none.

    Args:
        seed: what somebody handed in.
        count: of how many seeds that follow each other it is the first.
    """
    most = MAX_SEED - count + 1
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= most:
        raise InputError(f"a seed of {seed!r}", hint=f"a whole number from 0 to {most}")
    return seed
