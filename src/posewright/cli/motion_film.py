"""`posewright motion film`: renders a motion as a film or a film strip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from posewright import evaluation, figures, formats, motions, recordings, runs
from posewright.cli.console import print_line, spinner
from posewright.cli.film_options import Size, Speed, film_path, film_progress, parse_size
from posewright.cli.motion_options import (
    Attitude,
    Friction,
    MotionPath,
    Page,
    RobotName,
    open_for_robot,
    to_radians,
)
from posewright.cli.options import Record, option, require_distinct_output, require_recording_path
from posewright.documents import build_ending_error
from posewright.errors import InputError

DEFAULT_PICTURES = 12


def film(
    file: MotionPath,
    output: Annotated[
        Path | None,
        option(
            "--output -o FILM",
            "A film (.mp4, .gif, .mkv, .webm), a film strip (.png, .svg, .pdf), or a folder for a film. "
            "Default: MOTION.mp4.",
        ),
    ] = None,
    page: Page = None,
    robot: RobotName = None,
    camera: Annotated[
        str, option("--camera NAME", "side, front, chase, or one of the robot's own cameras.")
    ] = "side",
    pictures: Annotated[
        int, option("--pictures N", "Number of pictures in a strip.", min=1, max=60)
    ] = DEFAULT_PICTURES,
    speed: Speed = 1.0,
    size: Size = None,
    no_physics: Annotated[
        bool, option("--no-physics", "Show the commanded angles, without gravity and servo lag.")
    ] = False,
    attitude: Attitude = None,
    friction: Friction = None,
    record: Record = None,
) -> None:
    """Film a motion as it plays under gravity, as a film or as a strip of pictures.

    A strip shows the keyframes, or evenly spaced times if there are too many or too few, and marks findings
    of `motion check --physics` in red. A film has 25 pictures a second, a gif 12.5.

    [bold]Examples[/]
      posewright motion film walk.motion.yaml
      posewright motion film walk.motion.yaml -o walk.png
      posewright motion film walk.motion.yaml -o walk.gif --size 320x240
      posewright motion film humanoid.mtn --page "F getup" --attitude 0 90 -o up.mp4 --speed 0.5
    """
    require_recording_path(record, file)
    if record is not None and no_physics:
        raise InputError("--record needs physics", hint="leave out --no-physics, or --record")
    motion = open_for_robot(file, robot).motion(page)
    output = film_path(output or Path(), motion.name)
    size_px = parse_size(size)
    _require_valid_options(output, pictures, speed, size_px)
    require_distinct_output(output, file)
    figures.require_camera(camera, {motion.robot: formats.robot_of_motion(motion).sensors})
    attitude_rad = to_radians(attitude)
    with spinner(f"{motion.name}: playing") as show_status:
        options = RenderOptions(camera, pictures, speed, size_px, on_progress=film_progress(show_status))
        result = None
        if not no_physics:
            result = runs.try_motion(motion, attitude=attitude_rad, friction=friction)
            if record is not None:
                recordings.write_mcap(result.recording, record)
        _render(motion, result, output, attitude=attitude_rad, options=options)
    print_line(f"{motion.name} -> {output}")


@dataclass(frozen=True)
class RenderOptions:
    """How a motion is rendered.

    Attributes:
        camera: name of the camera.
        pictures: number of pictures in a strip.
        speed: seconds of motion per second of film.
        size_px: width and height of a film; None for the default.
        on_progress: called with the share of a film that is done.
    """

    camera: str
    pictures: int
    speed: float
    size_px: tuple[int, int] | None
    on_progress: Callable[[float], None]


def _require_valid_options(
    output: Path, pictures: int, speed: float, size_px: tuple[int, int] | None
) -> None:
    """Raise InputError if the file is neither a film nor a strip, or an option does not suit it."""
    if _is_strip(output):
        figures.require_picture_count(pictures)
        figures.require_picture_path(output)
    elif output.suffix.lower() in figures.FILMS:
        figures.require_film_options(output, speed, size_px)
    else:
        raise build_ending_error(output, (*figures.FILMS, *figures.PICTURES), "a film or a picture")


def _is_strip(output: Path) -> bool:
    return output.suffix.lower() in figures.PICTURES


def _render(
    motion: motions.Motion,
    result: evaluation.MotionResult | None,
    output: Path,
    attitude: tuple[float, float] | None,
    options: RenderOptions,
) -> None:
    """Render the result of a motion under gravity; without a result, the commanded angles."""
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
            size=options.size_px,
            on_progress=options.on_progress,
        )
    else:
        figures.film_recording(
            result.recording,
            output,
            camera=options.camera,
            speed=options.speed,
            size=options.size_px,
            begin_s=result.played_motion.first_frame
            * result.played_motion.frame_s,  # without the time it settles
            robots=result.robot,
            on_progress=options.on_progress,
        )
