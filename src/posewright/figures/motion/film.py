"""The film of a motion, or its film strip."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from posewright.documents import refuse_unwritable
from posewright.errors import InputError, Where
from posewright.experiments.motion.show import Show, show_motion
from posewright.experiments.motion.stage import Attitude
from posewright.figures.encoder import SUFFIXES, check_encoder, encoder
from posewright.figures.motion.strip import PICTURES, draw_strip, refuse_undrawable
from posewright.motions import Motion
from posewright.robots import Robot

STRIP = ".png"
FPS = 25.0
FILM_SIZE = (640, 480)


def film_motion(
    motion: Motion,
    path: str | Path,
    robot: Robot | None = None,
    *,
    physics: bool = True,
    camera: str = "side",
    pictures: int = PICTURES,
    speed: float = 1.0,
    pose: str | None = None,
    attitude: Attitude | None = None,
    friction: float | None = None,
    tell: Callable[[float], None] | None = None,
) -> Show:
    """Make a film of a motion, or draw its film strip.

    Args:
        motion: what is shown.
        path: .png for a strip; .mp4, .mkv or .webm for a film of 25 pictures a second.
        robot: on what; default the motion's own.
        physics: whether it is played under gravity; else every joint is where it is commanded, and the base
            as the author says, or upright on whatever carries it.
        camera: `side`, `front`, `chase`, or another of the simulation's, or a camera sensor of the robot.
        pictures: of a strip, how many.
        speed: of a film, seconds of motion a second of film: 0.25 is slow motion.
        pose: name of the pose of the joints that the motion does not move; default `stand`.
        attitude: roll and pitch of the base the robot is put down with [rad], as in `try_motion`.
        friction: of the floor.
        tell: is told the share done, 0..1.

    Returns:
        What is shown; its `trial` holds what was found, where there was physics.

    Raises:
        InputError: a file ending that is no picture's and no film's, or something that `try_motion` refuses.
        UnknownNameError: no such robot, pose or camera.
        BodyError: the simulation failed.
        MissingExtraError: what draws strips or encodes films is not installed.
        UnavailableError: nothing can be drawn on this machine.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    is_strip = path.suffix.lower() == STRIP
    if is_strip:
        refuse_undrawable(pictures)
    else:
        _refuse_unfilmable(path, speed)
    refuse_unwritable(path)
    show = show_motion(motion, robot, physics=physics, pose=pose, attitude=attitude, friction=friction)
    if is_strip:
        draw_strip(show, path, pictures=pictures, camera=camera)
    else:
        _encode(show, path, camera=camera, speed=speed, tell=tell)
    return show


def _refuse_unfilmable(path: Path, speed: float) -> None:
    """Refuse what could not be filmed, before it is played."""
    if path.suffix.lower() not in SUFFIXES:
        hint = f"{STRIP} for a film strip, {', '.join(SUFFIXES)} for a film"
        raise InputError("neither a kind of picture nor of film", where=Where(path), hint=hint)
    check_encoder()
    if not (math.isfinite(speed) and 0.01 <= speed <= 100.0):
        raise InputError(f"the speed is {speed}", hint="0.01 to 100; 1 is as it is, 0.25 slow motion")


def _encode(
    show: Show, path: Path, *, camera: str, speed: float, tell: Callable[[float], None] | None
) -> None:
    from posewright.simulation import Film, World
    from posewright.simulation.cameras import framed

    step = speed / FPS
    rows = [show.row(time) for time in np.arange(0.0, show.times[-1] + step, step).tolist()]
    world = World(show.robot)
    moments = show.moments(world, rows)
    width, height = FILM_SIZE
    near = framed(world, moments, camera, width / height, steady=True)
    with (
        Film(world, width, height, camera, quick=True, close_up=near) as film,
        encoder(path, FILM_SIZE, FPS) as send,
    ):
        for count, moment in enumerate(moments, 1):
            send(np.ascontiguousarray(film.frame(*moment)))
            if tell is not None:
                tell(count / len(moments))
