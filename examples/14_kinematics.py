"""Legs and heads in closed form: angles to places and back."""

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
    print("refused:", error)
print("nearest:", leg.forward(leg.inverse([0.2, 0.0, 0.0], nearest=True)).round(4).tolist(), "m")

robot = pw.robot("sony_ers7")  # its own legs have offsets; the same mathematics
for mounted in legs_of(robot):
    foot = mounted.forward(robot.pose("stand")[list(mounted.indices)])
    print(f"{mounted.name}: stands at {(1000.0 * foot).round(1).tolist()} mm of the base")
print("to look at a ball:", np.degrees(head_of(robot).look_at([0.5, 0.2, -0.1])).round(1).tolist(), "deg")
