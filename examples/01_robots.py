"""List the robots and show a card.  As `posewright robots list` and `posewright robots show NAME`."""

import sys
from pathlib import Path

import numpy as np

import posewright as pw

print("robots:", *pw.robot_names())

robot = pw.robot("robotis_bioloid")  # or the path of your own robot.yaml
print(f"{robot.title}: {len(robot.joints)} joints, a frame every {1000 * robot.frame_period_s:.2f} ms")

# Joint angles are in radians, in the order of `joint_names`; only servos use ticks, IDs and degrees.
walk_ready = robot.pose("walk_ready")
knee = robot.servo("right_knee")
angle = walk_ready[robot.index("right_knee")]
print(f"right_knee: {np.degrees(angle):.1f} deg is tick {knee.to_ticks(angle):.0f} of servo {knee.id}")
print("servo 22 of the UC3M thesis is", robot.numbering("uc3m_thesis")[22])

card = pw.describe_robot(robot)  # all of the card as plain data, as `--json` prints it
print("keys of the card:", *card)

# Swap left and right.
mirrored = robot.mirror(walk_ready)
print(f"walk_ready differs from its mirror image by {np.degrees(abs(mirrored - walk_ready).max()):.1f} deg")

# The joints with their names, ranges and positive directions.
out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
pw.save_figure(pw.draw_robot(robot), out / "joints.png")
