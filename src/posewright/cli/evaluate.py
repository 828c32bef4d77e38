"""`posewright evaluate`: the figures of whatever was recorded, from its recording alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli.console import give, table
from posewright.cli.options import AsJson, add_command, argument, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType
    from rich.table import Table

    from posewright.evaluation import RunResult
    from posewright.evaluation.general import RobotFigures


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "evaluate", evaluate, twins="evaluate")


def evaluate(
    recording: Annotated[Path, argument("RECORDING", "A recording (MCAP) of a walk, a motion, or any run.")],
    robot: Annotated[
        str | None, option("--robot R", "Its robot's card, if the robot does not come with Posewright.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a recording: a walk's figures, a motion's findings, or the way, speed and falls of any run.

    The figures are the same, to the last digit, as those of `gait run` and `motion check --physics`.

    [bold]Examples[/]
      posewright evaluate trot.mcap
      posewright evaluate kick.mcap --json
    """
    from posewright.cli.gait_tables import walk_lines
    from posewright.cli.motion_tables import findings_lines, physics_lines
    from posewright.evaluation import MotionResult, WalkResult
    from posewright.evaluation import evaluate as evaluated
    from posewright.recordings import read_mcap
    from posewright.robots import robot as robot_called

    result = evaluated(read_mcap(recording), robot=None if robot is None else robot_called(robot))
    lines: Iterable[str | RenderableType] = ()
    if isinstance(result, WalkResult):
        lines = walk_lines(result, f"{result.walk.terms.body} body")
    elif isinstance(result, MotionResult):
        lines = (*findings_lines(result), *physics_lines(result.figures()))
    else:
        lines = [run_table(result)]
    give(result.figures(), lines, as_json=as_json)


def run_table(result: RunResult) -> Table:
    """Return the figures of a run, one column a robot."""
    times = result.recording.times
    title = f"{result.recording.header.contest or 'recording'}, {times[-1] if len(times) else 0.0:.1f} s"
    columns = [_words(one) for one in result.robots.values()]
    rows = ((words, *(column[words] for column in columns)) for words in columns[0])
    return table(("", *result.robots), rows, title=title, words=("",))


def _words(figures: RobotFigures) -> dict[str, str]:

    def told(value: float | None, form: str) -> str:
        return "-" if value is None else form.format(value)

    faults = ", ".join(f"{count} x {kind}" for kind, count in figures.faults.items())
    times = "".join(
        f" {side} at {at:.2f} s" for side, at in zip(figures.fall_sides, figures.fall_times_s, strict=True)
    )
    return {
        "controller": figures.controller or "-",
        "way": told(figures.path_m, "{:.2f} m"),
        "from first to last place": told(figures.distance_m, "{:.2f} m"),
        "mean speed": told(figures.mean_speed_m_s, "{:.3f} m/s"),
        "turned": told(figures.turned_deg, "{:.0f} deg"),
        "falls": told(figures.falls, "{:d}") + times,
        "greatest tilt": told(figures.max_tilt_deg, "{:.1f} deg"),
        "joint speed / the card's": told(figures.max_joint_speed_ratio, f"{{:.2f}} {figures.fastest_joint}"),
        "torque / stall torque": told(figures.max_torque_ratio, f"{{:.2f}} {figures.hardest_joint}"),
        "faults": faults or "none",
    }
