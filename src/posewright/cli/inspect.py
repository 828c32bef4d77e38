"""`posewright inspect`: checks whether a robot may enter a contest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.options import AsJson, add_command, argument, option


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "inspect", inspect, python_equivalents="inspect_robot")


def inspect(
    robot: Annotated[str, argument("ROBOT", "A robot's name, or the path of its card.")],
    rules: Annotated[
        Path | None,
        option("--rules FILE", "Use the limits of these rules (*.rules.yaml). Default: CEABOT 2013."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a robot and compare it with the limits of the CEABOT humanoid contest.

    Exits with 1 if the robot may not enter.

    [bold]Examples[/]
      posewright inspect robotis_bioloid
      posewright inspect my_robot/robot.yaml --json
    """
    from posewright.cli import console
    from posewright.cli.judge import print_table
    from posewright.contests import read_rules
    from posewright.runs import inspect_robot

    inspection = inspect_robot(robot, None if rules is None else read_rules(rules))
    if as_json:
        console.print_json(inspection.to_dict())
    else:
        print_table(inspection.table(), f"{inspection.rules}: inspection of {inspection.robot}")
    if not inspection.passed:
        raise typer.Exit(1)
