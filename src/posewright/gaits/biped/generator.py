"""The gait generator of bipeds: steps and frames from a command that may change at any time."""

from __future__ import annotations

import math

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError, UnreachableError
from posewright.gaits.biped.parameters import BipedParameters
from posewright.gaits.biped.step import OTHER_SIDE, PlannedStep, StepPlanner
from posewright.gaits.biped.values import BipedValues
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.step_generator import StepGenerator
from posewright.robots import LEFT, RIGHT, SIDES, Robot

STEPS_TO_FULL_AMPLITUDE = 3
"""The first steps from rest lift the feet less: the sideways swing of the trunk has to build up."""

SMALL_CHANGE_SHARE = 0.05
"""A change of this share of the range is made in one step."""

MAX_CHANGE_FRACTION = 0.5
"""Greatest part of a larger change that is made in one step."""

IN_PLACE_TOLERANCE = 1e-9
"""A foot this near to its standing place is there [m, rad]."""

SWING_TILT_SPEED = 2.5
"""How fast the swinging foot is tilted at most [rad/s]; a walk leaves its servos about so much."""

STANCE_TILT_SPEED = 1.0
"""How fast a standing foot returns to level [rad/s]: it lifts the trunk up again."""

MIN_STATED_EXCESS = 1.005
"""A command at least this many times the range is said to be so; below, two decimals would read 1.00."""

RANGE_TOLERANCE = 1e-9
"""Shares of the range that differ by less are equal: a command at its edge is in it in spite of rounding."""


class BipedGenerator(StepGenerator):
    """Generates joint angles of a biped from velocity commands; a `GaitGenerator`.

    A new command is approached with every step.

    Raises:
        InputError: the gait is another robot's, or the robot's card does not describe two legs.
        UnreachableError: the legs are too short for the gait's stance.
    """

    def __init__(self, gait: BipedValues, robot: Robot) -> None:
        self.gait = gait
        self.planner = StepPlanner(gait, robot)
        super().__init__(self.planner.standing_pose)

    def require_in_range(self, command: VelocityCommand) -> None:
        """Raise InputError unless the legs are to follow a command."""
        excess = _range_share(command, self.gait.parameters)
        if excess > 1.0 + RANGE_TOLERANCE:
            parameters = self.gait.parameters
            is_factor_clear = excess >= MIN_STATED_EXCESS and math.isfinite(excess)
            size = f"{excess:.2f} times" if is_factor_clear else "more than"
            raise InputError(
                f"the command is {size} what this gait follows: "
                f"{command.forward_m_s:g} m/s forward, {command.left_m_s:g} m/s left, "
                f"{command.turn_rad_s:g} rad/s",
                hint=f"alone {-parameters.max_backward_m_s:g} to {parameters.max_forward_m_s:g} m/s forward, "
                f"{parameters.max_left_m_s:g} m/s to either side, {parameters.max_turn_rad_s:g} rad/s; "
                f"together less",
            )

    def clip_command(self, command: VelocityCommand) -> VelocityCommand:
        """Return the nearest command in range: the same direction, slower if necessary.

        What the gait cannot do at all, such as a turn without a yaw at the hips, is left out.
        """
        parameters = self.gait.parameters
        max_forward = _max_forward_m_s(command, parameters)
        possible = VelocityCommand(
            command.forward_m_s if max_forward > 0.0 else 0.0,
            command.left_m_s if parameters.max_left_m_s > 0.0 else 0.0,
            command.turn_rad_s if parameters.max_turn_rad_s > 0.0 else 0.0,
        )
        scale = 1.0 / max(_range_share(possible, parameters), 1.0)
        return VelocityCommand(
            scale * possible.forward_m_s, scale * possible.left_m_s, scale * possible.turn_rad_s
        )

    def _stand(self) -> None:
        super()._stand()
        self._feet = self.planner.standing_feet
        self._command_in_force = STILL
        self._n_steps = 0
        self._swing_side = LEFT
        self._step: PlannedStep | None = None
        self._foot_tilts: dict[str, Floats] = dict.fromkeys(SIDES, np.zeros(2))

    def _halting_rows(self) -> Floats:
        if self._command_in_force != STILL:
            return self.take_step(STILL).joint_angles
        rows = self._plan_and_record(None).joint_angles
        if self._are_feet_in_place():
            self._stand()
        return rows

    def take_step(self, command: VelocityCommand) -> PlannedStep:
        """Return the next step, whose command approaches the given one as far as a single step allows."""
        if self._is_at_rest:  # the first foot is the one on the side to which the robot goes or turns
            goes_right = command.left_m_s < 0.0 or (command.left_m_s == 0.0 and command.turn_rad_s < 0.0)
            self._swing_side = RIGHT if goes_right else LEFT
        self._command_in_force = approach_command(self._command_in_force, command, self.gait.parameters)
        return self._plan_and_record(self._command_in_force)

    def _plan_and_record(self, command: VelocityCommand | None) -> PlannedStep:
        """Return the next step, and let the one after it go on from its end; see `StepPlanner.plan_step`."""
        step = self.planner.plan_step(
            command,
            self._feet,
            swing_side=self._swing_side,
            amplitude=min(1.0, (self._n_steps + 1) / STEPS_TO_FULL_AMPLITUDE),
        )
        self._step = step
        self._feet = step.feet_after
        self._swing_side = OTHER_SIDE[self._swing_side]
        self._n_steps += 1
        self._is_at_rest = False
        return step

    def _are_feet_in_place(self) -> bool:
        """Return whether both feet stand beside each other and level, as at rest."""
        return all(
            np.abs(pose - self.planner.standing_feet[side]).max() <= IN_PLACE_TOLERANCE
            and not self._foot_tilts[side].any()
            for side, pose in self._feet.items()
        )

    def _react_to_tilt(self, rows: Floats, n_frames_left: int) -> Floats:
        """Return the frames of a step with the swinging foot tilted against the excess tilt of the trunk.

        The gait's levelling decides by how much. A frame in which a leg is too short for that is left as
        planned.
        """
        excess = self.gait.feedback.foot_levelling * np.array(self._excess_tilt)
        is_level = not excess.any() and not any(tilt.any() for tilt in self._foot_tilts.values())
        if self._step is None or is_level:
            return rows
        frame_s = self.planner.step_s / self.planner.n_frames
        tilts = {}
        for side, tilt in self._foot_tilts.items():
            is_swinging = side == self._step.swing_side
            target = excess if is_swinging else np.zeros(2)
            max_change = (SWING_TILT_SPEED if is_swinging else STANCE_TILT_SPEED) * frame_s
            steps = np.arange(1, len(rows) + 1)[:, np.newaxis] * max_change
            tilts[side] = tilt + np.clip(target - tilt, -steps, steps)
        first_frame = self.planner.n_frames - n_frames_left
        try:
            tilted_rows = self.planner.solve_frames(
                self._step, slice(first_frame, first_frame + len(rows)), tilts
            )
        except UnreachableError:
            if len(rows) == 1:
                return rows
            frames = [self._react_to_tilt(rows[k : k + 1], n_frames_left - k) for k in range(len(rows))]
            return np.concatenate(frames)
        self._foot_tilts = {side: tilt[-1] for side, tilt in tilts.items()}
        return tilted_rows


def _range_share(command: VelocityCommand, parameters: BipedParameters) -> float:
    """Return a command's size as a share of the range, an ellipsoid: at most 1 in range."""
    return math.hypot(
        _share(command.forward_m_s, _max_forward_m_s(command, parameters)),
        _share(command.left_m_s, parameters.max_left_m_s),
        _share(command.turn_rad_s, parameters.max_turn_rad_s),
    )


def _max_forward_m_s(command: VelocityCommand, parameters: BipedParameters) -> float:
    """Return the greatest speed in the direction of a command, forward or backward [m/s]."""
    return parameters.max_backward_m_s if command.forward_m_s < 0.0 else parameters.max_forward_m_s


def _share(value: float, greatest: float) -> float:
    """Return the magnitude of a value as a share of the greatest one, which may be 0."""
    if value == 0.0:
        return 0.0
    return abs(value) / greatest if greatest > 0.0 else math.inf


def approach_command(
    current: VelocityCommand, target: VelocityCommand, parameters: BipedParameters
) -> VelocityCommand:
    """Return the command of the next step on the way from the current command to the target.

    A step goes at most half of the way: a foot that swings in the step after a change covers half of the
    change more than in a steady walk, and its joints would have to move faster.
    """
    forward_change = target.forward_m_s - current.forward_m_s
    left_change = target.left_m_s - current.left_m_s
    turn_change = target.turn_rad_s - current.turn_rad_s
    change_share = math.hypot(
        _share(forward_change, parameters.max_forward_m_s),
        _share(left_change, parameters.max_left_m_s),
        _share(turn_change, parameters.max_turn_rad_s),
    )
    if change_share <= SMALL_CHANGE_SHARE + RANGE_TOLERANCE:
        return target
    fraction = min(1.0 / (change_share * parameters.steps_to_full_speed), MAX_CHANGE_FRACTION)
    return VelocityCommand(
        current.forward_m_s + fraction * forward_change,
        current.left_m_s + fraction * left_change,
        current.turn_rad_s + fraction * turn_change,
    )
