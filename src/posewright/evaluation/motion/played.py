"""A motion that was played, from its recording: the rows of the motion, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

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
"""The entry of a header's extras that makes its recording one of a motion."""

FLOOR = "floor"

Rule = tuple[Level, str]
"""How bad a finding is, and its rule's name."""

Measured = tuple[float, float, str]
"""A value, its limit, and their unit."""


@dataclass(frozen=True, eq=False)
class Contact:
    """Two things that touch, over time.

    Attributes:
        frames: in which they touch, `(n,)`.
        depths: how far they lie in each other, `(n,)` [m].
        forces: how hard they press against each other, `(n,)` [N]; NaN against the floor.
        speeds: how fast the part came down on the floor, `(n,)` [m/s]; NaN where it lay there already.
    """

    parts: tuple[str, str]
    frames: Indices
    depths: Floats
    forces: Floats
    speeds: Floats

    @property
    def with_floor(self) -> bool:
        """Whether it is the floor that the part touches."""
        return self.parts[1] == FLOOR


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """What was commanded and what the robot did; n frames, each taken at its end.

    Attributes:
        trajectory: where the robot was; it has every frame.
        begin: the motion's own first frame; before it the robot only stands in its first pose.
        end: the frame after its last; from there on its last pose is held.
        keyframes: number of the keyframe that is gone to or stayed in, from 1; 0 before the motion, `(n,)`.
        wanted: roll and pitch of the base its author had in mind, `(n, 2)` [rad]; None where nobody says.
    """

    trajectory: Trajectory
    name: str
    is_whole: bool
    begin: int
    end: int
    keyframes: Indices
    wanted: Floats | None

    @classmethod
    def of(cls, recording: Recording, *, robot: Robot | None = None) -> Self:
        """Return the motion in a recording; its robot's card is needed where it is one that does not ship."""
        trajectory = Trajectory.of(recording, robot=robot)
        told = recording.header.extras.get(EXTRAS)
        if not isinstance(told, dict) or not {"name", "is_whole"} <= set(told):
            raise InputError(
                "this is not the recording of a motion",
                hint="one made with `motion check --physics --record`",
            )
        trajectory.expect_every_frame("the figures of a motion")
        if trajectory.record.contacts is None or trajectory.record.slips is None:
            raise InputError(
                "the recording does not say what touched what", hint="a world with contacts=True"
            )
        try:
            begin, end, keyframes = _course(trajectory)
            wanted = _wanted(told.get("attitudes"), begin, end, trajectory.last)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"the course of the motion cannot be read: {error}") from error
        return cls(trajectory, str(told["name"]), bool(told["is_whole"]), begin, end, keyframes, wanted)

    def __repr__(self) -> str:
        return f"<PlayedMotion {self.name} on {self.robot.name}: {self.ends_s:.3f} s>"

    @property
    def robot(self) -> Robot:
        """Whose joints and feet these are."""
        return self.trajectory.robot

    @property
    def frame_s(self) -> float:
        """Time from frame to frame [s]."""
        return self.robot.frame_period_s

    @property
    def record(self) -> RobotRecord:
        """What the robot was told and did, `commands` being within the hardware's limits."""
        return self.trajectory.record

    @cached_property
    def times(self) -> Floats:
        """Time since the motion began; 0 or less before it, `(n,)` [s]."""
        return (np.arange(1.0, self.trajectory.last + 1.0) - self.begin) * self.frame_s

    @property
    def ends_s(self) -> float:
        """When the motion was over; after that its last pose is held [s]."""
        return (self.end - self.begin) * self.frame_s

    @cached_property
    def moving(self) -> Flags:
        """Which frames are the motion's own: neither before nor after it, `(n,)`."""
        frames = np.arange(len(self.times))
        return np.asarray((frames >= self.begin) & (frames < self.end))

    @cached_property
    def free(self) -> Flags:
        """Joints whose torque is off, `(n, n_joints)`."""
        free = self.record.free
        return np.zeros(self.record.commands.shape, dtype=np.bool_) if free is None else free

    @property
    def slips(self) -> Floats:
        """How far each foot slid over the floor in the frame, `(n, n_feet)` [m]."""
        slips = self.record.slips
        return np.zeros(self.record.foot_contacts.shape) if slips is None else slips

    @property
    def lean(self) -> Floats:
        """How far the base leans from upright, `(n,)` [deg]."""
        return self.trajectory.tilt_deg[1:]

    @property
    def _up(self) -> Floats:
        """Where the sky is, seen from the base, `(n, 3)`."""
        return self.trajectory.up[1:]

    @cached_property
    def sideways(self) -> Floats:
        """How far the base leans to either side, `(n,)` [deg]."""
        sideways: Floats = np.degrees(np.arcsin(np.clip(np.abs(self._up[:, 1]), 0.0, 1.0)))
        return sideways

    @cached_property
    def off(self) -> Floats:
        """How far the base is from where its author wants it, else from where it was at first [deg]."""
        wanted = self._up[max(0, self.begin - 1)] if self.wanted is None else _up(*self.wanted.T)
        off: Floats = np.degrees(np.arccos(np.clip((self._up * wanted).sum(axis=-1), -1.0, 1.0)))
        return off

    def turned(self, before: int, after: int) -> tuple[float, str]:
        """Return by how much the base leans otherwise in one frame than in another [deg], and where to."""
        ups = self._up[[before, after]]
        angle = math.degrees(math.acos(max(-1.0, min(1.0, float(ups[0] @ ups[1])))))
        return angle, describe_direction(ups[0] - ups[1])

    def finding(
        self, rule: Rule, message: str, frame: int, measured: Measured, joint: str | None = None
    ) -> Finding:
        """Return a finding about a frame."""
        keyframe, times_s, (value, limit, unit) = (
            int(self.keyframes[frame]),
            (float(self.times[frame]),),
            measured,
        )
        return Finding(*rule, message, keyframe, joint, value, limit, unit, times_s)

    def when(self, frame: int) -> str:
        """Return in words when a frame was."""
        time_s = float(self.times[frame])
        if time_s > self.ends_s + 0.5 * self.frame_s:
            return f"at {time_s:.2f} s ({time_s - self.ends_s:.2f} s after the end)"
        return f"at {time_s:.2f} s (keyframe {self.keyframes[frame]})"

    @cached_property
    def lag(self) -> Floats:
        """How far each joint is behind its command, `(n, n_joints)` [deg]; 0 where its torque is off."""
        behind = np.degrees(np.abs(self.record.commands - self.record.positions))
        return np.where(self.free, 0.0, behind)

    @cached_property
    def asked_speeds(self) -> Floats:
        """How fast the commands change, `(n, n_joints)` [rad/s]; 0 where the torque is off or was."""
        steps = np.abs(np.diff(self.record.commands, axis=0, prepend=self.record.commands[:1])) / self.frame_s
        off = self.free | np.roll(self.free, 1, axis=0)
        return np.where(off, 0.0, steps)

    def effort(self, share: float) -> Flags:
        """Return where a servo gives at least this share of its stall torque, `(n, n_joints)`."""
        efforts = self.record.efforts
        return np.asarray(np.abs(efforts) >= share * self.trajectory.stall_nm)

    @cached_property
    def touching_pairs(self) -> tuple[Contact, ...]:
        """Any two things that ever touch; the floor is the second."""
        found = self.record.contacts
        if found is None:
            return ()
        kinds, which = np.unique(found.pairs, axis=0, return_inverse=True)
        rows = [which.ravel() == kind for kind in range(len(kinds))]
        over_time = (found.frames, found.depths, found.forces, found.speeds)
        return tuple(
            Contact((found.names[one], found.names[other]), *(values[own] for values in over_time))
            for own, (one, other) in zip(rows, kinds.tolist(), strict=True)
        )

    def way_of_leaning(self, frame: int) -> str:
        """Return where the base leans to: forward, back, to the left or to the right."""
        return describe_direction(-self._up[frame])


def _course(trajectory: Trajectory) -> tuple[int, int, Indices]:
    """Return the motion's first frame, the one after its last, and the keyframe of each, `(n,)`."""
    decisions, n = trajectory.record.decisions, trajectory.last
    frames = [round(time_s / trajectory.row_s) for time_s in decisions.times.tolist()]
    keyframes = np.zeros(n, dtype=np.intp)
    begin, end = n, n
    for frame, state, outputs in zip(frames, decisions.states, decisions.outputs, strict=True):
        keyframes[frame:] = int(outputs.get(KEYFRAME, 0))
        begin = min(begin, frame) if state != SETTLE else begin
        end = frame if state == HOLD else end
    return begin, end, keyframes


def _wanted(told: PlainData, begin: int, end: int, n: int) -> Floats | None:
    """Return the attitude that the motion's file gives the base in each frame, `(n, 2)` [rad]."""
    if told is None:
        return None
    given = np.array(told, dtype=np.float64)
    if given.shape != (end - begin, 2):
        raise ValueError(f"attitudes of the shape {given.shape}, not {(end - begin, 2)}")
    return np.pad(given, ((begin, n - end), (0, 0)), "edge")


def _up(roll: Floats, pitch: Floats) -> Floats:
    """Return where the sky is, seen from the base, `(n, 3)`."""
    return np.stack([-np.sin(pitch), np.cos(pitch) * np.sin(roll), np.cos(pitch) * np.cos(roll)], axis=-1)
