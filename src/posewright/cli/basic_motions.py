"""`posewright basic motions`: routines of a RoboBASIC program as motions, and motions as a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from posewright import formats
from posewright import motions as motion_room
from posewright.cli import completion, console
from posewright.cli.options import (
    AcceptLoss,
    AsJson,
    argument,
    option,
    report_losses,
    require_distinct_output,
)
from posewright.display import Lines, Styled, format_count, table
from posewright.documents import require_writable, write_atomically
from posewright.errors import InputError, LossError, OutputError, UnknownNameError, Where
from posewright.runtimes import robobasic

ENDING = ".bas"
MOTION = ".motion.yaml"
BEGINNING = "(beginning)"

Measured = Annotated[
    tuple[int, float, float] | None,
    option(
        "--measured SPEED COUNTS SECONDS",
        "Take the time of moves from one that was measured on a robot: 5 90 1.2.",
    ),
]
Files = Annotated[
    list[str],
    argument(
        "FILE [LABEL ...]",
        "A RoboBASIC program, and if not all routines are wanted their labels; or motions (.motion.yaml).",
        autocompletion=completion.files(
            ENDING, MOTION, names=completion.catalogue("posewright.runtimes.robobasic.load.program_names")
        ),
    ),
]
Target = Annotated[
    Path | None,
    option("--output -o PATH", "Of a program: the folder for its motions. Of motions: the program (.bas)."),
]


def motions(
    files: Files,
    output: Target = None,
    measured: Measured = None,
    accept_loss: AcceptLoss = False,
    as_json: AsJson = False,
) -> None:
    """List the routines of a program and write static ones as motions; or write motions as a program.

    A routine is static where it reads no port and no variable that it has not set: it is run by itself, and
    what the servos do becomes keyframes. What a motion or a program cannot say is listed.

    [bold]Examples[/]
      posewright basic motions my_template.bas
      posewright basic motions my_template.bas bow sit_down -o out/motions
      posewright basic motions bow.motion.yaml wave.motion.yaml -o show.bas --accept-loss
    """
    speed = None if measured is None else robobasic.speed_from_measurement(*measured)
    if all(file.lower().endswith(MOTION) for file in files):
        _write_program(
            [Path(file) for file in files], output, speed, accept_loss=accept_loss, as_json=as_json
        )
        return
    if any(file.lower().endswith(MOTION) for file in files):
        program = next((file for file in files if file.lower().endswith(ENDING)), f"PROGRAM{ENDING}")
        raise InputError(
            "motions and other files cannot be mixed", hint=f"-o {program} writes motions as a program"
        )
    program, *labels = files
    found = _chosen(robobasic.read_routines(program, speed_counts_s=speed), labels)
    written = {} if output is None else _write_motions(program, found, bool(labels), output)
    if output is not None:
        for remark in _remarks(found):
            console.print_warning(remark)
    told = {"program": program, "routines": [_described(one, written.get(one.label)) for one in found]}
    console.print_result(told, _lines(found, written), as_json=as_json)


def _chosen(found: Sequence[robobasic.Routine], labels: Sequence[str]) -> list[robobasic.Routine]:
    """Return the routines asked for; all where none is."""
    known = {one.label.upper(): one for one in found}
    for label in labels:
        if label.upper() not in known or not label:
            raise UnknownNameError.among("label", label, [one.label for one in found if one.label])
    return [known[label.upper()] for label in dict.fromkeys(labels)] if labels else list(found)


def _write_motions(
    program: str, found: Sequence[robobasic.Routine], is_named: bool, output: Path
) -> dict[str, Path]:
    """Write the motions there are to a folder, or the only one to a file; return where, by label."""
    for one in found:
        if is_named and one.motion is None:
            hint = one.failure and f"line {one.failure_line}: {one.failure}"
            raise InputError(
                f"{one.label} {'is not static' if one.failure else 'moves nothing'}",
                where=Where(Path(program), line=one.line),
                hint=hint or None,
            )
    wanted = {one.label: one.motion for one in found if one.motion is not None}
    if not wanted:
        raise InputError("no routine of it is a motion", where=Where(Path(program)), hint="without -o: why")
    if output.name.lower().endswith((MOTION, ENDING)):
        if len(wanted) > 1 or output.name.lower().endswith(ENDING):
            raise InputError(f"{output} for {format_count(len(wanted), 'motion')}", hint="name a folder")
        targets = dict.fromkeys(wanted, output)
    else:
        targets = {
            label: output / f"{motion_room.file_stem(motion.name)}{MOTION}"
            for label, motion in wanted.items()
        }
        if len({str(path).upper() for path in targets.values()}) < len(targets):
            raise InputError("two of its motions would be written to one file", hint="name one of the labels")
        _make_folder(output)
    for path in targets.values():
        require_writable(path)
    for label, motion in wanted.items():
        formats.write_motion(motion, targets[label])
    return targets


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"no folder can be made here: {error.strerror or error}", where=Where(folder)
        ) from error


def _remarks(found: Sequence[robobasic.Routine]) -> Iterator[str]:
    """Yield what the motions do not say, each remark with the labels that it is about."""
    by_remark: dict[str, list[str]] = {}
    for one in found:
        for remark in one.remarks:
            by_remark.setdefault(remark, []).append(one.label or BEGINNING)
    yield from (f"{', '.join(labels)}: {remark}" for remark, labels in by_remark.items())


def _described(one: robobasic.Routine, path: Path | None) -> dict[str, object]:
    motion = one.motion
    return {
        "label": one.label,
        "line": one.line,
        "static": one.is_static,
        "why": one.failure,
        "why_line": one.failure_line,
        "keyframes": 0 if motion is None else len(motion.keyframes),
        "duration_s": 0.0 if motion is None else round(motion.duration, 6),
        "repeats": motion is not None and motion.loops,
        "remarks": list(one.remarks),
        "written": None if path is None else str(path),
    }


def _lines(found: Sequence[robobasic.Routine], written: dict[str, Path]) -> Lines:
    columns = ("routine", "line", "keyframes", "s", "")
    yield table(columns, (_row(one) for one in found))
    if written:
        yield f"{format_count(len(written), 'motion')} -> {next(iter(written.values())).parent}"


def _row(one: robobasic.Routine) -> tuple[object, ...]:
    motion = one.motion
    label = one.label or BEGINNING
    if motion is None:
        why = f"not static, line {one.failure_line}: {one.failure}" if one.failure else "moves nothing"
        return label, one.line, "", "", Styled(why, "yellow" if one.failure else "dim")
    often = "static, repeats" if motion.loops else "static"
    return label, one.line, len(motion.keyframes), f"{motion.duration:.2f}", often


def _write_program(
    paths: Sequence[Path], output: Path | None, speed: float | None, *, accept_loss: bool, as_json: bool
) -> None:
    if output is None or not output.name.lower().endswith(ENDING):
        what = "motions become a program" if output is None else f"{output} is no program"
        raise InputError(what, hint=f"-o NAME{ENDING} says which")
    require_distinct_output(output, *paths)
    read: list[motion_room.Motion] = [formats.read_motion(path) for path in paths]
    made = robobasic.write_motions(read, speed_counts_s=speed)
    with report_losses():
        if made.losses and not accept_loss:
            what = f"as a RoboBASIC program it would lose: {'; '.join(made.losses)}"
            raise LossError(what, where=Where(paths[0] if len(paths) == 1 else None), losses=made.losses)
    write_atomically(output, made.data)
    for remark in (*(f"lost: {loss}" for loss in made.losses), *made.remarks):
        console.print_warning(remark)
    told = {
        "program": str(output),
        "routines": list(made.labels),
        "losses": list(made.losses),
        "remarks": list(made.remarks),
        "rounding": {"angle_rad": made.rounding.angle_rad, "time_s": made.rounding.time_s},
    }
    lines = [f"{format_count(len(made.labels), 'routine')} -> {output}: {', '.join(made.labels)}"]
    console.print_result(told, lines, as_json=as_json)
