"""Servos as MuJoCo actuators, from the robot's card: the card is the truth, the model file follows.

Each joint is driven by a position actuator whose force is `stiffness * (command - angle)`, bounded by the
stall torque. The stiffness is that of the compliance slope (full torque at the slope's edge); the joint's
damping is stall torque / no-load speed, which is exactly the straight torque-speed line of a DC motor.
Commands reach the actuator in whole ticks, as they do over the servo bus.

A joint whose torque is off has no drive, and of the damping only the gears' share: the rest is the motor's
back-EMF, which an open winding does not feel.

Commands may be on their way for some frames before a servo has them: `CommandDelay`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arrays import Flags, Floats

if TYPE_CHECKING:
    from posewright.robots import Robot
    from posewright.simulation.instance import ModelInstance

FREE_DAMPING = 0.1
"""Share of the damping that is the gears'. The identified models of Rhoban's `bam` (XL320, XL330, MX-64) have
1 to 12 %; none of the AX-12 is published, so this is an assumption."""


class TickGrid:
    """Rounds joint angles to what the servos can be told: whole ticks within their travel."""

    def __init__(self, robot: Robot) -> None:
        zero = np.zeros(len(robot.servos))
        self._offset: Floats = robot.to_ticks(zero)
        self._slope: Floats = robot.to_ticks(zero + 1.0) - self._offset
        self._first = np.array([float(servo.first_tick) for servo in robot.servos])
        self._last = np.array([float(servo.last_tick) for servo in robot.servos])

    def rounded(self, angles: Floats) -> Floats:
        """Return the nearest angles that are whole ticks, `(..., n_joints)` [rad]."""
        # In place: this runs for every block, and each further array costs a cold trip to memory.
        ticks: Floats = angles * self._slope
        ticks += self._offset
        np.rint(ticks, out=ticks)
        np.maximum(ticks, self._first, out=ticks)
        np.minimum(ticks, self._last, out=ticks)
        ticks -= self._offset
        ticks /= self._slope
        return ticks


class ServoBank:
    """The servos of one model: fits them to the card once, then sets stiffness and torque off.

    Servos of welded joints are none of them.
    """

    def __init__(self, one: ModelInstance) -> None:
        model, addresses = one.model, one.addresses
        servos = [one.robot.servos[joint] for joint in addresses.moving]
        self.own_stiffness: Floats = np.array([servo.stiffness for servo in servos])
        self._stiffness_scale, self._damping_scale = 1.0, 1.0
        self._model: Any = model
        self._addresses = addresses
        self._actuators = addresses.actuators
        self._dofs = addresses.joint_qvel
        self._is_own = False
        stall = np.array([servo.stall_torque_nm for servo in servos])
        self._damping: Floats = stall / np.array([servo.no_load_speed_rad_s for servo in servos])
        acts = addresses.actuators
        model.actuator_gaintype[acts] = mujoco.mjtGain.mjGAIN_FIXED
        model.actuator_biastype[acts] = mujoco.mjtBias.mjBIAS_AFFINE
        model.actuator_biasprm[acts] = 0.0
        model.actuator_forcelimited[acts] = 1
        model.actuator_forcerange[acts] = np.stack([-stall, stall], axis=-1)
        self.set(None, None)

    @property
    def stiffness(self) -> Floats:
        """What each joint is driven with where a block asks for nothing else, `(n_moving,)` [N m/rad]."""
        return self._stiffness_scale * self.own_stiffness

    @property
    def damping(self) -> Floats:
        """What turning costs each drive, `(n_moving,)` [N m s/rad]."""
        return self._damping_scale * self._damping

    def scale(self, stiffness: float, damping: float) -> None:
        """Give every servo its own stiffness and full torque, with so much of its stiffness and damping.

        What a block asks for later is scaled as well: a weary servo is weary at any setting.
        """
        self._stiffness_scale, self._damping_scale = stiffness, damping
        self._is_own = False
        self.set(None, None)

    def set(self, stiffness: Floats | None, free: Flags | None) -> None:
        """Set the stiffness of each joint; a free one has none and only its gears' friction.

        Args:
            stiffness: `(n_joints,)` [N m/rad]; NaN or None for the servos' own.
            free: joints whose torque is off, `(n_joints,)`; None for none.
        """
        if stiffness is None and free is None and self._is_own:
            return
        wanted = self.own_stiffness
        if stiffness is not None:
            asked = self._addresses.of_moving(stiffness)
            wanted = np.where(np.isnan(asked), wanted, asked)
        wanted = self._stiffness_scale * wanted
        share: Floats | float = self._damping_scale
        if free is not None:
            is_free = self._addresses.of_moving(free)
            wanted = np.where(is_free, 0.0, wanted)
            share = np.where(is_free, FREE_DAMPING, 1.0) * share
        self._model.dof_damping[self._dofs] = share * self._damping
        self._model.actuator_gainprm[self._actuators, 0] = wanted
        self._model.actuator_biasprm[self._actuators, 1] = -wanted
        self._is_own = stiffness is None and free is None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Commands:
    """Commands for some frames: targets in whole ticks, `(n, n_joints)` [rad].

    The stiffness asked for in them is `(n_joints,)` [N m/rad], None for the servos' own; the joints whose
    torque is off in them `(n_joints,)`, None for none.
    """

    targets: Floats
    stiffness: Floats | None = None
    free: Flags | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def split(self, n: int) -> tuple[Commands, Commands]:
        """Return the first n frames and the others."""
        rest = self.stiffness, self.free
        return Commands(self.targets[:n], *rest), Commands(self.targets[n:], *rest)


class CommandDelay:
    """Holds commands back for a whole number of frames, with the stiffness and torque asked for in them.

    With 0 everything is passed on at once. A pose `(n_joints,)` [rad] takes effect until the first command
    does.
    """

    def __init__(self, n_frames: int, pose: Floats) -> None:
        self._n_frames = n_frames
        self._waiting: deque[Commands] = deque()
        self.begin(pose)

    def begin(self, pose: Floats) -> None:
        """Forget what is on its way: the pose takes effect until the next command does."""
        self._waiting.clear()
        if self._n_frames:
            self._waiting.append(Commands(np.tile(pose, (self._n_frames, 1))))

    def pass_on(self, commands: Commands) -> list[Commands]:
        """Take commands for some frames, and return what takes effect in them: as many frames."""
        if not self._n_frames:
            return [commands]
        self._waiting.append(commands)
        effective, missing = [], len(commands)
        while missing:
            first = self._waiting.popleft()
            if len(first) > missing:
                first, rest = first.split(missing)
                self._waiting.appendleft(rest)
            missing -= len(first)
            effective.append(first)
        return effective
