"""The head of a motion's picture: its name, what is to be known of it, and what the strokes stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.figures.motion import picture_panel as panel
from posewright.figures.motion.picture_content import Content
from posewright.motions import Motion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_head(figure: Figure, content: Content, margin: float) -> None:
    """Write title, subtitle and key at the top of the page, `margin` from its left edge [in]."""
    across, down = figure.get_size_inches().tolist()
    left, title, subtitle, key = margin / across, *(1.0 - below / down for below in (0.1, 0.34, 0.52))
    figure.text(left, title, content.motion.name, fontsize=12, weight="bold", va="top", parse_math=False)
    figure.text(left, subtitle, _subtitle(content), fontsize=8, va="top", color=panel.HEADING)
    figure.legend(
        handles=_key(content),
        loc="upper left",
        bbox_to_anchor=(left, key),
        ncols=6,
        fontsize=7,
        frameon=False,
        borderaxespad=0.0,
        borderpad=0.0,
        handlelength=1.8,
        columnspacing=1.2,
    )


def _subtitle(content: Content) -> str:
    motion = content.motion
    parts = [content.robot.name, _counted(len(motion.keyframes), "keyframe"), f"{motion.duration:.3g} s"]
    if motion.loops:
        parts.append(f"{_repeats(motion)} (second pass paler)")
    if content.findings:
        levels = [finding.level.value for finding in content.findings]
        parts += [_counted(levels.count(level), level) for level in dict.fromkeys(levels)]
    return ", ".join(parts)


def _repeats(motion: Motion) -> str:
    return "repeats for ever" if motion.repeat is None else f"played {motion.repeat} times"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _key(content: Content) -> list[Any]:
    """Return what the strokes of the picture stand for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    joints = [content.robot.joint(joint) for joint in content.shown]
    key: list[Any] = [
        Line2D([], [], color=panel.CURVE, marker="o", markersize=3.2, label="angle [deg], keyframes"),
        _stroke(panel.LIMIT, "--", "limit"),
    ]
    if any((j.hardware_lower_rad, j.hardware_upper_rad) != (j.lower_rad, j.upper_rad) for j in joints):
        key.append(_stroke(panel.HARDWARE, ":", "(limit of the mechanism)"))
    if any(np.isfinite(limit).any() for joint in content.shown for limit in content.coupled(joint)):
        key.append(_stroke(panel.LIMIT, (0, panel.COUPLED), "limit set by other joints"))
    key.append(Patch(color=panel.SPEED, label="speed; fine dashes: the most"))
    key.append(Patch(color=panel.TOO_FAST, label="too fast"))
    return key


def _stroke(colour: str, style: Any, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=style, linewidth=1.0, label=label)
