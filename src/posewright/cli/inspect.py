"""`posewright inspect`: whether a robot may enter the contest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.options import AsJson, add_command, argument, option


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "inspect", inspect, python_names="inspect_robot")


def inspect(
    robot: Annotated[str, argument("ROBOT", "A robot's name, or the path of its card.")],
    rules: Annotated[
        Path | None,
        option("--rules", "Take the limits from these rules (*.rules.yaml) instead of CEABOT 2013's."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a robot and check it against the limits of the CEABOT humanoid contest.

    Exits with 1 if it may not enter.

    [bold]Examples[/]
      posewright inspect robotis_bioloid
      posewright inspect my_robot/robot.yaml --json
    """
    from posewright.cli import console
    from posewright.cli.judge import print_table
    from posewright.contests import read_rules
    from posewright.runs import inspect_robot

    found = inspect_robot(robot, None if rules is None else read_rules(rules))
    if as_json:
        console.print_json(found.to_dict())
    else:
        print_table(found.table(), f"{found.rules}: inspection of {found.robot}")
    if not found.passed:
        raise typer.Exit(1)
