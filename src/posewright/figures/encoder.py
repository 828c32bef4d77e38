"""What makes films: pictures go in one by one, and the film appears under its name when all are in."""

from __future__ import annotations

import contextlib
import importlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from posewright.errors import InputError, MissingExtraError, Where

SUFFIXES = (".mp4", ".mkv", ".webm")


def check_film_path(path: Path) -> None:
    """Refuse a path that no film can be written to, before anything is drawn.

    Raises:
        InputError: a file ending that is no film's, or a folder that does not exist.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError("not a kind of film", where=Where(path), hint=f"one of {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise InputError("the folder does not exist", where=Where(path))


def check_encoder() -> None:
    """Refuse to begin a film that nothing could encode.

    Raises:
        MissingExtraError: what encodes films is not installed.
    """
    try:
        importlib.import_module("imageio_ffmpeg")
    except ImportError as error:
        raise MissingExtraError.for_extra("making a film", "video") from error


@contextlib.contextmanager
def encoder(path: Path, size: tuple[int, int], fps: float) -> Iterator[Callable[[Any], None]]:
    """Give a function that takes pictures; the film appears under its name when all are in.

    Args:
        path: where to: .mp4, .mkv or .webm.
        size: width and height in pixels, both even.
        fps: pictures a second.

    Raises:
        MissingExtraError: what encodes films is not installed.
    """
    check_encoder()
    import imageio_ffmpeg

    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        unfinished = Path(folder) / path.name
        writer = imageio_ffmpeg.write_frames(str(unfinished), size, fps=fps, macro_block_size=2, quality=7)
        writer.send(None)
        try:
            yield writer.send
        finally:
            writer.close()
        unfinished.replace(path)
