"""`posewright board`: a chart or a behaviour as C, proved, on a microcontroller board."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.charts import require_sound
from posewright.cli import completion
from posewright.cli.console import bar, counted, emit_json, give, line_of, rated, say, table, warn
from posewright.cli.options import FOUND, AsJson, add_group, add_verb, argument, option
from posewright.codegen import generating
from posewright.codegen.c import ChartSubject
from posewright.codegen.c.truth_table import Style
from posewright.codegen.toolchains import program
from posewright.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from posewright.codegen.proof.source_coverage import SourceCoverage
    from posewright.codegen.proof.verification import Verification
    from posewright.codegen.unit import Subject

_DOCUMENTS = completion.files(".chart.yaml", ".scxml", ".csv", generating.BEHAVIOUR)
_TARGETS = completion.catalogue("posewright.codegen.targets.target_names")
Document = Annotated[
    str,
    argument("CHART|BEHAVIOUR", "A chart's file, or a behaviour's name or file.", autocompletion=_DOCUMENTS),
]
TargetName = Annotated[str, option("--target NAME", "host, arduino-uno or cm900.", autocompletion=_TARGETS)]
Monitors = Annotated[bool, option("--monitors", "Watch the promises at run time.")]
Queue = Annotated[
    int | None, option("--queue N", "Raised events that may wait at once; default as many as can.", min=1)
]
Tick = Annotated[Style, option("--style", "The tick of a chart of one state at a time; auto goes by size.")]
ANY_PORT = "PORT"
"""Stands for the serial port where a command is only shown."""

Folder = Annotated[Path, argument("DIR", "What `posewright board generate` wrote.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "board")
    add_verb(group, "generate", generate, twins="generate explain")
    add_verb(group, "build", build, twins="build")
    add_verb(group, "verify", verify, twins="verify")
    add_verb(group, "flash", flash, twins="flash_command")


def generate(
    document: Document = "",
    target: TargetName = "host",
    output: Annotated[Path | None, option("--output -o DIR", "The folder to write into.")] = None,
    monitors: Monitors = False,
    queue: Queue = None,
    style: Tick = Style.AUTO,
    force: Annotated[bool, option("--force", "Write over files that were changed by hand.")] = False,
    unchecked: Annotated[bool, option("--unchecked", "Write it although the check finds errors.")] = False,
    explain: Annotated[
        str | None,
        option("--explain WHAT", "What FILE:LINE is for; which lines are for CHART:LINE, or for a state."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a chart or a behaviour as C for a target; an unsound chart is refused with its counterexample.

    Files that are yours, such as the one that says which pin is what, are written once and then left alone.
    With --explain nothing is written.

    [bold]Examples[/]
      posewright board generate obstacle_mealy.chart.yaml --target arduino-uno -o board
      posewright board generate --explain board/obstacle_mealy.c:40
      posewright board generate --explain "walking -> turning_left" -o board
    """
    if explain is not None:
        places = generating.explain(explain, output)
        give([place.to_dict() for place in places], map(str, places), as_json=as_json)
        return
    if not document:
        raise InputError("generate what?", hint="posewright board generate CHART -o DIR")
    if output is None:
        hint = f"posewright board generate {shlex.quote(document)} --target {target} -o DIR"
        raise InputError("write it into which folder?", hint=hint)
    how = {"monitors": monitors, "queue": queue, "style": style}
    made = generating.generate(document, output, target, force=force, unchecked=unchecked, **how)  # type: ignore[arg-type]
    kept = [f"left alone: {', '.join(made.kept)}"] if made.kept else []
    kept += [f"removed: {', '.join(made.removed)}"] if made.removed else []
    kept += [f"! {warning}" for warning in made.warnings]
    give(made.to_dict(), [f"{len(made.written)} files -> {output}", *kept, *made.policies], as_json=as_json)


def build(
    folder: Folder,
    target: Annotated[
        str | None, option("--target NAME", "Default what it was generated for.", autocompletion=_TARGETS)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile what was generated, and say how much memory each part takes on the board.

    [bold]Examples[/]
      posewright board build board
    """
    image = generating.build(folder, target)
    parts = {name: {"flash_bytes": flash, "ram_bytes": ram} for name, (flash, ram) in image.parts.items()}
    total = [sum(sizes) for sizes in zip(*image.parts.values(), strict=True)] or [0, 0]
    lines = [f"{flash:7d} {ram:7d}  {name}" for name, (flash, ram) in image.parts.items()]
    if lines:
        lines = ["  flash     RAM  bytes", *lines, f"{total[0]:7d} {total[1]:7d}  all"]
    give({"image": str(image.image), "parts": parts}, [*lines, f"-> {image.image}"], as_json=as_json)


def flash(
    folder: Folder,
    port: Annotated[str | None, option("--port P", "The board's serial port: /dev/ttyACM0.")] = None,
    dry_run: Annotated[bool, option("--dry-run", "Show the command, for PORT if none is named.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build what was generated and put it onto a real board; exit with 1 if that fails.

    [bold]Examples[/]
      posewright board flash board --dry-run
      posewright board flash board --port /dev/ttyACM0
    """
    command = generating.flash_command(folder, port or (ANY_PORT if dry_run else None))
    if dry_run:
        give({"command": list(command)}, [shlex.join(command)], as_json=as_json)
        return
    program(command[0])
    if not as_json:
        say(shlex.join(command))
    silent = subprocess.DEVNULL if as_json else None
    code = subprocess.run(command, check=False, stdout=silent).returncode  # noqa: S603 -- the board's own loader
    if as_json:
        emit_json({"command": list(command), "exit_code": code})
    if code:
        raise typer.Exit(FOUND)


def verify(
    subject: Document,
    target: TargetName = "host",
    steps: Annotated[int, option("--steps N", "Steps that each takes.", min=1)] = 100_000,
    seed: Annotated[int, option("--seed S", "Of the inputs.", min=0)] = 0,
    monitors: Monitors = False,
    queue: Queue = None,
    style: Tick = Style.AUTO,
    coverage: Annotated[bool, option("--coverage", "Which lines and branches of the C were run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Prove that generated code does what the interpreter does: every state and output at every step.

    The same inputs go into the interpreter, into the code compiled for this computer and, for a board, into
    the code compiled for it on an emulated processor. They are drawn so that every transition is taken, every
    limit is met and every timer runs out. A difference exits with 1 and shows the shortest inputs to it.

    [bold]Examples[/]
      posewright board verify obstacle_mealy.chart.yaml --steps 1000000
      posewright board verify obstacle_mealy.chart.yaml --target arduino-uno --json
      posewright board verify obstacle_mealy.chart.yaml --coverage
    """
    from posewright.codegen.proof import proving

    one = generating.subject_named(subject, monitors=monitors, queue=queue, style=style)
    with bar("comparing") as on_progress:
        found = proving.verify(one, target, steps=steps, seed=seed, on_progress=on_progress)
    covered = proving.source_coverage(one, seed=seed) if coverage else None
    if isinstance(one, ChartSubject):
        _warn_of_unsound(one)
    data = found.data() | (covered.data() if covered else {})
    give(data, _lines(one, found, covered), as_json=as_json)
    if not found.same:
        raise typer.Exit(FOUND)


def _warn_of_unsound(subject: ChartSubject) -> None:
    """Say that `generate` would refuse a chart."""
    try:
        require_sound(subject.chart)
    except InputError as error:
        warn(str(error))


def _lines(
    subject: Subject, found: Verification, covered: SourceCoverage | None
) -> Iterator[str | RenderableType]:
    beside = " and ".join(found.executables)
    left = (found.transitions or 0) - (found.transitions_taken or 0)
    verdict = rated("failed" if not found.same else "warning" if left else "ok")
    off = f"{found.mismatches or 'no'} mismatch{'' if found.mismatches == 1 else 'es'}"
    yield line_of(verdict, f" {found.subject}: {counted(found.steps, 'step')} on {beside}, {off}")
    if found.transitions is not None:
        yield f"   {found.transitions_taken} of {found.transitions} transitions taken"
        if left:
            yield "   what was never taken was not compared: more --steps may reach it"
    if found.failed:
        yield f"   {counted(found.failed, 'time')} all stopped alike: division by zero, or a tick without end"
    needs = found.footprint
    if needs is not None:
        stack = "" if needs.stack_bytes is None else f", stack {needs.stack_bytes} bytes"
        yield f"   flash {needs.flash_bytes} bytes, RAM {needs.ram_bytes} bytes{stack}"
        if needs.step_cycles_mean is not None:
            worst = f"the worst seen {needs.step_cycles_worst}"
            yield f"   a step: {needs.step_cycles_mean:.1f} {needs.counts}, {worst}"
    if found.ticks_from_player is not None:
        yield f"   servos at most {found.ticks_from_player} of their ticks from the simulator's player"
    if covered is not None:
        yield f"   lines of C run: {covered.line_coverage:.1%}, branches: {covered.branch_coverage:.1%}"
    if found.mismatch is not None:
        yield f"   {found.mismatch.executable} differs in {', '.join(found.mismatch.fields)}:"
        yield table(*found.mismatch.table(subject))
