"""`posewright motion`: look into motion files, convert, check, draw and sample them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from posewright import figures, formats, motions
from posewright.cli.console import give, say, working
from posewright.cli.motion_convert import convert
from posewright.cli.motion_film import film
from posewright.cli.motion_options import (
    Friction,
    MotionPath,
    OnlyPage,
    Page,
    Physics,
    PutDown,
    RobotName,
    open_for_robot,
    open_motion_file,
)
from posewright.cli.motion_tables import (
    describe_file,
    finding_lines,
    findings_report,
    page_table,
    physics_lines,
    physics_table,
    summary,
    with_physics,
)
from posewright.cli.options import (
    FOUND,
    AsJson,
    Output,
    Record,
    add_group,
    give_samples,
    option,
    refuse_overwriting,
    refuse_recording,
)
from posewright.errors import InputError


def register(app: typer.Typer) -> None:
    """Add the group `motion` to the application."""
    verbs = {verb.__name__: verb for verb in (info, convert, check, plot, film, sample)}
    add_group(app, "motion", "Look into motion files, convert, check, draw and sample them.", verbs)


def info(file: MotionPath, page: Page = None, robot: RobotName = None, as_json: AsJson = False) -> None:
    """Tell what a motion file holds.

    [bold]Examples[/]
      posewright motion info walk.motion.yaml
      posewright motion info humanoid.mtn --page "F walk" --json
    """
    opened = open_motion_file(file, robot)
    told = describe_file(opened, page)
    lines: list[RenderableType] = [*summary(told)]
    if page is None and len(opened.pages) > 1:
        lines += ["", page_table(told["pages"])]
    give(told, lines, as_json=as_json)


def check(
    file: MotionPath,
    page: OnlyPage = None,
    robot: RobotName = None,
    pose: Annotated[
        str | None, option("--pose NAME", "The pose it must begin and end near; default the nearest.")
    ] = None,
    celebration: Annotated[bool, option("--celebration", "It may take its time.")] = False,
    physics: Physics = False,
    attitude: PutDown = None,
    friction: Friction = None,
    record: Record = None,
    strict: Annotated[bool, option("--strict", "Exit with 1 for a warning too.")] = False,
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
    if record is not None and not physics:
        raise InputError("without physics there is nothing to record", hint="--record with --physics")
    refuse_recording(record, file)
    opened = open_for_robot(file, robot)
    report = findings_report(opened, page, near_pose=pose, celebration=celebration)
    if physics:
        with working("playing", quiet=as_json) as on_progress:
            report = with_physics(
                report,
                opened,
                page,
                attitude_deg=attitude,
                friction=friction,
                record=record,
                on_progress=lambda name: on_progress(f"playing {name}"),
            )
    give(report, [*finding_lines(report), *_physics_lines(report.get("physics", []))], as_json=as_json)
    if report["errors"] or (strict and report["warnings"]):
        raise typer.Exit(FOUND)


def _physics_lines(played: list[dict[str, Any]]) -> list[RenderableType]:
    """Return the numbers of one motion, or of many a row each."""
    return (
        [physics_table(played)]
        if len(played) > 1
        else [line for one in played for line in physics_lines(one)]
    )


def plot(
    file: MotionPath,
    output: Annotated[Path, option("--output -o PICTURE", "A .png, .svg or .pdf file.")],
    page: Page = None,
    robot: RobotName = None,
) -> None:
    """Draw every moving joint over time, with keyframes, limits, speeds and what the design rules find.

    [bold]Examples[/]
      posewright motion plot walk.motion.yaml -o walk.svg
    """
    figures.refuse_unsavable(output)
    refuse_overwriting(output, file)
    motion = open_for_robot(file, robot).motion(page)
    figures.save_figure(figures.draw_motion(motion), output)
    say(f"{motion.name} -> {output}")


def sample(
    file: MotionPath,
    rate: Annotated[float, option("--rate HZ", "Samples a second.")],
    page: Page = None,
    robot: RobotName = None,
    unit: Annotated[str, option("--unit", "deg, rad (joint angles), servo_deg or ticks.")] = "deg",
    numbering: Annotated[
        str | None, option("--numbering NAME", "Order and name the columns by these servo IDs.")
    ] = None,
    until: Annotated[
        float | None, option("--until S", "Up to this time; default the whole motion, of a loop one pass.")
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Sample a motion as a table: one row a time, one column a joint.

    [bold]Examples[/]
      posewright motion sample walk.motion.yaml --rate 128 -o walk.csv
      posewright motion sample thesis_table_forward.csv --rate 8 --unit servo_deg --numbering uc3m_thesis
    """
    refuse_overwriting(output, file)
    opened = open_for_robot(file, robot)
    motion = opened.motion(page)
    table = motions.sample_motion(
        motion, formats.card_of(motion), rate_hz=rate, unit=unit, numbering=numbering, until_s=until
    )
    give_samples(table, {"file": str(file), "format": opened.format}, output, as_json=as_json)
