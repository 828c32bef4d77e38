"""Make a motion, check it, draw it, sample it.  As `posewright motion check`, `plot` and `sample`."""

import sys
from pathlib import Path

import numpy as np

import posewright as pw
from posewright.motions import Easing, Keyframe, Motion, Pose

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
robot = pw.robot("robotis_bioloid")
ready = Pose(robot.joint_names, robot.pose("walk_ready"))


def wave(reach_s: float, *arm_angles_deg: float) -> Motion:
    poses = [
        Pose.of(ready.joints, {"right_shoulder_pitch": np.radians(-angle_deg)})
        for angle_deg in arm_angles_deg
    ]
    keyframes = [Keyframe(pose, reach_s, easing=Easing.SMOOTH) for pose in (*poses, ready)]
    return Motion("wave", robot.name, ready.joints, keyframes, start=ready)


for finding in pw.check_motion(wave(0.3, 150), robot):
    print(f"{finding.level.value}: {finding.message}")
motion = wave(0.3, 55, 102, 150, 102, 55)
print("in smaller steps:", pw.check_motion(motion, robot, near_pose="walk_ready") or "no findings")

pw.write_motion(motion, out / "wave.motion.yaml")
pw.save_figure(pw.draw_motion(motion), out / "wave.svg")
table = pw.sample_motion(motion, robot, rate_hz=128, unit="ticks", numbering="robotis")
(out / "wave.csv").write_text(table.csv(), encoding="utf-8")
highest_deg = np.degrees(motion.at(0.9).angle("right_shoulder_pitch"))
print(f"{len(table.times)} rows of ticks; after 0.9 s the arm is at {highest_deg:.0f} deg")
