"""How large a picture is, beside a page."""

from __future__ import annotations

PAGE = (1046.0, 718.0)
"""Width and height of what an A4 page shows across, with letters as large as on a screen [px]."""


def pages(width: float, height: float) -> float:
    """Return how much larger than an A4 page, upright or across, something is; 1 fills it."""
    return min(max(width / a, height / b) for a, b in (PAGE, PAGE[::-1]))
