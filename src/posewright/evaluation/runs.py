"""Unbroken rows of frames in which something holds."""

from __future__ import annotations

import numpy as np

from posewright.arrays import Flags


def unbroken(flags: Flags, *, bridge: int = 0) -> list[tuple[int, int]]:
    """Return begin and end (exclusive) of every unbroken row of true; gaps of up to `bridge` are no break."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    found: list[tuple[int, int]] = []
    for begin, end in edges.reshape(-1, 2).tolist():
        if found and begin - found[-1][1] <= bridge:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found
