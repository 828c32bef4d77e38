"""`posewright aibo`: an AIBO's memory stick seen, checked and added to; its archives and its programs.

`show`, `check` and `add` are of the stick as a whole and stand here; `aibo archive` is for one archive of
motions, `aibo run` and `aibo programs` for the OPEN-R programs that run on the robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from posewright import figures, motions
from posewright.cli import aibo_archive, aibo_programs
from posewright.cli.console import counted, fail, give, line_of, rated, warn
from posewright.cli.options import FOUND, AsJson, add_group, add_verb, argument, losses_listed, option
from posewright.errors import InputError, UnsafeCommandError, Where
from posewright.runtimes.openr import stick as sticks

MotionPath = Annotated[Path, argument("MOTION", "A motion file; its content tells the format.")]
Number = Annotated[int, option("--id N", "The number by which programs ask for it.")]
Stick = Annotated[Path | None, option("--stick FOLDER", "The folder that holds OPEN-R.")]
Name = Annotated[str | None, option("--name", "As a_stand#stand_kick; default the motion's own.")]
NewFolder = Annotated[
    Path | None,
    option("--output -o FOLDER", "Write here, laid out as on the stick, and leave the stick unchanged."),
]
ModelName = Annotated[str, option("--model", "Whose files: ERS-7, ERS-210 or ERS-220.")]
AgentName = Annotated[
    str, option("--agent", "The agent that plays it: monetagentMTN, or monetagentMTNWALK for steps.")
]
Sound = Annotated[str | None, option("--sound NAME", "A sound on the stick to play with it.")]
OnePage = Annotated[str | None, option("--page -p P", "Which motion of the file, where it has several.")]
WhoseMotion = Annotated[str | None, option("--robot R", "Whose motion it is, where the file does not say.")]
AcceptLoss = Annotated[bool, option("--accept-loss", "Add it even if the robot cannot do all of it.")]
AcceptJump = Annotated[
    bool, option("--accept-jump", "Add it even if the robot would jump to where it begins, or from its end.")
]
ArchivePath = Annotated[Path | None, option("--archive FILE", "Without a stick: the ODA archive.")]
CommandsPath = Annotated[Path | None, option("--commands FILE", "Without a stick: the MONETCMD.CFG.")]
Picture = Annotated[
    Path | None,
    option(
        "--output -o PICTURE", "Draw them (.png, .svg, .pdf): sheet.png, and sheet-2.png, ... if need be."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "aibo")
    add_verb(group, "show", show, twins="read_stick motions_on draw_stick")
    add_verb(group, "check", check, twins="read_stick check_monet")
    add_verb(group, "add", add, twins="add_to_stick")
    aibo_programs.add_verbs(group)
    aibo_archive.add_verbs(group)


def show(
    paths: Annotated[
        list[Path],
        argument("PATH...", "A memory stick, its OPEN-R folder, or archives; content tells which."),
    ],
    output: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Show the motions of a memory stick: name, length, from where to where, and which id plays it.

    It exits with 1 where a file of the stick could not be read.

    The picture shows each of them where it begins, where it is furthest from its ends, and where it ends.

    [bold]Examples[/]
      posewright aibo show /media/AIBO
      posewright aibo show /media/AIBO -o sheet.png
      posewright aibo show MOTION7.ODA MONETCMD.CFG -o sheet.pdf
    """
    stick = sticks.read_stick(*paths)
    unread = [one for one in stick.findings if one.level is motions.Level.ERROR]
    for finding in unread:
        warn(f"{finding.path}: {finding.message}")
    held, written = sticks.motions_on(stick), list[Path]()
    if output is not None:
        pages = range(2, figures.stick_pages(stick) + 1)
        written = [output, *(output.with_stem(f"{output.stem}-{page}") for page in pages)]
    for path in written:
        figures.refuse_unsavable(path)
    for page, path in enumerate(written, 1):
        figures.save_figure(figures.draw_stick(stick, page=page), path)
    told = [one.data() for one in held]
    data = {"motions": told, "pictures": [str(path) for path in written]}
    lines = [*_motion_lines(told), *(f"{counted(len(held), 'motion')} -> {path}" for path in written)]
    give(data, lines, as_json=as_json)
    if unread:
        raise typer.Exit(FOUND)


def _motion_lines(held: list[dict[str, Any]]) -> Iterator[str]:
    width = max((len(one["name"]) for one in held), default=0)
    for one in held:
        length = "damaged" if one["duration_s"] is None else f"{one['duration_s']:.2f} s"
        asked = f"id {', '.join(map(str, one['ids']))}" if one["ids"] else "no command"
        more = one["fault"] or ", ".join(filter(None, [asked, one["postures"]]))
        yield f"{one['name']:<{width}}  {length:>8}  {more}"
    yield counted(len(held), "motion")


def check(
    paths: Annotated[
        list[Path],
        argument("PATH...", "A memory stick, its OPEN-R or CONF folder, or files; content tells which."),
    ],
    as_json: AsJson = False,
) -> None:
    """Check what a memory stick can play (its MONET files); exit with 1 if the robot could not do it.

    Looked for: names and indices that lead nowhere, lines that crash the robot's parser or are taken for
    others, ids given twice, postures that the robot cannot get into or out of, motions into which it would
    jump, archives that are not there.

    [bold]Examples[/]
      posewright aibo check /media/AIBO
      posewright aibo check MONETCMD.CFG MONET.CFG MOTION7.ODA
    """
    stick = sticks.read_stick(*paths)
    findings = sticks.check_monet(stick)
    data = {
        "stick": None if stick.root is None else str(stick.root),
        "setups": [_setup(setup) for setup in stick.setups],
        **{f"{level.value}s": sum(one.level is level for one in findings) for level in motions.Level},
        "findings": [finding.data() for finding in findings],
    }
    give(data, _finding_lines(stick, findings), as_json=as_json)
    if any(finding.level is motions.Level.ERROR for finding in findings):
        raise typer.Exit(FOUND)


def add(
    motion: MotionPath,
    number: Number,
    stick: Stick = None,
    name: Name = None,
    output: NewFolder = None,
    model: ModelName = "ERS-7",
    agent: AgentName = "monetagentMTN",
    sound: Sound = None,
    sync: Annotated[bool, option("--sync", "Motion and sound begin together.")] = False,
    replace: Annotated[bool, option("--replace", "Replace the command of that id.")] = False,
    page: OnePage = None,
    robot: WhoseMotion = None,
    accept_loss: AcceptLoss = False,
    accept_jump: AcceptJump = False,
    archive: ArchivePath = None,
    commands: CommandsPath = None,
    as_json: AsJson = False,
) -> None:
    """Add a motion of any format to a memory stick, so that programs can ask for it by its id.

    A motion that begins or ends far from the postures that its name says is refused: the robot would jump.
    The motion is converted, put into the archive of the robot, and registered in its MONETCMD.CFG. All of it
    is tried before anything is written; other motions and other lines keep their bytes.

    [bold]Examples[/]
      posewright aibo add kick.mtn --id 60 --name a_stand#stand_kick --stick /media/AIBO
      posewright aibo add dive.mot --id 61 --name a_stand#stand_dive --stick backup -o new --accept-loss
    """
    with losses_listed(f"{model} cannot do all of {motion}: nothing is written"), _jumps_refused():
        added = sticks.add_to_stick(
            motion,
            _place(stick, archive, commands),
            id=number,
            name=name,
            model=model,
            agent=agent,
            sound=sound,
            sync=sync,
            overwrite=replace,
            page=page,
            robot=robot,
            accept_loss=accept_loss,
            accept_jump=accept_jump,
            output=output,
        )
    _show_added(added, as_json=as_json)


@contextmanager
def _jumps_refused() -> Iterator[None]:
    """Say of a motion into which the robot would jump which flag adds it, and exit with 1."""
    try:
        yield
    except UnsafeCommandError as error:
        hint = (error.hint or "").replace("accept_jump=True", "--accept-jump")
        fail(f"{error.message} ({hint}); nothing is written")
        raise typer.Exit(FOUND) from error


def _show_added(added: sticks.Added, *, as_json: bool) -> None:
    for loss in added.losses:
        warn(f"lost: {loss}")
    for finding in added.findings:
        if finding.level is not motions.Level.NOTE:
            warn(_finding_text(finding))
    told = {
        "id": added.id,
        "name": added.name,
        "model": added.model,
        "archive": str(added.archive),
        "index": added.place,
        "commands": str(added.commands),
        "losses": list(added.losses),
        "remarks": list(added.remarks),
        "findings": [finding.data() for finding in added.findings],
    }
    lines = [
        f"{added.name} -> {added.archive}, index {added.place}",
        f"command {added.id} -> {added.commands}",
        *(f"  note: {remark}" for remark in added.remarks),
        *(f"  note: {finding.message}" for finding in added.findings if finding.level is motions.Level.NOTE),
    ]
    give(told, lines, as_json=as_json)


def _place(stick: Path | None, archive: Path | None, commands: Path | None) -> Path | tuple[Path, Path]:
    """Return where to add it: the stick, or the two files that stand for one."""
    if stick is not None and archive is None and commands is None:
        return stick
    if stick is None and archive is not None and commands is not None:
        return archive, commands
    raise InputError("where to?", hint="give --stick FOLDER, or both --archive FILE and --commands FILE")


def _setup(setup: sticks.MonetSetup) -> dict[str, Any]:
    commands, transitions = setup.commands, setup.transitions
    return {
        "models": list(setup.models),
        "commands_file": None if commands is None else str(commands.path),
        "commands": None if commands is None else [command.id for command in commands.commands],
        "ways_file": None if transitions is None else str(transitions.path),
        "ways": None if transitions is None else len(transitions.agents),
        "motions_file": None if setup.motions is None else str(setup.motions.path),
        "motions": None if setup.motions is None else len(setup.motions.motions),
        "sounds_file": None if setup.sounds is None else str(setup.sounds.path),
        "sounds": None if setup.sounds is None else len(setup.sounds.entries),
    }


def _finding_lines(
    stick: sticks.MemoryStick, findings: Sequence[sticks.MonetFinding]
) -> Iterator[str | Text]:
    width = max((len(one.rule) for one in findings), default=0)
    for finding in findings:
        yield line_of(rated(finding.level.value, 7), f" {finding.rule:<{width}} {_finding_text(finding)}")
    for setup in stick.setups:
        yield _looked_at(setup)
    counts = [(level, sum(one.level is level for one in findings)) for level in motions.Level]
    yield ", ".join(counted(number, level.value) for level, number in counts)


def _finding_text(finding: sticks.MonetFinding) -> str:
    place = "" if finding.path is None else f"{Where(path=finding.path, line=finding.line)}: "
    return place + finding.message + (f" ({finding.hint})" if finding.hint else "")


def _looked_at(setup: sticks.MonetSetup) -> str:
    held: dict[str, Sized | None] = {
        "command": None if setup.commands is None else setup.commands.commands,
        "way": None if setup.transitions is None else setup.transitions.agents,
        "motion": None if setup.motions is None else setup.motions.motions,
        "sound": None if setup.sounds is None else setup.sounds.entries,
    }
    told = [counted(len(entries), what) for what, entries in held.items() if entries is not None]
    whose = " and ".join(setup.models) or "these files"
    return f"{whose}: {', '.join(told) or 'nothing'}"
