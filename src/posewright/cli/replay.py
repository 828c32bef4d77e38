"""`posewright replay`: a recording again, from itself alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posewright.cli import console, film_options
from posewright.cli.judge import TrustRules, give_outcome
from posewright.cli.options import AsJson, Plot, add_command, argument, option, refuse_overwriting

if TYPE_CHECKING:
    from posewright.recordings import Recording


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "replay", replay, twins="replay")


def replay(
    recording: Annotated[Path, argument("RECORDING", "A recording (MCAP).")],
    video: film_options.Video = None,
    plot: Plot = None,
    camera: film_options.Camera = None,
    speed: film_options.Speed = 1.0,
    size: film_options.Size = None,
    view: Annotated[bool, option("--view", "Show it in a live window.")] = False,
    trust: TrustRules = False,
    as_json: AsJson = False,
) -> None:
    """Replay a recording, without simulating again: picture, film, live window, score.

    [bold]Examples[/]
      posewright replay race.mcap
      posewright replay race.mcap --video race.mp4 --camera chase --speed 2
    """
    from posewright.runs import replay as replayed

    film_options.refuse_unused_camera(camera, video)
    video, pixels = video and film_options.film_path(video, recording), film_options.size_of(size)
    for output in (plot, video):
        refuse_overwriting(output, recording)
    with console.working(f"{recording}: reading", quiet=as_json) as say:
        how: dict[str, Any] = {
            "camera": camera,
            "speed": speed,
            "size": pixels,
            "trust_attached_rules": trust,
        }
        outcome = replayed(recording, plot=plot, video=video, **how, on_progress=film_options.filming(say))
    if view:
        _show(outcome.recording, speed)
    give_outcome(outcome, as_json=as_json)


def _show(recording: Recording, speed: float) -> None:
    from posewright.figures import scene_of
    from posewright.simulation import LiveView

    world = scene_of(recording)
    with LiveView(world) as window:
        began = time.perf_counter()
        for row in range(recording.n_rows):
            ahead_s = float(recording.times[row]) / speed - (time.perf_counter() - began)
            if ahead_s > 0.0:
                time.sleep(ahead_s)
            robots = {name: (one.base[row], one.positions[row]) for name, one in recording.robots.items()}
            world.show(robots, recording.boxes[row])
            window.sync()
            if not window.is_open:
                return
