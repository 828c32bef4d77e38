"""OVirtualRobotComm: the system object that moves the joints, frame by frame, and says what the sensors read.

Source: seeds.md A5: it adds a reference to a region when it gets it, moves the joints every 8 ms, takes the
reference back, and is ready for the next. Each sender has its own vector under way, so a head and four legs
may be moved by two objects at once; where both move one joint, the one connected later has it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.bodies import BodyState
from posewright.errors import InputError
from posewright.robots import Joint, Robot
from posewright.runtimes.openr.regions import (
    MAX_FRAMES,
    MICRO,
    DataType,
    OCommandVectorData,
    RCRegion,
    refuse_no_angles,
)
from posewright.runtimes.openr.services import ONotifyEvent, OObject, ServiceName

Integers = NDArray[np.int64]

SENSOR_FRAMES = 4
"""Frames in one vector of sensor readings, 32 ms: ours, as many as the robot's command buffer holds."""

NOT_MEASURED = -(2**31)
"""What is sent of a joint or sensor that nobody could read."""


@dataclass(frozen=True, slots=True)
class OSensorFrameVectorData:
    """What joints and sensors read in the last frames; `NOT_MEASURED` where nothing was read.

    Attributes:
        joints: angle of each primitive, `(n_frames, n_joints)` [micro-radians].
        sensors: of each sensor that reads one number, `(n_frames,)` in millionths of its unit; 0 and 1 of a
            switch; of one that reads several, `(n_frames, k)`.
    """

    joints: Integers
    sensors: dict[str, Integers]

    def __str__(self) -> str:
        return f"{len(self.joints)} frames of {self.joints.shape[1]} joints, {len(self.sensors)} sensors"


@dataclass(slots=True)
class _Playing:
    """What one sender has under way."""

    regions: deque[RCRegion[OCommandVectorData]] = field(default_factory=deque)
    done: int = 0  # frames of the first

    @property
    def left(self) -> int:
        return self.regions[0].data.n_frames - self.done


class OVirtualRobotComm(OObject):
    """Moves joints and tells what they read.

    Args:
        robot: whose joints.
        pose: what is commanded to joints before anybody moves them, `(n_joints,)` [rad].
    """

    def __init__(self, robot: Robot, pose: NDArray[np.float64]) -> None:
        super().__init__()
        self._robot = robot
        self._command: Integers = np.rint(pose * MICRO).astype(np.int64)
        self.effector = self.observer("Effector", "OCommandVectorData", self._take, data=RCRegion)
        self.sensor = self.subject("Sensor", "OSensorFrameVectorData")
        self._playing: dict[ServiceName, _Playing] = {}
        self._readings: list[BodyState] = []
        self._told: set[tuple[str, str]] = set()  # who asked which joint for more than it can

    @property
    def is_moving(self) -> bool:
        """Whether a vector is under way."""
        return any(one.regions for one in self._playing.values())

    @property
    def frames_left(self) -> int | None:
        """How many frames pass before somebody is told something; None while nobody will be."""
        if self.sensor.connections:
            return 1
        return min((one.left for one in self._playing.values() if one.regions), default=None)

    def frames(self, n: int) -> Integers:
        """Return the commands of the next frames, `(n, n_joints)` [micro-radians]; at most `frames_left`."""
        rows = np.repeat(self._command[np.newaxis], n, axis=0)
        for connection in self.effector.connections:
            playing = self._playing.get(connection.subject.name)
            if playing is not None and playing.regions:
                _fill(rows, playing.regions[0].data, playing.done)
                playing.done += n
        self._command = rows[-1]
        return rows

    def see(self, state: BodyState) -> None:
        """End vectors whose last frame was played, tell whose sender has no more here, read the sensors."""
        for connection in self.effector.connections:
            playing = self._playing.get(connection.subject.name)
            if playing is not None and playing.regions and playing.left <= 0:
                playing.regions.popleft().remove_reference()
                playing.done = 0
                connection.busy_since_s = self.openr.time_s
                if not playing.regions:
                    connection.answer(self.openr, is_ready=True)
        if self.sensor.connections and self.openr.frame:
            self._read(state)

    def _take(self, event: ONotifyEvent) -> None:
        """Take vectors; the sender hears that they are done when they are."""
        playing = self._playing.setdefault(event.sender, _Playing())
        for region in event.data:
            try:
                self._check(region, event.sender)
            except (AttributeError, IndexError, TypeError) as error:
                what = f"{event.sender.short} sent a damaged vector: {error}"
                raise InputError(what, hint="its set and set_n_data make a sound one") from error
            region.add_reference()
            playing.regions.append(region)

    def _check(self, region: Any, sender: ServiceName) -> None:
        """Refuse what is no vector of this robot's joints."""
        if not isinstance(region.data, OCommandVectorData):
            what = f"{sender.short} sent an RCRegion of {region.data!r}"
            raise InputError(what, hint="OVirtualRobotComm takes an RCRegion of OCommandVectorData")
        vector = region.data
        vector.set_n_data(vector.n_data)  # which checks it
        for info, angles in zip(vector.infos[: vector.n_data], vector.values, strict=False):
            if not info.n_frames:
                continue
            if not 0 <= info.n_frames <= MAX_FRAMES:
                raise InputError(f"{sender.short} sent {info.n_frames} frames", hint=f"0 to {MAX_FRAMES}")
            if not 0 <= info.primitive < len(self._robot.joints):
                what = f"{sender.short} moves primitive {info.primitive}"
                raise InputError(what, hint="open_primitive gives one")
            joint = self._robot.joints[info.primitive]
            if joint.two_state != (info.data_type is DataType.JOINT_COMMAND4):
                right = DataType.JOINT_COMMAND4 if joint.two_state else DataType.JOINT_COMMAND2
                what = f"{sender.short} moves {joint.name} by {info.data_type.name}"
                raise InputError(what, hint=f"right is {right.name}")
            refuse_no_angles(angles[: info.n_frames])
            self._tell_excess(joint, angles[: info.n_frames], sender)

    def _tell_excess(self, joint: Joint, angles: Sequence[int], sender: ServiceName) -> None:
        """Say once that an object asks a joint for more than it can do."""
        low, high = joint.hardware_lower_rad, joint.hardware_upper_rad
        beyond = [one for one in angles if not joint.reaches(one / MICRO, slack_rad=1 / MICRO)]
        if beyond and not joint.two_state and (sender.owner, joint.name) not in self._told:
            self._told.add((sender.owner, joint.name))
            asked, *limits = (f"{math.degrees(one):.1f}" for one in (beyond[0] / MICRO, low, high))
            self.say(f"{sender.owner} asks {joint.name} for {asked} deg; it can do {' to '.join(limits)}")

    def _read(self, state: BodyState) -> None:
        """Keep what is read, and send it to who is ready for it: a reading that waits would be an old one."""
        self._readings.append(state)
        if len(self._readings) < SENSOR_FRAMES:
            return
        seen, self._readings = self._readings, []
        sensors = {
            name: _whole([one.sensors[name] for one in seen], 1 if isinstance(first, _SWITCH) else MICRO)
            for name, first in seen[0].sensors.items()
        }
        region = RCRegion(OSensorFrameVectorData(_whole([one.positions for one in seen], MICRO), sensors))
        for connection in self.sensor.connections:
            if connection.is_ready:
                connection.put(region)
                connection.send(self.openr)


_SWITCH = (bool, np.bool_)


def _whole(values: Any, per_unit: int) -> Integers:
    exact = np.asarray(values, np.float64) * per_unit
    return np.where(np.isnan(exact), NOT_MEASURED, np.rint(exact)).astype(np.int64)


def _fill(rows: Integers, vector: OCommandVectorData, done: int) -> None:
    """Write what a vector says of the frames from its `done`-th on; a joint at its end stays there."""
    for place in range(vector.n_data):
        info = vector.infos[place]
        if not info.n_frames:
            continue
        angles = vector.values[place][done : info.n_frames][: len(rows)]
        if angles:
            rows[: len(angles), info.primitive] = angles
            rows[len(angles) :, info.primitive] = angles[-1]
