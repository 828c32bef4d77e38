"""Teaching: limbs are released, put into a pose by hand and caught; the poses become a motion.

```python
with Teacher(bus, robot, now=time.monotonic) as teacher:
    teacher.release("right_arm")
    teacher.catch("up", 1.0)          # put the arm up first
    formats.write_motion(teacher.motion("wave"), "wave.motion.yaml")
```
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from posewright.bodies import TorquePolicy
from posewright.buses.dynamixel.torque import hold_position, read_ticks, release, servo_ids
from posewright.errors import InputError, UnknownNameError
from posewright.motions import LONGEST_S, Easing, Keyframe, Motion, Pose

if TYPE_CHECKING:
    from posewright.arrays import Floats
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot

FIRST_REACH_S = 2.0
"""Default time into the first pose [s]: slow, as the robot may start from anywhere."""

MIN_REACH_S = 0.1
"""Shortest default time into a later pose [s], however soon it is caught after the one before."""

MS_DIGITS = 3
DEG_DIGITS = 2
"""Digits to which caught times [s] and angles [deg] are rounded: a tick of an AX-12 is 0.29 degrees."""

ALL = "all"
"""The name of the group of all joints."""


@dataclass(frozen=True, slots=True, eq=False)
class CaughtPose:
    """A pose of the robot, as it was put by hand.

    Attributes:
        name: the name of the pose.
        angles: `(n_joints,)` [rad], clipped to the limits.
        reach_s: time of the movement into it [s].
        warnings: joints that stood beyond their limits, or that would have to move faster than they can.
    """

    name: str
    angles: Floats
    reach_s: float
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"CaughtPose({self.name!r}, {self.reach_s:g} s)"


@dataclass(slots=True, eq=False, repr=False)
class Teacher:
    """Records poses of a robot whose limbs are moved by hand.

    Servos that are not released keep their torque as it is; `free` lists those without torque. Leaving the
    `with` switches all torque off, unless `close` was called with another policy before.

    Attributes:
        bus: the open bus.
        robot: its calibrated card.
        now: a clock [s].
        captured_poses: the poses so far, each read from the servos when the user held the limbs in it.
    """

    bus: Bus
    robot: Robot
    now: Callable[[], float]
    captured_poses: list[CaughtPose] = field(default_factory=list)
    _last_catch_s: float = math.nan
    _is_closed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def joints(self, group: str) -> tuple[str, ...]:
        """Return the joints of a group of the card, a single joint by its name, or `all` joints.

        Raises:
            UnknownNameError: there is no such group or joint.
        """
        if group == ALL:
            return tuple(servo_ids(self.robot))
        if group in self.robot.groups:
            return self.robot.group(group)
        if group in self.robot.joint_names:
            return (group,)
        raise UnknownNameError.among("limb", group, (ALL, *self.robot.groups, *self.robot.joint_names))

    @property
    def free(self) -> tuple[str, ...]:
        """The joints whose torque is off, read from their servos."""
        ids = servo_ids(self.robot)
        return tuple(joint for joint, servo_id in ids.items() if not self.bus.read(servo_id, "torque_enable"))

    def release(self, group: str) -> None:
        """Switch the torque of a group's joints off; support what they carry."""
        release(self.bus, servo_ids(self.robot, self.joints(group)).values())

    def hold(self, group: str) -> None:
        """Let the joints of a group hold their positions; none jumps to an old goal."""
        for servo_id in servo_ids(self.robot, self.joints(group)).values():
            hold_position(self.bus, servo_id)

    def catch(self, name: str = "", seconds: float | None = None) -> CaughtPose:
        """Record the present pose.

        Args:
            name: the name of the pose; by default `pose` and its number.
            seconds: time of the movement into it; by default the time since the previous pose, but at least
                0.1 s and at most `LONGEST_S`, and 2 s for the first.

        Raises:
            BodyError: a servo does not answer; no pose is recorded then.
            InputError: the time is out of range.
        """
        if seconds is not None and not 0.0 < round(seconds, MS_DIGITS) <= LONGEST_S:
            message = f"the time into the pose is {seconds} s"
            raise InputError(message, hint=f"it is above 0 and at most {LONGEST_S:g} s")
        measured_angles = self.robot.from_ticks(read_ticks(self.bus, self.robot))
        now_s = self.now()
        if seconds is not None:
            reach_s = seconds
        elif math.isnan(self._last_catch_s):
            reach_s = FIRST_REACH_S
        else:
            reach_s = min(max(now_s - self._last_catch_s, MIN_REACH_S), LONGEST_S)
        angles = np.clip(_round_degrees(measured_angles), *self.robot.limits)
        warnings = (*self._limit_warnings(measured_angles, angles), *self._speed_warnings(angles, reach_s))
        pose = CaughtPose(name or f"pose {len(self.captured_poses) + 1}", angles, reach_s, warnings)
        self.captured_poses.append(pose)
        self._last_catch_s = now_s
        return pose

    def undo(self) -> CaughtPose:
        """Remove the last pose, and return it.

        Raises:
            InputError: there is no pose.
        """
        if not self.captured_poses:
            raise InputError("no pose was caught yet", hint="catch one first")
        return self.captured_poses.pop()

    def motion(self, name: str) -> Motion:
        """Return the poses as a motion that moves smoothly and comes to rest in each pose.

        Raises:
            InputError: there is no pose.
        """
        if not self.captured_poses:
            raise InputError("no pose was caught yet", hint="a motion needs at least one")
        joints = tuple(servo_ids(self.robot))
        columns = [self.robot.index(joint) for joint in joints]
        keyframes = tuple(
            Keyframe(Pose(joints, pose.angles[columns]), round(pose.reach_s, MS_DIGITS), easing=Easing.SMOOTH)
            for pose in self.captured_poses
        )
        pose_names = ", ".join(pose.name for pose in self.captured_poses)
        source = f"taught by hand: {pose_names}"
        return Motion(name, self.robot.name, joints, keyframes, source=source, card=self.robot)

    def close(self, policy: TorquePolicy = TorquePolicy.RELEASE) -> None:
        """End the session: switch all torque off, or leave servos as they are; call it once or more."""
        if not self._is_closed and policy is TorquePolicy.RELEASE:
            release(self.bus, servo_ids(self.robot).values())
        self._is_closed = True

    def _limit_warnings(self, measured: Floats, clipped: Floats) -> list[str]:
        """Return a warning for each joint that stands beyond its limits by more than a tick."""
        warnings = []
        for servo, joint, angle, limit in zip(
            self.robot.servos, self.robot.joints, measured.tolist(), clipped.tolist(), strict=True
        ):
            if abs(angle - limit) > servo.tick_rad:
                warnings.append(
                    f"{joint.name} stands at {math.degrees(angle):.1f} deg: caught at its limit, "
                    f"{math.degrees(limit):.1f}"
                )
        return warnings

    def _speed_warnings(self, angles: Floats, reach_s: float) -> list[str]:
        """Return a warning for each joint that cannot move from the previous pose in `reach_s` [s]."""
        if not self.captured_poses:
            return []
        previous_pose = self.captured_poses[-1]
        mean_speeds = np.abs(angles - previous_pose.angles) / reach_s
        peak_speeds = mean_speeds * (math.pi / 2.0)  # of half a period of a cosine
        warnings = []
        for column in np.flatnonzero(peak_speeds > self.robot.max_speeds).tolist():
            needed_s = reach_s * peak_speeds[column] / self.robot.max_speeds[column]
            warnings.append(
                f"{self.robot.joint_names[column]} cannot move there in {reach_s:g} s: it needs at least "
                f"{needed_s:.2f} s"
            )
        return warnings


def _round_degrees(angles: Floats) -> Floats:
    """Return angles [rad] rounded to `DEG_DIGITS` decimals of a degree."""
    return np.deg2rad(np.round(np.rad2deg(angles), DEG_DIGITS))
