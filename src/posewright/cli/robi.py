"""`posewright robi`: programs of a Robi 2 run, watched, listed, assembled, patched; postures judged."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import formats, runs
from posewright.cli import completion, console, film_options
from posewright.cli.film_options import FilmOptions
from posewright.cli.options import (
    EXIT_FAILURE,
    AcceptLoss,
    AsJson,
    Record,
    add_group,
    add_verb,
    argument,
    option,
    report_losses,
    require_distinct_output,
    require_recording_path,
)
from posewright.display import DisplayItem, Styled, format_count, table
from posewright.documents import require_writable, write_atomically
from posewright.errors import InputError, LossError, Where
from posewright.runtimes import robi

if TYPE_CHECKING:
    from posewright.runtimes.robi.controller import RobiController
    from posewright.runtimes.robi.setup import RobiProgram


LISTING = ".lst"
MOTION = ".motion.yaml"
LOOKS_FROM = "front"
MOST_DEG = 3276.7
"""The largest angle that a word of 0.1 degree can say."""

_PROGRAMS = completion.files(
    ".rm4", ".lst", MOTION, names=completion.catalogue("posewright.runtimes.robi.catalogue.program_names")
)
ProgramName = Annotated[
    str,
    argument(
        "PROGRAM",
        "One that comes with Posewright (startup, dance, ...), or a file: RM4, a listing (.lst), a motion.",
        autocompletion=_PROGRAMS,
    ),
]
Words = Annotated[
    list[str] | None,
    option("--word N@S", "Let the robot recognise word N at S seconds: 472@3.0, 1@20; repeatable."),
]
Posture = Annotated[
    str,
    option(
        "--posture P",
        "In which the robot begins: standing, sitting, chair or ride, or that pose's name: sit.",
        autocompletion=completion.choices("standing", "sitting", "chair", "ride"),
    ),
]
Rule = Annotated[
    str,
    option(
        "--rule R",
        "By which the posture is judged: consistent, or as it is printed.",
        autocompletion=completion.choices("consistent", "printed"),
    ),
]
Body = Annotated[
    str, option("--body", "sim; random or a *.bodies.yaml: a simulated body drawn by the seed; mock.")
]
Seed = Annotated[int, option("--seed N", "Seed of what is drawn at random.")]
Seconds = Annotated[
    float | None,
    option(
        "--seconds S",
        "Run for so long, up to 3600 s; default until nothing more will happen, at most 600 s.",
    ),
]
Breakpoints = Annotated[
    list[str] | None,
    option("--break PLACE", "Stop the program before this label, or this address of its file; repeatable."),
]
Camera = Annotated[
    str | None, option("--camera NAME", f"field, top, chase, side, front; default {LOOKS_FROM}.")
]
Target = Annotated[Path | None, option("--output -o FILE", "Write here.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "robi")
    add_verb(group, "run", run, python_names="run_robi robi_result perform")
    add_verb(group, "watch", watch, python_names="run_robi")
    add_verb(group, "list", list_program, python_names="open_robi_program list_robi_program robi_motion")
    add_verb(group, "assemble", assemble, python_names="assemble_robi_program robi_program")
    add_verb(group, "patch", patch, python_names="read_robi_patch patch_robi_program unpatch_robi_program")
    add_verb(group, "postures", judge_postures, python_names="judge_robi_postures")


def run(
    program: ProgramName = "startup",
    words: Words = None,
    posture: Posture = "standing",
    rule: Rule = "consistent",
    body: Body = "sim",
    seed: Seed = 0,
    seconds: Seconds = None,
    breakpoints: Breakpoints = None,
    record: Record = None,
    video: film_options.Video = None,
    camera: Camera = None,
    as_json: AsJson = False,
) -> None:
    """Run a program of a Robi 2; exit with 1 if the program is wrong or the robot falls.

    The robot stands or sits on a bare floor, or is on its charging chair or its Robi Ride.

    [bold]Examples[/]
      posewright robi run startup --word 1@2 --word 3@6
      posewright robi run startup --posture chair --word 3@1 --video dance.mp4 --camera front
      posewright robi run my_program.rm4 --body mock --break forget --json
    """
    require_recording_path(record, program)
    film = FilmOptions.read(video, camera, subject=program, inputs=[program])
    ready = _set_up(program, words, posture, rule, breakpoints)
    if film is not None:
        film = replace(film, camera=film.camera or LOOKS_FROM)
        film.require_filmable(ready.robot, body)
    controller = ready.controller()
    recording = runs.run_robi(
        ready, controller=controller, seconds=seconds, body=body, seed=seed, record=record
    )
    if film is not None:
        with console.spinner("filming", quiet=as_json) as say:
            film.make(recording, say)
    stopped = controller.breakpoint_status
    result = runs.robi_result(recording) | ({"stopped": stopped.data()} if stopped else {})
    is_over = any(event["what"] == "end" for event in result["events"])
    result |= _returned(ready.program, controller, is_over=is_over)
    if breakpoints and stopped is None:
        console.print_warning(f"the program came to no breakpoint: {', '.join(breakpoints)}")
    console.print_result(result, robi.run_lines(result), as_json=as_json)
    if result["error"] or result["fell"]:
        raise typer.Exit(EXIT_FAILURE)


def watch(
    program: ProgramName = "startup",
    words: Words = None,
    posture: Posture = "standing",
    rule: Rule = "consistent",
    body: Body = "sim",
    seed: Seed = 0,
    seconds: Seconds = None,
    breakpoints: Breakpoints = None,
    record: Record = None,
) -> None:
    """Run a program in real time and show memory, servos, LEDs and posture while it runs.

    Where no person looks it runs as fast as it can, and a plain line is written whenever something changes.
    `run --json` gives what happened as data.

    [bold]Examples[/]
      posewright robi watch startup --word 1@2 --word 3@6
      posewright robi watch startup --posture sit --word 3@2 --body mock
    """
    from posewright.control import RealClock

    require_recording_path(record, program)
    ready = _set_up(program, words, posture, rule, breakpoints)
    clock = RealClock(time.monotonic, time.sleep) if sys.stdout.isatty() else None
    from posewright.cli.robi_watch import LiveView

    controller = ready.controller()
    with LiveView(controller) as view:
        recording = runs.run_robi(
            ready,
            controller=controller,
            seconds=seconds,
            watchers=[view],
            body=body,
            seed=seed,
            record=record,
            clock=clock,
        )
    result = runs.robi_result(recording)
    for line in robi.ending_lines(result, with_error=sys.stdout.isatty()):
        console.print_item(line)
    if result["error"] or result["fell"]:
        raise typer.Exit(EXIT_FAILURE)


def list_program(
    file: ProgramName = "startup",
    output: Target = None,
    motion: Annotated[
        Path | None, option("--motion FILE", "Write its pose data as a motion (.motion.yaml), lights too.")
    ] = None,
    rule: Rule = "consistent",
    as_json: AsJson = False,
) -> None:
    """List a program: an instruction a line, labels, and what words of the memory mean.

    `posewright robi assemble` makes the same bytes of a listing. What is odd about a file is told on stderr.

    [bold]Examples[/]
      posewright robi list dance
      posewright robi list my_program.rm4 -o my_program.lst
      posewright robi list dance --motion dance.motion.yaml
    """
    program = robi.open_program(file, rule)
    remarks = list(program.remarks)
    require_distinct_output(output, file)
    require_distinct_output(motion, file)
    if output is not None and motion is not None and output.resolve() == motion.resolve():
        raise InputError(f"-o and --motion are both {output}", hint="two files are written")
    text = robi.format_listing(program)
    if motion is not None:
        read = robi.program_to_motion(program)
        formats.write_motion(read.motion, motion)
        remarks += read.remarks
    if output is not None:
        write_atomically(output, text.encode())
    for remark in remarks:
        console.print_warning(remark)
    if as_json:
        console.print_json(
            {"bytes": program.n_bytes, "tags": len(program.tags), "remarks": remarks, "listing": text}
        )
    elif output is None and motion is None:
        console.print_document(text)
    else:
        console.print_line(f"{format_count(len(program.tags), 'tag')} -> {output or motion}")


def assemble(
    file: ProgramName,
    output: Annotated[Path, option("--output -o FILE", "Write the RM4 text here.")],
    straighten: Annotated[
        bool, option("--straighten", "Of a motion: cut ways that are not straight into short ones that are.")
    ] = False,
    accept_loss: AcceptLoss = False,
    as_json: AsJson = False,
) -> None:
    """Make an RM4 program of a listing or of a motion; addresses of jumps are worked out.

    A listing may call the programs that come with Posewright: they are put behind it.

    [bold]Examples[/]
      posewright robi assemble my_program.lst -o my_program.rm4
      posewright robi assemble wave.motion.yaml -o wave.rm4 --straighten
    """
    require_distinct_output(output, file)
    if output.name.lower().endswith((LISTING, MOTION)):
        raise InputError(f"{output} is not what is made", hint="it is RM4 text: end the name in .rm4")
    if _is_motion(file):
        made = robi.motion_to_program(formats.read_motion(file), straighten=straighten)
        with report_losses():
            if made.losses and not accept_loss:
                what = f"as a Robi's program it would lose: {'; '.join(made.losses)}"
                raise LossError(what, where=Where(Path(file)), losses=made.losses)
        program, remarks = made.program, (*made.losses, *made.remarks, *_rounded(made))
    elif straighten:
        raise InputError("--straighten", where=Where(Path(file)), hint="it is for a motion")
    else:
        program = robi.open_program(file)
        remarks = program.remarks
    write_atomically(output, program.render())
    for remark in remarks:
        console.print_warning(remark)
    told = {"bytes": program.n_bytes, "tags": len(program.tags), "remarks": list(remarks)}
    line = f"{format_count(len(program.tags), 'tag')}, {program.n_bytes} bytes -> {output}"
    console.print_result(told, [line], as_json=as_json)


def patch(
    file: Annotated[Path, argument("FILE", "The file that is patched, of any kind.")],
    changes: Annotated[
        Path,
        argument("PATCH", "A list of addresses and bytes, CSV.", autocompletion=completion.files(".csv")),
    ],
    output: Target = None,
    reverse: Annotated[bool, option("--reverse", "Take the patch back.")] = False,
    undo: Annotated[Path | None, option("--undo FILE", "Write here the patch that takes this back.")] = None,
    backup: Annotated[
        Path | None, option("--backup FILE", "Without -o: keep the file as it was here, then write over it.")
    ] = None,
    unchecked: Annotated[
        bool, option("--unchecked", "Also apply a patch that says neither what it replaces nor its file.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Apply a patch to a file, or take it back; never to the only copy, and never to another file.

    [bold]Examples[/]
      posewright robi patch STARTUP.BIN standing.csv -o patched.bin
      posewright robi patch patched.bin standing.csv --reverse -o STARTUP.BIN.again
      posewright robi patch program.rm4 fix.csv --backup program.rm4.before
      posewright robi patch STARTUP.BIN list.csv --unchecked -o patched.bin --undo undo.csv
    """
    found = robi.read_patch_file(changes)
    require_distinct_output(output, file, changes)
    require_distinct_output(backup, file, changes)
    require_distinct_output(undo, file, changes, *(path for path in (output, backup) if path is not None))
    if undo is not None:
        require_writable(undo)
    if reverse and unchecked:
        raise InputError("--reverse and --unchecked", hint="a patch that is taken back says what it replaces")
    if reverse:
        back = robi.unpatch_file(file, found, output, backup=backup)
    else:
        back = robi.patch_file(file, found, output, backup=backup, unchecked=unchecked)
    if undo is not None:
        write_atomically(undo, back.text().encode())
    done = "taken back" if reverse else "applied"
    told = {"changes": len(found.changes), "done": done, "file": str(output or file)}
    line = f"{format_count(len(found.changes), 'change')} {done} -> {output or file}"
    console.print_result(told, [line], as_json=as_json)


def judge_postures(
    rule: Rule = "consistent",
    angles: Annotated[
        tuple[float, float, float] | None,
        option(
            "--angles ID3 ID4 ID9",
            "Judge these: right hip pitch, right knee, left knee, as words say, in degrees.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge the four poses in which a Robi idles, or given angles, as the robot does when it is switched on.

    As printed, the rule calls the document's own sitting pose a chair; the consistent one is ours.

    [bold]Examples[/]
      posewright robi postures
      posewright robi postures --rule printed
      posewright robi postures --angles -107 0 0
    """
    if angles is not None and not all(abs(angle) <= MOST_DEG for angle in angles):
        hint = f"three angles in degrees, up to {MOST_DEG} either way, as a word can say"
        raise InputError(f"--angles {' '.join(map(str, angles))}", hint=hint)
    given = None if angles is None else dict(zip(robi.JUDGED_BY, angles, strict=True))
    judged = robi.judge_postures(given, rule)
    columns = ("pose", *(f"ID {number} [deg]" for number in robi.JUDGED_BY), "judged", "right")
    rows = (
        (
            one.pose,
            *(f"{one.angles_deg[number]:.1f}" for number in robi.JUDGED_BY),
            Styled(one.judged, "red" if one.contradicts else ""),
            one.right or "-",
        )
        for one in judged
    )
    wrong = [f"{one.pose} is judged {one.judged}, and is {one.right}" for one in judged if one.contradicts]
    lines: list[DisplayItem] = [table(columns, rows, title=f"rule: {rule}"), *wrong]
    console.print_result([one.data() for one in judged], lines, as_json=as_json)


def _set_up(
    program: str, words: list[str] | None, posture: str, rule: str, breakpoints: list[str] | None
) -> RobiProgram:
    ready = runs.set_up_robi(
        program, words=",".join(words or ()), posture=posture, rule=rule, breakpoints=breakpoints or ()
    )
    for warning in ready.warnings:
        console.print_warning(warning)
    return ready


def _is_motion(program: str) -> bool:
    return program.lower().endswith(MOTION)


def _returned(program: robi.Rm4Program, controller: RobiController, *, is_over: bool) -> dict[str, int]:
    """Return what a program found that is over, where it writes that into the memory."""
    cell = robi.memory_map()["return_value"].at()
    if not is_over or not any(tag.address == cell for tag in program.tags):
        return {}
    return {"return_value": controller.memory.get("return_value")}


def _rounded(made: robi.ConvertedMotion) -> Iterator[str]:
    degrees = math.degrees(made.rounding.angle_rad)
    if degrees > 1e-6:
        yield f"angles are rounded by up to {degrees:.3f} deg: a word is 0.1 deg"
    if made.rounding.time_s > 1e-6:
        late = 1000.0 * made.rounding.time_s
        yield f"keyframes come up to {late:.1f} ms early or late: times are in 1/60 s"
