"""`posewright replay`: a recorded trial again, from its recording alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from posewright.cli import console
from posewright.cli.outcome_table import print_outcome

if TYPE_CHECKING:
    from posewright.traces import Trace

HELP = """Play a recorded trial again, from its recording alone: picture, film, live window, result.

[bold]Examples[/]

  posewright replay race.mcap

  posewright replay race.mcap --video race.mp4 --camera chase --speed 2
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("replay", help=HELP)(replay)


def replay(
    recording: Path = typer.Argument(..., help="A recording (MCAP) of a trial."),
    video: Path = typer.Option(None, help="Make a film (mp4)."),
    plot: Path = typer.Option(None, help="Draw a picture (png, svg or pdf)."),
    camera: str = typer.Option("field", help="Who films: field, top, chase, side, or a camera of the robot."),
    speed: float = typer.Option(1.0, min=0.05, max=100.0, help="Trial seconds a second of film or window."),
    view: bool = typer.Option(False, "--view", help="Show it in a live window."),
    as_json: bool = typer.Option(False, "--json", help="Print plain JSON and nothing else."),
) -> None:
    """Replay a trial."""
    from posewright import trials

    with console.progress(quiet=as_json) as display:
        line = display.add_task(f"{recording}: reading")
        outcome = trials.replay(
            recording,
            plot=plot,
            video=video,
            camera=camera,
            speed=speed,
            tell=lambda share: display.update(line, description=f"filming: {share:.0%}"),
        )
    if view:
        _show(outcome.trace, speed)
    if as_json:
        console.emit_json(outcome.to_dict())
    else:
        print_outcome(outcome)


def _show(trace: Trace, speed: float) -> None:
    from posewright.simulation import LiveView
    from posewright.trials import stage_of

    world = stage_of(trace.header)
    with LiveView(world) as window:
        began = time.perf_counter()
        for row in range(trace.n_rows):
            ahead_s = float(trace.times[row]) / speed - (time.perf_counter() - began)
            if ahead_s > 0.0:
                time.sleep(ahead_s)
            world.show(trace.trunk[row], trace.joint_positions[row], trace.boxes[row])
            window.sync()
            if not window.is_open:
                return
