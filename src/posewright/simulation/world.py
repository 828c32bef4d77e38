"""A world: robots in an arena, compiled into one MuJoCo model with its state, through which time passes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

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
from posewright.simulation.assembly import Economy, Part, compile_world, substeps
from posewright.simulation.contacts import ContactRecorder
from posewright.simulation.domain import ModelDomain
from posewright.simulation.frames import FrameBuffer
from posewright.simulation.instance import Addresses, ModelInstance, evenly, find_addresses
from posewright.simulation.servo_model import Commands

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import Robot, SensorSpec

Pose = tuple[ArrayLike, ArrayLike]
"""Of a robot: its base `(7,)` and its joints `(n_joints,)` [rad]."""

_FAR_M = 1e4

_COMPLAINTS: deque[str] = deque(maxlen=16)
"""MuJoCo has one handler for all worlds of a process, so whoever steps one clears this first."""


class Port(Body, Supervisor, Protocol):
    """What a world asks of the body of one of its robots, besides what everybody may."""

    @property
    def contacts(self) -> ContactRecorder | None:
        """Notes what touches what at the end of each frame, where anybody wants to know."""

    @property
    def command(self) -> Floats:
        """What the joints are commanded, `(n_joints,)` [rad]."""

    def begin(self) -> None:
        """Stand at the start, in the very first pose."""

    def accept(self, commands: JointCommands) -> list[Commands]:
        """Return what takes effect in the frames that come, as many as are commanded."""

    def put_in_effect(self, commands: Commands) -> None:
        """Give the servos what is asked for in the frames that come, but for the angles."""

    def begin_frame(self) -> None:
        """Let sensors that measure over a frame note its beginning."""


class World:
    """Robots in an arena: the model, its state, and the `bodies.Plant` in which they are driven.

    ```python
    world = World({"red": bioloid, "blue": bioloid})                 # several see and push each other
    red, blue = SimulatedBody(world, "red"), SimulatedBody(world, "blue", start=(1.0, 0.0, 3.14))
    drive(world, {"red": ..., "blue": ...}, until_s=10.0)
    ```

    Args:
        robots: a card, or several by the names they have here; their model files are loaded.
        arena: with its boxes; None for a bare floor.
        sensors: further ones besides the cards', on each robot; one of the same name takes its place.
        visuals: whether things that touch nothing are there; without them it runs faster, with the same
            states to the last bit, but cannot be drawn.
        welded: joints that are welded, on each robot, and at which angle [rad]: they cost nothing. States
            still have all joints, these with that angle and without load; commands to them are ignored.
        timestep_s: of the physics, such as a coarser one for a search; None for the models' own [s].
        contacts: whether the truth says which parts touch each other, the floor, what stands fast on it and
            other robots, and how far feet slide; it costs some time, and changes nothing else.
        touches: whether it says of contacts only which parts touch what, which costs little.

    Raises:
        InputError: there is no robot, a card has no model, a model does not fit its card, an angle is
            outside its joint's limits, the time step does not divide the frame, or robots differ in their
            frames.
        UnknownNameError: a robot has no joint of that name.
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
    ) -> None:
        if mujoco.get_mju_user_warning() is None:  # else written to a file in the working folder
            mujoco.set_mju_user_warning(_COMPLAINTS.append)
        named = dict(robots) if isinstance(robots, Mapping) else {robots.name: robots}
        self.arena = arena
        self.frame_period_s = _frame_period(named)
        self.visuals = visuals
        self.contacts, self.touches = contacts, touches
        economy = Economy(visuals, dict(welded or {}), timestep_s)
        parts = {
            name: Part(robot, _sensors(robot, sensors), f"{name}/" if len(named) > 1 else "")
            for name, robot in named.items()
        }
        self.model: Any = compile_world(list(parts.values()), arena, economy)
        self.data: Any = mujoco.MjData(self.model)
        self.instances: dict[str, ModelInstance] = {
            name: self._instance(name, part, economy.welded) for name, part in parts.items()
        }
        self.n_substeps = substeps(next(iter(named.values())), float(self.model.opt.timestep))
        self.bodies: dict[str, Port] = {}
        self._domain = ModelDomain(self.model)
        self._buffer = FrameBuffer(self.data, list(self.instances.values()))
        self._drives = {name: evenly(one.addresses.actuators) for name, one in self.instances.items()}
        self._n_frames = 0

    def _instance(self, name: str, part: Part, welded: Mapping[str, float]) -> ModelInstance:
        n_boxes = 0 if self.arena is None else len(self.arena.boxes)
        addresses = find_addresses(self.model, part.robot, part.prefix, n_boxes, welded)
        return ModelInstance(
            name, part.robot, tuple(part.sensors), self.arena, part.prefix, self.model, self.data, addresses
        )

    is_real = False
    clock = None
    """A simulation takes no time of its own: who drives it may pace it."""

    def supervisor(self, name: str) -> Supervisor | None:
        """Return the body of that name, which can be put anywhere."""
        return self.bodies[name]

    def __repr__(self) -> str:
        return f"<World with {', '.join(self.instances)}, {self.time_s:.3f} s>"

    def instance(self, name: str | None = None) -> ModelInstance:
        """Return what is known of a robot in the model; without a name, of the only one.

        Raises:
            UnknownNameError: there is none of that name.
            InputError: there are several, and no name was given.
        """
        if name is None and len(self.instances) > 1:
            raise InputError("which robot of the world?", hint=f"one of {', '.join(self.instances)}")
        name = next(iter(self.instances)) if name is None else name
        if name not in self.instances:
            raise UnknownNameError.among("robot of the world", name, self.instances)
        return self.instances[name]

    @property
    def robot(self) -> Robot:
        """The card of the only robot."""
        return self.instance().robot

    @property
    def addresses(self) -> Addresses:
        """Where the only robot's things stand in MuJoCo's arrays."""
        return self.instance().addresses

    @property
    def base(self) -> Floats:
        """Pose of the only robot's base x y z qw qx qy qz, `(7,)` [m, unit quaternion]."""
        return self.instance().base

    @property
    def boxes(self) -> Floats:
        """Pose of each box x y z qw qx qy qz, `(n_boxes, 7)`."""
        at = next(iter(self.instances.values())).addresses
        return np.array(self.data.qpos[at.box_qpos]).reshape(-1, 7)

    @property
    def time_s(self) -> float:
        """Time since the start, a whole number of frames [s]."""
        return self._n_frames * self.frame_period_s

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Let as many frames pass as there are rows, one command a frame, and return what the joints did.

        Args:
            commands: for every robot, all with the same number of rows.

        Raises:
            BodyError: a robot has no body or no commands, the commands do not fit, or the simulation blew up.
            UnsafeCommandError: the angle of a joint that is driven is not finite.
        """
        n = self._n_rows(commands)
        _COMPLAINTS.clear()
        controls = np.empty((n, self.model.nu))
        changes: dict[int, list[tuple[Port, Commands]]] = {0: []}
        for name, one in self.instances.items():
            row, port = 0, self.bodies[name]
            for part in port.accept(commands[name]):
                changes.setdefault(row, []).append((port, part))
                controls[row : row + len(part), self._drives[name]] = one.addresses.of_moving(part.targets)
                row += len(part)
        self._buffer.begin(n)
        for begin, end in pairwise([*sorted(changes), n]):
            for port, part in changes[begin]:
                port.put_in_effect(part)
            self._run(controls, begin, end)
        self._n_frames += n
        self._refuse_blow_up()
        return self._told(self._n_frames - n)

    def step(self, n_frames: int = 1) -> Mapping[str, JointStates]:
        """Let some frames pass in which every robot holds what it was commanded last.

        Raises:
            BodyError: a robot has no body, or the simulation blew up.
        """
        held = {name: np.tile(port.command, (n_frames, 1)) for name, port in self.bodies.items()}
        return self.advance({name: JointCommands(rows) for name, rows in held.items()})

    def _n_rows(self, commands: Mapping[str, JointCommands]) -> int:
        """Return for how many frames there are commands."""
        if self.bodies.keys() != self.instances.keys():
            missing = ", ".join(name for name in self.instances if name not in self.bodies)
            hint = "make a SimulatedBody(world, name) of each robot first"
            raise BodyError(f"nobody drives {missing}", hint=hint)
        return count_command_frames(commands, self.bodies)

    def _run(self, controls: Floats, begin: int, end: int) -> None:
        """Let the frames pass whose rows these are.

        Each frame ends between the two halves of a physics step: positions, contacts and velocities are
        then those of the frame's very end, and the next frame's command enters the other half. This is
        the same arithmetic as whole steps, so the states are equal to the last bit. Contact sensors move
        nothing, so they are evaluated in that last half alone: two per cent of the time of all steps.
        """
        model, data, ports = self.model, self.data, self.bodies.values()
        option, with_sensors = model.opt, model.opt.disableflags
        without_sensors = with_sensors | int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
        whole_steps, last = self.n_substeps - 1, len(controls) - 1
        first_half, step, second_half = mujoco.mj_step1, mujoco.mj_step, mujoco.mj_step2
        ctrl, keep = data.ctrl, self._buffer.keep
        notes = [port.contacts.note for port in ports if port.contacts is not None]
        for row in range(begin, end):
            if row == last:
                for port in ports:
                    port.begin_frame()
            ctrl[:] = controls[row]
            option.disableflags = without_sensors
            second_half(model, data)
            if whole_steps:
                step(model, data, whole_steps)
            option.disableflags = with_sensors
            first_half(model, data)
            keep(row)
            for note in notes:
                note()

    def _refuse_blow_up(self) -> None:
        # A state with a NaN spreads to the whole base within a step; a NaN fails the comparison, too.
        for one in self.instances.values():
            if not -_FAR_M < self.data.qpos[one.addresses.base_qpos.start] < _FAR_M:
                said = " ".join(_COMPLAINTS[-1].split()) if _COMPLAINTS else ""
                raise BodyError(
                    f"the simulation blew up before {self.time_s:.3f} s{': ' if said else ''}{said}",
                    hint=f"is {one.name} inside something?",
                )

    def _told(self, n_before: int) -> dict[str, JointStates]:
        """Return what was kept, by robot; so many frames had passed before."""
        times: Floats = np.arange(n_before + 1.0, self._n_frames + 1.0) * self.frame_period_s
        return {
            name: self._buffer.states(number, times, self.bodies[name].contacts)
            for number, name in enumerate(self.instances)
        }

    def contact_recorder(self, name: str) -> ContactRecorder | None:
        """Return what notes a robot's contacts; None where nobody wants to know."""
        if not (self.contacts or self.touches):
            return None
        others = self.instances.values()
        return ContactRecorder(self.instances[name], others, only_touches=not self.contacts)

    def observe(self, name: str) -> JointStates:
        """Return one row of a robot as it is now; no time passes."""
        self._buffer.begin(1)
        self._buffer.keep(0)
        recorder = self.contact_recorder(name)
        if recorder is not None:
            recorder.note()
        number = list(self.instances).index(name)
        return self._buffer.states(number, np.array([self.time_s]), recorder)

    def reset(self) -> None:
        """Begin again, to the last bit: the same bodies at the same starts, the same boxes."""
        mujoco.mj_resetData(self.model, self.data)
        self._n_frames = 0
        for port in self.bodies.values():
            port.begin()

    def set_domain(self, name: str, domain: DomainParameters) -> None:
        """Give the model the masses, rotors and ground of one body; the state is left alone.

        What was changed in the model by hand before the first time belongs to the nominal body; later changes
        are lost.

        Raises:
            InputError: another robot of this world stands on another ground.
        """
        self._domain.set(self.instance(name), domain)

    def refuse_bare(self) -> None:
        """Refuse, as an `InputError`, to draw a world without its visuals: hardly anything would be seen."""
        if not self.visuals:
            raise InputError("this world cannot be drawn", hint="make it with visuals=True")

    def qpos_of(self, poses: Pose | Mapping[str, Pose], boxes: ArrayLike = ()) -> Floats:
        """Return MuJoCo's position vector for poses as a recording has them.

        Args:
            poses: of the only robot, or of robots by name; welded joints are ignored.
            boxes: `(n_boxes, 7)`; empty to leave the boxes where the arena has them.

        Raises:
            UnknownNameError: there is no such robot.
        """
        qpos: Floats = np.array(self.model.qpos0, dtype=np.float64)
        named = poses if isinstance(poses, Mapping) else {self.instance().name: poses}
        for name, (base, joint_positions) in named.items():
            at = self.instance(name).addresses
            qpos[at.base_qpos] = base
            qpos[at.joint_qpos] = at.of_moving(np.asarray(joint_positions))
            places = np.asarray(boxes, dtype=np.float64)
            if places.size:
                qpos[at.box_qpos] = places.ravel()
        return qpos

    def show(self, poses: Pose | Mapping[str, Pose], boxes: ArrayLike = ()) -> None:
        """Set robots and boxes to poses as `qpos_of` takes them, at rest and without physics."""
        self.data.qpos[:] = self.qpos_of(poses, boxes)
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)


def _frame_period(robots: Mapping[str, Robot]) -> float:
    """Return the one frame period of all robots [s]."""
    if not robots:
        raise InputError("a world without a robot", hint="World(robot), or World({name: robot, ...})")
    periods = {name: robot.frame_period_s for name, robot in robots.items()}
    if len(set(periods.values())) > 1:
        told = ", ".join(f"{name} {1000.0 * period:.4g} ms" for name, period in periods.items())
        together = "robots of one world take their commands together"
        raise InputError(f"these robots do not share a frame: {told}", hint=together)
    return next(iter(periods.values()))


def _sensors(robot: Robot, further: Sequence[SensorSpec]) -> tuple[SensorSpec, ...]:
    return tuple({sensor.name: sensor for sensor in (*robot.sensors, *further)}.values())
