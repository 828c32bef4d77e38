"""Try a motion under gravity and film it.  Twin of `posewright motion check --physics` and `motion film`."""

import sys
from dataclasses import replace
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
aibo = pw.robot("sony_ers7")
bow = pw.read_motion(aibo.folder / "motions" / "play_bow.motion.yaml")


def tell(name: str, trial) -> None:
    worst = max(trial.findings, key=lambda finding: finding.level.value == "error", default=None)
    print(f"{name}: {len(trial.falls)} falls; {worst.message if worst else 'nothing to find'}")


tell("play bow", pw.try_motion(bow))
print("its design:", pw.check_motion(bow, aibo) or "nothing to find")

# Three times as fast, and on ice.
hasty = replace(bow, name="hasty", speed=3.0)
tell("three times as fast", pw.try_motion(hasty, friction=0.1))
for finding in pw.check_motion(hasty, aibo)[:2]:
    print(f"  {finding.level.value}: {finding.message}")

try:
    strip = pw.draw_strip(pw.try_motion(bow).recording, pictures=6)  # film_recording makes a film
    pw.save_figure(strip, out / "play_bow.png")
    pw.film_motion(bow, out / "play_bow.mp4", speed=4.0)  # as it was written, without gravity
except pw.PosewrightError as error:  # a machine that cannot draw
    print(error)
