"""Programs of OPEN-R objects: their connections, and how each object is created."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from posewright.arrays import Floats
from posewright.control import Seed
from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.robots import Robot, SensorSpec
from posewright.runtimes.openr.commander import COMMANDER, CommandPrompt, CommandSender
from posewright.runtimes.openr.connections import ConnectConfig, read_connect
from posewright.runtimes.openr.controller import EVENT, OpenRController
from posewright.runtimes.openr.ekmotion import EKMotion, open_moves
from posewright.runtimes.openr.monet.monet import MoNet
from posewright.runtimes.openr.monet.motion_agents import MotionAgents
from posewright.runtimes.openr.monet.sound_agent import SoundAgent
from posewright.runtimes.openr.move_head import MoveHead
from posewright.runtimes.openr.move_legs import MoveLegs
from posewright.runtimes.openr.script import ScriptedCommand, read_script
from posewright.runtimes.openr.services import OObject
from posewright.runtimes.openr.stick import MonetSetup

KIND = "openr"
"""Name of this kind of program."""

VIRTUAL_ROBOT = "OVirtualRobotComm"
CONNECT = "CONNECT.CFG"
FOLDER = Path(__file__).parent / "connect"


@dataclass(frozen=True, slots=True, eq=False)
class OpenRProgram:
    """A `control.Program` of OPEN-R objects; all its files have been read.

    Attributes:
        source: name of a shipped program, or path of a CONNECT.CFG.
        config: its connections.
        robot: the robot whose joints the objects move.
        pose: start pose on the robot's card.
        script: commands that Commander sends.
        prompt: reads further commands for Commander from the user.
        poses: an EKMoves.h for EKMotion; ours by default.
        sequences: table of EKMotion's moves; ours by default.
        monet: MONET files that MoNet and its agents play.
        exact: motions reach each keyframe to the micro-radian, instead of being played as by Sony's player.
        user_objects: classes of the user, or other callables that create an object, by the name in
            CONNECT.CFG.
        documents: texts of its files, by name.
        files: its files, and other files for programs on their memory stick, which must not be overwritten.
        until_s: longest duration of a run [s].
        warnings: messages for the user before the run.
    """

    source: str
    config: ConnectConfig
    robot: Robot
    pose: str = "stand"
    script: tuple[ScriptedCommand, ...] = ()
    prompt: CommandPrompt | None = None
    poses: Path | None = None
    sequences: Path | None = None
    monet: MonetSetup | None = None
    exact: bool = False
    user_objects: Mapping[str, Callable[[], OObject]] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    until_s: float = math.inf
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<OpenRProgram {self.source} on {self.robot.name}: {', '.join(self.config.objects)}>"

    @property
    def name(self) -> str:
        """Name of the shipped program, or of the CONNECT.CFG."""
        return Path(self.source).name

    @property
    def kind(self) -> str:
        """The kind of the program, `openr`."""
        return KIND

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors on the robot's card: OPEN-R has no others."""
        return self.robot.sensors

    @property
    def start_pose(self) -> Floats:
        """Angles of the start pose, `(n_joints,)` [rad]."""
        return self.robot.pose(self.pose)

    @property
    def extras(self) -> Mapping[str, Mapping[str, object]]:
        """The `program` and the `commands` of its script, under `openr`."""
        commands = [f"{line.to}:{line.text}@{line.time_s:g}".lstrip(":") for line in self.script]
        return {EVENT: {"program": self.source, "commands": commands}}

    @property
    def takes_commands(self) -> bool:
        """Whether it has a Commander, which sends commands."""
        return COMMANDER in self.config.objects

    @property
    def vocabulary(self) -> str:
        """A text that lists the commands of each object that Commander sends to.

        Objects that accept any word are left out.
        """
        vocabulary: dict[str, str] = {}
        for connection in self.controller().system.connections:
            observer = connection.observer
            if connection.subject.name.owner == COMMANDER and observer.from_text is not None:
                try:
                    observer.from_text("?")  # no command: the error lists the known ones
                except InputError as error:
                    vocabulary[observer.name.owner] = (error.hint or error.message).removeprefix("there are ")
        if len(vocabulary) == 1:
            return next(iter(vocabulary.values()))
        return "; ".join(f"{owner}: {owner_words}" for owner, owner_words in vocabulary.items())

    def with_commands(
        self, commands: str, path: Path | None = None, prompt: CommandPrompt | None = None
    ) -> OpenRProgram:
        """Return the program with commands.

        Args:
            commands: text of a script.
            path: file of the script, for messages.
            prompt: reads further commands from the user; ignored by a program that takes no commands.

        Raises:
            FormatError: the script cannot be parsed, or the program has no COMMANDER object to send its
                commands.
        """
        script = read_script(commands, path)
        if script and not self.takes_commands:
            hint = f"the objects are {', '.join(self.config.objects)}"
            raise FormatError(f"there is no {COMMANDER} to send commands", where=script[0].where, hint=hint)
        return replace(self, script=script, prompt=prompt if self.takes_commands else None)

    def controller(self, seed: Seed = 0) -> OpenRController:  # noqa: ARG002 -- objects use no random numbers
        """Return a controller that runs the objects of the program, connected as CONNECT.CFG says.

        Creating it checks the commands of the script against the objects that receive them.

        Raises:
            UnknownNameError: an object or a service of the connections does not exist.
            FormatError: no object knows a command, or the ends of a connection differ in their data types.
            InputError: a file of an object is faulty.
        """
        return OpenRController(
            self.robot, self._make_objects, self.config, self.start_pose, prompt=self.prompt
        )

    def _make_objects(self) -> tuple[OObject, ...]:
        return tuple(_make_object(name, self) for name in self.config.objects if name != VIRTUAL_ROBOT)


@dataclass(frozen=True)
class ShippedProgram:
    """A program that ships with the package.

    Attributes:
        name: the name of the program.
        description: the description in a line.
        pose: start pose on the robot's card.
    """

    name: str
    description: str
    pose: str = "stand"

    @cached_property
    def config(self) -> ConnectConfig:
        """Its connections."""
        path = FOLDER / f"{self.name}.cfg"
        return read_connect(path.read_text(encoding="utf-8"), path)


PROGRAMS: Mapping[str, ShippedProgram] = MappingProxyType(
    {
        shipped.name: shipped
        for shipped in (
            ShippedProgram("move_head", "fifteen commands that move the head (AIS-Lab Milano's MoveHead)"),
            ShippedProgram("ekmotion", "special moves by number (Eagle Knights' EKMotion)"),
            ShippedProgram("monet", "motions and sounds of a memory stick by number (Sony's MoNet)", "sleep"),
            ShippedProgram(
                "move_legs", "three commands that let the dog stand, sit and lie (MoveHead's sister)"
            ),
        )
    }
)

OBJECTS: Mapping[str, Callable[[OpenRProgram], OObject]] = MappingProxyType(
    {
        COMMANDER: lambda program: CommandSender(program.config, program.script, program.until_s),
        "EKMotion": lambda program: EKMotion(open_moves(program.poses, program.sequences, program.robot)),
        "MoNet": lambda program: MoNet(_require_monet(program)),
        "MotionAgents": lambda program: MotionAgents(_require_monet(program), exact=program.exact),
        "SoundAgent": lambda program: SoundAgent(_require_monet(program)),
        "MoveHead": lambda _: MoveHead(),
        "MoveLegs": lambda _: MoveLegs(),
    }
)
"""Functions that create the objects that a CONNECT.CFG may name, besides `OVirtualRobotComm`."""


def _require_monet(program: OpenRProgram) -> MonetSetup:
    if program.monet is None:
        hint = "--stick FOLDER names a memory stick, or a folder with MONETCMD.CFG, MONET.CFG and archives"
        raise InputError("MoNet needs the files of a memory stick, and none is given", hint=hint)
    return program.monet


def program(name: str) -> ShippedProgram:
    """Return a shipped program, or raise UnknownNameError."""
    if name not in PROGRAMS:
        raise UnknownNameError.among("program", name, PROGRAMS)
    return PROGRAMS[name]


def _make_object(name: str, program: OpenRProgram) -> OObject:
    """Create the object of a name: one of the user's own classes, otherwise one that ships."""
    if name in program.user_objects and name != COMMANDER:
        return program.user_objects[name]()
    if name in OBJECTS:
        return OBJECTS[name](program)
    available = (VIRTUAL_ROBOT, *OBJECTS, *program.user_objects)
    error = UnknownNameError.among("object", name, available, where=program.config.where(name))
    error.hint = f"an object of your own is a Python class given with the option `objects`; {error.hint}"
    raise error
