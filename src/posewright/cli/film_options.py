"""Options of verbs that make films: camera, size, speed and file name."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from posewright import figures
from posewright.cli.options import option, require_distinct_output
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.recordings import Recording
    from posewright.robots import Robot

Video = Annotated[
    Path | None,
    option("--video FILM", "Make a film: a .mp4, .gif, .mkv or .webm file, or a folder to put it in."),
]
Camera = Annotated[
    str | None,
    option(
        "--camera NAME",
        "field, top, chase, side, front, or a camera of the robot. Default: chase, or side without a field.",
    ),
]
Speed = Annotated[
    float,
    option("--speed X", "Speed of the film: 2 is twice as fast, 0.25 is slow motion.", min=0.01, max=100.0),
]
Size = Annotated[
    str | None,
    option("--size WIDTHxHEIGHT", "Size of the film in pixels. Default: 960x540; 480x270 for a gif."),
]

DEFAULT_SUFFIX = ".mp4"
MOCK_BODY = "mock"


@dataclass(frozen=True)
class FilmOptions:
    """The options of a film of a run, validated by `read`.

    Attributes:
        path: the film's file.
        camera: name of the camera; None for the default.
        speed: recorded seconds per second of film.
        size_px: width and height; None for the default.
    """

    path: Path
    camera: str | None = None
    speed: float = 1.0
    size_px: tuple[int, int] | None = None

    @classmethod
    def read(
        cls,
        video: Path | None,
        camera: str | None = None,
        speed: float = 1.0,
        size: str | None = None,
        *,
        subject: str | Path,
        inputs: Iterable[str | Path | None] = (),
    ) -> FilmOptions | None:
        """Return validated film options; None if no film is requested.

        Args:
            video: value of `--video`: a file, or a folder, where the film is named after the subject.
            camera: value of `--camera`.
            speed: value of `--speed`.
            size: value of `--size`, such as `1280x720`.
            subject: name or file of what is filmed.
            inputs: input files of the run, which the film must not overwrite.

        Raises:
            InputError: there is a camera but no film, or the file has no suffix of a film.
            OutputError: the file cannot be written, or is one of the `inputs`.
        """
        size_px = parse_size(size)
        if video is None:
            if camera is not None:
                raise InputError(
                    "--camera has no effect without a film", hint="add --video FILE, or leave --camera out"
                )
            return None
        path = film_path(video, subject)
        figures.require_film_options(path, speed, size_px)
        require_distinct_output(path, *inputs)
        return cls(path, camera, speed, size_px)

    def require_filmable(self, robot: Robot, body: str) -> None:
        """Raise an error if the robot lacks the camera, or the body has no base pose to draw."""
        if self.camera is not None:
            figures.require_camera(self.camera, {robot.name: robot.sensors})
        if body == MOCK_BODY:
            raise InputError("a mock body cannot be filmed: it has no ground truth", hint="use --body sim")

    def make(self, recording: Recording, show_status: Callable[[str], None]) -> None:
        """Film a recording; `show_status` is called with the progress as text."""
        figures.film_recording(
            recording,
            self.path,
            camera=self.camera,
            speed=self.speed,
            size=self.size_px,
            on_progress=film_progress(show_status),
        )


def film_path(video: Path, subject: str | Path) -> Path:
    """Return a film's path: the file `video`, or in the folder `video` a file named after the subject."""
    if not video.is_dir():
        return video
    name = re.sub(r"[^\w.-]+", "_", Path(subject).name.split(".")[0])
    return video / f"{name or 'film'}{DEFAULT_SUFFIX}"


def parse_size(text: str | None) -> tuple[int, int] | None:
    """Return width and height of a text such as `1280x720`; None for None.

    Raises:
        InputError: the text is no size.
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text.strip().lower())
    if match is None:
        raise InputError(f"--size {text} is not a size", hint="width and height in pixels, such as 1280x720")
    return int(match[1]), int(match[2])


def film_progress(
    show_status: Callable[[str], None], clock: Callable[[], float] = time.perf_counter
) -> Callable[[float], None]:
    """Return a function that takes the share of a film that is done, and shows it with the time left."""
    started_s = clock()

    def on_progress(share: float) -> None:
        if share <= 0.0:
            return
        remaining_s = (clock() - started_s) * (1.0 / share - 1.0)
        minutes, seconds = divmod(round(remaining_s), 60)
        show_status(f"filming: {share:.0%}, {minutes}:{seconds:02} left")

    return on_progress
