"""Draw the film strip of a walking AIBO in the README: `python docs/pictures/make_trot.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from posewright.gaits import VelocityCommand, read_gait
from posewright.robots import robot
from posewright.simulation import Film, World
from posewright.simulation.cameras import framed
from posewright.experiments import walk_gait

FILE = Path(__file__).parent / "trot.png"
SPEED_M_S = 0.2
PICTURES, SIZE = 6, (400, 360)
WIDTH_IN, HEIGHT_IN, TITLE_IN, LABEL_IN, GAP_IN = 2.0, 1.8, 0.38, 0.26, 0.03
QUIET, SOFT = "#2b3640", "#5b6770"
SHORT = {"left_front_paw": "LF", "left_rear_paw": "LH", "right_front_paw": "RF", "right_rear_paw": "RH"}


def main() -> None:
    """Walk, and draw the robot six times in a cycle, with the paws that carry it."""
    aibo = robot("sony_ers7")
    trial = walk_gait(read_gait("trot", robot=aibo), aibo, VelocityCommand(SPEED_M_S), seconds=2.0)
    track, period_s = trial.track, trial.track.timing.frames * aibo.frame_period_s
    rows = track.begin + np.linspace(0, track.timing.frames, PICTURES).round().astype(int)
    world = World(aibo)
    moments = [(track.base[row], track.positions[row]) for row in rows]
    near = framed(world, moments, "side", SIZE[0] / SIZE[1], steady=False)

    plt.rcParams.update({"font.size": 8.0})
    width, height = WIDTH_IN * PICTURES, TITLE_IN + HEIGHT_IN + LABEL_IN
    figure = plt.figure(figsize=(width, height))
    title = f"trot, sony_ers7, {trial.report.speed_m_s:.2f} m/s, a cycle of {period_s:.2f} s, under gravity"
    figure.text(0.08 / width, 1.0 - 0.5 * TITLE_IN / height, title, va="center", fontsize=10, color=QUIET)
    with Film(world, *SIZE, "side", close_up=near) as film:
        for place, (row, moment) in enumerate(zip(rows.tolist(), moments, strict=True)):
            left = place * WIDTH_IN + 0.5 * GAP_IN
            axes = figure.add_axes(
                (left / width, LABEL_IN / height, (WIDTH_IN - GAP_IN) / width, HEIGHT_IN / height)
            )
            axes.imshow(film.frame(*moment, ()), aspect="auto")
            axes.set_axis_off()
            carried = [
                SHORT[foot] for foot, on in zip(aibo.feet, track.foot_contacts[row], strict=True) if on
            ]
            low, time_s = 0.5 * LABEL_IN / height, (row - rows[0]) * aibo.frame_period_s
            figure.text(
                (left + 0.04) / width, low, f"{time_s:.2f} s", va="center", weight="bold", color=QUIET
            )
            figure.text(
                (left + WIDTH_IN - 0.08) / width,
                low,
                f"on {' '.join(carried)}" if carried else "in the air",
                va="center",
                ha="right",
                color=SOFT,
            )
    figure.savefig(FILE, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
