"""Modes, limits, speeds and targets of a control board's axes, and their movements as trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from posewright.arrays import Floats
from posewright.errors import BodyError, InputError
from posewright.network.transport import RobotService, Trajectory
from posewright.network.yarp.axes import Axes
from posewright.network.yarp.bottle import Value, Vocab
from posewright.units import RAD_PER_DEG

POSITION = Vocab("pos")
DIRECT = Vocab("posd")
VELOCITY = Vocab("vel")
IDLE = Vocab("idl")
MODES = (POSITION, DIRECT, VELOCITY)
"""Modes of an axis; an axis without a joint is idle."""

DEFAULT_SPEED_DEG_S = 10.0
DEFAULT_ACCELERATION_DEG_S2 = 100.0
"""Defaults until a client sets others; ours: slow enough for a robot on a table."""

MIN_SPEED_DEG_S = 1e-3
"""An axis with a lower speed stands still."""

MAX_DURATION_S = 500.0
"""An axis moves at a speed for at most this long, then stops [s]; the host accepts up to 600 s."""

ARRIVED_DEG = 1e-6
ROUNDING_DEG = 1e-9


class AxisMotions:
    """Modes, limits, speeds and targets of the axes, all in degrees; moves them.

    Targets are clipped to the limits, speeds to the servo's. A movement also sets the mode of its axes, as
    programs older than modes expect, until a client sets the mode: from then on an axis moves in that mode
    only, as a message that was streamed before may arrive later. Accelerations are stored and can be read,
    but have no effect: joints move at constant speed.

    Attributes:
        lower_deg: lower limits, `(n_axes,)`, 0 without a joint; likewise `upper_deg`.
        speeds_deg_s: the speeds of movements to a position, `(n_axes,)`.
        velocities_deg_s: the velocities of movements at a speed, `(n_axes,)`; 0 once they stop.
        modes: one of `MODES` per axis, or IDLE.
        velocity_client: the client that last moved axes at a speed; empty once they were stopped for it.
    """

    def __init__(self, service: RobotService, axes: Axes) -> None:
        """Begin with the robot's limits, default speeds, and axes that stand."""
        robot = service.robot
        self.axes = axes
        self.lower_deg, self.upper_deg = map(axes.degrees, robot.limits)
        self.fastest_deg_s = axes.degrees(robot.max_speeds)
        self.speeds_deg_s = np.minimum(DEFAULT_SPEED_DEG_S, self.fastest_deg_s)
        self.accelerations_deg_s2 = axes.spread(np.full(len(robot.joints), DEFAULT_ACCELERATION_DEG_S2))
        self.modes = [IDLE if column is None else POSITION for column in axes.columns]
        self.velocity_client = ""
        self.velocities_deg_s = np.zeros(len(axes))
        self._service = service
        self._axes_with_set_mode = set[int]()
        self._targets_deg = np.full(len(axes), np.nan)

    @property
    def commanded_deg(self) -> Floats:
        """Commanded positions of the axes, `(n_axes,)`."""
        return self.axes.degrees(self._service.commands.angles[-1])

    @property
    def targets_deg(self) -> Floats:
        """Targets of the axes, `(n_axes,)`; commanded positions of axes without one."""
        return np.where(np.isnan(self._targets_deg), self.commanded_deg, self._targets_deg)

    @property
    def done(self) -> Floats:
        """1 for each axis whose commanded position is its target, `(n_axes,)`, otherwise 0."""
        return np.less_equal(np.abs(self.targets_deg - self.commanded_deg), ARRIVED_DEG).astype(np.float64)

    def allows(self, axis: int, mode: str) -> bool:
        """Return whether an axis can be moved in a mode: in any, unless a client set another."""
        return axis not in self._axes_with_set_mode or self.modes[axis] == mode

    def move_to(self, client: str, axes: Sequence[int], targets_deg: Floats) -> None:
        """Move axes to positions, each at its own speed.

        Raises:
            BodyError: the robot rejects the movement, for example because another client commands it.
        """
        targets = self._clip(axes, targets_deg)
        distances = np.abs(targets - self.commanded_deg[axes])
        self._start_move(
            client, axes, targets_deg=targets, durations_s=distances / self.speeds_deg_s[axes], mode=POSITION
        )

    def move_by(self, client: str, axes: Sequence[int], distances_deg: Floats) -> None:
        """Move axes by some distances from their commanded positions."""
        self.move_to(client, axes, self.commanded_deg[axes] + distances_deg)

    def move_at(self, client: str, axes: Sequence[int], speeds_deg_s: Floats) -> None:
        """Move axes at signed speeds, up to their limits; 0 stops.

        Each is a movement to the limit in its direction, or for `MAX_DURATION_S`.
        """
        start = self.commanded_deg[axes]
        speeds = np.minimum(np.abs(speeds_deg_s), self.fastest_deg_s[axes])
        is_still = speeds < MIN_SPEED_DEG_S
        ends = np.where(speeds_deg_s > 0.0, self.upper_deg[axes], self.lower_deg[axes])
        times_to_limits_s = np.abs(ends - start) / np.maximum(speeds, MIN_SPEED_DEG_S)
        durations_s = np.where(is_still, 0.0, np.minimum(times_to_limits_s, MAX_DURATION_S))
        velocities = np.sign(speeds_deg_s) * speeds
        targets = start + velocities * durations_s
        self._start_move(client, axes, targets_deg=targets, durations_s=durations_s, mode=VELOCITY)
        self.velocities_deg_s[axes] = velocities
        self.velocity_client = client

    def stop_for(self, client: str) -> None:
        """Stop axes that a client moved at a speed before it left, unless another client commands now."""
        running = [axis for axis, mode in enumerate(self.modes) if mode == VELOCITY]
        self.velocity_client = ""
        with suppress(BodyError):
            self.hold(client, running)

    def set_positions(self, client: str, axes: Sequence[int], targets_deg: Floats) -> None:
        """Set positions of axes from the next frame on."""
        self._start_move(
            client,
            axes,
            targets_deg=self._clip(axes, targets_deg),
            durations_s=np.zeros(len(axes)),
            mode=DIRECT,
        )

    def hold(self, client: str, axes: Sequence[int]) -> None:
        """Hold the commanded positions of axes, in their present modes."""
        self._start_move(client, axes, targets_deg=self.commanded_deg[axes], durations_s=np.zeros(len(axes)))

    def set_modes(self, client: str, axes: Sequence[int], modes: Sequence[Value]) -> None:
        """Set the control mode of each axis; an axis that leaves the velocity mode stops.

        Raises:
            InputError: a mode is not supported; no mode is set then.
        """
        new_modes = dict(zip(axes, modes, strict=True))
        if unknown := [mode for mode in new_modes.values() if mode not in MODES]:
            hint = f"use {', '.join(MODES)}"
            raise InputError(f"the mode {str(unknown[0])[:4]!r} is not supported", hint=hint)
        axes_to_stop: list[int] = []
        for axis, mode in new_modes.items():
            if self.modes[axis] == VELOCITY and mode != VELOCITY:
                axes_to_stop.append(axis)
        if axes_to_stop:
            self.hold(client, axes_to_stop)
        self._axes_with_set_mode |= set(new_modes)
        for axis, mode in new_modes.items():
            self.modes[axis] = Vocab(mode)

    def set_limits(self, axis: int, lower_deg: float, upper_deg: float) -> None:
        """Narrow the limits of an axis; raise an InputError if they exceed the robot's own."""
        lower, upper = (self.axes.degrees(ends)[axis] for ends in self._service.robot.limits)
        if not lower - ROUNDING_DEG <= lower_deg < upper_deg <= upper + ROUNDING_DEG:
            message = f"limits of {lower_deg:g}..{upper_deg:g} degrees"
            raise InputError(message, hint=f"stay within {lower:g}..{upper:g}")
        self.lower_deg[axis] = lower_deg
        self.upper_deg[axis] = upper_deg

    def set_speeds(self, axes: Sequence[int], speeds_deg_s: Floats) -> None:
        """Set the speeds of moves to a position."""
        if (speeds_deg_s < MIN_SPEED_DEG_S).any():
            raise InputError("a speed of 0 or less", hint=f"{MIN_SPEED_DEG_S:g} deg/s or more")
        self.speeds_deg_s[axes] = np.minimum(speeds_deg_s, self.fastest_deg_s[axes])

    def set_accelerations(self, axes: Sequence[int], accelerations_deg_s2: Floats) -> None:
        """Store accelerations, which have no effect."""
        if (accelerations_deg_s2 < 0.0).any():
            raise InputError("an acceleration below 0", hint="0 or more deg/s^2")
        self.accelerations_deg_s2[axes] = accelerations_deg_s2

    def _clip(self, axes: Sequence[int], targets_deg: Floats) -> Floats:
        return np.clip(targets_deg, self.lower_deg[axes], self.upper_deg[axes])

    def _start_move(
        self, client: str, axes: Sequence[int], targets_deg: Floats, durations_s: Floats, mode: str = ""
    ) -> None:
        """Move axes to targets at constant speed, each in its own time.

        Args:
            client: the client that commands it.
            axes: the axes, which have joints.
            targets_deg: one for each of them, `(k,)`.
            durations_s: the durations of their movements, `(k,)`; 0 for at once.
            mode: the mode that the axes get; empty if they keep theirs.

        Raises:
            BodyError: the robot rejects the trajectory.
        """
        columns = tuple(int(self.axes.columns[axis] or 0) for axis in axes)
        start = self.commanded_deg[axes]
        times, degrees = even_motion(start, targets_deg, durations_s)
        rejection = self._service.command(client, Trajectory(columns, times, degrees * RAD_PER_DEG))
        if rejection:
            raise BodyError(rejection)
        self._targets_deg[axes] = targets_deg
        self.velocities_deg_s[axes] = 0.0
        if mode:
            for axis in axes:
                self.modes[axis] = Vocab(mode)


def even_motion(start: Floats, targets: Floats, durations_s: Floats) -> tuple[Floats, Floats]:
    """Return a trajectory of axes that move at constant speed, each with its own duration.

    Args:
        start: present positions, `(k,)`.
        targets: final positions, `(k,)`.
        durations_s: the durations of the movements, `(k,)`; 0 for at once.

    Returns:
        Increasing times, `(n,)` [s], and positions at these times, `(n, k)`.
    """
    times: Floats = np.unique(durations_s)
    fractions = np.ones((len(times), len(start)))
    np.divide(times[:, np.newaxis], durations_s, out=fractions, where=durations_s > 0.0)
    return times, start + np.minimum(fractions, 1.0) * (targets - start)
