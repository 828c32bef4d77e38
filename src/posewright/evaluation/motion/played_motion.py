"""A motion that a robot played, reconstructed from its recording."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.controllers.motion_player import HOLD, KEYFRAME, SETTLE
from posewright.documents import PlainData
from posewright.errors import InputError
from posewright.evaluation.trajectory import Trajectory
from posewright.motions import Finding, Level
from posewright.recordings import Recording, RobotRecord
from posewright.recordings.falls import describe_direction
from posewright.robots import Robot

EXTRAS = "motion"
"""The key in a header's extras of the facts about the motion: its name, whether it was played whole."""

FLOOR = "floor"


class Measurement(NamedTuple):
    """A measured value with the limit it is compared with.

    Attributes:
        value: the measured value.
        limit: the limit.
        unit: the unit of both, such as `deg`.
    """

    value: float
    limit: float
    unit: str


@dataclass(frozen=True, eq=False)
class PartContact:
    """The contact between two parts, or a part and the floor, in n frames.

    Attributes:
        parts: names; the floor is the second.
        frames: the frames in which they touch, `(n,)`.
        depths: penetration, `(n,)` [m].
        forces: the forces between them, `(n,)` [N]; NaN with the floor.
        speeds: the speeds of the part when it reaches the floor, `(n,)` [m/s]; NaN if it was on the floor
            before.
    """

    parts: tuple[str, str]
    frames: Indices
    depths: Floats
    forces: Floats
    speeds: Floats

    @property
    def is_with_floor(self) -> bool:
        """Whether the part touches the floor."""
        return self.parts[1] == FLOOR


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """A motion as commanded and as executed: n frames, each with the state at its end.

    Attributes:
        trajectory: the trajectory of the robot, with every frame.
        name: the name of the motion.
        is_complete: whether the motion was played to its end.
        first_frame: first frame of the motion; before it, the robot stands in its first pose.
        end_frame: the frame after the motion's last; from there on, its last pose is held.
        keyframe_numbers: number of the keyframe approached or held, from 1; 0 before the motion, `(n,)`.
        intended_attitude: roll and pitch of the base stated by the motion's author, `(n, 2)` [rad]; None if
            not stated.
    """

    trajectory: Trajectory
    name: str
    is_complete: bool
    first_frame: int
    end_frame: int
    keyframe_numbers: Indices
    intended_attitude: Floats | None

    @classmethod
    def of(cls, recording: Recording, *, robot: Robot | None = None) -> Self:
        """Return the motion that the robot plays in a recording.

        Args:
            recording: made by `motion check --physics` or `try_motion`, whose header states the name of the
                motion, whether it was played to its end, and perhaps the attitudes its author intended.
            robot: the recorded robot; required unless it ships with Posewright.

        Raises:
            InputError: the recording is not one of a motion, or lacks frames, contacts or slips.
        """
        trajectory = Trajectory.of(recording, robot=robot)
        motion_facts = recording.header.extras.get(EXTRAS)
        if not isinstance(motion_facts, dict) or not {"name", "is_whole"} <= set(motion_facts):
            raise InputError(
                "this is not the recording of a motion",
                hint="use one made with `motion check --physics --record`",
            )
        trajectory.require_every_frame("the figures of a motion")
        if trajectory.record.contacts is None or trajectory.record.slips is None:
            raise InputError(
                "the recording has no contacts or no slips of feet",
                hint="record in a world with contacts=True",
            )
        try:
            schedule = _read_schedule(trajectory)
            intended_attitude = _read_attitude(
                motion_facts.get("attitudes"),
                schedule.first_frame,
                schedule.end_frame,
                n_frames=trajectory.last_row,
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"the course of the motion cannot be read: {error}") from error
        return cls(
            trajectory,
            name=str(motion_facts["name"]),
            is_complete=bool(motion_facts["is_whole"]),
            first_frame=schedule.first_frame,
            end_frame=schedule.end_frame,
            keyframe_numbers=schedule.keyframe_numbers,
            intended_attitude=intended_attitude,
        )

    def __repr__(self) -> str:
        return f"<PlayedMotion {self.name} on {self.robot.name}: {self.duration_s:.3f} s>"

    @property
    def robot(self) -> Robot:
        """Card of the robot."""
        return self.trajectory.robot

    @property
    def frame_s(self) -> float:
        """Time from frame to frame [s]."""
        return self.robot.frame_period_s

    @property
    def record(self) -> RobotRecord:
        """Record of the robot; its `commands` are within the hardware's limits."""
        return self.trajectory.record

    @cached_property
    def times(self) -> Floats:
        """Time since the motion began, 0 or less before, `(n,)` [s]."""
        return (np.arange(1.0, self.trajectory.last_row + 1.0) - self.first_frame) * self.frame_s

    @property
    def duration_s(self) -> float:
        """Duration of the motion, without the hold of its last pose [s]."""
        return (self.end_frame - self.first_frame) * self.frame_s

    @cached_property
    def is_moving(self) -> Flags:
        """Whether a frame is part of the motion, `(n,)`."""
        frames = np.arange(len(self.times))
        return np.asarray((frames >= self.first_frame) & (frames < self.end_frame))

    @cached_property
    def is_torque_off(self) -> Flags:
        """Joints whose torque is off, `(n, n_joints)`."""
        free = self.record.free
        return np.zeros(self.record.commands.shape, dtype=np.bool_) if free is None else free

    @property
    def slips_m(self) -> Floats:
        """Distance that each foot slid over the floor in the frame, `(n, n_feet)` [m]."""
        slips = self.record.slips
        return np.zeros(self.record.foot_contacts.shape) if slips is None else slips

    @property
    def tilt_deg(self) -> Floats:
        """Angle between the base's z axis and the vertical, `(n,)` [deg]."""
        return self.trajectory.tilt_deg[1:]

    @property
    def _up_in_base(self) -> Floats:
        """The vertical in the base's frame, `(n, 3)`."""
        return self.trajectory.up_in_base[1:]

    @cached_property
    def sideways_tilt_deg(self) -> Floats:
        """Tilt of the base to the left or right, `(n,)` [deg]."""
        tilt_deg: Floats = np.degrees(np.arcsin(np.clip(np.abs(self._up_in_base[:, 1]), 0.0, 1.0)))
        return tilt_deg

    @cached_property
    def attitude_error_deg(self) -> Floats:
        """Angle between the base and its intended attitude, or else its first attitude, `(n,)` [deg]."""
        if self.intended_attitude is None:
            intended_up = self._up_in_base[max(0, self.first_frame - 1)]
        else:
            intended_up = _up_of_attitude(*self.intended_attitude.T)
        cosines = np.clip((self._up_in_base * intended_up).sum(axis=-1), -1.0, 1.0)
        error_deg: Floats = np.degrees(np.arccos(cosines))
        return error_deg

    def attitude_change(self, first: int, second: int) -> tuple[float, str]:
        """Return the angle [deg] and the direction by which the base tilts from one frame to another."""
        first_up = self._up_in_base[first]
        second_up = self._up_in_base[second]
        angle_deg = math.degrees(math.acos(max(-1.0, min(1.0, float(first_up @ second_up)))))
        return angle_deg, describe_direction(first_up - second_up)

    def tilt_direction(self, frame: int) -> str:
        """Return the direction in which the base is tilted: forward, back, to the left or to the right."""
        return describe_direction(-self._up_in_base[frame])

    def create_finding(
        self,
        level: Level,
        rule: str,
        message: str,
        *,
        frame: int,
        measurement: Measurement,
        joint: str | None = None,
    ) -> Finding:
        """Return a finding about a frame of this motion, with the frame's time and keyframe.

        Args:
            level: error, warning or note.
            rule: name of the rule.
            message: the text shown to people.
            frame: index of the frame.
            measurement: the measured value and its limit.
            joint: name of the joint that the finding is about; None for the whole robot.
        """
        return Finding(
            level,
            rule,
            message,
            keyframe=int(self.keyframe_numbers[frame]),
            joint=joint,
            value=measurement.value,
            limit=measurement.limit,
            unit=measurement.unit,
            times_s=(float(self.times[frame]),),
        )

    def format_time(self, frame: int) -> str:
        """Return the time of a frame in words, with its keyframe or the time since the end."""
        time_s = float(self.times[frame])
        if time_s > self.duration_s + 0.5 * self.frame_s:
            return f"at {time_s:.2f} s ({time_s - self.duration_s:.2f} s after the end)"
        return f"at {time_s:.2f} s (keyframe {self.keyframe_numbers[frame]})"

    @cached_property
    def lag_deg(self) -> Floats:
        """Difference between each joint and its command, `(n, n_joints)` [deg]; 0 if its torque is off."""
        difference = np.degrees(np.abs(self.record.commands - self.record.positions))
        return np.where(self.is_torque_off, 0.0, difference)

    @cached_property
    def commanded_speeds(self) -> Floats:
        """Speed of the commands, `(n, n_joints)` [rad/s]; 0 in frames with torque off and the frame after."""
        steps = np.abs(np.diff(self.record.commands, axis=0, prepend=self.record.commands[:1])) / self.frame_s
        is_off = self.is_torque_off | np.roll(self.is_torque_off, 1, axis=0)
        return np.where(is_off, 0.0, steps)

    def has_torque_share(self, share: float) -> Flags:
        """Return whether each servo gives at least a share of its stall torque, `(n, n_joints)`."""
        efforts = self.record.efforts
        return np.asarray(np.abs(efforts) >= share * self.trajectory.stall_torques_nm)

    @cached_property
    def contacts(self) -> tuple[PartContact, ...]:
        """The contact of each pair of parts, or part and floor, that ever touch."""
        contacts = self.record.contacts
        if contacts is None:
            return ()
        # `contacts` has a row for each contact in each frame, with the indices of the two parts
        pairs, pair_index_of_row = np.unique(contacts.pairs, axis=0, return_inverse=True)
        part_contacts = []
        for pair_index, (first, second) in enumerate(pairs.tolist()):
            is_of_pair = pair_index_of_row.ravel() == pair_index
            part_contacts.append(
                PartContact(
                    parts=(contacts.names[first], contacts.names[second]),
                    frames=contacts.frames[is_of_pair],
                    depths=contacts.depths[is_of_pair],
                    forces=contacts.forces[is_of_pair],
                    speeds=contacts.speeds[is_of_pair],
                )
            )
        return tuple(part_contacts)


class _Schedule(NamedTuple):
    """Which frames the motion was played in, and the keyframe of each frame.

    The attributes are those of `PlayedMotion`.
    """

    first_frame: int
    end_frame: int
    keyframe_numbers: Indices


def _read_schedule(trajectory: Trajectory) -> _Schedule:
    """Return when the motion was played, as recorded in the decisions of its controller.

    The robot first settles in the first pose, then plays the motion, then holds the last pose. If the run
    ended before the hold, the motion ends with the last frame.
    """
    decisions = trajectory.record.decisions
    n_frames = trajectory.last_row
    decision_frames = [round(time_s / trajectory.row_s) for time_s in decisions.times.tolist()]
    keyframe_numbers = np.zeros(n_frames, dtype=np.intp)
    first_frame = n_frames
    end_frame = n_frames
    for frame, state, outputs in zip(decision_frames, decisions.states, decisions.outputs, strict=True):
        keyframe_numbers[frame:] = int(outputs.get(KEYFRAME, 0))  # until the next decision
        if state != SETTLE:
            first_frame = min(first_frame, frame)
        if state == HOLD:
            end_frame = frame
    return _Schedule(first_frame, end_frame, keyframe_numbers)


def _read_attitude(attitudes: PlainData, first_frame: int, end_frame: int, n_frames: int) -> Floats | None:
    """Return roll and pitch of the base that the motion's author intended, `(n_frames, 2)` [rad].

    Before and after the motion they are those of the motion's first and last frame.

    Args:
        attitudes: roll and pitch in each frame of the motion; None if the author stated none.
        first_frame: the motion's first frame.
        end_frame: the frame after its last.
        n_frames: number of frames of the recording.

    Raises:
        ValueError: `attitudes` are not two numbers for each frame of the motion.
    """
    if attitudes is None:
        return None
    in_motion = np.array(attitudes, dtype=np.float64)
    expected_shape = (end_frame - first_frame, 2)
    if in_motion.shape != expected_shape:
        raise ValueError(f"attitudes of the shape {in_motion.shape}, not {expected_shape}")
    n_before = first_frame
    n_after = n_frames - end_frame
    return np.pad(in_motion, ((n_before, n_after), (0, 0)), mode="edge")


def _up_of_attitude(roll: Floats, pitch: Floats) -> Floats:
    """Return the vertical in the frame of a base with roll and pitch `(n,)` [rad], `(n, 3)`."""
    return np.stack([-np.sin(pitch), np.cos(pitch) * np.sin(roll), np.cos(pitch) * np.cos(roll)], axis=-1)
