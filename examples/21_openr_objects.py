"""Run an AIBO's OPEN-R objects, and one of one's own.  Twin of `posewright aibo run`, `aibo programs`."""

import sys
from pathlib import Path

import posewright as pw
from posewright.bodies import JointCommands
from posewright.control import Script

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
for program in pw.openr_programs():
    print(f"{program['name']}: {program['about']}")

# MoveHead: to the middle pose, then to the right until it is told to stop.
dog = pw.robot("sony_ers7")
head = pw.run_openr("move_head", commands="MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5")
for state in pw.openr_result(head)["states"]:
    print(f"{state['time_s']:.3f} s  {state['object']}: {state['state']}")
print(pw.sequence_diagram(head)[:120], "...")  # Mermaid's text; and as a picture:
pw.save_figure(pw.draw_sequence(head), out / "head.svg")

# Any controller runs on a robot on a bare floor, and is recorded; here one that stands still.
still = pw.perform(Script([JointCommands(dog.pose("stand")[None])]), dog, name="still", until_s=1.0)
print(f"{len(still.times)} frames of standing still")

# The head looks around while the legs kick: docs/how-to-own-openr-object.md.
own = Path(__file__).parent / "openr"
both = pw.run_openr(own / "look_around.cfg", objects=own / "look_around.py", commands="102@1", seconds=4)
pan = both.robot().positions[:, dog.index("head_pan")]
print(f"the head turned from {pan.min():+.2f} to {pan.max():+.2f} rad; digest {both.digest()[:16]}")
