"""RoboBASIC programs as programs of a robot: `control.Program` and `control.ProgramKind`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.arrays import Floats
from posewright.control import Seed, require_known_options
from posewright.errors import InputError
from posewright.motions.motion import STAND
from posewright.robots import Robot, SensorSpec
from posewright.robots import robot as find_robot
from posewright.runtimes.robobasic.ad_ports import AdPortSensor, assign_ports
from posewright.runtimes.robobasic.board import EVENT
from posewright.runtimes.robobasic.controller import RoboBasicController
from posewright.runtimes.robobasic.inputs import ScriptedInput, read_inputs
from posewright.runtimes.robobasic.load import ROBOT, is_program, open_program, program_names
from posewright.runtimes.robobasic.machine import CompiledProgram
from posewright.runtimes.robobasic.servos import board_joints

KIND = "robobasic"
"""The name of this kind of program."""


@dataclass(frozen=True)
class RoboBasicProgram:
    """A `control.Program` for a robot with an MR-C3024.

    Attributes:
        program: the compiled program.
        robot: its servos have the board's numbers as IDs.
        inputs: inputs of the ports over time.
        ad_sensors: sensors by their AD ports; None for the usual ones, changed by what the program's names
            indicate.
        breakpoints: addresses before which the program stops.
        speed_counts_s: counts a second at SPEED 1; None for the board's.
        pose: name of the robot's pose at the start.
        until_s: when the run ends at the latest [s].
    """

    program: CompiledProgram
    robot: Robot
    inputs: tuple[ScriptedInput, ...] = ()
    ad_sensors: Mapping[int, AdPortSensor] | None = None
    breakpoints: tuple[int, ...] = ()
    speed_counts_s: float | None = None
    pose: str = STAND
    until_s: float = math.inf

    def __repr__(self) -> str:
        return f"RoboBasicProgram({self.name!r}, {self.robot.name})"

    @property
    def name(self) -> str:
        """The name of its file, without the suffix."""
        return self.program.name

    @property
    def kind(self) -> str:
        """The kind of the program, `robobasic`."""
        return KIND

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors of the robot; the program adds none."""
        return self.robot.sensors

    @property
    def start_pose(self) -> Floats:
        """The joint angles at the start, `(n_joints,)` [rad]."""
        return self.robot.pose(self.pose)

    @property
    def documents(self) -> Mapping[str, str]:
        """The text of the program, by the name of its file."""
        return {self.program.source.name: self.program.source.text}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The compiler's warnings, each with its location."""
        where = self.program.source.where
        return tuple(f"{where(finding.line)}: {finding.message}" for finding in self.program.warnings)

    @property
    def extras(self) -> Mapping[str, Mapping[str, str]]:
        """The entry of a recording's header: the name of the program under `robobasic`."""
        return {EVENT: {"program": self.name}}

    def controller(self, seed: Seed = 0) -> RoboBasicController:
        """Return a new controller that runs the program; `seed` is that of RND.

        Raises:
            InputError: the robot is not driven by such a board.
        """
        controller = RoboBasicController(
            self.robot,
            self.program,
            script=self.inputs,
            ad_sensors=self.ad_sensors,
            breakpoints=self.breakpoints,
            speed_counts_s=self.speed_counts_s,
            seed=seed,
        )
        controller.ends_at(self.until_s)
        return controller


def set_up_basic(
    source: str | Path,
    *,
    inputs: str = "",
    plugs: Sequence[str] = (),
    breakpoints: Sequence[str] = (),
    speed_counts_s: float | None = None,
    pose: str = STAND,
    on: str | Robot = ROBOT,
) -> RoboBasicProgram:
    """Check a program and its options, and return it ready to run.

    Args:
        source: a program that ships with the package, or the path of a RoboBASIC file.
        inputs: inputs of the board over time: `REMOCON=3@2.0, AD5=20@3`.
        plugs: sensors on other AD ports than usual: `0=tilt`, `5=none`.
        breakpoints: labels or lines before which the program stops.
        speed_counts_s: counts a second at SPEED 1, of a robot that was measured; the board's by default.
        pose: name of the robot's pose at the start.
        on: the robot, or its name.

    Raises:
        UnknownNameError: there is no such program, robot, pose, label or line.
        FormatError: the file is not text, or an input or a plug is wrong.
        BasicProgramError: the program has errors; the first, with all others.
        InputError: the robot is not driven by such a board.
    """
    program = open_program(source)
    robot = find_robot(on) if isinstance(on, str) else on
    board_joints(robot)  # raises if the robot has no such board
    robot.pose(pose)  # raises if there is no such pose
    return RoboBasicProgram(
        program=program,
        robot=robot,
        inputs=read_inputs(inputs),
        ad_sensors=assign_ports(plugs, program.source),
        breakpoints=tuple(program.address_of(location) for location in breakpoints),
        speed_counts_s=speed_counts_s,
        pose=pose,
    )


class RoboBasicKind:
    """Finds and reads RoboBASIC programs: a `control.ProgramKind`."""

    name = KIND
    option_names = ("inputs", "plugs", "breakpoints", "speed_counts_s", "pose")
    """Arguments of `set_up_basic`; several plugs or breakpoints are separated by commas."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the programs that ship with the package; none for another robot."""
        return program_names() if robot is None or robot.name == ROBOT else ()

    def recognises(self, name: str) -> bool:
        """Whether a path has the suffix of a RoboBASIC file."""
        return is_program(name)

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> RoboBasicProgram:
        """Return the program of a name or path, for a robot or else for a RoboNova-1.

        Raises:
            UnknownNameError: there is no such program, pose, label, line or option.
            FormatError: the file is not text, or an input or a plug is wrong.
            BasicProgramError: the program has errors.
            InputError: the robot is not driven by such a board, or an option is not a number.
        """
        require_known_options(options, self.option_names, self.name)
        speed = options.get("speed_counts_s")
        return set_up_basic(
            name,
            inputs=options.get("inputs", ""),
            plugs=_split_list(options.get("plugs", "")),
            breakpoints=_split_list(options.get("breakpoints", "")),
            speed_counts_s=None if speed is None else _read_positive("speed_counts_s", speed),
            pose=options.get("pose", STAND),
            on=ROBOT if robot is None else robot,
        )


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _read_positive(option: str, text: str) -> float:
    """Return the number of an option, which must be above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise InputError(f"{option} is {text!r}", hint="expected a number above 0")
    return number
