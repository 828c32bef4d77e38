"""`posewright aibo`: show, check and extend an AIBO's memory stick.

The verbs `show`, `check` and `add` work on the whole stick. `aibo archive` works on one archive of motions;
`aibo run` and `aibo programs` are about the OPEN-R programs that run on the robot.
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
from posewright.cli.options import (
    EXIT_FAILURE,
    AcceptFaults,
    AsJson,
    add_group,
    add_verb,
    argument,
    option,
    print_accepted_faults,
    report_faults,
    report_losses,
)
from posewright.display import Lines, build_line, format_count, style_level
from posewright.errors import InputError, UnsafeCommandError
from posewright.runtimes.openr import stick as sticks

MotionPath = Annotated[Path, argument("MOTION", "A motion file; its format is detected from its content.")]
Number = Annotated[int, option("--id N", "The number by which programs call the motion.")]
Stick = Annotated[Path | None, option("--stick FOLDER", "The memory stick: the folder that contains OPEN-R.")]
Name = Annotated[
    str | None,
    option("--name NAME", "Its name on the stick, such as a_stand#stand_kick; default its own name."),
]
NewFolder = Annotated[
    Path | None,
    option("--output -o FOLDER", "Write the changed files to this folder and leave the stick unchanged."),
]
ModelName = Annotated[str, option("--model MODEL", "The AIBO model: ERS-7, ERS-210 or ERS-220.")]
AgentName = Annotated[
    str, option("--agent NAME", "The agent that plays it: monetagentMTN, or monetagentMTNWALK for steps.")
]
Sound = Annotated[str | None, option("--sound NAME", "A sound on the stick to play with it.")]
PageName = Annotated[str | None, option("--page -p P", "Which motion of a file that has several.")]
MotionRobot = Annotated[
    str | None, option("--robot R", "The robot of the motion, if the file does not name it.")
]
AcceptLoss = Annotated[bool, option("--accept-loss", "Add it even if the robot cannot do all of it.")]
AcceptJump = Annotated[
    bool, option("--accept-jump", "Add it even if the robot would jump to its first pose, or from its last.")
]
ArchivePath = Annotated[Path | None, option("--archive FILE", "Instead of --stick: the ODA archive.")]
CommandsPath = Annotated[Path | None, option("--commands FILE", "Instead of --stick: the MONETCMD.CFG.")]
Picture = Annotated[
    Path | None,
    option(
        "--output -o PICTURE",
        "Draw the motions (.png, .svg, .pdf); more pages become sheet-2.png, sheet-3.png, ...",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command `aibo` and its verbs."""
    group = add_group(app, "aibo")
    add_verb(group, "show", show, python_equivalents="read_stick motions_on draw_stick")
    add_verb(group, "check", check, python_equivalents="read_stick check_monet")
    add_verb(group, "add", add, python_equivalents="add_to_stick")
    aibo_programs.add_verbs(group)
    aibo_archive.add_verbs(group)


def show(
    paths: Annotated[
        list[Path],
        argument("PATH...", "A memory stick, its OPEN-R folder, or archives."),
    ],
    output: Picture = None,
    as_json: AsJson = False,
) -> None:
    """List the motions of a memory stick: name, duration, first and last posture, and id.

    The exit code is 1 if a file of the stick cannot be read.

    The picture shows three poses of each motion: the first, the one furthest from both ends, and the last.

    [bold]Examples[/]
      posewright aibo show /media/AIBO
      posewright aibo show /media/AIBO -o sheet.png
      posewright aibo show MOTION7.ODA MONETCMD.CFG -o sheet.pdf
    """
    stick = sticks.read_stick(*paths)
    unreadable = [finding for finding in stick.findings if finding.level is motions.Level.ERROR]
    for finding in unreadable:
        print_warning(f"{finding.path}: {finding.message}")
    stick_motions = sticks.motions_on(stick)
    pictures: list[Path] = []
    if output is not None:
        pages = range(2, figures.count_stick_pages(stick) + 1)
        pictures = [output, *(output.with_stem(f"{output.stem}-{page}") for page in pages)]
    for path in pictures:
        figures.require_picture_path(path)
    for page, path in enumerate(pictures, 1):
        figures.save_figure(figures.draw_stick(stick, page=page), path)
    data = {
        "motions": [motion.data() for motion in stick_motions],
        "pictures": [str(path) for path in pictures],
    }
    width = max((len(motion.name) for motion in stick_motions), default=0)
    count = format_count(len(stick_motions), "motion")
    lines = [motion.line(width) for motion in stick_motions]
    lines += [count, *(f"{count} -> {path}" for path in pictures)]
    print_result(data, lines, as_json=as_json)
    if unreadable:
        raise typer.Exit(EXIT_FAILURE)


def check(
    paths: Annotated[
        list[Path],
        argument("PATH...", "A memory stick, its OPEN-R or CONF folder, or single files."),
    ],
    quiet: Annotated[bool, option("--quiet -q", "List errors and warnings only, no notes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the motions and commands of a memory stick (its MONET files); exit with 1 if there are errors.

    The check reports names and indices without a target, lines that crash the robot's parser or that it
    misreads, duplicate ids, postures that the robot cannot enter or leave, motions that would make it jump or
    could harm it (the errors of `motion check`), and missing archives.

    [bold]Examples[/]
      posewright aibo check /media/AIBO
      posewright aibo check MONETCMD.CFG MONET.CFG MOTION7.ODA
    """
    stick = sticks.read_stick(*paths)
    all_findings = sticks.check_monet(stick)
    findings = [finding for finding in all_findings if not quiet or finding.level is not motions.Level.NOTE]
    data = {
        "stick": None if stick.root is None else str(stick.root),
        "setups": [setup.to_dict() for setup in stick.setups],
        **{f"{level.value}s": count for level, count in _count_by_level(findings).items()},
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
    sync: Annotated[bool, option("--sync", "Start motion and sound together.")] = False,
    replace: Annotated[bool, option("--replace", "Replace an existing command with this id.")] = False,
    page: PageName = None,
    robot: MotionRobot = None,
    accept_loss: AcceptLoss = False,
    accept_jump: AcceptJump = False,
    accept_faults: AcceptFaults = False,
    archive: ArchivePath = None,
    commands: CommandsPath = None,
    as_json: AsJson = False,
) -> None:
    """Add a motion of any format to a memory stick, so that programs can call it by its id.

    The motion is converted, put into the robot's archive, and registered in its MONETCMD.CFG. Nothing is
    written unless all steps succeed; other motions and other lines do not change.

    The name states the postures at both ends of the motion. If the motion starts or ends far from them, the
    robot would jump, and the motion is not added. Neither is one in which `motion check` reports errors. The
    files as they were before the first addition are kept as MOTION7.ODA.bak and MONETCMD.CFG.bak.

    [bold]Examples[/]
      posewright aibo add kick.mtn --id 60 --name a_stand#stand_kick --stick /media/AIBO
      posewright aibo add dive.mot --id 61 --name a_stand#stand_dive --stick backup -o new --accept-loss
    """
    losses_message = f"{model} cannot play all of {motion}; nothing was written"
    with report_losses(losses_message), _report_jumps(), report_faults():
        added = sticks.add_to_stick(
            motion,
            _stick_location(stick, archive, commands),
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
            accept_faults=accept_faults,
            output=output,
        )
    for loss in added.losses:
        print_warning(f"lost: {loss}")
    print_accepted_faults(added.faults)
    for finding in added.findings:
        if finding.level is not motions.Level.NOTE:
            print_warning(finding.text)
    print_result(added.to_dict(), added.lines(), as_json=as_json)


@contextmanager
def _report_jumps() -> Iterator[None]:
    """Print the error of a motion with a jump, with the option that accepts it; exit with 1."""
    try:
        yield
    except UnsafeCommandError as error:
        hint = (error.hint or "").replace("accept_jump=True", "--accept-jump")
        print_error(f"{error.message} ({hint}); nothing was written")
        raise typer.Exit(EXIT_FAILURE) from error


def _stick_location(
    stick: Path | None, archive: Path | None, commands: Path | None
) -> Path | tuple[Path, Path]:
    """Return where to add a motion: the stick, or the archive and the command list without a stick.

    Raises:
        InputError: the options name neither, or both.
    """
    if stick is not None and archive is None and commands is None:
        return stick
    if stick is None and archive is not None and commands is not None:
        return archive, commands
    raise InputError(
        "the target of the motion is missing or ambiguous",
        hint="give either --stick FOLDER, or both --archive FILE and --commands FILE",
    )


def _finding_lines(stick: sticks.MemoryStick, findings: Sequence[sticks.MonetFinding]) -> Lines:
    """Yield a line for each finding, the setups of the stick, and the number of findings by level."""
    rule_width = max((len(finding.rule) for finding in findings), default=0)
    level_width = max(len(level.value) for level in motions.Level)
    for finding in findings:
        level = style_level(finding.level.value, width=level_width)
        yield build_line(level, f" {finding.rule:<{rule_width}} {finding.text}")
    yield from map(str, stick.setups)
    yield ", ".join(format_count(count, level.value) for level, count in _count_by_level(findings).items())


def _count_by_level(findings: Sequence[sticks.MonetFinding]) -> dict[motions.Level, int]:
    """Return the number of findings of each level, also of those that do not occur."""
    return {level: sum(finding.level is level for finding in findings) for level in motions.Level}
