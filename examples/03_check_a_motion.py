"""Make a motion, check it, draw it, sample it.  Twin of `posewright motion check`, `plot` and `sample`."""

import sys
from pathlib import Path

import numpy as np

import posewright as pw
from posewright.cli.motion_plot import plot_motion
from posewright.motions import Easing, Keyframe, Motion, Pose

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
robot = pw.robot("robotis_bioloid")
ready = Pose(robot.joint_names, robot.pose("walk_ready"))


def arm(degrees: float) -> Pose:
    return Pose.of(robot.joint_names, {"right_shoulder_pitch": np.radians(degrees)})  # the others are held


hasty = Motion(
    "hasty", robot.name, robot.joint_names, (Keyframe(arm(-150), 0.3), Keyframe(ready, 0.8)), start=ready
)
for finding in pw.check_motion(hasty, robot):
    print(f"{finding.level.value}: {finding.message}")

way = [arm(-55), arm(-102), arm(-150), arm(-102), arm(-55), ready]
wave = Motion(
    "wave", robot.name, robot.joint_names, [Keyframe(p, 0.3, easing=Easing.SMOOTH) for p in way], start=ready
)
print("findings in smaller steps:", pw.check_motion(wave, robot, near_pose="walk_ready"))

pw.write_motion(wave, out / "wave.motion.yaml")
plot_motion(wave, robot, out / "wave.svg")
samples = wave.sample(1 / robot.frame_period_s)
print(
    f"{len(samples.times)} frames; the last in ticks:", robot.to_ticks(samples.angles[-1]).round().astype(int)
)
