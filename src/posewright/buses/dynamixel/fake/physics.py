"""The physics behind the servos of a fake bus: a plant, or servos without load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from posewright.bodies import JointCommands, Plant
from posewright.buses.dynamixel.fake.servo import NO_LOAD_TICKS_S, FakeServo
from posewright.errors import InputError


class Physics(Protocol):
    """Moves the servos of a bus frame by frame."""

    @property
    def frame_period_s(self) -> float:
        """Duration of a frame [s]."""

    def step(self) -> None:
        """Simulate one frame: reads registers, writes positions, speeds and loads."""


class UnloadedServos:
    """Servos on a table: each moves to its goal without load."""

    frame_period_s = 0.008

    def __init__(self, servos: Sequence[FakeServo]) -> None:
        self._servos = servos

    def step(self) -> None:
        """Simulate one frame."""
        max_step = NO_LOAD_TICKS_S * self.frame_period_s
        for servo in self._servos:
            start = servo.position_ticks
            target = servo.advance(self.frame_period_s)
            servo.position_ticks = start + max(-max_step, min(max_step, target - start))
            servo.speed_ticks_s = (servo.position_ticks - start) / self.frame_period_s


class PlantPhysics:
    """A plant with one robot, whose servos are on a bus.

    Registers become one row of joint commands per frame: the position to which the motor pulls, free if its
    torque is off, stiffness by its slope. A joint that is held by hand follows the hand if its servo is free.

    Args:
        plant: the plant with the robot in it, open.
        servos: all servos of the robot, by joint.

    Attributes:
        hand_angles: angles of the joints that are held by hand, by joint [rad].
        prop_angles: angles in which joints are held until their torque is first switched on: a robot without
            torque does not stand by itself.

    Raises:
        InputError: the plant has no robot, or several.
    """

    def __init__(self, plant: Plant, servos: Mapping[str, FakeServo]) -> None:
        """Set the positions of the servos to those of the robot."""
        if len(plant.bodies) != 1:
            message = f"the plant has {len(plant.bodies)} robots"
            raise InputError(message, hint="a servo bus belongs to one robot")
        ((self._name, body),) = plant.bodies.items()
        self.robot = body.robot
        self.plant = plant
        self.hand_angles: dict[str, float] = {}
        positions = body.observe().positions[-1]
        self.prop_angles = dict(zip(self.robot.joint_names, positions.tolist(), strict=True))
        self._servos = [servos[joint] for joint in self.robot.joint_names]
        self._card_stiffness = np.array([servo.stiffness for servo in self.robot.servos])
        self._card_slopes = np.array([servo.compliance_slope or 1.0 for servo in self.robot.servos])
        self._stall_torques = np.array([servo.stall_torque_nm for servo in self.robot.servos])
        self._directions = np.array([float(servo.direction) for servo in self.robot.servos])
        self._ticks = self.robot.to_ticks(positions)
        for servo, ticks in zip(self._servos, self._ticks.tolist(), strict=True):
            servo.position_ticks = servo.setpoint_ticks = ticks
            servo.poke("goal_position", min(1023, max(0, round(ticks))))

    @property
    def frame_period_s(self) -> float:
        """Duration of a frame [s]."""
        return self.plant.frame_period_s

    def step(self) -> None:
        """Simulate one frame.

        Raises:
            BodyError: the plant does not answer, or the simulation diverged.
        """
        states = self.plant.advance({self._name: self._commands()})[self._name]
        positions = states.positions[-1]
        efforts = states.efforts[-1]
        ticks = np.where(np.isfinite(positions), self.robot.to_ticks(positions), self._ticks)
        speeds = (ticks - self._ticks) / self.frame_period_s
        is_free = np.array([servo.drive.is_free for servo in self._servos])  # without torque there is no load
        loads = np.where(is_free, 0.0, np.nan_to_num(efforts) * self._directions / self._stall_torques)
        self._ticks = ticks
        for servo, position, speed, load in zip(
            self._servos, ticks.tolist(), speeds.tolist(), loads.tolist(), strict=True
        ):
            servo.position_ticks = position
            servo.speed_ticks_s = speed
            servo.load = load

    def _commands(self) -> JointCommands:
        """Return the commands for the plant, one row.

        A joint whose torque is on follows its servo, with a stiffness by the servo's compliance slopes. One
        whose torque is off follows the hand or the prop that holds it; else it is free.
        """
        period_s = self.frame_period_s
        angles = self.robot.from_ticks(np.array([servo.advance(period_s) for servo in self._servos]))
        free = np.array([servo.drive.is_free for servo in self._servos])
        slopes = np.array([sum(servo.drive.slopes) / 2.0 for servo in self._servos])  # of both directions
        for joint in list(self.prop_angles):
            has_torque = not free[self.robot.index(joint)]
            if has_torque:  # the prop is taken away for good
                del self.prop_angles[joint]
        for joint, angle in (self.prop_angles | self.hand_angles).items():
            column = self.robot.index(joint)
            if free[column]:
                angles[column] = angle
                free[column] = False
                slopes[column] = self._card_slopes[column]
        is_changed = bool((slopes != self._card_slopes).any())
        stiffness = self._card_stiffness * self._card_slopes / slopes if is_changed else None
        return JointCommands(angles[np.newaxis], free if free.any() else None, stiffness)
