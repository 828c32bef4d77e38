"""`posewright robots`: what robots there are and what is known of each."""

from __future__ import annotations

from typing import Annotated

import typer

from posewright.cli.console import emit_json, out
from posewright.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the group `robots` to the application."""
    robots = typer.Typer(rich_markup_mode="rich")
    robots.callback(invoke_without_command=True)(list_robots)
    robots.command("show")(show)
    app.add_typer(robots, name="robots")


def list_robots(context: typer.Context, as_json: AsJson = False) -> None:
    """List the robots that come with Posewright, or show one.

    [bold]Examples[/]

      posewright robots

      posewright robots --json

      posewright robots show robotis_bioloid
    """
    if context.invoked_subcommand is not None:
        return
    from posewright.robots import describe_briefly, robot, robot_names

    cards = [describe_briefly(robot(name)) for name in robot_names()]
    if as_json:
        emit_json(cards)
        return
    from posewright.cli.robot_tables import list_table

    out.print(list_table(cards))


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A robot of the list, or the path of one's own robot.yaml.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show a robot's card: joints, servos, limits, poses, numberings, sensors and sources.

    Angles are the joints' own: pitch about y, roll about x, yaw about z.

    [bold]Examples[/]

      posewright robots show robotis_bioloid

      posewright robots show robotis_bioloid --json

      posewright robots show my_robot/robot.yaml
    """
    from posewright.robots import describe, robot

    card = describe(robot(name))
    if as_json:
        emit_json(card)
        return
    from posewright.cli.robot_tables import card_tables

    out.print(f"{card['name']}: {card['maker']} {card['title']}", markup=False, highlight=False)
    frame_ms = 1000.0 * card["frame_period_s"]
    out.print(f"{card['n_joints']} joints, a frame every {frame_ms:g} ms", highlight=False)
    for table in card_tables(card):
        out.print()
        out.print(table)
