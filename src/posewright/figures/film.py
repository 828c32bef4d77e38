"""Films of recordings, and of motions without physics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posewright.errors import InputError, UnknownNameError
from posewright.figures.film_file import film_file, require_film_path
from posewright.figures.playback import Attitude, Playback, Poses, playback_of_motion, playback_of_recording
from posewright.figures.style import channels_of, colours_of
from posewright.motions import Motion
from posewright.recordings import Recording
from posewright.robots import Robot, SensorSpec

if TYPE_CHECKING:
    from posewright.simulation.cameras import CloseUp
    from posewright.simulation.film import Picture

FPS = 25.0
SIZE = (960, 540)
"""Default pictures a second of a film, and their size in pixels."""

GIF_FPS = 12.5
GIF_SIZE = (480, 270)
"""Defaults of a GIF, which would be too large otherwise: it compresses each picture on its own."""

_CLOSE_UP_POSES = 40
"""Number of poses from which the distance of a close-up camera is computed."""


def film_recording(
    recording: Recording,
    path: str | Path,
    *,
    camera: str | None = None,
    speed: float = 1.0,
    size: tuple[int, int] | None = None,
    fps: float | None = None,
    begin_s: float = 0.0,
    end_s: float = math.inf,
    robots: Mapping[str, Robot] | Robot | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> None:
    """Make a film of a recording: a race, a walk, a motion, several robots.

    Args:
        recording: the recording to be filmed.
        path: the path of the film: .mp4, .gif, .mkv or .webm.
        camera: `field`, `top`, `chase`, `side`, `front`, or a camera sensor of the robot; default `chase`,
            and `side` if there is no field.
        speed: recorded seconds a second of film: 0.25 is slow motion.
        size: width and height in pixels, both even; default 960 x 540, of a .gif 480 x 270.
        fps: pictures a second of film; default 25, of a .gif 12.5.
        begin_s: beginning of the film in the recording [s].
        end_s: latest end of the film in the recording [s].
        robots: cards of robots that are not shipped, as in `recorded_world`.
        on_progress: called with the share done, 0..1.

    Raises:
        InputError: the suffix is no film's, speed or size are out of range, or the recording has no positions
            of a robot, or a robot that is not shipped.
        UnknownNameError: there is no such camera.
        UnavailableError: this machine cannot render.
        OutputError: the film cannot be written.
    """
    path = Path(path)
    require_film_options(path, speed, size)
    playback = playback_of_recording(recording, robots)
    begin_s = max(begin_s, playback.begin_s)
    end_s = min(end_s, playback.end_s)
    playback = replace(playback, begin_s=begin_s, end_s=max(begin_s, end_s))
    camera = camera or ("chase" if recording.header.arena else "side")
    _write_film(playback, path, camera=camera, speed=speed, size=size, fps=fps, on_progress=on_progress)


def film_motion(
    motion: Motion,
    path: str | Path,
    robot: Robot | str | None = None,
    *,
    pose: str | None = None,
    attitude: Attitude | None = None,
    camera: str = "side",
    speed: float = 1.0,
    size: tuple[int, int] | None = None,
    fps: float | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> None:
    """Make a film of a motion without physics: every joint where it is commanded.

    A motion under gravity is recorded by `runs.try_motion`, and filmed by `film_recording`.

    Args:
        motion: the motion to be filmed.
        path: the path of the film: .mp4, .gif, .mkv or .webm.
        robot: the robot that moves, or its name; default the motion's own.
        pose: name of the pose of the joints that the motion does not move; default `stand`.
        attitude: roll and pitch of the base [rad]; default those in the motion, else upright.
        camera: as in `film_recording`.
        speed: seconds of motion a second of film.
        size: width and height in pixels.
        fps: pictures a second of film.
        on_progress: called with the share done.

    Raises:
        InputError: as `film_recording`, or the motion is another robot's, or the robot has no model. Other
            errors are as there.
    """
    path = Path(path)
    require_film_options(path, speed, size)
    playback = playback_of_motion(motion, robot, pose=pose, attitude=attitude)
    _write_film(playback, path, camera=camera, speed=speed, size=size, fps=fps, on_progress=on_progress)


def require_film_options(path: Path, speed: float = 1.0, size: tuple[int, int] | None = None) -> None:
    """Raise as `film_recording` does unless a film can be made with these options, before long work."""
    require_film_path(path, size or SIZE)
    if not (math.isfinite(speed) and 0.01 <= speed <= 100.0):
        raise InputError(f"the speed is {speed}", hint="0.01 to 100; 1 is real time, 0.25 slow motion")


def require_camera(camera: str, sensors: Mapping[str, Iterable[SensorSpec]]) -> None:
    """Raise unless there is a camera of a name: one that every film has, or a camera sensor of a robot.

    Args:
        camera: its name.
        sensors: the sensors of the robots, by name.

    Raises:
        UnknownNameError: there is no such camera; the message lists those there are.
    """
    from posewright.simulation.cameras import camera_names

    cameras = camera_names(sensors)
    if camera not in cameras:
        raise UnknownNameError.among("camera", camera, cameras)


def _write_film(
    playback: Playback,
    path: Path,
    *,
    camera: str,
    speed: float,
    size: tuple[int, int] | None,
    fps: float | None,
    on_progress: Callable[[float], None] | None,
) -> None:
    """Render the frames of a film and encode them.

    Args:
        playback: what is filmed, from its `begin_s` to its `end_s`.
        path: the path of the film.
        camera: as in `film_recording`.
        speed: seconds of the playback a second of film.
        size: width and height in pixels; None for the default, which is smaller for a GIF.
        fps: pictures a second of film; None for the default, likewise.
        on_progress: called with the share done, 0..1.
    """
    is_gif = path.suffix.lower() == ".gif"
    fps = fps or (GIF_FPS if is_gif else FPS)
    size = size or (GIF_SIZE if is_gif else SIZE)
    step_s = speed / fps  # of the playback, from one picture to the next
    poses = playback.poses_at(
        np.arange(playback.begin_s, playback.end_s + step_s, step_s)
    )  # including the end
    with (
        open_renderer(playback, poses, camera, size, fps) as render_row,
        film_file(path, size, fps) as encode_picture,
    ):
        for row in range(len(poses.times)):
            encode_picture(render_row(row))
            if on_progress is not None:
                on_progress((row + 1) / len(poses.times))


@contextmanager
def open_renderer(
    playback: Playback, poses: Poses, camera: str, size: tuple[int, int], fps: float | None = None
) -> Iterator[Callable[[int], Picture]]:
    """Open a renderer: a function that returns a camera's picture of the n-th poses.

    Pictures are `(height, width, 3)` uint8.

    Args:
        playback: the playback with the world.
        poses: one for each picture.
        camera: as in `film_recording`.
        size: the size of the pictures, width and height.
        fps: pictures a second of a film; None for single pictures, which are rendered in better quality.

    Raises:
        UnknownNameError: there is no such camera.
        UnavailableError: this machine cannot render.
    """
    from posewright.simulation import Film
    from posewright.simulation.camera_path import plan_camera_path
    from posewright.simulation.cameras import FilmCamera

    width, height = size
    is_film = fps is not None
    close_up = plan_close_up(playback, poses, camera, aspect=width / height, is_steady=is_film)
    first_base = next(iter(poses.base_poses.values()))
    if close_up is None:
        views = None
    else:
        views = plan_camera_path(
            playback.world.arena, camera, close_up=close_up, base=first_base, boxes=poses.boxes, fps=fps
        )
    tints = {}
    if len(poses.base_poses) > 1 and camera in {view.value for view in FilmCamera}:
        # as in other pictures; a robot's own camera sees the colours that its program sees
        tints = {name: channels_of(colour) for name, colour in colours_of(poses.base_poses).items()}
    with Film(playback.world, width, height, camera, quick=is_film, close_up=close_up, tints=tints) as film:

        def render_row(row: int) -> Picture:
            """Return the picture of the poses in a row."""
            robots = {
                name: (base[row], poses.joint_angles[name][row]) for name, base in poses.base_poses.items()
            }
            lights = {
                name: {led: colours[row] for led, colours in leds.items()}
                for name, leds in poses.lights.items()
            }
            return film.frame(robots, poses.boxes[row], None if views is None else views[row], lights)

        yield render_row


def plan_close_up(
    playback: Playback, poses: Poses, camera: str, aspect: float, *, is_steady: bool
) -> CloseUp | None:
    """Return the close-up of a camera that follows the robot: all of it, from as near as possible.

    In a field the camera keeps a default distance, so that the field is seen too. With several robots it
    does not follow, but sees everywhere they ever are.

    Args:
        playback: the playback with the world.
        poses: the poses that are shown.
        camera: its name.
        aspect: width over height.
        is_steady: follow smoothly, as in a film; else centre the robot in each picture.

    Returns:
        None for a camera that does not follow.
    """
    from posewright.simulation.cameras import close_up_on, close_up_on_all, close_up_on_poses

    first_robot = next(iter(playback.world.instances.values()))
    if len(poses.base_poses) > 1:
        return close_up_on_all(playback.world, np.concatenate([*poses.base_poses.values()])[:, :2], aspect)
    if playback.world.arena is not None:
        return close_up_on(first_robot)
    (base,) = poses.base_poses.values()
    (joints,) = poses.joint_angles.values()
    step = max(1, len(base) // _CLOSE_UP_POSES)
    sampled_poses = [*zip(base[::step], joints[::step], strict=True)]
    return close_up_on_poses(playback.world, sampled_poses, camera, aspect, steady=is_steady)
