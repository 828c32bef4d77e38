"""`posewright basic motions`: convert routines of a RoboBASIC program to motions and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from posewright import formats, hazards
from posewright import motions as motion_package
from posewright.cli import completion, console
from posewright.cli.options import (
    AcceptFaults,
    AcceptLoss,
    AsJson,
    argument,
    option,
    print_accepted_faults,
    report_faults,
    report_losses,
    require_output_file,
)
from posewright.display import Lines, Styled, format_count, table
from posewright.documents import create_folder, require_writable, write_atomically
from posewright.errors import InputError, LossError, UnknownNameError, Where
from posewright.runtimes import robobasic

PROGRAM_SUFFIX = ".bas"
MOTION_SUFFIX = ".motion.yaml"
START_UP = "start-up"
"""The name here of the lines before the first label; no label of RoboBASIC contains a hyphen."""

MeasuredMove = Annotated[
    tuple[int, float, float] | None,
    option(
        "--measured SPEED COUNTS SECONDS",
        "Compute durations from a measured move: at SPEED a servo moves COUNTS in SECONDS.",
    ),
]
ProgramOrMotions = Annotated[
    list[str],
    argument(
        "FILE [LABEL ...]",
        "A RoboBASIC program, optionally followed by labels of routines (start-up: before the first label); "
        "or motions (.motion.yaml).",
        autocompletion=completion.files(
            PROGRAM_SUFFIX,
            MOTION_SUFFIX,
            names=completion.catalogue("posewright.runtimes.robobasic.load.program_names"),
        ),
    ),
]
OutputPath = Annotated[
    Path | None,
    option(
        "--output -o PATH", "The folder for a program's motions, or the program (.bas) to write from motions."
    ),
]


def motions(
    files: ProgramOrMotions,
    output: OutputPath = None,
    measured: MeasuredMove = None,
    accept_loss: AcceptLoss = False,
    accept_faults: AcceptFaults = False,
    as_json: AsJson = False,
) -> None:
    """List the routines of a program and convert static ones to motions, or convert motions to a program.

    A routine is static if it reads no port and no variable that it has not set. It is run on its own, and its
    servo moves become keyframes. What a motion or a program cannot express is listed. Motions in which
    `motion check` reports errors are not converted to a program.

    [bold]Examples[/]
      posewright basic motions my_template.bas
      posewright basic motions my_template.bas bow sit_down -o out/motions
      posewright basic motions my_template.bas start-up -o whole.motion.yaml
      posewright basic motions bow.motion.yaml wave.motion.yaml -o show.bas --accept-loss
    """
    speed = None if measured is None else robobasic.speed_from_measurement(*measured)
    motion_paths = [Path(file) for file in files if file.lower().endswith(MOTION_SUFFIX)]
    if len(motion_paths) == len(files):
        _write_program(
            motion_paths,
            output,
            speed,
            accept_loss=accept_loss,
            accept_faults=accept_faults,
            as_json=as_json,
        )
        return
    if motion_paths:
        program = next(
            (file for file in files if file.lower().endswith(PROGRAM_SUFFIX)), f"PROGRAM{PROGRAM_SUFFIX}"
        )
        raise InputError(
            "motions cannot be mixed with programs or labels",
            hint=f"-o {program} writes motions as a program",
        )
    program, *labels = files
    routines = robobasic.read_routines(program, speed_counts_s=speed)
    if labels:
        routines = _select_routines(routines, labels)
    paths: dict[str, Path] = {}
    if output is not None:
        if labels:
            _require_motions(routines, Path(program))
        paths = _write_motions(routines, Path(program), output)
        for remark in _group_remarks(routines):
            console.print_warning(remark)
    data = {
        "program": program,
        "routines": [_routine_data(routine, paths.get(routine.label)) for routine in routines],
    }
    console.print_result(data, _routine_lines(routines, paths), as_json=as_json)


def _select_routines(
    routines: Sequence[robobasic.Routine], labels: Sequence[str]
) -> tuple[robobasic.Routine, ...]:
    """Return the routines with the given labels, in their order; upper and lower case are equal.

    Args:
        routines: the routines of a program.
        labels: labels, or `START_UP`.

    Raises:
        UnknownNameError: there is no such label.
    """
    routines_by_label = {_displayed_label(routine).upper(): routine for routine in routines}
    for label in labels:
        if label.upper() not in routines_by_label:
            raise UnknownNameError.among("label", label, map(_displayed_label, routines))
    return tuple(routines_by_label[label.upper()] for label in dict.fromkeys(labels))


def _displayed_label(routine: robobasic.Routine) -> str:
    """Return the label of a routine as it is shown, and as a user names it."""
    return routine.label or START_UP


def _require_motions(routines: Sequence[robobasic.Routine], program: Path) -> None:
    """Raise an InputError for the first routine that cannot be written as a motion."""
    for routine in routines:
        if routine.motion is None:
            problem = "is not static" if routine.failure else "moves nothing"
            raise InputError(
                f"{_displayed_label(routine)} {problem}",
                where=Where(program, line=routine.line),
                hint=f"line {routine.failure_line}: {routine.failure}" if routine.failure else None,
            )


def _write_motions(routines: Sequence[robobasic.Routine], program: Path, output: Path) -> dict[str, Path]:
    """Write the motions of static routines to a folder, or a single one to a file.

    Args:
        routines: the routines; those without a motion are skipped.
        program: their program, for messages.
        output: the folder, or a file that ends in .motion.yaml.

    Returns:
        The path of each motion by the label of its routine.

    Raises:
        InputError: there is no motion, or the output does not fit the number of motions.
        OutputError: the folder or a file cannot be written.
    """
    motions_by_label = {routine.label: routine.motion for routine in routines if routine.motion is not None}
    if not motions_by_label:
        raise InputError(
            "no routine of the program is static and moves servos",
            where=Where(program),
            hint="without -o, the reason is listed for each routine",
        )
    output_name = output.name.lower()
    is_file = output_name.endswith((MOTION_SUFFIX, PROGRAM_SUFFIX))
    if is_file:
        if len(motions_by_label) > 1 or output_name.endswith(PROGRAM_SUFFIX):
            n_motions = format_count(len(motions_by_label), "motion")
            raise InputError(f"cannot write {n_motions} to {output}", hint="name a folder")
        paths = dict.fromkeys(motions_by_label, output)
    else:
        paths = {
            label: output / f"{motion_package.file_stem(motion.name)}{MOTION_SUFFIX}"
            for label, motion in motions_by_label.items()
        }
        has_collision = len({str(path).upper() for path in paths.values()}) < len(paths)
        if has_collision:
            raise InputError(
                "two motions of the program would be written to the same file", hint="name one of the labels"
            )
        create_folder(output)
    for path in paths.values():
        require_writable(path)
    for label, motion in motions_by_label.items():
        formats.write_motion(motion, paths[label])
    return paths


def _group_remarks(routines: Sequence[robobasic.Routine]) -> Iterator[str]:
    """Yield the remarks about routines, each once, after the labels of its routines: `bow, wave: REMARK`."""
    labels_by_remark: dict[str, list[str]] = {}
    for routine in routines:
        for remark in routine.remarks:
            labels_by_remark.setdefault(remark, []).append(_displayed_label(routine))
    for remark, labels in labels_by_remark.items():
        yield f"{', '.join(labels)}: {remark}"


def _routine_data(routine: robobasic.Routine, path: Path | None) -> dict[str, object]:
    """Return a routine as plain data, with the path of its written motion."""
    motion = routine.motion
    return {
        "label": routine.label,
        "line": routine.line,
        "static": routine.is_static,
        "why": routine.failure,
        "why_line": routine.failure_line,
        "keyframes": 0 if motion is None else len(motion.keyframes),
        "duration_s": 0.0 if motion is None else round(motion.duration, 6),
        "repeats": motion is not None and motion.loops,
        "remarks": list(routine.remarks),
        "written": None if path is None else str(path),
    }


def _routine_lines(routines: Sequence[robobasic.Routine], paths: dict[str, Path]) -> Lines:
    """Yield a table of routines, and a summary of the written motions."""
    columns = ("routine", "line", "keyframes", "s", "")
    yield table(columns, map(_routine_row, routines))
    if paths:
        first_path = next(iter(paths.values()))
        folder = first_path.parent  # they are all in one
        yield f"{format_count(len(paths), 'motion')} -> {folder}"


def _routine_row(routine: robobasic.Routine) -> tuple[object, ...]:
    """Return a row of the table of routines: label, line, keyframes, duration [s], remark."""
    label = _displayed_label(routine)
    motion = routine.motion
    if motion is not None:
        remark = "static, repeats" if motion.loops else "static"
        return label, routine.line, len(motion.keyframes), f"{motion.duration:.2f}", remark
    if routine.failure:
        reason = Styled(f"not static, line {routine.failure_line}: {routine.failure}", "yellow")
    else:
        reason = Styled("moves nothing", "dim")
    return label, routine.line, "", "", reason


def _write_program(
    paths: Sequence[Path],
    output: Path | None,
    speed: float | None,
    *,
    accept_loss: bool,
    accept_faults: bool,
    as_json: bool,
) -> None:
    """Write motions as routines of a RoboBASIC program, and print a summary.

    Raises:
        typer.Exit: `motion check` reports errors in a motion, and they are not accepted.
        InputError: the output is missing or does not end in .bas.
        LossError: the program would lose something, and losses are not accepted.
    """
    if output is None:
        raise InputError("the program to write is missing", hint=f"-o NAME{PROGRAM_SUFFIX} names it")
    require_output_file(output, "a RoboBASIC program", (PROGRAM_SUFFIX,), *paths)
    source_motions = [formats.read_motion(path) for path in paths]
    program = robobasic.write_motions(source_motions, speed_counts_s=speed)
    faults = hazards.find_faults_of_several(source_motions)
    with report_losses(), report_faults():
        hazards.require_no_faults(faults, output.name, accept_faults=accept_faults)
        if program.losses and not accept_loss:
            raise LossError(
                f"a RoboBASIC program would lose: {'; '.join(program.losses)}",
                where=Where(paths[0] if len(paths) == 1 else None),
                losses=program.losses,
            )
    write_atomically(output, program.data)
    for loss in program.losses:
        console.print_warning(f"lost: {loss}")
    for remark in program.remarks:
        console.print_warning(remark)
    print_accepted_faults(faults)
    data = {
        "program": str(output),
        "routines": list(program.labels),
        "losses": list(program.losses),
        "remarks": list(program.remarks),
        "faults": list(faults),
        "rounding": {"angle_rad": program.rounding.angle_rad, "time_s": program.rounding.time_s},
    }
    lines = [f"{format_count(len(program.labels), 'routine')} -> {output}: {', '.join(program.labels)}"]
    console.print_result(data, lines, as_json=as_json)
