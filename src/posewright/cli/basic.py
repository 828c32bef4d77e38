"""`posewright basic`: run, check and format RoboBASIC programs, and convert them to motions and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from posewright import runs
from posewright.cli import completion, console, film_options
from posewright.cli.basic_check import check, format_programs
from posewright.cli.basic_motions import MeasuredMove, motions
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

DEFAULT_CAMERA = "front"

MAX_WARNINGS = 5
"""So many warnings about a program are printed before a run."""

ProgramName = Annotated[
    str,
    argument(
        "PROGRAM",
        "A program of Posewright (bow, walk, race, ...), or a RoboBASIC file (.bas).",
        autocompletion=completion.files(
            ".bas", names=completion.catalogue("posewright.runtimes.robobasic.load.program_names")
        ),
    ),
]
Keys = Annotated[
    list[str] | None,
    option("--remocon KEY@S", "Press a key of the remote control, 1 to 32, after S seconds; repeatable."),
]
Inputs = Annotated[
    list[str] | None,
    option(
        "--input PORT=VALUE@S", "Set what a port reads from S seconds on: AD5=20@3, ERX=65@4; repeatable."
    ),
]
Script = Annotated[
    Path | None, option("--script FILE", "Read inputs from a file, one per line: REMOCON=3@2, AD5=20@3.")
]
PluggedSensors = Annotated[
    list[str] | None,
    option(
        "--plug PORT=SENSOR",
        "Connect a sensor to an AD port: front, left, right, heading, tilt, tilt_2012, battery, none.",
    ),
]
Breakpoints = Annotated[
    list[str] | None, option("--break PLACE", "Stop the program before this label or line; repeatable.")
]
Body = Annotated[
    str, option("--body BODY", "sim, mock, or a simulated body drawn by the seed: random or a *.bodies.yaml.")
]
Pose = Annotated[str, option("--pose NAME", "The pose of the robot's card in which it starts.")]
Seed = Annotated[int, option("--seed N", "Seed of all random numbers.")]
Seconds = Annotated[
    float | None,
    option(
        "--seconds S",
        "Stop after S seconds, at most 3600; default when the program ends or waits, at most 60.",
    ),
]
Camera = Annotated[
    str | None, option("--camera NAME", f"field, top, chase, side, front; default {DEFAULT_CAMERA}.")
]


def register(app: typer.Typer) -> None:
    """Add the command `basic` and its verbs."""
    group = add_group(app, "basic")
    add_verb(group, "run", run, python_equivalents="run_basic basic_result")
    add_verb(group, "check", check, python_equivalents="read_basic check_basic")
    add_verb(group, "format", format_programs, python_equivalents="read_basic format_basic")
    add_verb(
        group,
        "motions",
        motions,
        python_equivalents="basic_routines basic_motions basic_program write_motion",
    )


def run(
    program: ProgramName,
    keys: Keys = None,
    inputs: Inputs = None,
    script: Script = None,
    plugs: PluggedSensors = None,
    breakpoints: Breakpoints = None,
    measured: MeasuredMove = None,
    body: Body = "sim",
    pose: Pose = "stand",
    seed: Seed = 0,
    seconds: Seconds = None,
    record: Record = None,
    video: film_options.Video = None,
    camera: Camera = None,
    as_json: AsJson = False,
) -> None:
    """Run an unmodified RoboNova-1 program on an empty floor.

    The exit code is 1 if the program fails or the robot lies on the floor at the end. To run a program in a
    contest, use `posewright run obstacle-race --behaviour FILE.bas`.

    [bold]Examples[/]
      posewright basic run bow
      posewright basic run my_template.bas --remocon 3@2.0 --remocon 11@6 --video out/keys.mp4
      posewright basic run my_template.bas --body mock --input AD5=20@3 --break forward_standup --json
    """
    require_recording_path(record, program)
    film = FilmOptions.read(video, camera, subject=program, inputs=[program])
    input_lines: list[str] = []
    if script is not None:
        script_text = read_text(script)
        robobasic.read_inputs(script_text, script)  # raises errors with the line of the script
        input_lines.append(script_text)
    input_lines += [f"REMOCON={key}" for key in keys or ()]
    input_lines += inputs or ()
    setup = runs.set_up_basic(
        program,
        inputs="\n".join(input_lines),
        plugs=plugs or (),
        breakpoints=breakpoints or (),
        speed_counts_s=None if measured is None else robobasic.speed_from_measurement(*measured),
        pose=pose,
    )
    controller = setup.controller(require_seed(seed))
    _print_warnings(controller)
    if film is not None:
        film = replace(film, camera=film.camera or DEFAULT_CAMERA)
        film.require_filmable(setup.robot, body)
    recording = runs.run_basic(
        setup, controller=controller, seconds=seconds, body=body, seed=seed, record=record
    )
    if film is not None:
        with console.spinner("filming", quiet=as_json) as set_spinner_text:
            film.make(recording, set_spinner_text)
    result = runs.basic_result(recording)
    if breakpoints and result["reason"] != "breakpoint":
        console.print_warning(f"no breakpoint was reached: {', '.join(breakpoints)}")
    if not controller.inputs.is_exhausted:
        console.print_warning("the run ended before the program had read all inputs")
    console.print_result(result, robobasic.format_run_report(result), as_json=as_json)
    if result["error"] or result["lies"]:
        raise typer.Exit(EXIT_FAILURE)


def _print_warnings(controller: robobasic.RoboBasicController) -> None:
    """Print the first warnings about a program, and which sensors are assumed at other ports than usual."""
    source = controller.program.source
    warnings = controller.program.warnings
    for warning in warnings[:MAX_WARNINGS]:
        console.print_warning(f"{source.where(warning.line)}: {warning.message}")
    if len(warnings) > MAX_WARNINGS:
        n_hidden = len(warnings) - MAX_WARNINGS
        console.print_warning(f"and {n_hidden} more; `posewright basic check` lists them all")
    for moved_sensor in robobasic.find_moved_sensors(source):
        is_assumed = controller.inputs.ad_sensors.get(moved_sensor.port) is moved_sensor.sensor
        if is_assumed:
            console.print_warning(
                f"{source.where(moved_sensor.line)}: {moved_sensor.message}; --plug changes that"
            )
