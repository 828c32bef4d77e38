"""Programs: which objects make one, how they are connected, and what each is made from."""

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
from posewright.runtimes.openr.commander import COMMANDER, Commander, Live
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
"""What programs of OPEN-R objects are called as a kind of program."""

VIRTUAL_ROBOT = "OVirtualRobotComm"
CONNECT = "CONNECT.CFG"
FOLDER = Path(__file__).parent / "connect"


@dataclass(frozen=True, slots=True, eq=False)
class OpenRProgram:
    """A `control.Program` of OPEN-R objects; all that they are made from has been read.

    Attributes:
        source: name of a program that ships, or the path of a CONNECT.CFG.
        pose: of the robot's card, in which the robot begins.
        script: what Commander sends.
        live: asks a person what Commander is to send further.
        poses: an EKMoves.h for EKMotion; ours by default.
        sequences: the table of EKMotion's moves; ours by default.
        monet: the MONET files that MoNet and its agents play from.
        exact: motions reach each keyframe to the micro-radian, instead of being played as Sony's player does.
        own: classes, or anything else that makes an object, by the name CONNECT.CFG has for it.
        documents: texts of the files it is made from, by their names.
        files: those files, and what else lies on their memory stick for programs: nothing may replace them.
        until_s: it is run for so long at most [s].
        warnings: what a person should know before it runs.
    """

    source: str
    config: ConnectConfig
    robot: Robot
    pose: str = "stand"
    script: tuple[ScriptedCommand, ...] = ()
    live: Live | None = None
    poses: Path | None = None
    sequences: Path | None = None
    monet: MonetSetup | None = None
    exact: bool = False
    own: Mapping[str, Callable[[], OObject]] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    until_s: float = math.inf
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<OpenRProgram {self.source} on {self.robot.name}: {', '.join(self.config.objects)}>"

    @property
    def name(self) -> str:
        """Of a program that ships, or of its CONNECT.CFG."""
        return Path(self.source).name

    @property
    def kind(self) -> str:
        """The kind of the program, `openr`."""
        return KIND

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """Those of the robot's card: OPEN-R knows no others."""
        return self.robot.sensors

    @property
    def start_pose(self) -> Floats:
        """In which the robot begins, `(n_joints,)` [rad]."""
        return self.robot.pose(self.pose)

    @property
    def extras(self) -> Mapping[str, Mapping[str, object]]:
        """Under `openr`, which `program` runs, and which `commands` its script has."""
        commands = [f"{each.to}:{each.word}@{each.time_s:g}".lstrip(":") for each in self.script]
        return {EVENT: {"program": self.source, "commands": commands}}

    @property
    def takes_commands(self) -> bool:
        """Whether there is a Commander to send commands."""
        return COMMANDER in self.config.objects

    @property
    def vocabulary(self) -> str:
        """What the objects that Commander sends to say of the words they know; not who takes any word."""
        told: list[tuple[str, str]] = []
        for one in self.controller().system.connections:
            read = one.observer.from_text
            if one.subject.name.owner == COMMANDER and read is not None:
                try:
                    read("?")
                except InputError as error:
                    words = (error.hint or error.message).removeprefix("there are ")
                    told.append((one.observer.name.owner, words))
        return told[0][1] if len(told) == 1 else "; ".join(": ".join(one) for one in told)

    def saying(self, commands: str, path: Path | None = None, live: Live | None = None) -> OpenRProgram:
        """Return it with commands: a script, from a file or not, and a person who is asked for more.

        Raises:
            FormatError: the script cannot be read, or there is nobody to send it.
        """
        script = read_script(commands, path)
        if script and not self.takes_commands:
            hint = f"objects here: {', '.join(self.config.objects)}"
            raise FormatError(f"there is no {COMMANDER} to send commands", where=script[0].where, hint=hint)
        return replace(self, script=script, live=live if self.takes_commands else None)

    def controller(self, seed: Seed = 0) -> OpenRController:  # noqa: ARG002 -- objects draw nothing by chance
        """Return its objects, connected, as a controller; the script has been checked.

        Raises:
            UnknownNameError: there is no object or service that the connections name.
            FormatError: nobody knows a command, or the two ends of a connection are of other data.
            InputError: what an object is made from is wrong.
        """
        return OpenRController(self.robot, self._make_objects, self.config, self.start_pose, live=self.live)

    def _make_objects(self) -> tuple[OObject, ...]:
        return tuple(_made(name, self) for name in self.config.objects if name != VIRTUAL_ROBOT)


@dataclass(frozen=True)
class ShippedProgram:
    """A program that ships.

    Attributes:
        about: what it does, in a line.
        pose: of the robot's card, in which the robot begins.
    """

    name: str
    about: str
    pose: str = "stand"

    @cached_property
    def config(self) -> ConnectConfig:
        """Its connections."""
        path = FOLDER / f"{self.name}.cfg"
        return read_connect(path.read_text(encoding="utf-8"), path)


PROGRAMS: Mapping[str, ShippedProgram] = MappingProxyType(
    {
        one.name: one
        for one in (
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
        COMMANDER: lambda made: Commander(made.config, made.script, made.until_s),
        "EKMotion": lambda made: EKMotion(open_moves(made.poses, made.sequences, made.robot)),
        "MoNet": lambda made: MoNet(_monet(made)),
        "MotionAgents": lambda made: MotionAgents(_monet(made), exact=made.exact),
        "SoundAgent": lambda made: SoundAgent(_monet(made)),
        "MoveHead": lambda _: MoveHead(),
        "MoveLegs": lambda _: MoveLegs(),
    }
)
"""What is made for each name that a CONNECT.CFG may have, besides `OVirtualRobotComm`."""


def _monet(made: OpenRProgram) -> MonetSetup:
    if made.monet is None:
        hint = "--stick FOLDER names a memory stick, or a folder with MONETCMD.CFG, MONET.CFG and archives"
        raise InputError("MoNet plays what is on a memory stick, and none was named", hint=hint)
    return made.monet


def program(name: str) -> ShippedProgram:
    """Return a program that ships, or raise UnknownNameError."""
    if name not in PROGRAMS:
        raise UnknownNameError.among("program", name, PROGRAMS)
    return PROGRAMS[name]


def _made(name: str, program: OpenRProgram) -> OObject:
    if name in program.own and name != COMMANDER:
        return program.own[name]()
    if name in OBJECTS:
        return OBJECTS[name](program)
    known = (VIRTUAL_ROBOT, *OBJECTS, *program.own)
    error = UnknownNameError.among("object", name, known, where=program.config.where(name))
    error.hint = f"an object of your own is a Python class given with --objects; {error.hint}"
    raise error
