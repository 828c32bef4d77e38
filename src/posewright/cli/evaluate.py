"""`posewright evaluate`: the figures of a recorded run, computed from the recording alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import evaluation, recordings, robots
from posewright.cli.console import print_result
from posewright.cli.options import AsJson, add_command, argument, option


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "evaluate", evaluate, python_equivalents="evaluate")


def evaluate(
    recording: Annotated[Path, argument("RECORDING", "A recording (MCAP) of a walk, a motion, or any run.")],
    robot: Annotated[
        str | None, option("--robot R", "The robot's card, if the robot does not come with Posewright.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a recording: figures of a walk, findings of a motion, or distance, speed and falls of any run.

    The figures equal those of `gait run` and `motion check --physics` to the last digit.

    [bold]Examples[/]
      posewright evaluate trot.mcap
      posewright evaluate kick.mcap --json
    """
    card = None if robot is None else robots.robot(robot)
    result = evaluation.evaluate(recordings.read_mcap(recording), robot=card)
    print_result(result.figures(), evaluation.result_lines(result), as_json=as_json)
