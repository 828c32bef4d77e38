"""Types of NumPy arrays that all packages use, and means that do not overflow."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

Array = NDArray[Any]
"""An array of floats, flags or integers, where the type depends on a name known at run time only."""

_MAX_WITH_SQUARE = 1e150
"""Numbers up to this have a finite square, and so have sums of many of them."""


def mean_of(values: Sequence[float]) -> float:
    """Return the mean, also of numbers whose sum is not finite."""
    scale = _scale_of(values)
    return statistics.fmean(value / scale for value in values) * scale


def standard_deviation(values: Sequence[float], *, is_sample: bool) -> float:
    """Return the standard deviation, also of numbers whose square overflows; NaN if one is not finite.

    Args:
        values: at least two for a sample, else at least one.
        is_sample: whether they are a sample of more values, so that one less than their number divides.
    """
    if not all(map(math.isfinite, values)):
        return math.nan
    scale = _scale_of(values)
    compute = statistics.stdev if is_sample else statistics.pstdev
    return compute([value / scale for value in values]) * scale


def _scale_of(values: Sequence[float]) -> float:
    """Return a number by which to divide before squaring; 1 if the squares are finite."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=1.0)
    return largest if largest > _MAX_WITH_SQUARE else 1.0
