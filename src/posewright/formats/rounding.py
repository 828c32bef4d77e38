"""By how much a file says something else than the motion it was made from, measured by reading it back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.formats.motion_format import MotionFormat
from posewright.formats.origin import card_of
from posewright.formats.rendering import Rendering
from posewright.motions import Motion

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rounding:
    """What the steps of a format did to a motion.

    Attributes:
        angle_rad: the largest change of an angle at a keyframe [rad].
        time_s: the largest change of the time of a keyframe [s].
    """

    angle_rad: float
    time_s: float


def read_back(motion: Motion, rendering: Rendering, wanted: MotionFormat) -> Motion | None:
    """Return what a file that is about to be written says; None where it cannot be read by itself.

    Raises:
        FormatError: nobody could read it, since the motion has something that no such file may have.
    """
    try:
        return wanted.read(rendering.data, Path("as written"), card_of(motion)).motion()
    except UnknownNameError:  # of a robot nobody has a card of
        return None
    except InputError as error:
        if not wanted.stands_alone:  # it leans on its neighbours
            return None
        raise FormatError(
            f"motion {motion.name!r} cannot be written as {wanted.name}: {error.message}", hint=error.hint
        ) from error


def measured(motion: Motion, back: Motion, rendering: Rendering, wanted: MotionFormat) -> Rounding | None:
    """Return what was rounded; None where the file's keyframes are others.

    Args:
        motion: what was to be written.
        back: what was read back.
        rendering: what was written.
        wanted: in which format.

    A keyframe that was merged away counts nothing: that is told as a loss.
    """
    shared = tuple(name for name in motion.joints if name in back.joints)
    if not shared:
        return None
    times = _times(back, rendering)
    known = np.isfinite(times)
    if len(times) != len(motion.keyframes) or not known.any():
        return None
    asked = np.array([pose.on(shared).angles for pose in motion.resolved()[1:]])[known]
    got = back.sample_at(times[known]).angles[:, [back.joints.index(name) for name in shared]]
    change = np.abs(asked - got)
    shift = np.abs(times - motion.keyframe_times)[known]
    says_times = rendering.times_s or wanted.quantum.time_s is not None
    return Rounding(
        float(change[np.isfinite(change)].max(initial=0.0)), float(shift.max()) if says_times else 0.0
    )


def _times(back: Motion, rendering: Rendering) -> Floats:
    """Return when each keyframe is reached in the file, NaN for one that is not in it [s].

    Where the writer does not say, the file's own keyframes count, one after the other.
    """
    if rendering.times_s:
        return np.array([np.nan if time is None else time for time in rendering.times_s])
    return back.keyframe_times
