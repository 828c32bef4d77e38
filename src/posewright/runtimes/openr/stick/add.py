"""`aibo add`: adds a motion to a memory stick, with a command that plays it; writes all files or none."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from posewright.display import Lines
from posewright.documents import (
    back_up,
    create_folder,
    lock_folders,
    path_exists,
    require_writable,
    write_atomically,
)
from posewright.errors import FormatError, OutputError, UnknownNameError, UnsafeCommandError, Where
from posewright.formats import Compression, GzipWrapping, PageReference
from posewright.hazards import require_no_faults
from posewright.motions import Level, Motion
from posewright.robots import Robot
from posewright.runtimes.openr.stick.check import check_setup
from posewright.runtimes.openr.stick.command_checks import NO_ID, check_commands, free_id
from posewright.runtimes.openr.stick.finding import COUNT_RULE, MonetFinding
from posewright.runtimes.openr.stick.limits import MOTION_AGENT, resolve_model
from posewright.runtimes.openr.stick.lookup import (
    FAULT,
    agent_lines_of,
    find_played_entry,
    indices_of_played_motions,
)
from posewright.runtimes.openr.stick.memory_stick import (
    OPEN_R,
    find_child,
    find_stick,
    plain_absolute,
    read_commands_file,
    read_stick,
)
from posewright.runtimes.openr.stick.posture_transitions import JUMP
from posewright.runtimes.openr.stick.request import (
    CommandRegistration,
    build_comment,
    prepare_motion,
    read_motion_to_add,
    resolve_name,
)
from posewright.runtimes.openr.stick.setup import MonetArchive, MonetSetup, read_monet_archive
from posewright.runtimes.openr.stick.text import AgentLine, MonetCommands


@dataclass(frozen=True)
class StickChange:
    """The changed files, before they are written.

    Attributes:
        archive: the archive with the new motion.
        commands: the commands with the new one.
        index: index of the motion in the archive, from 0.
        findings: warnings that the change causes, and notes on motions that are no longer played.
    """

    archive: MonetArchive
    commands: MonetCommands
    index: int
    findings: tuple[MonetFinding, ...]


def plan_change(
    setup: MonetSetup, registration: CommandRegistration, data: bytes, *, overwrite: bool = False
) -> StickChange:
    """Return the two files as changed: the archive with the motion, the commands with one that plays it.

    Nothing is written. Every other entry keeps its bytes and its index, every other line its bytes.

    Args:
        setup: the present files.
        registration: the command.
        data: the motion as OMTN.
        overwrite: whether a command with the same ID, and its motion, may be replaced.

    Raises:
        FormatError: the ID or the name is taken, or the robot could not play the motion.
    """
    archive, commands = _require_files(setup)
    entry_data = GzipWrapping().wrap(data) if archive.oda_archive.compression is Compression.ENTRIES else data
    _require_free_id(commands, registration.id, overwrite=overwrite)
    if not _is_unused_leftover(setup, archive, registration.name, entry_data):
        _require_free_name(setup, archive, registration, overwrite=overwrite)
    new_archive = MonetArchive(archive.oda_archive.with_entry(registration.name, entry_data), archive.path)
    new_commands = _with_registration(commands, registration)
    _require_readable_head(new_commands, registration.id)
    new_setup = replace(setup, motions=new_archive, commands=new_commands)
    findings = (*new_findings(setup, new_setup), *_unplayed_motions(setup, new_setup, registration.id))
    for finding in findings:
        if finding.level is Level.ERROR:
            raise FormatError(
                f"the robot could not play it, so nothing is written: {finding.message}",
                where=Where(path=finding.path),
                hint=finding.hint or None,
            )
    index = new_archive.oda_archive.index_of(registration.name)
    return StickChange(new_archive, new_commands, index, findings)


def _with_registration(commands: MonetCommands, registration: CommandRegistration) -> MonetCommands:
    """Return the text of MONETCMD.CFG with a new command at its end, or in place of that with the same ID."""
    existing = commands.commands_with_id(registration.id)
    if not existing:
        return commands.with_added_command(registration.head, registration.lines, registration.comment)
    # of several commands with one ID, MoNet runs the last
    new_comment = build_comment(registration.name)
    # by the comment that posewright wrote above the old command, if it did
    new_comments = {build_comment(line.name): new_comment for line in existing[-1].agent_lines}
    return commands.with_replaced_command(
        registration.id, registration.head, registration.lines, new_comments
    )


def new_findings(before: MonetSetup, after: MonetSetup) -> tuple[MonetFinding, ...]:
    """Return the errors and warnings that a change causes, regardless of moved lines.

    Jumps and faults are left out: they are checked for the motion itself.
    """
    # how many findings of a kind were there before and have not been met again
    n_unmatched = Counter(_finding_key(finding) for finding in check_setup(before))
    findings = []
    for finding in check_setup(after):
        key = _finding_key(finding)
        n_unmatched[key] -= 1
        is_new = n_unmatched[key] < 0
        if is_new and finding.level is not Level.NOTE and finding.rule not in {JUMP, FAULT}:
            findings.append(finding)
    return tuple(findings)


class _FindingKey(NamedTuple):
    """A finding without line numbers, which a change moves."""

    level: Level
    rule: str
    message: str


def _finding_key(finding: MonetFinding) -> _FindingKey:
    return _FindingKey(finding.level, finding.rule, re.sub(r"line \d+", "line", finding.message))


def _unplayed_motions(before: MonetSetup, after: MonetSetup, command_id: int) -> Iterator[MonetFinding]:
    """Yield a note about each motion that the replaced command played and that no command plays any more.

    Args:
        before: the files before the change.
        after: the files after it.
        command_id: the ID of the replaced command.
    """
    replaced_commands = () if before.commands is None else before.commands.commands_with_id(command_id)
    still_played_indices = indices_of_played_motions(after)
    for command in replaced_commands:
        for line in command.agent_lines:
            played_entry = find_played_entry(line, before)
            if (
                played_entry is None
                or played_entry.index is None
                or played_entry.archive is not before.motions
            ):
                continue  # the line plays a sound, or nothing that is in the archive
            if played_entry.index not in still_played_indices:
                message = f"{line.name} stays in the archive, though no line plays it any more"
                yield MonetFinding(Level.NOTE, "unused", message, played_entry.archive.path)


def _require_files(setup: MonetSetup) -> tuple[MonetArchive, MonetCommands]:
    """Return archive and commands; raise a FormatError if one of them is missing."""
    path = next((text.path for text in (setup.commands, setup.transitions) if text is not None), None)
    if setup.commands is None:
        raise FormatError("there is no MONETCMD.CFG in the folder of this file", where=Where(path=path))
    if setup.motions is None:
        hint = "the lines MONET_MOTION of DESIGNDB.CFG name it; posewright aibo check reports the problem"
        raise FormatError("there is no archive of motions for this", where=Where(path=path), hint=hint)
    return setup.motions, setup.commands


def _require_readable_head(commands: MonetCommands, command_id: int) -> None:
    """Raise a FormatError if MoNet would read the new head as an agent line of an earlier command.

    Its message names the earlier command whose head announces a wrong number of lines.
    """
    head_line_number = commands.commands_with_id(command_id)[-1].head.text_line.number
    if head_line_number in commands.head_line_numbers:
        return
    # the older MoNet has the fewer rules; only wrong numbers of lines matter here
    findings = check_commands(commands, is_older_monet=True)
    cause = next(
        (finding for finding in findings if finding.level is Level.ERROR and finding.rule == COUNT_RULE), None
    )
    raise FormatError(
        "MoNet would not find the new command" + (f": {cause.message}" if cause else ""),
        where=Where(path=commands.path, line=cause.line if cause else None),
        hint="correct this first; posewright aibo check reports other problems",
    )


def _require_free_id(commands: MonetCommands, command_id: int, *, overwrite: bool) -> None:
    """Raise a FormatError if a command has the ID and must not be replaced."""
    existing = commands.commands_with_id(command_id)
    if existing and not overwrite:
        names = " and ".join(line.name for line in existing[-1].agent_lines) or "nothing"
        hint = f"a free id is {free_id(commands)}; --replace puts the new command in its place"
        where = Where(path=commands.path, line=existing[-1].head.text_line.number)
        raise FormatError(f"id {command_id} is taken: it plays {names}", where=where, hint=hint)


def _require_free_name(
    setup: MonetSetup, archive: MonetArchive, registration: CommandRegistration, *, overwrite: bool
) -> None:
    """Raise a FormatError if the name of the motion is taken, or cannot be replaced."""
    name = registration.name
    indices = set(_find_motion_indices(archive, name))
    if not indices:
        return
    if not overwrite:
        message = f"the archive already has a motion called {name!r}"
        hint = "give this one another --name; --replace puts it in the other's place"
        raise FormatError(message, where=Where(path=archive.path), hint=hint)
    if indices != {archive.oda_archive.indices.get(name)}:  # the entry of that name cannot just be replaced
        message = f"the motion called {name!r} lies in an entry of another name, or in several"
        raise FormatError(message, where=Where(path=archive.path), hint="give this one another --name")
    for line in _playing_lines(setup, indices, registration.id):
        message = f"this line, too, plays {name!r}, not only command {registration.id}"
        where = Where(path=line.text_line.path, line=line.text_line.number)
        raise FormatError(message, where=where, hint="give this one another --name")


def _is_unused_leftover(setup: MonetSetup, archive: MonetArchive, name: str, data: bytes) -> bool:
    """Return whether the same motion is in the archive and unused, as after an interrupted addition."""
    indices = set(_find_motion_indices(archive, name))
    is_same = (
        indices == {archive.oda_archive.indices.get(name)} and archive.oda_archive.entry(name).data == data
    )
    return is_same and not any(_playing_lines(setup, indices, except_id=NO_ID))


def _find_motion_indices(archive: MonetArchive, name: str) -> Iterator[int]:
    """Yield the indices of entries with a name, and of those whose motion has it."""
    for index, (entry, label) in enumerate(zip(archive.entries, archive.labels, strict=True)):
        if entry.name == name or (label is not None and label.name == name):
            yield index


def _playing_lines(
    setup: MonetSetup, indices: Collection[int], except_id: int | None = None
) -> Iterator[AgentLine]:
    """Yield the lines that play motions with some indices, except lines of commands with an ID."""
    excepted_lines: set[AgentLine] = set()
    if setup.commands is not None and except_id is not None:
        for command in setup.commands.commands_with_id(except_id):
            excepted_lines.update(command.agent_lines)
    for line in agent_lines_of(setup):
        played_entry = find_played_entry(line, setup)
        if line in excepted_lines or played_entry is None or played_entry.archive is not setup.motions:
            continue
        if played_entry.index in indices:
            yield line


def write_all(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write files in their order and verify each; if one fails, restore the others.

    Each file is written atomically, so it is always the old or the new one. Before its first change a file is
    copied to `NAME.bak`.

    Returns:
        The new copies.

    Raises:
        OutputError: a file cannot be written; then none has changed.
    """
    for path in files:
        require_writable(path)
    previous = {path: path.read_bytes() if path_exists(path) else None for path in files}
    backups: list[Path] = []
    written: list[Path] = []
    try:
        for path in files:
            backup = back_up(path)
            if backup is not None:
                backups.append(backup)
        for path, data in files.items():
            written.append(path)
            write_atomically(path, data)
            if path.read_bytes() != data:
                raise OutputError("the written file reads back differently", where=Where(path=path))
    except BaseException:
        for path in reversed(written):
            _restore(path, previous[path])
        for backup in backups:
            _restore(backup, None)
        raise
    return tuple(backups)


def _restore(path: Path, data: bytes | None) -> None:
    """Write a file's previous bytes, or delete it if it did not exist; errors are ignored."""
    with contextlib.suppress(OutputError, OSError):
        if data is None:
            path.unlink(missing_ok=True)
        elif not path_exists(path) or path.read_bytes() != data:
            write_atomically(path, data)


StickSource: TypeAlias = "Path | str | tuple[Path | str, Path | str]"
"""The folder that holds `OPEN-R`; or an ODA archive and a MONETCMD.CFG."""


@dataclass(frozen=True)
class StickFiles:
    """The MONET files of one robot model.

    Attributes:
        setup: the files.
        root: the folder with `OPEN-R`; None if the files are not on a stick.
    """

    setup: MonetSetup
    root: Path | None = None

    def output_path(self, output: Path, path: Path) -> Path:
        """Return the path of a file in an output folder with the structure of the stick."""
        if self.root is None:
            return output / path.name
        return output / plain_absolute(path).relative_to(plain_absolute(self.root))


def read_stick_files(source: StickSource, model: str) -> StickFiles:
    """Read the files of a robot model from a stick, or the given archive and command file."""
    if isinstance(source, tuple):
        archive_path, commands_path = map(Path, source)
        commands = read_commands_file(commands_path)
        motions = read_monet_archive(archive_path)
        return StickFiles(MonetSetup((model,), commands=commands, motions=motions))
    root = find_stick(Path(source))
    return StickFiles(_read_setup_on_stick(root, model), root)


def changed_files(setup: MonetSetup) -> Iterator[Path]:
    """Yield the files that an addition changes, whose folders are locked meanwhile."""
    for file in (setup.commands, setup.motions):
        if file is not None and file.path is not None:
            yield file.path


def _read_setup_on_stick(root: Path, model: str) -> MonetSetup:
    """Return the files of a model on a stick; raise an error if they are missing or unreadable."""
    stick = read_stick(find_child(root, OPEN_R) or root)
    setup = stick.setup(model)
    if setup is not None:
        return setup
    for finding in stick.findings:
        if finding.level is Level.ERROR:
            where = Where(path=finding.path, line=finding.line)
            raise FormatError(finding.message, where=where, hint=finding.hint or None)
    models = [name for setup_on_stick in stick.setups for name in setup_on_stick.models]
    raise UnknownNameError.among(
        "robot", model, models, owner="among the MONET files of this stick", where=Where(path=root)
    )


DEFAULT_MODEL = "ERS-7"


@dataclass(frozen=True)
class AddedMotion:
    """The result of an addition.

    Attributes:
        id: the ID of the command.
        name: the name of the motion.
        model: the robot model.
        archive: the file with the motion.
        commands: the file with the command.
        index: index of the motion in the archive, from 0.
        losses: parts of the motion that the robot cannot do.
        remarks: values that were filled in or converted.
        findings: warnings and notes about the new command.
        faults: errors of `motion check` in the motion; they were accepted.
        backups: copies of the files as they were before the first change.
    """

    id: int
    name: str
    model: str
    archive: Path
    commands: Path
    index: int
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    findings: tuple[MonetFinding, ...] = ()
    faults: tuple[str, ...] = ()
    backups: tuple[Path, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain data."""
        return {
            "id": self.id,
            "name": self.name,
            "model": self.model,
            "archive": str(self.archive),
            "index": self.index,
            "commands": str(self.commands),
            "losses": list(self.losses),
            "remarks": list(self.remarks),
            "findings": [finding.data() for finding in self.findings],
            "faults": list(self.faults),
            "backups": [str(path) for path in self.backups],
        }

    def lines(self) -> Lines:
        """Yield the files of motion and command, and the notes."""
        yield f"{self.name} -> {self.archive}, index {self.index}"
        yield f"command {self.id} -> {self.commands}"
        for path in self.backups:
            yield f"  as it was: {path}"
        for remark in self.remarks:
            yield f"  note: {remark}"
        for finding in self.findings:
            if finding.level is Level.NOTE:
                yield f"  note: {finding.message}"


def add_to_stick(
    motion: Motion | Path | str,
    stick: StickSource,
    *,
    id: int,  # noqa: A002 -- the word people look for
    name: str | None = None,
    model: str = DEFAULT_MODEL,
    agent: str = MOTION_AGENT,
    sound: str | None = None,
    sync: bool = False,
    overwrite: bool = False,
    page: PageReference | None = None,
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    accept_jump: bool = False,
    accept_faults: bool = False,
    output: Path | str | None = None,
) -> AddedMotion:
    """Add a motion to the archive of a memory stick, and register it in the robot's list of commands.

    Everything is checked before anything is written; if the second file cannot be written, the first is
    restored. Other motions and other lines keep their bytes.

    Args:
        motion: the motion, or a file of any supported format.
        stick: the folder with `OPEN-R`; or an ODA archive and a MONETCMD.CFG without a stick, for which
            sounds and transitions between postures are not looked up.
        id: the ID by which programs request it: `MoNetExecute(60)`.
        name: the name of the motion; by default its own, if that states its postures.
        model: robot model: ERS-7, ERS-210, ERS-220, or the name of its card.
        agent: plays the motion: monetagentMTN, or monetagentMTNWALK for steps.
        sound: a sound of the stick that is played with it.
        sync: whether both begin together.
        overwrite: whether a command with that id, and its motion, may be replaced.
        page: the motion in a file with several.
        robot: the robot of a file that does not name its robot.
        accept_loss: whether parts that the robot cannot do may be left out.
        accept_jump: whether it may begin or end far from the postures in its name.
        accept_faults: whether it is added although `motion check` reports errors.
        output: a folder to write to instead of the stick, with the same structure, ready to be copied.

    Raises:
        FormatError: the id or the name is taken, or the robot could not play it; there is no stick; the
            motion cannot be read.
        LossError: parts would be left out, and `accept_loss` is false.
        UnsafeCommandError: the robot would jump, and `accept_jump` is false.
        UnsafeMotionError: `motion check` reports errors, and `accept_faults` is false.
        UnknownNameError: the stick has no files for that model, or there is no such agent.
        OutputError: a file cannot be written.
    """
    model = resolve_model(model)
    source = read_motion_to_add(motion, page, robot)
    registration = CommandRegistration(id, resolve_name(source, name), agent, sound, sync)
    path = None if isinstance(motion, Motion) else Path(motion)
    rendering, jumps, faults = prepare_motion(
        source, model, registration.name, accept_loss=accept_loss, path=path
    )
    with lock_folders(*changed_files(read_stick_files(stick, model).setup)):
        files = read_stick_files(stick, model)
        change = plan_change(files.setup, registration, rendering.data, overwrite=overwrite)
        _require_no_jump(jumps, path or Path(registration.name), accept_jump=accept_jump)
        require_no_faults(faults, registration.name, accept_faults=accept_faults, path=path)
        output_folder = None if output is None else Path(output)
        archive_path, commands_path, backups = _write_change(change, files, output_folder)
    return AddedMotion(
        id,
        registration.name,
        model,
        archive=archive_path,
        commands=commands_path,
        index=change.index,
        losses=rendering.losses,
        remarks=rendering.remarks,
        findings=(*jumps, *change.findings),
        faults=faults,
        backups=backups,
    )


def _require_no_jump(findings: tuple[MonetFinding, ...], path: Path, *, accept_jump: bool) -> None:
    """Raise an UnsafeCommandError if there is an error about a jump, unless it is accepted."""
    if accept_jump:
        return
    for finding in findings:
        if finding.rule == JUMP and finding.level is Level.ERROR:
            hint = f"{finding.hint}; accept_jump=True adds it all the same"
            raise UnsafeCommandError(finding.message, where=Where(path=path), hint=hint)


class _WrittenFiles(NamedTuple):
    """The files that were written, and the copies of those that they replaced for the first time."""

    archive: Path
    commands: Path
    backups: tuple[Path, ...]


def _write_change(change: StickChange, files: StickFiles, output: Path | None) -> _WrittenFiles:
    """Write the files to the stick, or to an output folder.

    Raises:
        OutputError: a file cannot be written, or one in the output folder would be overwritten.
    """
    archive_path = change.archive.path
    commands_path = change.commands.path or Path()
    if output is not None:
        archive_path = files.output_path(output, archive_path)
        commands_path = files.output_path(output, commands_path)
        for path in (archive_path, commands_path):
            _require_absent(path)
        for path in (archive_path, commands_path):
            create_folder(path.parent)
    contents = {archive_path: change.archive.oda_archive.render(), commands_path: change.commands.render()}
    # The archive first: an interruption between the two leaves only an unused motion.
    return _WrittenFiles(archive_path, commands_path, backups=write_all(contents))


def _require_absent(path: Path) -> None:
    if path_exists(path):
        message = "the file exists already and would be overwritten"
        hint = "name another folder, or copy this one to the stick first"
        raise OutputError(message, where=Where(path=path), hint=hint)
