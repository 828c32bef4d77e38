"""`posewright motion`: look into motion files, convert, check, draw and sample them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posewright.cli.motion_options import (
    MotionPath,
    OnlyPage,
    Page,
    RobotName,
    open_for_robot,
    open_motion_file,
)
from posewright.cli.motion_physics import Friction, Physics, PutDown
from posewright.cli.options import AsJson, Output, Record, refuse_overwriting, refuse_recording

if TYPE_CHECKING:
    from posewright.formats import MotionFile


def register(app: typer.Typer) -> None:
    """Add the group `motion` to the application."""
    motion = typer.Typer(
        help="Look into motion files, convert, check, draw and sample them.",
        rich_markup_mode="rich",
        no_args_is_help=True,
    )
    from posewright.cli.motion_convert import convert
    from posewright.cli.motion_film import film

    for verb in (info, convert, check, plot, film, sample):
        motion.command(verb.__name__)(verb)
    app.add_typer(motion, name="motion")


def info(file: MotionPath, page: Page = None, robot: RobotName = None, as_json: AsJson = False) -> None:
    """Tell what a motion file holds.

    [bold]Examples[/]

      posewright motion info walk.motion.yaml

      posewright motion info humanoid.mtn --page "F walk" --json
    """
    from posewright.cli.console import emit_json, out
    from posewright.cli.motion_tables import describe_file, page_table, summary

    opened = open_motion_file(file, robot)
    description = describe_file(opened, page)
    if as_json:
        emit_json(description)
        return
    for line in summary(description):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    if page is None and len(opened.pages) > 1:
        out.print()
        out.print(page_table(description["pages"]))


def check(
    file: MotionPath,
    page: OnlyPage = None,
    robot: RobotName = None,
    pose: Annotated[
        str | None,
        typer.Option(
            "--pose", metavar="NAME", help="The pose it must begin and end near; default the nearest."
        ),
    ] = None,
    celebration: Annotated[bool, typer.Option("--celebration", help="It may take its time.")] = False,
    physics: Physics = False,
    attitude: PutDown = None,
    friction: Friction = None,
    record: Record = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for a warning too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check motions against the design rules; exit with 1 if one is broken.

    Rules: begin and end near a named pose, last 2 s or less, small steps, joint limits, servo speed.
    --physics plays it under gravity too. docs/motions.md explains each.

    [bold]Examples[/]

      posewright motion check walk.motion.yaml

      posewright motion check humanoid.mtn --page Bow --pose walk_ready --celebration

      posewright motion check KICK.mtn --physics --record kick.mcap
    """
    from posewright.cli.console import emit_json, out
    from posewright.cli.motion_tables import finding_lines, findings_report
    from posewright.errors import InputError

    if record is not None and not physics:
        raise InputError("without physics there is nothing to record", hint="--record with --physics")
    refuse_recording(record, file)
    opened = open_for_robot(file, robot)
    report = findings_report(opened, page, near_pose=pose, celebration=celebration)
    if physics:
        report = _played(
            report, opened, page, quiet=as_json, attitude_deg=attitude, friction=friction, record=record
        )
    if as_json:
        emit_json(report)
    else:
        for line in finding_lines(report):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
        _show_physics(report.get("physics", []))
    if report["errors"] or (strict and report["warnings"]):
        raise typer.Exit(1)


def _played(
    report: dict[str, Any], opened: MotionFile, page: str | None, *, quiet: bool, **how: Any
) -> dict[str, Any]:
    """Return the report with what physics finds, showing which motion is being played."""
    from posewright.cli.console import progress
    from posewright.cli.motion_physics import with_physics

    with progress(quiet=quiet) as display:
        line = display.add_task("playing")
        return with_physics(
            report,
            opened,
            page,
            on_progress=lambda name: display.update(line, description=f"playing {name}"),
            **how,
        )


def _show_physics(played: list[dict[str, Any]]) -> None:
    """Show the numbers of one motion, or of many a row each."""
    from posewright.cli.console import out
    from posewright.cli.motion_physics import physics_lines, physics_table

    if len(played) > 1:
        out.print(physics_table(played))
    for told in played if len(played) == 1 else ():
        for line in physics_lines(told):
            out.print(line, markup=False, highlight=False, soft_wrap=True)


def plot(
    file: MotionPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PICTURE", help="A .png, .svg or .pdf file.")
    ],
    page: Page = None,
    robot: RobotName = None,
) -> None:
    """Draw every moving joint over time, with keyframes, limits, speeds and what the design rules find.

    [bold]Examples[/]

      posewright motion plot walk.motion.yaml -o walk.svg
    """
    from posewright.cli.console import out
    from posewright.figures import draw_motion, refuse_unsavable, save_figure

    refuse_unsavable(output)
    refuse_overwriting(output, file)
    motion = open_for_robot(file, robot).motion(page)
    save_figure(draw_motion(motion), output)
    out.print(f"{motion.name} -> {output}", markup=False, highlight=False, soft_wrap=True)


def sample(
    file: MotionPath,
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help="Samples a second.")],
    page: Page = None,
    robot: RobotName = None,
    unit: Annotated[str, typer.Option("--unit", help="deg, rad (joint angles), servo_deg or ticks.")] = "deg",
    numbering: Annotated[
        str | None,
        typer.Option("--numbering", metavar="NAME", help="Order and name the columns by these servo IDs."),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            "--until", metavar="S", help="Up to this time; default the whole motion, of a loop one pass."
        ),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Sample a motion as a table: one row a time, one column a joint.

    [bold]Examples[/]

      posewright motion sample walk.motion.yaml --rate 128 -o walk.csv

      posewright motion sample thesis_table_forward.csv --rate 8 --unit servo_deg --numbering uc3m_thesis
    """
    from posewright.cli.console import emit_json, out
    from posewright.documents import write_atomically
    from posewright.formats import card_of
    from posewright.motions import sample_motion

    refuse_overwriting(output, file)
    opened = open_for_robot(file, robot)
    motion = opened.motion(page)
    table = sample_motion(
        motion, card_of(motion), rate_hz=rate, unit=unit, numbering=numbering, until_s=until
    )
    if output is not None:
        write_atomically(output, table.csv().encode())
    if as_json:
        emit_json({"file": str(file), "format": opened.format, **table.to_dict()})
    elif output is None:
        typer.echo(table.csv(), nl=False)
    else:
        out.print(f"{len(table.times)} rows -> {output}", markup=False, highlight=False, soft_wrap=True)
