"""The picture of a gait's trial: its way over the ground, footfalls, tilt, joint speeds and torques."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.documents import refuse_unwritable
from posewright.errors import InputError, MissingExtraError, Where
from posewright.experiments.walking.trial import GaitTrial
from posewright.figures.gait.file import SUFFIXES, save_drawing
from posewright.figures.walking.picture_ground import draw_footfalls, draw_heights, draw_way
from posewright.figures.walking.picture_joints import draw_speeds, draw_torques
from posewright.figures.walking.picture_time import draw_rates, draw_tilt

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def refuse_no_picture(path: Path) -> None:
    """Say before a long run, not after it, that a picture could not be drawn there.

    Raises:
        InputError: the ending is no picture's.
        OutputError: the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    _expect_suffix(path)
    refuse_unwritable(path)
    _require_matplotlib()


def draw_gait_trial(trial: GaitTrial, path: str | Path) -> None:
    """Draw a walk to a PNG, SVG or PDF file, by the file's ending; the same walk gives the same bytes.

    Args:
        trial: what was walked and measured.
        path: where to.

    Raises:
        InputError: a file ending that is no picture's.
        MissingExtraError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    save_drawing(lambda: _figure(trial), path, dpi=130)


def _expect_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError("not a kind of picture", where=Where(path), hint=f"one of {', '.join(SUFFIXES)}")


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401 -- only whether it is there
    except ImportError as error:
        raise MissingExtraError.for_extra("drawing a walk", "plot") from error


def _figure(trial: GaitTrial) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 9.6), layout="constrained")
    grid = figure.add_gridspec(4, 2, height_ratios=(1.25, 1.0, 1.0, 1.05))
    draw_way(figure.add_subplot(grid[0:2, 0]), trial)
    draw_footfalls(figure.add_subplot(grid[0, 1]), trial)
    draw_heights(figure.add_subplot(grid[1, 1]), trial)
    rates = figure.add_subplot(grid[2, 0])
    draw_rates(rates, trial)
    draw_tilt(figure.add_subplot(grid[2, 1], sharex=rates), trial)
    draw_speeds(figure.add_subplot(grid[3, 0]), trial)
    draw_torques(figure.add_subplot(grid[3, 1]), trial)
    figure.suptitle(_title(trial), x=0.01, ha="left", fontsize=10)
    return figure


def _title(trial: GaitTrial) -> str:
    report = trial.report
    speeds = (report.speed_m_s, report.left_m_s, report.turn_rad_s)
    went = ", ".join(
        f"{word} {'?' if value is None else format(value, '.3f')} {unit}"
        for word, value, unit in zip(
            ("forward", "left", "turn"), speeds, ("m/s", "m/s", "rad/s"), strict=True
        )
    )
    asked = (report.commanded_forward_m_s, report.commanded_left_m_s, report.commanded_turn_rad_s)
    command = " / ".join(f"{value:.3f}" for value in asked)
    fell = (
        "no fall" if report.is_upright else f"fell {report.fall_sides[0]} at {report.fall_times_s[0]:.1f} s"
    )
    body = "nominal body"
    if not trial.variation.is_nominal:
        body = textwrap.fill(f"body of seed {trial.seed}: {trial.variation}", width=150)
    return f"{trial.gait.name} on {trial.robot.name}: {went} (asked {command}); {fell}\n{body}"
