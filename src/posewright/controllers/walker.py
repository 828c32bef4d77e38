"""A gait walked with its feedback, frame by frame."""

from __future__ import annotations

from posewright.arrays import Floats
from posewright.bodies import BodyState
from posewright.controllers.excess_tilt import ExcessTiltMeter
from posewright.controllers.heading import HeadingHold, heading_sensors
from posewright.gaits import STILL, Gait, VelocityCommand
from posewright.gaits.feedback import UPRIGHT
from posewright.robots import Imu, Robot, SensorSpec

REACTION_FRAMES = 4
"""Frames between two reactions to the sensors, 32 ms of an AIBO; a step takes longer."""


class Walker:
    """Walks a gait by velocity commands, and reacts to the robot's sensors as the gait's feedback says.

    Args:
        gait: the gait.
        robot: the robot.

    Raises:
        InputError: the gait does not fit the robot, or the robot lacks a sensor that the feedback reads.
        UnreachableError: a foot cannot stand where the gait has it stand.
    """

    def __init__(self, gait: Gait, robot: Robot) -> None:
        feedback = gait.feedback
        self._generator = gait.generator(robot)
        self._heading_hold = HeadingHold(robot, feedback) if feedback.holds_heading else None
        self._tilt_meter = ExcessTiltMeter(robot, feedback.rocking_rad) if feedback.levels_feet else None
        self._command = STILL
        self._is_halting = False

    @property
    def standing_pose(self) -> Floats:
        """The pose before the first step and after the last, `(n_joints,)` [rad]."""
        return self._generator.standing_pose

    @property
    def is_standing(self) -> bool:
        """Whether it stood in the last frame, as it does before the first."""
        return self._generator.is_standing

    @property
    def stiffness(self) -> Floats | None:
        """Stiffness of the joints in the next frame, `(n_joints,)` [N m/rad]; None for the servos' own."""
        return self._generator.stiffness

    @property
    def reads_sensors(self) -> bool:
        """Whether the gait has feedback."""
        return self._heading_hold is not None or self._tilt_meter is not None

    def find_missing_channels(self, state: BodyState) -> tuple[str, ...]:
        """Return the channels that the feedback reads and a body lacks; the walk goes on without them."""
        readers = (self._heading_hold, self._tilt_meter)
        channels = {reader.channel: None for reader in readers if reader is not None}  # a set in order
        return tuple(channel for channel in channels if channel not in state.sensors)

    def clip_command(self, command: VelocityCommand) -> VelocityCommand:
        """Return the nearest command in the gait's range: the same direction, slower if necessary."""
        return self._generator.clip_command(command)

    def request(self, command: VelocityCommand) -> None:
        """Set the velocity from the next step on, or raise InputError if it is out of range."""
        self._generator.request(command)
        self._command = command
        self._is_halting = False

    def halt(self) -> None:
        """Slow down, put the feet where they stand at rest, and stand."""
        self._generator.halt()
        self._is_halting = True

    def reset(self) -> None:
        """Reset to standing, as before the first step, and drop the command."""
        self._generator.reset()
        self._command = STILL
        self._is_halting = False
        if self._heading_hold is not None:
            self._heading_hold.restart()
        if self._tilt_meter is not None:
            self._tilt_meter.restart()

    def frames(self, state: BodyState, n: int) -> Floats:
        """Return the next frames, at most n, or a few with feedback, `(n_frames, n_joints)` [rad].

        Args:
            state: of the body, with its sensors.
            n: number of frames, at least 1.

        Raises:
            UnreachableError: a leg is too short for the command.
        """
        self.react(state)
        return self.frames_without_reaction(min(n, REACTION_FRAMES) if self.reads_sensors else n)

    def react(self, state: BodyState) -> None:
        """Correct the walk from the next frame on by the sensors of a body."""
        if self._heading_hold is not None and not self._is_halting:
            corrected = self._heading_hold.correct(self._command, state)
            self._generator.request(self._generator.clip_command(corrected))
        if self._tilt_meter is not None:
            self._generator.set_excess_tilt(self._tilt_meter.measure(state))
        if self._is_halting:  # a robot that lies would level its feet for ever, and never come to stand
            self._generator.set_excess_tilt(UPRIGHT)

    def frames_without_reaction(self, n: int) -> Floats:
        """Return the next n frames, as corrected by the last reaction, `(n, n_joints)` [rad].

        Raises:
            UnreachableError: a leg is too short for the command.
        """
        return self._generator.frames(n)


def feedback_sensors(gait: Gait, robot: Robot) -> tuple[SensorSpec, ...]:
    """Return the sensors of a robot that the feedback of a gait reads."""
    sensors = heading_sensors(robot) if gait.feedback.holds_heading else ()
    if gait.feedback.levels_feet:
        imus = [sensor for sensor in robot.sensors if isinstance(sensor, Imu)]
        sensors += tuple(sensor for sensor in imus[:1] if sensor not in sensors)
    return sensors
