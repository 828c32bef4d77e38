"""The feet in pictures of gaits: in the order of the books, with short names, each in its colour."""

from __future__ import annotations

from posewright.figures.palette import state_colours

ORDER = ("left_front", "right_front", "left_rear", "right_rear")
"""From the top of a phase diagram down."""

SHORT = {"left_front": "LF", "right_front": "RF", "left_rear": "LH", "right_rear": "RH"}
"""H is for hind, as in books."""

COLOURS = state_colours(ORDER)

INK, GREY, FAINT, WRONG = "#22303a", "#5b6770", "#d9dde1", "#c0392b"
"""Of words and robots, of what is less important, of lines behind, and of what cannot be."""

MM = 1e3
"""Millimetres in a metre: lengths are drawn in them."""
