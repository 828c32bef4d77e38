"""`posewright robi`: runs, watches, lists, assembles and patches programs of a Robi 2; judges postures."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import formats, hazards, runs
from posewright.cli import completion, console, film_options
from posewright.cli.film_options import FilmOptions
from posewright.cli.options import (
    EXIT_FAILURE,
    TABLE_ENDINGS,
    AcceptFaults,
    AcceptLoss,
    AsJson,
    Record,
    add_group,
    add_verb,
    argument,
    option,
    print_accepted_faults,
    report_faults,
    report_losses,
    require_distinct_output,
    require_output_file,
    require_recording_path,
)
from posewright.display import DisplayItem, Styled, format_count, table
from posewright.documents import write_atomically
from posewright.errors import InputError, LossError, Where
from posewright.runtimes import robi

if TYPE_CHECKING:
    from posewright.runtimes.robi.setup import RobiProgram


LISTING_SUFFIX = ".lst"
PROGRAM_SUFFIX = ".rm4"
MOTION_SUFFIX = ".motion.yaml"
DEFAULT_CAMERA = "front"
MAX_ANGLE_DEG = 3276.7
"""The largest angle that a signed 16-bit word in units of 0.1 degree can hold."""

_PROGRAMS = completion.files(
    ".rm4",
    ".lst",
    MOTION_SUFFIX,
    names=completion.catalogue("posewright.runtimes.robi.catalogue.program_names"),
)
ProgramName = Annotated[
    str,
    argument(
        "PROGRAM",
        "A program of Posewright (startup, dance, ...), or a file: RM4, a listing (.lst) or a motion.",
        autocompletion=_PROGRAMS,
    ),
]
SpokenWords = Annotated[
    list[str] | None,
    option("--word N@S", "The robot recognises word N at S seconds, such as 472@3.0. Repeat for more."),
]
Posture = Annotated[
    str,
    option(
        "--posture P",
        "Posture at the start: standing, sitting, chair, ride, or the name of the pose, such as sit.",
        autocompletion=completion.choices("standing", "sitting", "chair", "ride"),
    ),
]
Rule = Annotated[
    str,
    option(
        "--rule R",
        "Rule that judges the posture: consistent, or printed (as in the document).",
        autocompletion=completion.choices("consistent", "printed"),
    ),
]
Body = Annotated[
    str,
    option(
        "--body BODY", "sim; random, or a *.bodies.yaml: simulated, with parameters drawn by the seed; mock."
    ),
]
Seed = Annotated[int, option("--seed N", "Seed of everything random.")]
Seconds = Annotated[
    float | None,
    option(
        "--seconds S",
        "How long to run, up to 3600 s. Default: until nothing more can happen, at most 600 s.",
    ),
]
Breakpoints = Annotated[
    list[str] | None,
    option("--break PLACE", "Stop before this label, or this address in the file. Repeat for more."),
]
Camera = Annotated[
    str | None, option("--camera NAME", f"field, top, chase, side or front. Default: {DEFAULT_CAMERA}.")
]
Target = Annotated[Path | None, option("--output -o FILE", "The file to write.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "robi")
    add_verb(group, "run", run, python_equivalents="run_robi robi_result perform")
    add_verb(group, "watch", watch, python_equivalents="run_robi")
    add_verb(
        group, "list", list_program, python_equivalents="open_robi_program list_robi_program robi_motion"
    )
    add_verb(group, "assemble", assemble, python_equivalents="assemble_robi_program robi_program")
    add_verb(
        group, "patch", patch, python_equivalents="read_robi_patch patch_robi_program unpatch_robi_program"
    )
    add_verb(group, "postures", judge_postures, python_equivalents="judge_robi_postures")


def run(
    program: ProgramName = "startup",
    words: SpokenWords = None,
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
    """Run a program of a Robi 2. Exits with 1 if the program has an error or the robot falls.

    The robot stands or sits on the bare floor, or sits on its charging chair or its Robi Ride.

    [bold]Examples[/]
      posewright robi run startup --word 1@2 --word 3@6
      posewright robi run startup --posture chair --word 3@1 --video dance.mp4 --camera front
      posewright robi run my_program.rm4 --body mock --break forget --json
    """
    require_recording_path(record, program)
    film = FilmOptions.read(video, camera, subject=program, inputs=[program])
    setup = _set_up(program, words, posture, rule, breakpoints)
    if film is not None:
        film = replace(film, camera=film.camera or DEFAULT_CAMERA)
        film.require_filmable(setup.robot, body)
    controller = setup.controller()
    recording = runs.run_robi(
        setup, controller=controller, seconds=seconds, body=body, seed=seed, record=record
    )
    if film is not None:
        with console.spinner("filming", quiet=as_json) as show_status:
            film.make(recording, show_status)
    breakpoint_status = controller.breakpoint_status
    result = runs.robi_result(recording)
    if breakpoint_status is not None:
        result |= {"stopped": breakpoint_status.data()}
    has_ended = any(event["what"] == "end" for event in result["events"])
    if has_ended and _sets_return_value(setup.program):
        result |= {"return_value": controller.memory.get("return_value")}
    if breakpoints and breakpoint_status is None:
        console.print_warning(f"the program reached no breakpoint: {', '.join(breakpoints)}")
    console.print_result(result, robi.format_run_report(result), as_json=as_json)
    if result["error"] or result["fell"]:
        raise typer.Exit(EXIT_FAILURE)


def watch(
    program: ProgramName = "startup",
    words: SpokenWords = None,
    posture: Posture = "standing",
    rule: Rule = "consistent",
    body: Body = "sim",
    seed: Seed = 0,
    seconds: Seconds = None,
    breakpoints: Breakpoints = None,
    record: Record = None,
) -> None:
    """Run a program in real time and show memory, servos, LEDs and posture while it runs.

    If stdout is not a terminal, the program runs as fast as possible and prints a line for every change.
    `robi run --json` prints the events of a run as data.

    [bold]Examples[/]
      posewright robi watch startup --word 1@2 --word 3@6
      posewright robi watch startup --posture sit --word 3@2 --body mock
    """
    from posewright.cli.robi_watch import LiveView
    from posewright.control import RealClock

    require_recording_path(record, program)
    setup = _set_up(program, words, posture, rule, breakpoints)
    clock = RealClock(time.monotonic, time.sleep) if sys.stdout.isatty() else None
    controller = setup.controller()
    with LiveView(controller) as view:
        recording = runs.run_robi(
            setup,
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
        Path | None, option("--motion FILE", "Also write its poses and lights as a motion (.motion.yaml).")
    ] = None,
    rule: Rule = "consistent",
    as_json: AsJson = False,
) -> None:
    """List a program with one instruction per line, labels, and the meaning of memory words.

    `posewright robi assemble` turns a listing back into the same bytes. Remarks about the file go to stderr.

    [bold]Examples[/]
      posewright robi list dance
      posewright robi list my_program.rm4 -o my_program.lst
      posewright robi list dance --motion dance.motion.yaml
    """
    program = robi.open_program(file, rule)
    remarks = list(program.remarks)
    require_output_file(output, "a listing", (LISTING_SUFFIX,), file)
    require_output_file(motion, "a motion", (MOTION_SUFFIX,), file)
    text = robi.format_listing(program)
    if motion is not None:
        conversion = robi.program_to_motion(program)
        formats.write_motion(conversion.motion, motion)
        remarks += conversion.remarks
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
    output: Annotated[Path, option("--output -o FILE", "The RM4 file to write.")],
    straighten: Annotated[
        bool, option("--straighten", "For a motion: replace curves by short straight segments.")
    ] = False,
    accept_loss: AcceptLoss = False,
    accept_faults: AcceptFaults = False,
    as_json: AsJson = False,
) -> None:
    """Convert a listing or a motion to an RM4 program; jump addresses are computed.

    A listing may call the programs of Posewright, which are appended to it. A motion in which `motion check`
    reports errors is not converted.

    [bold]Examples[/]
      posewright robi assemble my_program.lst -o my_program.rm4
      posewright robi assemble wave.motion.yaml -o wave.rm4 --straighten
    """
    require_output_file(output, "a Robi program", (PROGRAM_SUFFIX,), file)
    faults: tuple[str, ...] = ()
    if file.lower().endswith(MOTION_SUFFIX):
        source_motion = formats.read_motion(file)
        conversion = robi.motion_to_program(source_motion, straighten=straighten)
        faults = hazards.find_faults(source_motion)
        with report_losses(), report_faults():
            hazards.require_no_faults(
                faults, source_motion.name, accept_faults=accept_faults, path=Path(file)
            )
            if conversion.losses and not accept_loss:
                message = f"a Robi program cannot store all of the motion: {'; '.join(conversion.losses)}"
                raise LossError(message, where=Where(Path(file)), losses=conversion.losses)
        program = conversion.program
        remarks = (*conversion.losses, *conversion.remarks, *_describe_rounding(conversion))
    elif straighten:
        raise InputError(
            "--straighten is for motions, not for listings", where=Where(Path(file)), hint="leave it out"
        )
    else:
        program = robi.open_program(file)
        remarks = program.remarks
    write_atomically(output, program.render())
    for remark in remarks:
        console.print_warning(remark)
    print_accepted_faults(faults)
    data = {
        "bytes": program.n_bytes,
        "tags": len(program.tags),
        "remarks": list(remarks),
        "faults": list(faults),
    }
    line = f"{format_count(len(program.tags), 'tag')}, {program.n_bytes} bytes -> {output}"
    console.print_result(data, [line], as_json=as_json)


def patch(
    file: Annotated[Path, argument("FILE", "The file to patch, in any format.")],
    patch_path: Annotated[
        Path,
        argument("PATCH", "A CSV file of addresses and bytes.", autocompletion=completion.files(".csv")),
    ],
    output: Target = None,
    reverse: Annotated[bool, option("--reverse", "Revert the patch.")] = False,
    undo: Annotated[Path | None, option("--undo FILE", "Also write a patch that reverts this one.")] = None,
    backup: Annotated[
        Path | None, option("--backup FILE", "Without -o: copy the original to this file, then overwrite it.")
    ] = None,
    unchecked: Annotated[
        bool,
        option("--unchecked", "Apply a patch even if it states neither the bytes it replaces nor its file."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Apply a patch to a file, or revert it.

    A patch is applied only to the file that it was made for, and the original is always preserved.

    [bold]Examples[/]
      posewright robi patch STARTUP.BIN standing.csv -o patched.bin
      posewright robi patch patched.bin standing.csv --reverse -o STARTUP.BIN.again
      posewright robi patch program.rm4 fix.csv --backup program.rm4.before
      posewright robi patch STARTUP.BIN list.csv --unchecked -o patched.bin --undo undo.csv
    """
    patch_data = robi.read_patch_file(patch_path)
    require_distinct_output(output, file, patch_path)
    require_distinct_output(backup, file, patch_path)
    require_output_file(undo, "a patch", TABLE_ENDINGS, file, patch_path, output, backup)
    if reverse and unchecked:
        raise InputError(
            "--reverse and --unchecked exclude each other",
            hint="a patch can be reverted only if it states the bytes it replaces",
        )
    if reverse:
        reverse_patch = robi.unpatch_file(file, patch_data, output, backup=backup)
    else:
        reverse_patch = robi.patch_file(file, patch_data, output, backup=backup, unchecked=unchecked)
    if undo is not None:
        write_atomically(undo, reverse_patch.text().encode())
    n_changes = len(patch_data.changes)
    done = "taken back" if reverse else "applied"  # part of the JSON, which does not change
    data = {"changes": n_changes, "done": done, "file": str(output or file)}
    line = f"{format_count(n_changes, 'change')} {'reverted' if reverse else 'applied'} -> {output or file}"
    console.print_result(data, [line], as_json=as_json)


def judge_postures(
    rule: Rule = "consistent",
    angles: Annotated[
        tuple[float, float, float] | None,
        option(
            "--angles ID3 ID4 ID9",
            "Judge these angles in degrees: right hip pitch, right knee, left knee, as in the memory words.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge the posture of the four idle poses, or of given angles, as a Robi does when it is switched on.

    The printed rule calls the sitting pose of the same document a chair; the consistent rule corrects that.

    [bold]Examples[/]
      posewright robi postures
      posewright robi postures --rule printed
      posewright robi postures --angles -107 0 0
    """
    if angles is not None and not all(abs(angle) <= MAX_ANGLE_DEG for angle in angles):
        raise InputError(
            f"--angles {' '.join(map(str, angles))} is out of range",
            hint=f"three angles in degrees, from -{MAX_ANGLE_DEG} to {MAX_ANGLE_DEG}",
        )
    angle_by_id = None if angles is None else dict(zip(robi.JUDGED_BY, angles, strict=True))
    judgements = robi.judge_postures(angle_by_id, rule)
    columns = ("pose", *(f"ID {number} [deg]" for number in robi.JUDGED_BY), "judged", "right")
    rows = []
    contradictions = []
    for judgement in judgements:
        angle_cells = [f"{judgement.angles_deg[number]:.1f}" for number in robi.JUDGED_BY]
        verdict = Styled(judgement.judged, "red" if judgement.contradicts else "")
        rows.append((judgement.pose, *angle_cells, verdict, judgement.right or "-"))
        if judgement.contradicts:
            contradictions.append(
                f"{judgement.pose} is judged {judgement.judged}, but it is {judgement.right}"
            )
    lines: list[DisplayItem] = [table(columns, rows, title=f"rule: {rule}"), *contradictions]
    console.print_result([judgement.data() for judgement in judgements], lines, as_json=as_json)


def _set_up(
    program: str, words: list[str] | None, posture: str, rule: str, breakpoints: list[str] | None
) -> RobiProgram:
    """Prepare a program to run, and print warnings about it."""
    setup = runs.set_up_robi(
        program, words=",".join(words or ()), posture=posture, rule=rule, breakpoints=breakpoints or ()
    )
    for warning in setup.warnings:
        console.print_warning(warning)
    return setup


def _sets_return_value(program: robi.Rm4Program) -> bool:
    """Return whether a program writes the memory cell of the return value."""
    cell = robi.memory_map()["return_value"].address_of()
    return any(tag.address == cell for tag in program.tags)


def _describe_rounding(conversion: robi.ConvertedMotion) -> Iterator[str]:
    """Yield how far a converted motion is off by rounding; nothing if it is exact."""
    angle_deg = math.degrees(conversion.rounding.angle_rad)
    if angle_deg > 1e-6:
        yield f"angles are rounded by up to {angle_deg:.3f} deg: a word is 0.1 deg"
    if conversion.rounding.time_s > 1e-6:
        time_ms = 1000.0 * conversion.rounding.time_s
        yield f"keyframes are shifted by up to {time_ms:.1f} ms: times are in 1/60 s"
