"""What runs on a RoboNova-1: a RoboBASIC program with what comes to its board."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.arrays import Floats
from posewright.control import Seed, require_known_options
from posewright.errors import InputError
from posewright.motions.motion import STAND
from posewright.robots import Robot, SensorSpec, robot
from posewright.runtimes.robobasic.ad_ports import PortSensor, read_plugs
from posewright.runtimes.robobasic.board import EVENT
from posewright.runtimes.robobasic.controller import RoboBasicController
from posewright.runtimes.robobasic.inputs import ScriptedInput, read_inputs
from posewright.runtimes.robobasic.machine import Program
from posewright.runtimes.robobasic.opening import ROBOT, is_program, open_program, program_names
from posewright.runtimes.robobasic.servos import board_servos

KIND = "robobasic"
"""What RoboBASIC programs are called as a kind of program."""


@dataclass(frozen=True)
class RoboBasicProgram:
    """A `control.Program` of a robot with an MR-C3024, ready to run.

    Attributes:
        program: its steps.
        robot: its servos have the board's numbers as IDs.
        inputs: what comes to the ports, and when.
        plugs: sensors by their AD ports; None for where they usually are, or the program's labels say.
        breakpoints: addresses before which it stops.
        speed_counts_s: counts a second at SPEED 1; None for the board's.
        pose: of the robot's card, in which the robot begins.
        until_s: when its run ends at the latest [s].
    """

    program: Program
    robot: Robot
    inputs: tuple[ScriptedInput, ...] = ()
    plugs: Mapping[int, PortSensor] | None = None
    breakpoints: tuple[int, ...] = ()
    speed_counts_s: float | None = None
    pose: str = STAND
    until_s: float = math.inf

    def __repr__(self) -> str:
        return f"RoboBasicProgram({self.name!r}, {self.robot.name})"

    @property
    def name(self) -> str:
        """Its file, without the ending."""
        return self.program.name

    @property
    def kind(self) -> str:
        """The kind of the program, `robobasic`."""
        return KIND

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """Those of the robot's card: a board has no others."""
        return self.robot.sensors

    @property
    def start_pose(self) -> Floats:
        """In which the robot begins, `(n_joints,)` [rad]."""
        return self.robot.pose(self.pose)

    @property
    def documents(self) -> Mapping[str, str]:
        """The program's text, by its file's name."""
        return {self.program.source.name: self.program.source.text}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is most likely a mistake in it."""
        where = self.program.source.where
        return tuple(f"{where(finding.line)}: {finding.message}" for finding in self.program.warnings)

    @property
    def extras(self) -> Mapping[str, Mapping[str, str]]:
        """Under `robobasic`, which `program` runs."""
        return {EVENT: {"program": self.name}}

    def controller(self, seed: Seed = 0) -> RoboBasicController:
        """Return a controller that runs it; `seed` is of what RND draws.

        Raises:
            InputError: the robot has no such board.
        """
        controller = RoboBasicController(
            self.robot,
            self.program,
            script=self.inputs,
            plugged=self.plugs,
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
    """Return a program ready to run; all that is handed in is checked, and nothing moves.

    Args:
        source: a program that ships, or the path of a RoboBASIC file.
        inputs: what comes to the board, and when: `REMOCON=3@2.0, AD5=20@3`.
        plugs: sensors on other AD ports than usual: `0=tilt`, `5=none`.
        breakpoints: labels or lines before which the program stops.
        speed_counts_s: counts a second at SPEED 1, of a robot that was measured; the board's by default.
        pose: of the robot's card, in which the robot begins.
        on: the robot, or its name.

    Raises:
        UnknownNameError: there is no such program, robot, pose, label or line.
        FormatError: the file is no text, or an input is wrong.
        ProgramError: the program has errors; the first, and the others.
        InputError: the robot has no such board.
    """
    program = open_program(source)
    card = robot(on) if isinstance(on, str) else on
    board_servos(card)  # raises where the robot has no such board
    card.pose(pose)
    return RoboBasicProgram(
        program=program,
        robot=card,
        inputs=read_inputs(inputs),
        plugs=read_plugs(plugs, program.source),
        breakpoints=tuple(program.address_of(place) for place in breakpoints),
        speed_counts_s=speed_counts_s,
        pose=pose,
    )


class RoboBasicKind:
    """How RoboBASIC programs are found and read: a `control.ProgramKind`."""

    name = KIND
    option_names = ("inputs", "plugs", "breakpoints", "speed_counts_s", "pose")
    """What `set_up_basic` takes; several plugs or breakpoints are parted by commas."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the programs that ship; none for another robot than a RoboNova-1."""
        return program_names() if robot is None or robot.name == ROBOT else ()

    def recognises(self, name: str) -> bool:
        """Tell whether a path is that of a RoboBASIC file."""
        return is_program(name)

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> RoboBasicProgram:
        """Return the program of a name or path, for a robot; for a RoboNova-1 where none is given.

        Raises:
            UnknownNameError: there is no such program, pose, label, line or option.
            FormatError: the file is no text, or an input is wrong.
            ProgramError: the program has errors.
            InputError: the robot has no such board, or an option is no number.
        """
        require_known_options(options, self.option_names, self.name)
        speed = options.get("speed_counts_s")
        return set_up_basic(
            name,
            inputs=options.get("inputs", ""),
            plugs=_parts(options.get("plugs", "")),
            breakpoints=_parts(options.get("breakpoints", "")),
            speed_counts_s=None if speed is None else _positive("speed_counts_s", speed),
            pose=options.get("pose", STAND),
            on=ROBOT if robot is None else robot,
        )


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _positive(option: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise InputError(f"{option} is {text!r}", hint="a number above 0")
    return number
