"""`posewright gait`: walks made from a velocity command, listed and shown; its other verbs lie beside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import figures, gaits, robots
from posewright.cli.console import print_line, print_result
from posewright.cli.gait_options import GaitName, Left, RobotOption, Sets, Turn, open_gait
from posewright.cli.gait_run import compare, run
from posewright.cli.gait_sample import sample
from posewright.cli.options import AsJson, add_group, add_verb, option, require_distinct_output

Ahead = Annotated[
    float | None,
    option(
        "--forward M/S",
        "Speed forwards; negative is backwards. Default half the greatest speed, or 0 with --left or --turn.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "gait")
    add_verb(group, "list", list_gaits, python_names="gait_names")
    add_verb(group, "show", show, python_names="read_gait check_gait")
    add_verb(group, "plot", plot, python_names="draw_gait")
    add_verb(group, "sample", sample, python_names="sample_gait write_motion")
    add_verb(group, "run", run, python_names="walk_gait walk_many play_gait draw_walk")
    add_verb(group, "compare", compare, python_names="walk_gait")


def list_gaits(
    robot: Annotated[
        str | None, option("--robot R", "Only the gaits of this robot; a name or a card.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the gaits that come with Posewright, with their top speeds and the time of a cycle.

    [bold]Examples[/]
      posewright gait list
      posewright gait list --robot sony_ers7 --json
    """
    cards = [robots.robot(name) for name in (robots.robot_names() if robot is None else (robot,))]
    briefs = [
        gaits.describe_gait_briefly(*gaits.read_gait_and_robot(name, robot=card))
        for card in cards
        for name in gaits.gait_names(card)
    ]
    print_result(
        briefs, [gaits.gait_table(briefs) if briefs else "no gait ships for this robot"], as_json=as_json
    )


def show(
    gait: GaitName,
    robot: RobotOption = None,
    sets: Sets = None,
    no_check: Annotated[bool, option("--no-check", "Skip the check of reach, limits and speeds.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a gait: what each parameter does, the resulting times, and whether the joints can follow.

    The check needs no physics: it tries the joints at every extreme of the command, and from each to its
    opposite, for reach, limits, coupled limits and speeds.

    [bold]Examples[/]
      posewright gait show trot
      posewright gait show trot --set maximum_turn_rad=0.05 --set front_height_m.fore=0.012
      posewright gait show my.gait.yaml --robot my_robot/robot.yaml --json
    """
    opened, card = open_gait(gait, robot, sets)
    checked = None if no_check else gaits.check_gait(opened, card)
    description = gaits.describe_gait(opened, card, checked)
    print_result(description, gaits.gait_lines(description), as_json=as_json)


def plot(
    gait: GaitName,
    output: Annotated[Path, option("--output -o PICTURE", "A .png, .svg or .pdf file.")],
    forward: Ahead = None,
    left: Left = 0.0,
    turn: Turn = 0.0,
    robot: RobotOption = None,
    sets: Sets = None,
) -> None:
    """Draw a gait: the ways of the feet, which are down when, and the joints beside their limits.

    One page of a steady cycle: each foot from the side, with its waypoints and the path between them;
    all of them from above, with where the robot goes; phases; angles and speeds of the joints of two legs.
    Nothing is simulated. Without a command it goes ahead at half the greatest speed.

    [bold]Examples[/]
      posewright gait plot trot -o trot.png
      posewright gait plot crawl --forward 0.03 --turn 0.2 -o arc.svg
      posewright gait plot trot --forward 0 --set shape_factor=1 -o on_the_spot.pdf
    """
    opened, card = open_gait(gait, robot, sets)
    require_distinct_output(output, gait, opened.path)
    figures.require_picture_path(output)
    is_asked = forward is not None or left != 0.0 or turn != 0.0
    command = gaits.VelocityCommand(forward or 0.0, left, turn) if is_asked else None
    figures.save_figure(figures.draw_gait(opened, card, command=command), output)
    print_line(f"{opened.name} -> {output}")
