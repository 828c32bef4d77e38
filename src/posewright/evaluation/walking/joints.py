"""What a gait asks of the joints of the legs: speed, torque and room to the limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.walking.drives import Drives
from posewright.evaluation.walking.track import Correction, GaitTrack


@dataclass(frozen=True, kw_only=True)
class JointLoad:
    """What one joint of a leg bore.

    Attributes:
        joint: which.
        commanded_speed_ratio: fastest change of its command over the greatest speed of the card.
        measured_speed_ratio: fastest change of its angle over the same.
        max_torque_ratio: greatest torque of its drive over the stall torque.
        rms_torque_ratio: root of the mean square of the same.
        limit_margin_deg: how near its command came to its limits; negative beyond [deg].
    """

    joint: str
    commanded_speed_ratio: float
    measured_speed_ratio: float
    max_torque_ratio: float
    rms_torque_ratio: float
    limit_margin_deg: float


@dataclass(frozen=True, kw_only=True)
class JointLoads:
    """What the joints of the legs bore, from the moment the robot was let go, settling too.

    Speeds are changes from frame to frame over the frame's length, of the command before safety saw it and
    of the angle as it was; both count.

    Attributes:
        max_joint_speed_ratio: the fastest of both over the greatest speed of the card's servo.
        commanded_speed_ratio: of the commands alone.
        measured_speed_ratio: of the angles alone.
        fastest_joint: whose the fastest was.
        max_torque_ratio: greatest torque of a drive over its stall torque; 1 is all it has.
        rms_torque_ratio: root of the mean square, of the joint where that is greatest.
        hardest_joint: which that is.
        limit_margin_deg: nearest a command came to the limits of a joint; negative beyond [deg].
        limit_margin_joint: of which.
        coupled_margin_deg: nearest to the limits that hang on other joints; None where the card has none
            [deg].
        coupled_margin_joint: of which.
        interventions: how often safety had to hold back a joint: each joint and reason counts once in
            `corrections.COUNT_FRAMES` frames.
        corrections: the worst of each joint and reason, with the time it first happened.
        joints: each joint by itself.
    """

    max_joint_speed_ratio: float
    commanded_speed_ratio: float
    measured_speed_ratio: float
    fastest_joint: str
    max_torque_ratio: float
    rms_torque_ratio: float
    hardest_joint: str
    limit_margin_deg: float
    limit_margin_joint: str
    coupled_margin_deg: float | None
    coupled_margin_joint: str | None
    interventions: int
    corrections: tuple[Correction, ...]
    joints: tuple[JointLoad, ...]


def joint_loads_of(track: GaitTrack, drives: Drives) -> JointLoads:
    """Return what the joints of the legs bore.

    Args:
        track: of the walk.
        drives: of the same.
    """
    joints = _each(track, drives)
    fastest = max(joints, key=lambda one: max(one.commanded_speed_ratio, one.measured_speed_ratio))
    hardest = max(joints, key=lambda one: one.rms_torque_ratio)
    nearest = min(joints, key=lambda one: one.limit_margin_deg)
    coupled_deg, coupled = _coupled_margin(track)
    return JointLoads(
        max_joint_speed_ratio=max(fastest.commanded_speed_ratio, fastest.measured_speed_ratio),
        commanded_speed_ratio=max(one.commanded_speed_ratio for one in joints),
        measured_speed_ratio=max(one.measured_speed_ratio for one in joints),
        fastest_joint=fastest.joint,
        max_torque_ratio=max(one.max_torque_ratio for one in joints),
        rms_torque_ratio=hardest.rms_torque_ratio,
        hardest_joint=hardest.joint,
        limit_margin_deg=nearest.limit_margin_deg,
        limit_margin_joint=nearest.joint,
        coupled_margin_deg=coupled_deg,
        coupled_margin_joint=coupled,
        interventions=len(track.corrections),
        corrections=_gathered(track.corrections),
        joints=joints,
    )


def speed_ratios(track: GaitTrack, angles: Floats) -> Floats:
    """Return how fast the legs' joints turn over the card's greatest speeds, `(n, n_leg_joints)`.

    Args:
        track: whose robot and frame count.
        angles: `asked` or `positions` of the track, `(n + 1, n_joints)` [rad].
    """
    legs = track.legs
    ratios: Floats = np.abs(np.diff(angles[:, legs], axis=0)) / (track.frame_s * track.robot.max_speeds[legs])
    return ratios


def _each(track: GaitTrack, drives: Drives) -> tuple[JointLoad, ...]:
    commanded, measured = speed_ratios(track, track.asked), speed_ratios(track, track.positions)
    stall = track.stall_nm
    peaks = drives.peaks.max(axis=0, initial=0.0) / stall
    rms = np.sqrt(drives.squares.mean(axis=0)) / stall if len(drives.squares) else np.zeros_like(stall)
    lower, upper = (limit[track.legs] for limit in track.robot.limits)
    asked = track.asked[:, track.legs]
    margins = np.degrees(np.minimum(asked - lower, upper - asked).min(axis=0))
    columns = (commanded.max(axis=0, initial=0.0), measured.max(axis=0, initial=0.0), peaks, rms, margins)
    return tuple(
        JointLoad(
            joint=joint,
            commanded_speed_ratio=fast,
            measured_speed_ratio=faster,
            max_torque_ratio=peak,
            rms_torque_ratio=square,
            limit_margin_deg=margin,
        )
        for joint, fast, faster, peak, square, margin in zip(
            track.leg_joints, *(column.tolist() for column in columns), strict=True
        )
    )


def _coupled_margin(track: GaitTrack) -> tuple[float | None, str | None]:
    """Return how near a leg's joint came to the limits that hang on others [deg], and which."""
    coupling, own = track.robot.coupling, set(track.leg_joints)
    tables = [place for place, joint in enumerate(coupling.joints) if joint in own]
    if not tables:
        return None, None
    lower, upper = coupling.bounds(track.asked)
    columns = [track.robot.index(coupling.joints[table]) for table in tables]
    asked = track.asked[:, columns]
    margins = np.minimum(asked - lower[:, tables], upper[:, tables] - asked).min(axis=0)
    nearest = int(margins.argmin())
    if not math.isfinite(margins[nearest]):
        return None, None
    return math.degrees(float(margins[nearest])), coupling.joints[tables[nearest]]


def _gathered(corrections: tuple[Correction, ...]) -> tuple[Correction, ...]:
    """Return the worst of each joint and guard, at the time of its first."""
    worst: dict[tuple[str, str], Correction] = {}
    for one in corrections:
        key = one.joint, one.guard
        first = worst.get(key, one)
        if abs(one.value - one.limit) > abs(first.value - first.limit):
            first = Correction(first.time_s, one.joint, one.guard, one.value, one.limit)
        worst[key] = first
    return tuple(worst.values())
