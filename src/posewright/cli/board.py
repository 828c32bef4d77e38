"""`posewright board`: generate C from a chart or behaviour, and build, verify and flash it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import charts, codegen, hazards
from posewright.cli import completion
from posewright.cli.console import print_json, print_line, print_result, print_warning, progress_bar
from posewright.cli.options import (
    EXIT_FAILURE,
    AcceptFaults,
    AsJson,
    add_group,
    add_verb,
    argument,
    option,
    parse_choice,
    print_accepted_faults,
    report_faults,
)
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.codegen.c import ChartUnitSpec
    from posewright.codegen.c.truth_table import Style

BEHAVIOUR_SUFFIX = ".behaviour.yaml"
_document_files = completion.files(".chart.yaml", ".scxml", ".csv", BEHAVIOUR_SUFFIX)
_target_names = completion.catalogue("posewright.codegen.targets.target_names")
Document = Annotated[
    str,
    argument(
        "CHART|BEHAVIOUR", "A chart file, or the name or file of a behaviour.", autocompletion=_document_files
    ),
]
TargetName = Annotated[
    str, option("--target NAME", "The target: host, arduino-uno or cm900.", autocompletion=_target_names)
]
Monitors = Annotated[bool, option("--monitors", "Generate code that checks the promises at run time.")]
Queue = Annotated[
    int | None,
    option("--queue N", "Length of the queue of raised events; default the longest that is needed.", min=1),
]
StyleName = Annotated[
    str,
    option(
        "--style STYLE",
        "Code of a chart with one active state: switch, table, or auto, which takes the smaller one.",
        autocompletion=completion.choices("auto", "switch", "table"),
    ),
]
PORT_PLACEHOLDER = "PORT"
"""Stands for the serial port in a command that `--dry-run` prints."""

Folder = Annotated[Path, argument("DIR", "The folder that `posewright board generate` wrote.")]


def register(app: typer.Typer) -> None:
    """Add the command `board` and its verbs."""
    group = add_group(app, "board")
    add_verb(group, "generate", generate, python_equivalents="generate explain")
    add_verb(group, "build", build, python_equivalents="build")
    add_verb(group, "verify", verify, python_equivalents="verify")
    add_verb(group, "flash", flash, python_equivalents="flash_command")


def generate(
    document: Document = "",
    target: TargetName = "host",
    output: Annotated[Path | None, option("--output -o DIR", "The folder to write to.")] = None,
    monitors: Monitors = False,
    queue: Queue = None,
    style: StyleName = "auto",
    force: Annotated[bool, option("--force", "Overwrite files that were edited by hand.")] = False,
    unchecked: Annotated[bool, option("--unchecked", "Write the code even if the chart has errors.")] = False,
    accept_faults: AcceptFaults = False,
    explain: Annotated[
        str | None,
        option(
            "--explain PLACE",
            "Explain FILE:LINE of the C code, or list the lines of CHART:LINE or of a state.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Generate C code for a target from a chart or a behaviour.

    No code is generated for a chart with errors; the message shows a counterexample. Neither is it for a
    behaviour with a motion in which `motion check` reports errors. Files that you edit,
    such as the one that assigns the pins, are written once and never overwritten. With --explain, nothing is
    written.

    [bold]Examples[/]
      posewright board generate obstacle_mealy.chart.yaml --target arduino-uno -o board
      posewright board generate --explain board/obstacle_mealy.c:54
      posewright board generate --explain "walking -> turning_left" -o board
    """
    if explain is not None:
        explanations = codegen.explain(explain, output)
        print_result(
            [explanation.to_dict() for explanation in explanations], map(str, explanations), as_json=as_json
        )
        return
    if not document:
        raise InputError("no chart or behaviour is given", hint="posewright board generate CHART -o DIR")
    if output is None:
        hint = f"posewright board generate {shlex.quote(document)} --target {target} -o DIR"
        raise InputError("the output folder is missing", hint=hint)
    with report_faults():
        generated = codegen.generate(
            document,
            output,
            target,
            force=force,
            unchecked=unchecked,
            accept_faults=accept_faults,
            monitors=monitors,
            max_queued_events=queue,
            style=parse_style(style),
        )
    print_accepted_faults(generated.faults)
    print_result(generated.to_dict(), generated.lines(), as_json=as_json)


def build(
    folder: Folder,
    target: Annotated[
        str | None,
        option(
            "--target NAME", "The target; default the one it was generated for.", autocompletion=_target_names
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile generated code, and show how much memory each part needs on the board.

    Files that were changed by hand since they were generated are listed: `board verify DIR` checks them.

    [bold]Examples[/]
      posewright board build board
    """
    image = codegen.build(folder, target)
    changed_files = _warn_of_changes(folder)
    data = {
        "image": str(image.image),
        "changed": list(changed_files),
        "parts": {
            name: {"flash_bytes": flash, "ram_bytes": ram} for name, (flash, ram) in image.parts.items()
        },
    }
    lines: list[str] = []
    if image.parts:
        total_flash = sum(flash for flash, _ram in image.parts.values())
        total_ram = sum(ram for _flash, ram in image.parts.values())
        lines.append("  flash     RAM  bytes")
        lines += [f"{flash:7d} {ram:7d}  {name}" for name, (flash, ram) in image.parts.items()]
        lines.append(f"{total_flash:7d} {total_ram:7d}  all")
    lines.append(f"-> {image.image}")
    print_result(data, lines, as_json=as_json)


def flash(
    folder: Folder,
    port: Annotated[
        str | None, option("--port P", "The serial port of the board, such as /dev/ttyACM0.")
    ] = None,
    dry_run: Annotated[bool, option("--dry-run", "Only print the command that would be run.")] = False,
    accept_faults: AcceptFaults = False,
    as_json: AsJson = False,
) -> None:
    """Build generated code and write it to a real board; exit with 1 if that fails.

    Code with motions in which `motion check` reports errors, generated with --accept-faults, needs it here,
    too.

    Files that were changed by hand since they were generated are listed: `board verify DIR` checks them.

    [bold]Examples[/]
      posewright board flash board --dry-run
      posewright board flash board --port /dev/ttyACM0
    """
    faults = codegen.accepted_faults(folder)
    with report_faults("nothing was flashed"):
        hazards.require_no_faults(faults, str(folder), accept_faults=accept_faults)
    print_accepted_faults(faults)
    command = codegen.flash_command(folder, port or (PORT_PLACEHOLDER if dry_run else None))
    changed_files = list(_warn_of_changes(folder))
    if dry_run:
        data = {"command": list(command), "changed": changed_files}
        print_result(data, [shlex.join(command)], as_json=as_json)
        return
    codegen.find_program(command[0])
    if not as_json:
        print_line(shlex.join(command))
    loader_stdout = subprocess.DEVNULL if as_json else None
    loader_run = subprocess.run(command, check=False, stdout=loader_stdout)  # noqa: S603 -- the board's own loader
    if as_json:
        print_json({"command": list(command), "changed": changed_files, "exit_code": loader_run.returncode})
    if loader_run.returncode:
        raise typer.Exit(EXIT_FAILURE)


def verify(
    document: Annotated[
        str,
        argument(
            "CHART|BEHAVIOUR|DIR",
            "A chart file, the name or file of a behaviour, or a folder of `posewright board generate`.",
            autocompletion=_document_files,
        ),
    ],
    target: Annotated[
        str | None,
        option(
            "--target NAME",
            "The target: host, arduino-uno or cm900; default host, or that of the folder.",
            autocompletion=_target_names,
        ),
    ] = None,
    steps: Annotated[int, option("--steps N", "Number of steps.", min=1)] = 100_000,
    seed: Annotated[int, option("--seed S", "Seed of the inputs.", min=0)] = 0,
    monitors: Monitors = False,
    queue: Queue = None,
    style: StyleName = "auto",
    coverage: Annotated[
        bool, option("--coverage", "Report which lines and branches of the C code were run.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that generated code does what the interpreter does: every state and output at every step.

    The interpreter, the code compiled for this computer and, for a board, the code on an emulated processor
    get the same inputs. Inputs are drawn so that every transition is taken, every timer expires, and every
    limit within 5000 ticks of a reset is reached. If there is a difference, the shortest inputs that lead to
    it are shown, and the exit code is 1. Of a folder, the C files are compared as they are there, with your
    changes.

    [bold]Examples[/]
      posewright board verify obstacle_mealy.chart.yaml --steps 1000000
      posewright board verify board
      posewright board verify obstacle_mealy.chart.yaml --target arduino-uno --json
      posewright board verify obstacle_mealy.chart.yaml --coverage
    """
    from posewright.codegen.c import ChartUnitSpec

    if (Path(document) / codegen.MANIFEST).is_file():
        has_options = monitors or queue is not None or style != "auto" or coverage
        if has_options:
            message = f"{document} was generated with its options"
            raise InputError(message, hint="leave out --monitors, --queue, --style and --coverage")
        with progress_bar("comparing") as on_progress:
            verification = codegen.verify_folder(
                document, target, steps=steps, seed=seed, on_progress=on_progress
            )
        unit_spec = codegen.read_generated_unit(document).unit_spec
        print_result(verification.data(), verification.lines(unit_spec), as_json=as_json)
        if not verification.same:
            raise typer.Exit(EXIT_FAILURE)
        return
    unit = codegen.read_unit_spec(
        document, monitors=monitors, max_queued_events=queue, style=parse_style(style)
    )
    with progress_bar("comparing") as on_progress:
        verification = codegen.verify(unit, target or "host", steps=steps, seed=seed, on_progress=on_progress)
    source_coverage = codegen.source_coverage(unit, seed=seed) if coverage else None
    if isinstance(unit, ChartUnitSpec):
        _warn_if_unsound(unit)
    data = verification.data()
    if source_coverage is not None:
        data |= source_coverage.data()
    print_result(data, verification.lines(unit, source_coverage), as_json=as_json)
    if not verification.same:
        raise typer.Exit(EXIT_FAILURE)


def _warn_of_changes(folder: Path) -> tuple[str, ...]:
    """Warn of files of a folder that are not as they were generated, and return the sentences."""
    sentences = codegen.find_changed_files(folder)
    for sentence in sentences:
        print_warning(f"{sentence}: check the folder with posewright board verify {shlex.quote(str(folder))}")
    return sentences


def parse_style(name: str) -> Style:
    """Return the style that `--style` names.

    Raises:
        UnknownNameError: there is no such style.
    """
    from posewright.codegen.c.truth_table import Style

    return parse_choice(Style, name, "--style")


def _warn_if_unsound(unit_spec: ChartUnitSpec) -> None:
    """Print a warning if a chart has errors, with which `board generate` would fail."""
    try:
        charts.require_sound(unit_spec.chart)
    except InputError as error:
        print_warning(str(error))
