"""A robot nobody has a card of: enough of one to read, show and write back its motion files."""

from __future__ import annotations

import math
from collections.abc import Sequence

from posewright.errors import InputError
from posewright.robots.card import Robot
from posewright.robots.joint import FULL_TURN_DEG, Joint
from posewright.robots.servo import RAD_PER_URAD, Servo

MODEL = "unlisted"
"""Name of the nominal servo. Its numbers are of nobody: 1 N m and 1 N m/rad, and no speed is too fast."""


def unlisted_robot(
    name: str,
    joint_names: Sequence[str],
    *,
    title: str | None = None,
    scheme: str | None = None,
    design: str | None = None,
    frame_period_s: float = 0.008,
) -> Robot:
    """Return an ad-hoc card: joints that may turn once round either way, nominal servos, no model, no poses.

    Raises:
        InputError: there is no joint, or one stands there twice.
    """
    joints = tuple(joint_names)
    if not joints or len(set(joints)) != len(joints):
        raise InputError(f"{name} needs joints, each once", hint=f"there are {', '.join(joints) or 'none'}")
    turn = math.radians(FULL_TURN_DEG)
    return Robot(
        name=name,
        maker="unknown",
        title=title or f"{name}, a robot without a card",
        joints=tuple(Joint(joint, -turn, turn, (-turn, turn)) for joint in joints),
        servos=tuple(_servo(joint) for joint in joints),
        feet=(),
        poses={},
        groups={},
        mirror_pairs=(),
        numberings={},
        sensors=(),
        frame_period_s=frame_period_s,
        namings={scheme: {joint: joint for joint in joints}} if scheme else {},
        designs={design: joints} if design else {},
    )


def _servo(joint: str) -> Servo:
    last = int(math.radians(FULL_TURN_DEG) / RAD_PER_URAD)
    return Servo(
        joint=joint,
        id=None,
        model=MODEL,
        centre_deg=0.0,
        direction=1,
        no_load_speed_rad_s=math.inf,
        stall_torque_nm=1.0,
        compliance_slope=None,
        ticks=2 * last + 1,
        range_deg=2.0 * FULL_TURN_DEG,
        first_tick=-last,
        tick_urad=1.0,
        stiffness_nm_rad=1.0,
    )
