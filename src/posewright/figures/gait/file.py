"""Pictures of gaits as files: by their ending, whole or not at all, the same bytes for the same gait."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.documents import write_atomically
from posewright.errors import InputError, MissingExtraError, Where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")


def save_drawing(draw: Callable[[], Figure], path: str | Path, *, text: str = "", dpi: int = 150) -> None:
    """Draw and write a picture.

    Args:
        draw: makes it; called once the ending is known to be right and matplotlib to be there.
        path: ends in .png, .svg or .pdf.
        text: what a .png says of itself, to be read by programs.
        dpi: dots of a .png [1/in].

    Raises:
        InputError: another ending.
        MissingExtraError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            "not a kind of picture", where=Where(path), hint=f"end it in one of {', '.join(SUFFIXES)}"
        )
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingExtraError.for_extra("drawing a gait", "plot") from error
    kept: dict[str, dict[str, Any]] = {  # no date and no version: the same gait gives the same bytes
        ".png": {"Software": None, **({"Description": text} if text else {})},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "posewright", "font.size": 8.0}):
        draw().savefig(stream, format=suffix[1:], dpi=dpi, metadata=kept[suffix])
    write_atomically(path, stream.getvalue())
