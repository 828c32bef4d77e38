"""Servos as MuJoCo actuators, with the parameters of the robot's card instead of the model file's.

Each joint is driven by a position actuator whose force is `stiffness * (command - angle)`, limited to the
stall torque. The stiffness is that of the compliance slope (full torque at the slope's edge). The joint's
damping is stall torque / no-load speed, which gives the linear torque-speed characteristic of a DC motor.
Commands reach the actuator in whole ticks, as they do over the servo bus.

A joint whose torque is off has no drive and only the gears' share of the damping: the remainder is the
motor's back-EMF, which has no effect with an open winding.

Commands may take some frames to reach a servo: see `CommandDelay`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from posewright.arrays import Flags, Floats

if TYPE_CHECKING:
    from posewright.robots import Robot
    from posewright.simulation.instance import ModelInstance

FREE_DAMPING = 0.1
"""The gears' share of the damping. The identified models of Rhoban's `bam` (XL320, XL330, MX-64) have 1 to 12
%; none is published for the AX-12, so this is an assumption."""


class TickGrid:
    """Rounds joint angles to the positions a servo can be commanded: whole ticks within its travel.

    Args:
        robot: the card with the servos.
    """

    def __init__(self, robot: Robot) -> None:
        zero = np.zeros(len(robot.servos))
        self._zero_ticks: Floats = robot.to_ticks(zero)
        self._ticks_per_rad: Floats = robot.to_ticks(zero + 1.0) - self._zero_ticks
        self._first_ticks = np.array([float(servo.first_tick) for servo in robot.servos])
        self._last_ticks = np.array([float(servo.last_tick) for servo in robot.servos])

    def round(self, angles: Floats) -> Floats:
        """Return the nearest angles that are whole ticks, `(..., n_joints)` [rad]."""
        # in place, as this runs for every block and another array would not be in the cache
        ticks: Floats = angles * self._ticks_per_rad
        ticks += self._zero_ticks
        np.rint(ticks, out=ticks)
        np.maximum(ticks, self._first_ticks, out=ticks)
        np.minimum(ticks, self._last_ticks, out=ticks)
        ticks -= self._zero_ticks
        ticks /= self._ticks_per_rad
        return ticks  # now angles


class ServoBank:
    """The servos of a robot's moving joints: sets their parameters in the model, then stiffness and torque.

    Args:
        instance: the robot.
    """

    def __init__(self, instance: ModelInstance) -> None:
        """Make each actuator of the model a servo with a limited torque, nominal stiffness and torque on.

        A servo's torque is its stiffness times the distance to the commanded angle. Its damping makes it fall
        linearly from the stall torque at rest to 0 at the no-load speed.
        """
        model = instance.model
        addresses = instance.addresses
        servos = [instance.robot.servos[joint] for joint in addresses.moving_joints]
        self.nominal_stiffness: Floats = np.array([servo.stiffness for servo in servos])
        self._stiffness_scale = 1.0
        self._damping_scale = 1.0
        self._model: mujoco.MjModel = model
        self._addresses = addresses
        self._actuators = addresses.actuators
        self._dofs = addresses.joint_qvel
        self._is_default_in_model = False  # whether the model has no free joint and nominal stiffness
        stall_torques = np.array([servo.stall_torque_nm for servo in servos])
        no_load_speeds = np.array([servo.no_load_speed_rad_s for servo in servos])
        self._nominal_damping: Floats = stall_torques / no_load_speeds  # [N m s/rad]
        actuators = self._actuators
        model.actuator_gaintype[actuators] = mujoco.mjtGain.mjGAIN_FIXED
        model.actuator_biastype[actuators] = mujoco.mjtBias.mjBIAS_AFFINE
        model.actuator_biasprm[actuators] = 0.0
        model.actuator_forcelimited[actuators] = 1
        model.actuator_forcerange[actuators] = np.stack([-stall_torques, stall_torques], axis=-1)
        self.set_stiffness(None, free=None)

    @property
    def stiffness(self) -> Floats:
        """Stiffness of each servo without a commanded one, `(n_moving,)` [N m/rad]."""
        return self._stiffness_scale * self.nominal_stiffness

    @property
    def damping(self) -> Floats:
        """Damping of each servo, `(n_moving,)` [N m s/rad]."""
        return self._damping_scale * self._nominal_damping

    def scale(self, stiffness: float, damping: float) -> None:
        """Set factors on the stiffness and damping of all servos, and switch their torque on.

        Stiffness commanded later is scaled too, as a worn servo is weaker at any setting.
        """
        self._stiffness_scale = stiffness
        self._damping_scale = damping
        self._is_default_in_model = False  # the model has the previous factors
        self.set_stiffness(None, free=None)

    def set_stiffness(self, stiffness: Floats | None, free: Flags | None) -> None:
        """Set the stiffness of each joint; a free joint has none, and only the damping of its gears.

        Args:
            stiffness: `(n_joints,)` [N m/rad]; NaN or None for the servos' nominal stiffness.
            free: joints whose torque is off, `(n_joints,)`; None if no joint is free.
        """
        is_default = stiffness is None and free is None
        if is_default and self._is_default_in_model:
            return
        effective_stiffness = self.nominal_stiffness
        if stiffness is not None:
            commanded = self._addresses.select_moving(stiffness)
            effective_stiffness = np.where(np.isnan(commanded), effective_stiffness, commanded)
        effective_stiffness = self._stiffness_scale * effective_stiffness
        damping_factor: Floats | float = self._damping_scale
        if free is not None:
            is_free = self._addresses.select_moving(free)
            effective_stiffness = np.where(is_free, 0.0, effective_stiffness)
            damping_factor = np.where(is_free, FREE_DAMPING, 1.0) * damping_factor
        self._model.dof_damping[self._dofs] = damping_factor * self._nominal_damping
        # the actuator's force is gain * command + bias * angle
        self._model.actuator_gainprm[self._actuators, 0] = effective_stiffness
        self._model.actuator_biasprm[self._actuators, 1] = -effective_stiffness
        self._is_default_in_model = is_default


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ServoCommands:
    """Commands to the servos for n frames.

    Attributes:
        targets: joint angles in whole ticks, `(n, n_joints)` [rad].
        stiffness: `(n_joints,)` [N m/rad]; None for the servos' nominal stiffness.
        free: joints whose torque is off, `(n_joints,)`; None if no joint is free.
    """

    targets: Floats
    stiffness: Floats | None = None
    free: Flags | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def split(self, n: int) -> tuple[ServoCommands, ServoCommands]:
        """Return the first n frames and the remaining ones."""
        return (
            ServoCommands(self.targets[:n], self.stiffness, self.free),
            ServoCommands(self.targets[n:], self.stiffness, self.free),
        )


class CommandDelay:
    """Delays commands, with their stiffness and free joints, by a whole number of frames.

    Args:
        n_frames: the delay; 0 for none.
        pose: takes effect until the first command does, `(n_joints,)` [rad].
    """

    def __init__(self, n_frames: int, pose: Floats) -> None:
        self._n_delay_frames = n_frames
        self._pending: deque[ServoCommands] = deque()
        self.reset(pose)

    def reset(self, pose: Floats) -> None:
        """Drop pending commands; the pose takes effect until the next command does."""
        self._pending.clear()
        if self._n_delay_frames:
            self._pending.append(ServoCommands(np.tile(pose, (self._n_delay_frames, 1))))

    def push(self, commands: ServoCommands) -> list[ServoCommands]:
        """Queue the commands of some frames, and return the commands that take effect in those frames.

        They are the oldest that are queued; one that lasts longer is split.
        """
        if not self._n_delay_frames:
            return [commands]
        self._pending.append(commands)
        effective = []
        n_missing = len(commands)
        while n_missing:
            oldest = self._pending.popleft()
            if len(oldest) > n_missing:
                oldest, later = oldest.split(n_missing)
                self._pending.appendleft(later)
            n_missing -= len(oldest)
            effective.append(oldest)
        return effective
