"""The attitude of the base that an author had in mind, between the keyframes that say one."""

from __future__ import annotations

from typing import Any

import numpy as np

from posewright.motions import Attitude, Keyframe, Motion, Pose


def leaning(*attitudes: Attitude | None, pause_s: float = 0.0, **changes: Any) -> Motion:
    frames = (Keyframe(Pose.of(("hip",), {"hip": 0.0}), 1.0, pause_s, attitude=each) for each in attitudes)
    return Motion("lean", "x", ("hip",), tuple(frames), **changes)


def rolls(motion: Motion, *times: float) -> list[float]:
    attitudes = motion.attitude_at(np.array(times))
    assert attitudes is not None
    assert attitudes.shape == (len(times), 3)
    return [round(roll, 9) for roll in attitudes[:, 0].tolist()]


def test_nobody_says_any() -> None:
    assert leaning(None, None).attitude_at(np.array([0.0, 1.0])) is None


def test_it_is_straight_between_those_who_say_one_and_constant_outside() -> None:
    motion = leaning(None, (0.2, 0.0, 0.0), None, (0.4, 0.0, 0.0), None)
    assert rolls(motion, 0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 9.0) == [0.2, 0.2, 0.2, 0.25, 0.3, 0.4, 0.4, 0.4]


def test_it_stays_through_a_pause_and_goes_with_the_speed() -> None:
    motion = leaning((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), pause_s=1.0, speed=2.0)
    assert rolls(motion, 0.5, 1.0, 1.25, 1.5, 2.0) == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_a_later_pass_is_as_the_first() -> None:
    motion = leaning((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), repeat=2)
    assert rolls(motion, 1.5, 2.0, 3.5, 4.0, 5.0) == [0.5, 1.0, 0.5, 1.0, 1.0]
    assert rolls(leaning((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), repeat=None), 101.5) == [0.5]
