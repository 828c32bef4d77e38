"""`posewright basic`: RoboBASIC programs run, checked, formatted, made into motions and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from posewright import figures, runs
from posewright.cli import completion, console, film_options
from posewright.cli.basic_check import check, format_programs
from posewright.cli.basic_motions import Measured, motions
from posewright.cli.options import (
    FOUND,
    AsJson,
    Record,
    add_group,
    add_verb,
    argument,
    option,
    refuse_overwriting,
    refuse_recording,
)
from posewright.documents import read_text
from posewright.runtimes.robobasic import RoboBasicController
from posewright.runtimes.robobasic.inputs import read_inputs
from posewright.runtimes.robobasic.plugs import moved_plugs
from posewright.runtimes.robobasic.servos import speed_from_measurement
from posewright.search.plan import checked_seed

LOOKS_FROM = "front"
MOST_WARNED = 5

ProgramName = Annotated[
    str,
    argument(
        "PROGRAM",
        "One that comes with Posewright (bow, walk, race, ...), or a RoboBASIC file (.bas).",
        autocompletion=completion.files(
            ".bas", also=completion.catalogue("posewright.runtimes.robobasic.opening.program_names")
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
    add_verb(group, "run", run, twins="run_basic basic_result")
    add_verb(group, "check", check, twins="read_basic check_basic")
    add_verb(group, "format", format_programs, twins="read_basic format_basic")
    add_verb(group, "motions", motions, twins="basic_routines basic_motions basic_program write_motion")


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
    refuse_recording(record, program)
    film_options.refuse_unused_camera(camera, video)
    if video is not None and not video.is_dir():
        figures.refuse_film(video, 1.0, None)
        refuse_overwriting(video, program)
    video = video and film_options.film_path(video, program)
    if script is not None:
        read_inputs(read_text(script), script)  # what is wrong in it is told with its line
    pieces = [*(f"REMOCON={key}" for key in keys or ()), *(inputs or ())]
    ready = runs.set_up_basic(
        program,
        inputs="\n".join([read_text(script) if script is not None else "", *pieces]),
        plugs=plugs or (),
        breakpoints=breakpoints or (),
        speed_counts_s=None if measured is None else speed_from_measurement(*measured),
    )
    controller = ready.controller(checked_seed(seed))
    _warn(controller)
    camera = (camera or LOOKS_FROM) if video is not None else None
    if camera is not None:
        film_options.refuse_unfilmable(ready.robot, body, camera)
    how: dict[str, Any] = {"body": body, "seed": seed, "record": record, "pose": pose}
    recording = runs.run_basic(ready, controller=controller, seconds=seconds, **how)
    if video is not None and camera is not None:
        with console.working("filming", quiet=as_json) as say:
            figures.film_recording(recording, video, camera=camera, on_progress=film_options.filming(say))
    result = runs.basic_result(recording)
    if breakpoints and result["reason"] != "breakpoint":
        console.warn(f"no breakpoint was reached: {', '.join(breakpoints)}")
    if not controller.inputs.is_exhausted:
        console.warn("the run ended before the program had read all inputs")
    console.give(result, _lines(result), as_json=as_json)
    if result["error"] or result["lies"]:
        raise typer.Exit(FOUND)


def _warn(ready: RoboBasicController) -> None:
    """Tell what is odd about a program; `basic check` tells all."""
    source, odd = ready.program.source, ready.program.warnings
    for one in odd[:MOST_WARNED]:
        console.warn(f"{source.where(one.line)}: {one.message}")
    if len(odd) > MOST_WARNED:
        console.warn(f"and {len(odd) - MOST_WARNED} more; `posewright basic check` tells all")
    for moved in moved_plugs(source):
        if ready.inputs.plugged.get(moved.port) is moved.sensor:
            console.warn(f"{source.where(moved.line)}: {moved.message}; --plug changes that")


def _upright(result: dict[str, Any]) -> str:
    """Return how the robot fared, in words; without physics nobody knows."""
    if result["fell"] is None:
        return "no physics on this body, so falls are not known"
    falls = ", ".join(f"{one['side']} at {one['time_s']:.2f} s" for one in result["falls"])
    if not falls:
        return "the robot stayed up"
    return f"the robot fell {falls}, and {'is still down' if result['lies'] else 'is up again'}"


def _lines(result: dict[str, Any]) -> Iterator[str | Text]:
    yield f"{result['program']}: {result['duration_s']:.2f} s"
    for one in result["events"]:
        style = {"error": "red", "running": "yellow"}.get(one["what"], "")
        yield console.styled(f"{one['time_s']:8.2f} s  line {one['line']:4}  {_event(one)}", style)
    if result["variables"]:
        yield ", ".join(f"{name} = {value}" for name, value in result["variables"].items())
    yield f"{_upright(result)}; digest {result['digest'][:16]}"


_SAID: dict[str, Callable[[dict[str, Any]], str]] = {
    "loop": lambda one: f"a loop came round{_place(one)}",
    "waits": lambda one: (
        f"waits{_place(one)}" + (f" for {', '.join(one['looks_at'])}" if one["looks_at"] else "")
    ),
    "running": lambda one: f"still running{_place(one)} when time was up",
    "end": lambda one: (
        f"stopped{_place(one)}" if one["reason"] == "breakpoint" else f"over: {one['reason']}{_place(one)}"
    ),
    "error": lambda one: f"error: {one['message']}",
    "key": lambda one: f"key {one['key']}",
    "motor": lambda one: f"motors of {one['servos']} {'on' if one['on'] else 'off'}",
    "out": lambda one: f"OUT {one['port']}, {one['value']}",
    "byteout": lambda one: f"BYTEOUT {one['port']}, {one['value']}",
    "skipped": lambda one: f"{one['statement']} {', '.join(map(str, one['numbers']))} is skipped",
    "print": lambda one: f"display: {one['text']}",
    "music": lambda one: f"music {one['notes']}",
    "sent": lambda one: f"sent byte {one['byte']}",
}


def _place(one: dict[str, Any]) -> str:
    return f" at {one['label']}" if one.get("label") else ""


def _event(one: dict[str, Any]) -> str:
    if said := _SAID.get(one["what"]):
        return said(one)
    told = ", ".join("" if number is None else str(number) for number in one.get("numbers", ()))
    return f"{one.get('statement', one['what'])} {told}".strip()
