"""What a robot really does with an OMTN: the player of Sony's SDK, in its own whole numbers.

Source: formats.md 1.1 (MTN.cc and MTNFile.cc of the OPEN-R SDK's sample libMTN).
"""

from __future__ import annotations

import numpy as np

from posewright.errors import InputError
from posewright.formats.omtn.document import Integers, OmtnDocument

MAX_NUMBERS = 10_000_000
"""An hour of a whole body has nine million."""


def sdk_path(document: OmtnDocument) -> Integers:
    """Return the angles that Sony's player sends to the joints, one row every 8 ms, half a frame of the file.

    Between two keyframes with n frames it sends 2n + 2 rows, the first of them the keyframe itself, each
    further by the difference divided by 2n + 2 with the fraction cut off. So it falls short of the next
    keyframe by up to 2n + 1 micro-radians and then snaps to it. The last keyframe is never sent.
    A `Motion` goes straight from keyframe to keyframe, and reaches the last.

    Returns:
        (n_steps, n_joints) [micro-radians]; no rows for a motion of one keyframe.

    Raises:
        InputError: it would be more than `MAX_NUMBERS`.
    """
    steps = 2 * document.between.astype(np.int64) + 2
    total = int(steps.sum())
    if total * document.angles.shape[1] > MAX_NUMBERS:
        raise InputError(f"the motion has {total:,} steps of 8 ms", hint="more than can be looked at at once")
    way = np.diff(document.angles, axis=0)  # no angle is more than a turn, so all of it fits into 32 bits
    delta = np.sign(way) * (np.abs(way) // steps[:, None].astype(np.int32))  # C cuts towards zero
    index = (np.arange(total) - np.repeat(np.cumsum(steps) - steps, steps)).astype(np.int32)
    path = np.repeat(document.angles[:-1], steps, axis=0) + index[:, None] * np.repeat(delta, steps, axis=0)
    return np.asarray(path, dtype=np.int32)
