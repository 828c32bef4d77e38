"""The legs' joints in the picture of a walk: their speeds and torques against what their servos can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from posewright.experiments.walking.trial import GaitTrial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ASKED, DONE, BEYOND = "#8fb8d4", "#1b5e8a", "#c0392b"
WIDTH = 0.4


def draw_speeds(axes: Axes, trial: GaitTrial) -> None:
    """Draw how fast each joint was asked to turn and turned, over the greatest speed of the card."""
    joints = trial.report.joints
    asked = [one.commanded_speed_ratio for one in joints]
    done = [one.measured_speed_ratio for one in joints]
    _draw_bars(axes, trial, asked, done, ("commanded", "measured"))
    axes.set_title(f"greatest joint speed over the card's: {trial.report.max_joint_speed_ratio:.3f}")


def draw_torques(axes: Axes, trial: GaitTrial) -> None:
    """Draw how hard each drive pulled, over its stall torque."""
    joints = trial.report.joints
    most = [one.max_torque_ratio for one in joints]
    rms = [one.rms_torque_ratio for one in joints]
    _draw_bars(axes, trial, most, rms, ("greatest", "root mean square"))
    cost = trial.report.cost_of_transport
    transport = "" if cost is None else f"; cost of transport {cost:.2f}"
    axes.set_title(f"torque of the drives over their stall torque{transport}")


def _draw_bars(
    axes: Axes, trial: GaitTrial, first: Sequence[float], second: Sequence[float], words: tuple[str, str]
) -> None:
    places = np.arange(len(first))
    for values, shift, colour, word in ((first, -0.5, ASKED, words[0]), (second, 0.5, DONE, words[1])):
        bars = axes.bar(places + shift * WIDTH, values, WIDTH, color=colour, label=word)
        for bar, value in zip(bars, values, strict=True):
            if value > 1.0:
                bar.set_edgecolor(BEYOND)
                bar.set_linewidth(1.6)
    axes.axhline(1.0, color=BEYOND, lw=1.0)
    _name_joints(axes, [one.joint for one in trial.report.joints])
    axes.set_ylim(0.0, max(1.15, 1.2 * max((*first, *second))))
    axes.legend(loc="upper right", ncols=2, fontsize=7, frameon=False)


def _name_joints(axes: Axes, joints: Sequence[str]) -> None:
    """Write the joint below each pair of bars, and the leg below each three."""
    parts = [joint.rpartition("_") for joint in joints]
    axes.set_xticks(range(len(parts)), [part for *_, part in parts], fontsize=7)
    legs = [leg for leg, *_ in parts]
    for leg in dict.fromkeys(legs):
        own = [place for place, one in enumerate(legs) if one == leg]
        axes.annotate(
            leg.replace("_", " "),
            (sum(own) / len(own), 0.0),
            (0, -22),
            ("data"),
            "offset points",
            ha="center",
            va="top",
            fontsize=8,
            annotation_clip=False,
        )
        if own[0]:
            axes.axvline(own[0] - 0.5, color="#d9dde1", lw=0.8, zorder=0)
    axes.tick_params(axis="x", length=0)
