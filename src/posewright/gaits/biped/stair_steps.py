"""Statically stable steps of a biped as motions: up, down, forward, and turning.

A step is a sequence of postures: the positions of both soles, of the centre of mass over them, the height of
the trunk, and which leg carries the weight alone. The angles follow in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.biped.stair_gait import StairGait
from posewright.kinematics import biped_legs_of
from posewright.motions import Easing, Keyframe, Motion, Pose, check_design_rules
from posewright.robots import LEG_PARTS, OUTWARDS, SIDES, BipedGeometry, PointMasses, Robot

KEYFRAME_S = 0.125
"""Time between two keyframes."""

RISER_M = 0.03
STRIDE_M = 0.06
SHUFFLE_M = 0.028
CREEP_M = 0.011
VEER_RAD = math.radians(8.0)

CLIMB_SHIFT_FACTOR = 1.3
"""Time to shift the weight to the higher tread, as a multiple of that on the flat."""

CLIMB_RISE_SHARE = 0.6
"""Share of a riser by which the trunk rises before the second foot is lifted."""

MAX_FOOT_LAG_M = 0.02
"""A foot that is farther than this behind the trunk raises its heel if its leg is too short [m]."""

HEEL_NUDGE_RAD = math.radians(1.5)
TRUNK_NUDGE_M = 0.001
MAX_NUDGES = 150
"""Increments by which a heel is raised, or the trunk lowered, until a leg is long enough, and their maximum
number."""


@dataclass(frozen=True)
class Sole:
    """Position of the middle of a sole [m], and its yaw to the left [rad]."""

    x: float
    y: float
    z: float = 0.0
    yaw: float = 0.0

    def towards(self, target: Sole, share: float) -> Sole:
        """Return the sole interpolated between this one (share 0) and a target (share 1)."""
        start = np.array([self.x, self.y, self.z, self.yaw])
        end = np.array([target.x, target.y, target.z, target.yaw])
        return Sole(*(start + (end - start) * share).tolist())


@dataclass(frozen=True)
class StepPosture:
    """A posture of the robot during a step.

    Attributes:
        soles: the soles of both feet, by side.
        mass_centre: position of the centre of mass, forward and to the left, `(2,)` [m].
        trunk_height_m: height of the trunk's origin [m].
        roll: sideways lean of the trunk, as a share of the gait's sway: -1 to the left, 1 to the right.
        boost_shares: by side, the share of the leg's boosts that is applied, 0..1; 1 if the leg carries the
            weight alone. Boosts are angles added because servos give way under load.
    """

    soles: Mapping[str, Sole]
    mass_centre: Floats
    trunk_height_m: float
    roll: float
    boost_shares: Mapping[str, float]

    def towards(self, target: StepPosture, share: float) -> StepPosture:
        """Return the posture interpolated between this one (share 0) and a target (share 1)."""
        return StepPosture(
            soles={side: self.soles[side].towards(target.soles[side], share) for side in SIDES},
            mass_centre=self.mass_centre + (target.mass_centre - self.mass_centre) * share,
            trunk_height_m=self.trunk_height_m + (target.trunk_height_m - self.trunk_height_m) * share,
            roll=self.roll + (target.roll - self.roll) * share,
            boost_shares={
                side: self.boost_shares[side] + (target.boost_shares[side] - self.boost_shares[side]) * share
                for side in SIDES
            },
        )


class StairSteps:
    """Builds the motions of a stair gait.

    Args:
        gait: its parameters.
        robot: its card; arms stay as in its pose `walk_ready`.

    Raises:
        InputError: the card does not describe the legs of a biped.
    """

    def __init__(self, gait: StairGait, robot: Robot) -> None:
        self.gait = gait
        self._robot = robot
        self._legs = biped_legs_of(robot)
        self._geometry = robot.require_biped()
        self._masses = _require_masses(robot)
        self._joints = tuple(joint.name for joint in robot.joints)

    def motions(self) -> dict[str, Motion]:
        """Return the motions by name; each begins and ends on both feet, side by side."""
        step_builders: dict[str, Callable[[], _StepSequence]] = {
            "step_up": lambda: self._straight_steps(self.gait.up_m, RISER_M),
            "step_down": lambda: self._straight_steps(self.gait.down_m, -RISER_M),
            "stride": lambda: self._straight_steps(STRIDE_M, 0.0),
            "shuffle": lambda: self._straight_steps(SHUFFLE_M, 0.0),
            "creep": lambda: self._straight_steps(CREEP_M, 0.0),
            "veer_left": lambda: self._turning_steps(VEER_RAD),
            "veer_right": lambda: self._turning_steps(-VEER_RAD),
        }
        motions = {}
        for name, build_steps in step_builders.items():
            motion = self._build_motion(name, build_steps())
            motions[name] = self._lengthen_too_fast_keyframes(motion)
        return motions

    def _lengthen_too_fast_keyframes(self, motion: Motion) -> Motion:
        """Lengthen the times of those keyframes into which a servo would have to turn too fast."""
        while True:
            findings = check_design_rules(motion, self._robot)
            too_fast = {finding.keyframe for finding in findings if finding.rule == "speed"}
            if not too_fast:
                return motion
            keyframes = []
            for number, keyframe in enumerate(motion.keyframes, 1):
                factor = 1.05 if number in too_fast else 1.0
                keyframes.append(replace(keyframe, reach_s=keyframe.reach_s * factor))
            motion = replace(motion, keyframes=tuple(keyframes))

    def _build_motion(self, name: str, steps: _StepSequence) -> Motion:
        """Return a sequence of steps as a motion with one keyframe per posture."""
        (_, start_posture), *timed_postures = steps.timed_postures
        leg_joints = [name for name in self._joints if name.split("_", 1)[1] in LEG_PARTS]
        stiffness = dict.fromkeys(leg_joints, self.gait.servo_stiffness)
        return Motion(
            name=name,
            robot=self._robot.name,
            joints=self._joints,
            keyframes=tuple(
                Keyframe(self._solve_pose(posture), seconds, easing=Easing.PCHIP, stiffness=stiffness)
                for seconds, posture in timed_postures
            ),
            start=self._solve_pose(start_posture),
            source="ours; made from gaits/climb.stair.yaml by posewright.gaits.StairSteps",
        )

    def _straight_steps(self, ahead_m: float, up_m: float) -> _StepSequence:
        """Return one step of each foot, straight ahead on the floor or on a stair.

        Args:
            ahead_m: length of the step [m].
            up_m: height of the next tread over the current one [m]; negative below, 0 on the floor.
        """
        gait = self.gait
        steps = _StepSequence(gait, self._geometry, 1.0 if up_m else gait.walk_pace)
        lift_m = gait.climb_lift_m if up_m > 0.0 else gait.walk_lift_m
        for side in SIDES:
            sole = steps.current_posture.soles[side]
            steps.append_foot_move(side, replace(sole, x=sole.x + ahead_m, z=sole.z + up_m), lift_m)
            is_first_climbing = side == SIDES[0] and up_m > 0.0
            if is_first_climbing:  # it is on the higher tread: shift the weight over it and rise
                steps.append_move(
                    CLIMB_SHIFT_FACTOR * gait.shift_s,
                    mass_centre=steps.centre_over(side),
                    roll=-OUTWARDS[side],
                )
                steps.append_move(
                    gait.swing_s,
                    trunk_height_m=steps.current_posture.trunk_height_m + CLIMB_RISE_SHARE * up_m,
                )
        steps.append_standing()
        return steps

    def _turning_steps(self, angle_rad: float) -> _StepSequence:
        """Return one step of each foot that turns the robot; the inner foot steps first."""
        gait = self.gait
        steps = _StepSequence(gait, self._geometry, gait.walk_pace)
        for side in SIDES if angle_rad < 0.0 else SIDES[::-1]:
            y = OUTWARDS[side] * gait.stance_m
            target = Sole(-math.sin(angle_rad) * y, y=math.cos(angle_rad) * y, z=0.0, yaw=angle_rad)
            steps.append_foot_move(side, target, gait.walk_lift_m)
        steps.append_standing()
        return steps

    def _solve_pose(self, posture: StepPosture) -> Pose:
        """Return the joint angles of a posture; the trunk's position follows from the centre of mass.

        Where a leg is too short, the heel of a trailing foot is raised or the trunk is lowered, by small
        increments, until both ankles are within reach of their hips.
        """
        gait = self.gait
        yaw = sum(sole.yaw for sole in posture.soles.values()) / 2.0
        trunk_turn = _rotation(yaw, gait.lean_rad) @ _roll_rotation(posture.roll * gait.sway_rad)
        heel_pitch = dict.fromkeys(SIDES, 0.0)
        trunk_height_m = posture.trunk_height_m
        for _ in range(MAX_NUDGES):
            feet = {side: self._foot_frame(posture.soles[side], heel_pitch[side]) for side in SIDES}
            trunk = self._trunk_position(posture.mass_centre, trunk_height_m, trunk_turn, feet)
            overstretched_sides = []
            for side in SIDES:
                if self._missing_leg_length(side, trunk, trunk_turn, foot=feet[side]) > 0.0:
                    overstretched_sides.append(side)
            for side in overstretched_sides:
                if posture.soles[side].x < trunk[0] - MAX_FOOT_LAG_M:
                    heel_pitch[side] += HEEL_NUDGE_RAD
                else:
                    trunk_height_m -= TRUNK_NUDGE_M
            if not overstretched_sides:
                break
        angles = self._robot.pose("walk_ready").copy()
        for side in SIDES:
            sole_position, foot_turn = feet[side]
            sole_in_trunk = trunk_turn.T @ (sole_position - trunk)
            leg_angles = self._legs[side].solve(sole_in_trunk, trunk_turn.T @ foot_turn)
            # servos give way under the weight: these angles are added so that the leg stands as planned
            boosts = {"hip_roll": OUTWARDS[side] * gait.hip_boost_rad, "ankle_pitch": gait.ankle_boost_rad}
            for joint, angle in leg_angles._asdict().items():
                boost = posture.boost_shares[side] * boosts.get(joint, 0.0)
                angles[self._robot.index(f"{side}_{joint}")] = angle + boost
        # where the trunk is deepest, a hip would have to roll farther than it can
        lower, upper = np.degrees(self._robot.hardware_limits)
        return Pose(self._joints, np.radians(np.clip(np.round(np.degrees(angles), 2), lower, upper)))

    def _foot_frame(self, sole: Sole, heel_pitch: float) -> tuple[Floats, Floats]:
        """Return the middle of a sole and its rotation, with the heel raised about the toe [rad]."""
        toe = np.array([self._geometry.sole_size_m[0] / 2.0, 0.0, 0.0])
        turn = _rotation(sole.yaw, heel_pitch)
        return np.array([sole.x, sole.y, sole.z]) + _rotation(sole.yaw, 0.0) @ toe - turn @ toe, turn

    def _trunk_position(
        self, mass_centre: Floats, height: float, turn: Floats, feet: Mapping[str, tuple[Floats, Floats]]
    ) -> Floats:
        """Return the trunk's position that puts the centre of mass at `mass_centre`, `(3,)` [m].

        Args:
            mass_centre: the position of the robot's centre of mass, forward and left, `(2,)` [m].
            height: height of the trunk [m].
            turn: rotation of the trunk, `(3, 3)`.
            feet: position and rotation of each sole, by side.
        """
        masses = self._masses
        ankle_sum = np.sum([self._legs[side].ankle_position(*feet[side]) for side in SIDES], axis=0)
        # total * centre = upper * its position + ankle * (sum of both ankles), solved for the upper body
        upper_body_centre = (
            masses.total_kg * mass_centre - masses.ankle_kg * ankle_sum[:2]
        ) / masses.upper_kg
        return np.array([*(upper_body_centre - (turn @ np.array(masses.upper_m))[:2]), height])

    def _missing_leg_length(
        self, side: str, trunk: Floats, turn: Floats, foot: tuple[Floats, Floats]
    ) -> float:
        """Return by how much an ankle is too far from its hip [m], negative within reach."""
        leg = self._legs[side]
        hip = trunk + turn @ (np.array(leg.hip_m) + np.array([leg.hip_ahead_m, 0.0, 0.0]))
        return float(np.linalg.norm(hip - leg.ankle_position(*foot))) - self.gait.stretch_m


def _require_masses(robot: Robot) -> PointMasses:
    """Return a biped's mass as points, or raise InputError if its card has none."""
    masses = robot.require_biped().masses
    if masses is None:
        raise InputError(f"the card of {robot.name} has no point masses", hint="add `masses:` under `biped:`")
    return masses


class _StepSequence:
    """A sequence of postures that is built step by step.

    Attributes:
        current_posture: the last posture.
        timed_postures: all postures, each with the time to reach it [s]; the first is the start.
    """

    def __init__(self, gait: StairGait, geometry: BipedGeometry, pace: float) -> None:
        """Begin standing at the origin, on both feet.

        Args:
            gait: the gait with the dimensions and durations of the steps.
            geometry: the geometry of the robot's legs.
            pace: speed relative to the gait's durations, which are divided by it.
        """
        self._gait = gait
        self._geometry = geometry
        self._pace = pace
        soles = {side: Sole(0.0, OUTWARDS[side] * gait.stance_m) for side in SIDES}
        self.current_posture = StepPosture(
            soles,
            mass_centre=np.zeros(2),
            trunk_height_m=0.0,
            roll=0.0,
            boost_shares=dict.fromkeys(SIDES, 0.0),
        )
        self.current_posture = replace(self.current_posture, trunk_height_m=self._trunk_height(0.0))
        self.timed_postures: list[tuple[float, StepPosture]] = [(0.0, self.current_posture)]

    def _trunk_height(self, tread_m: float) -> float:
        """Return the height of the trunk while it stands on a tread [m]."""
        gait = self._gait
        geometry = self._geometry
        hip = np.array([geometry.hip_ahead_m, 0.0, geometry.hip_m[2]])
        hip_below = -(_rotation(0.0, gait.lean_rad) @ hip)[2]
        return float(tread_m - geometry.sole_m[2] + gait.hip_height_m + hip_below)

    def centre_over(self, side: str) -> Floats:
        """Return the position of the centre of mass while this leg carries all weight, `(2,)` [m]."""
        ahead, inwards = self._gait.over_m
        sole = self.current_posture.soles[side]
        shift = _rotation(sole.yaw, 0.0) @ np.array([ahead, -OUTWARDS[side] * inwards, 0.0])
        position: Floats = np.array([sole.x, sole.y]) + shift[:2]
        return position

    def append_move(
        self,
        seconds: float,
        *,
        mass_centre: Floats | None = None,
        trunk_height_m: float | None = None,
        roll: float | None = None,
        loaded_side: str | None = None,
        soles: Mapping[str, Sole] | None = None,
    ) -> None:
        """Append the postures on the path from the current one to another, at rest at both ends.

        Args:
            seconds: duration at pace 1 [s].
            mass_centre: position of the centre of mass; default unchanged.
            trunk_height_m: height of the trunk; default unchanged.
            roll: sideways lean; default unchanged.
            loaded_side: side of the leg that carries the weight alone; default none.
            soles: soles that move, by side.
        """
        start = self.current_posture
        target = StepPosture(
            soles={**start.soles, **(soles or {})},
            mass_centre=start.mass_centre if mass_centre is None else mass_centre,
            trunk_height_m=start.trunk_height_m if trunk_height_m is None else trunk_height_m,
            roll=start.roll if roll is None else roll,
            boost_shares={side: float(side == loaded_side) for side in SIDES},
        )
        duration_s = seconds / self._pace
        n_postures = max(1, round(duration_s / KEYFRAME_S))
        for time_share in np.linspace(0.0, 1.0, n_postures + 1)[1:].tolist():
            path_share = (
                time_share * time_share * (3.0 - 2.0 * time_share)
            )  # a cubic with zero speed at its ends
            self.current_posture = start.towards(target, path_share)
            self.timed_postures.append((duration_s / n_postures, self.current_posture))

    def append_foot_move(self, side: str, target: Sole, lift_m: float) -> None:
        """Append the postures that move a foot, with the weight over the opposite one.

        Args:
            side: the foot that moves.
            target: where its sole is set down.
            lift_m: height of the lifted foot over the higher of the two treads [m].
        """
        gait = self._gait
        current = self.current_posture.soles[side]
        stance_side = next(name for name in SIDES if name != side)
        lifted_z = max(current.z, target.z) + lift_m
        trunk_height_m = self.current_posture.trunk_height_m
        if target.z < current.z:  # the trunk goes down with a foot that steps down
            trunk_height_m = self._trunk_height(min(self.current_posture.soles[stance_side].z, target.z))
        self.append_move(gait.shift_s, mass_centre=self.centre_over(stance_side), roll=-OUTWARDS[stance_side])
        self.append_move(gait.lift_s, loaded_side=stance_side, soles={side: replace(current, z=lifted_z)})
        self.append_move(gait.swing_s, loaded_side=stance_side, soles={side: replace(target, z=lifted_z)})
        self.append_move(
            gait.lower_s, loaded_side=stance_side, trunk_height_m=trunk_height_m, soles={side: target}
        )
        self.append_move(gait.settle_s)

    def append_standing(self) -> None:
        """Append the posture on both feet, with the trunk at its height over them."""
        soles = self.current_posture.soles.values()
        middle = np.array([[sole.x, sole.y] for sole in soles]).mean(axis=0)
        height = self._trunk_height(min(sole.z for sole in soles))
        self.append_move(self._gait.shift_s, mass_centre=middle, trunk_height_m=height, roll=0.0)


def _rotation(yaw: float, pitch: float) -> Floats:
    """Return the rotation by a yaw to the left and then a forward pitch, `(3, 3)`."""
    cy = math.cos(yaw)
    sy = math.sin(yaw)
    cp = math.cos(pitch)
    sp = math.sin(pitch)
    return np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0.0, cp]])


def _roll_rotation(roll: float) -> Floats:
    """Return the rotation by a roll to the right, `(3, 3)`."""
    cosine = math.cos(roll)
    sine = math.sin(roll)
    return np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
