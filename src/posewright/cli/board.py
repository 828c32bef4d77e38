"""`posewright board`: a chart or a behaviour as C, proved, on a microcontroller board."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import charts, codegen
from posewright.cli import completion
from posewright.cli.console import print_json, print_line, print_result, print_warning, progress_bar
from posewright.cli.options import EXIT_FAILURE, AsJson, add_group, add_verb, argument, option, parse_choice
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.codegen.c import ChartSubject
    from posewright.codegen.c.truth_table import Style

BEHAVIOUR = ".behaviour.yaml"
_DOCUMENTS = completion.files(".chart.yaml", ".scxml", ".csv", BEHAVIOUR)
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
StyleName = Annotated[
    str,
    option(
        "--style STYLE",
        "The tick of a chart of one state at a time: switch, table, or auto, which goes by size.",
        autocompletion=completion.choices("auto", "switch", "table"),
    ),
]
ANY_PORT = "PORT"
"""Stands for the serial port where a command is only shown."""

Folder = Annotated[Path, argument("DIR", "What `posewright board generate` wrote.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "board")
    add_verb(group, "generate", generate, python_names="generate explain")
    add_verb(group, "build", build, python_names="build")
    add_verb(group, "verify", verify, python_names="verify")
    add_verb(group, "flash", flash, python_names="flash_command")


def generate(
    document: Document = "",
    target: TargetName = "host",
    output: Annotated[Path | None, option("--output -o DIR", "The folder to write into.")] = None,
    monitors: Monitors = False,
    queue: Queue = None,
    style: StyleName = "auto",
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
        places = codegen.explain(explain, output)
        print_result([place.to_dict() for place in places], map(str, places), as_json=as_json)
        return
    if not document:
        raise InputError("generate what?", hint="posewright board generate CHART -o DIR")
    if output is None:
        hint = f"posewright board generate {shlex.quote(document)} --target {target} -o DIR"
        raise InputError("write it into which folder?", hint=hint)
    generated = codegen.generate(
        document,
        output,
        target,
        force=force,
        unchecked=unchecked,
        monitors=monitors,
        queue=queue,
        style=tick_style(style),
    )
    print_result(generated.to_dict(), generated.lines(), as_json=as_json)


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
    image = codegen.build(folder, target)
    parts = {name: {"flash_bytes": flash, "ram_bytes": ram} for name, (flash, ram) in image.parts.items()}
    total = [sum(sizes) for sizes in zip(*image.parts.values(), strict=True)] or [0, 0]
    lines = [f"{flash:7d} {ram:7d}  {name}" for name, (flash, ram) in image.parts.items()]
    if lines:
        lines = ["  flash     RAM  bytes", *lines, f"{total[0]:7d} {total[1]:7d}  all"]
    print_result({"image": str(image.image), "parts": parts}, [*lines, f"-> {image.image}"], as_json=as_json)


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
    command = codegen.flash_command(folder, port or (ANY_PORT if dry_run else None))
    if dry_run:
        print_result({"command": list(command)}, [shlex.join(command)], as_json=as_json)
        return
    codegen.find_program(command[0])
    if not as_json:
        print_line(shlex.join(command))
    silent = subprocess.DEVNULL if as_json else None
    code = subprocess.run(command, check=False, stdout=silent).returncode  # noqa: S603 -- the board's own loader
    if as_json:
        print_json({"command": list(command), "exit_code": code})
    if code:
        raise typer.Exit(EXIT_FAILURE)


def verify(
    subject: Document,
    target: TargetName = "host",
    steps: Annotated[int, option("--steps N", "Steps that each takes.", min=1)] = 100_000,
    seed: Annotated[int, option("--seed S", "Of the inputs.", min=0)] = 0,
    monitors: Monitors = False,
    queue: Queue = None,
    style: StyleName = "auto",
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
    from posewright.codegen.c import ChartSubject

    unit = codegen.read_subject(subject, monitors=monitors, queue=queue, style=tick_style(style))
    with progress_bar("comparing") as on_progress:
        verification = codegen.verify(unit, target, steps=steps, seed=seed, on_progress=on_progress)
    source_coverage = codegen.source_coverage(unit, seed=seed) if coverage else None
    if isinstance(unit, ChartSubject):
        _warn_of_unsound(unit)
    data = verification.data() | (source_coverage.data() if source_coverage else {})
    print_result(data, verification.lines(unit, source_coverage), as_json=as_json)
    if not verification.same:
        raise typer.Exit(EXIT_FAILURE)


def tick_style(name: str) -> Style:
    """Return the style that an option names.

    Raises:
        UnknownNameError: there is no such style.
    """
    from posewright.codegen.c.truth_table import Style

    return parse_choice(Style, name, "--style")


def _warn_of_unsound(subject: ChartSubject) -> None:
    """Say that `generate` would refuse a chart."""
    try:
        charts.require_sound(subject.chart)
    except InputError as error:
        print_warning(str(error))
