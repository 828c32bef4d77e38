"""Run an AIBO's OPEN-R objects, and one of one's own beside them.  Twin of `posewright openr run`, `openr list`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
for program in pw.openr_programs():
    print(f"{program['name']}: {program['about']}")

# MoveHead: to the middle pose, then to the right until it is told to stop.
head = pw.run_openr("move_head", commands="MOVE_MP@0, MV_RGHT@3.0, STOP_MR@3.5")
for event in head.events_of("openr"):
    if event.data["what"] == "state":
        print(f"{event.time_s:.3f} s  {event.data['object']}: {event.data['state']}")
pw.save_figure(pw.draw_sequence(head), out / "head.svg")

# The head looks around while the legs kick: docs/how-to-own-openr-object.md.
own = Path(__file__).parent / "openr"
both = pw.run_openr(own / "look_around.cfg", objects=own / "look_around.py", commands="102@1", seconds=4)
pan = both.robot().positions[:, pw.robot("sony_ers7").index("head_pan")]
print(f"the head turned from {pan.min():+.2f} to {pan.max():+.2f} rad; digest {both.digest()[:16]}")
