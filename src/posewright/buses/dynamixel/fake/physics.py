"""What moves the joints behind the servos: any plant, or nothing but the servos themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from posewright.bodies import JointCommands, Plant
from posewright.buses.dynamixel.fake.servo import NO_LOAD_TICKS_S, FakeServo
from posewright.errors import InputError


class Physics(Protocol):
    """Lets frames pass."""

    @property
    def frame_period_s(self) -> float:
        """The time of one [s]."""

    def step(self) -> None:
        """Let one pass: registers in, positions, speeds and loads out."""


class FreeServos:
    """Servos on a table: each goes where it is told, nothing hangs on it."""

    frame_period_s = 0.008

    def __init__(self, servos: Sequence[FakeServo]) -> None:
        self._servos = servos

    def step(self) -> None:
        """Let one frame pass."""
        most = NO_LOAD_TICKS_S * self.frame_period_s
        for servo in self._servos:
            before = servo.position_ticks
            target = servo.advance(self.frame_period_s)
            servo.position_ticks = before + max(-most, min(most, target - before))
            servo.speed_ticks_s = (servo.position_ticks - before) / self.frame_period_s


class PlantPhysics:
    """A plant with one robot, whose servos are those of a bus.

    Registers become one row of joint commands a frame: where the motor pulls to, free where its torque is
    off, stiff by its slope. A joint that is held by hand and whose servo is free goes with the hand.

    Args:
        plant: what moves.
        servos: by joint, as many as the robot has.

    Attributes:
        held: where hands hold joints, by joint [rad].
        propped: where joints are held until their servos have their torque for the first time: a robot
            that is switched on does not stand by itself.
    """

    def __init__(self, plant: Plant, servos: Mapping[str, FakeServo]) -> None:
        if len(plant.bodies) != 1:
            raise InputError(f"a bus for {len(plant.bodies)} robots", hint="one robot has one bus")
        ((self._name, body),) = plant.bodies.items()
        self.robot = body.robot
        self.plant = plant
        self.held: dict[str, float] = {}
        positions = body.observe().positions[-1]
        self.propped = dict(zip(self.robot.joint_names, positions.tolist(), strict=True))
        self._servos = [servos[joint] for joint in self.robot.joint_names]
        self._own = np.array([servo.stiffness for servo in self.robot.servos])
        self._slopes = np.array([servo.compliance_slope or 1.0 for servo in self.robot.servos])
        self._stall = np.array([servo.stall_torque_nm for servo in self.robot.servos])
        self._directions = np.array([float(servo.direction) for servo in self.robot.servos])
        self._ticks = self.robot.to_ticks(positions)
        for servo, ticks in zip(self._servos, self._ticks.tolist(), strict=True):
            servo.position_ticks = servo.setpoint_ticks = ticks
            servo.poke("goal_position", min(1023, max(0, round(ticks))))

    @property
    def frame_period_s(self) -> float:
        """The time between two rows [s]."""
        return self.plant.frame_period_s

    def step(self) -> None:
        """Let one frame pass.

        Raises:
            BodyError: the plant does not answer, or the simulation blew up.
        """
        states = self.plant.advance({self._name: self._commands()})[self._name]
        positions = states.positions[-1]
        efforts = states.efforts[-1]
        ticks = np.where(np.isfinite(positions), self.robot.to_ticks(positions), self._ticks)
        speeds = (ticks - self._ticks) / self.frame_period_s
        loads = np.nan_to_num(efforts) * self._directions / self._stall
        self._ticks = ticks
        told = zip(self._servos, ticks.tolist(), speeds.tolist(), loads.tolist(), strict=True)
        for servo, position, speed, load in told:
            servo.position_ticks = position
            servo.speed_ticks_s = speed
            servo.load = load

    def _commands(self) -> JointCommands:
        period_s = self.frame_period_s
        angles = self.robot.from_ticks(np.array([servo.advance(period_s) for servo in self._servos]))
        free = np.array([servo.drive.free for servo in self._servos])
        slopes = np.array([sum(servo.drive.slopes) / 2.0 for servo in self._servos])
        for joint in [joint for joint in self.propped if not free[self.robot.index(joint)]]:
            del self.propped[joint]
        for joint, angle in (self.propped | self.held).items():
            place = self.robot.index(joint)
            if free[place]:
                angles[place] = angle
                free[place] = False
                slopes[place] = self._slopes[place]
        changed = bool((slopes != self._slopes).any())
        stiffness = self._own * self._slopes / slopes if changed else None
        return JointCommands(angles[np.newaxis], free if free.any() else None, stiffness)
