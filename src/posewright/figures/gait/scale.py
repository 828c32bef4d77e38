"""Axes that are true to scale, and axes that share their ends, so that pictures can be compared by eye."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def share_scale(axes: Sequence[Axes]) -> None:
    """Give all axes the same ends: those that all of them together need."""
    left, right, low, high = ends_of(axes)
    for one in axes:
        one.set_xlim(left, right)
        one.set_ylim(low, high)


def share_true_scale(axes: Sequence[Axes]) -> None:
    """Give axes of the same size the same ends, a millimetre as long upwards as across; nothing is cut off.

    matplotlib's own way to do so may take margins away again, and with them room for words.
    """
    left, right, low, high = ends_of(axes)
    box = axes[0].get_window_extent()
    ratio = box.height / box.width
    across = max(right - left, (high - low) / ratio)
    for one in axes:
        one.set_xlim((left + right - across) / 2.0, (left + right + across) / 2.0)
        one.set_ylim((low + high - across * ratio) / 2.0, (low + high + across * ratio) / 2.0)
        one.set_aspect("equal", adjustable="box")


def ends_of(axes: Sequence[Axes]) -> tuple[float, float, float, float]:
    """Return left, right, low and high ends that hold what all axes show."""
    across, upwards = [one.get_xlim() for one in axes], [one.get_ylim() for one in axes]
    return (
        min(low for low, _ in across),
        max(high for _, high in across),
        min(low for low, _ in upwards),
        max(high for _, high in upwards),
    )
