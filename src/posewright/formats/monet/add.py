"""`monet add`: from any motion file to a memory stick that plays it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from posewright.documents import locked
from posewright.errors import OutputError, Where
from posewright.formats.monet.change import Change, taken_in
from posewright.formats.monet.finding import MonetFinding
from posewright.formats.monet.home import Home, Place, folders_of, home_at
from posewright.formats.monet.limits import MOTION_AGENT
from posewright.formats.monet.request import Registration, fitted, motion_to_add, name_for
from posewright.formats.monet.writing import write_all
from posewright.formats.motion_file import Reference
from posewright.motions import Motion
from posewright.robots import Robot

DEFAULT_MODEL = "ERS-7"


@dataclass(frozen=True)
class Added:
    """What was added, and where.

    Attributes:
        id: by which a program asks for it.
        name: what it is called.
        model: the robot it is for.
        archive: the archive that was written.
        commands: the MONETCMD.CFG that was written.
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
    stick: Place,
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
    with locked(*folders_of(stick)):
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
        raise OutputError(
            "something was written here before, and would be lost",
            where=Where(path=path),
            hint="name another folder, or copy this one to the stick first",
        )
