"""`replay`: judges, draws and films a run from its recording alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from posewright.contests import contest_of, describe_attached_rules, has_contest, judge
from posewright.errors import InputError, UnknownNameError
from posewright.evaluation.walking.walk import EXTRAS as WALK
from posewright.figures import (
    draw_parity,
    draw_recording,
    draw_walk,
    film_recording,
    require_film_options,
    save_figure,
)
from posewright.recordings import Recording, describe_abort, read_mcap
from posewright.recordings.plausibility import require_plausible
from posewright.robots import robot as robot_card
from posewright.runs.outcome import Outcome, Unjudged

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Recorded(Protocol):
    """The result of a run that contains its recording."""

    @property
    def recording(self) -> Recording:
        """The recording of the run."""


def replay(
    recording: str | Path | Recording,
    *,
    plot: str | Path | None = None,
    video: str | Path | None = None,
    camera: str | None = None,
    speed: float = 1.0,
    size: tuple[int, int] | None = None,
    robot: str | Path | None = None,
    trust_attached_rules: bool = False,
    on_progress: Callable[[float], None] | None = None,
) -> Outcome:
    """Judge a recording of a contest again, and draw or film it if requested.

    Args:
        recording: a recording, or the path of an MCAP recording.
        plot: where its picture is written.
        video: where a film of it is written.
        camera: the camera of the film: `field`, `top`, `chase`, `side`, `front`, or a camera sensor of the
            robot; by default `chase`, or `side` without a field.
        speed: recorded seconds per second of film.
        size: width and height of the film [pixels]; by default that of `film_recording`.
        robot: path of the robot's card, if it is not in the catalogue; a film needs its model.
        trust_attached_rules: judge by the rules in the recording, even if they were changed.
        on_progress: called with the finished share of the film, from 0 to 1.

    Raises:
        FormatError: the file is not a recording of a run.
        InputError: the recording lacks what was requested.
    """
    if video is not None:
        require_film_options(Path(video), speed, size)
    if not isinstance(recording, Recording):
        recording = read_mcap(Path(recording), trust_attached_rules=trust_attached_rules)
    require_plausible(recording)
    outcome = _judge_recording(recording, trust_attached_rules=trust_attached_rules)
    if plot is not None:
        save_figure(draw_outcome(outcome), plot)
    if video is not None:
        film_recording(
            recording,
            video,
            camera=camera,
            speed=speed,
            size=size,
            robots=None if robot is None else robot_card(robot),
            on_progress=on_progress,
        )
    return outcome


def _judge_recording(recording: Recording, *, trust_attached_rules: bool) -> Outcome:
    """Judge a recording by its contest's rules; without a known contest the outcome is unjudged."""
    if not has_contest(recording.header):
        return Outcome(recording, Unjudged(recording), wall_s=0.0)
    try:
        contest = contest_of(recording.header, trust_attached_rules=trust_attached_rules)
    except UnknownNameError as error:
        return Outcome(recording, Unjudged(recording, warnings=(f"not judged: {error}",)), wall_s=0.0)
    remarks = (describe_attached_rules(recording.header, contest), describe_abort(recording))
    return Outcome(
        recording, score=judge(recording, contest), wall_s=0.0, remarks=tuple(filter(None, remarks))
    )


def draw_board(outcome: Outcome) -> Figure:
    """Draw the chart's states on the board over the interpreter's, on one time axis.

    Raises:
        InputError: the trial did not run on a board.
    """
    board = outcome.board
    if board is None:
        raise InputError(
            "the trial did not run on a board", hint="run it with a controller such as arduino-uno"
        )
    behaviour = next(iter(outcome.recording.header.robots.values())).controller
    times = [step.time_s for step in board.parity.steps]
    board_states = [board_state for board_state, _ in board.states]
    interpreter_states = [interpreter_state for _, interpreter_state in board.states]
    title = f"{behaviour} on {board.controller}: states of the board and of the interpreter"
    return draw_parity(
        times, board_states, interpreter_states, title=title, missed=board.parity.missed_times_s
    )


def draw_outcome(outcome: Recording | Recorded) -> Figure:
    """Draw a recording or outcome: a walk with its figures, a trial with its contest's picture."""
    if not isinstance(outcome, Outcome):
        outcome = replay(outcome if isinstance(outcome, Recording) else outcome.recording)
    recording = outcome.recording
    if WALK in recording.header.extras:
        return draw_walk(recording)
    if isinstance(outcome.score, Unjudged):
        return draw_recording(recording)
    contest = contest_of(recording.header, trust_attached_rules=True)
    return draw_recording(recording, contest=contest.picture(recording))
