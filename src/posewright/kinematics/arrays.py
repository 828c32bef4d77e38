"""Validation of arrays of points and of joint angles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError

POINT = "a point is x, y, z [m]"
ANGLES = "an angle each of the three joints [rad]"


def require_triples(values: ArrayLike, noun: str, hint: str) -> Floats:
    """Return `values` as an array `(..., 3)`.

    Args:
        values: points or angles.
        noun: what error messages call the values, in the plural.
        hint: the hint for error messages.

    Raises:
        InputError: the values are not numbers, or not of that shape.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the {noun} are not an array of numbers", hint=hint) from None
    if array.ndim == 0 or array.shape[-1] != 3:
        raise InputError(f"the {noun} have the shape {array.shape}", hint=f"(..., 3): {hint}")
    return array


def require_finite_triples(values: ArrayLike, noun: str, hint: str) -> Floats:
    """Return `values` as an array `(..., 3)` of finite numbers.

    Args:
        values: points or angles.
        noun: what error messages call the values, in the plural.
        hint: the hint for error messages.

    Raises:
        InputError: the values are not numbers, not of that shape, or not finite.
    """
    array = require_triples(values, noun, hint)
    if not np.isfinite(array).all():
        raise build_not_finite_error(array, noun, hint)
    return array


def build_not_finite_error(array: Floats, noun: str, hint: str) -> InputError:
    """Build the error for an array `(..., 3)` with a NaN or an infinity in it."""
    triples = array.reshape(-1, 3)
    invalid_indices = np.flatnonzero(~np.isfinite(triples).all(axis=1))
    first = int(invalid_indices[0])
    numbers = ", ".join(f"{number:g}" for number in triples[first])
    location = "" if array.ndim == 1 else f" at index {first}"
    count = f", and {invalid_indices.size - 1} more" if invalid_indices.size > 1 else ""
    return InputError(f"the {noun} are not finite{location}: ({numbers}){count}", hint=hint)


def require_length(name: str, value: float, *, positive: bool) -> None:
    """Raise InputError unless a length or angle is finite and, if `positive`, above 0."""
    if not (math.isfinite(value) and (value > 0.0 or not positive)):
        raise InputError(
            f"{name} is {value}", hint="a finite number above 0" if positive else "a finite number"
        )
