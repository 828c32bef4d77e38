"""Measure recordings.  As `posewright evaluate` and `posewright inspect`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)

# Measuring a walk again from its file gives exactly the same figures.
dog = pw.robot("sony_ers7")
walk = pw.walk_gait(pw.read_gait("trot"), dog, command=pw.VelocityCommand(forward_m_s=0.15), seconds=2.0)
pw.write_recording(walk.recording, out / "walk.mcap")
again = pw.read_recording(out / "walk.mcap")
print("the same figures from the file:", pw.evaluate(again).figures() == walk.figures())

# A motion, simulated with gravity.
bow = pw.read_motion(dog.folder / "motions" / "play_bow.motion.yaml")
print(f"{bow.name}: {len(pw.try_motion(bow).findings)} findings in the simulation")

# Inspection: may the Bioloid enter the contest?
for verdict in pw.inspect_robot(pw.robot("robotis_bioloid")).verdicts:
    print(f"{verdict.measure}: {verdict.value:g} {verdict.unit}, at most {verdict.limit:g}: {verdict.passed}")
