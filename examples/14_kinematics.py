"""Kinematics of legs and heads in closed form: from joint angles to positions and back."""

import numpy as np

import posewright as pw
from posewright.errors import InputError
from posewright.kinematics import Knee, ThreeJointLeg, head_of, legs_of

leg = ThreeJointLeg(0.07, 0.07)  # two equal parts, as in the lecture
angles = np.radians([[10.0, 5.0, 60.0], [-20.0, 0.0, 90.0]])
points = leg.forward(angles)
print("feet at", points.round(4).tolist(), "m")
print("and back, off by", f"{abs(leg.inverse(points) - angles).max():.0e} rad")
print("the other knee:", np.degrees(leg.inverse(points, knee=Knee.NEGATIVE)).round(1).tolist(), "deg")

try:
    leg.inverse([0.2, 0.0, 0.0])
except InputError as error:
    print("error:", error)
print("nearest:", leg.forward(leg.inverse([0.2, 0.0, 0.0], nearest=True)).round(4).tolist(), "m")

robot = pw.robot("sony_ers7")  # its legs have offsets between the joints
for robot_leg in legs_of(robot):
    foot = robot_leg.forward(robot.pose("stand")[list(robot_leg.indices)])
    print(f"{robot_leg.name}: stands at {(1000.0 * foot).round(1).tolist()} mm from the base")
print("to look at a ball:", np.degrees(head_of(robot).look_at([0.5, 0.2, -0.1])).round(1).tolist(), "deg")
