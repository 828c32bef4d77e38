"""Random legal layouts: free boxes and walls of touching ones, the same for the same seed.

Boxes come in groups: one box alone, or two or three in a row. A group stands free, turned or not, or
leans against a side wall. Groups are dropped one after another where every gap stays wide enough, and
a draw that cannot be completed, or that closes the way, is thrown away whole.
"""

from __future__ import annotations

import numpy as np

from posewright.arenas.arena import Arena, Box
from posewright.arenas.arena_reading import arena as shipped_arena
from posewright.arenas.check import layout_faults
from posewright.arenas.rectangles import corners, point_distances
from posewright.arrays import Flags, Floats
from posewright.errors import InputError

FEWEST_BOXES = 3
"""Fewer would often leave the way open; a field may hold fewer where its maximum is lower."""

NEAR_THE_LINE_M = 0.25
"""A robot that just walks ahead bumps into a box whose centre is this near to the middle line."""

_NEAR_SHARE = 0.9
_GROUP_SIZES, _GROUP_SHARES = (1, 2, 3), (0.55, 0.25, 0.2)
_LEANING_SHARES = {1: 0.25, 2: 0.6, 3: 0.6}
_TURNED_SHARE = 0.4
_BESIDE_M = 0.005
"""Boxes of one group stand this far apart, so that a simulation need not compute their contact."""

_TRIES = 48
_DRAWS = 200


def random_layout(seed: int, arena: Arena | None = None, *, boxes: int | None = None) -> tuple[Box, ...]:
    """Return a legal layout of ordinary boxes, the same for the same seed.

    Args:
        seed: 0 or more.
        arena: the field; the CEABOT obstacle field where none is given.
        boxes: how many; three to the field's maximum, each as likely, where none is given.

    Raises:
        InputError: the seed is negative, or so many boxes do not fit the field.
    """
    field = shipped_arena() if arena is None else arena
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", hint="0 or more")
    rng = np.random.default_rng(seed)
    fewest = min(FEWEST_BOXES, field.max_boxes)
    count = int(rng.integers(fewest, field.max_boxes + 1)) if boxes is None else boxes
    if not 0 <= count <= field.max_boxes:
        raise InputError(f"{count} boxes", hint=f"0 to {field.max_boxes}")
    for _ in range(_DRAWS):
        drawn = _draw(rng, count, field)
        if drawn is not None and not layout_faults(drawn, field):
            return drawn
    raise InputError(f"found no legal layout of {count} boxes", hint="fewer boxes or a larger field")


def _draw(rng: np.random.Generator, count: int, arena: Arena) -> tuple[Box, ...] | None:
    standing = np.empty((0, 3))
    in_the_way = rng.random() < _NEAR_SHARE
    for size in _group_sizes(rng, count):
        candidates = _candidates(rng, size, arena)
        free = _fits(candidates, standing, arena)
        if len(standing) == 0 and in_the_way:
            free &= (np.abs(candidates[..., 1]) < NEAR_THE_LINE_M).any(axis=1)
        if not free.any():
            return None
        standing = np.concatenate([standing, candidates[int(free.argmax())]])
    return tuple(Box(x, y, yaw) for x, y, yaw in standing.tolist())


def _group_sizes(rng: np.random.Generator, count: int) -> list[int]:
    sizes: list[int] = []
    while sum(sizes) < count:
        size = int(rng.choice(_GROUP_SIZES, p=_GROUP_SHARES))
        sizes.append(min(size, count - sum(sizes)))
    return sizes


def _candidates(rng: np.random.Generator, size: int, arena: Arena) -> Floats:
    """Return places for one kind of group, tried all over the zone, `(tries, size, 3)`."""
    pitch = arena.box_size[1] + _BESIDE_M
    x = np.round(rng.uniform(*arena.box_zone, _TRIES), 3)
    side = np.round(rng.uniform(-arena.size_y / 2.0, arena.size_y / 2.0, _TRIES), 3)
    leaning, turned = rng.random() < _LEANING_SHARES[size], rng.random() < _TURNED_SHARE
    degrees = rng.integers(-90, 90, _TRIES)
    yaw = np.radians(degrees if turned and not leaning else 0 * degrees)
    y = np.copysign(arena.size_y / 2.0 - size * pitch / 2.0, side) if leaning else side
    along = (np.arange(size) - (size - 1) / 2.0) * pitch
    return np.stack(
        [
            x[:, None] - along * np.sin(yaw)[:, None],
            y[:, None] + along * np.cos(yaw)[:, None],
            np.broadcast_to(yaw[:, None], (_TRIES, size)),
        ],
        axis=-1,
    )


def _fits(groups: Floats, standing: Floats, arena: Arena) -> Flags:
    """Return which groups lie in the zone and leave a gap to all that stands and the walls, `(tries,)`."""
    low, high = arena.box_zone
    size, flat = arena.box_kind.footprint_m, groups.reshape(-1, 3)
    outline = corners(flat, size).reshape(len(groups), -1, 2)
    x, to_wall = outline[..., 0], arena.size_y / 2.0 - np.abs(outline[..., 1]).max(axis=1)
    fit = (x.min(axis=1) >= low) & (x.max(axis=1) <= high)
    fit &= (to_wall >= arena.gap_m) | ((to_wall >= 0.0) & (to_wall <= _BESIDE_M))
    if len(standing):
        fit &= point_distances(outline, standing, size).min(axis=(1, 2)) >= arena.gap_m
        back = point_distances(corners(standing, size), flat, size).min(axis=(0, 1))
        fit &= back.reshape(groups.shape[:2]).min(axis=1) >= arena.gap_m
    return np.asarray(fit)
