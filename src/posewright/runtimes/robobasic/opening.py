"""Programs found: those that ship, by name, and files; and a program in the role of a behaviour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.arrays import Floats
from posewright.documents import Catalogue, is_file, read_bounded
from posewright.robots import Robot, SensorSpec
from posewright.robots import robot as robot_named
from posewright.runtimes.robobasic.compiling import ready_program
from posewright.runtimes.robobasic.controller import RoboBasicController
from posewright.runtimes.robobasic.inputs import ScriptedInput
from posewright.runtimes.robobasic.machine import Program
from posewright.runtimes.robobasic.syntax import MOST_BYTES, read_source
from posewright.runtimes.robobasic.tree import Source

ROBOT = "hitec_robonova1"
ENDING = ".bas"
_PROGRAMS = Catalogue("program", ENDING, lambda: (Path(__file__).parent / "programs",))


def program_names() -> tuple[str, ...]:
    """Return the names of the programs that ship."""
    return _PROGRAMS.names()


def open_source(called: str | Path) -> Source:
    """Read a program that ships, or a file.

    Raises:
        UnknownNameError: there is no such program.
        FormatError: the file cannot be read, or is no text.
    """
    name = str(called)
    bare = name.removesuffix(ENDING)
    path = _PROGRAMS.find(bare if bare in program_names() and not is_file(Path(name)) else called)
    return read_source(read_bounded(path, MOST_BYTES), path.name, path)


def open_program(called: str | Path) -> Program:
    """Return a program ready to run.

    Raises:
        UnknownNameError: there is no such program.
        FormatError: the file cannot be read, or is no text.
        ProgramError: the program has errors.
    """
    return ready_program(open_source(called))


@dataclass(frozen=True)
class ProgramBehaviour:
    """A program in the role of a behaviour: what a trial needs to put its robot on a field.

    Attributes:
        sensors: those of the robot's card: a board has no others.
        start_pose: where the robot begins, `(n_joints,)` [rad].
        documents: the program's text, by its file's name.
        warnings: what is odd about the program.
    """

    name: str
    robot: Robot
    program: Program
    sensors: tuple[SensorSpec, ...]
    start_pose: Floats
    documents: Mapping[str, str]
    warnings: tuple[str, ...]

    def controller(self, script: Sequence[ScriptedInput] = (), *, seed: int = 0) -> RoboBasicController:
        """Return what runs it."""
        return RoboBasicController(self.robot, self.program, script=script, seed=seed)


def program_behaviour(called: str | Path, robot: Robot | None = None) -> ProgramBehaviour:
    """Return a program as a behaviour of a robot, a RoboNova-1 unless another is given.

    Raises:
        InputError: as `open_program`; or the robot is not driven by such a board.
    """
    source = open_source(called)
    program = ready_program(source)
    card = robot_named(ROBOT) if robot is None else robot
    odd = tuple(f"{source.where(one.line)}: {one.message}" for one in program.warnings)
    told = ProgramBehaviour(
        program.name, card, program, card.sensors, card.pose("stand"), {source.name: source.text}, odd
    )
    told.controller()  # refuses a robot that has no such board
    return told


def is_program(called: str | Path) -> bool:
    """Whether a name is that of a RoboBASIC file."""
    return str(called).lower().endswith(ENDING)
