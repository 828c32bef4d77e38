"""`posewright basic`: RoboBASIC programs run, checked, formatted, made into motions and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from posewright import runs
from posewright.cli import completion, console, film_options
from posewright.cli.basic_check import check, format_programs
from posewright.cli.basic_motions import Measured, motions
from posewright.cli.film_options import FilmOptions
from posewright.cli.options import (
    EXIT_FAILURE,
    AsJson,
    Record,
    add_group,
    add_verb,
    argument,
    option,
    require_recording_path,
)
from posewright.documents import read_text
from posewright.runtimes import robobasic
from posewright.search.plan import require_seed

LOOKS_FROM = "front"
MOST_WARNED = 5

ProgramName = Annotated[
    str,
    argument(
        "PROGRAM",
        "One that comes with Posewright (bow, walk, race, ...), or a RoboBASIC file (.bas).",
        autocompletion=completion.files(
            ".bas", names=completion.catalogue("posewright.runtimes.robobasic.load.program_names")
        ),
    ),
]
Keys = Annotated[
    list[str] | None,
    option("--remocon KEY@S", "Press a key of the remote control, 1..32, at S seconds; repeatable."),
]
Inputs = Annotated[
    list[str] | None,
    option("--input PORT=VALUE@S", "What a port reads from S seconds on: AD5=20@3, ERX=65@4; repeatable."),
]
Script = Annotated[
    Path | None, option("--script FILE", "A file of such inputs, REMOCON=3@2 and AD5=20@3, a line each.")
]
Plugs = Annotated[
    list[str] | None,
    option(
        "--plug PORT=SENSOR",
        "A sensor on another AD port: front, left, right, heading, tilt, tilt_2012, battery, none.",
    ),
]
Breakpoints = Annotated[
    list[str] | None, option("--break PLACE", "Stop the program before this label or line; repeatable.")
]
Body = Annotated[
    str, option("--body", "sim; random or a *.bodies.yaml: a simulated body drawn by the seed; mock.")
]
Pose = Annotated[str, option("--pose NAME", "In which pose of its card the robot begins.")]
Seed = Annotated[int, option("--seed N", "Seed of what is drawn at random.")]
Seconds = Annotated[
    float | None,
    option(
        "--seconds S",
        "Run for so long, up to 3600 s; default until the program is over or waits, at most 60 s.",
    ),
]
Camera = Annotated[
    str | None, option("--camera NAME", f"field, top, chase, side, front; default {LOOKS_FROM}.")
]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "basic")
    add_verb(group, "run", run, python_names="run_basic basic_result")
    add_verb(group, "check", check, python_names="read_basic check_basic")
    add_verb(group, "format", format_programs, python_names="read_basic format_basic")
    add_verb(
        group, "motions", motions, python_names="basic_routines basic_motions basic_program write_motion"
    )


def run(
    program: ProgramName,
    keys: Keys = None,
    inputs: Inputs = None,
    script: Script = None,
    plugs: Plugs = None,
    breakpoints: Breakpoints = None,
    measured: Measured = None,
    body: Body = "sim",
    pose: Pose = "stand",
    seed: Seed = 0,
    seconds: Seconds = None,
    record: Record = None,
    video: film_options.Video = None,
    camera: Camera = None,
    as_json: AsJson = False,
) -> None:
    """Run a program of a RoboNova-1, unmodified; exit with 1 if the program fails or the robot ends up lying.

    The robot stands on a bare floor; `posewright run obstacle-race --behaviour FILE.bas` is for a contest.

    [bold]Examples[/]
      posewright basic run bow
      posewright basic run my_template.bas --remocon 3@2.0 --remocon 11@6 --video out/keys.mp4
      posewright basic run my_template.bas --body mock --input AD5=20@3 --break forward_standup --json
    """
    require_recording_path(record, program)
    film = FilmOptions.read(video, camera, subject=program, inputs=[program])
    if script is not None:
        robobasic.read_inputs(read_text(script), script)  # what is wrong in it is told with its line
    pieces = [*(f"REMOCON={key}" for key in keys or ()), *(inputs or ())]
    ready = runs.set_up_basic(
        program,
        inputs="\n".join([read_text(script) if script is not None else "", *pieces]),
        plugs=plugs or (),
        breakpoints=breakpoints or (),
        speed_counts_s=None if measured is None else robobasic.speed_from_measurement(*measured),
        pose=pose,
    )
    controller = ready.controller(require_seed(seed))
    _warn(controller)
    if film is not None:
        film = replace(film, camera=film.camera or LOOKS_FROM)
        film.require_filmable(ready.robot, body)
    recording = runs.run_basic(
        ready, controller=controller, seconds=seconds, body=body, seed=seed, record=record
    )
    if film is not None:
        with console.spinner("filming", quiet=as_json) as say:
            film.make(recording, say)
    result = runs.basic_result(recording)
    if breakpoints and result["reason"] != "breakpoint":
        console.print_warning(f"no breakpoint was reached: {', '.join(breakpoints)}")
    if not controller.inputs.is_exhausted:
        console.print_warning("the run ended before the program had read all inputs")
    console.print_result(result, robobasic.run_lines(result), as_json=as_json)
    if result["error"] or result["lies"]:
        raise typer.Exit(EXIT_FAILURE)


def _warn(ready: robobasic.RoboBasicController) -> None:
    """Tell what is odd about a program; `basic check` tells all."""
    source = ready.program.source
    warnings = ready.program.warnings
    for warning in warnings[:MOST_WARNED]:
        console.print_warning(f"{source.where(warning.line)}: {warning.message}")
    if len(warnings) > MOST_WARNED:
        console.print_warning(f"and {len(warnings) - MOST_WARNED} more; `posewright basic check` tells all")
    for moved in robobasic.find_moved_sensors(source):
        if ready.inputs.ad_sensors.get(moved.port) is moved.sensor:
            console.print_warning(f"{source.where(moved.line)}: {moved.message}; --plug changes that")
