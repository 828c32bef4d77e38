"""What runs: a program that ships, a CONNECT.CFG or a memory stick, with all that it is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posewright.documents import is_path
from posewright.errors import FormatError, InputError, UnknownNameError, Where
from posewright.motions import Level
from posewright.robots import Robot
from posewright.robots import robot as robot_called
from posewright.runtimes.openr.commander import COMMANDER, Live
from posewright.runtimes.openr.connections import ConnectConfig, read_connect_file
from posewright.runtimes.openr.controller import OpenRController
from posewright.runtimes.openr.own import read_objects
from posewright.runtimes.openr.programs import OBJECTS, PROGRAMS, SYSTEM, Setting, open_program, program
from posewright.runtimes.openr.script import read_script
from posewright.sticks import MemoryStick, MonetSetup, read_stick
from posewright.sticks.memory_stick import OPEN_R, child, stick_in

MONET = "monet"
CONNECT = "CONNECT.CFG"
PLAYERS = ("sony", "exact")
PLAYING = frozenset({"MoNet", "MotionAgents", "SoundAgent"})
"""The objects that are made from MONET files."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadyProgram:
    """A program, ready to run on a robot; everything that was handed in has been read.

    Attributes:
        name: of a program that ships, or the path of a CONNECT.CFG.
        pose: in which the robot begins.
        own: the Python file of a person's own objects.
        remarks: what a person should know before it runs.
    """

    name: str
    robot: Robot
    pose: str
    config: ConnectConfig
    setting: Setting
    own: Path | None = None
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<ReadyProgram {self.name} on {self.robot.name}: {', '.join(self.config.objects)}>"

    @property
    def takes_commands(self) -> bool:
        """Whether there is a Commander to send commands."""
        return COMMANDER in self.config.objects

    @property
    def vocabulary(self) -> str:
        """What the objects that Commander sends to say of the commands they know."""
        told: list[str] = []
        for one in self.controller().system.connections:
            read = one.observer.from_text
            if one.subject.name.owner == COMMANDER and read is not None:
                try:
                    read("?")
                except InputError as error:
                    told.append(f"{one.observer.name.owner}: {error.hint or error.message}")
        return "; ".join(told)

    def saying(self, commands: str = "", path: Path | None = None, live: Live | None = None) -> ReadyProgram:
        """Return it with commands: a script, from a file or not, and a person who is asked for more.

        Raises:
            FormatError: the script cannot be read, or there is nobody to send it.
        """
        script = read_script(commands, path)
        if script and not self.takes_commands:
            hint = f"objects here: {', '.join(self.config.objects)}"
            raise FormatError(f"there is no {COMMANDER} to send commands", where=script[0].where, hint=hint)
        live = live if self.takes_commands else None
        return replace(self, setting=replace(self.setting, script=script, live=live))

    def controller(self) -> OpenRController:
        """Return its objects as a controller.

        Raises:
            InputError: what an object is made from is wrong.
            FormatError: the connections do not fit the objects, or nobody knows a command.
        """
        return open_program(self.config, self.setting, self.pose)


def set_up_openr(
    called: str | Path | None = None,
    *,
    robot: str | Robot = "sony_ers7",
    pose: str | None = None,
    stick: str | Path | None = None,
    monet: Sequence[str | Path] = (),
    poses: str | Path | None = None,
    sequences: str | Path | None = None,
    player: str = PLAYERS[0],
    objects: str | Path | None = None,
) -> ReadyProgram:
    """Return a program, ready to run; arguments and errors as `run_openr`."""
    card = robot_called(robot) if isinstance(robot, str) else robot
    if player not in PLAYERS:
        raise UnknownNameError.among("player", player, PLAYERS)
    if stick is not None and monet:
        raise InputError("a stick, and MONET files besides", hint="one or the other")
    path = None if objects is None else Path(objects)
    own = {} if path is None else read_objects(path)
    remarks: tuple[str, ...] = ()
    is_asked = called is not None
    if called is None:
        if stick is None and not monet:
            raise InputError("which program?", hint=f"one of {', '.join(PROGRAMS)}, or a {CONNECT}")
        called, remarks = (MONET, ()) if stick is None else _on_stick(Path(stick), own)
    name = str(called)
    if is_path(name) or (name not in PROGRAMS and Path(name).is_file()):
        config, begin = read_connect_file(Path(name)), "stand"
    else:
        config, begin = program(name).config, program(name).pose
    tables = {"poses": poses and Path(poses), "sequences": sequences and Path(sequences)}
    plays = not PLAYING.isdisjoint(config.objects)
    files = [stick] if stick is not None else monet
    unused = [f"--{what}" for what in tables if tables[what] is not None and "EKMotion" not in config.objects]
    unused += ["MONET files"] if files and is_asked and not plays else []
    if unused:
        what = f"no object here is made from {', '.join(unused)}"
        raise InputError(what, hint=f"{', '.join(config.objects)} run")
    given: Any = {"monet": _setup(read_stick(*files), card) if files and plays else None, **tables}
    card.pose(pose or begin)
    setting = Setting(card, own=own, exact=player == "exact", **given)
    return ReadyProgram(name, card, pose or begin, config, setting, path, remarks)


def _on_stick(folder: Path, own: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return what runs of a stick: its CONNECT.CFG where all its objects are known, else MoNet.

    Raises:
        FormatError: there is neither, or only objects that exist for the AIBO's processor alone.
    """
    path = _connect_file(folder)
    if path is None:
        return MONET, ()
    known = {COMMANDER, SYSTEM, *OBJECTS, *own}
    lines = read_connect_file(path).lines
    ends = [(end.owner, line) for line in lines for end in (line.sender, line.receiver)]
    strange = [(name, line) for name, line in ends if name not in known]
    if not strange:
        return str(path), ()
    names = ", ".join(dict.fromkeys(name for name, _ in strange))
    what = f"the binary of {names} is for the AIBO's processor and cannot run here"
    try:
        read_stick(folder)
    except FormatError:
        hint = f"give a Python class with --objects; known: {', '.join(sorted(known))}"
        raise FormatError(what, where=strange[0][1].where, hint=hint) from None
    return MONET, (f"{path}: {what}; MoNet runs with the stick's files",)


def _connect_file(folder: Path) -> Path | None:
    """Return the CONNECT.CFG of a stick: OPEN-R/MW/CONF/CONNECT.CFG, or that of another part of OPEN-R."""
    top = child(stick_in(folder), OPEN_R)
    for part in sorted(top.iterdir()) if top is not None else ():
        conf = child(part, "CONF")
        path = None if conf is None else child(conf, CONNECT)
        if path is not None and path.is_file():
            return path
    return None


def _setup(stick: MemoryStick, card: Robot) -> MonetSetup:
    """Return the MONET files of a robot: those of its model, else the only ones.

    Raises:
        FormatError: a file of theirs could not be read.
        InputError: there are only those of other models.
    """
    model = card.name.rpartition("_")[2].upper()
    setups = stick.setups
    fitting = [one for one in setups if model in {name.replace("-", "").upper() for name in one.models}]
    if not fitting and len(setups) != 1:
        models = ", ".join(name for one in setups for name in one.models) or "no model"
        raise InputError(f"no MONET files for {card.name}", hint=f"the stick has those of {models}")
    found = (fitting or list(setups))[0]
    unread = [one for one in stick.findings if one.level is Level.ERROR and one.rule == "file"]
    if unread and any(one is None for one in (found.commands, found.transitions, found.motions)):
        first = unread[0]
        raise FormatError(first.message, where=Where(first.path, first.line), hint=first.hint or None)
    return found


def openr_programs() -> list[dict[str, Any]]:
    """Return the programs that ship: `name`, `about`, their `objects`, and what Commander can send these."""
    return [
        {
            "name": one.name,
            "about": one.about,
            "objects": [name for name in one.config.objects if name not in {COMMANDER, SYSTEM}],
            "commands": _commands(one.name),
        }
        for one in PROGRAMS.values()
    ]


def _commands(name: str) -> str:
    """Return what the objects of a program say of the words they know, or what the program needs besides."""
    try:
        return set_up_openr(name).vocabulary
    except InputError as error:
        return f"{error.message} ({error.hint})" if error.hint else error.message
