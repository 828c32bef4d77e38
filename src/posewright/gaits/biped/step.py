"""Planning of one step of a biped, from a command to all joints.

In a step one foot swings from where it stands to where it will stand, and the other one stands. Feet on the
ground move with it relative to the trunk; the swinging foot lands so that it passes its place beside the
other one in the middle of its next stance. Each foot goes on from where it is, so joint angles are continuous
whatever the commands before.

Legs without a yaw turn the body while both feet are down: one foot pushes back, the other one ahead, and both
slip about the vertical.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.arc import chain, se2_exp, to_moved_frame
from posewright.gaits.biped.parameters import BipedParameters
from posewright.gaits.biped.values import BipedValues
from posewright.gaits.command import VelocityCommand
from posewright.gaits.travel import compensate_travel
from posewright.kinematics import BipedLeg, biped_legs_of
from posewright.robots import LEFT, OUTWARDS, RIGHT, SIDES, Robot
from posewright.rotation import rotations_about_axis

ROUNDING = 1e-12
"""Positions [m] and angles [rad] that differ by less are equal."""

MIN_STEP_FRAMES = 4
"""A shorter step would be a jump."""

TURN_OVERLAP = 0.05
"""Legs without a yaw still turn the body in this share of a step after a foot lifts and before it lands, when
it hardly leaves the ground: servos lag, and a turn in less time would be too fast for them."""

ROLL_AXIS, PITCH_AXIS, YAW_AXIS = range(3)

OTHER_SIDE = {RIGHT: LEFT, LEFT: RIGHT}

FootPoses = Mapping[str, Floats]
"""Of each sole by side: its middle on the ground, ahead and to the left of the hips, and its yaw, `(3,)`
[m, m, rad]. The frame turns with the trunk about the vertical."""


@dataclass(frozen=True, slots=True, eq=False)
class PlannedStep:
    """A planned step; a `GaitStep`.

    Attributes:
        joint_angles: the joints in every frame, `(n_frames, n_joints)` [rad].
        foot_poses: poses of the soles in every frame by side, `(n_frames, 3)` each [m, m, rad].
        lifts_m: height of the swinging foot in every frame, `(n_frames,)` [m].
        hip_rolls: angle by which the standing leg's hip is rolled outwards in every frame, `(n_frames,)`
            [rad].
        swing_side: the side of the swinging foot.
    """

    joint_angles: Floats = field(repr=False)
    foot_poses: FootPoses = field(repr=False)
    lifts_m: Floats = field(repr=False)
    hip_rolls: Floats = field(repr=False)
    swing_side: str

    @property
    def foot_errors_m(self) -> Mapping[str, float]:
        """How far each foot stays from its place, by side [m]: a step that is planned reaches all places."""
        return dict.fromkeys(self.foot_poses, 0.0)

    def ends_like(self, step: Self) -> bool:
        """Return whether the feet end as after another step, so that the walk goes on in the same way."""
        ends = zip(self.feet_after.values(), step.feet_after.values(), strict=True)
        return all(np.abs(end - other_end).max() <= ROUNDING for end, other_end in ends)

    @property
    def feet_after(self) -> FootPoses:
        """Poses of the soles at the end."""
        return {side: poses[-1] for side, poses in self.foot_poses.items()}


class StepPlanner:
    """Plans the steps of a gait for a robot.

    Args:
        gait: the gait.
        robot: the robot that walks.

    Attributes:
        n_frames: number of frames of a step.
        step_s: its duration [s].
        standing_feet: the soles where they stand at rest.
        standing_pose: the pose with the feet there, `(n_joints,)` [rad]; read-only.

    Raises:
        InputError: the gait is for another robot, or the robot's card does not describe two legs.
        UnreachableError: the legs are too short for the gait's stance.
    """

    def __init__(self, gait: BipedValues, robot: Robot) -> None:
        """Compute the times of a step and the standing pose."""
        if gait.robot != robot.name:
            raise InputError(f"gait {gait.name} is made for {gait.robot}", hint=f"the robot is {robot.name}")
        self.gait = gait
        parameters = gait.parameters
        self.n_frames = max(round(parameters.cycle_s / 2.0 / robot.frame_period_s), MIN_STEP_FRAMES)
        self.step_s = self.n_frames * robot.frame_period_s
        self._legs = biped_legs_of(robot)
        self._hip_to_trunk = _HipFrame(parameters, self._legs[LEFT])
        self._rest_pose: Floats = np.clip(robot.pose(gait.pose), *robot.limits)
        self._times = np.arange(1, self.n_frames + 1) / self.n_frames  # of the frames, as shares of the step
        self.standing_feet: FootPoses = {
            side: np.array([parameters.feet_ahead_m, OUTWARDS[side] * parameters.stance_m, 0.0])
            for side in SIDES
        }
        feet = {side: pose[np.newaxis] for side, pose in self.standing_feet.items()}
        nothing = dict.fromkeys(SIDES, np.zeros(1))
        level = dict.fromkeys(SIDES, np.zeros((1, 2)))
        self.standing_pose: Floats = self._solve_joints(feet, nothing, nothing, level)[0]
        self.standing_pose.setflags(write=False)

    def plan_step(
        self, command: VelocityCommand | None, feet: FootPoses, *, swing_side: str, amplitude: float
    ) -> PlannedStep:
        """Return the next step.

        Args:
            command: velocity of the body in this step; None to come to stand: the foot lands where it stands
                at rest, and nothing compensates for slip.
            feet: the soles at its beginning.
            swing_side: the side of the foot that swings.
            amplitude: factor 0..1 of lift and hip roll; below 1 in the first steps from rest.

        Raises:
            UnreachableError: a leg is too short for the command.
        """
        parameters = self.gait.parameters
        stance_side = OTHER_SIDE[swing_side]
        # 1. The motion of the feet that moves the body so far, and where the trunk is in every frame.
        components = np.zeros(3)
        if command is not None:
            components = compensate_travel(
                command.components(self.step_s), self.step_s, self.gait.travel_gain, self.gait.trim
            )
        trunk_moves = self._move_trunk(components, self._times)
        # 2. Where the swinging foot lands, in the trunk's frame at the end of the step.
        landing = chain(se2_exp(0.5 * components), self.standing_feet[swing_side])
        # 3. The soles in every frame.
        lift_time = (1.0 - parameters.swing_share) / 2.0
        swing_progress = np.clip((self._times - lift_time) / parameters.swing_share, 0.0, 1.0)
        stance_poses = _in_moved_frame(feet[stance_side], trunk_moves)
        take_off_poses = _in_moved_frame(feet[swing_side], trunk_moves)
        landing_poses = _in_moved_frame(chain(trunk_moves[-1], landing), trunk_moves)
        swing_poses = self._swing(feet[swing_side], landing, components, swing_progress)
        swing_poses = np.where(self._times[:, np.newaxis] < lift_time, take_off_poses, swing_poses)
        has_landed = self._times[:, np.newaxis] > 1.0 - lift_time
        swing_poses = np.where(has_landed, landing_poses, swing_poses)
        # 4. Lift of the swinging foot, and roll of the standing leg's hip, which carries the weight.
        bump = np.sin(math.pi * swing_progress) ** 2 * amplitude
        foot_poses = {swing_side: swing_poses, stance_side: stance_poses}
        if not self._legs[swing_side].has_yaw:  # the feet point ahead with the trunk
            for poses in foot_poses.values():
                poses[:, 2] = 0.0
        step = PlannedStep(
            joint_angles=np.empty((0, len(self._rest_pose))),  # follow from the feet below
            foot_poses=foot_poses,
            lifts_m=parameters.lift_m * bump,
            hip_rolls=parameters.hip_roll_rad * bump,
            swing_side=swing_side,
        )
        level = dict.fromkeys(SIDES, np.zeros((self.n_frames, 2)))
        return replace(step, joint_angles=self.solve_frames(step, slice(self.n_frames), level))

    def solve_frames(self, step: PlannedStep, frames: slice, foot_tilts: Mapping[str, Floats]) -> Floats:
        """Return the joints in some frames of a step whose feet are tilted, `(n, n_joints)` [rad].

        A tilted foot is turned about the hips together with its leg: if the trunk is tilted forward and the
        foot by as much, the foot is level and where it would be if the trunk were upright.

        Args:
            step: the step.
            frames: the frames of the step.
            foot_tilts: roll and pitch of each foot by side, `(n, 2)` [rad].

        Raises:
            UnreachableError: a leg is too short.
        """
        zeros = np.zeros(len(foot_tilts[LEFT]))
        stance_side = OTHER_SIDE[step.swing_side]
        return self._solve_joints(
            {side: poses[frames] for side, poses in step.foot_poses.items()},
            lifts={step.swing_side: step.lifts_m[frames], stance_side: zeros},
            hip_rolls={step.swing_side: zeros, stance_side: step.hip_rolls[frames]},
            foot_tilts=foot_tilts,
        )

    def _move_trunk(self, components: Floats, times: Floats) -> Floats:
        """Return where the trunk is at times of a step, in its frame at the beginning, `(n, 3)` [m, m, rad].

        Args:
            components: its motion in the whole step, `(3,)` [m, m, rad].
            times: shares of the step's time, `(n,)`.
        """
        turn_shares = times
        if not self._legs[LEFT].has_yaw:
            lift_time = (1.0 - self.gait.parameters.swing_share) / 2.0
            turn_time = min(lift_time + TURN_OVERLAP, 0.5)
            begun = np.minimum(times / turn_time, 1.0)
            remaining = np.minimum((1.0 - times) / turn_time, 1.0)
            turn_shares = 0.5 * (begun + 1.0 - remaining)
        return se2_exp(components * np.stack([times, times, turn_shares], axis=-1))

    def _swing(self, start: Floats, landing: Floats, components: Floats, swing_progress: Floats) -> Floats:
        """Return the poses of the swinging foot relative to the trunk in every frame, `(n_frames, 3)`.

        Args:
            start: its pose at the beginning of the step.
            landing: its pose at the end of the step, in the trunk's frame then.
            components: motion of the trunk in the step, `(3,)`.
            swing_progress: share of the swing's time that has passed in every frame, `(n_frames,)`.
        """
        parameters = self.gait.parameters
        lift_time = (1.0 - parameters.swing_share) / 2.0
        until_lift_off = self._move_trunk(components, np.array([lift_time]))[0]
        lift_off = _in_moved_frame(start, until_lift_off)
        # where it lands on the ground, in the trunk's frame at that time; the end of a step mirrors its start
        rest_of_step = until_lift_off
        touch_down = chain(rest_of_step, landing)
        shares = _swing_shares(swing_progress, parameters.swing_ramp)
        return lift_off + (touch_down - lift_off) * shares[:, np.newaxis]

    def _solve_joints(
        self,
        foot_poses: FootPoses,
        lifts: Mapping[str, Floats],
        hip_rolls: Mapping[str, Floats],
        foot_tilts: Mapping[str, Floats],
    ) -> Floats:
        """Return the angles of all joints, `(n, n_joints)` [rad].

        Args:
            foot_poses: poses of the soles by side, `(n, 3)` each [m, m, rad].
            lifts: heights of the soles by side, `(n,)` each [m].
            hip_rolls: angles by which the legs' hips are rolled outwards, by side, `(n,)` each [rad].
            foot_tilts: roll and pitch of the feet by side, `(n, 2)` each [rad].
        """
        angles = np.tile(self._rest_pose, (len(foot_poses[LEFT]), 1))
        for side, leg in self._legs.items():
            soles, turns = self._hip_to_trunk.place_soles(foot_poses[side], lifts[side], foot_tilts[side])
            leg_angles = leg.solve(soles, turns)
            rolled = leg_angles._replace(hip_roll=leg_angles.hip_roll + OUTWARDS[side] * hip_rolls[side])
            leg.put_angles(angles, rolled)
        return angles


class _HipFrame:
    """The frame of the soles' poses, level under the hips, and its place in the trunk's frame.

    The trunk leans forward about the hips.
    """

    def __init__(self, parameters: BipedParameters, leg: BipedLeg) -> None:
        self._hip = np.array([leg.hip_m[0] + leg.hip_ahead_m, 0.0, leg.hip_m[2]])
        self._height_m = parameters.hip_height_m - leg.sole_m[2]  # of the hips over the soles
        self._lean_rad = parameters.lean_rad

    def place_soles(self, poses: Floats, lifts: Floats, tilts: Floats) -> tuple[Floats, Floats]:
        """Return positions `(n, 3)` [m] and rotations `(n, 3, 3)` of the soles in the trunk's frame.

        Args:
            poses: of the soles, `(n, 3)` [m, m, rad].
            lifts: their heights over the ground, `(n,)` [m].
            tilts: their roll and pitch about the hips, `(n, 2)` [rad]; a sole with a tilt of 0 is level.
        """
        below_hips = np.stack([poses[:, 0], poses[:, 1], lifts - self._height_m], axis=-1)
        level_to_trunk = rotations_about_axis(PITCH_AXIS, -(self._lean_rad + tilts[:, 1]))
        if tilts.any():  # an undisturbed walk spares the second rotation
            level_to_trunk = rotations_about_axis(ROLL_AXIS, -tilts[:, 0]) @ level_to_trunk
        positions: Floats = self._hip + (level_to_trunk @ below_hips[:, :, np.newaxis])[:, :, 0]
        return positions, level_to_trunk @ rotations_about_axis(YAW_AXIS, poses[:, 2])


def _in_moved_frame(pose: Floats, moves: Floats) -> Floats:
    """Return a pose on the ground `(3,)` in the frames of a body after its moves, `(..., 3)` [m, m, rad]."""
    moved: Floats = to_moved_frame(np.broadcast_to(pose, moves.shape), moves)
    moved = moved.copy()
    moved[..., 2] = pose[2] - moves[..., 2]
    return moved


def _swing_shares(progress: Floats, ramp: float) -> Floats:
    """Return the share of its way that a swinging foot has covered, at constant acceleration in its ramps.

    Args:
        progress: share of the swing's time, 0..1.
        ramp: share of the time in which it speeds up, and in which it slows down, up to 0.5.
    """
    covered_per_ramp = 1.0 / (2.0 * ramp * (1.0 - ramp))
    speeding_up = covered_per_ramp * progress**2
    at_full_speed = (progress - ramp / 2.0) / (1.0 - ramp)
    slowing_down = 1.0 - covered_per_ramp * (1.0 - progress) ** 2
    return np.where(
        progress < ramp, speeding_up, np.where(progress < 1.0 - ramp, at_full_speed, slowing_down)
    )
