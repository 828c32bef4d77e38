"""`posewright motion film`: a motion as a film strip or as a film."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from posewright.cli.motion_options import MotionPath, Page, RobotName, open_for_robot
from posewright.cli.motion_physics import Friction, PutDown, radians
from posewright.cli.options import Record, refuse_overwriting, refuse_recording
from posewright.errors import InputError, Where

if TYPE_CHECKING:
    from posewright.motions import Motion

PICTURES = 12


def film(
    file: MotionPath,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILM",
            help="A .png, .svg or .pdf film strip, or a .mp4, .mkv or .webm film.",
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
    record: Record = None,
) -> None:
    """Film a motion as it is played under gravity: a strip of pictures, or a film.

    A strip shows the keyframes, or as many moments evenly spread, and in red what `motion check --physics`
    finds there. A film has 25 pictures a second.

    [bold]Examples[/]

      posewright motion film walk.motion.yaml -o walk.png

      posewright motion film humanoid.mtn --page "F getup" --attitude 0 90 -o up.mp4 --speed 0.5
    """
    from posewright.cli import console

    _refuse(output, pictures, speed)
    refuse_overwriting(output, file)
    refuse_recording(record, file)
    if record is not None and no_physics:
        raise InputError("without physics there is nothing to record", hint="--record without --no-physics")
    motion = open_for_robot(file, robot).motion(page)
    put_down = radians(attitude)
    with console.progress(quiet=False) as display:
        line = display.add_task(f"{motion.name}: playing")

        def say(share: float) -> None:
            display.update(line, description=f"filming: {share:.0%}")

        show = _commanded if no_physics else partial(_played, friction=friction, record=record)
        show(motion, output, put_down, Manner(camera, pictures, speed, say))
    console.out.print(f"{motion.name} -> {output}", markup=False, highlight=False, soft_wrap=True)


class Manner(NamedTuple):
    """How a motion is shown.

    Attributes:
        camera: who looks.
        pictures: of a strip, how many.
        speed: of a film, seconds of motion a second of film.
        on_progress: of a film, is called with the share done.
    """

    camera: str
    pictures: int
    speed: float
    on_progress: Callable[[float], None]


def _refuse(output: Path, pictures: int, speed: float) -> None:
    """Refuse what cannot be drawn or filmed, before it is played."""
    from posewright.figures import FILMS, refuse_unsavable
    from posewright.figures.film import refuse_film
    from posewright.figures.strip import refuse_pictures

    if _is_strip(output):
        refuse_pictures(pictures)
        refuse_unsavable(output)
    elif output.suffix.lower() in FILMS:
        refuse_film(output, speed)
    else:
        hint = f".png, .svg, .pdf for a film strip, {', '.join(FILMS)} for a film"
        raise InputError("neither a kind of picture nor of film", where=Where(output), hint=hint)


def _is_strip(output: Path) -> bool:
    from posewright.figures import PICTURES

    return output.suffix.lower() in PICTURES


def _commanded(motion: Motion, output: Path, attitude: tuple[float, float] | None, manner: Manner) -> None:
    """Show where every joint is commanded to be."""
    from posewright.figures import draw_strip, film_motion, save_figure

    if _is_strip(output):
        strip = draw_strip(motion, pictures=manner.pictures, camera=manner.camera, attitude=attitude)
        save_figure(strip, output)
        return
    film_motion(
        motion,
        output,
        attitude=attitude,
        camera=manner.camera,
        speed=manner.speed,
        on_progress=manner.on_progress,
    )


def _played(
    motion: Motion,
    output: Path,
    attitude: tuple[float, float] | None,
    manner: Manner,
    *,
    friction: float | None,
    record: Path | None,
) -> None:
    """Show what becomes of a motion under gravity."""
    from posewright.experiments import try_motion
    from posewright.figures import draw_strip, film_recording, save_figure
    from posewright.recordings import write_mcap

    result = try_motion(motion, attitude=attitude, friction=friction)
    if record is not None:
        write_mcap(result.recording, record)
    if _is_strip(output):
        strip = draw_strip(
            result.recording,
            result.robot,
            pictures=manner.pictures,
            camera=manner.camera,
            findings=result.findings,
        )
        save_figure(strip, output)
        return
    film_recording(
        result.recording,
        output,
        camera=manner.camera,
        speed=manner.speed,
        begin_s=result.played.begin * result.played.frame_s,
        robots=result.robot,
        on_progress=manner.on_progress,
    )
