"""What runs: a program that ships, a CONNECT.CFG or a memory stick, with all that it is made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from posewright.control import require_known_options
from posewright.documents import is_folder, is_path, path_exists
from posewright.errors import FormatError, InputError, UnknownNameError, Where
from posewright.formats import is_text, read_file_bytes
from posewright.motions import Level
from posewright.robots import Robot
from posewright.robots import robot as robot_called
from posewright.runtimes.openr import programs
from posewright.runtimes.openr.commander import COMMANDER
from posewright.runtimes.openr.connections import ConnectConfig, read_connect_file
from posewright.runtimes.openr.ekmotion.moves import MOVES, POSES
from posewright.runtimes.openr.kernel import LOCATORS
from posewright.runtimes.openr.programs import CONNECT, KIND, OBJECTS, PROGRAMS, VIRTUAL_ROBOT, OpenRProgram
from posewright.runtimes.openr.stick import MemoryStick, MonetFinding, MonetSetup, read_stick
from posewright.runtimes.openr.stick.limits import MODELS
from posewright.runtimes.openr.stick.memory_stick import (
    ARCHIVE,
    COMMANDS,
    DESIGNDB,
    OPEN_R,
    TRANSITIONS,
    child,
    stick_in,
    stick_root,
)
from posewright.runtimes.openr.stick.setup import SOUNDS
from posewright.runtimes.openr.user_objects import read_objects

ROBOT = "sony_ers7"
"""On which a program runs where nobody says."""

MONET = "monet"
MIDDLEWARE = "MW"
ON_STICK = frozenset({CONNECT, COMMANDS, DESIGNDB, TRANSITIONS})
PLAYERS = ("sony", "exact")
PLAYING = frozenset({"MoNet", "MotionAgents", "SoundAgent"})
"""The objects that are made from MONET files."""

MOST_CARRIED = 1_000_000
"""Of a larger archive a recording carries the digest only [bytes]."""


def set_up_openr(
    program: str | Path | None = None,
    *,
    commands: str = "",
    robot: str | Robot = ROBOT,
    pose: str | None = None,
    stick: str | Path | None = None,
    monet: Sequence[str | Path] = (),
    poses: str | Path | None = None,
    sequences: str | Path | None = None,
    player: str = PLAYERS[0],
    objects: str | Path | None = None,
) -> OpenRProgram:
    """Return a program, ready to run; arguments and errors as `run_openr`."""
    card = robot_called(robot) if isinstance(robot, str) else robot
    if player not in PLAYERS:
        raise UnknownNameError.among("player", player, PLAYERS)
    if stick is not None and monet:
        raise InputError("a stick, and MONET files besides", hint="one or the other")
    own = {} if objects is None else read_objects(objects)
    if program is None and stick is None and not monet:
        raise InputError("which program?", hint=f"one of {', '.join(PROGRAMS)}, or a {CONNECT}")
    searched = _on_stick(Path(stick), own) if program is None and stick is not None else (MONET, ())
    name, remarks = searched if program is None else (str(program), ())
    config, begin = _connections(name)
    files = [stick] if stick is not None else list(dict.fromkeys(map(Path, monet)))
    plays = not PLAYING.isdisjoint(config.objects)
    moves = {"--poses": poses, "--sequences": sequences}
    unused = [flag for flag, file in moves.items() if file is not None and "EKMotion" not in config.objects]
    unused += ["--objects"] if own and own.keys().isdisjoint(config.objects) else []
    if not plays:
        sony = {"--stick": program and stick, "--monet": monet, "--player": player != PLAYERS[0]}
        unused += [flag for flag, given in sony.items() if given]
    if unused:
        what = f"no object here takes {', '.join(unused)}"
        raise InputError(what, hint=f"the objects are {', '.join(config.objects)}")
    replaced = [one for one in config.objects if one in own and one in OBJECTS]
    setup = _setup(read_stick(*files), card, Path(files[0])) if files and plays else None
    card.pose(pose or begin)
    made = OpenRProgram(
        name,
        config,
        card,
        pose or begin,
        poses=None if poses is None else Path(poses),
        sequences=None if sequences is None else Path(sequences),
        monet=setup,
        exact=player == "exact",
        own=own,
        warnings=(*remarks, *_remarks(setup), *(f"{one} is that of {objects}, not ours" for one in replaced)),
    )
    read = _files((None if name in PROGRAMS else name, poses, sequences, objects, *files))
    return replace(made, documents=_documents(made, objects), files=tuple(read)).saying(commands)


class OpenRKind:
    """How programs of OPEN-R objects are found and read: a `control.ProgramKind`."""

    name = KIND
    option_names = ("commands", "pose", "stick", "monet", "poses", "sequences", "player", "objects")
    """What `set_up_openr` takes; several MONET files are parted by commas."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the programs that ship; none for a robot that is no OPEN-R robot."""
        return tuple(PROGRAMS) if robot is None or robot.namings.get(LOCATORS) else ()

    def recognises(self, name: str) -> bool:
        """Tell whether a path is that of a CONNECT.CFG, or of a folder or memory stick that holds one."""
        path = Path(name)
        if not is_folder(path):
            return path.suffix.lower() == ".cfg"
        return child(path, CONNECT) is not None or _has_connect_file(path)

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> OpenRProgram:
        """Return the program of a name or path, for a robot; for an ERS-7 where none is given.

        Raises:
            UnknownNameError: there is no such program, pose, player, object or option.
            InputError: a file is wrong, a command nobody's, or the robot is no OPEN-R robot.
        """
        require_known_options(options, self.option_names, self.name)
        program: str | None = name
        stick = options.get("stick")
        if name not in PROGRAMS and is_folder(Path(name)):
            connect = child(Path(name), CONNECT)
            program = None if connect is None else str(connect)
            if connect is None and stick is not None:
                raise InputError(f"two memory sticks: {name} and {stick}", hint="one or the other")
            stick = name if connect is None else stick
        ready = set_up_openr(
            program,
            commands=options.get("commands", ""),
            robot=ROBOT if robot is None else robot,
            pose=options.get("pose"),
            stick=stick,
            monet=[path.strip() for path in options.get("monet", "").split(",") if path.strip()],
            poses=options.get("poses"),
            sequences=options.get("sequences"),
            player=options.get("player", PLAYERS[0]),
            objects=options.get("objects"),
        )
        ready.controller()  # raises what is wrong with the objects, their connections and the script
        return ready


def _has_connect_file(folder: Path) -> bool:
    try:
        return _connect_file(folder) is not None
    except FormatError:  # it is no memory stick
        return False


def _on_stick(folder: Path, own: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Return what runs of a stick: its CONNECT.CFG where all its objects are known, else MoNet.

    Raises:
        FormatError: there is neither, or only objects that exist for the AIBO's processor alone.
    """
    path = _connect_file(folder)
    if path is None:
        return MONET, ()
    known = {VIRTUAL_ROBOT, *OBJECTS, *own}
    config = read_connect_file(path)
    strange = [name for name in config.objects if name not in known]
    if not strange:
        return str(path), ()
    what = f"the binary of {', '.join(strange)} is for the AIBO's processor and cannot run here"
    try:
        read_stick(folder)
    except FormatError:
        hint = f"give a Python class with --objects; known: {', '.join(sorted(known))}"
        raise FormatError(what, where=config.where(strange[0]), hint=hint) from None
    return MONET, (f"{path}: {what}; MoNet runs with the stick's files",)


def _connect_file(folder: Path) -> Path | None:
    """Return the CONNECT.CFG of a stick: OPEN-R/MW/CONF/CONNECT.CFG, else that of another part of OPEN-R."""
    top = child(stick_in(folder), OPEN_R)
    parts = [] if top is None else sorted(top.iterdir())
    for part in sorted(parts, key=lambda one: one.name.upper() != MIDDLEWARE):
        conf = child(part, "CONF")
        path = None if conf is None else child(conf, CONNECT)
        if path is not None:
            return path
    return None


def _connections(name: str) -> tuple[ConnectConfig, str]:
    """Return the connections of a program, and the pose in which it begins."""
    if name not in PROGRAMS and (
        is_path(name) or Path(name).suffix.lower() == ".cfg" or path_exists(Path(name))
    ):
        return read_connect_file(Path(name)), "stand"
    shipped = programs.program(name)
    return shipped.config, shipped.pose


def _setup(stick: MemoryStick, card: Robot, where: Path) -> MonetSetup:
    """Return the MONET files of a robot: those of its model, else the only ones.

    Raises:
        FormatError: a file of theirs could not be read or is missing.
        InputError: there are only those of other models.
    """
    models = [model for model in reversed(tuple(MODELS)) if MODELS[model].robot == card.name]
    only = stick.setups[0] if len(stick.setups) == 1 else None
    found = next(filter(None, map(stick.setup, models)), only)
    wrong = [
        FormatError(one.message, where=Where(one.path, one.line), hint=one.hint or None)
        for one in stick.findings
        if one.level is Level.ERROR and _concerns(one, stick, found.models if found else models)
    ]
    if wrong:
        wrong[0].other_errors = tuple(wrong[1:])
        raise wrong[0]
    if found is None:
        known = ", ".join(dict.fromkeys(name for one in stick.setups for name in one.models))
        several = f"there are {len(stick.setups)} sets of files, and none says for which robot it is"
        raise InputError(f"no MONET files for {card.name}", hint=f"those of {known}" if known else several)
    if found.commands is None:
        hint = "posewright aibo check says what was found"
        raise FormatError(f"there is no {COMMANDS}: MoNet knows no command", where=Where(where), hint=hint)
    return found


def _remarks(setup: MonetSetup | None) -> Iterator[str]:
    if setup is not None and setup.transitions is None:
        yield f"there is no {TRANSITIONS}: MoNet knows no way out of the posture it starts in"


def _concerns(finding: MonetFinding, stick: MemoryStick, models: Collection[str]) -> bool:
    """Tell whether a finding is of files that these models move by; of some nothing says whose they are.

    A sound that is missing is told when it is to be heard.
    """
    path, line = finding.path, finding.line
    entries = [(db.path, one) for db in stick.designdbs for one in db.entries]
    said = [one for at, one in entries if at == path and one.line.number == line]
    if any(one.key == SOUNDS for one in said):
        return False
    whose = {one.model for one in said}
    if path is not None:
        folder = path.parent.name.upper()
        whose |= {name for name, one in MODELS.items() if folder in {name.upper(), one.folder.upper()}}
    return not models or not whose or not whose.isdisjoint({"", *models})


def _files(paths: Iterable[str | Path | None]) -> Iterator[Path]:
    """Yield what files there are, and of memory sticks those that programs are made from."""
    for path in (Path(one) for one in paths if one is not None):
        if path.is_dir():
            held = (stick_root(path) or path).rglob("*")
            yield from (one for one in held if one.name.upper() in ON_STICK or one.suffix.upper() == ARCHIVE)
        else:
            yield path


def _documents(program: OpenRProgram, objects: str | Path | None) -> dict[str, str]:
    """Return what a recording carries to be replayed: the texts of all files a program is made from."""
    paths: list[Path | None] = [None if objects is None else Path(objects)]
    if "EKMotion" in program.config.objects:
        paths += [program.poses or POSES, program.sequences or MOVES]
    if program.monet is not None:
        one = program.monet
        files = (one.commands, one.transitions, one.motions, one.sounds)
        paths += [file.path for file in files if file is not None]
    connect = "".join(f"{line}\n" for line in program.config.lines)
    return {path.name: _text(path) for path in paths if path is not None} | {CONNECT: connect}


def _text(path: Path) -> str:
    """Return a file as text: an archive as hexadecimal digits, or a large one's SHA-256."""
    data = read_file_bytes(path)
    if is_text(data):
        return data.decode("utf-8", "backslashreplace")
    return data.hex() if len(data) <= MOST_CARRIED else f"sha256:{sha256(data).hexdigest()}"


def openr_programs(stick: str | Path | None = None) -> list[dict[str, Any]]:
    """Return the programs that ship: `name`, `about`, `objects`, `commands` and `connections` of each.

    Args:
        stick: folder of a memory stick; those of MoNet's commands are told that are on it.
    """
    return [
        {
            "name": one.name,
            "about": one.about,
            "objects": [name for name in one.config.objects if name not in {COMMANDER, VIRTUAL_ROBOT}],
            "commands": _commands(one.name, stick),
            "connections": [str(line) for line in one.config.lines],
        }
        for one in PROGRAMS.values()
    ]


def _commands(name: str, stick: str | Path | None) -> str:
    """Return what the objects of a program say of the words they know."""
    if name != MONET:
        return set_up_openr(name).vocabulary
    if stick is None:
        return "MoNetExecute(ID), or the ID alone; --stick FOLDER tells which there are on a memory stick"
    return set_up_openr(name, stick=stick).vocabulary
