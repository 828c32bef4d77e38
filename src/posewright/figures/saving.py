"""Figures and films as files: by their ending, whole or not at all; the same bytes for the same figure."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import numpy as np

from posewright.control.loop import sigterm_raises
from posewright.documents import refuse_unwritable, write_atomically
from posewright.errors import InputError, MissingExtraError, OutputError, Where
from posewright.figures.style import picture_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILMS: Final = (".mp4", ".mkv", ".webm")

_H264 = ("-vcodec", "libx264", "-crf", "15")
_VP9 = ("-vcodec", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6")
"""WebM holds no H.264."""
_COLOURS = ("-pix_fmt", "yuv420p")

MOST_PIXELS = 3840
"""Of a film's width and height."""


def refuse_unfilmable(path: Path) -> None:
    """Say before long work, not after it, that a film could not be written there; raises as `film_file`."""
    if path.suffix.lower() not in FILMS:
        raise InputError("not a kind of film", where=Where(path), hint=f"one of {', '.join(FILMS)}")
    refuse_unwritable(path)
    _encoder()


def _encoder() -> str:
    """Return the path of ffmpeg; refuse where it is not installed."""
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError.for_extra("making a film", "video") from error


@contextlib.contextmanager
def film_file(path: Path, size: tuple[int, int], fps: float) -> Iterator[Callable[[Any], int]]:
    """Give a function that takes pictures, `(height, width, 3)` uint8; the film is there when all are in.

    Whatever goes wrong, what stood under that name before is still there, and nothing else.

    Args:
        path: where to: .mp4, .mkv or .webm.
        size: width and height in pixels, both even.
        fps: pictures a second.

    Raises:
        InputError: no film has that ending or that size.
        MissingExtraError: what encodes films is not installed.
        OutputError: the film cannot be written: a full disk, for one.
    """
    refuse_unfilmable(path)
    width, height = size
    if any(not 2 <= side <= MOST_PIXELS or side % 2 for side in size):
        raise InputError(f"no film is {width} x {height}", hint=f"even numbers up to {MOST_PIXELS}")
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".{target.stem[:40]}.{secrets.token_hex(8)}{target.suffix.lower()}")
    codec = _VP9 if unfinished.suffix == ".webm" else _H264
    source = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-")
    command = [_encoder(), "-v", "error", "-y", *source, "-an", *codec, *_COLOURS, str(unfinished)]
    with contextlib.ExitStack() as stack:
        complaints = stack.enter_context(tempfile.TemporaryFile())
        stack.enter_context(sigterm_raises())
        stack.callback(unfinished.unlink, missing_ok=True)
        encoder = stack.enter_context(_running(command, complaints))
        try:
            yield lambda picture: _pipe(encoder).write(np.ascontiguousarray(picture).data)
            _pipe(encoder).close()
            is_done = encoder.wait() == 0
        except BrokenPipeError:
            is_done = False
        if not is_done:
            raise OutputError.at(path, f"the film could not be encoded: {_last_line(complaints)}")
        try:
            unfinished.replace(target)
        except OSError as error:
            raise OutputError.at(path, error.strerror or str(error)) from error


def _pipe(encoder: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", encoder.stdin)  # it was started with one


@contextlib.contextmanager
def _running(command: list[str], complaints: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run an encoder, which Ctrl-C does not reach; in the end it runs no more."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": complaints}
    encoder = subprocess.Popen(command, **pipes, start_new_session=os.name == "posix")  # noqa: S603 -- no shell, our own
    try:
        yield encoder
    finally:
        encoder.kill()
        with contextlib.suppress(BrokenPipeError):
            _pipe(encoder).close()
        encoder.wait()


def _last_line(complaints: Any) -> str:
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "the encoder says nothing"


PICTURES = (".png", ".svg", ".pdf")

_SAVING = "saving a picture"


def save_figure(figure: Figure, path: str | Path) -> None:
    """Save a figure as a PNG, SVG or PDF file, by the file's ending.

    The figure's label, where it has one, becomes the file's title.

    Args:
        figure: as a `draw_*` function returns it, or any other of matplotlib's; its own `dpi` counts.
        path: where to.

    Raises:
        InputError: the file's ending is none of the three.
        MissingExtraError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    write_atomically(path, picture_bytes(figure, _suffix(path)))


def picture_bytes(figure: Figure, suffix: str) -> bytes:
    """Return what the file of a figure holds, by its ending: of the same figure the same."""
    label = str(figure.get_label())
    kept: dict[str, dict[str, Any]] = {  # no date, so that the same figure gives the same bytes
        ".png": {"Software": None, "Description": label},
        ".svg": {"Date": None, "Title": label},
        ".pdf": {"CreationDate": None, "Title": label},
    }
    metadata = {key: value for key, value in kept[suffix].items() if value != ""}
    stream = io.BytesIO()
    with picture_style(_SAVING):
        _settle(figure)
        figure.savefig(stream, format=suffix[1:], dpi="figure", metadata=metadata)
    return stream.getvalue()


def _settle(figure: Figure) -> None:
    """Lay the figure out for good, in places rounded to a thousandth of a pixel or so.

    The solver of constrained layout sums in the order in which its variables lie in memory, and SVG names its
    clipping rectangles by every bit of them.
    """
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for axes in figure.axes:
            left, low, width, height = (round(side, 6) for side in axes.get_position(original=True).bounds)
            axes.set_position((left, low, width, height))


def refuse_unsavable(path: Path) -> None:
    """Say before long work, not after it, that a picture could not be saved there; as `save_figure` does."""
    _suffix(path)
    refuse_unwritable(path)
    with picture_style(_SAVING):
        pass


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in PICTURES:
        hint = f"end it in one of {', '.join(PICTURES)}"
        raise InputError("not a kind of picture", where=Where(path), hint=hint)
    return suffix
