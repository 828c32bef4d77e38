"""Run OPEN-R objects on any body: a program that ships, a CONNECT.CFG, or what is on a memory stick."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posewright.control import Clock, Watcher
from posewright.documents import is_path
from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.evaluation.thresholds import PhysicsRules
from posewright.evaluation.trajectory import Trajectory
from posewright.experiments.performing import perform
from posewright.experiments.plants import SIMULATION
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.robots import robot as robot_called
from posewright.runtimes.openr import ConnectConfig, OpenRController, UntilIdle, read_connect_file
from posewright.runtimes.openr.commander import COMMANDER, Live
from posewright.runtimes.openr.flow import messages_of, states_of
from posewright.runtimes.openr.own import blamed, read_objects
from posewright.runtimes.openr.programs import OBJECTS, PROGRAMS, SYSTEM, Setting, open_program, program
from posewright.runtimes.openr.regions import MICRO
from posewright.runtimes.openr.script import read_script
from posewright.sticks import MonetSetup, read_stick
from posewright.sticks.memory_stick import OPEN_R, child, stick_in

EXTRAS = "openr"
"""Under this name a recording's header says which program ran."""

LONGEST_S = 600.0
"""A program runs no longer than this unless told otherwise [s]."""

STILL_S = 1.0
"""It has ended when its objects have had nothing to do for so long [s]."""

MONET = "monet"
CONNECT = "CONNECT.CFG"
PLAYERS = ("sony", "exact")


@dataclass(frozen=True, slots=True, eq=False)
class OpenRun:
    """A program, ready to run on a robot; everything that was handed in has been checked.

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
        return f"<OpenRun {self.name} on {self.robot.name}: {', '.join(self.config.objects)}>"

    @property
    def takes_commands(self) -> bool:
        """Whether there is a Commander to send commands."""
        return COMMANDER in self.config.objects

    def saying(self, commands: str = "", path: Path | None = None, live: Live | None = None) -> OpenRun:
        """Return it with commands: a script, from a file or not, or a person who is asked for them.

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
        with blamed(self.own):
            return open_program(self.config, self.setting, self.pose)

    def perform(
        self,
        *,
        seconds: float | None = None,
        watchers: Sequence[Watcher] = (),
        **how: Any,
    ) -> Recording:
        """Run it; see `run_openr`. What else `perform` takes is handed on to it."""
        controller = self.controller()
        said = [f"{one.to}:{one.word}@{one.time_s:g}".lstrip(":") for one in self.setting.script]
        with blamed(self.own):
            return perform(
                controller,
                self.robot,
                name=f"openr {Path(self.name).name}",
                until_s=LONGEST_S if seconds is None else seconds,
                pose=self.pose,
                watchers=[*watchers, UntilIdle(controller, STILL_S if seconds is None else math.inf)],
                documents={CONNECT: "".join(f"{line}\n" for line in self.config.lines)},
                extras={EXTRAS: {"program": self.name, "commands": said}},
                **how,
            )


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
) -> OpenRun:
    """Return a program, ready to run; arguments and errors as `run_openr`."""
    card = robot_called(robot) if isinstance(robot, str) else robot
    if player not in PLAYERS:
        raise UnknownNameError.among("player", player, PLAYERS)
    if stick is not None and monet:
        raise InputError("a stick, and MONET files besides", hint="one or the other")
    own = {} if objects is None else read_objects(objects)
    remarks: tuple[str, ...] = ()
    if called is None:
        if stick is None and not monet:
            raise InputError("which program?", hint=f"one of {', '.join(PROGRAMS)}, or a {CONNECT}")
        called, remarks = (MONET, ()) if stick is None else _on_stick(Path(stick), own)
    name = str(called)
    if is_path(name) or (name not in PROGRAMS and Path(name).is_file()):
        config, begin = read_connect_file(Path(name)), "stand"
    else:
        config, begin = program(name).config, program(name).pose
    given: dict[str, Any] = {"poses": poses and Path(poses), "sequences": sequences and Path(sequences)}
    given |= {"exact": player == "exact" or None}
    if stick is not None or monet:
        given["monet"] = _setup(read_stick(*([stick] if stick is not None else monet)).setups, card)
    setting = Setting(card, own=own, **{key: value for key, value in given.items() if value is not None})
    card.pose(pose or begin)
    path = None if objects is None else Path(objects)
    return OpenRun(name, card, pose or begin, config, setting, path, remarks)


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
    strange = [
        (end.owner, line) for line in lines for end in (line.sender, line.receiver) if end.owner not in known
    ]
    if not strange:
        return str(path), ()
    names = ", ".join(dict.fromkeys(name for name, _ in strange))
    what = f"the binary of {names} is for the AIBO's processor and cannot run here"
    try:
        read_stick(folder)
    except FormatError:
        hint = (
            f"an object of your own is a Python class given with --objects; known: {', '.join(sorted(known))}"
        )
        raise FormatError(what, where=strange[0][1].where, hint=hint) from None
    return MONET, (f"{path}: {what}; MoNet runs with the stick's files",)


def _connect_file(folder: Path) -> Path | None:
    """Return the CONNECT.CFG of a stick: OPEN-R/MW/CONF/CONNECT.CFG, or that of another part of OPEN-R."""
    top = child(stick_in(folder), OPEN_R)
    parts = sorted(top.iterdir()) if top is not None else []
    for part in parts:
        conf = child(part, "CONF")
        path = None if conf is None else child(conf, CONNECT)
        if path is not None and path.is_file():
            return path
    return None


def _setup(setups: Sequence[MonetSetup], card: Robot) -> MonetSetup:
    """Return the MONET files of a robot: those of its model, else the only ones."""
    model = card.name.rpartition("_")[2].upper()
    fitting = [one for one in setups if model in {name.replace("-", "").upper() for name in one.models}]
    if fitting or len(setups) == 1:
        return (fitting or list(setups))[0]
    models = ", ".join(name for one in setups for name in one.models) or "no model"
    raise InputError(f"no MONET files for {card.name}", hint=f"the stick has those of {models}")


def run_openr(
    called: str | Path | None = None,
    *,
    commands: str = "",
    seconds: float | None = None,
    body: str = SIMULATION,
    seed: int = 0,
    watchers: Sequence[Watcher] = (),
    pace: Clock | None = None,
    record: str | Path | None = None,
    **made_from: Any,
) -> Recording:
    """Run a program of OPEN-R objects on a robot that stands on a bare floor.

    `pw.run_openr("move_head", commands="MOVE_MP@0, MV_RGHT@3")`; what its objects said is told by
    `openr_result`, and drawn by `draw_sequence`.

    Args:
        called: a program that ships, or the path of a CONNECT.CFG; with a stick, default what is on it.
        commands: what Commander sends: a command, `@`, and its time [s]; several with commas.
        seconds: for so long it runs [s]; default until its objects have had nothing to do for a second.
        body: as for `run_trial`.
        seed: of everything drawn by chance.
        watchers: see every block.
        pace: how frames are paced; simulated time by default.
        record: where to write the recording; of a run that failed or was ended, as far as it went.
        made_from: `robot`, a name or a card; `pose`, in which it begins; `stick`, a memory stick's folder;
            `monet`, loose MONET files; `poses` and `sequences`, of EKMotion; `player`, sony or exact;
            `objects`, a Python file of one's own objects.

    Raises:
        InputError: something that was handed in is wrong; the robot has not moved.
        FormatError: so is a file, which the error names with its line.
        UnknownNameError: there is no such program, robot, pose or body.
        OutputError: the recording cannot be written there.
        BodyError: the body failed, or the objects send each other messages without end.
    """
    ready = set_up_openr(called, **made_from).saying(commands)
    how: dict[str, Any] = {"body": body, "seed": seed, "watchers": watchers, "pace": pace}
    return ready.perform(seconds=seconds, record=record, **how)


def fell(recording: Recording) -> bool | None:
    """Return whether the robot tipped over, by what counts as a fall in a motion; None where nobody knew.

    A robot that sits or lies down has not fallen.
    """
    track = Trajectory.of(recording)
    if not track.last or not track.knows_place:
        return None
    return bool(track.falls(PhysicsRules().fall_limits(track.row_s)))


def openr_result(recording: Recording) -> dict[str, Any]:
    """Return a run of OPEN-R objects as plain data, from its recording alone.

    `frames` have `commands_urad`, what the objects asked for in whole micro-radians, and `positions_rad`,
    what the joints did, in the order of `joints`.

    Raises:
        InputError: the recording is of something else.
    """
    told = recording.header.extras.get(EXTRAS)
    if not isinstance(told, Mapping):
        raise InputError("this recording is not of OPEN-R objects", hint="one of `posewright openr run`")
    one = next(iter(recording.robots.values()))
    asked, positions = np.rint(np.nan_to_num(one.asked) * MICRO).astype(np.int64), one.positions
    unknown = np.isnan(positions)
    times = np.round(recording.times, 6).tolist()
    frames = [
        {
            "time_s": time_s,
            "commands_urad": commands,
            "positions_rad": [None if no else at for at, no in zip(seen, nan, strict=True)],
        }
        for time_s, commands, seen, nan in zip(
            times, asked.tolist(), positions.tolist(), unknown.tolist(), strict=True
        )
    ]
    return {
        "program": told.get("program"),
        "commands": told.get("commands"),
        "robot": one.header.robot,
        "duration_s": times[-1] if times else 0.0,
        "fell": fell(recording),
        "states": [{"time_s": entry.time_s, **entry.data} for entry in states_of(recording)],
        "messages": [
            {"time_s": entry.time_s, "kind": entry.kind, **entry.data} for entry in messages_of(recording)
        ],
        "joints": list(one.header.joints),
        "frames": frames,
        "digest": recording.digest(),
    }


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
    """Return what the objects of a program say of the words they know."""
    told: list[str] = []
    try:
        connections = set_up_openr(name).controller().system.connections
    except InputError as error:  # it needs more than its name: a stick, a table of poses
        return f"{error.message} ({error.hint})" if error.hint else error.message
    for one in connections:
        read = one.observer.from_text
        if one.subject.name.owner == COMMANDER and read is not None:
            try:
                read("?")
            except InputError as error:
                told.append(error.hint or error.message)
    return "; ".join(told)
