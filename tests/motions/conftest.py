"""A short way to write a motion down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from posewright.motions import Easing, Keyframe, Motion, Pose


@pytest.fixture(scope="session")
def motion_of() -> Callable[..., Motion]:
    """Write a motion of one joint: (reach_s, angle[, pause_s]); None holds, "free" frees."""

    def pose(angle: float | str | None) -> Pose:
        limp = frozenset({"hip"} if angle == "free" else ())
        return Pose(("hip",), np.array([angle if isinstance(angle, float | int) else np.nan]), limp)

    def build(*steps: Any, easing: Easing = Easing.LINEAR, start: Any = None, **rest: Any) -> Motion:
        frames = [Keyframe(pose(angle), reach, *pause, easing=easing) for reach, angle, *pause in steps]
        begin = None if start is None else pose(start)
        return Motion("toy", "toy", ("hip",), tuple(frames), start=begin, **rest)

    return build
