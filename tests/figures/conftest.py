"""What several tests of pictures and films show."""

from __future__ import annotations

import pytest

from posewright.errors import UnavailableError
from posewright.evaluation import MotionResult
from posewright.motions import Keyframe, Motion, Pose
from posewright.recordings import Recording
from posewright.robots import robot
from posewright.runs import try_motion
from posewright.simulation import Film, World


def hop_of(card_name: str = "sony_ers7", *, attitude: tuple[float, float, float] | None = None) -> Motion:
    """Build a short motion of all joints, from `stand` and back."""
    card = robot(card_name)
    stand = Pose(card.joint_names, card.pose("stand"))
    other = Pose(card.joint_names, card.pose("sit"))
    frames = (
        Keyframe(stand, 0.0, attitude=attitude),
        Keyframe(other, 0.2, attitude=attitude),
        Keyframe(stand, 0.2, attitude=attitude),
    )
    return Motion("hop", card_name, card.joint_names, frames)


@pytest.fixture(scope="session")
def tried() -> MotionResult:
    return try_motion(hop_of())


@pytest.fixture(scope="session")
def played(tried: MotionResult) -> Recording:
    return tried.recording


@pytest.fixture(scope="session")
def _can_draw() -> None:
    try:
        Film(World(robot("sony_ers7")), 64, 48).close()
    except UnavailableError as error:
        pytest.skip(f"nothing can be drawn here: {error}")
