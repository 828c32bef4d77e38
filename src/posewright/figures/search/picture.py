"""The picture of a tuning: scores, spread, and the course of every dimension in its range."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from posewright.documents import refuse_unwritable, write_atomically
from posewright.errors import InputError, MissingExtraError, Where
from posewright.search.journal import Journal, read_journal

SUFFIXES = (".png", ".svg", ".pdf")


def refuse_no_drawing(path: Path) -> None:
    """Say before a long search, not after it, that its picture could not be drawn there.

    Raises:
        InputError: the ending is no picture's.
        OutputError: the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    _expect_suffix(path)
    refuse_unwritable(path)
    _rc_context()


def draw_tuning(journal: Journal | str | Path, path: str | Path) -> None:
    """Draw a tuning to a PNG, SVG or PDF file, by the file's ending.

    Args:
        journal: what was tried, or the journal's file; one that is still being written will do.
        path: where to.

    Raises:
        InputError: a file ending that is no picture's, or a journal without an evaluation.
        FormatError: the journal cannot be read.
        MissingExtraError: matplotlib is not installed.
        OutputError: the picture cannot be written there.
    """
    path = Path(path)
    _expect_suffix(path)
    shown = journal if isinstance(journal, Journal) else read_journal(journal)
    if not shown.attempts:
        raise InputError("nothing has been evaluated yet: there is nothing to draw")
    write_atomically(path, _rendered(shown, path.suffix.lower()))


def _expect_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError("not a kind of picture", where=Where(path), hint=f"one of {', '.join(SUFFIXES)}")


def _rc_context() -> Any:
    """Return matplotlib's context of settings, or raise MissingExtraError."""
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingExtraError.for_extra("drawing a tuning", "plot") from error
    return rc_context


def _rendered(journal: Journal, suffix: str) -> bytes:
    """Return the picture's file; the same journal gives the same one: no date, fixed identifiers."""
    rc_context = _rc_context()
    from posewright.figures.search.picture_page import draw_page

    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "posewright", "svg.fonttype": "none", "font.size": 8.0}):
        draw_page(journal).savefig(stream, format=suffix[1:], dpi=130, metadata=metadata)
    return stream.getvalue()
