"""`posewright replay`: shows a recording again, without simulating."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import runs
from posewright.cli import console, film_options
from posewright.cli.film_options import FilmOptions
from posewright.cli.judge import TrustRules, show_outcome
from posewright.cli.options import AsJson, Plot, add_command, argument, option, require_distinct_output

if TYPE_CHECKING:
    from posewright.recordings import Recording


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "replay", replay, python_equivalents="replay")


def replay(
    recording: Annotated[Path, argument("RECORDING", "A recording (MCAP).")],
    video: film_options.Video = None,
    plot: Plot = None,
    camera: film_options.Camera = None,
    speed: film_options.Speed = 1.0,
    size: film_options.Size = None,
    view: Annotated[bool, option("--view", "Show the recording in a live window.")] = False,
    trust: TrustRules = False,
    as_json: AsJson = False,
) -> None:
    """Replay a recording without simulating it again: picture, film, live window, score.

    [bold]Examples[/]
      posewright replay race.mcap
      posewright replay race.mcap --video race.mp4 --camera chase --speed 2
    """
    film = FilmOptions.read(video, camera, speed, size, subject=recording, inputs=[recording])
    require_distinct_output(plot, recording)
    with console.spinner(f"{recording}: reading", quiet=as_json) as show_status:
        outcome = runs.replay(recording, plot=plot, trust_attached_rules=trust)
        if film is not None:
            film.make(outcome.recording, show_status)
    if view:
        _show_live(outcome.recording, speed)
    show_outcome(outcome, as_json=as_json)


def _show_live(recording: Recording, speed: float) -> None:
    """Show a recording in a window at `speed` times real time, until it ends or the window is closed."""
    from posewright.figures import recorded_world
    from posewright.simulation import LiveView

    world = recorded_world(recording)
    with LiveView(world) as window:
        started_s = time.perf_counter()
        for row in range(recording.n_rows):
            elapsed_s = time.perf_counter() - started_s
            delay_s = float(recording.times[row]) / speed - elapsed_s
            if delay_s > 0.0:
                time.sleep(delay_s)
            robots = {
                name: (robot.base[row], robot.positions[row]) for name, robot in recording.robots.items()
            }
            world.show(robots, recording.boxes[row])
            window.sync()
            if not window.is_open:
                return
