"""`posewright motion`: list, create, inspect, convert, check, draw and sample motion files."""

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
    Attitude,
    Friction,
    MotionPath,
    OnlyPage,
    Page,
    Physics,
    RobotName,
    Rules,
    Verbose,
    open_for_robot,
    open_unconverted,
    to_radians,
)
from posewright.cli.motion_play import play
from posewright.cli.motion_walk import walk
from posewright.cli.options import (
    EXIT_FAILURE,
    TABLE,
    TABLE_ENDINGS,
    AcceptFaults,
    AcceptLoss,
    AsJson,
    Output,
    Record,
    add_group,
    add_verb,
    argument,
    option,
    print_accepted_faults,
    recording_paths,
    report_faults,
    report_losses,
    require_distinct_output,
    require_output_file,
    require_recording_path,
    write_samples,
)
from posewright.cli.studio import Browser, Host, Port, address_file, serve_until_stopped
from posewright.controllers import behaviours
from posewright.display import table
from posewright.documents import path_exists
from posewright.errors import InputError, UnknownNameError, Where

HARDWARE_RULES = "hardware"

MIN_ROUNDING = 1e-9
"""Smaller errors of a written file are not reported [deg, s]."""

Source = Annotated[Path, argument("IN", "A motion file; the format is detected from its content.")]
Target = Annotated[
    Path, argument("OUT", "The file to write: .motion.yaml, .mtn, .mot, .pos, .motion, .h or .csv.")
]
ForRobot = Annotated[
    str | None,
    option("--robot R", "Convert for this robot, joint by joint, if the motion is for another one."),
]
To = Annotated[str | None, option("--to FORMAT", "Format to write. Default: by the ending of OUT.")]
Clip = Annotated[bool, option("--clip", "Limit angles to the joint limits of the robot.")]
Keys = Annotated[
    str | None,
    option(
        "--keys own|all",
        "If joints have their own key times (.mot): own keeps them, all gives every joint all times.",
    ),
]
Straighten = Annotated[bool, option("--straighten", "Replace curves by straight segments of about 32 ms.")]
Repair = Annotated[bool, option("--repair", "Repair a wrong checksum and a missing byte order mark.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "motion")
    add_verb(group, "list", list_motions, python_equivalents="shipped_motions")
    add_verb(group, "new", new, python_equivalents="create_motion write_motion")
    add_verb(group, "info", info, python_equivalents="read_motion_file")
    add_verb(group, "convert", convert, python_equivalents="convert_motion")
    add_verb(group, "check", check, python_equivalents="check_motion try_motion")
    add_verb(group, "plot", plot, python_equivalents="draw_motion")
    add_verb(group, "film", film, python_equivalents="film_motion")
    add_verb(group, "play", play, python_equivalents="play_motion")
    add_verb(group, "walk", walk, python_equivalents="read_page_gait write_page_gait walk_gait")
    add_verb(group, "view", view, python_equivalents="open_view")
    add_verb(group, "sample", sample, python_equivalents="sample_motion")


def list_motions(
    robot_name: Annotated[
        str | None, option("--robot R", "List only the motions of this robot: a name, or a card's path.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the motions that come with Posewright, with their files.

    [bold]Examples[/]
      posewright motion list
      posewright motion list --robot sony_ers7 --json
    """
    names = robots.robot_names() if robot_name is None else (robot_name,)
    descriptions = [
        {
            "motion": name,
            "robot": robot.name,
            "duration_s": formats.read_motion(path).duration,
            "file": str(path),
        }
        for robot in map(robots.robot, names)
        for name, path in behaviours.shipped_motions(robot).items()
    ]
    rows = [
        (entry["motion"], entry["robot"], f"{entry['duration_s']:.2f}", entry["file"])
        for entry in descriptions
    ]
    print_result(descriptions, [table(("motion", "robot", "s", "file"), rows)], as_json=as_json)


def new(
    name: Annotated[str, argument("NAME", "Name of the motion.")],
    robot: Annotated[str, option("--robot R", "The robot that the motion is for.")],
    pose: Annotated[
        str | None, option("--pose NAME", "A named pose of the robot. Default: stand, or its first pose.")
    ] = None,
    output: Annotated[
        Path | None, option("--output -o FILE", "The file to write. Default: NAME.motion.yaml.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a motion with one keyframe, a named pose, to start from. An existing file is not replaced.

    [bold]Examples[/]
      posewright motion new wave --robot sony_ers7 --pose sit
      posewright motion new kick --robot robotis_bioloid -o motions/kick.motion.yaml
    """
    motion = motions.create_motion(name, robots.robot(robot), pose)
    path = output or Path(f"{motions.file_stem(name)}.motion.yaml")
    if path_exists(path):
        raise InputError("the file exists already", where=Where(path), hint="choose another name")
    formats.write_motion(motion, path)
    print_result(
        {"motion": name, "robot": motion.robot, "file": str(path)}, [f"{name} -> {path}"], as_json=as_json
    )


def info(file: MotionPath, page: Page = None, robot: RobotName = None, as_json: AsJson = False) -> None:
    """Show what a motion file contains.

    [bold]Examples[/]
      posewright motion info walk.motion.yaml
      posewright motion info humanoid.mtn --page "F walk" --json
    """
    motion_file = open_for_robot(file, robot)
    data = formats.describe_motion_file(motion_file, page)
    print_result(data, formats.motion_file_lines(motion_file, page), as_json=as_json)


def check(
    files: Annotated[list[Path], argument("FILE ...", "Motion files, or folders of motion files.")],
    page: OnlyPage = None,
    robot: RobotName = None,
    rules: Rules = HARDWARE_RULES,
    pose: Annotated[
        str | None, option("--pose NAME", "The pose near which the motion must begin and end, for any rules.")
    ] = None,
    celebration: Annotated[
        bool, option("--celebration", "Allow the motion to be longer than the rules allow.")
    ] = False,
    physics: Physics = False,
    attitude: Attitude = None,
    friction: Friction = None,
    record: Record = None,
    strict: Annotated[bool, option("--strict", "Exit with 1 for warnings too.")] = False,
    verbose: Verbose = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Check motions against design rules. Exits with 1 if a motion breaks one.

    The default rules are the limits of the robot: joint angles and servo speeds. --rules eagle_knights adds
    those of a contest team: begin and end near a named pose, last at most 2 s, move in small steps.
    --physics also plays the motion under gravity: falls, distance, speed. docs/motions.md explains each rule.

    [bold]Examples[/]
      posewright motion check walk.motion.yaml
      posewright motion check humanoid.mtn --page Bow --rules eagle_knights --pose walk_ready --celebration
      posewright motion check KICK.mtn --physics --record kick.mcap
      posewright motion check motions --out checked
    """
    is_many = len(files) > 1 or files[0].is_dir()
    if is_many and record is not None:
        raise InputError("--record is for one file", hint="leave --record out, or check one file")
    if not is_many and out is not None:
        raise InputError("--out is for several files", hint="leave --out out, or check several files")
    if record is not None and not physics:
        raise InputError("--record needs --physics", hint="add --physics, or leave --record out")

    options = runs.CheckOptions(
        rules, pose, celebration, physics, attitude=to_radians(attitude), friction=friction
    )
    if is_many:

        def check_file(path: Path) -> runs.MotionCheck:
            return runs.check_motion_file(open_for_robot(path, robot), page, options)

        if check_many(files, check_file, out, strict=strict, as_json=as_json):
            raise typer.Exit(EXIT_FAILURE)
        return
    (path,) = files
    require_recording_path(record, path)
    file = open_for_robot(path, robot)
    output_paths: dict[int, Path] = {}
    if record is not None:
        page_numbers = [number for number, _ in runs.pages_of(file, page)]
        paths = recording_paths(record, list(map(str, page_numbers)))
        output_paths = dict(zip(page_numbers, paths, strict=True))
        for recording_path in paths:
            require_recording_path(recording_path, path)
    with spinner("playing", quiet=as_json or not physics) as show_status:
        result = runs.check_motion_file(
            file,
            page,
            options,
            recording_path=output_paths.__getitem__ if output_paths else None,
            on_progress=lambda name: show_status(f"playing {name}"),
        )
    print_result(result.to_dict(), result.lines(verbose=verbose), as_json=as_json)
    if result.count(motions.Level.ERROR) or (strict and result.count(motions.Level.WARNING)):
        raise typer.Exit(EXIT_FAILURE)


def plot(
    file: MotionPath,
    output: Annotated[Path, option("--output -o PICTURE", "A .png, .svg or .pdf file.")],
    page: Page = None,
    robot: RobotName = None,
) -> None:
    """Draw every moving joint over time, with keyframes, limits, speeds and findings of the design rules.

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
    unit: Annotated[
        str, option("--unit UNIT", "deg or rad (joint angles), servo_deg or ticks (servo positions).")
    ] = "deg",
    numbering: Annotated[
        str | None,
        option("--numbering NAME", "Order the columns by this numbering of the servos, and name them by it."),
    ] = None,
    until: Annotated[
        float | None,
        option(
            "--until S",
            "End at this time, in seconds. Default: the end of the motion, or of one pass of a loop.",
        ),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Sample a motion as a table with one row per time and one column per joint.

    [bold]Examples[/]
      posewright motion sample walk.motion.yaml --rate 128 -o walk.csv
      posewright motion sample thesis_table_forward.csv --rate 8 --unit servo_deg --numbering uc3m_thesis
    """
    require_output_file(output, TABLE, TABLE_ENDINGS, file)
    motion_file = open_for_robot(file, robot)
    motion = motion_file.motion(page)
    table = motions.sample_motion(
        motion, formats.robot_of_motion(motion), rate_hz=rate, unit=unit, numbering=numbering, until_s=until
    )
    write_samples(table, {"file": str(file), "format": motion_file.format}, output, as_json=as_json)


def convert(
    source: Source,
    target: Target,
    page: Page = None,
    robot: ForRobot = None,
    to: To = None,
    accept_loss: AcceptLoss = False,
    accept_faults: AcceptFaults = False,
    clip: Clip = False,
    keys: Keys = None,
    straighten: Straighten = False,
    repair: Repair = False,
    as_json: AsJson = False,
) -> None:
    """Convert a motion file to another format or robot; in the same format it is copied byte for byte.

    If something would be lost, or the robot of --robot cannot reach an angle, this is listed and nothing is
    written; --accept-loss and --clip write the file anyway. A motion in which `motion check` reports errors
    is not written to a file that robots play (.mtn, .mot, .pos, .h, .oda). The rounding reported at the end
    is measured on the written file.

    [bold]Examples[/]
      posewright motion convert humanoid.mtn bow.motion.yaml --page Bow --accept-loss
      posewright motion convert KICK.h KICK.mtn --robot sony_ers7
      posewright motion convert dive.mot dive.motion --keys all
      posewright motion convert play_bow.motion.yaml play_bow.mtn --straighten
    """
    file = open_unconverted(source, robot)
    if repair and page is None and formats.format_for(file.motion(), target, to).name == file.format:
        conversion = formats.Conversion(file.format, formats.write_motion_file(file, target, repair=True))
    else:
        losses_message = f"{target.name} cannot store all of {source}; nothing is written"
        with report_losses(losses_message), report_faults():
            conversion = formats.convert_motion(
                source,
                target,
                page=page,
                format=to,
                robot=robot,
                accept_loss=accept_loss,
                accept_faults=accept_faults,
                clip=clip,
                options=_write_options(keys, straighten=straighten),
            )
    for loss in conversion.losses:
        print_warning(f"lost: {loss}")
    print_accepted_faults(conversion.faults)
    data = {"source": str(source), "target": str(target), **asdict(conversion)}
    print_result(data, _conversion_lines(source, target, conversion), as_json=as_json)


def _write_options(keys: str | None, *, straighten: bool) -> formats.WriteOptions | None:
    """Return the options of the writer; None without any."""
    if keys is None:
        return formats.WriteOptions(straighten=True) if straighten else None
    choices = [choice.value for choice in formats.KeyTimes]
    if keys not in choices:
        raise UnknownNameError.among("value", keys, choices, owner="of --keys")
    return formats.WriteOptions(formats.KeyTimes(keys), straighten)


def _conversion_lines(source: Path, target: Path, conversion: formats.Conversion) -> Iterator[str]:
    """Yield lines about a conversion: the files, remarks, and how much the format rounds."""
    yield f"{source} -> {target} ({conversion.format})"
    for remark in conversion.remarks:
        yield f"  note: {remark}"
    if conversion.rounding is None:
        return
    angle_deg = math.degrees(conversion.rounding.angle_rad)
    time_s = conversion.rounding.time_s
    is_exact = angle_deg <= MIN_ROUNDING and time_s <= MIN_ROUNDING
    if not is_exact:
        step_rad = conversion.quantum.angle_rad
        step = "" if step_rad is None else f" (the format's step is {math.degrees(step_rad):.2g} deg)"
        yield f"  rounded: angles by up to {angle_deg:.2g} deg{step}, times by up to {time_s:.2g} s"


def view(
    file: MotionPath,
    page: Page = None,
    robot: RobotName = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
    as_json: AsJson = False,
) -> None:
    """Play a motion in the browser, without physics, and reload it whenever the file changes.

    The file is never written. Press Ctrl-C to end.

    [bold]Examples[/]
      posewright motion view walk.motion.yaml
      posewright motion view humanoid.mtn --page Bow --port 8080 --no-browser
    """
    with spinner("view: starting", quiet=as_json):
        motion_view = studio.open_view(
            file, robot, page=page, host=host, port=port, address_file=address_file()
        )
    serve_until_stopped(motion_view, "the motion", open_browser=browser, as_json=as_json)
