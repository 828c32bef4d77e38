"""OVirtualRobotComm: the system object that moves the joints frame by frame, and sends sensor readings.

Source: seeds.md A5: it adds a reference to a region that it receives, moves the joints every 8 ms, removes
the reference, and is ready for the next. Each sender has its own current vector, so two objects may move a
head and four legs at once; if both move one joint, the one connected later wins.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Floats
from posewright.bodies import BodyState, Reading
from posewright.errors import InputError
from posewright.robots import Joint, Robot
from posewright.runtimes.openr.regions import (
    MAX_FRAMES,
    MICRO_PER_UNIT,
    DataType,
    OCommandVectorData,
    RCRegion,
    require_micro_radians,
)
from posewright.runtimes.openr.services import ONotifyEvent, OObject, ServiceName

Integers = NDArray[np.int64]

SENSOR_FRAMES = 4
"""Frames in a vector of sensor readings, 32 ms: ours, as many as the robot's command buffer holds."""

NOT_MEASURED = -(2**31)
"""Value of a joint or sensor that could not be read."""


@dataclass(frozen=True, slots=True)
class OSensorFrameVectorData:
    """Readings of joints and sensors in the last frames; `NOT_MEASURED` if there was none.

    Attributes:
        joints: angle of each primitive, `(n_frames, n_joints)` [micro-radians].
        sensors: the sensors by name, `(n_frames,)` in millionths of the unit, 0 and 1 for a switch;
            `(n_frames, k)` for a sensor with several values.
    """

    joints: Integers
    sensors: dict[str, Integers]

    def __str__(self) -> str:
        return f"{len(self.joints)} frames of {self.joints.shape[1]} joints, {len(self.sensors)} sensors"


@dataclass(slots=True)
class _VectorQueue:
    """The vectors of one sender that are not finished; the first is being played."""

    regions: deque[RCRegion[OCommandVectorData]] = field(default_factory=deque)
    n_frames_played: int = 0  # of the first vector

    @property
    def n_frames_left(self) -> int:
        """Frames of the first vector that are still to be played."""
        return self.regions[0].data.n_frames - self.n_frames_played


class OVirtualRobotComm(OObject):
    """Moves joints and sends readings.

    Args:
        robot: the robot whose joints are commanded.
        pose: commanded angles before the first vector, `(n_joints,)` [rad].
    """

    def __init__(self, robot: Robot, pose: NDArray[np.float64]) -> None:
        super().__init__()
        self._robot = robot
        self._last_command: Integers = np.rint(pose * MICRO_PER_UNIT).astype(np.int64)
        self.effector = self.observer("Effector", "OCommandVectorData", self._receive, data=RCRegion)
        self.sensor = self.subject("Sensor", "OSensorFrameVectorData")
        self._queues: dict[ServiceName, _VectorQueue] = {}  # by sender
        self._unsent_states: list[BodyState] = []
        self._reported_excesses: set[tuple[str, str]] = set()  # sender and joint

    @property
    def is_moving(self) -> bool:
        """Whether a vector is being played."""
        return any(queue.regions for queue in self._queues.values())

    @property
    def n_frames_left(self) -> int | None:
        """Number of frames until a vector ends or readings are sent; None if neither will happen."""
        if self.sensor.connections:
            return 1
        return min((queue.n_frames_left for queue in self._queues.values() if queue.regions), default=None)

    def play_frames(self, n_frames: int) -> Integers:
        """Play the next frames of all current vectors; return the commands of these frames.

        A joint that is in no vector keeps its last command.

        Args:
            n_frames: at most `n_frames_left`.

        Returns:
            Joint angles, `(n_frames, n_joints)` [micro-radians].
        """
        commands = np.repeat(self._last_command[np.newaxis], n_frames, axis=0)
        for connection in self.effector.connections:
            queue = self._queues.get(connection.subject.name)
            if queue is not None and queue.regions:
                current_vector = queue.regions[0].data
                _fill_rows(commands, current_vector, queue.n_frames_played)
                queue.n_frames_played += n_frames
        self._last_command = commands[-1]
        return commands

    def update(self, state: BodyState) -> None:
        """Remove vectors that have been played, answer senders without a further vector, and read sensors."""
        for connection in self.effector.connections:
            queue = self._queues.get(connection.subject.name)
            if queue is not None and queue.regions and queue.n_frames_left <= 0:
                queue.regions.popleft().remove_reference()
                queue.n_frames_played = 0
                connection.busy_since_s = self.openr.time_s
                if not queue.regions:
                    connection.answer(self.openr, is_ready=True)
        if self.sensor.connections and self.openr.frame:
            self._read_sensors(state)

    def _receive(self, event: ONotifyEvent) -> None:
        """Queue vectors; the sender gets its answer when they have been played."""
        queue = self._queues.setdefault(event.sender, _VectorQueue())
        for region in event.data:
            try:
                self._require_valid(region, event.sender)
            except (AttributeError, IndexError, TypeError) as error:
                message = f"{event.sender.short_name} sent a damaged vector: {error}"
                raise InputError(message, hint="fill vectors with set and set_n_data only") from error
            region.add_reference()
            queue.regions.append(region)

    def _require_valid(self, region: RCRegion[object], sender: ServiceName) -> None:
        """Raise an InputError unless a region holds a vector of this robot's joints."""
        vector = region.data
        if not isinstance(vector, OCommandVectorData):
            message = f"{sender.short_name} sent an RCRegion of {vector!r}"
            raise InputError(message, hint="OVirtualRobotComm takes an RCRegion of OCommandVectorData")
        vector.set_n_data(vector.n_data)  # raises if the number does not fit the vector
        for info, angles in zip(vector.infos[: vector.n_data], vector.values, strict=False):
            if not info.n_frames:
                continue
            if not 0 <= info.n_frames <= MAX_FRAMES:
                raise InputError(
                    f"{sender.short_name} sent {info.n_frames} frames", hint=f"0 to {MAX_FRAMES}"
                )
            if not 0 <= info.primitive < len(self._robot.joints):
                message = (
                    f"{sender.short_name} moves primitive {info.primitive}, which the robot does not have"
                )
                raise InputError(message, hint="use the numbers of open_primitive")
            joint = self._robot.joints[info.primitive]
            required_type = DataType.JOINT_COMMAND4 if joint.two_state else DataType.JOINT_COMMAND2
            if (info.data_type is DataType.JOINT_COMMAND4) != joint.two_state:
                message = f"{sender.short_name} moves {joint.name} by {info.data_type.name}"
                raise InputError(message, hint=f"use {required_type.name}")
            require_micro_radians(angles[: info.n_frames])
            self._report_excess(joint, angles[: info.n_frames], sender)

    def _report_excess(self, joint: Joint, angles: Sequence[int], sender: ServiceName) -> None:
        """Log, once per sender and joint, that commanded angles exceed what the joint can do."""
        excessive = [
            angle
            for angle in angles
            if not joint.reaches(angle / MICRO_PER_UNIT, slack_rad=1 / MICRO_PER_UNIT)
        ]
        key = (sender.owner, joint.name)
        if not excessive or joint.two_state or key in self._reported_excesses:
            return
        self._reported_excesses.add(key)
        commanded_deg = math.degrees(excessive[0] / MICRO_PER_UNIT)
        low_deg = math.degrees(joint.hardware_lower_rad)
        high_deg = math.degrees(joint.hardware_upper_rad)
        self.syslog(
            f"{sender.owner} asks {joint.name} for {commanded_deg:.1f} deg; it can do {low_deg:.1f} to "
            f"{high_deg:.1f}"
        )

    def _read_sensors(self, state: BodyState) -> None:
        """Collect states, and send their readings to observers that are ready; late readings are dropped."""
        self._unsent_states.append(state)
        if len(self._unsent_states) < SENSOR_FRAMES:
            return
        states = self._unsent_states
        self._unsent_states = []
        sensors: dict[str, Integers] = {}
        for name, first_reading in states[0].sensors.items():
            is_switch = isinstance(first_reading, (bool, np.bool_))
            per_unit = 1 if is_switch else MICRO_PER_UNIT
            sensors[name] = _to_integers([state.sensors[name] for state in states], per_unit)
        joints = _to_integers([state.positions for state in states], MICRO_PER_UNIT)
        region = RCRegion(OSensorFrameVectorData(joints, sensors))
        for connection in self.sensor.connections:
            if connection.is_ready:
                connection.put(region)
                connection.send(self.openr)


def _to_integers(values: Sequence[Reading] | Sequence[Floats], per_unit: int) -> Integers:
    """Return readings in whole parts of their unit; NaN becomes `NOT_MEASURED`."""
    exact = np.asarray(values, np.float64) * per_unit
    return np.where(np.isnan(exact), NOT_MEASURED, np.rint(exact)).astype(np.int64)


def _fill_rows(rows: Integers, vector: OCommandVectorData, n_frames_played: int) -> None:
    """Write the angles of a vector into rows; a joint at its end keeps its last angle.

    Args:
        rows: one for each frame, `(n_frames, n_joints)`; changed in place.
        vector: the vector.
        n_frames_played: number of its frames that have been played already.
    """
    for index in range(vector.n_data):
        info = vector.infos[index]
        if not info.n_frames:
            continue
        angles = vector.values[index][n_frames_played : info.n_frames][: len(rows)]
        if angles:
            rows[: len(angles), info.primitive] = angles
            rows[len(angles) :, info.primitive] = angles[-1]
