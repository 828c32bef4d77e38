"""A simulated world: robots in an arena in one MuJoCo model, which advances frame by frame."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.bodies import (
    Body,
    DomainParameters,
    JointCommands,
    JointStates,
    Supervisor,
    count_command_frames,
)
from posewright.errors import BodyError, InputError, UnknownNameError
from posewright.simulation.assembly import ModelReduction, PrefixedRobot, compile_world, count_substeps
from posewright.simulation.contacts import ContactRecorder
from posewright.simulation.domain import ModelDomain
from posewright.simulation.frame_buffer import FrameBuffer
from posewright.simulation.instance import Addresses, ModelInstance, find_addresses, slice_if_even
from posewright.simulation.mechanisms import require_biped_of_model
from posewright.simulation.servo_model import ServoCommands

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.bodies import Plate
    from posewright.robots import Robot, SensorSpec
    from posewright.simulation.pushes import PushForces

Pose = tuple[ArrayLike, ArrayLike]
"""Of a robot: its base's pose `(7,)` and its joint angles `(n_joints,)` [rad]."""

_MAX_DISTANCE_M = 1e4
"""A base farther from the field than this has blown up [m]."""

_MUJOCO_WARNINGS: deque[str] = deque(maxlen=16)
"""MuJoCo's last warnings; its handler serves all worlds of a process, so `advance` clears them first."""


class WorldBody(Body, Supervisor, Protocol):
    """The interface between a world and the body of one of its robots."""

    @property
    def contact_recorder(self) -> ContactRecorder | None:
        """The recorder of the robot's contacts; None if they are not recorded."""

    @property
    def push_forces(self) -> PushForces:
        """The pushes of the robot."""

    @property
    def command(self) -> Floats:
        """The last commanded joint angles, `(n_joints,)` [rad]."""

    def begin(self) -> None:
        """Put the robot at its start in its start pose."""

    def accept(self, commands: JointCommands) -> list[ServoCommands]:
        """Take commands, and return those that take effect in as many coming frames."""

    def put_in_effect(self, commands: ServoCommands) -> None:
        """Set the servos' stiffness and torque for the coming frames; the world sets the angles."""

    def begin_frame(self) -> None:
        """Store the state from which sensors that average over a frame measure."""


class World:
    """Robots in an arena: MuJoCo's model and its state; implements `bodies.Plant`.

    ```python
    world = World({"red": bioloid, "blue": bioloid})                 # they see and push each other
    red, blue = SimulatedBody(world, "red"), SimulatedBody(world, "blue", start=(1.0, 0.0, 3.14))
    drive(world, {"red": ..., "blue": ...}, until_s=10.0)
    ```

    Args:
        robots: a card, or several cards by their names in this world.
        arena: the arena with its boxes; None for a bare floor.
        sensors: additional sensors on each robot; they replace sensors of the card with the same name.
        visuals: whether the model has geoms that do not collide. Without them it is faster, with the same
            states to the last bit, but cannot be rendered.
        welded: joints of each robot to weld, with their angles [rad]; they take no time. States still have
            all joints, welded ones with that angle and no load; commands to them are ignored.
        timestep_s: the timestep of the physics, such as a coarser one for a search; None for the models' own
            [s].
        contacts: whether the ground truth has the contacts of each part with other parts, the floor, fixed
            shapes and other robots, and the slips of the feet; takes some time, and changes nothing else.
        touches: whether the ground truth has only which parts touch what, which takes little time.
        plates: plates on the floor, which count as floor; those of the bodies' domain parameters.

    Raises:
        InputError: there is no robot, a card has no model, a model does not fit its card or its block
            `biped:`, a welded angle is outside its joint's limits, the time step does not divide the frame,
            or the robots' frame periods differ.
        UnknownNameError: a robot has no such joint to weld.
    """

    def __init__(
        self,
        robots: Robot | Mapping[str, Robot],
        arena: Arena | None = None,
        *,
        sensors: Sequence[SensorSpec] = (),
        visuals: bool = True,
        welded: Mapping[str, float] | None = None,
        timestep_s: float | None = None,
        contacts: bool = False,
        touches: bool = False,
        plates: Sequence[Plate] = (),
    ) -> None:
        """Compile the model; each robot still needs a body."""
        # without a handler MuJoCo writes warnings to a file in the working folder
        if mujoco.get_mju_user_warning() is None:
            mujoco.set_mju_user_warning(_MUJOCO_WARNINGS.append)
        cards = dict(robots) if isinstance(robots, Mapping) else {robots.name: robots}
        for card in cards.values():
            require_biped_of_model(card)
        self.arena = arena
        self.frame_period_s = _find_frame_period(cards)
        self.visuals = visuals
        self.records_contacts = contacts
        self.records_touches = touches
        self.plates = tuple(plates)
        self._sensors = tuple(sensors)  # besides those of the cards
        self._reduction = ModelReduction(visuals, dict(welded or {}), timestep_s)
        prefixed_robots = {
            name: PrefixedRobot(
                robot, _merge_sensors(robot, sensors), prefix=f"{name}/" if len(cards) > 1 else ""
            )
            for name, robot in cards.items()
        }
        self.model: mujoco.MjModel = compile_world(
            list(prefixed_robots.values()), arena, self._reduction, self.plates
        )
        self.data: mujoco.MjData = mujoco.MjData(self.model)
        self.instances: dict[str, ModelInstance] = {
            name: self._create_instance(name, prefixed_robot, self._reduction.welded)
            for name, prefixed_robot in prefixed_robots.items()
        }
        # physics steps in a frame
        self.n_substeps = count_substeps(next(iter(cards.values())), float(self.model.opt.timestep))
        self.bodies: dict[str, WorldBody] = {}
        self._model_domain = ModelDomain(self.model)
        self._frame_buffer = FrameBuffer(self.data, list(self.instances.values()))
        self._actuators_of_robot = {
            name: slice_if_even(instance.addresses.actuators) for name, instance in self.instances.items()
        }
        self._n_frames = 0

    def _create_instance(
        self, name: str, prefixed_robot: PrefixedRobot, welded: Mapping[str, float]
    ) -> ModelInstance:
        """Return a robot of the compiled model, with its addresses."""
        n_boxes = 0 if self.arena is None else len(self.arena.boxes)
        return ModelInstance(
            name=name,
            robot=prefixed_robot.robot,
            sensors=tuple(prefixed_robot.sensors),
            arena=self.arena,
            plates=self.plates,
            prefix=prefixed_robot.prefix,
            model=self.model,
            data=self.data,
            addresses=find_addresses(
                self.model, prefixed_robot.robot, prefixed_robot.prefix, n_boxes, welded
            ),
        )

    def with_plates(self, plates: Sequence[Plate]) -> World:
        """Return this world if it has these plates; else a new world with them, which has no bodies yet."""
        if tuple(plates) == self.plates:
            return self
        return World(
            {name: instance.robot for name, instance in self.instances.items()},
            self.arena,
            sensors=self._sensors,
            visuals=self._reduction.visuals,
            welded=self._reduction.welded,
            timestep_s=self._reduction.timestep_s,
            contacts=self.records_contacts,
            touches=self.records_touches,
            plates=plates,
        )

    is_real = False
    clock = None
    """A simulation has no clock of its own; the loop that drives it may pace it."""

    def supervisor(self, name: str) -> Supervisor | None:
        """Return the body of a robot, which is also its supervisor."""
        return self.bodies[name]

    def __repr__(self) -> str:
        return f"<World with {', '.join(self.instances)}, {self.time_s:.3f} s>"

    def instance(self, name: str | None = None) -> ModelInstance:
        """Return a robot of the model by its name; the name of the only robot may be omitted.

        Raises:
            UnknownNameError: there is no robot of that name.
            InputError: there are several robots and the name is missing.
        """
        if name is None and len(self.instances) > 1:
            raise InputError(
                "the world has several robots, so name one of them",
                hint=f"choose from {', '.join(self.instances)}",
            )
        name = next(iter(self.instances)) if name is None else name
        if name not in self.instances:
            raise UnknownNameError.among("robot", name, self.instances, owner="in this world")
        return self.instances[name]

    @property
    def robot(self) -> Robot:
        """The card of the only robot."""
        return self.instance().robot

    @property
    def addresses(self) -> Addresses:
        """The only robot's addresses in MuJoCo's arrays."""
        return self.instance().addresses

    @property
    def base(self) -> Floats:
        """Pose of the only robot's base x y z qw qx qy qz, `(7,)` [m, unit quaternion]."""
        return self.instance().base

    @property
    def boxes(self) -> Floats:
        """Pose of each box x y z qw qx qy qz, `(n_boxes, 7)`."""
        addresses = next(iter(self.instances.values())).addresses
        return np.array(self.data.qpos[addresses.box_qpos]).reshape(-1, 7)

    @property
    def time_s(self) -> float:
        """Simulated time since the start, a whole number of frames [s]."""
        return self._n_frames * self.frame_period_s

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Simulate one frame for each row of commands, and return the robots' states after each frame.

        Args:
            commands: the commands by robot; all with the same number of rows.

        Raises:
            BodyError: a robot has no body or no commands, the numbers of rows differ, or the simulation blew
                up.
            UnsafeCommandError: the angle of a joint with torque is not finite.
        """
        n_frames = self._count_rows(commands)
        _MUJOCO_WARNINGS.clear()
        controls = np.empty((n_frames, self.model.nu))
        # the servo commands that take effect from each row on; stiffness, torque and pushes change between
        # rows only
        changes: dict[int, list[tuple[WorldBody, ServoCommands]]] = {0: []}
        for name, instance in self.instances.items():
            body = self.bodies[name]
            row = 0
            for servo_commands in body.accept(commands[name]):
                changes.setdefault(row, []).append((body, servo_commands))
                end_row = row + len(servo_commands)
                moving_targets = instance.addresses.select_moving(servo_commands.targets)
                controls[row:end_row, self._actuators_of_robot[name]] = moving_targets
                row = end_row
            for frame in body.push_forces.find_changes(self._n_frames, self._n_frames + n_frames):
                changes.setdefault(frame - self._n_frames, [])
        self._frame_buffer.allocate_rows(n_frames)
        for begin, end in pairwise([*sorted(changes), n_frames]):
            for body, servo_commands in changes[begin]:
                body.put_in_effect(servo_commands)
            for body in self.bodies.values():
                body.push_forces.apply(self._n_frames + begin)
            self._simulate(controls, begin, end)
        first_frame = self._n_frames + 1
        self._n_frames += n_frames
        self._raise_if_blown_up()
        times: Floats = np.arange(float(first_frame), self._n_frames + 1.0) * self.frame_period_s
        return {
            name: self._frame_buffer.build_states(robot_index, times, self.bodies[name].contact_recorder)
            for robot_index, name in enumerate(self.instances)
        }

    def step(self, n_frames: int = 1) -> Mapping[str, JointStates]:
        """Simulate some frames in which every robot keeps its last command.

        Raises:
            BodyError: a robot has no body, or the simulation blew up.
        """
        return self.advance(
            {name: JointCommands(np.tile(body.command, (n_frames, 1))) for name, body in self.bodies.items()}
        )

    def _count_rows(self, commands: Mapping[str, JointCommands]) -> int:
        """Return the number of rows of all commands.

        Raises:
            BodyError: a robot has no body or no commands, or the numbers of rows differ.
        """
        if self.bodies.keys() != self.instances.keys():
            missing = ", ".join(name for name in self.instances if name not in self.bodies)
            raise BodyError(
                f"these robots of the world have no body: {missing}",
                hint="create a SimulatedBody(world, name) of each robot first",
            )
        return count_command_frames(commands, self.bodies)

    def _simulate(self, controls: Floats, begin: int, end: int) -> None:
        """Simulate the frames of some rows of `controls`, and store their states in the buffer.

        Each frame ends between the two halves of a physics step: positions, contacts and velocities are then
        those of the frame's end, and the next frame's command enters the second half. This is the same
        arithmetic as with whole steps, so the states are equal to the last bit. Contact sensors move nothing,
        so they are evaluated in the frame's last half step only, which saves two per cent of the time.
        """
        # bound methods and arrays as local names, as this loop is the time of every simulation
        model = self.model
        data = self.data
        bodies = self.bodies.values()
        option = model.opt
        with_sensors = option.disableflags
        without_sensors = with_sensors | int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
        n_whole_steps = self.n_substeps - 1
        last_row = len(controls) - 1
        first_half_step = mujoco.mj_step1
        whole_steps = mujoco.mj_step
        second_half_step = mujoco.mj_step2
        ctrl = data.ctrl
        copy_state_into = self._frame_buffer.copy_state_into
        record_contacts = [
            body.contact_recorder.record_frame for body in bodies if body.contact_recorder is not None
        ]
        for row in range(begin, end):
            if row == last_row:  # of the sensors only the readings at the end of the last frame are returned
                for body in bodies:
                    body.begin_frame()
            ctrl[:] = controls[row]
            # the last frame ended with the first half of a step, so this one begins with the second half
            option.disableflags = without_sensors
            second_half_step(model, data)
            if n_whole_steps:
                whole_steps(model, data, n_whole_steps)
            option.disableflags = with_sensors
            first_half_step(model, data)
            copy_state_into(row)
            for record_frame in record_contacts:
                record_frame()
            if _MUJOCO_WARNINGS and self._find_blown_up() is not None:
                return  # the states are rejected anyway, and steps of a state that is no number take long

    def _find_blown_up(self) -> str | None:
        """Return the name of a robot whose base is very far away or not a number; None if there is none."""
        for instance in self.instances.values():
            # a NaN anywhere spreads to the whole base within a step, and fails the comparison too
            base_x = self.data.qpos[instance.addresses.base_qpos.start]
            if not -_MAX_DISTANCE_M < base_x < _MAX_DISTANCE_M:
                return instance.name
        return None

    def _raise_if_blown_up(self) -> None:
        """Raise BodyError if a robot's base is very far away or not a number."""
        name = self._find_blown_up()
        if name is None:
            return
        warning = " ".join(_MUJOCO_WARNINGS[-1].split()) if _MUJOCO_WARNINGS else ""
        raise BodyError(
            f"the simulation blew up before {self.time_s:.3f} s{': ' if warning else ''}{warning}",
            hint=f"check whether {name} is inside another object",
        )

    def create_contact_recorder(self, name: str) -> ContactRecorder | None:
        """Return a new recorder of a robot's contacts; None without `contacts` and `touches`."""
        if not (self.records_contacts or self.records_touches):
            return None
        return ContactRecorder(
            self.instances[name], self.instances.values(), only_touches=not self.records_contacts
        )

    def observe(self, name: str) -> JointStates:
        """Return the current state of a robot as one row; no time passes."""
        self._frame_buffer.allocate_rows(1)
        self._frame_buffer.copy_state_into(0)
        recorder = self.create_contact_recorder(name)
        if recorder is not None:
            recorder.record_frame()
        robot_index = list(self.instances).index(name)
        return self._frame_buffer.build_states(robot_index, np.array([self.time_s]), recorder)

    def reset(self) -> None:
        """Reset bodies and boxes; the same commands then give the same states to the last bit."""
        mujoco.mj_resetData(self.model, self.data)
        self._n_frames = 0
        for body in self.bodies.values():
            body.begin()

    def set_domain(self, name: str, domain: DomainParameters) -> None:
        """Set the domain parameters of one robot in the model; the state does not change.

        Changes that the caller made to the model before the first call count as nominal; later ones are lost.

        Raises:
            InputError: another robot of this world has a different ground, or the world has other plates.
        """
        if domain.plates != self.plates:
            raise InputError(
                f"the world has {len(self.plates)} plates, the body's domain {len(domain.plates)} others",
                hint="World(robot, plates=domain.plates)",
            )
        self._model_domain.set(self.instance(name), domain)

    def require_visuals(self) -> None:
        """Raise InputError unless the world was made with its visuals, without which little is visible."""
        if not self.visuals:
            hint = "make it with visuals=True to render it"
            raise InputError("the world was made without visuals", hint=hint)

    def qpos_of(self, poses: Pose | Mapping[str, Pose], boxes: ArrayLike = ()) -> Floats:
        """Return MuJoCo's position vector for recorded poses.

        Args:
            poses: the poses of the only robot, or of robots by name; the angles of welded joints are ignored.
            boxes: `(n_boxes, 7)`; empty for the boxes' places in the arena.

        Raises:
            UnknownNameError: there is no such robot.
        """
        qpos: Floats = np.array(self.model.qpos0, dtype=np.float64)
        poses_by_name = poses if isinstance(poses, Mapping) else {self.instance().name: poses}
        box_poses = np.asarray(boxes, dtype=np.float64)
        for name, (base, joint_positions) in poses_by_name.items():
            addresses = self.instance(name).addresses
            qpos[addresses.base_qpos] = base
            qpos[addresses.joint_qpos] = addresses.select_moving(
                np.asarray(joint_positions, dtype=np.float64)
            )
            if box_poses.size:
                qpos[addresses.box_qpos] = box_poses.ravel()
        return qpos

    def show(self, poses: Pose | Mapping[str, Pose], boxes: ArrayLike = ()) -> None:
        """Set robots and boxes to poses, at rest and without simulating.

        Args:
            poses: the poses of the only robot, or of robots by name.
            boxes: poses of the boxes, `(n_boxes, 7)`; empty for their places in the arena.
        """
        self.data.qpos[:] = self.qpos_of(poses, boxes)
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)


def _find_frame_period(robots: Mapping[str, Robot]) -> float:
    """Return the frame period that all robots share [s].

    Raises:
        InputError: there is no robot, or their frame periods differ.
    """
    if not robots:
        raise InputError("the world has no robot", hint="World(robot), or World({name: robot, ...})")
    periods = {name: robot.frame_period_s for name, robot in robots.items()}
    if len(set(periods.values())) > 1:
        listing = ", ".join(f"{name} {1000.0 * period:.4g} ms" for name, period in periods.items())
        raise InputError(
            f"the robots have different frame periods: {listing}",
            hint="robots of one world need the same frame period",
        )
    return next(iter(periods.values()))


def _merge_sensors(robot: Robot, additional: Sequence[SensorSpec]) -> tuple[SensorSpec, ...]:
    """Return the card's sensors and the additional ones, which replace those of the same name."""
    return tuple({sensor.name: sensor for sensor in (*robot.sensors, *additional)}.values())
