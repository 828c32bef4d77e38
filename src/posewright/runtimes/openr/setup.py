"""Setting up a program of OPEN-R objects: from a shipped program, a CONNECT.CFG or a memory stick."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from posewright.control import require_known_options
from posewright.documents import is_folder, is_path, path_exists
from posewright.documents.plain import PlainMapping
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
    find_child,
    find_stick,
    find_stick_root,
)
from posewright.runtimes.openr.stick.setup import SOUNDS
from posewright.runtimes.openr.user_objects import read_objects

ROBOT = "sony_ers7"
"""Default robot of a program."""

MONET = "monet"
MIDDLEWARE = "MW"
ON_STICK = frozenset({CONNECT, COMMANDS, DESIGNDB, TRANSITIONS})
PLAYERS = ("sony", "exact")
MONET_OBJECTS = frozenset({"MoNet", "MotionAgents", "SoundAgent"})
"""Objects that need MONET files."""

MAX_RECORDED_BYTES = 1_000_000
"""Of a larger archive a recording has only the digest [bytes]."""


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
    """Return a program that is ready to run; arguments and errors as `run_openr`."""
    robot = robot_called(robot) if isinstance(robot, str) else robot
    if player not in PLAYERS:
        raise UnknownNameError.among("player", player, PLAYERS)
    if stick is not None and monet:
        raise InputError("a memory stick and MONET files are both given", hint="give one of them")
    user_objects = {} if objects is None else read_objects(objects)
    if program is None and stick is None and not monet:
        hint = f"name one of {', '.join(PROGRAMS)}, or a {CONNECT}"
        raise InputError("no program is given", hint=hint)
    name = MONET
    remarks: tuple[str, ...] = ()
    if program is not None:
        name = str(program)
    elif stick is not None:
        name, remarks = _find_stick_program(Path(stick), user_objects)
    config, default_pose = _read_connections(name)
    files = [stick] if stick is not None else list(dict.fromkeys(map(Path, monet)))
    plays_monet = not MONET_OBJECTS.isdisjoint(config.objects)
    unused: list[str] = []
    for option, file in (("--poses", poses), ("--sequences", sequences)):
        if file is not None and "EKMotion" not in config.objects:
            unused.append(option)
    if user_objects and user_objects.keys().isdisjoint(config.objects):
        unused.append("--objects")
    if not plays_monet:
        monet_options = {
            "--stick": program is not None and stick is not None,
            "--monet": bool(monet),
            "--player": player != PLAYERS[0],
        }
        unused += [option for option, is_given in monet_options.items() if is_given]
    if unused:
        message = f"no object of the program uses {', '.join(unused)}"
        raise InputError(message, hint=f"the objects are {', '.join(config.objects)}")
    setup = _select_setup(read_stick(*files), robot, Path(files[0])) if files and plays_monet else None
    robot.pose(pose or default_pose)  # raises an error if there is no such pose
    warnings = [*remarks]
    if setup is not None and setup.transitions is None:
        warnings.append(f"there is no {TRANSITIONS}: MoNet cannot leave the posture it starts in")
    warnings += [
        f"{name} is that of {objects}, not ours"
        for name in config.objects
        if name in user_objects and name in OBJECTS
    ]
    openr_program = OpenRProgram(
        name,
        config,
        robot=robot,
        pose=pose or default_pose,
        poses=None if poses is None else Path(poses),
        sequences=None if sequences is None else Path(sequences),
        monet=setup,
        exact=player == "exact",
        user_objects=user_objects,
        warnings=tuple(warnings),
    )
    connect_file = None if name in PROGRAMS else name
    program_files = _program_files((connect_file, poses, sequences, objects, *files))
    openr_program = replace(
        openr_program,
        documents=_read_documents(openr_program, objects),
        files=tuple(program_files),
    )
    return openr_program.with_commands(commands)


class OpenRKind:
    """Finds and reads programs of OPEN-R objects: a `control.ProgramKind`."""

    name = KIND
    option_names = ("commands", "pose", "stick", "monet", "poses", "sequences", "player", "objects")
    """Options of `set_up_openr`; several MONET files are separated by commas."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the shipped programs; none for a robot that is no OPEN-R robot."""
        return tuple(PROGRAMS) if robot is None or robot.namings.get(LOCATORS) else ()

    def recognises(self, name: str) -> bool:
        """Return whether a path is a CONNECT.CFG, or a folder or memory stick that contains one."""
        path = Path(name)
        if not is_folder(path):
            return path.suffix.lower() == ".cfg"
        return find_child(path, CONNECT) is not None or _has_connect_file(path)

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> OpenRProgram:
        """Return the program of a name or path.

        Args:
            name: the name of a shipped program, or path of a CONNECT.CFG, folder or memory stick.
            robot: the robot; None for an ERS-7.
            options: the options of `set_up_openr`, by name.

        Raises:
            UnknownNameError: there is no such program, pose, player, object or option.
            InputError: a file is faulty, no object knows a command, or the robot is not an OPEN-R robot.
        """
        require_known_options(options, self.option_names, self.name)
        program: str | None = name
        stick = options.get("stick")
        if name not in PROGRAMS and is_folder(Path(name)):
            connect = find_child(Path(name), CONNECT)
            program = None if connect is None else str(connect)
            if connect is None and stick is not None:
                raise InputError(f"two memory sticks are given: {name} and {stick}", hint="give one of them")
            stick = name if connect is None else stick
        openr_program = set_up_openr(
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
        openr_program.controller()  # checks the objects, their connections and the script
        return openr_program


def _has_connect_file(folder: Path) -> bool:
    try:
        return _find_connect_file(folder) is not None
    except FormatError:  # it is no memory stick
        return False


def _find_stick_program(folder: Path, user_objects: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Choose the program of a memory stick: its CONNECT.CFG if all objects are available, otherwise MoNet.

    Args:
        folder: the memory stick, or a folder on it.
        user_objects: names of the objects that the user gives as Python classes.

    Returns:
        Name or path of the program, and remarks about the choice.

    Raises:
        FormatError: the stick has neither, or only objects that are binaries for the AIBO's processor.
    """
    path = _find_connect_file(folder)
    if path is None:
        return MONET, ()
    available = {VIRTUAL_ROBOT, *OBJECTS, *user_objects}
    config = read_connect_file(path)
    missing = [name for name in config.objects if name not in available]
    if not missing:
        return str(path), ()
    message = f"the binary of {', '.join(missing)} is for the AIBO's processor and cannot run here"
    try:
        read_stick(folder)
    except FormatError:
        hint = f"give a Python class with the option `objects`; available are {', '.join(sorted(available))}"
        raise FormatError(message, where=config.where(missing[0]), hint=hint) from None
    return MONET, (f"{path}: {message}; MoNet runs with the stick's files",)


def _find_connect_file(folder: Path) -> Path | None:
    """Return OPEN-R/MW/CONF/CONNECT.CFG of a stick, otherwise the CONNECT.CFG of another part of OPEN-R."""
    openr_folder = find_child(find_stick(folder), OPEN_R)
    parts = [] if openr_folder is None else sorted(openr_folder.iterdir())
    for part in sorted(parts, key=lambda subfolder: subfolder.name.upper() != MIDDLEWARE):
        conf = find_child(part, "CONF")
        path = None if conf is None else find_child(conf, CONNECT)
        if path is not None:
            return path
    return None


def _read_connections(name: str) -> tuple[ConnectConfig, str]:
    """Return the connections of a program, and its start pose."""
    is_file_name = is_path(name) or Path(name).suffix.lower() == ".cfg" or path_exists(Path(name))
    if name not in PROGRAMS and is_file_name:
        return read_connect_file(Path(name)), "stand"
    shipped = programs.program(name)
    return shipped.config, shipped.pose


def _select_setup(stick: MemoryStick, robot: Robot, path: Path) -> MonetSetup:
    """Return the MONET files of a robot: those of its model, otherwise the only ones.

    Args:
        stick: the files that were read.
        robot: the robot.
        path: where they were read, for messages.

    Raises:
        FormatError: one of these files is faulty or missing.
        InputError: there are only files of other models.
    """
    # The robot's own model is preferred; others may share its joints, as ERS-210 and ERS-220 do.
    models = [model for model, known in MODELS.items() if known.own_card == robot.name]
    models += [model for model, known in MODELS.items() if known.robot == robot.name]
    setup = stick.setups[0] if len(stick.setups) == 1 else None
    for model in models:
        if model_setup := stick.setup(model):
            setup = model_setup
            break
    relevant_models = setup.models if setup else models  # findings about files of others do not matter
    errors = [
        FormatError(finding.message, where=Where(finding.path, finding.line), hint=finding.hint or None)
        for finding in stick.findings
        if finding.level is Level.ERROR and _may_concern(finding, stick, relevant_models)
    ]
    if errors:
        errors[0].other_errors = tuple(errors[1:])
        raise errors[0]
    if setup is None:
        names = ", ".join(dict.fromkeys(name for item in stick.setups for name in item.models))
        hint = f"there are files for {names}"
        if not names:
            hint = f"there are {len(stick.setups)} sets of files, and none states its robot"
        raise InputError(f"no MONET files for {robot.name}", hint=hint)
    if setup.commands is None:
        hint = "run posewright aibo check to see what was found"
        raise FormatError(f"there is no {COMMANDS}, so MoNet has no commands", where=Where(path), hint=hint)
    return setup


def _may_concern(finding: MonetFinding, stick: MemoryStick, models: Collection[str]) -> bool:
    """Return whether a finding may concern files that these models need.

    A missing sound is reported when it is to be played. A file without a model may concern any.
    """
    file_models: set[str] = set()
    for designdb in stick.designdbs:
        for entry in designdb.entries:
            if designdb.path == finding.path and entry.line.number == finding.line:
                if entry.key == SOUNDS:
                    return False
                file_models.add(entry.model)
    if finding.path is not None:
        folder = finding.path.parent.name.upper()
        for name, model in MODELS.items():
            if folder in {name.upper(), model.folder.upper()}:
                file_models.add(name)
    # DESIGNDB.CFG states an empty model for entries above its first section, which all models share
    return not models or not file_models or not file_models.isdisjoint({"", *models})


def _program_files(paths: Iterable[str | Path | None]) -> Iterator[Path]:
    """Yield files, and of memory sticks those that programs use."""
    for path in (Path(item) for item in paths if item is not None):
        if not path.is_dir():
            yield path
            continue
        for file in (find_stick_root(path) or path).rglob("*"):
            if file.name.upper() in ON_STICK or file.suffix.upper() == ARCHIVE:
                yield file


def _read_documents(program: OpenRProgram, objects: str | Path | None) -> dict[str, str]:
    """Return the texts of all files of a program, which a recording needs to be replayed, by file name."""
    paths: list[Path | None] = [None if objects is None else Path(objects)]
    if "EKMotion" in program.config.objects:
        paths += [program.poses or POSES, program.sequences or MOVES]
    if program.monet is not None:
        setup = program.monet
        files = (setup.commands, setup.transitions, setup.motions, setup.sounds)
        paths += [file.path for file in files if file is not None]
    documents = {path.name: _read_as_text(path) for path in paths if path is not None}
    documents[CONNECT] = "".join(f"{line}\n" for line in program.config.lines)
    return documents


def _read_as_text(path: Path) -> str:
    """Return a file as text: an archive as hexadecimal digits, or a large one's SHA-256."""
    data = read_file_bytes(path)
    if is_text(data):
        return data.decode("utf-8", "backslashreplace")
    return data.hex() if len(data) <= MAX_RECORDED_BYTES else f"sha256:{sha256(data).hexdigest()}"


def openr_programs(stick: str | Path | None = None) -> list[PlainMapping]:
    """Return the shipped programs: `name`, `about`, `objects`, `commands` and `connections` of each.

    Args:
        stick: folder of a memory stick whose MoNet commands are listed.
    """
    system_objects = {COMMANDER, VIRTUAL_ROBOT}
    return [
        {
            "name": shipped.name,
            "about": shipped.description,
            "objects": [name for name in shipped.config.objects if name not in system_objects],
            "commands": _commands_of(shipped.name, stick),
            "connections": [str(line) for line in shipped.config.lines],
        }
        for shipped in PROGRAMS.values()
    ]


def _commands_of(name: str, stick: str | Path | None) -> str:
    """Return the commands that the objects of a shipped program accept, as a text."""
    if name != MONET:
        return set_up_openr(name).vocabulary
    if stick is None:
        return "MoNetExecute(ID), or the ID alone; --stick FOLDER lists those of a memory stick"
    return set_up_openr(name, stick=stick).vocabulary
