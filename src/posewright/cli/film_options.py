"""Options of verbs that make films: who looks, how large, how fast, and how the film is called."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from posewright.cli.options import option
from posewright.errors import InputError
from posewright.figures import refuse_camera
from posewright.runs.plants import MOCK

if TYPE_CHECKING:
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


def film_path(given: Path, shown: str | Path) -> Path:
    """Return where a film goes: to a file, or into a folder under the name of what is shown."""
    name = re.sub(r"[^\w.-]+", "_", Path(shown).name.split(".")[0])
    return given / f"{name or 'film'}{ENDING}" if given.is_dir() else given


def size_of(text: str | None) -> tuple[int, int] | None:
    """Return width and height that were asked for; None for the default."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text.strip().lower())
    if found is None:
        raise InputError(f"--size {text}", hint="width and height in pixels, such as 1280x720")
    return int(found[1]), int(found[2])


def refuse_unused_camera(camera: str | None, video: Path | None) -> None:
    """Refuse a camera where no film is made."""
    if camera is not None and video is None:
        raise InputError("no film is made that --camera could be for", hint="--video FILE makes one")


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


def refuse_unfilmable(robot: Robot, body: str, camera: str | None) -> None:
    """Refuse a camera that is not there, and a film of a robot that nobody sees."""
    if camera is not None:
        refuse_camera(camera, {robot.name: robot.sensors})
    if body == MOCK:
        raise InputError(f"there is nothing to film: {body} does not know where it is")
