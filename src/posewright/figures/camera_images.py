"""Pictures of robots' cameras, rendered from the rows of a recording, to be written into its file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from posewright.errors import MissingExtraError, UnknownNameError
from posewright.figures.film import open_renderer
from posewright.figures.playback import CAMERAS, playback_of_recording
from posewright.recordings import Header, Recording, Topic
from posewright.recordings.cdr import to_ns
from posewright.recordings.views import compressed_images

if TYPE_CHECKING:
    from posewright.simulation.film import Picture

RATE_HZ = 5.0
"""Default pictures a second of a camera."""

_QUALITY = 90


def cameras_of(header: Header) -> dict[str, tuple[str, str]]:
    """Return the robots' cameras by name, each as robot and sensor.

    With several robots a name is the robot's and the sensor's, joined by a slash.
    """
    has_several_robots = len(header.robots) > 1
    return {
        f"{robot}/{name}" if has_several_robots else name: (robot, name)
        for robot, robot_header in header.robots.items()
        for name, sensor_card in robot_header.sensors.items()
        if sensor_card.get("kind") in CAMERAS
    }


def require_cameras(header: Header, cameras: Sequence[str]) -> None:
    """Raise unless the robots of a recording have the cameras.

    Raises:
        UnknownNameError: there is no camera of a name.
    """
    choices = cameras_of(header)
    for camera in cameras:
        if camera not in choices:
            raise UnknownNameError.among("camera", camera, choices)


def camera_topics(
    recording: Recording, cameras: Sequence[str], *, on_progress: Callable[[float], None] | None = None
) -> tuple[Topic, ...]:
    """Render the pictures of cameras as JPEG topics for `write_mcap`; the recording is not changed.

    Args:
        recording: the recording with the positions of all robots.
        cameras: names as in `cameras_of`; each takes as many pictures a second as its card says.
        on_progress: called with the share done, 0..1.

    Raises:
        InputError: the recording has no positions of a robot, or a robot that is not shipped.
        UnknownNameError: there is no such camera.
        UnavailableError: this machine cannot render.
        MissingExtraError: the JPEG encoder is not installed.
    """
    require_cameras(recording.header, cameras)
    if not cameras:
        return ()
    playback = playback_of_recording(recording)
    topics = []
    for camera_index, camera in enumerate(cameras):
        robot, sensor = cameras_of(recording.header)[camera]
        sensor_card = recording.header.robots[robot].sensors[sensor]
        rate_hz = float(sensor_card.get("frame_rate_hz") or sensor_card.get("rate_hz") or RATE_HZ)
        times = np.arange(playback.begin_s, playback.end_s + 1e-9, 1.0 / rate_hz)  # including the end
        jpeg_images = []
        size = (sensor_card["width"], sensor_card["height"])
        with open_renderer(playback, playback.poses_at(times), camera, size, fps=rate_hz) as render_row:
            for row in range(len(times)):
                jpeg_images.append(_jpeg(render_row(row)))
                if on_progress is not None:
                    on_progress((camera_index + (row + 1) / len(times)) / len(cameras))
        topics.append(compressed_images(robot, camera=sensor, times_ns=to_ns(times), images=jpeg_images))
    return tuple(topics)


def _jpeg(picture: Picture) -> bytes:
    """Return a picture as JPEG; raise a MissingExtraError without Pillow."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError.for_extra("packing pictures", "plot") from error
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "JPEG", quality=_QUALITY)
    return stream.getvalue()
