"""`posewright aibo`: an AIBO's memory stick seen, checked and added to; its archives and its programs.

`show`, `check` and `add` are of the stick as a whole and stand here; `aibo archive` is for one archive of
motions, `aibo run` and `aibo programs` for the OPEN-R programs that run on the robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from posewright import figures, motions
from posewright.cli import aibo_archive, aibo_programs
from posewright.cli.console import print_error, print_result, print_warning
from posewright.cli.options import EXIT_FAILURE, AsJson, add_group, add_verb, argument, option, report_losses
from posewright.display import Lines, build_line, format_count, style_level
from posewright.errors import InputError, UnsafeCommandError
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
    add_verb(group, "show", show, python_names="read_stick motions_on draw_stick")
    add_verb(group, "check", check, python_names="read_stick check_monet")
    add_verb(group, "add", add, python_names="add_to_stick")
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
    unreadable = [finding for finding in stick.findings if finding.level is motions.Level.ERROR]
    for finding in unreadable:
        print_warning(f"{finding.path}: {finding.message}")
    listed = sticks.motions_on(stick)
    pictures: list[Path] = []
    if output is not None:
        pages = range(2, figures.count_stick_pages(stick) + 1)
        pictures = [output, *(output.with_stem(f"{output.stem}-{page}") for page in pages)]
    for path in pictures:
        figures.require_picture_path(path)
    for page, path in enumerate(pictures, 1):
        figures.save_figure(figures.draw_stick(stick, page=page), path)
    data = {"motions": [motion.data() for motion in listed], "pictures": [str(path) for path in pictures]}
    width = max((len(motion.name) for motion in listed), default=0)
    count = format_count(len(listed), "motion")
    lines = [motion.line(width) for motion in listed]
    lines += [count, *(f"{count} -> {path}" for path in pictures)]
    print_result(data, lines, as_json=as_json)
    if unreadable:
        raise typer.Exit(EXIT_FAILURE)


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
        "setups": [setup.to_dict() for setup in stick.setups],
        **{f"{level.value}s": count for level, count in _counts(findings).items()},
        "findings": [finding.data() for finding in findings],
    }
    print_result(data, _finding_lines(stick, findings), as_json=as_json)
    if any(finding.level is motions.Level.ERROR for finding in findings):
        raise typer.Exit(EXIT_FAILURE)


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
    with report_losses(f"{model} cannot do all of {motion}: nothing is written"), _jumps_refused():
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
    for loss in added.losses:
        print_warning(f"lost: {loss}")
    for finding in added.findings:
        if finding.level is not motions.Level.NOTE:
            print_warning(finding.text)
    print_result(added.to_dict(), added.lines(), as_json=as_json)


@contextmanager
def _jumps_refused() -> Iterator[None]:
    """Say of a motion into which the robot would jump which flag adds it, and exit with 1."""
    try:
        yield
    except UnsafeCommandError as error:
        hint = (error.hint or "").replace("accept_jump=True", "--accept-jump")
        print_error(f"{error.message} ({hint}); nothing is written")
        raise typer.Exit(EXIT_FAILURE) from error


def _place(stick: Path | None, archive: Path | None, commands: Path | None) -> Path | tuple[Path, Path]:
    """Return where to add it: the stick, or the two files that stand for one."""
    if stick is not None and archive is None and commands is None:
        return stick
    if stick is None and archive is not None and commands is not None:
        return archive, commands
    raise InputError("where to?", hint="give --stick FOLDER, or both --archive FILE and --commands FILE")


def _finding_lines(stick: sticks.MemoryStick, findings: Sequence[sticks.MonetFinding]) -> Lines:
    width = max((len(finding.rule) for finding in findings), default=0)
    for finding in findings:
        yield build_line(style_level(finding.level.value, 7), f" {finding.rule:<{width}} {finding.text}")
    yield from map(str, stick.setups)
    yield ", ".join(format_count(count, level.value) for level, count in _counts(findings).items())


def _counts(findings: Sequence[sticks.MonetFinding]) -> dict[motions.Level, int]:
    return {level: sum(finding.level is level for finding in findings) for level in motions.Level}
