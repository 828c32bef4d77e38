"""Programs: which objects make one, how they are connected, and what each is made from."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from posewright.errors import FormatError, UnknownNameError
from posewright.robots import Robot
from posewright.runtimes.openr.commander import COMMANDER, Commander
from posewright.runtimes.openr.connections import ConnectConfig, read_connect
from posewright.runtimes.openr.controller import OpenRController
from posewright.runtimes.openr.move_head import MoveHead
from posewright.runtimes.openr.move_legs import MoveLegs
from posewright.runtimes.openr.script import ScriptedCommand
from posewright.runtimes.openr.services import OObject

SYSTEM = "OVirtualRobotComm"
FOLDER = Path(__file__).parent / "connect"


@dataclass(frozen=True, slots=True)
class Setting:
    """What objects are made from.

    Attributes:
        script: what Commander sends.
        own: classes, or anything else that makes an object, by the name CONNECT.CFG has for it.
    """

    robot: Robot
    script: tuple[ScriptedCommand, ...] = ()
    own: Mapping[str, Callable[[], OObject]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that ships.

    Attributes:
        about: what it does, in a line.
        pose: of the robot's card, in which the robot begins.
    """

    name: str
    about: str
    pose: str = "stand"

    @property
    def config(self) -> ConnectConfig:
        """Its connections."""
        path = FOLDER / f"{self.name}.cfg"
        return read_connect(path.read_text(encoding="utf-8"), path)


PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        one.name: one
        for one in (
            Program("move_head", "fifteen commands that move the head (AIS-Lab Milano's MoveHead)"),
            Program("move_legs", "three commands that let the dog stand, sit and lie (MoveHead's sister)"),
        )
    }
)

Maker = Callable[[Setting], OObject]

OBJECTS: Mapping[str, Maker] = MappingProxyType(
    {
        "MoveHead": lambda _: MoveHead(),
        "MoveLegs": lambda _: MoveLegs(),
    }
)
"""What is made for each name that a CONNECT.CFG may have, besides `Commander` and `OVirtualRobotComm`."""


def program(name: str) -> Program:
    """Return a program that ships, or raise UnknownNameError."""
    if name not in PROGRAMS:
        raise UnknownNameError.among("program", name, PROGRAMS)
    return PROGRAMS[name]


def open_program(config: ConnectConfig, setting: Setting, pose: str = "stand") -> OpenRController:
    """Return the objects of a program, connected, as a controller; its script has been checked.

    Raises:
        FormatError: there is no object or service that the connections name, or a command nobody knows.
        InputError: what an object is made from is wrong.
    """
    objects = [_made(config, name, setting) for name in config.objects if name != SYSTEM]
    controller = OpenRController(setting.robot, objects, config, setting.robot.pose(pose))
    for one in objects:
        if isinstance(one, Commander):
            one.check()
    return controller


def _made(config: ConnectConfig, name: str, setting: Setting) -> OObject:
    if name == COMMANDER:
        return Commander(config, setting.script)
    if name in setting.own:
        return setting.own[name]()
    if name in OBJECTS:
        return OBJECTS[name](setting)
    known = (COMMANDER, SYSTEM, *OBJECTS, *setting.own)
    near = difflib.get_close_matches(name, known, n=1)
    line = next(line for line in config.lines if name in {line.sender.owner, line.receiver.owner})
    hint = f"did you mean {near[0]}? " if near else ""
    hint += f"known: {', '.join(known)}; an object of your own is a Python class given with --objects"
    raise FormatError(f"nobody knows an object {name}", where=line.where, hint=hint)
