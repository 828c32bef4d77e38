"""Saving of figures: by suffix, completely or not at all, and the same bytes for the same figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.documents import require_ending, require_writable, write_atomically
from posewright.figures.style import picture_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")

_SAVING = "saving a picture"

_SHARP_DPI = 192.0
_MAX_SCREEN_WIDTH = 1900
"""Resolution of a picture for the screen, and its greatest width [px]."""


def save_figure(figure: Figure, path: str | Path) -> None:
    """Save a figure as a PNG, SVG or PDF file, by the path's suffix.

    The figure's label, if any, becomes the file's title.

    Args:
        figure: a matplotlib figure, as `draw_*` functions return; saved with its own `dpi`.
        path: the path of the file.

    Raises:
        InputError: the suffix is none of the three.
        MissingExtraError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    write_atomically(path, picture_bytes(figure, _suffix(path)))


def picture_bytes(figure: Figure, suffix: str) -> bytes:
    """Return the content of a figure's file, the same for the same figure."""
    label = str(figure.get_label())
    # no date and no version, so that the same figure gives the same bytes
    omitted_entry = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}[suffix]
    metadata: dict[str, str | None] = {omitted_entry: None}
    if label:
        metadata["Description" if suffix == ".png" else "Title"] = label
    stream = io.BytesIO()
    with picture_style(_SAVING):
        _finish_layout(figure)
        # at the resolution of the file, not of a window on a screen with small pixels
        dpi = figure.dpi / figure.canvas.device_pixel_ratio
        _draw_once(figure, stream, suffix[1:], dpi, metadata=metadata)
    return stream.getvalue()


def screen_png(figure: Figure) -> bytes:
    """Return a figure as a PNG of 256 colours, with a resolution for screens with small pixels."""
    dpi = min(_SHARP_DPI, _MAX_SCREEN_WIDTH / figure.get_figwidth())
    stream = io.BytesIO()
    picture = io.BytesIO()
    with picture_style(_SAVING):
        from PIL import Image

        _draw_once(figure, stream, "rgba", dpi)
        size = tuple(int(side * dpi) for side in figure.get_size_inches())
        image = Image.frombuffer("RGBA", (size[0], size[1]), stream.getvalue()).convert("RGB")
        image.quantize(dither=Image.Dither.NONE).save(picture, "png")
    return picture.getvalue()


def _draw_once(
    figure: Figure, stream: io.BytesIO, file_format: str, dpi: float, **options: dict[str, str | None]
) -> None:
    """Save a figure as `Figure.savefig` does, but without the invisible drawing that it begins with.

    That drawing places the axes, for which executing the layout engine is enough.

    Args:
        figure: its layout engine, canvas and `dpi` are the same afterwards.
        stream: the stream to write to.
        file_format: `png`, `svg`, `pdf` or `rgba`.
        dpi: resolution [1/in].
        **options: of matplotlib's function for this format.
    """
    from matplotlib.backend_bases import get_registered_canvas_class

    layout_engine = figure.get_layout_engine()
    previous_canvas = figure.canvas
    previous_dpi = figure.dpi
    canvas = get_registered_canvas_class(file_format)(figure)
    try:
        figure.dpi = dpi
        if layout_engine is not None:
            layout_engine.execute(figure)
            figure.set_layout_engine("none")
        getattr(canvas, f"print_{file_format}")(stream, **options)
    finally:
        if layout_engine is not None:
            figure.set_layout_engine(layout_engine)
        figure.dpi = previous_dpi
        figure.set_canvas(previous_canvas)


def _finish_layout(figure: Figure) -> None:
    """Finish the layout of a figure, with positions rounded to about a thousandth of a pixel.

    The solver of constrained layout sums in the order in which its variables lie in memory, and SVG names its
    clipping rectangles by every bit of them.
    """
    layout_engine = figure.get_layout_engine()
    if layout_engine is not None:
        layout_engine.execute(figure)
        figure.set_layout_engine("none")
        for axes in figure.axes:
            left, bottom, width, height = (round(side, 6) for side in axes.get_position(original=True).bounds)
            axes.set_position((left, bottom, width, height))


def require_picture_path(path: Path) -> None:
    """Raise as `save_figure` does unless a picture can be saved to a path, to be called before long work."""
    _suffix(path)
    require_writable(path)
    with picture_style(_SAVING):
        pass


def _suffix(path: Path) -> str:
    require_ending(path, PICTURES, "a picture")
    return path.suffix.lower()
