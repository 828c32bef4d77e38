"""C sources of gaits on a board: fixed files, and the robot's legs and the gaits' parameters as constants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from posewright.arrays import Floats
from posewright.codegen.behaviour.wires import double_literal
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element, SourceFile, read_package_sources
from posewright.control.loop import MAX_BLOCK_FRAMES
from posewright.controllers.excess_tilt import MEAN_TIME_S
from posewright.controllers.walker import REACTION_FRAMES
from posewright.errors import Where
from posewright.gaits import BipedGait
from posewright.gaits.biped.generator import (
    MAX_CHANGE_FRACTION,
    RANGE_TOLERANCE,
    SMALL_CHANGE_SHARE,
    STANCE_TILT_SPEED,
    STEPS_TO_FULL_AMPLITUDE,
    SWING_TILT_SPEED,
)
from posewright.gaits.biped.step import TURN_OVERLAP, StepPlanner
from posewright.kinematics import BipedLeg, biped_legs_of
from posewright.robots import OUTWARDS, Robot

BIPED_FILES = ("biped.h", "biped.c")
PERFORMER_FILES = ("walker.h", "walker.c", "performer.h", "performer.c")

_NUMBERS_PER_LINE = 4


def gait_sources(
    robot: Robot, gaits: Mapping[str, BipedGait], place_of_gait: Mapping[str, Where]
) -> tuple[SourceFile, ...]:
    """Return the C files of the walk with its feedback, of the performer, and of their constants.

    Args:
        robot: the robot.
        gaits: the gaits by name.
        place_of_gait: the place of each gait in the document, to which its lines are traced.
    """
    fixed_files = read_package_sources(__package__, (*BIPED_FILES, *PERFORMER_FILES))
    writer = CWriter()
    writer.write(['#include "performer.h"', ""])
    write_legs(writer, robot)
    _write_scales(writer, robot)
    for number, (name, gait) in enumerate(gaits.items(), 1):
        place = place_of_gait.get(name)
        with writer.traced_to(Element("gait", name, place.line if place is not None else None)):
            _write_rest_pose(writer, f"rest_{number}", gait, robot)
    with writer.block("const biped_gait_t gaits[] =", "};"):
        for number, (name, gait) in enumerate(gaits.items(), 1):
            place = place_of_gait.get(name)
            with writer.traced_to(Element("gait", name, place.line if place is not None else None)):
                write_gait(writer, f"rest_{number}", gait, robot)
    return (*fixed_files, gaits_header(), writer.file("gaits.c"))


def gaits_header() -> SourceFile:
    """Return `gaits.h`, the constants that all gaits have in common."""
    writer = CWriter()
    writer.write(["#ifndef GAITS_H", "#define GAITS_H", ""])
    for name, literal, meaning in (
        ("STEPS_TO_FULL_AMPLITUDE", f"{STEPS_TO_FULL_AMPLITUDE}U", "the first steps lift the feet less"),
        ("SMALL_CHANGE_SHARE", double_literal(SMALL_CHANGE_SHARE + RANGE_TOLERANCE), "made in one step"),
        ("MAX_CHANGE_FRACTION", double_literal(MAX_CHANGE_FRACTION), "of a larger change, in one step"),
        ("TURN_OVERLAP", double_literal(TURN_OVERLAP), "of a step, with a foot in the air"),
        ("SWING_TILT_SPEED", double_literal(SWING_TILT_SPEED), "of a foot in the air [rad/s]"),
        ("STANCE_TILT_SPEED", double_literal(STANCE_TILT_SPEED), "of one that returns to level [rad/s]"),
        ("MEAN_TIME_S", double_literal(MEAN_TIME_S), "of the mean tilt"),
        ("REACTION_FRAMES", f"{REACTION_FRAMES}U", "between two reactions to the sensors"),
        ("MAX_BLOCK_FRAMES", f"{MAX_BLOCK_FRAMES}U", "after which it looks what is due, if no tick comes"),
    ):
        writer.line(f"#define {name} {literal} {comment(meaning)}")
    writer.write(["", "#endif /* GAITS_H */"])
    return writer.file("gaits.h")


def write_legs(writer: CWriter, robot: Robot) -> None:
    """Write the table `biped_legs`, the right leg first."""
    with writer.block("const biped_leg_t biped_legs[SIDES] =", "};"):
        for side, leg in biped_legs_of(robot).items():
            with writer.block("", "},"):
                writer.write(_member_lines(_leg_members(leg, OUTWARDS[side])))
    writer.line()


def write_gait(writer: CWriter, rest_table: str, gait: BipedGait, robot: Robot) -> None:
    """Write the initializer of a gait.

    Args:
        writer: receives the lines.
        rest_table: name of the table of its pose.
        gait: the gait.
        robot: the robot.
    """
    planner = StepPlanner(gait, robot)
    parameters = gait.parameters
    fastest = (parameters.max_forward_m_s, parameters.max_left_m_s, parameters.max_turn_rad_s)
    gain = gait.travel_gain
    members = {
        "step_frames": f"{planner.n_frames}U",
        "step_s": double_literal(planner.step_s),
        "swing_share": double_literal(parameters.swing_share),
        "swing_ramp": double_literal(parameters.swing_ramp),
        "lift_m": double_literal(parameters.lift_m),
        "hip_height_m": double_literal(parameters.hip_height_m),
        "lean_rad": double_literal(parameters.lean_rad),
        "feet_ahead_m": double_literal(parameters.feet_ahead_m),
        "stance_m": double_literal(parameters.stance_m),
        "hip_roll_rad": double_literal(parameters.hip_roll_rad),
        "fastest": _braced(fastest),
        "fastest_backward": double_literal(parameters.max_backward_m_s),
        "steps_to_full_speed": double_literal(parameters.steps_to_full_speed),
        "gain": _braced((gain.forward, gain.left, gain.turn)),
        "trim_forward_m_s": double_literal(gait.trim.forward_m_s),
        "trim_left_m_rad": double_literal(gait.trim.left_m_rad),
        "trim_turn_rad_m": double_literal(gait.trim.turn_rad_m),
        "heading_1_s": double_literal(gait.feedback.heading_1_s),
        "max_heading_turn_rad_s": double_literal(gait.feedback.max_heading_turn_rad_s),
        "foot_levelling": double_literal(gait.feedback.foot_levelling),
        "rocking_rad": double_literal(gait.feedback.rocking_rad),
        "rest": rest_table,
    }
    with writer.block("", "},"):
        writer.line(comment(gait.name))
        writer.write(_member_lines(members))


def _leg_members(leg: BipedLeg, outwards: float) -> Mapping[str, str]:
    """Return the members of a leg's initializer, by name."""
    thigh_x, thigh_z = leg.thigh_m
    shank_x, shank_z = leg.shank_m
    straight_knee = math.atan2(thigh_x, thigh_z) - math.atan2(shank_x, shank_z)
    lengths = {
        "hip_left": leg.hip_m[1],
        "hip_ahead": leg.hip_ahead_m,
        "hip_drop": leg.hip_drop_m,
        "thigh_x": thigh_x,
        "thigh_z": thigh_z,
        "thigh": math.hypot(thigh_x, thigh_z),
        "shank": math.hypot(shank_x, shank_z),
        "straight_knee": math.remainder(straight_knee, 2.0 * math.pi),
        "ankle_drop": leg.ankle_drop_m,
    }
    joints = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
    joint_names = joints if leg.has_yaw else joints[1:]
    reversed_joints = {
        f"reversed[{name.upper()}]": "true"
        for name, direction in zip(joint_names, leg.directions, strict=True)
        if direction == -1
    }
    return {
        **{name: double_literal(length) for name, length in lengths.items()},
        "sole": _braced(leg.sole_m),
        "outwards": double_literal(outwards),
        "has_yaw": "true" if leg.has_yaw else "false",
        **{name: f"{index}U" for name, index in zip(joint_names, leg.indices, strict=True)},
        **reversed_joints,
    }


def _write_rest_pose(writer: CWriter, name: str, gait: BipedGait, robot: Robot) -> None:
    """Write the table of the pose in which a gait has the joints outside of the legs [rad]."""
    pose: Floats = np.clip(robot.pose(gait.pose), *robot.limits)
    with writer.block(f"static const double {name}[N_JOINTS] =", "};"):
        writer.line(comment(f"{gait.name}: pose {gait.pose}"))
        writer.write(_number_lines(pose))
    writer.line()


def _write_scales(writer: CWriter, robot: Robot) -> None:
    """Write the table `servo_scales`, from joint angles to ticks."""
    zeros = np.zeros(len(robot.joints))
    centres = robot.to_ticks(zeros)
    with writer.block("const servo_scale_t servo_scales[N_JOINTS] =", "};"):
        for servo, centre in zip(robot.servos, centres.tolist(), strict=True):
            numbers = (servo.direction / servo.tick_rad, centre, servo.first_tick, servo.last_tick)
            writer.line(f"{_braced(numbers)}, {comment(servo.joint)}")
    writer.line()


def _member_lines(members: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of an initializer with the members' names."""
    for name, literal in members.items():
        yield f".{name} = {literal},"


def _number_lines(numbers: Floats) -> Iterator[str]:
    """Yield the lines of a table of numbers."""
    literals = [double_literal(number) for number in numbers.tolist()]
    for begin in range(0, len(literals), _NUMBERS_PER_LINE):
        yield f"{', '.join(literals[begin : begin + _NUMBERS_PER_LINE])},"


def _braced(numbers: Iterable[float]) -> str:
    """Return numbers as an initializer."""
    return f"{{{', '.join(double_literal(number) for number in numbers)}}}"
