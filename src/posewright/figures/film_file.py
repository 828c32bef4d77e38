"""Films as files: encoded while their pictures come, looked through, and put in place whole or not at all."""

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
from posewright.documents import require_writable
from posewright.documents.files import atomic_replacement
from posewright.errors import InputError, MissingExtraError, OutputError, Where

if TYPE_CHECKING:
    from posewright.simulation.film import Picture

FILMS: Final = (".mp4", ".gif", ".mkv", ".webm")

_YUV = ("-pix_fmt", "yuv420p")
_H264 = ("-vcodec", "libx264", "-preset", "veryfast", "-crf", "17", *_YUV)
"""The default preset takes as long as drawing does, and its files are no smaller at this quality."""

_CODECS: Final = {
    ".mp4": (*_H264, "-movflags", "+faststart"),
    ".mkv": _H264,
    # WebM holds no H.264.
    ".webm": (
        *("-vcodec", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6"),
        *_YUV,
    ),
    # The first pictures say which 256 colours: to wait for all would take a gigabyte for a race.
    ".gif": (
        "-filter_complex",
        "split[a][b];[a]trim=end_frame=10,palettegen=stats_mode=full[p];[b][p]paletteuse=dither=bayer:bayer_scale=4",
    ),
}

MOST_PIXELS = 3840
"""Of a film's width and height."""

_ERROR_LINES = 20
"""So many of the last lines of an encoder's errors are read."""

_FRAMES = re.compile(rb"^frame=\s*(\d+)$", re.MULTILINE)


def refuse_unfilmable(path: Path, size: tuple[int, int] = (2, 2)) -> None:
    """Say before long work, not after it, that a film could not be written there; raises as `film_file`."""
    if path.suffix.lower() not in FILMS:
        raise InputError("not a kind of film", where=Where(path), hint=f"one of {', '.join(FILMS)}")
    if any(not 2 <= side <= MOST_PIXELS or side % 2 for side in size):
        message = f"no film is {size[0]} x {size[1]}"
        raise InputError(message, hint=f"even numbers up to {MOST_PIXELS}")
    require_writable(path)
    _encoder()


def _encoder() -> str:
    """Return the path of ffmpeg; refuse where it is not installed."""
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError.for_extra("making a film", "video") from error


@contextlib.contextmanager
def film_file(path: Path, size: tuple[int, int], fps: float) -> Iterator[Callable[[Picture], None]]:
    """Give a function that takes pictures, `(height, width, 3)` uint8; the film is there when all are in.

    It is put in place when it has been played from beginning to end and had every picture. Whatever goes
    wrong, what stood under that name before is still there, and nothing else.

    Args:
        path: where to: .mp4, .gif, .mkv or .webm.
        size: width and height in pixels, both even.
        fps: pictures a second.

    Raises:
        InputError: no film has that ending or that size.
        MissingExtraError: what encodes films is not installed.
        OutputError: the film cannot be written: a full disk, for one.
    """
    refuse_unfilmable(path, size)
    suffix = path.suffix.lower()
    pictures = (f"{size[0]}x{size[1]}", "-r", f"{fps:g}", "-i", "-")
    source = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", *pictures)
    with sigterm_raises(), atomic_replacement(path, suffix=suffix) as (unfinished, _):
        command = [_encoder(), "-v", "error", "-y", *source, "-an", *_CODECS[suffix], str(unfinished)]
        n_sent = 0
        with _running(command) as (encoder, error_lines):

            def send(picture: Picture) -> None:
                nonlocal n_sent
                n_sent += 1
                try:
                    _pipe(encoder).write(np.ascontiguousarray(picture).data)
                except BrokenPipeError as error:
                    raise OutputError.at(path, _error_words(encoder, error_lines)) from error

            yield send
            with contextlib.suppress(BrokenPipeError):  # its exit code says so too
                _pipe(encoder).close()
            if encoder.wait() != 0:
                raise OutputError.at(path, _error_words(encoder, error_lines))
        playable = _pictures_in(unfinished)
        if playable != n_sent:
            message = f"the film does not play: {playable} of its {n_sent} pictures are there"
            raise OutputError.at(path, message)


def _pipe(encoder: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", encoder.stdin)  # it was started with one


@contextlib.contextmanager
def _running(command: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], list[str]]]]:
    """Run an encoder, which Ctrl-C does not reach; it is killed when the block ends.

    With it comes a function that waits for its end and returns the lines of its errors.
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

    def error_lines() -> list[str]:
        reader.join()
        return list(filter(None, lines))

    try:
        yield encoder, error_lines
    finally:
        encoder.kill()
        with contextlib.suppress(BrokenPipeError):
            _pipe(encoder).close()
        encoder.wait()
        reader.join()
        stderr.close()


def _error_words(encoder: subprocess.Popen[bytes], error_lines: Callable[[], list[str]]) -> str:
    """Wait for the end of an encoder that fails, and return in words why it does."""
    code = encoder.wait()
    lines = error_lines()
    if code < 0:
        name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        causes = {"SIGXFSZ": "no file may be so large here", "SIGKILL": "it was killed; is memory short?"}
        cause = causes.get(name, f"it was ended by {name}")
    else:
        cause = (
            re.sub(r"^(\[[^]]*\]\s*)+", "", lines[0]) if lines else f"it ended with code {code} in silence"
        )
    return f"the film could not be encoded: {cause}"


def _pictures_in(film: Path) -> int:
    """Play a film from beginning to end, and return how many pictures it has."""
    to_nowhere = ("-map", "0:v:0", "-fps_mode", "passthrough", "-f", "null", "-progress", "pipe:1", "-")
    command = [_encoder(), "-v", "error", "-xerror", "-i", str(film), *to_nowhere]
    result = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)  # noqa: S603 -- as above
    numbers = _FRAMES.findall(result.stdout)
    return int(numbers[-1]) if numbers and result.returncode == 0 else 0
