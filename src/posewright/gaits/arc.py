"""Planar motion along arcs: the exponential and logarithm of SE(2).

A body with constant velocity and turn rate moves along an arc. Its *components* (dx, dy, dq) are the
distances it covers forward and to the left and the angle it turns, in its own moving frame. Its
*displacement* (x, y, turn) is its final pose in its initial frame, where the turn mixes the two. With q = dq

    q x = dx sin q + dy cos q - dy          dx = q/2 (x cot(q/2) + y)
    q y = dx - dx cos q + dy sin q          dy = q/2 (y cot(q/2) - x)

Both are computed with sin(h)/h, h = q/2, so that nothing is divided by a small number: a straight walk is
no special case. A whole turn has no components: at q = 2 pi every circle ends where it began.

All functions take one triple `(3,)` or many `(..., 3)` of [m, m, rad], or raise InputError.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError

WHOLE_TURN_RAD = 2.0 * np.pi

_SHAPE_HINT = "an array (3,) or (..., 3): x, y and turn [m, m, rad]"

_TINY = 1e-300
"""An angle that is its own sine."""


def se2_exp(components: ArrayLike) -> Floats:
    """Return the displacement for components, `(..., 3)` [m, m, rad]: the exponential map of SE(2).

    The components are the distances ahead and to the left and the turn of a body that moves at constant
    velocity in its own frame, so along an arc. The displacement is where it arrives, in the frame in which it
    started.

    Raises:
        InputError: a component is not finite.
    """
    dx, dy, turn = _unstack(components)
    if not np.isfinite(dx + dy + turn).all():
        raise InputError(f"the components {components!r} are not finite", hint="finite distances and turns")
    # a chord is shorter than its arc by sin(h)/h, and points half the turn to the side
    half_turn = turn / 2.0
    chord_ratio = _sinc(half_turn)
    along = np.cos(half_turn) * chord_ratio
    across = np.sin(half_turn) * chord_ratio
    return _stack(dx * along - dy * across, dx * across + dy * along, turn)


def se2_log(displacement: ArrayLike) -> Floats:
    """Return the components of a displacement, `(..., 3)` [m, m, rad]: the inverse of `se2_exp`.

    Raises:
        InputError: a turn is 2 pi or more, either way, or not finite.
    """
    x, y, turn = _unstack(displacement)
    if not np.all(np.abs(turn) < WHOLE_TURN_RAD):
        # argmin of the flags finds the first turn that is out of range
        worst = np.ravel(turn)[np.argmin(np.abs(np.ravel(turn)) < WHOLE_TURN_RAD)]
        raise InputError(
            f"a turn of {worst:g} rad in one displacement has no components",
            hint="less than a whole turn, 6.283 rad, either way",
        )
    half_turn = turn / 2.0
    along = np.cos(half_turn) / _sinc(half_turn)
    return _stack(x * along + y * half_turn, y * along - x * half_turn, turn)


def chain(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the displacement `first` followed by `second`, each in its own initial frame, `(..., 3)`."""
    x1, y1, turn1 = _unstack(first)
    x2, y2, turn2 = _unstack(second)
    cos = np.cos(turn1)
    sin = np.sin(turn1)
    return _stack(x1 + cos * x2 - sin * y2, y1 + sin * x2 + cos * y2, turn1 + turn2)


def to_moved_frame(points: Floats, displacement: ArrayLike) -> Floats:
    """Return points of the ground in the frame of a body after it has moved by a displacement.

    Args:
        points: `(..., 2)` or `(..., 3)` in the body's frame before [m]; heights stay.
        displacement: the displacement of the body, `(..., 3)` [m, m, rad].
    """
    x, y, turn = _unstack(displacement)
    cos = np.cos(turn)
    sin = np.sin(turn)
    ahead = points[..., 0] - x
    aside = points[..., 1] - y
    moved = np.empty(np.broadcast_shapes(points.shape, (*np.shape(turn), 1)))
    moved[..., 0] = cos * ahead + sin * aside
    moved[..., 1] = cos * aside - sin * ahead
    moved[..., 2:] = points[..., 2:]
    return moved


def _unstack(triples: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return the three columns of an array of triples, shape (..., 3), as floats."""
    try:
        array = np.asarray(triples, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{triples!r} are not numbers", hint=_SHAPE_HINT) from None
    if array.shape[-1:] != (3,):
        raise InputError(f"an array of shape {array.shape} has no triples", hint=_SHAPE_HINT)
    return array[..., 0], array[..., 1], array[..., 2]


def _stack(x: Floats, y: Floats, turn: Floats) -> Floats:
    """Return three columns as an array of triples, shape (..., 3)."""
    triples = np.empty((*np.broadcast_shapes(np.shape(x), np.shape(turn)), 3))
    triples[..., 0] = x
    triples[..., 1] = y
    triples[..., 2] = turn
    return triples


def _sinc(angle: Floats) -> Floats:
    """Return sin(a)/a, which is 1 at 0."""
    angle = np.where(angle == 0.0, _TINY, angle)
    return np.asarray(np.sin(angle) / angle)
