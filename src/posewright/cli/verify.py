"""`posewright verify`: a chart or behaviour does on a target what it does in the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli.codegen import Document, Monitors, Queue, TargetName, Tick
from posewright.cli.console import bar, counted, give, line_of, rated, table
from posewright.cli.options import FOUND, AsJson, add_verb, option
from posewright.codegen.c.truth_table import Style

if TYPE_CHECKING:
    from rich.console import RenderableType

    from posewright.codegen.proof.source_coverage import SourceCoverage
    from posewright.codegen.proof.verification import Verification
    from posewright.codegen.unit import Subject


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    add_verb(app, "verify", verify)


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
      posewright verify obstacle_mealy.chart.yaml --steps 1000000
      posewright verify obstacle_mealy.chart.yaml --target arduino-uno --json
      posewright verify obstacle_mealy.chart.yaml --coverage
    """
    from posewright.codegen.generating import subject_named
    from posewright.codegen.proof import proving

    one = subject_named(subject, monitors=monitors, queue=queue, style=style)
    with bar("comparing") as on_progress:
        found = proving.verify(one, target, steps=steps, seed=seed, on_progress=on_progress)
    covered = proving.source_coverage(one, seed=seed) if coverage else None
    data = found.data() | (covered.data() if covered else {})
    give(data, _lines(one, found, covered), as_json=as_json)
    if not found.same:
        raise typer.Exit(FOUND)


def _lines(
    subject: Subject, found: Verification, covered: SourceCoverage | None
) -> Iterator[str | RenderableType]:
    beside = " and ".join(found.executables)
    verdict = rated("ok" if found.same else "failed")
    off = f"{found.mismatches or 'no'} mismatch{'' if found.mismatches == 1 else 'es'}"
    yield line_of(verdict, f" {found.subject}: {counted(found.steps, 'step')} on {beside}, {off}")
    if found.transitions is not None:
        yield f"   {found.transitions_taken} of {found.transitions} transitions taken"
    if found.failed:
        yield f"   {counted(found.failed, 'time')} all stopped alike: division by zero, or a tick without end"
    needs = found.footprint
    if needs is not None:
        stack = "" if needs.stack_bytes is None else f", stack {needs.stack_bytes} bytes"
        yield f"   flash {needs.flash_bytes} bytes, RAM {needs.ram_bytes} bytes{stack}"
        if needs.step_cycles_mean is not None:
            yield f"   a step: {needs.step_cycles_mean:.1f} {needs.counts}, at most {needs.step_cycles_worst}"
    if found.ticks_from_player is not None:
        yield f"   servos at most {counted(found.ticks_from_player, 'tick')} from the simulator's player"
    if covered is not None:
        yield f"   lines of C run: {covered.line_coverage:.1%}, branches: {covered.branch_coverage:.1%}"
    if found.mismatch is not None:
        yield f"   {found.mismatch.executable} differs in {', '.join(found.mismatch.fields)}:"
        yield table(*found.mismatch.table(subject))
