"""`monet add`: from any motion file to a memory stick that plays it; all files are written, or none."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from posewright.documents import locked, refuse_unwritable, write_atomically
from posewright.errors import FormatError, OutputError, UnknownNameError, Where
from posewright.formats.motion_file import Reference
from posewright.motions import Level, Motion
from posewright.robots import Robot
from posewright.sticks.change import Change, taken_in
from posewright.sticks.files import OPEN_R, child, plain_absolute, read_commands_file, stick_in
from posewright.sticks.finding import MonetFinding
from posewright.sticks.limits import MOTION_AGENT
from posewright.sticks.memory_stick import read_stick
from posewright.sticks.request import Registration, fitted, motion_to_add, name_for
from posewright.sticks.setup import MonetSetup, read_monet_archive


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files in their order, read each back, and if one fails put back what was there.

    Each is written atomically, so that whatever happens it is the old one or the new one.

    Raises:
        OutputError: one of them cannot be written; then none has changed.
    """
    for path in files:
        refuse_unwritable(path)
    before = {path: path.read_bytes() if path.exists() else None for path in files}
    written: list[Path] = []
    try:
        for path, data in files.items():
            written.append(path)
            write_atomically(path, data)
            if path.read_bytes() != data:
                raise OutputError("what was written cannot be read back as it was", where=Where(path=path))
    except BaseException:
        for path in reversed(written):
            _put_back(path, before[path])
        raise


def _put_back(path: Path, data: bytes | None) -> None:
    with contextlib.suppress(OutputError, OSError):
        if data is None:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != data:
            write_atomically(path, data)


StickPlace: TypeAlias = "Path | str | tuple[Path | str, Path | str]"
"""The folder that holds `OPEN-R`; or an ODA archive and a MONETCMD.CFG."""


@dataclass(frozen=True)
class Home:
    """The files of one robot, and the folder below which they keep their places.

    Attributes:
        root: of a stick, the folder that holds `OPEN-R`; None where the files lie anywhere.
    """

    setup: MonetSetup
    root: Path | None = None

    def below(self, output: Path, path: Path) -> Path:
        """Return where a file goes in a folder that is to be like this."""
        if self.root is None:
            return output / path.name
        return output / plain_absolute(path).relative_to(plain_absolute(self.root))


def home_at(place: StickPlace, model: str) -> Home:
    """Read the files of a model."""
    if isinstance(place, tuple):
        archive, commands = map(Path, place)
        return Home(MonetSetup((model,), read_commands_file(commands), None, read_monet_archive(archive)))
    root = stick_in(Path(place))
    return Home(_setup_on(root, model), root)


def changed_files(setup: MonetSetup) -> Iterator[Path]:
    """Yield the files that are changed, whose folders are locked meanwhile."""
    for file in (setup.commands, setup.motions):
        if file is not None and file.path is not None:
            yield file.path


def _setup_on(root: Path, model: str) -> MonetSetup:
    stick = read_stick(child(root, OPEN_R) or root)
    setup = stick.setup(model)
    if setup is not None:
        return setup
    for finding in stick.findings:
        if finding.level is Level.ERROR:
            where = Where(path=finding.path, line=finding.line)
            raise FormatError(finding.message, where=where, hint=finding.hint or None)
    known = [name for one in stick.setups for name in one.models]
    raise UnknownNameError.among("robot with MONET files on this stick", model, known, where=Where(path=root))


DEFAULT_MODEL = "ERS-7"


@dataclass(frozen=True)
class Added:
    """What was added, and where.

    Attributes:
        id: by which a program asks for it.
        place: of the motion in the archive, from 0.
        losses: what of the motion the robot cannot do, in words.
        remarks: what had to be filled in or said in another way, in words.
        findings: what is to be said of the new command, short of an error.
    """

    id: int
    name: str
    model: str
    archive: Path
    commands: Path
    place: int
    losses: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    findings: tuple[MonetFinding, ...] = ()


def add_to_stick(
    motion: Motion | Path | str,
    stick: StickPlace,
    *,
    id: int,  # noqa: A002 -- the word people look for
    name: str | None = None,
    model: str = DEFAULT_MODEL,
    agent: str = MOTION_AGENT,
    sound: str | None = None,
    sync: bool = False,
    overwrite: bool = False,
    page: Reference | None = None,
    robot: str | Robot | None = None,
    accept_loss: bool = False,
    output: Path | str | None = None,
) -> Added:
    """Add a motion to the archive of a memory stick, and register it in the robot's list of commands.

    Everything is tried before anything is written; if the second file cannot be written, the first is put
    back. Other motions and other lines keep their bytes.

    Args:
        motion: the motion, or a file of any format that is read.
        stick: the folder that holds `OPEN-R`; or an ODA archive and a MONETCMD.CFG, without a stick. Then
            sounds and the ways between postures are not looked up.
        id: by which programs ask for it: `MoNetExecute(60)`.
        name: what it is to be called; default its own name, if that says where it begins and ends.
        model: which robot's files: ERS-7, ERS-210, ERS-220.
        agent: who plays it: monetagentMTN, or monetagentMTNWALK for steps.
        sound: a sound of the stick to go with it.
        sync: whether both begin together.
        overwrite: whether a command of that id, and its motion, may be replaced.
        page: which motion of the file.
        robot: whose motion it is, where the file does not say.
        accept_loss: whether what the robot cannot do may be left out.
        output: a folder to write to, in place of the stick: both files lie in it as on the stick, ready to
            be copied there.

    Raises:
        FormatError: the id or the name is taken, or the robot could not play it; there is no stick; the
            motion cannot be read.
        LossError: something would be lost, and `accept_loss` is false.
        UnknownNameError: the stick has no files for that model, or there is no such agent.
        OutputError: it cannot be written.
    """
    read = motion_to_add(motion, page, robot)
    wanted = Registration(id, name_for(read, name), agent, sound, sync)
    path = None if isinstance(motion, Motion) else Path(motion)
    fit = fitted(read, model, wanted.name, accept_loss=accept_loss, path=path)
    with locked(*changed_files(home_at(stick, model).setup)):
        home = home_at(stick, model)
        change = taken_in(home.setup, wanted, fit.rendering.data, overwrite=overwrite)
        archive, commands = _written(change, home, None if output is None else Path(output))
    findings = (*fit.findings, *change.findings)
    said = fit.rendering
    return Added(id, wanted.name, model, archive, commands, change.place, said.losses, said.remarks, findings)


def _written(change: Change, home: Home, output: Path | None) -> tuple[Path, Path]:
    """Write both files, and return where they are."""
    archive, commands = change.archive.path, change.commands.path or Path()
    if output is not None:
        archive, commands = home.below(output, archive), home.below(output, commands)
        for path in (archive, commands):
            _refuse_earlier(path)
        for path in (archive, commands):
            path.parent.mkdir(parents=True, exist_ok=True)
    # the archive first: were this stopped between the two, there would only be a motion that nobody asks for
    write_all({archive: change.archive.archive.render(), commands: change.commands.render()})
    return archive, commands


def _refuse_earlier(path: Path) -> None:
    if path.exists():
        what = "something was written here before, and would be lost"
        hint = "name another folder, or copy this one to the stick first"
        raise OutputError(what, where=Where(path=path), hint=hint)
