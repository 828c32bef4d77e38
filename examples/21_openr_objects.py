"""Run OPEN-R objects of an AIBO, and a custom one.  As `posewright aibo run`, `aibo programs`."""

import sys
from pathlib import Path

import posewright as pw
from posewright.bodies import JointCommands
from posewright.control import Script

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
for program in pw.openr_programs():
    print(f"{program['name']}: {program['about']}")

# MoveHead: to the middle pose, then to the right until the stop command.
dog = pw.robot("sony_ers7")
head = pw.run_openr("move_head", commands="MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5")
for state in pw.openr_result(head)["states"]:
    print(f"{state['time_s']:.3f} s  {state['object']}: {state['state']}")
print(pw.sequence_diagram(head)[:120], "...")  # as Mermaid text, and as a picture:
pw.save_figure(pw.draw_sequence(head), out / "head.svg")

# `perform` runs and records any controller on a bare floor; this one stands still.
still = pw.perform(Script([JointCommands(dog.pose("stand")[None])]), dog, name="still", until_s=1.0)
print(f"{len(still.times)} frames of standing still")

# The head looks around while the legs kick: docs/how-to-own-openr-object.md.
own_folder = Path(__file__).parent / "openr"
recording = pw.run_openr(
    own_folder / "look_around.cfg", objects=own_folder / "look_around.py", commands="102@1", seconds=4
)
pan = recording.robot().positions[:, dog.index("head_pan")]
print(f"the head turned from {pan.min():+.2f} to {pan.max():+.2f} rad; digest {recording.digest()[:16]}")
