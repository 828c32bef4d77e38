"""Arcs: how forward, left and turn make up one displacement, and what they are in it.

A body that keeps its velocity and its turn goes along an arc. What it covers, the *displacement* (x, y, turn)
of where it then is, seen from where it was, is therefore not what it went: forward way and sideways way, its
*components* (dx, dy, dq), are mixed by the turn. With q = dq the two are

    q x = dx sin q + dy cos q - dy          dx = q/2 (x cot(q/2) + y)
    q y = dx - dx cos q + dy sin q          dy = q/2 (y cot(q/2) - x)

Both are written here with sin(h)/h, h = q/2, so that nothing is divided by a small number: a straight walk is
no special case. The components of a whole turn are not to be had: at q = 2 pi every circle ends where it
began.

All functions take one triple `(3,)` or many `(..., 3)` of [m, m, rad], and raise InputError for what is none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError

WHOLE_TURN_RAD = 2.0 * np.pi

_SHAPE = "an array (3,) or (..., 3): x, y and turn [m, m, rad]"

_TINY = 1e-300
"""An angle that is its own sine."""


def se2_exp(components: ArrayLike) -> Floats:
    """Return the displacement that components lead to, `(..., 3)` [m, m, rad]."""
    dx, dy, turn = _parts(components)
    if not np.isfinite(dx + dy + turn).all():
        raise InputError(f"{components!r} lead nowhere", hint="finite ways and turns")
    half = turn / 2.0
    ratio = _sinc(half)
    along, across = np.cos(half) * ratio, np.sin(half) * ratio
    return _joined(dx * along - dy * across, dx * across + dy * along, turn)


def se2_log(displacement: ArrayLike) -> Floats:
    """Return the components that lead to a displacement, `(..., 3)` [m, m, rad].

    Raises:
        InputError: a turn is 2 pi or more, either way, or not finite.
    """
    x, y, turn = _parts(displacement)
    if not np.all(np.abs(turn) < WHOLE_TURN_RAD):
        worst = np.ravel(turn)[np.argmin(np.abs(np.ravel(turn)) < WHOLE_TURN_RAD)]
        raise InputError(
            f"a turn of {worst:g} rad in one displacement has no components",
            hint="less than a whole turn, 6.283 rad, either way",
        )
    half = turn / 2.0
    along = np.cos(half) / _sinc(half)
    return _joined(x * along + y * half, y * along - x * half, turn)


def chain(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the displacement of `second` after `first`, each seen from where it began, `(..., 3)`."""
    x, y, turn = _parts(first)
    further_x, further_y, further_turn = _parts(second)
    cos, sin = np.cos(turn), np.sin(turn)
    return _joined(
        x + cos * further_x - sin * further_y, y + sin * further_x + cos * further_y, turn + further_turn
    )


def left_behind(points: Floats, displacement: ArrayLike) -> Floats:
    """Return where points of the ground are, seen from a body that has moved by a displacement.

    Args:
        points: `(..., 2)` or `(..., 3)`, seen from the body before [m]; heights stay.
        displacement: `(..., 3)` [m, m, rad].
    """
    x, y, turn = _parts(displacement)
    cos, sin = np.cos(turn), np.sin(turn)
    ahead, aside = points[..., 0] - x, points[..., 1] - y
    there = np.empty(np.broadcast_shapes(points.shape, (*np.shape(turn), 1)))
    there[..., 0] = cos * ahead + sin * aside
    there[..., 1] = cos * aside - sin * ahead
    there[..., 2:] = points[..., 2:]
    return there


def _parts(triples: ArrayLike) -> tuple[Floats, Floats, Floats]:
    try:
        array = np.asarray(triples, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{triples!r} are no numbers", hint=_SHAPE) from None
    if array.shape[-1:] != (3,):
        raise InputError(f"an array of shape {array.shape} holds no triples", hint=_SHAPE)
    return array[..., 0], array[..., 1], array[..., 2]


def _joined(x: Floats, y: Floats, turn: Floats) -> Floats:
    joined = np.empty((*np.broadcast_shapes(np.shape(x), np.shape(turn)), 3))
    joined[..., 0], joined[..., 1], joined[..., 2] = x, y, turn
    return joined


def _sinc(angle: Floats) -> Floats:
    """Return sin(a)/a, which is 1 at 0."""
    angle = np.where(angle == 0.0, _TINY, angle)
    return np.asarray(np.sin(angle) / angle)
