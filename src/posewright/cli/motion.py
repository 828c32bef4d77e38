"""`posewright motion`: look into motion files, convert, check, draw and sample them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from posewright import figures, formats, motions, robots, runs, studio
from posewright.cli.batch import Out
from posewright.cli.console import print_line, print_result, print_warning, spinner
from posewright.cli.motion_batch import check_many
from posewright.cli.motion_film import film
from posewright.cli.motion_options import (
    Friction,
    MotionPath,
    OnlyPage,
    Page,
    Physics,
    PutDown,
    RobotName,
    Rules,
    Verbose,
    open_for_robot,
    open_motion_file,
    open_to_carry,
    radians,
)
from posewright.cli.motion_play import play
from posewright.cli.options import (
    EXIT_FAILURE,
    AcceptLoss,
    AsJson,
    Output,
    Record,
    add_group,
    add_verb,
    argument,
    option,
    recording_paths,
    report_losses,
    require_distinct_output,
    require_recording_path,
    write_samples,
)
from posewright.cli.studio import Browser, Host, Port, serve_until_ended
from posewright.documents import path_exists
from posewright.errors import InputError, UnknownNameError, Where

HARDWARE = "hardware"

Source = Annotated[Path, argument("IN", "A motion file; its content tells the format.")]
Target = Annotated[
    Path, argument("OUT", "Where to write; .motion.yaml, .mtn, .mot, .pos, .motion, .h, .csv tell how.")
]
ForRobot = Annotated[
    str | None,
    option("--robot R", "The robot it is for; a motion made for another is carried over joint by joint."),
]
To = Annotated[str | None, option("--to FORMAT", "Format to write, whatever OUT is called.")]
Clip = Annotated[bool, option("--clip", "Bring angles beyond the robot's stops to the stops.")]
Keys = Annotated[
    str | None,
    option(
        "--keys own|all",
        "If joints have key times of their own (.mot): keep them (own), or give all joints all times.",
    ),
]
Straighten = Annotated[bool, option("--straighten", "Cut curves into straight pieces of about 32 ms.")]
Repair = Annotated[bool, option("--repair", "Repair a wrong checksum and a missing byte order mark.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "motion")
    add_verb(group, "new", new, python_names="create_motion write_motion")
    add_verb(group, "info", info, python_names="read_motion_file")
    add_verb(group, "convert", convert, python_names="convert_motion")
    add_verb(group, "check", check, python_names="check_motion try_motion")
    add_verb(group, "plot", plot, python_names="draw_motion")
    add_verb(group, "film", film, python_names="film_motion")
    add_verb(group, "play", play, python_names="play_motion")
    add_verb(group, "view", view, python_names="open_view")
    add_verb(group, "sample", sample, python_names="sample_motion")


def new(
    name: Annotated[str, argument("NAME", "What the motion is called.")],
    robot: Annotated[str, option("--robot R", "Whose motion it is.")],
    pose: Annotated[
        str | None, option("--pose NAME", "One of the robot's poses; default stand, or its first.")
    ] = None,
    output: Annotated[Path | None, option("--output -o FILE", "Default NAME.motion.yaml, here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a motion of one keyframe, a named pose, to go on from; no file is replaced.

    [bold]Examples[/]
      posewright motion new wave --robot sony_ers7 --pose sit
      posewright motion new kick --robot robotis_bioloid -o motions/kick.motion.yaml
    """
    motion = motions.create_motion(name, robots.robot(robot), pose)
    path = output or Path(f"{motions.file_stem(name)}.motion.yaml")
    if path_exists(path):
        raise InputError("a file is there already", where=Where(path), hint="choose another name")
    formats.write_motion(motion, path)
    print_result(
        {"motion": name, "robot": motion.robot, "file": str(path)}, [f"{name} -> {path}"], as_json=as_json
    )


def info(file: MotionPath, page: Page = None, robot: RobotName = None, as_json: AsJson = False) -> None:
    """Show what a motion file holds.

    [bold]Examples[/]
      posewright motion info walk.motion.yaml
      posewright motion info humanoid.mtn --page "F walk" --json
    """
    opened = open_motion_file(file, robot)
    data = formats.describe_motion_file(opened, page)
    print_result(data, formats.motion_file_lines(opened, page), as_json=as_json)


def check(
    files: Annotated[list[Path], argument("FILE ...", "Motion files, or folders of them.")],
    page: OnlyPage = None,
    robot: RobotName = None,
    rules: Rules = HARDWARE,
    pose: Annotated[
        str | None, option("--pose NAME", "The pose it must begin and end near, whatever the rules.")
    ] = None,
    celebration: Annotated[bool, option("--celebration", "It may last longer than the rules say.")] = False,
    physics: Physics = False,
    attitude: PutDown = None,
    friction: Friction = None,
    record: Record = None,
    strict: Annotated[bool, option("--strict", "Exit with 1 for warnings too.")] = False,
    verbose: Verbose = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Check motions against the design rules; exit with 1 if one is broken.

    By default what the robot can do: joint limits, servo speed. --rules eagle_knights: what a contest team
    asked besides: begin and end near a named pose, last 2 s or less, small steps. --physics plays it under
    gravity too: falls, distance, speed. docs/motions.md explains each.

    [bold]Examples[/]
      posewright motion check walk.motion.yaml
      posewright motion check humanoid.mtn --page Bow --rules eagle_knights --pose walk_ready --celebration
      posewright motion check KICK.mtn --physics --record kick.mcap
      posewright motion check motions --out checked
    """
    is_many = len(files) > 1 or files[0].is_dir()
    if (record if is_many else out) is not None:
        raise InputError("--record is of one file, --out of several", hint="leave it out")
    if record is not None and not physics:
        raise InputError("without physics there is nothing to record", hint="--record with --physics")

    options = runs.CheckOptions(rules, pose, celebration, physics, radians(attitude), friction)
    if is_many:

        def check_file(path: Path) -> runs.MotionCheck:
            return runs.check_motion_file(open_for_robot(path, robot), page, options)

        if check_many(files, check_file, out, strict=strict, as_json=as_json):
            raise typer.Exit(EXIT_FAILURE)
        return
    (path,) = files
    require_recording_path(record, path)
    opened = open_for_robot(path, robot)
    paths: dict[int, Path] = {}
    if record is not None:
        numbers = [number for number, _ in runs.pages_of(opened, page)]
        paths = dict(zip(numbers, recording_paths(record, list(map(str, numbers))), strict=True))
        for recording in paths.values():
            require_recording_path(recording, path)
    with spinner("playing", quiet=as_json or not physics) as describe:
        result = runs.check_motion_file(
            opened,
            page,
            options,
            record=paths.__getitem__ if paths else None,
            on_progress=lambda name: describe(f"playing {name}"),
        )
    print_result(result.to_dict(), result.lines(verbose=verbose), as_json=as_json)
    level = motions.Level
    if result.count(level.ERROR) or (strict and result.count(level.WARNING)):
        raise typer.Exit(EXIT_FAILURE)


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
    figures.require_picture_path(output)
    require_distinct_output(output, file)
    motion = open_for_robot(file, robot).motion(page)
    figures.save_figure(figures.draw_motion(motion), output)
    print_line(f"{motion.name} -> {output}")


def sample(
    file: MotionPath,
    rate: Annotated[float, option("--rate HZ", "Samples per second.")],
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
    require_distinct_output(output, file)
    opened = open_for_robot(file, robot)
    motion = opened.motion(page)
    table = motions.sample_motion(
        motion, formats.robot_of_motion(motion), rate_hz=rate, unit=unit, numbering=numbering, until_s=until
    )
    write_samples(table, {"file": str(file), "format": opened.format}, output, as_json=as_json)


def convert(
    source: Source,
    target: Target,
    page: Page = None,
    robot: ForRobot = None,
    to: To = None,
    accept_loss: AcceptLoss = False,
    clip: Clip = False,
    keys: Keys = None,
    straighten: Straighten = False,
    repair: Repair = False,
    as_json: AsJson = False,
) -> None:
    """Convert a motion file to another format or robot; to its own format it is copied byte for byte.

    What would be lost, and angles that the robot of --robot cannot reach, are listed, and then nothing is
    written unless --accept-loss or, for angles, --clip is given. By how much the
    steps of the format round the motion is measured on what was written.

    [bold]Examples[/]
      posewright motion convert humanoid.mtn bow.motion.yaml --page Bow --accept-loss
      posewright motion convert KICK.h KICK.mtn --robot sony_ers7
      posewright motion convert dive.mot dive.motion --keys all
      posewright motion convert play_bow.motion.yaml play_bow.mtn --straighten
    """
    opened = open_to_carry(source, robot)
    if repair and page is None and to in (None, opened.format):
        done = formats.Conversion(opened.format, formats.write_motion_file(opened, target, repair=True))
    else:
        with report_losses(f"{source} cannot be said wholly in {target.name}: nothing is written"):
            done = formats.convert_motion(
                source,
                target,
                page=page,
                format=to,
                robot=robot,
                accept_loss=accept_loss,
                clip=clip,
                options=_options(keys, straighten=straighten),
            )
    for loss in done.losses:
        print_warning(f"lost: {loss}")
    told = {"source": str(source), "target": str(target), **asdict(done)}
    print_result(told, _conversion_lines(source, target, done), as_json=as_json)


def _options(keys: str | None, *, straighten: bool) -> formats.WriteOptions | None:
    if keys is None:
        return formats.WriteOptions(straighten=True) if straighten else None
    known = [choice.value for choice in formats.KeyTimes]
    if keys not in known:
        raise UnknownNameError.among("choice of --keys", keys, known)
    return formats.WriteOptions(formats.KeyTimes(keys), straighten)


def _conversion_lines(source: Path, target: Path, done: formats.Conversion) -> Iterator[str]:
    yield f"{source} -> {target} ({done.format})"
    for remark in done.remarks:
        yield f"  note: {remark}"
    if done.rounding is None:
        return
    angle, time = math.degrees(done.rounding.angle_rad), done.rounding.time_s
    if angle > 1e-9 or time > 1e-9:
        step = done.quantum.angle_rad
        steps = "" if step is None else f" (the format has steps of {math.degrees(step):.2g} deg)"
        yield f"  rounded: angles by {angle:.2g} deg at most{steps}, times by {time:.2g} s"


def view(
    file: MotionPath,
    page: Page = None,
    robot: RobotName = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
    as_json: AsJson = False,
) -> None:
    """Play a motion in the browser, without physics; it is shown anew whenever the file changes.

    The file is only read. Ctrl-C ends it.

    [bold]Examples[/]
      posewright motion view walk.motion.yaml
      posewright motion view humanoid.mtn --page Bow --port 8080 --no-browser
    """
    with spinner("view: starting", quiet=as_json):
        opened = studio.open_view(file, robot, page=page, host=host, port=port)
    serve_until_ended(opened, "the motion", browser=browser, as_json=as_json)
