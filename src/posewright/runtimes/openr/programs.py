"""Programs: which objects make one, how they are connected, and what each is made from."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.robots import Robot
from posewright.runtimes.openr.commander import COMMANDER, Commander, Live
from posewright.runtimes.openr.connections import ConnectConfig, read_connect
from posewright.runtimes.openr.controller import OpenRController
from posewright.runtimes.openr.ekmotion import EKMotion, open_moves
from posewright.runtimes.openr.monet.monet import MoNet
from posewright.runtimes.openr.monet.motion_agents import MotionAgents
from posewright.runtimes.openr.monet.sound_agent import SoundAgent
from posewright.runtimes.openr.move_head import MoveHead
from posewright.runtimes.openr.move_legs import MoveLegs
from posewright.runtimes.openr.script import ScriptedCommand
from posewright.runtimes.openr.services import OObject
from posewright.sticks import MonetSetup

SYSTEM = "OVirtualRobotComm"
FOLDER = Path(__file__).parent / "connect"


@dataclass(frozen=True, slots=True)
class Setting:
    """What objects are made from.

    Attributes:
        script: what Commander sends.
        poses: an EKMoves.h for EKMotion; ours by default.
        sequences: the table of EKMotion's moves; ours by default.
        own: classes, or anything else that makes an object, by the name CONNECT.CFG has for it.
        live: asks a person what Commander is to send further.
        monet: the MONET files that MoNet and its agents play from.
        exact: motions reach each keyframe to the micro-radian, instead of being played as Sony's player does.
    """

    robot: Robot
    script: tuple[ScriptedCommand, ...] = ()
    poses: Path | None = None
    sequences: Path | None = None
    own: Mapping[str, Callable[[], OObject]] = field(default_factory=dict)
    live: Live | None = None
    monet: MonetSetup | None = None
    exact: bool = False


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
            Program("ekmotion", "special moves by number (Eagle Knights' EKMotion)"),
            Program("monet", "motions and sounds of a memory stick by number (Sony's MoNet)", pose="sleep"),
            Program("move_legs", "three commands that let the dog stand, sit and lie (MoveHead's sister)"),
        )
    }
)

Maker = Callable[[Setting], OObject]

OBJECTS: Mapping[str, Maker] = MappingProxyType(
    {
        "EKMotion": lambda setting: EKMotion(open_moves(setting.poses, setting.sequences)),
        "MoNet": lambda setting: MoNet(_monet(setting)),
        "MotionAgents": lambda setting: MotionAgents(_monet(setting), exact=setting.exact),
        "SoundAgent": lambda setting: SoundAgent(_monet(setting)),
        "MoveHead": lambda _: MoveHead(),
        "MoveLegs": lambda _: MoveLegs(),
    }
)
"""What is made for each name that a CONNECT.CFG may have, besides `Commander` and `OVirtualRobotComm`."""


def _monet(setting: Setting) -> MonetSetup:
    if setting.monet is None:
        hint = (
            "--stick FOLDER names a memory stick, or a folder with MONETCMD.CFG, MONET.CFG and the archives"
        )
        raise InputError("MoNet plays what is on a memory stick, and none was named", hint=hint)
    return setting.monet


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
    commander = next((one for one in objects if isinstance(one, Commander)), None)
    asks = None if commander is None or setting.live is None else partial(commander.ask, setting.live)
    controller = OpenRController(setting.robot, objects, config, setting.robot.pose(pose), on_idle=asks)
    if commander is not None:
        commander.check()
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
