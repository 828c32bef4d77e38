"""Draw the film strip of a walking AIBO in the README: `python docs/pictures/make_trot.py`."""

from __future__ import annotations

from pathlib import Path

import posewright as pw

FILE = Path(__file__).parent / "trot.png"
SPEED_M_S = 0.2


def main() -> None:
    """Walk, and draw the robot six times in a cycle, with the paws that carry it."""
    aibo = pw.robot("sony_ers7")
    result = pw.walk_gait(pw.read_gait("trot"), aibo, command=pw.VelocityCommand(SPEED_M_S), seconds=2.0)
    begin_s, cycle_s = result.walk.settings.settle_s, result.walk.timing.period_s
    strip = pw.draw_strip(result.recording, pictures=6, begin_s=begin_s, end_s=begin_s + cycle_s)
    pw.save_figure(strip, FILE)


if __name__ == "__main__":
    main()
