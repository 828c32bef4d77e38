"""The simulated body: one robot of a world, which reads, places and drives its own joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import (
    NOMINAL,
    BodyState,
    DomainParameters,
    JointCommands,
    JointStates,
    PlanarPose,
    TorquePolicy,
)
from posewright.recordings import sensor_card
from posewright.robots import CodeReader
from posewright.simulation.mounts import sensor_places
from posewright.simulation.placing import Lean, place
from posewright.simulation.robot_model import robot_links
from posewright.simulation.sensors import Senses, Watching
from posewright.simulation.servo_model import CommandDelay, Commands, ServoBank, TickGrid
from posewright.simulation.world import World

if TYPE_CHECKING:
    from posewright.robots import Robot
    from posewright.simulation.instance import ModelInstance

_STANDING = ("walk_ready", "stand")


class SimulatedBody:
    """One robot of a world, which fulfils `bodies.Body` and `bodies.Supervisor`; the world lets time pass.

    Args:
        world: what it is in; each of its robots needs a body before time can pass.
        name: which robot of the world; the only one where none is given.
        start_pose: joint angles it stands in at first, `(n_joints,)` [rad]; None for the card's
            `walk_ready` or `stand`, or all zero where it has neither.
        start: where it stands at first; the field's origin, where an arena has its start wall, unless told.
        noise: standard deviation of Gaussian noise by sensor channel; none by default.
        seed: of the noise.
        domain: how this body differs from the world's model; None for not at all.

    Raises:
        InputError: the world has several robots, and no name was given.
        UnknownNameError: the world has no robot of that name, or a noisy channel is none.
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
    ) -> None:
        self.world = world
        self.instance = one = world.instance(name)
        self.contacts = world.contact_recorder(one.name)
        self._start = start
        self._grid = TickGrid(one.robot)
        self._start_pose = self._grid.rounded(_standing(one.robot) if start_pose is None else start_pose)
        self._servos = ServoBank(one)
        self._senses = Senses(one, noise=noise, seed=seed, watching=_watching(world, one))
        self._is_released = False
        self._command: Floats = self._start_pose
        self._effective: Floats = self._start_pose
        world.bodies[one.name] = self
        self.set_domain(domain or NOMINAL)

    def __repr__(self) -> str:
        return f"<SimulatedBody of {self.instance.name}, {self.time_s:.3f} s>"

    def set_domain(self, domain: DomainParameters) -> None:
        """Become another body of the same robot, and let the world begin again: cheaper than another world.

        Raises:
            InputError: another robot of this world stands on another ground.
        """
        self.world.set_domain(self.instance.name, domain)
        self.domain = domain
        self._servos.scale(domain.stiffness_scale, domain.damping_scale)
        self._delay = CommandDelay(domain.latency_frames, self._start_pose)
        self.world.reset()

    @property
    def robot(self) -> Robot:
        """The robot this is a body of."""
        return self.instance.robot

    @property
    def time_s(self) -> float:
        """Time since the start, a whole number of frames [s]."""
        return self.world.time_s

    @property
    def command(self) -> Floats:
        """What the joints are commanded, in whole ticks, `(n_joints,)` [rad]."""
        return self._command

    @property
    def stiffness(self) -> Floats:
        """The stiffness of this body's servos, `(n_joints,)` [N m/rad]; 0 of a joint that is welded."""
        return self.instance.addresses.of_all(self._servos.stiffness, 0.0)

    @property
    def damping(self) -> Floats:
        """What turning costs this body's servos, `(n_joints,)` [N m s/rad]; 0 of a joint that is welded."""
        return self.instance.addresses.of_all(self._servos.damping, 0.0)

    def open(self) -> None:
        """Give the servos their torque, where `stop` has taken it."""
        self._is_released = False

    def stop(self, policy: TorquePolicy) -> None:
        """Let the servos hold what they were commanded last, or take their torque until `open`."""
        self._is_released = policy is TorquePolicy.RELEASE

    def close(self) -> None:
        """Give back what sensors that draw pictures hold; a simulated robot has no port."""
        self._senses.close()

    def facts(self) -> Mapping[str, Any]:
        """Return mass, gravity, servos, sensors and links of this body, as plain data."""
        one, places = self.instance, sensor_places(self.instance)
        return {
            "mass_kg": one.mass_kg,
            "gravity": one.model.opt.gravity.tolist(),
            "stiffness": self.stiffness.tolist(),
            "damping": self.damping.tolist(),
            "latency_frames": self.domain.latency_frames,
            "domain": asdict(self.domain),
            "welded": list(one.welded_joints),
            "sensors": {
                sensor.name: sensor_card(sensor, *places.get(sensor.name, ())) for sensor in one.sensors
            },
            "links": robot_links(one.robot),
        }

    def observe(self) -> JointStates:
        """Return one row: joints, base, soles, boxes and contacts as they are now."""
        return self.world.observe(self.instance.name)

    def read(self) -> BodyState:
        """Return the state now, all sensors evaluated; no time passes.

        Joint positions are in whole ticks, as the servos tell them.
        """
        data, at = self.instance.data, self.instance.addresses
        return BodyState(
            time_s=self.time_s,
            positions=self._grid.rounded(self.instance.joint_positions),
            efforts=at.of_all(data.actuator_force[at.actuators], 0.0),
            velocities=at.of_all(data.qvel[at.joint_qvel], 0.0),
            sensors=self._senses.read(),
        )

    def picture(self, camera: str) -> Any:
        """Return what a camera sensor sees now, `(height, width, 3)` uint8; raises as `Film` does."""
        from posewright.simulation.film import camera_picture

        return camera_picture(self.world, camera, self.instance.name)

    def reset(self) -> None:
        """Let the world begin again, to the last bit."""
        self.world.reset()

    def begin(self) -> None:
        """Stand at the start, in the very first pose, torque on; the world does this when it begins."""
        self._servos.set(None, None)
        self._is_released = False
        self._command_at_once(self._start_pose)
        self._place(self._start, None)
        self._senses.reset()

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Put the robot upright on its feet there; no time passes.

        The joints stand at what is commanded, as far as it has taken effect; boxes and other robots stay
        where they are, even where the robot then overlaps one.
        """
        self._place((x_m, y_m, yaw_rad), None)

    def put_down(self, pose: Floats, lean: Lean | None = None) -> None:
        """Put the robot down in a pose `(n_joints,)` [rad] at its start, which is commanded from now on.

        No time passes. Where its base is held otherwise than it would stand or lie, it may then fall.
        """
        self._command_at_once(self._grid.rounded(pose))
        self._place(self._start, lean)

    def settle(self, pose: Floats, seconds: float, lean: Lean | None = None) -> JointStates:
        """Put the robot down in a pose, as `put_down` does, and let it come to rest while it holds the pose.

        Other robots hold still for those whole frames; what happened in them is returned.

        Raises:
            BodyError: the simulation blew up, or another robot of the world has no body.
        """
        self.put_down(pose, lean)
        return self.world.step(round(seconds / self.robot.frame_period_s))[self.instance.name]

    def _place(self, where: PlanarPose, lean: Lean | None) -> None:
        at = self.instance.addresses
        self.instance.data.ctrl[at.actuators] = at.of_moving(self._effective)
        place(self.instance, *where, self._effective, lean=lean)
        if self.contacts is not None:
            self.contacts.forget()
        self._senses.begin_frame()

    def _command_at_once(self, pose: Floats) -> None:
        """Let a pose `(n_joints,)` [rad] be what is commanded and in effect; nothing else is on its way."""
        self._command = self._effective = pose
        self._delay.begin(pose)

    def accept(self, commands: JointCommands) -> list[Commands]:
        """Return what takes effect in the frames that come, in whole ticks; the world asks.

        The angle of a free joint may be anything; where it is not finite the joint's last command stands.
        """
        angles = commands.angles
        if commands.free is not None:
            angles = np.where(np.isfinite(angles), angles, self._command)
        targets = self._grid.rounded(angles)
        if len(targets):
            self._command = targets[-1]
        return self._delay.pass_on(Commands(targets, commands.stiffness, commands.free))

    def put_in_effect(self, commands: Commands) -> None:
        """Set the servos' stiffness and torque for the frames that come; the world asks."""
        free = np.ones(len(self._command), dtype=np.bool_) if self._is_released else commands.free
        self._servos.set(commands.stiffness, free)
        if len(commands):
            self._effective = commands.targets[-1]

    def begin_frame(self) -> None:
        """Let sensors that measure over a frame note its beginning; the world asks."""
        self._senses.begin_frame()


def _watching(world: World, one: ModelInstance) -> list[Watching]:
    """Return what evaluates the sensors of a robot that draw pictures."""
    readers = [sensor for sensor in one.sensors if isinstance(sensor, CodeReader)]
    if not readers:
        return []
    from posewright.simulation.code_reading import CodeReading  # what draws is loaded where it is needed

    return [CodeReading(world, one, sensor) for sensor in readers]


def _standing(robot: Robot) -> Floats:
    named = next((name for name in _STANDING if name in robot.poses), None)
    return np.zeros(len(robot.joints)) if named is None else robot.pose(named)
