"""What a walk costs: the mechanical work of the legs' joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.evaluation.walking.drives import Drives
from posewright.evaluation.walking.track import GaitTrack

LEAST_WAY_M = 0.05
"""A way shorter than this is no walk: what is for a metre is then not said."""


@dataclass(frozen=True, kw_only=True)
class Energy:
    """What the walk cost. Only work at the shafts counts: no current, no heat of a motor that holds still.

    Attributes:
        cost_of_transport: positive work / (mass * g * path); None where the path is shorter than 5 cm.
        mean_power_w: positive work in a second [W].
        positive_work_j: what the joints gave, each frame and joint by itself: what one gets back helps no
            other [J].
        negative_work_j: what drove the joints back, and a servo turns into heat [J].
    """

    cost_of_transport: float | None
    mean_power_w: float | None
    positive_work_j: float
    negative_work_j: float


def energy_of(track: GaitTrack, drives: Drives, path_m: float) -> Energy:
    """Return what the measured part of the walk cost.

    Args:
        track: of the walk.
        drives: of the same.
        path_m: the way that was gone in the measured time [m].
    """
    work = drives.work[track.begin :]
    given = float(np.maximum(work, 0.0).sum())
    seconds = len(work) * track.frame_s
    weight_n = track.mass_kg * float(np.linalg.norm(track.gravity))
    return Energy(
        cost_of_transport=given / (weight_n * path_m) if path_m >= LEAST_WAY_M else None,
        mean_power_w=given / seconds if seconds else None,
        positive_work_j=given,
        negative_work_j=float(np.minimum(work, 0.0).sum()),
    )
