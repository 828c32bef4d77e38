"""`posewright monet`: check what an AIBO's memory stick says it can play, and add motions to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli.losses import losses_listed
from posewright.cli.options import AsJson

if TYPE_CHECKING:
    from posewright.sticks import Added

FOUND = 1
"""Exit code where an error was found."""

MotionPath = Annotated[
    Path, typer.Argument(metavar="MOTION", help="A motion file; its content tells the format.")
]
Number = Annotated[int, typer.Option("--id", metavar="N", help="By which programs ask for it.")]
Stick = Annotated[
    Path | None, typer.Option("--stick", metavar="FOLDER", help="The folder that holds OPEN-R.")
]
Name = Annotated[str | None, typer.Option("--name", help="As a_stand#stand_kick; default the motion's own.")]
NewFolder = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Write here, as on the stick, and leave that be."),
]
ModelName = Annotated[str, typer.Option("--model", help="Whose files: ERS-7, ERS-210 or ERS-220.")]
AgentName = Annotated[
    str, typer.Option("--agent", help="Who plays it: monetagentMTN, or monetagentMTNWALK for steps.")
]
Sound = Annotated[
    str | None, typer.Option("--sound", metavar="NAME", help="A sound of the stick to go with it.")
]
OnePage = Annotated[
    str | None,
    typer.Option("--page", "-p", metavar="P", help="Which motion of the file, where it has several."),
]
WhoseMotion = Annotated[
    str | None,
    typer.Option("--robot", metavar="R", help="Whose motion it is, where the file does not say."),
]
AcceptLoss = Annotated[
    bool, typer.Option("--accept-loss", help="Add it even if the robot cannot do all of it.")
]
ArchivePath = Annotated[
    Path | None, typer.Option("--archive", metavar="FILE", help="Without a stick: the ODA archive.")
]
CommandsPath = Annotated[
    Path | None, typer.Option("--commands", metavar="FILE", help="Without a stick: the MONETCMD.CFG.")
]


def register(app: typer.Typer) -> None:
    """Add the group `monet` to the application."""
    monet = typer.Typer(
        help="Check what an AIBO's memory stick can play (MONETCMD.CFG), and add motions to it.",
        rich_markup_mode="rich",
        no_args_is_help=True,
    )
    for verb in (check, add):
        monet.command(verb.__name__)(verb)
    app.add_typer(monet, name="monet")


def check(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="A memory stick, its OPEN-R or CONF folder, or files; content tells which.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Check MONET files; exit with 1 if the robot could not do what they say.

    Looked for: names and indices that lead nowhere, lines that crash the robot's parser or are taken for
    others, ids given twice, postures that the robot cannot get into or out of, archives that are not there.

    [bold]Examples[/]

      posewright monet check /media/AIBO

      posewright monet check MONETCMD.CFG MONET.CFG MOTION7.ODA
    """
    from posewright.cli.console import emit_json, out
    from posewright.cli.monet_tables import check_report, report_lines
    from posewright.motions import Level
    from posewright.sticks import check_monet, read_stick

    stick = read_stick(*paths)
    findings = check_monet(stick)
    if as_json:
        emit_json(check_report(stick, findings))
    else:
        for line in report_lines(stick, findings):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    if any(finding.level is Level.ERROR for finding in findings):
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
    sync: Annotated[bool, typer.Option("--sync", help="Motion and sound begin together.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the command of that id.")] = False,
    page: OnePage = None,
    robot: WhoseMotion = None,
    accept_loss: AcceptLoss = False,
    archive: ArchivePath = None,
    commands: CommandsPath = None,
    as_json: AsJson = False,
) -> None:
    """Add a motion of any format to a memory stick, so that programs can ask for it by its id.

    The motion is converted, put into the archive of the robot, and registered in its MONETCMD.CFG. All of it
    is tried before anything is written; other motions and other lines keep their bytes.

    [bold]Examples[/]

      posewright monet add kick.mtn --id 60 --name a_stand#stand_kick --stick /media/AIBO

      posewright monet add dive.mot --id 61 --name a_stand#stand_dive --stick backup -o new --accept-loss
    """
    from posewright.sticks import add_to_stick

    with losses_listed(f"{model} cannot do all of {motion}: nothing is written"):
        added = add_to_stick(
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
            output=output,
        )
    _show_added(added, as_json=as_json)


def _show_added(added: Added, *, as_json: bool) -> None:
    from posewright.cli.console import emit_json, out, warn
    from posewright.cli.monet_tables import added_lines, added_report, finding_text
    from posewright.motions import Level

    for loss in added.losses:
        warn(f"lost: {loss}")
    for finding in added.findings:
        if finding.level is not Level.NOTE:
            warn(finding_text(finding))
    if as_json:
        emit_json(added_report(added))
        return
    for line in added_lines(added):
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _place(stick: Path | None, archive: Path | None, commands: Path | None) -> Path | tuple[Path, Path]:
    """Return where to add it: the stick, or the two files that stand for one."""
    from posewright.errors import InputError

    if stick is not None and archive is None and commands is None:
        return stick
    if stick is None and archive is not None and commands is not None:
        return archive, commands
    raise InputError("where to?", hint="give --stick FOLDER, or both --archive FILE and --commands FILE")
