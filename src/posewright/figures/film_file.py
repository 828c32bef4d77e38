"""Film files: encoded picture by picture, verified, and written completely or not at all."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

import numpy as np

from posewright.control.loop import sigterm_raises
from posewright.documents import require_ending, require_writable
from posewright.documents.files import atomic_replacement
from posewright.errors import InputError, MissingExtraError, OutputError

if TYPE_CHECKING:
    from posewright.simulation.film import Picture

FILMS: Final = (".mp4", ".gif", ".mkv", ".webm")

_YUV = ("-pix_fmt", "yuv420p")
_H264 = ("-vcodec", "libx264", "-preset", "veryfast", "-crf", "17", *_YUV)
"""The default preset takes as long as rendering, and its files are no smaller at this quality."""

_CODECS: Final = {
    ".mp4": (*_H264, "-movflags", "+faststart"),
    ".mkv": _H264,
    # WebM holds no H.264.
    ".webm": (
        *("-vcodec", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6"),
        *_YUV,
    ),
    # the palette is that of the first pictures, as keeping all would take a gigabyte for a race
    ".gif": (
        "-filter_complex",
        "split[a][b];[a]trim=end_frame=10,palettegen=stats_mode=full[p];[b][p]paletteuse=dither=bayer:bayer_scale=4",
    ),
}

MAX_PIXELS = 3840
"""Greatest width and height of a film [px]."""

_ERROR_LINES = 20
"""Number of the last lines of an encoder's errors that are kept."""

_FRAMES = re.compile(rb"^frame=\s*(\d+)$", re.MULTILINE)


def require_film_path(path: Path, size: tuple[int, int] = (2, 2)) -> None:
    """Raise as `film_file` does unless a film can be written to a path, to be called before long work."""
    require_ending(path, FILMS, "a film")
    if any(not 2 <= side <= MAX_PIXELS or side % 2 for side in size):
        raise InputError(
            f"unsupported film size {size[0]}x{size[1]}", hint=f"use even numbers from 2 to {MAX_PIXELS}"
        )
    require_writable(path)
    _find_encoder()  # raises if there is none


def _find_encoder() -> str:
    """Return the path of ffmpeg, or raise MissingExtraError."""
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError.for_extra("making a film", "video") from error


@contextlib.contextmanager
def film_file(path: Path, size: tuple[int, int], fps: float) -> Iterator[Callable[[Picture], None]]:
    """Open a film: yields a function that appends a picture, `(height, width, 3)` uint8.

    At the end of the block the film is verified by playing it, and then moved to `path`. On any error an
    existing file of that name stays, and no other file is left.

    Args:
        path: the path of the film: .mp4, .gif, .mkv or .webm.
        size: width and height in pixels, both even.
        fps: pictures a second.

    Raises:
        InputError: the suffix is no film's, or the size is out of range.
        MissingExtraError: the encoder is not installed.
        OutputError: the film cannot be written, for example as the disk is full.
    """
    require_film_path(path, size)
    suffix = path.suffix.lower()
    pictures = (f"{size[0]}x{size[1]}", "-r", f"{fps:g}", "-i", "-")
    source = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", *pictures)
    with sigterm_raises(), atomic_replacement(path, suffix=suffix) as (unfinished_path, _):
        command = [
            _find_encoder(),
            "-v",
            "error",
            "-y",
            *source,
            "-an",
            *_CODECS[suffix],
            str(unfinished_path),
        ]
        n_sent = 0
        with _run_encoder(command) as (encoder, read_error_lines):

            def write_picture(picture: Picture) -> None:
                """Send a picture to the encoder, or raise an OutputError with its message if it ended."""
                nonlocal n_sent
                n_sent += 1
                try:
                    _encoder_input(encoder).write(np.ascontiguousarray(picture).data)
                except BrokenPipeError as error:
                    raise OutputError.at(path, _failure_text(encoder, read_error_lines)) from error

            yield write_picture
            with contextlib.suppress(BrokenPipeError):  # reported by the exit code, too
                _encoder_input(encoder).close()
            if encoder.wait() != 0:
                raise OutputError.at(path, _failure_text(encoder, read_error_lines))
        n_playable = _count_pictures(unfinished_path)
        if n_playable != n_sent:
            message = f"the film does not play: it has {n_playable} of its {n_sent} pictures"
            raise OutputError.at(path, message)


def _encoder_input(encoder: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", encoder.stdin)  # it was started with one


@contextlib.contextmanager
def _run_encoder(command: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], list[str]]]]:
    """Run an encoder in a session of its own, so that Ctrl-C does not reach it; kill it at the end.

    Yields:
        The encoder, and a function that waits for its end and returns the lines of its errors.
    """
    encoder = subprocess.Popen(  # noqa: S603 -- no shell, our own
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=os.name == "posix",
    )
    lines: deque[str] = deque(maxlen=_ERROR_LINES)
    stderr = cast("IO[bytes]", encoder.stderr)  # it was started with one
    reader = threading.Thread(
        target=lambda: lines.extend(line.decode(errors="replace").strip() for line in stderr), daemon=True
    )
    reader.start()

    def read_error_lines() -> list[str]:
        reader.join()
        return list(filter(None, lines))

    try:
        yield encoder, read_error_lines
    finally:
        encoder.kill()
        with contextlib.suppress(BrokenPipeError):
            _encoder_input(encoder).close()
        encoder.wait()
        reader.join()
        stderr.close()


def _failure_text(encoder: subprocess.Popen[bytes], read_error_lines: Callable[[], list[str]]) -> str:
    """Wait for the end of a failing encoder, and return the cause as text."""
    code = encoder.wait()
    lines = read_error_lines()
    if code < 0:
        name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        causes = {
            "SIGXFSZ": "the file exceeds the size limit of this system",
            "SIGKILL": "the encoder was killed; is memory short?",
        }
        cause = causes.get(name, f"the encoder was ended by {name}")
    elif lines:
        cause = re.sub(r"^(\[[^]]*\]\s*)+", "", lines[0])
    else:
        cause = f"the encoder ended with code {code} and no message"
    return f"the film could not be encoded: {cause}"


def _count_pictures(film: Path) -> int:
    """Play a film from beginning to end, and return its number of pictures, 0 on an error."""
    to_nowhere = ("-map", "0:v:0", "-fps_mode", "passthrough", "-f", "null", "-progress", "pipe:1", "-")
    command = [_find_encoder(), "-v", "error", "-xerror", "-i", str(film), *to_nowhere]
    result = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)  # noqa: S603 -- as above
    numbers = _FRAMES.findall(result.stdout)
    return int(numbers[-1]) if numbers and result.returncode == 0 else 0
