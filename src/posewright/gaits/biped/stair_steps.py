"""Steps that a robot takes with its weight always over its feet, as motions: up, down, ahead, and turning.

A step is a list of keyframes: where both soles are, where the centre of mass is over them, how high the trunk
is, and how much of the weight each leg carries alone. The angles follow in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from posewright.arrays import Floats
from posewright.gaits.biped.stair_gait import OUTWARDS, SIDES, StairGait
from posewright.kinematics import LegAngles
from posewright.motions import Easing, Keyframe, Motion, Pose, check_motion
from posewright.robots import Robot

KEYFRAME_S = 0.125
"""Time between two keyframes."""

RISER_M = 0.03
STRIDE_M, SHUFFLE_M, CREEP_M = 0.06, 0.028, 0.011
VEER_RAD = math.radians(8.0)

NUDGE_RAD, NUDGE_M, MOST_NUDGES = math.radians(1.5), 0.001, 150
"""By how much a heel is raised, or the trunk sinks, until a leg is long enough."""


@dataclass(frozen=True)
class Sole:
    """Where the middle of a sole is [m], and how far it is turned to the left [rad]."""

    x: float
    y: float
    z: float = 0.0
    yaw: float = 0.0

    def towards(self, other: Sole, share: float) -> Sole:
        """Return what lies so far on the way to another."""
        here, there = (np.array([one.x, one.y, one.z, one.yaw]) for one in (self, other))
        return Sole(*(here + (there - here) * share).tolist())


@dataclass(frozen=True)
class Stance:
    """Where a robot stands and how.

    Attributes:
        soles: by side.
        mass: where the centre of mass is, ahead and to the left, `(2,)` [m].
        trunk_m: height of the trunk's origin [m].
        roll: how far the trunk leans aside, as a share of the gait's sway: -1 to the left, 1 to the right.
        alone: by side, how much of a leg's boost is given, 0..1.
    """

    soles: Mapping[str, Sole]
    mass: Floats
    trunk_m: float
    roll: float
    alone: Mapping[str, float]

    def towards(self, other: Stance, share: float) -> Stance:
        """Return what lies so far on the way to another."""
        return Stance(
            soles={side: self.soles[side].towards(other.soles[side], share) for side in SIDES},
            mass=self.mass + (other.mass - self.mass) * share,
            trunk_m=self.trunk_m + (other.trunk_m - self.trunk_m) * share,
            roll=self.roll + (other.roll - self.roll) * share,
            alone={side: self.alone[side] + (other.alone[side] - self.alone[side]) * share for side in SIDES},
        )


class StairSteps:
    """Makes the motions of a stair gait.

    Args:
        gait: how to step.
        robot: its card; arms stay as in its pose `walk_ready`.
    """

    def __init__(self, gait: StairGait, robot: Robot) -> None:
        self.gait, self._robot, self._legs = gait, robot, gait.legs
        self._joints = tuple(joint.name for joint in robot.joints)

    def motions(self) -> dict[str, Motion]:
        """Return all of them by name; each begins and ends on both feet, side by side."""
        made: dict[str, Callable[[], _Steps]] = {
            "step_up": lambda: self._straight(self.gait.up_m, RISER_M),
            "step_down": lambda: self._straight(self.gait.down_m, -RISER_M),
            "stride": lambda: self._straight(STRIDE_M, 0.0),
            "shuffle": lambda: self._straight(SHUFFLE_M, 0.0),
            "creep": lambda: self._straight(CREEP_M, 0.0),
            "veer_left": lambda: self._turn(VEER_RAD),
            "veer_right": lambda: self._turn(-VEER_RAD),
        }
        return {name: self._slowed(self._motion(name, make())) for name, make in made.items()}

    def _slowed(self, motion: Motion) -> Motion:
        """Give keyframes a little longer on the way into which a servo would have to turn too fast."""
        while fast := {one.keyframe for one in check_motion(motion, self._robot) if one.rule == "speed"}:
            frames = enumerate(motion.keyframes, 1)
            slower = [replace(one, reach_s=one.reach_s * (1.05 if k in fast else 1.0)) for k, one in frames]
            motion = replace(motion, keyframes=tuple(slower))
        return motion

    def _motion(self, name: str, steps: _Steps) -> Motion:
        ready, *frames = steps.frames
        legs = [name for name in self._joints if name.split("_", 1)[1] in LegAngles._fields]
        stiffness = dict.fromkeys(legs, self.gait.servo_stiffness)
        return Motion(
            name=name,
            robot=self._robot.name,
            joints=self._joints,
            keyframes=tuple(
                Keyframe(self._pose(stance), seconds, easing=Easing.PCHIP, stiffness=stiffness)
                for seconds, stance in frames
            ),
            start=self._pose(ready[1]),
            source="ours; made from gaits/climb.stair.yaml by posewright.gaits.StairSteps",
        )

    def _straight(self, ahead_m: float, up_m: float) -> _Steps:
        gait = self.gait
        steps = _Steps(gait, 1.0 if up_m else gait.walk_pace)
        lift_m = gait.climb_lift_m if up_m > 0.0 else gait.walk_lift_m
        for side in SIDES:
            sole = steps.now.soles[side]
            steps.step(side, replace(sole, x=sole.x + ahead_m, z=sole.z + up_m), lift_m)
            if side == SIDES[0] and up_m > 0.0:
                steps.go(1.3 * gait.shift_s, mass=steps.over(side), roll=-OUTWARDS[side])
                steps.go(gait.swing_s, trunk_m=steps.now.trunk_m + 0.6 * up_m)
        steps.stand()
        return steps

    def _turn(self, angle_rad: float) -> _Steps:
        gait = self.gait
        steps = _Steps(gait, gait.walk_pace)
        for side in SIDES if angle_rad < 0.0 else SIDES[::-1]:
            y = OUTWARDS[side] * gait.stance_m
            to = Sole(-math.sin(angle_rad) * y, math.cos(angle_rad) * y, 0.0, angle_rad)
            steps.step(side, to, gait.walk_lift_m)
        steps.stand()
        return steps

    def _pose(self, stance: Stance) -> Pose:
        """Return the angles; the trunk goes where it brings the centre of mass to its place."""
        gait = self.gait
        yaw = sum(sole.yaw for sole in stance.soles.values()) / 2.0
        trunk_turn = _turned(yaw, gait.lean_rad) @ _rolled(stance.roll * gait.sway_rad)
        heel, trunk_m = dict.fromkeys(SIDES, 0.0), stance.trunk_m
        for _ in range(MOST_NUDGES):
            feet = {side: self._foot(stance.soles[side], heel[side]) for side in SIDES}
            trunk = self._trunk(stance.mass, trunk_m, trunk_turn, feet)
            stretched = [side for side in SIDES if self._stretch(side, trunk, trunk_turn, feet[side]) > 0.0]
            for side in stretched:
                if stance.soles[side].x < trunk[0] - 0.02:
                    heel[side] += NUDGE_RAD
                else:
                    trunk_m -= NUDGE_M
            if not stretched:
                break
        angles = self._robot.pose("walk_ready").copy()
        for side in SIDES:
            sole, turn = feet[side]
            solved = self._legs[side].solve(trunk_turn.T @ (sole - trunk), trunk_turn.T @ turn)
            alone = stance.alone[side]
            boost = {"hip_roll": OUTWARDS[side] * gait.hip_boost_rad, "ankle_pitch": gait.ankle_boost_rad}
            for joint, angle in solved._asdict().items():
                angles[self._robot.index(f"{side}_{joint}")] = angle + alone * boost.get(joint, 0.0)
        # Where the trunk is deepest, a hip would have to roll farther than it can.
        lower, upper = np.degrees(self._robot.hardware_limits)
        return Pose(self._joints, np.radians(np.clip(np.round(np.degrees(angles), 2), lower, upper)))

    def _foot(self, sole: Sole, heel: float) -> tuple[Floats, Floats]:
        """Return the middle of a sole and its axes, its heel raised by an angle about its toe."""
        toe = np.array([self.gait.leg.toe_m, 0.0, 0.0])
        turn = _turned(sole.yaw, heel)
        return np.array([sole.x, sole.y, sole.z]) + _turned(sole.yaw, 0.0) @ toe - turn @ toe, turn

    def _trunk(
        self, mass: Floats, height: float, turn: Floats, feet: Mapping[str, tuple[Floats, Floats]]
    ) -> Floats:
        lumps = self.gait.masses
        ankles = np.sum([self._legs[side].ankle(*feet[side]) for side in SIDES], axis=0)
        upper = (lumps.total_kg * mass - lumps.ankle_kg * ankles[:2]) / lumps.upper_kg
        return np.array([*(upper - (turn @ np.array(lumps.upper_m))[:2]), height])

    def _stretch(self, side: str, trunk: Floats, turn: Floats, foot: tuple[Floats, Floats]) -> float:
        """Return by how much an ankle is too far from its hip [m]."""
        leg = self._legs[side]
        hip = trunk + turn @ (np.array(leg.hip_m) + np.array([leg.hip_ahead_m, 0.0, 0.0]))
        return float(np.linalg.norm(hip - leg.ankle(*foot))) - self.gait.stretch_m


class _Steps:
    """Stances one after the other, with the time for the way into each; the first is where it begins."""

    def __init__(self, gait: StairGait, pace: float) -> None:
        self._gait, self._pace = gait, pace
        soles = {side: Sole(0.0, OUTWARDS[side] * gait.stance_m) for side in SIDES}
        self.now = Stance(soles, np.zeros(2), 0.0, 0.0, dict.fromkeys(SIDES, 0.0))
        self.now = replace(self.now, trunk_m=self._height(0.0))
        self.frames: list[tuple[float, Stance]] = [(0.0, self.now)]

    def _height(self, tread_m: float) -> float:
        """Return how high the trunk is over a tread."""
        gait = self._gait
        hip = np.array([gait.leg.hip_ahead_m, 0.0, gait.leg.hip_m[2]])
        hip_below = -(_turned(0.0, gait.lean_rad) @ hip)[2]
        return float(tread_m - gait.leg.sole_m[2] + gait.hip_height_m + hip_below)

    def over(self, side: str) -> Floats:
        """Return where the centre of mass goes while this leg carries all, `(2,)` [m]."""
        ahead, inwards = self._gait.over_m
        sole = self.now.soles[side]
        shift = _turned(sole.yaw, 0.0) @ np.array([ahead, -OUTWARDS[side] * inwards, 0.0])
        place: Floats = np.array([sole.x, sole.y]) + shift[:2]
        return place

    def go(
        self,
        seconds: float,
        *,
        mass: Floats | None = None,
        trunk_m: float | None = None,
        roll: float | None = None,
        alone: str | None = None,
        soles: Mapping[str, Sole] | None = None,
    ) -> None:
        """Go to a stance, at rest at both ends; what is not told stays, but that `alone` is told anew."""
        before = self.now
        after = Stance(
            soles={**before.soles, **(soles or {})},
            mass=before.mass if mass is None else mass,
            trunk_m=before.trunk_m if trunk_m is None else trunk_m,
            roll=before.roll if roll is None else roll,
            alone={side: float(side == alone) for side in SIDES},
        )
        seconds /= self._pace
        count = max(1, round(seconds / KEYFRAME_S))
        for share in np.linspace(0.0, 1.0, count + 1)[1:].tolist():
            self.now = before.towards(after, share * share * (3.0 - 2.0 * share))
            self.frames.append((seconds / count, self.now))

    def step(self, side: str, to: Sole, lift_m: float) -> None:
        """Put a foot somewhere else, with the weight over the other."""
        gait, here = self._gait, self.now.soles[side]
        other = next(one for one in SIDES if one != side)
        up = max(here.z, to.z) + lift_m
        trunk_m = self._height(min(self.now.soles[other].z, to.z)) if to.z < here.z else self.now.trunk_m
        self.go(gait.shift_s, mass=self.over(other), roll=-OUTWARDS[other])
        self.go(gait.lift_s, alone=other, soles={side: replace(here, z=up)})
        self.go(gait.swing_s, alone=other, soles={side: replace(to, z=up)})
        self.go(gait.lower_s, alone=other, trunk_m=trunk_m, soles={side: to})
        self.go(gait.settle_s)

    def stand(self) -> None:
        """Let both feet carry, with the trunk at its height over them."""
        soles = self.now.soles.values()
        middle = np.array([[sole.x, sole.y] for sole in soles]).mean(axis=0)
        height = self._height(min(sole.z for sole in soles))
        self.go(self._gait.shift_s, mass=middle, trunk_m=height, roll=0.0)


def _turned(yaw: float, pitch: float) -> Floats:
    """Return axes turned to the left and then pitched forward, `(3, 3)`."""
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    return np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0.0, cp]])


def _rolled(roll: float) -> Floats:
    """Return axes leaned to the right, `(3, 3)`."""
    cosine, sine = math.cos(roll), math.sin(roll)
    return np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
