"""Replay: what a recorded trial was, from the recording alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from posewright.contests import judge
from posewright.experiments.outcome import Outcome
from posewright.figures.film import film_trial
from posewright.figures.picture import draw_trial
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
    tell: Callable[[float], None] | None = None,
) -> Outcome:
    """Judge a recorded trial again, and draw or film it where asked.

    Args:
        recording: path of an MCAP recording, or a trace.
        plot: where to draw the trial's picture.
        video: where to put a film of it.
        camera: who films: `field`, `top`, `chase`, `side`, `front`, or a camera sensor of the robot.
        speed: trial seconds a second of film.
        robot: path of the robot's card, where that does not ship; a film needs its model.
        tell: is told the share of the film that is done, 0..1.

    Raises:
        FormatError: the file is no recording of a trial.
        InputError: the recording lacks what was asked for.
    """
    trace = recording if isinstance(recording, Recording) else read_mcap(Path(recording))
    outcome = Outcome(trace, judge(trace), 0.0)
    if plot is not None:
        draw_trial(trace, plot, outcome.result)
    if video is not None:
        card = None if robot is None else robot_card(robot)
        film_trial(trace, video, camera=camera, speed=speed, card=card, tell=tell)
    return outcome
