"""New gaits for a robot on two legs, to start from: a shipped gait, scaled to the robot's legs."""

from __future__ import annotations

import math
from dataclasses import replace

from posewright.errors import InputError
from posewright.gaits.biped.gait import BipedGait
from posewright.gaits.biped.values import BipedValues
from posewright.gaits.feedback import OPEN_LOOP
from posewright.gaits.reading import read_gait
from posewright.gaits.travel import TravelGain, Trim
from posewright.kinematics import biped_legs_of
from posewright.robots import LEG_PARTS, RIGHT, Compass, Imu, Robot, robot

EXAMPLES = {
    len(LEG_PARTS): ("robotis_bioloid", "biped"),
    len(LEG_PARTS) - 1: ("hitec_robonova1", "nova_walk"),
}
"""Robot and gait from which a new gait is scaled, by the number of a leg's joints."""

STAND = "stand"

DIGITS = 4
"""Decimals of a new gait's numbers."""


def create_gait(name: str, walking_robot: Robot) -> BipedGait:
    """Return a gait for a robot on two legs: a shipped gait, scaled to the length of its legs.

    Lengths grow with the legs, times and speeds with the square root of that (the same Froude number), so the
    robot swings like the other one. What makes up for lag and slip is not fitted yet.

    Args:
        name: the name of the gait.
        walking_robot: the robot that is to walk.

    Raises:
        InputError: the name is empty, or the card does not describe two legs.
        UnreachableError: the legs are too short for the stance.
    """
    if not name.strip():
        raise InputError("the name of the gait is empty")
    leg = biped_legs_of(walking_robot)[RIGHT]
    example_robot_name, example_name = EXAMPLES[len(leg.joints)]
    example_robot = robot(example_robot_name)
    example = read_gait(example_name, robot=example_robot)
    if not isinstance(example, BipedGait):
        raise TypeError(f"{example_name} is no gait on two legs")
    example_leg = biped_legs_of(example_robot)[RIGHT]
    length_ratio = leg.reach_m / example_leg.reach_m
    time_ratio = math.sqrt(length_ratio)
    parameters = example.parameters
    # from the leg's neutral stance outwards
    stance_change_m = parameters.stance_m - abs(example_leg.hip_m[1] + example_leg.sole_m[1])
    scaled_values = {
        "cycle_s": time_ratio * parameters.cycle_s,
        "lift_m": length_ratio * parameters.lift_m,
        "hip_height_m": length_ratio * parameters.hip_height_m,
        "feet_ahead_m": length_ratio * parameters.feet_ahead_m,
        "stance_m": abs(leg.hip_m[1] + leg.sole_m[1]) + length_ratio * stance_change_m,
        "max_forward_m_s": time_ratio * parameters.max_forward_m_s,
        "max_backward_m_s": time_ratio * parameters.max_backward_m_s,
        "max_left_m_s": time_ratio * parameters.max_left_m_s,
        "max_turn_rad_s": parameters.max_turn_rad_s / time_ratio,
    }
    rounded_values = {key: round(value, DIGITS) for key, value in scaled_values.items()}
    gait = BipedGait(
        name=name,
        robot=walking_robot.name,
        parameters=replace(parameters, **rounded_values),
        travel_gain=TravelGain(),
        trim=Trim(),
        feedback=example.feedback if _measures_heading(walking_robot) else OPEN_LOOP,
        pose=_pose_of_other_joints(walking_robot),
        description="on two legs, to be tuned",
        source=f"scaled from {example_name} of {example_robot_name}",
    )
    gait.generator(walking_robot)  # raises if the stance is out of reach
    return gait


def _measures_heading(walking_robot: Robot) -> bool:
    """Return whether a robot has a sensor for the heading that the feedback holds."""
    return any(isinstance(sensor, Compass | Imu) for sensor in walking_robot.sensors)


def _pose_of_other_joints(walking_robot: Robot) -> str:
    """Return the name of a pose for the joints outside the legs.

    Raises:
        InputError: the robot has no pose.
    """
    for pose in (BipedValues.pose, STAND, *walking_robot.poses):
        if pose in walking_robot.poses:
            return pose
    raise InputError(f"{walking_robot.name} has no pose", hint="add one to `poses:` of its card")
