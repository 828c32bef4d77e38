"""Simulate a motion with gravity and film it.  As `posewright motion check --physics` and `motion film`."""

import sys
from dataclasses import replace
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
aibo = pw.robot("sony_ers7")
bow = pw.read_motion(aibo.folder / "motions" / "play_bow.motion.yaml")


def print_result(name: str, result) -> None:
    worst = max(result.findings, key=lambda finding: finding.level.value == "error", default=None)
    print(f"{name}: {len(result.falls)} falls; {worst.message if worst else 'no findings'}")


print_result("play bow", pw.try_motion(bow))
print("design rules:", pw.check_motion(bow, aibo) or "no findings")

# Three times as fast, and on ice.
fast_bow = replace(bow, name="hasty", speed=3.0)
print_result("three times as fast", pw.try_motion(fast_bow, friction=0.1))
for finding in pw.check_motion(fast_bow, aibo)[:2]:
    print(f"  {finding.level.value}: {finding.message}")

try:
    strip = pw.draw_strip(pw.try_motion(bow).recording, pictures=6)  # film_recording makes a film
    pw.save_figure(strip, out / "play_bow.png")
    pw.film_motion(bow, out / "play_bow.mp4", speed=4.0)  # as designed, without gravity
except pw.PosewrightError as error:  # no graphics on this machine
    print(error)
