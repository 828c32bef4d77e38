"""Options of verbs that make films: who looks, how large, how fast, and how the film is called."""

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
    option("--video FILM", "Make a film: a .mp4, .gif, .mkv or .webm, or a folder, where it gets a name."),
]
Camera = Annotated[
    str | None,
    option(
        "--camera NAME",
        "field, top, chase, side, front, or a camera of the robot; default field, or side without one.",
    ),
]
Speed = Annotated[
    float, option("--speed X", "Of a film: 2 is twice as fast, 0.25 slow motion.", min=0.01, max=100.0)
]
Size = Annotated[
    str | None, option("--size WIDTHxHEIGHT", "Of a film, in pixels; default 960x540, of a gif 480x270.")
]

ENDING = ".mp4"
MOCK = "mock"


@dataclass(frozen=True)
class FilmOptions:
    """A film that is to be made of a run; it can be made when `read` has returned it.

    Attributes:
        path: where it goes.
        camera: who films; None for the default.
        speed: recorded seconds a second of film.
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
        """Return the film that options ask for; None where they ask for none.

        Args:
            video: where it goes: a file, or a folder, where it is called after the subject.
            camera: as the option gives it.
            speed: as the option gives it.
            size: as the option gives it: `1280x720`.
            subject: name or file of what is filmed.
            inputs: files that are read, and are not written over.

        Raises:
            InputError: there is a camera and no film, or the file is no kind of film.
            OutputError: it cannot be written, or is one of the `inputs`.
        """
        size_px = size_of(size)
        if video is None:
            if camera is not None:
                raise InputError("no film is made that --camera could be for", hint="--video FILE makes one")
            return None
        path = film_path(video, subject)
        figures.require_film_options(path, speed, size_px)
        require_distinct_output(path, *inputs)
        return cls(path, camera, speed, size_px)

    def refuse_unseen(self, robot: Robot, body: str) -> None:
        """Refuse a camera that the robot has not, and a body that does not know where it is."""
        if self.camera is not None:
            figures.require_camera(self.camera, {robot.name: robot.sensors})
        if body == MOCK:
            raise InputError(f"there is nothing to film: {body} does not know where it is")

    def make(self, recording: Recording, say: Callable[[str], None]) -> None:
        """Film a recording; `say` is told how far it is."""
        figures.film_recording(
            recording,
            self.path,
            camera=self.camera,
            speed=self.speed,
            size=self.size_px,
            on_progress=filming(say),
        )


def film_path(video: Path, subject: str | Path) -> Path:
    """Return where a film goes: to a file, or into a folder under the name of its subject."""
    name = re.sub(r"[^\w.-]+", "_", Path(subject).name.split(".")[0])
    return video / f"{name or 'film'}{ENDING}" if video.is_dir() else video


def size_of(text: str | None) -> tuple[int, int] | None:
    """Return width and height of `1280x720`; None for the default."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text.strip().lower())
    if match is None:
        raise InputError(f"--size {text}", hint="width and height in pixels, such as 1280x720")
    return int(match[1]), int(match[2])


def filming(
    say: Callable[[str], None], clock: Callable[[], float] = time.perf_counter
) -> Callable[[float], None]:
    """Return a function that tells how far a film is, and how long it will take."""
    began = clock()

    def tell(share: float) -> None:
        if share <= 0.0:
            return
        minutes, seconds = divmod(round((clock() - began) * (1.0 / share - 1.0)), 60)
        say(f"filming: {share:.0%}, {minutes}:{seconds:02} left")

    return tell
