"""The simulated body: a robot in a world, driven frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import NOMINAL, BodyState, DomainParameters, JointCommands, JointStates, TorquePolicy
from posewright.errors import BodyError, UnsafeCommandError
from posewright.recordings import sensor_card
from posewright.simulation.block_buffer import BlockBuffer
from posewright.simulation.complaints import forget, last_complaint
from posewright.simulation.delay import CommandDelay, Commands
from posewright.simulation.mounting import sensor_poses
from posewright.simulation.placing import Lean, place
from posewright.simulation.sensors import Senses
from posewright.simulation.servo_model import ServoBank, TickGrid
from posewright.simulation.world import World

if TYPE_CHECKING:
    from posewright.robots import Robot

Place = tuple[float, float, float]
"""x [m], y [m], yaw [rad] of the base in the field frame."""

_FAR_M = 1e4
_STANDING = ("walk_ready", "stand")


class SimulatedBody:
    """A robot in a world, which fulfils `bodies.Body` and `bodies.Supervisor`.

    Args:
        world: the robot's own; a body drives it alone.
        start_pose: joint angles it stands in at first, `(n_joints,)` [rad]; None for the card's
            `walk_ready` or `stand`, or all zero where it has neither.
        start: where it stands at first; the field's origin, where an arena has its start wall, unless told.
        noise: standard deviation of Gaussian noise by sensor channel; none by default.
        seed: of the noise.
        variation: how this body differs from the world's model; None for not at all.
    """

    def __init__(
        self,
        world: World,
        *,
        start_pose: Floats | None = None,
        start: Place = (0.0, 0.0, 0.0),
        noise: Mapping[str, float] | None = None,
        seed: int = 0,
        variation: DomainParameters | None = None,
    ) -> None:
        self.world = world
        self._start = start
        self._grid = TickGrid(world.robot)
        self._start_pose = self._grid.rounded(_standing(world.robot) if start_pose is None else start_pose)
        at = world.addresses
        self._joint_of_actuator = at.moving[np.argsort(at.actuators)]
        self._servos = ServoBank(world.model, world.robot, world.addresses)
        self._senses = Senses(world, noise=noise, seed=seed)
        self._buffer = BlockBuffer(world)
        self._n_frames = 0
        self._command: Floats = self._start_pose
        self._effective: Floats = self._start_pose
        self.vary(variation or NOMINAL)
        world.bodies[world.robot.name] = self

    def vary(self, variation: DomainParameters) -> None:
        """Become another body of the same robot, and begin again: cheaper than another world.

        Args:
            variation: how it differs from the world's model, whatever this body was before.
        """
        self.variation = variation
        self.world.vary(variation)
        self._servos.scale(variation.stiffness_scale, variation.damping_scale)
        self._delay = CommandDelay(variation.latency_frames, self._start_pose)
        self.reset()

    @property
    def robot(self) -> Robot:
        """The robot this is a body of."""
        return self.world.robot

    @property
    def time_s(self) -> float:
        """Time since the start, a whole number of frames [s]."""
        return self._n_frames * self.robot.frame_period_s

    @property
    def stiffness(self) -> Floats:
        """The stiffness of this body's servos, `(n_joints,)` [N m/rad]; 0 of a joint that is welded."""
        return self.world.addresses.of_all(self._servos.stiffness, 0.0)

    @property
    def damping(self) -> Floats:
        """What turning costs this body's servos, `(n_joints,)` [N m s/rad]; 0 of a joint that is welded."""
        return self.world.addresses.of_all(self._servos.damping, 0.0)

    def open(self) -> None:
        """Do nothing: a simulated robot is there."""

    def stop(self, policy: TorquePolicy) -> None:
        """Do nothing: no time passes unless somebody lets it."""

    def close(self) -> None:
        """Do nothing."""

    def facts(self) -> Mapping[str, Any]:
        """Return mass, gravity, servos and sensors of this body, as plain data."""
        world, poses = self.world, sensor_poses(self.world)
        return {
            "mass_kg": world.robot_mass_kg,
            "gravity": world.model.opt.gravity.tolist(),
            "stiffness": self.stiffness.tolist(),
            "damping": self.damping.tolist(),
            "latency_frames": self.variation.latency_frames,
            "welded": list(world.held_joints),
            "sensors": {one.name: sensor_card(one, poses.get(one.name)) for one in world.sensors},
        }

    def observe(self) -> JointStates:
        """Return one row: joints, base, soles, boxes and contacts as they are now."""
        self._buffer.begin(1)
        self._buffer.keep(0)
        return self._buffer.track(np.array([self.time_s]))

    def reset(self) -> None:
        """Begin again: the same body, the same start, the same boxes, to the last bit."""
        forget()
        self.world.reset()
        self._servos.restore()
        self._n_frames = 0
        self._command_at_once(self._start_pose)
        self.place_robot(*self._start)
        self._senses.reset()

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Put the robot upright on its feet there; no time passes.

        The joints stand at what is commanded, as far as it has taken effect; the boxes stay where they are,
        even where the robot then overlaps one.

        Raises:
            InputError: a number is not finite.
        """
        self._place((x_m, y_m, yaw_rad), None)

    def _place(self, where: Place, lean: Lean | None) -> None:
        at = self.world.addresses
        self.world.data.ctrl[at.actuators] = at.of_moving(self._effective)
        place(self.world, *where, self._effective, lean=lean)
        self._senses.begin_frame()

    def _command_at_once(self, pose: Floats) -> None:
        """Let a pose `(n_joints,)` [rad] be what is commanded and in effect; nothing else is on its way."""
        self._command = self._effective = pose
        self._delay.begin(pose)

    def put_down(self, pose: Floats, lean: Lean | None = None) -> None:
        """Put the robot down in a pose at its start, which is commanded from now on; no time passes.

        Args:
            pose: joint angles, `(n_joints,)` [rad].
            lean: of the base, where it is held otherwise than it would stand or lie; it may then fall.

        Raises:
            InputError: a number is not finite.
        """
        self._command_at_once(self._grid.rounded(pose))
        self._place(self._start, lean)

    def settle(self, pose: Floats, seconds: float, lean: Lean | None = None) -> JointStates:
        """Put the robot down in a pose, as `put_down` does, and let it come to rest while it holds the pose.

        Args:
            pose: joint angles, `(n_joints,)` [rad].
            seconds: for so long, in whole frames [s].
            lean: of the base.

        Returns:
            What happened in that time; the body's own time has gone on by as much.

        Raises:
            InputError: a number is not finite.
            BodyError: the simulation blew up.
        """
        self.put_down(pose, lean)
        n_frames = round(seconds / self.robot.frame_period_s)
        return self.play(JointCommands(np.tile(self._command, (n_frames, 1))))

    def read(self) -> BodyState:
        """Return the state now, all sensors evaluated; no time passes.

        Joint positions are in whole ticks, as the servos tell them.
        """
        data, at = self.world.data, self.world.addresses
        return BodyState(
            time_s=self.time_s,
            positions=self._grid.rounded(self.world.joint_positions),
            efforts=at.of_all(data.actuator_force[at.actuators], 0.0),
            velocities=at.of_all(data.qvel[at.joint_qvel], 0.0),
            sensors=self._senses.read(),
        )

    def play(self, frames: JointCommands, watch: Callable[[], object] | None = None) -> JointStates:
        """Command one row of `frames` a frame period and return what the robot did: as many rows.

        Args:
            frames: the commands.
            watch: called at the end of every frame; it may look at the world, but must leave it alone.

        Raises:
            BodyError: the frames are another robot's, or the simulation blew up.
            UnsafeCommandError: the angle of a joint that is driven is not finite.
        """
        n = len(frames)
        frames.check(len(self._command))
        commands = Commands(self._targets(frames), frames.stiffness, frames.free)
        self._buffer.begin(n)
        forget()
        row = 0
        for effective in self._delay.pass_on(commands):
            self._servos.set(effective.stiffness, effective.free)
            self._run(effective.targets, range(row, row + len(effective)), n - 1, watch)
            row += len(effective)
        times = np.arange(self._n_frames + 1.0, self._n_frames + n + 1.0) * self.robot.frame_period_s
        self._n_frames += n
        self._refuse_blow_up()
        return self._buffer.track(times)

    def picture(self, camera: str) -> Any:
        """Return what a camera sensor sees now, `(height, width, 3)` uint8.

        Raises:
            UnknownNameError: the robot has no camera of that name.
            UnavailableError: nothing can be drawn on this machine.
        """
        from posewright.simulation.film import camera_picture

        return camera_picture(self.world, camera)

    def _targets(self, frames: JointCommands) -> Floats:
        """Return the commands in whole ticks, `(n, n_joints)`; a free joint's own is kept as it was."""
        angles = frames.angles
        if not np.isfinite(angles).all():
            angles = _with_held(angles, frames.free, self._command)
        targets = self._grid.rounded(angles)
        if len(targets):
            self._command = targets[-1]
        return targets

    def _run(self, targets: Floats, rows: range, last: int, watch: Callable[[], object] | None) -> None:
        """Let as many frames pass as there are targets.

        Each frame ends between the two halves of a physics step: positions, contacts and velocities are
        then those of the frame's very end, and the next frame's command enters the other half. This is
        the same arithmetic as whole steps, so the states are equal to the last bit. Contact sensors move
        nothing, so they are evaluated in that last half alone: two per cent of the time of all steps.
        """
        model, data = self.world.model, self.world.data
        option, with_sensors = model.opt, model.opt.disableflags
        without_sensors = with_sensors | int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
        whole_steps = self.world.n_substeps - 1
        first_half, step, second_half = mujoco.mj_step1, mujoco.mj_step, mujoco.mj_step2
        ctrl, keep = data.ctrl, self._buffer.keep
        commands = targets[:, self._joint_of_actuator]
        for row, command in zip(rows, commands, strict=True):
            if row == last:
                self._senses.begin_frame()
            ctrl[:] = command
            option.disableflags = without_sensors
            second_half(model, data)
            if whole_steps:
                step(model, data, whole_steps)
            option.disableflags = with_sensors
            first_half(model, data)
            keep(row)
            if watch is not None:
                watch()
        if len(targets):
            self._effective = targets[-1]

    def _refuse_blow_up(self) -> None:
        # A state with a NaN spreads to the whole base within a step; a NaN fails the comparison, too.
        if not -_FAR_M < self.world.data.qpos[self.world.addresses.base_qpos.start] < _FAR_M:
            said = last_complaint()
            raise BodyError(
                f"the simulation blew up before {self.time_s:.3f} s{': ' if said else ''}{said}",
                hint="is the robot inside something?",
            )


def _standing(robot: Robot) -> Floats:
    for name in _STANDING:
        if name in robot.poses:
            return robot.pose(name)
    return np.zeros(len(robot.joints))


def _with_held(angles: Floats, free: Flags | None, command: Floats) -> Floats:
    """Return the angles with those of free joints that are not finite replaced by the last command."""
    finite = np.isfinite(angles)
    driven = np.ones(angles.shape[1], dtype=bool) if free is None else ~free
    bad = np.argwhere(~finite & driven)
    if len(bad):
        frame, joint = bad[0]
        raise UnsafeCommandError(
            f"frame {frame}: the command for joint {joint} is {angles[frame, joint]}",
            hint="finite angles in radians",
        )
    held: Floats = np.where(finite, angles, command)
    return held
