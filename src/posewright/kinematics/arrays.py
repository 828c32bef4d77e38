"""Arrays of points and of joint angles: what comes in is looked at once, at the door."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError

POINT = "a point is x, y, z [m]"
ANGLES = "an angle each of the three joints [rad]"


def triples(values: ArrayLike, what: str, hint: str) -> Floats:
    """Return `values`, which an error calls `what`, as numbers `(..., 3)`, or raise InputError."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the {what} are no array of numbers", hint=hint) from None
    if array.ndim == 0 or array.shape[-1] != 3:
        raise InputError(f"the {what} have the shape {array.shape}", hint=f"(..., 3): {hint}")
    return array


def finite_triples(values: ArrayLike, what: str, hint: str) -> Floats:
    """Return `values` as finite numbers `(..., 3)`, or raise InputError that names the first that is not."""
    array = triples(values, what, hint)
    if not np.isfinite(array).all():
        raise not_finite(array, what, hint)
    return array


def not_finite(array: Floats, what: str, hint: str) -> InputError:
    """Build the error for an array `(..., 3)` with a NaN or an infinity in it."""
    rows = np.flatnonzero(~np.isfinite(array.reshape(-1, 3)).all(axis=1))
    first = int(rows[0])
    shown = ", ".join(f"{number:g}" for number in array.reshape(-1, 3)[first])
    which = "" if array.ndim == 1 else f" at index {first}"
    more = f", and {rows.size - 1} more" if rows.size > 1 else ""
    return InputError(f"the {what} are not finite{which}: ({shown}){more}", hint=hint)


def check_length(what: str, value: float, *, positive: bool) -> None:
    """Refuse a length or an angle that is not finite or, where it must be, not above zero."""
    if not (math.isfinite(value) and (value > 0.0 or not positive)):
        raise InputError(
            f"{what} is {value}", hint="a finite number above 0" if positive else "a finite number"
        )
