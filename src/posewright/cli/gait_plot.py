"""`posewright gait plot`: a gait as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli.gait_options import GaitName, Left, RobotOption, Sets, Turn, command_of, open_gait
from posewright.cli.options import refuse_overwriting

if TYPE_CHECKING:
    from posewright.gaits import VelocityCommand

Ahead = Annotated[
    float | None,
    typer.Option(
        "--forward",
        metavar="M/S",
        help="Ahead; negative backwards. Default half the greatest speed, or 0 with --left or --turn.",
        show_default=False,
    ),
]


def plot(
    gait: GaitName,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PICTURE", help="A .png, .svg or .pdf file.")
    ],
    forward: Ahead = None,
    left: Left = 0.0,
    turn: Turn = 0.0,
    robot: RobotOption = None,
    sets: Sets = None,
) -> None:
    """Draw a gait: the ways of the feet, which are down when, and the joints beside their limits.

    One page of a steady cycle: each foot from the side, with the points it is told and the curve its joints
    lead it; all of them from above, with the way the robot goes; phases; angles and speeds of the joints of a
    rear and a front leg. Nothing is simulated. Without a command it goes ahead at half the greatest speed.

    [bold]Examples[/]

      posewright gait plot trot -o trot.png

      posewright gait plot crawl --forward 0.03 --turn 0.2 -o arc.svg

      posewright gait plot trot --forward 0 --set shape_factor=1 -o on_the_spot.pdf
    """
    from posewright.cli.console import out
    from posewright.figures import draw_gait, refuse_unsavable, save_figure

    opened, card = open_gait(gait, robot, sets)
    refuse_overwriting(output, gait, opened.path)
    refuse_unsavable(output)
    save_figure(draw_gait(opened, card, command=_asked(forward, left, turn)), output)
    out.print(f"{opened.name} -> {output}", markup=False, highlight=False, soft_wrap=True)


def _asked(forward: float | None, left: float, turn: float) -> VelocityCommand | None:
    """Return what was asked for, or None if nothing was."""
    if forward is None and left == 0.0 and turn == 0.0:
        return None
    return command_of(forward or 0.0, left, turn)
