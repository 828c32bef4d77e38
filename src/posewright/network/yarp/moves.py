"""What the axes of a control board are set to, and how a move of some of them becomes a trajectory."""

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

POSITION, DIRECT, VELOCITY, IDLE = map(Vocab, ("pos", "posd", "vel", "idl"))
MODES = (POSITION, DIRECT, VELOCITY)
"""The modes an axis can be in; one that has no joint is idle."""

USUAL_SPEED_DEG_S = 10.0
USUAL_ACCELERATION_DEG_S2 = 100.0
"""What axes have until somebody sets it; chosen by us: slow enough for a robot on a table."""

SLOWEST_DEG_S = 1e-3
"""An axis that is to move slower stands."""

LONGEST_S = 500.0
"""So long an axis moves at a speed at most, and then stands; who serves takes moves of up to 600 s."""

ARRIVED_DEG = 1e-6
ROUNDING_DEG = 1e-9


class Moves:
    """The axes' modes, limits, speeds and targets; all in degrees.

    A target beyond a limit becomes the limit, a speed beyond what the servo does the servo's. What moves an
    axis also sets its mode, as programs older than modes expect, until somebody sets the mode: from then on
    it is moved in that alone, for a message that was streamed before may come after. Accelerations are kept,
    and told again, and not used: a joint moves evenly.

    Attributes:
        lower_deg: limits, `(n_axes,)`, 0 without a joint; so with `upper_deg`.
        speeds_deg_s: of moves to a position, `(n_axes,)`.
        velocities_deg_s: at which axes were last told to move, `(n_axes,)`; 0 once they stop.
        modes: one of `MODES` an axis, or IDLE.
        runner: who moved axes at a speed last; nothing once they were stopped for him.
    """

    def __init__(self, service: RobotService, axes: Axes) -> None:
        robot = service.robot
        self.axes = axes
        self.lower_deg, self.upper_deg = map(axes.degrees, robot.limits)
        self.fastest_deg_s = axes.degrees(robot.max_speeds)
        self.speeds_deg_s = np.minimum(USUAL_SPEED_DEG_S, self.fastest_deg_s)
        self.accelerations_deg_s2 = axes.spread(np.full(len(robot.joints), USUAL_ACCELERATION_DEG_S2))
        self.modes = [IDLE if column is None else POSITION for column in axes.columns]
        self.runner = ""
        self.velocities_deg_s = np.zeros(len(axes))
        self._service = service
        self._set = set[int]()
        self._targets_deg = np.full(len(axes), np.nan)

    @property
    def commanded_deg(self) -> Floats:
        """Where the axes are commanded now, `(n_axes,)`."""
        return self.axes.degrees(self._service.commands.angles[-1])

    @property
    def targets_deg(self) -> Floats:
        """Where the axes were sent, `(n_axes,)`; where they are commanded if nobody sent them anywhere."""
        return np.where(np.isnan(self._targets_deg), self.commanded_deg, self._targets_deg)

    @property
    def done(self) -> Floats:
        """1 for each axis that is commanded where it was sent, `(n_axes,)`, else 0."""
        return np.less_equal(np.abs(self.targets_deg - self.commanded_deg), ARRIVED_DEG).astype(np.float64)

    def allows(self, axis: int, mode: str) -> bool:
        """Return whether an axis can be moved in a mode: in any, unless somebody set another."""
        return axis not in self._set or self.modes[axis] == mode

    def move_to(self, client: str, axes: Sequence[int], targets_deg: Floats) -> None:
        """Move axes to positions, each at its own speed; errors of all moves: BodyError, it is not taken."""
        targets = self._within(axes, targets_deg)
        ways = np.abs(targets - self.commanded_deg[axes])
        self._go(client, axes, targets, ways / self.speeds_deg_s[axes], POSITION)

    def move_by(self, client: str, axes: Sequence[int], ways_deg: Floats) -> None:
        """Move axes by so much from where they are commanded."""
        self.move_to(client, axes, self.commanded_deg[axes] + ways_deg)

    def move_at(self, client: str, axes: Sequence[int], speeds_deg_s: Floats) -> None:
        """Move axes at speeds, towards the limit that lies there; 0 stops."""
        now = self.commanded_deg[axes]
        speeds = np.minimum(np.abs(speeds_deg_s), self.fastest_deg_s[axes])
        stands = speeds < SLOWEST_DEG_S
        ends = np.where(speeds_deg_s > 0.0, self.upper_deg[axes], self.lower_deg[axes])
        durations = np.where(
            stands, 0.0, np.minimum(np.abs(ends - now) / np.maximum(speeds, SLOWEST_DEG_S), LONGEST_S)
        )
        velocities = np.sign(speeds_deg_s) * speeds
        self._go(client, axes, now + velocities * durations, durations, VELOCITY)
        self.velocities_deg_s[axes] = velocities

        self.runner = client

    def stop_for(self, client: str) -> None:
        """Stop what somebody moved at a speed who is gone; not if another commands by now."""
        running = [axis for axis, mode in enumerate(self.modes) if mode == VELOCITY]
        self.runner = ""
        with suppress(BodyError):
            self.hold(client, running)

    def put(self, client: str, axes: Sequence[int], targets_deg: Floats) -> None:
        """Command axes to positions from the next frame on."""
        self._go(client, axes, self._within(axes, targets_deg), np.zeros(len(axes)), DIRECT)

    def hold(self, client: str, axes: Sequence[int]) -> None:
        """Keep axes where they are commanded now, in the modes they have."""
        self._go(client, axes, self.commanded_deg[axes], np.zeros(len(axes)))

    def set_modes(self, client: str, axes: Sequence[int], modes: Sequence[Value]) -> None:
        """Set modes; an axis that leaves the mode of velocity stops."""
        wanted = dict(zip(axes, modes, strict=True))
        if strange := [mode for mode in wanted.values() if mode not in MODES]:
            raise InputError(f"the mode {str(strange[0])[:4]!r} is not offered", hint=", ".join(MODES))
        running = [axis for axis, mode in wanted.items() if VELOCITY == self.modes[axis] != mode]
        if running:
            self.hold(client, running)
        self._set |= set(wanted)
        for axis, mode in wanted.items():
            self.modes[axis] = Vocab(mode)

    def set_limits(self, axis: int, lower_deg: float, upper_deg: float) -> None:
        """Narrow an axis' limits (InputError: beyond the robot's own)."""
        lower, upper = (self.axes.degrees(ends)[axis] for ends in self._service.robot.limits)
        if not lower - ROUNDING_DEG <= lower_deg < upper_deg <= upper + ROUNDING_DEG:
            what = f"limits of {lower_deg:g}..{upper_deg:g} degrees"
            raise InputError(what, hint=f"within {lower:g}..{upper:g}")
        self.lower_deg[axis] = lower_deg
        self.upper_deg[axis] = upper_deg

    def set_speeds(self, axes: Sequence[int], speeds_deg_s: Floats) -> None:
        """Set the speeds of moves to a position."""
        if (speeds_deg_s < SLOWEST_DEG_S).any():
            raise InputError("a speed of 0 or less", hint=f"{SLOWEST_DEG_S:g} deg/s or more")
        self.speeds_deg_s[axes] = np.minimum(speeds_deg_s, self.fastest_deg_s[axes])

    def set_accelerations(self, axes: Sequence[int], accelerations_deg_s2: Floats) -> None:
        """Keep accelerations."""
        if (accelerations_deg_s2 < 0.0).any():
            raise InputError("an acceleration below 0", hint="0 or more deg/s^2")
        self.accelerations_deg_s2[axes] = accelerations_deg_s2

    def _within(self, axes: Sequence[int], targets_deg: Floats) -> Floats:
        return np.clip(targets_deg, self.lower_deg[axes], self.upper_deg[axes])

    def _go(
        self, client: str, axes: Sequence[int], targets_deg: Floats, durations_s: Floats, mode: str = ""
    ) -> None:
        columns = tuple(int(self.axes.columns[axis] or 0) for axis in axes)
        start = self.commanded_deg[axes]
        times, degrees = evenly(start, targets_deg, durations_s)
        if why := self._service.command(client, Trajectory(columns, times, degrees * RAD_PER_DEG)):
            raise BodyError(why)
        self._targets_deg[axes] = targets_deg
        self.velocities_deg_s[axes] = 0.0
        for axis in axes if mode else ():
            self.modes[axis] = Vocab(mode)


def evenly(start: Floats, targets: Floats, durations_s: Floats) -> tuple[Floats, Floats]:
    """Return the points at which axes that move evenly, each in its own time, are as one trajectory.

    Args:
        start: where they are now, `(k,)`.
        targets: where they go, `(k,)`.
        durations_s: how long each takes, `(k,)`; 0 for at once.

    Returns:
        The times, rising, `(n,)` [s], and where they are then, `(n, k)`.
    """
    times: Floats = np.unique(durations_s)
    shares = np.ones((len(times), len(start)))
    np.divide(times[:, np.newaxis], durations_s, out=shares, where=durations_s > 0.0)
    return times, start + np.minimum(shares, 1.0) * (targets - start)
