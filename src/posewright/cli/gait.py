"""`posewright gait`: walks made from a velocity command, shown, drawn, sampled, walked and measured."""

from __future__ import annotations

from typing import Annotated

import typer

from posewright.cli.gait_options import GaitName, RobotOption, Sets, open_gait
from posewright.cli.gait_sample import sample
from posewright.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the group `gait` to the application."""
    from posewright.cli.gait_plot import plot
    from posewright.cli.gait_run import compare, run

    gait = typer.Typer(
        help="Walks made from a velocity command: look at them, sample, draw, walk and measure them.",
        rich_markup_mode="rich",
        no_args_is_help=True,
    )
    gait.command("list")(list_gaits)
    for verb in (show, plot, sample, run, compare):
        gait.command(verb.__name__)(verb)
    app.add_typer(gait, name="gait")


def list_gaits(
    robot: Annotated[
        str | None, typer.Option("--robot", metavar="R", help="Only those of this robot; a name or a card.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the gaits that come with Posewright: greatest speed and turn, and time of a cycle.

    [bold]Examples[/]

      posewright gait list

      posewright gait list --robot sony_ers7 --json
    """
    from posewright.cli.console import emit_json, out
    from posewright.cli.gait_show import describe_briefly, list_table
    from posewright.gaits import gait_names, read_gait_and_robot
    from posewright.robots import robot as robot_called
    from posewright.robots import robot_names

    cards = [robot_called(name) for name in (robot_names() if robot is None else (robot,))]
    told = [
        describe_briefly(*read_gait_and_robot(name, robot=card))
        for card in cards
        for name in gait_names(card)
    ]
    if as_json:
        emit_json(told)
    elif told:
        out.print(list_table(told))
    else:
        out.print("no gait ships for this robot", markup=False, highlight=False)


def show(
    gait: GaitName,
    robot: RobotOption = None,
    sets: Sets = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not try what the joints would be commanded to do.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a gait: every parameter and what it does, the times that follow, and whether the joints can do it.

    Without physics, joints are tried at every corner of what may be commanded, and from each to its opposite:
    reach, limits, coupled limits, speeds.

    [bold]Examples[/]

      posewright gait show trot

      posewright gait show trot --set maximum_turn_rad=0.05 --set front_height_m.fore=0.012

      posewright gait show my.gait.yaml --robot my_robot/robot.yaml --json
    """
    from posewright.cli.console import emit_json, out
    from posewright.cli.gait_show import check_lines, describe, gait_lines, parameter_lines
    from posewright.gaits import check_gait

    opened, card = open_gait(gait, robot, sets)
    told = describe(opened, card, None if no_check else check_gait(opened, card))
    if as_json:
        emit_json(told)
        return
    for line in gait_lines(told):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    out.print()
    for part in parameter_lines(told["parameters"]):
        out.print(part, highlight=False)
    if told["check"] is not None:
        out.print()
        for line in check_lines(told["check"]):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
