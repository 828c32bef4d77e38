"""`posewright replay`: a recorded trial again, from its recording alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli import console
from posewright.cli.options import AsJson, Camera, Plot, Video, refuse_overwriting
from posewright.cli.outcome_table import print_outcome

if TYPE_CHECKING:
    from posewright.recordings import Recording

HELP = """Play a recorded trial again, from its recording alone: picture, film, live window, result.

[bold]Examples[/]

  posewright replay race.mcap

  posewright replay race.mcap --video race.mp4 --camera chase --speed 2
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("replay", help=HELP)(replay)


def replay(
    recording: Annotated[Path, typer.Argument(help="A recording (MCAP) of a trial.")],
    video: Video = None,
    plot: Plot = None,
    camera: Camera = "field",
    speed: Annotated[
        float, typer.Option(min=0.05, max=100.0, help="Trial seconds a second of film or window.")
    ] = 1.0,
    view: Annotated[bool, typer.Option("--view", help="Show it in a live window.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replay a trial."""
    from posewright.experiments import replay as replayed

    for output in (plot, video):
        refuse_overwriting(output, recording)
    with console.progress(quiet=as_json) as display:
        line = display.add_task(f"{recording}: reading")
        outcome = replayed(
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


def _show(trace: Recording, speed: float) -> None:
    from posewright.figures import stage_of
    from posewright.simulation import LiveView

    world = stage_of(trace.header)
    with LiveView(world) as window:
        began = time.perf_counter()
        for row in range(trace.n_rows):
            ahead_s = float(trace.times[row]) / speed - (time.perf_counter() - began)
            if ahead_s > 0.0:
                time.sleep(ahead_s)
            world.show(trace.base[row], trace.joint_positions[row], trace.boxes[row])
            window.sync()
            if not window.is_open:
                return
