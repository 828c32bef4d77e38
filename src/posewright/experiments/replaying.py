"""Replay: what a recorded trial was, from the recording alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from posewright.contests import contest_of, judge
from posewright.experiments.outcome import Outcome
from posewright.figures import draw_recording, film_recording, save_figure
from posewright.recordings import Recording, read_mcap
from posewright.robots import robot as robot_card


def replay(
    recording: str | Path | Recording,
    *,
    plot: str | Path | None = None,
    video: str | Path | None = None,
    camera: str = "field",
    speed: float = 1.0,
    robot: str | Path | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Outcome:
    """Judge a recorded trial again, and draw or film it where asked.

    Args:
        recording: path of an MCAP recording, or a recording.
        plot: where to draw the trial's picture.
        video: where to put a film of it.
        camera: who films: `field`, `top`, `chase`, `side`, `front`, or a camera sensor of the robot.
        speed: recorded seconds a second of film.
        robot: path of the robot's card, where that does not ship; a film needs its model.
        on_progress: is called with the share of the film that is done, 0..1.

    Raises:
        FormatError: the file is no recording of a trial.
        InputError: the recording lacks what was asked for.
    """
    seen = recording if isinstance(recording, Recording) else read_mcap(Path(recording))
    held = contest_of(seen.header)
    outcome = Outcome(seen, judge(seen, held), 0.0)
    if plot is not None:
        save_figure(draw_recording(seen, held.picture(seen)), plot)
    if video is not None:
        cards = None if robot is None else robot_card(robot)
        film_recording(seen, video, camera=camera, speed=speed, robots=cards, on_progress=on_progress)
    return outcome
