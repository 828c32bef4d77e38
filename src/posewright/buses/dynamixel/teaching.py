"""Teaching: limbs are let go, put into a pose by hand and caught; the poses become a motion.

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
from posewright.buses.dynamixel.torque import hold_here, read_ticks, release, servo_ids
from posewright.errors import InputError, UnknownNameError
from posewright.motions import LONGEST_S, Easing, Keyframe, Motion, Pose

if TYPE_CHECKING:
    from posewright.arrays import Floats
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot

FIRST_S = 2.0
"""Time into the first pose where nobody asked for another: from anywhere, so take it slowly [s]."""

SHORTEST_S = 0.1
"""Nobody puts a robot into a pose faster than this [s]."""

MS_DIGITS = 3
DEG_DIGITS = 2
"""What is caught is rounded to so many digits [s], [deg]: a tick of an AX-12 is 0.29 degrees."""

ALL = "all"
"""Names every joint where a group is asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class CaughtPose:
    """A pose that was caught.

    Attributes:
        angles: `(n_joints,)` [rad], within the limits.
        reach_s: time on the way into it [s].
        warnings: which joints stood beyond their limits or must go faster than their servos can, in words.
    """

    name: str
    angles: Floats
    reach_s: float
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"CaughtPose({self.name!r}, {self.reach_s:g} s)"


@dataclass(slots=True, eq=False, repr=False)
class Teacher:
    """Catches poses of a robot whose limbs a person moves.

    Every servo that was not released stays as it is: one whose torque is off floats, and `free` tells.
    Leaving the `with` takes all torque off, unless `close` was told otherwise before.

    Attributes:
        robot: its card, calibrated.
        now: the time [s].
        caught: the poses so far.
    """

    bus: Bus
    robot: Robot
    now: Callable[[], float]
    caught: list[CaughtPose] = field(default_factory=list)
    _caught_at_s: float = math.nan
    _is_closed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def joints(self, group: str) -> tuple[str, ...]:
        """Return the joints of a group of the card, of a joint's own name, or of `all`.

        Raises:
            UnknownNameError: it is none of them.
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
        """The joints whose torque is off now, as their servos say."""
        ids = servo_ids(self.robot)
        return tuple(joint for joint, one in ids.items() if not self.bus.read(one, "torque_enable"))

    def release(self, group: str) -> None:
        """Take the torque off the joints of a group: hold what they carry."""
        release(self.bus, servo_ids(self.robot, self.joints(group)).values())

    def hold(self, group: str) -> None:
        """Let the joints of a group hold where they stand; none jumps to an old goal."""
        for number in servo_ids(self.robot, self.joints(group)).values():
            hold_here(self.bus, number)

    def catch(self, name: str = "", seconds: float | None = None) -> CaughtPose:
        """Note where all joints stand.

        Args:
            name: of the pose; default its number.
            seconds: on the way into it; default the time since the last was caught, 2 s for the first.

        Raises:
            BodyError: a servo does not answer; nothing is caught then.
            InputError: no motion can hold such a time.
        """
        if seconds is not None and not 0.0 < round(seconds, MS_DIGITS) <= LONGEST_S:
            raise InputError(f"a way of {seconds} s", hint=f"above 0, at most {LONGEST_S:g} s")
        standing = self.robot.from_ticks(read_ticks(self.bus, self.robot))
        now_s = self.now()
        passed_s = FIRST_S if math.isnan(self._caught_at_s) else max(now_s - self._caught_at_s, SHORTEST_S)
        reach_s = min(passed_s, LONGEST_S) if seconds is None else seconds
        rounded = np.deg2rad(np.round(np.rad2deg(standing), DEG_DIGITS))
        angles = np.clip(rounded, *self.robot.limits)
        warnings = (*self._beyond(standing, angles), *self._too_fast(angles, reach_s))
        pose = CaughtPose(name or f"pose {len(self.caught) + 1}", angles, reach_s, warnings)
        self.caught.append(pose)
        self._caught_at_s = now_s
        return pose

    def undo(self) -> CaughtPose:
        """Forget the last pose, and return it.

        Raises:
            InputError: there is none.
        """
        if not self.caught:
            raise InputError("no pose was caught yet", hint="catch one first")
        return self.caught.pop()

    def motion(self, name: str) -> Motion:
        """Return the poses as a motion, every way smooth and at rest at both ends.

        Raises:
            InputError: no pose was caught.
        """
        if not self.caught:
            raise InputError("no pose was caught yet", hint="a motion needs at least one")
        joints = tuple(servo_ids(self.robot))
        places = [self.robot.index(joint) for joint in joints]
        keyframes = tuple(
            Keyframe(Pose(joints, pose.angles[places]), round(pose.reach_s, MS_DIGITS), easing=Easing.SMOOTH)
            for pose in self.caught
        )
        told = ", ".join(pose.name for pose in self.caught)
        return Motion(name, self.robot.name, joints, keyframes, source=f"taught by hand: {told}")

    def close(self, policy: TorquePolicy = TorquePolicy.RELEASE) -> None:
        """End: take all torque off, or leave every servo as it is. Doing so again changes nothing."""
        if not self._is_closed and policy is TorquePolicy.RELEASE:
            release(self.bus, servo_ids(self.robot).values())
        self._is_closed = True

    def _beyond(self, standing: Floats, clipped: Floats) -> list[str]:
        """Return which joints stand beyond their limits by more than a tick, in words."""
        told = []
        for servo, joint, at, kept in zip(
            self.robot.servos, self.robot.joints, standing.tolist(), clipped.tolist(), strict=True
        ):
            if abs(at - kept) > servo.tick_rad:
                is_at = math.degrees(at)
                limit = math.degrees(kept)
                told.append(f"{joint.name} stands at {is_at:.1f} deg: caught at its limit, {limit:.1f}")
        return told

    def _too_fast(self, angles: Floats, reach_s: float) -> list[str]:
        if not self.caught:
            return []
        peak = np.abs(angles - self.caught[-1].angles) / reach_s * (math.pi / 2.0)  # of half a cosine
        fast = np.flatnonzero(peak > self.robot.max_speeds)
        return [
            f"{self.robot.joint_names[place]} cannot go there in {reach_s:g} s: at least "
            f"{reach_s * peak[place] / self.robot.max_speeds[place]:.2f} s"
            for place in fast.tolist()
        ]
