"""A motion as a picture: one small curve a joint with limits and speed, and what is wrong with it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from posewright.documents import write_atomically
from posewright.errors import InputError, MissingExtraError
from posewright.figures.motion.picture_content import Content
from posewright.figures.motion.picture_page import draw_page
from posewright.formats import card_of
from posewright.motions import Finding, Motion, check_motion
from posewright.robots import Robot

KINDS = ("png", "svg")


def draw_motion(
    motion: Motion,
    path: str | Path,
    robot: Robot | None = None,
    *,
    findings: Sequence[Finding] | None = None,
) -> None:
    """Draw every moving joint of a motion over time, with limits, speeds and findings, into a picture file.

    Args:
        motion: what to draw.
        path: ends in .png or .svg.
        robot: whose groups and limits count; default the motion's own.
        findings: what to mark; default what the design rules find. An empty list marks nothing.

    Raises:
        InputError: another ending, or the motion takes no time.
        MissingExtraError: matplotlib is not installed.
        UnknownNameError: the motion's own robot is not known.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise InputError(f"{path} is no picture that can be drawn", hint="end it in .png or .svg")
    if motion.duration == 0.0:
        raise InputError(f"motion {motion.name!r} takes no time: there is nothing to draw")
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingExtraError.for_extra("drawing a motion", "plot") from error
    card = card_of(motion) if robot is None else robot
    found = check_motion(motion, card) if findings is None else findings
    # the same motion gives the same bytes
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "posewright", "font.size": 8.0}):
        draw_page(Content(motion, card, tuple(found))).savefig(
            buffer, format=kind, dpi=150, metadata=metadata
        )
    write_atomically(path, buffer.getvalue())
