"""`posewright motion film`: a motion as a film strip or as a film."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.motion_options import MotionPath, Page, RobotName, open_for_robot
from posewright.cli.motion_physics import Friction, PutDown, radians
from posewright.cli.options import refuse_overwriting

PICTURES = 12


def film(
    file: MotionPath,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILM", help="A .png film strip, or a .mp4, .mkv or .webm film."
        ),
    ],
    page: Page = None,
    robot: RobotName = None,
    camera: Annotated[
        str,
        typer.Option("--camera", metavar="NAME", help="side, front, chase, or a camera of the robot."),
    ] = "side",
    pictures: Annotated[
        int, typer.Option("--pictures", metavar="N", min=1, max=60, help="Of a strip, how many.")
    ] = PICTURES,
    speed: Annotated[
        float,
        typer.Option("--speed", metavar="X", help="Of a film: 0.25 is slow motion, four times as long."),
    ] = 1.0,
    no_physics: Annotated[
        bool, typer.Option("--no-physics", help="Show what is commanded, without gravity or weak servos.")
    ] = False,
    attitude: PutDown = None,
    friction: Friction = None,
) -> None:
    """Film a motion as it is played under gravity: a strip of pictures, or a film.

    A strip shows the keyframes, or as many moments evenly spread, and in red what `motion check --physics`
    finds there. A film has 25 pictures a second.

    [bold]Examples[/]

      posewright motion film walk.motion.yaml -o walk.png

      posewright motion film humanoid.mtn --page "F getup" --attitude 0 90 -o up.mp4 --speed 0.5
    """
    from posewright.cli import console
    from posewright.figures import film_motion

    refuse_overwriting(output, file)
    motion = open_for_robot(file, robot).motion(page)
    with console.progress(quiet=False) as display:
        line = display.add_task(f"{motion.name}: playing")
        film_motion(
            motion,
            output,
            physics=not no_physics,
            camera=camera,
            pictures=pictures,
            speed=speed,
            attitude=radians(attitude),
            friction=friction,
            tell=lambda share: display.update(line, description=f"filming: {share:.0%}"),
        )
    console.out.print(f"{motion.name} -> {output}", markup=False, highlight=False, soft_wrap=True)
