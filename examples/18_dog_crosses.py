"""A robot dog trots across the field of boxes and back.  As `posewright run dog-crossing --seed N`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)

# The behaviour has no map: one infrared beam in the head detects the boxes.
print(pw.read_behaviour("cross_field"))

outcome = pw.run_trial("dog-crossing", layout="random", seed=9, record=out / "dog.mcap")
touched = bool(outcome.recording.robot().box_contacts.any())

for leg, direction in zip(outcome.score.legs, ("out", "back"), strict=True):
    print(f"{direction}: {'crossed' if leg.finished else 'not crossed'} in {leg.time_s:.1f} s")
print("a box was touched" if touched else "no box was touched")
