"""A simulated body: one robot of a world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import (
    NOMINAL,
    POSTURE,
    BodyState,
    DomainParameters,
    JointCommands,
    JointStates,
    PlanarPose,
    StartPosture,
    TorquePolicy,
)
from posewright.documents.plain import PlainMapping
from posewright.recordings import sensor_card
from posewright.robots import CodeReader, SensorSpec
from posewright.simulation.mounts import SensorMounting, sensor_mountings
from posewright.simulation.placement import Lean, place
from posewright.simulation.pushes import PushForces
from posewright.simulation.robot_model import robot_links
from posewright.simulation.sensors import SensorSuite, TimedReader
from posewright.simulation.servo_model import CommandDelay, ServoBank, ServoCommands, TickGrid
from posewright.simulation.world import World

if TYPE_CHECKING:
    from posewright.robots import Robot
    from posewright.simulation.film import Picture
    from posewright.simulation.instance import ModelInstance

_STANDING_POSES = ("walk_ready", "stand")
"""Poses of a card that a robot may start in, the preferred one first."""


class SimulatedBody:
    """One robot of a world; implements `bodies.Body` and `bodies.Supervisor`. Its world advances the time.

    Args:
        world: the world; each of its robots needs a body before time can pass.
        name: the robot's name in the world; may be omitted if it is the only one.
        start_pose: initial joint angles, `(n_joints,)` [rad]; None for the card's `walk_ready` or `stand`, or
            all zero if it has neither.
        start: initial place; by default the field's origin, where an arena has its start wall.
        noise: standard deviation of Gaussian noise by sensor channel; none by default.
        seed: the seed of the noise.
        domain: how this body differs from the world's model; None for no difference.
        posture: how it is put down at the start.

    Raises:
        InputError: the world has several robots and `name` is missing, or other plates than the domain.
        UnknownNameError: the world has no such robot, `noise` names an unknown sensor channel, or a push an
            unknown link.
    """

    def __init__(
        self,
        world: World,
        name: str | None = None,
        *,
        start_pose: Floats | None = None,
        start: PlanarPose = (0.0, 0.0, 0.0),
        noise: Mapping[str, float] | None = None,
        seed: int = 0,
        domain: DomainParameters | None = None,
        posture: StartPosture = StartPosture.STANDING,
    ) -> None:
        """Make this the body of the robot in the world, and reset the world."""
        instance = world.instance(name)
        self.world = world
        self.instance = instance
        self.contact_recorder = world.create_contact_recorder(instance.name)
        self._start_place = start
        self._posture = posture
        self._tick_grid = TickGrid(instance.robot)
        if start_pose is None:
            start_pose = _standing_pose(instance.robot)
        self._start_pose = self._tick_grid.round(start_pose)
        self._servo_bank = ServoBank(instance)
        self._sensors = SensorSuite(
            instance, noise=noise, seed=seed, timed_readers=_create_code_readers(world, instance)
        )
        self._is_torque_off = False
        self._last_command: Floats = self._start_pose  # the last one sent, `(n_joints,)` [rad]
        # the last one that the servos got, after the delay
        self._effective_command: Floats = self._start_pose
        world.bodies[instance.name] = self
        self.set_domain(domain or NOMINAL)

    def __repr__(self) -> str:
        return f"<SimulatedBody of {self.instance.name}, {self.time_s:.3f} s>"

    def set_domain(self, domain: DomainParameters) -> None:
        """Change the body's domain parameters and reset the world, which is cheaper than creating another.

        Raises:
            InputError: another robot of this world has a different ground, or the world has other plates.
            UnknownNameError: the robot has no link of a push.
        """
        self.push_forces = PushForces(self.instance, domain.pushes)
        self.world.set_domain(self.instance.name, domain)
        self.domain = domain
        self._servo_bank.scale(domain.stiffness_scale, domain.damping_scale)
        self._delay = CommandDelay(domain.latency_frames, self._start_pose)
        self.world.reset()

    @property
    def robot(self) -> Robot:
        """The robot's card."""
        return self.instance.robot

    @property
    def time_s(self) -> float:
        """Time since the start, a whole number of frames [s]."""
        return self.world.time_s

    @property
    def command(self) -> Floats:
        """The last commanded joint angles, in whole ticks, `(n_joints,)` [rad]."""
        return self._last_command

    @property
    def stiffness(self) -> Floats:
        """Stiffness of this body's servos, `(n_joints,)` [N m/rad]; 0 for a welded joint."""
        return self.instance.addresses.extend_to_all(self._servo_bank.stiffness, 0.0)

    @property
    def damping(self) -> Floats:
        """Damping of this body's servos, `(n_joints,)` [N m s/rad]; 0 for a welded joint."""
        return self.instance.addresses.extend_to_all(self._servo_bank.damping, 0.0)

    def open(self) -> None:
        """Switch the servos' torque on again after `stop`."""
        self._is_torque_off = False

    def stop(self, policy: TorquePolicy) -> None:
        """Hold the last command, or switch the servos' torque off until `open`."""
        self._is_torque_off = policy is TorquePolicy.RELEASE

    def close(self) -> None:
        """Release the graphics contexts of sensors that render images."""
        self._sensors.close()

    def facts(self) -> Mapping[str, Any]:
        """Return mass, gravity, servos, sensors and links of this body as JSON types."""
        instance = self.instance
        mountings = sensor_mountings(instance)
        is_standing = self._posture is StartPosture.STANDING
        return {
            **({} if is_standing else {POSTURE: self._posture.value}),
            "mass_kg": instance.mass_kg,
            "gravity": instance.model.opt.gravity.tolist(),
            "stiffness": self.stiffness.tolist(),
            "damping": self.damping.tolist(),
            "latency_frames": self.domain.latency_frames,
            "domain": self.domain.to_dict(),  # how the body differs from the robot's model
            "welded": list(instance.welded_joints),
            "sensors": {
                sensor.name: _sensor_card(sensor, mountings.get(sensor.name)) for sensor in instance.sensors
            },
            "links": robot_links(instance.robot),
        }

    def observe(self) -> JointStates:
        """Return the current joints, base, soles, boxes and contacts as one row."""
        return self.world.observe(self.instance.name)

    def read(self) -> BodyState:
        """Return the current state with all sensors evaluated; no time passes.

        Joint positions are in whole ticks, as the servos report them.
        """
        data = self.instance.data
        addresses = self.instance.addresses
        return BodyState(
            time_s=self.time_s,
            positions=self._tick_grid.round(self.instance.joint_positions),
            efforts=addresses.extend_to_all(data.actuator_force[addresses.actuators], 0.0),
            velocities=addresses.extend_to_all(data.qvel[addresses.joint_qvel], 0.0),
            sensors=self._sensors.read(),
        )

    def picture(self, camera: str) -> Picture:
        """Return a camera sensor's current image, `(height, width, 3)` uint8; raises as `Film` does."""
        from posewright.simulation.film import camera_picture

        return camera_picture(self.world, camera, self.instance.name)

    def reset(self) -> None:
        """Reset the world; the same commands then give the same states to the last bit."""
        self.world.reset()

    def begin(self) -> None:
        """Put the robot at its start in its start pose, torque on; the world calls this when it resets."""
        self._servo_bank.set_stiffness(None, free=None)
        self._is_torque_off = False
        self.push_forces.reset()
        self._set_command(self._start_pose)
        roll_and_pitch = self._posture.roll_and_pitch
        self._place_on_floor(
            self._start_place, lean=None if roll_and_pitch is None else Lean(*roll_and_pitch)
        )
        self._sensors.reset()

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Put the robot upright on its feet; no time passes.

        The joints take the command that is in effect. Boxes and other robots stay where they are, even where
        the robot then overlaps one.
        """
        self._place_on_floor((x_m, y_m, yaw_rad), lean=None)

    def put_down(self, pose: Floats, lean: Lean | None = None) -> None:
        """Put the robot at its start in a pose, which also becomes its command; no time passes.

        Args:
            pose: joint angles, `(n_joints,)` [rad].
            lean: tilt of the base; None for the one with which the robot rests in this pose. With another one
                the robot may then fall.
        """
        self._set_command(self._tick_grid.round(pose))
        self._place_on_floor(self._start_place, lean)

    def settle(self, pose: Floats, seconds: float, lean: Lean | None = None) -> JointStates:
        """Put the robot down as `put_down` does, simulate it while it holds the pose, and return its states.

        Other robots hold their last commands. The time is rounded to whole frames.

        Raises:
            BodyError: the simulation blew up, or another robot of the world has no body.
        """
        self.put_down(pose, lean)
        return self.world.step(round(seconds / self.robot.frame_period_s))[self.instance.name]

    def _place_on_floor(self, start: PlanarPose, lean: Lean | None) -> None:
        """Place the robot on the floor in its command pose, as at the beginning of a frame."""
        addresses = self.instance.addresses
        self.instance.data.ctrl[addresses.actuators] = addresses.select_moving(self._effective_command)
        place(self.instance, *start, self._effective_command, lean=lean)
        if self.contact_recorder is not None:
            self.contact_recorder.drop_frames()
        self._sensors.begin_frame()

    def _set_command(self, pose: Floats) -> None:
        """Make a pose `(n_joints,)` [rad] the command and the command in effect; drop delayed commands."""
        self._last_command = pose
        self._effective_command = pose
        self._delay.reset(pose)

    def accept(self, commands: JointCommands) -> list[ServoCommands]:
        """Round commands to whole ticks, delay them, and return those that take effect in the coming frames.

        The angle of a free joint is arbitrary; if it is not finite, the joint's last command stays.
        """
        angles = commands.angles  # a row for each frame
        if commands.free is not None:
            angles = np.where(np.isfinite(angles), angles, self._last_command)
        targets = self._tick_grid.round(angles)
        if len(targets):
            self._last_command = targets[-1]
        return self._delay.push(ServoCommands(targets, commands.stiffness, commands.free))

    def put_in_effect(self, commands: ServoCommands) -> None:
        """Set the servos' stiffness and torque for the coming frames."""
        free = np.ones(len(self._last_command), dtype=np.bool_) if self._is_torque_off else commands.free
        self._servo_bank.set_stiffness(commands.stiffness, free)
        if len(commands):
            self._effective_command = commands.targets[-1]

    def begin_frame(self) -> None:
        """Store the state at the beginning of a frame, for sensors that average over it."""
        self._sensors.begin_frame()


def _create_code_readers(world: World, instance: ModelInstance) -> list[TimedReader]:
    """Return the readers of a robot's code reader sensors."""
    sensors = [sensor for sensor in instance.sensors if isinstance(sensor, CodeReader)]
    if not sensors:
        return []
    from posewright.simulation.code_reader import SimulatedCodeReader  # renders, so loaded only where needed

    return [SimulatedCodeReader(world, instance, sensor) for sensor in sensors]


def _standing_pose(robot: Robot) -> Floats:
    """Return the first of the card's standing poses, or all zero, `(n_joints,)` [rad]."""
    name = next((name for name in _STANDING_POSES if name in robot.poses), None)
    return np.zeros(len(robot.joints)) if name is None else robot.pose(name)


def _sensor_card(sensor: SensorSpec, mounting: SensorMounting | None) -> PlainMapping:
    """Return a sensor's specification as plain data, with its link and pose if it has a mounting."""
    if mounting is None:
        return sensor_card(sensor)
    return sensor_card(sensor, link=mounting.link, pose=mounting.pose)
