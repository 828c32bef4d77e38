"""`posewright motion film`: a motion as a film strip or as a film."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from posewright import evaluation, figures, formats, motions, recordings, runs
from posewright.cli.console import print_line, spinner
from posewright.cli.film_options import Size, Speed, film_path, filming, size_of
from posewright.cli.motion_options import (
    Friction,
    MotionPath,
    Page,
    PutDown,
    RobotName,
    open_for_robot,
    radians,
)
from posewright.cli.options import Record, option, require_distinct_output, require_recording_path
from posewright.errors import InputError, Where

PICTURES = 12


def film(
    file: MotionPath,
    output: Annotated[
        Path | None,
        option(
            "--output -o FILM",
            "A .png, .svg or .pdf film strip, a .mp4, .gif, .mkv or .webm film, or a folder; "
            "default MOTION.mp4 here.",
        ),
    ] = None,
    page: Page = None,
    robot: RobotName = None,
    camera: Annotated[str, option("--camera NAME", "side, front, chase, or a camera of the robot.")] = "side",
    pictures: Annotated[
        int, option("--pictures N", "How many pictures a strip has.", min=1, max=60)
    ] = PICTURES,
    speed: Speed = 1.0,
    size: Size = None,
    no_physics: Annotated[
        bool, option("--no-physics", "Show what is commanded, without gravity or weak servos.")
    ] = False,
    attitude: PutDown = None,
    friction: Friction = None,
    record: Record = None,
) -> None:
    """Film a motion as it is played under gravity: a strip of pictures, or a film.

    A strip shows the keyframes, or as many moments evenly spread, and in red what `motion check --physics`
    finds there. A film has 25 pictures a second, a gif 12.5.

    [bold]Examples[/]
      posewright motion film walk.motion.yaml
      posewright motion film walk.motion.yaml -o walk.png
      posewright motion film walk.motion.yaml -o walk.gif --size 320x240
      posewright motion film humanoid.mtn --page "F getup" --attitude 0 90 -o up.mp4 --speed 0.5
    """
    require_recording_path(record, file)
    if record is not None and no_physics:
        raise InputError("without physics there is nothing to record", hint="--record without --no-physics")
    motion = open_for_robot(file, robot).motion(page)
    output = film_path(output or Path(), motion.name)
    _refuse(output, pictures, speed, size_of(size))
    require_distinct_output(output, file)
    figures.require_camera(camera, {motion.robot: formats.robot_of_motion(motion).sensors})
    put_down = radians(attitude)
    with spinner(f"{motion.name}: playing") as on_progress:
        options = RenderOptions(camera, pictures, speed, size_of(size), filming(on_progress))
        result = None
        if not no_physics:
            result = runs.try_motion(motion, attitude=put_down, friction=friction)
            if record is not None:
                recordings.write_mcap(result.recording, record)
        _write(motion, result, output, put_down, options)
    print_line(f"{motion.name} -> {output}")


@dataclass(frozen=True)
class RenderOptions:
    """How a motion is shown."""

    camera: str  # who looks
    pictures: int  # of a strip, how many
    speed: float  # of a film, seconds of motion a second of film
    size: tuple[int, int] | None  # of a film, in pixels
    on_progress: Callable[[float], None]  # of a film, is called with the share done


def _refuse(output: Path, pictures: int, speed: float, size: tuple[int, int] | None) -> None:
    if _is_strip(output):
        figures.require_picture_count(pictures)
        figures.require_picture_path(output)
    elif output.suffix.lower() in figures.FILMS:
        figures.require_film_options(output, speed, size)
    else:
        hint = f".png, .svg, .pdf for a film strip, {', '.join(figures.FILMS)} for a film"
        raise InputError("neither a kind of picture nor of film", where=Where(output), hint=hint)


def _is_strip(output: Path) -> bool:
    return output.suffix.lower() in figures.PICTURES


def _write(
    motion: motions.Motion,
    result: evaluation.MotionResult | None,
    output: Path,
    attitude: tuple[float, float] | None,
    options: RenderOptions,
) -> None:
    """Show what became of a motion under gravity, or without a result, what is commanded."""
    if _is_strip(output):
        if result is None:
            strip = figures.draw_strip(
                motion, pictures=options.pictures, camera=options.camera, attitude=attitude
            )
        else:
            strip = figures.draw_strip(
                result.recording,
                result.robot,
                pictures=options.pictures,
                camera=options.camera,
                findings=result.findings,
            )
        figures.save_figure(strip, output)
    elif result is None:
        figures.film_motion(
            motion,
            output,
            attitude=attitude,
            camera=options.camera,
            speed=options.speed,
            size=options.size,
            on_progress=options.on_progress,
        )
    else:
        figures.film_recording(
            result.recording,
            output,
            camera=options.camera,
            speed=options.speed,
            size=options.size,
            begin_s=result.played.begin * result.played.frame_s,
            robots=result.robot,
            on_progress=options.on_progress,
        )
