"""Operands for arithmetic: all pairs of what is special, and many at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_AROUND = [0, 1, 2, 3, 7, 10, 255, 256, 32767, 32768, 46340, 46341, 65535, 65536, 2**24 + 1, 2**30, 2**31 - 2]
INTEGERS = np.array([*_AROUND, *(-one for one in _AROUND[1:]), 2**31 - 1, 1 - 2**31, -(2**31)], np.int32)
"""Whole numbers of 32 bits where something may happen."""


def _signed(magnitudes: list[int], width: int) -> NDArray[Any]:
    bits = [*magnitudes, *(one | 1 << (width - 1) for one in magnitudes)]
    return np.array(bits, f"u{width // 8}").view(f"f{width // 8}")


def _special(width: int, fraction: int) -> NDArray[Any]:
    """Return zeros, subnormal and normal ends, neighbours of one, halves, infinities, what is no number."""
    bias = 2 ** (width - fraction - 2) - 1
    one, top, ones = bias << fraction, (2 * bias + 1) << fraction, (1 << fraction) - 1
    near_zero = [0, 1, 2, 3, ones - 1, ones, ones + 1, ones + 2, 2 << fraction, (fraction + 1) << fraction]
    near_one = [one - 1, one, one + 1, one + 2, one | ones, one + (1 << fraction), one + (3 << fraction - 1)]
    steps = [one - (fraction << fraction), one - ((fraction + 1) << fraction), one + (fraction << fraction)]
    near_top = [top - (1 << fraction), top - 2, top - 1, top, top | 1 << (fraction - 1), top | 5]
    return _signed([*near_zero, *near_one, *steps, *near_top], width)


SINGLES = _special(32, 23)
DOUBLES = _special(64, 52)


def random_integers(rng: np.random.Generator, n: int) -> NDArray[Any]:
    """Return whole numbers of every size."""
    return (rng.integers(-(2**31), 2**31, n) >> rng.integers(0, 31, n)).astype(np.int32)


def random_doubles(rng: np.random.Generator, n: int) -> NDArray[Any]:
    """Return numbers of any 64 bits, and others of a like size with few or many bits."""
    return _random(rng, n, 64, 52)


def random_singles(rng: np.random.Generator, n: int) -> NDArray[Any]:
    """Return numbers of any 32 bits, and others of a like size with few or many bits."""
    return _random(rng, n, 32, 23)


def _random(rng: np.random.Generator, n: int, width: int, fraction: int) -> NDArray[Any]:
    """Return a fifth of any bits, the others near one or near the ends, where they meet and cancel."""
    unsigned = np.dtype(f"u{width // 8}")
    bits = rng.integers(0, 2**width, n, unsigned)
    bias = 2 ** (width - fraction - 2) - 1
    middle = rng.choice([1, bias // 2, bias, bias, bias + bias // 2, 2 * bias], n)
    exponent = np.clip(middle + rng.integers(-fraction - 4, fraction + 4, n), 0, 2 * bias)
    short = rng.integers(0, fraction + 1, n).astype(unsigned)  # so many bits of the fraction are clear
    mantissa = (bits & unsigned.type(2**fraction - 1)) >> short << short
    shaped = (
        bits & unsigned.type(1 << (width - 1))
        | exponent.astype(unsigned) << unsigned.type(fraction)
        | mantissa
    )
    return np.where(np.arange(n) % 5 == 0, bits, shaped).astype(unsigned).view(f"f{width // 8}")


def pairs(
    special: NDArray[Any], random: Callable[[np.random.Generator, int], NDArray[Any]], n: int = 100_000
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all pairs of special operands, then `n` random pairs."""
    rng = np.random.default_rng(8)
    size = len(special)
    return (
        np.concatenate([np.repeat(special, size), random(rng, n)]),
        np.concatenate([np.tile(special, size), random(rng, n)]),
    )
