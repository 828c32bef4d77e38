"""How a simulated robot is put down at the start: standing or lying."""

from __future__ import annotations

from enum import Enum
from math import pi

from posewright.errors import UnknownNameError

POSTURE = "posture"
"""The fact about a body that says how it was put down at the start; a body without this fact stood."""


class StartPosture(Enum):
    """How a simulated robot is put down at the start; a lying one then settles on the floor."""

    STANDING = "standing"
    LYING_FRONT = "lying_front"
    LYING_BACK = "lying_back"
    LYING_LEFT = "lying_left"
    LYING_RIGHT = "lying_right"

    @property
    def roll_and_pitch(self) -> tuple[float, float] | None:
        """Roll and pitch of the base [rad]; None for those with which the robot rests in its start pose."""
        return _ROLL_AND_PITCH.get(self)


_ROLL_AND_PITCH = {
    StartPosture.LYING_FRONT: (0.0, pi / 2.0),
    StartPosture.LYING_BACK: (0.0, -pi / 2.0),
    StartPosture.LYING_LEFT: (-pi / 2.0, 0.0),
    StartPosture.LYING_RIGHT: (pi / 2.0, 0.0),
}


def read_posture(name: str) -> StartPosture:
    """Return the posture of a name such as `lying_front`.

    Raises:
        UnknownNameError: there is no such posture.
    """
    postures = {posture.value: posture for posture in StartPosture}
    if name not in postures:
        raise UnknownNameError.among("start", name, postures)
    return postures[name]
