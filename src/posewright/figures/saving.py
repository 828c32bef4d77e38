"""Figures as files: by their ending, whole or not at all; the same bytes for the same figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.documents import require_writable, write_atomically
from posewright.errors import InputError, Where
from posewright.figures.style import picture_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")

_SAVING = "saving a picture"

_SHARP_DPI = 192.0
_WIDEST = 1900
"""Of a picture on a screen: dots in an inch, and dots from edge to edge at most."""


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
    # no date and no version, so that the same figure gives the same bytes
    left_out = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}[suffix]
    metadata: dict[str, str | None] = {left_out: None}
    if label:
        metadata["Description" if suffix == ".png" else "Title"] = label
    stream = io.BytesIO()
    with picture_style(_SAVING):
        _settle(figure)
        figure.savefig(stream, format=suffix[1:], dpi="figure", metadata=metadata)
    return stream.getvalue()


def screen_png(figure: Figure) -> bytes:
    """Return a figure as a PNG for a page on a screen: sharp where pixels are small, of 256 colours."""
    dpi = min(_SHARP_DPI, _WIDEST / figure.get_figwidth())
    stream = io.BytesIO()
    picture = io.BytesIO()
    with picture_style(_SAVING):
        from PIL import Image

        figure.savefig(stream, format="rgba", dpi=dpi)
        size = tuple(int(side * dpi) for side in figure.get_size_inches())
        image = Image.frombuffer("RGBA", (size[0], size[1]), stream.getvalue()).convert("RGB")
        image.quantize(dither=Image.Dither.NONE).save(picture, "png")
    return picture.getvalue()


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
    require_writable(path)
    with picture_style(_SAVING):
        pass


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in PICTURES:
        hint = f"end it in one of {', '.join(PICTURES)}"
        raise InputError("not a kind of picture", where=Where(path), hint=hint)
    return suffix
