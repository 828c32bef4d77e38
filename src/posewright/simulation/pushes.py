"""Pushes of a simulated robot: external forces on its links for whole frames."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import UnknownNameError
from posewright.simulation.robot_model import body_name

if TYPE_CHECKING:
    from posewright.bodies import Push
    from posewright.simulation.instance import ModelInstance


class PushForces:
    """Applies the pushes of one robot to its links, frame by frame.

    Each push is a constant force at the link's centre of mass. Its direction is that of the robot's heading
    when it begins.

    Args:
        instance: the robot.
        pushes: its pushes.

    Raises:
        UnknownNameError: the robot's model has no link of a push.
    """

    def __init__(self, instance: ModelInstance, pushes: Sequence[Push]) -> None:
        self._instance = instance
        self._timed_pushes = [_time_push(instance, push) for push in pushes]
        first_frames = {timed_push.first_frame for timed_push in self._timed_pushes}
        end_frames = {timed_push.end_frame for timed_push in self._timed_pushes}
        self._change_frames = sorted(first_frames | end_frames)
        self._bodies = sorted({timed_push.body for timed_push in self._timed_pushes})
        self._active_forces: dict[int, Floats] = {}  # by index of the push, `(3,)` in the field's frame [N]

    def find_changes(self, begin: int, end: int) -> list[int]:
        """Return the frames from `begin` to before `end` in which a push begins or is over."""
        frames = self._change_frames
        return frames[bisect_left(frames, begin) : bisect_left(frames, end)]

    def apply(self, frame: int) -> None:
        """Set MuJoCo's external forces at the beginning of a frame in which they change."""
        if not self.find_changes(frame, frame + 1):
            return
        for index, timed_push in enumerate(self._timed_pushes):
            if timed_push.end_frame == frame:
                del self._active_forces[index]
            if timed_push.first_frame == frame:
                self._active_forces[index] = timed_push.force_n * self._direction(timed_push.from_rad)
        forces = self._instance.data.xfrc_applied
        forces[self._bodies] = 0.0
        for index, force in self._active_forces.items():
            forces[self._timed_pushes[index].body, :3] += force

    def reset(self) -> None:
        """End all pushes, as at the beginning of a run."""
        self._active_forces.clear()
        self._instance.data.xfrc_applied[self._bodies] = 0.0

    def _direction(self, from_rad: float) -> Floats:
        """Return the unit vector, in the field's frame, of a force that comes from a side, `(3,)`."""
        base_matrix = self._instance.data.xmat[self._instance.addresses.base_body]  # row by row
        heading_rad = math.atan2(base_matrix[3], base_matrix[0])
        angle_rad = heading_rad + from_rad
        return np.array([-math.cos(angle_rad), -math.sin(angle_rad), 0.0])


class _TimedPush(NamedTuple):
    """A push in whole frames: it acts on a body of the model from `first_frame` to before `end_frame`."""

    first_frame: int
    end_frame: int
    body: int
    force_n: float
    from_rad: float


def _time_push(instance: ModelInstance, push: Push) -> _TimedPush:
    """Return a push in whole frames, at least one, with the force that has its impulse.

    Raises:
        UnknownNameError: the robot's model has no such link.
    """
    frame_s = instance.robot.frame_period_s
    first_frame = round(push.time_s / frame_s)
    n_frames = max(1, round(push.duration_s / frame_s))
    return _TimedPush(
        first_frame,
        first_frame + n_frames,
        body=_find_link(instance, push.link),
        force_n=push.impulse_n_s / (n_frames * frame_s),
        from_rad=push.from_rad,
    )


def _find_link(instance: ModelInstance, link: str) -> int:
    """Return the number of a robot's link in the model; that of the base for an empty name."""
    if not link:
        return instance.addresses.base_body
    names = [body_name(instance.model, body).removeprefix(instance.prefix) for body in instance.bodies]
    if link not in names:
        raise UnknownNameError.among("link of a push", link, names, owner=f"of {instance.robot.name}")
    return int(instance.model.body(instance.prefix + link).id)
