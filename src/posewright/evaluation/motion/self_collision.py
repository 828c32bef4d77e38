"""Contacts between parts of the robot, and slips of its feet, with findings about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.motion.played_motion import Measurement, PlayedMotion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings.falls import true_intervals

MM_PER_M = 1000.0


@dataclass(frozen=True, slots=True)
class SelfContact:
    """Two parts of the robot that touch each other during the motion.

    Attributes:
        parts: their names.
        first_frame: the first in which they touch.
        depth_mm: greatest penetration [mm].
        force_n: greatest force between them [N].
        total_s: time in contact [s].
        hardest_frame: frame of the greatest force.
        first_pose_force_n: force in the first pose [N]; 0 unless they touch then.
        touches_in_first_pose: whether they touch in the first pose.
    """

    parts: tuple[str, str]
    first_frame: int
    depth_mm: float
    force_n: float
    total_s: float
    hardest_frame: int
    first_pose_force_n: float
    touches_in_first_pose: bool


@dataclass(frozen=True, slots=True)
class FootSlip:
    """The longest distance that a foot slid during the motion without being lifted.

    Attributes:
        foot: its name.
        first_frame: first frame of the stance in which it slid.
        last_frame: last frame of that stance.
        fastest_frame: the frame in which it slid fastest.
        distance_mm: over the stance [mm].
    """

    foot: str
    first_frame: int
    last_frame: int
    fastest_frame: int
    distance_mm: float


def self_contacts(played: PlayedMotion) -> list[SelfContact]:
    """Return the contacts between parts of the robot from the motion's begin on, the earliest first."""
    contacts = []
    for contact in played.contacts:
        is_in_motion = contact.frames >= played.first_frame  # the frame before is the first pose
        if contact.is_with_floor or not is_in_motion.any():
            continue
        is_in_first_pose = contact.frames == played.first_frame - 1
        frames = contact.frames[is_in_motion]
        forces = np.nan_to_num(contact.forces)
        forces_in_motion = forces[is_in_motion]
        contacts.append(
            SelfContact(
                parts=contact.parts,
                first_frame=int(frames[0]),
                depth_mm=float(contact.depths[is_in_motion].max()) * MM_PER_M,
                force_n=float(forces_in_motion.max()),
                total_s=len(frames) * played.frame_s,
                hardest_frame=int(frames[forces_in_motion.argmax()]),
                first_pose_force_n=float(forces[is_in_first_pose].sum()),
                touches_in_first_pose=bool(is_in_first_pose.any()),
            )
        )
    return sorted(contacts, key=lambda contact: (contact.first_frame, contact.parts))


def longest_slips(played: PlayedMotion) -> list[FootSlip]:
    """Return the longest slip of each foot that is ever on the floor."""
    slips = []
    for column, foot in enumerate(played.robot.feet):
        is_in_motion = np.arange(len(played.times)) >= played.first_frame
        distances: Floats = np.where(is_in_motion, played.slips_m[:, column], 0.0)
        slips_in_stances = []
        for begin, end in true_intervals(played.record.foot_contacts[:, column]):
            fastest = begin + int(distances[begin:end].argmax())
            distance_mm = float(distances[begin:end].sum()) * MM_PER_M
            slips_in_stances.append(FootSlip(foot, begin, end - 1, fastest, distance_mm=distance_mm))
        if slips_in_stances:
            slips.append(max(slips_in_stances, key=lambda slip: slip.distance_mm))
    return slips


def self_collision(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield findings about parts of the robot that touch each other and feet that slide.

    Parts that touch in the first pose already are a finding only if they press much harder later.
    """
    for contact in self_contacts(played):
        level = Level.WARNING if contact.force_n > rules.press_force_n else Level.NOTE
        names = " and ".join(contact.parts)
        if not contact.touches_in_first_pose:
            verb = "press against" if contact.force_n > rules.press_force_n else "touch"
            frame = contact.first_frame
            message = (
                f"{names} {verb} each other {played.format_time(frame)}, with up to "
                f"{contact.force_n:.0f} N and for {contact.total_s:.2f} s in all"
            )
        elif contact.force_n > max(rules.press_force_n, rules.max_force_ratio * contact.first_pose_force_n):
            frame = contact.hardest_frame
            message = (
                f"{names}, which touch in the first pose already with {contact.first_pose_force_n:.0f} N, "
                f"press against each other with {contact.force_n:.0f} N {played.format_time(frame)}"
            )
        else:
            continue
        measurement = Measurement(contact.force_n, rules.press_force_n, "N")
        yield played.create_finding(level, "self_contact", message, frame=frame, measurement=measurement)
    for slip in longest_slips(played):
        if slip.distance_mm > rules.max_slip_mm:
            message = (
                f"{slip.foot} slides {slip.distance_mm:.0f} mm over the floor without being lifted, fastest "
                f"{played.format_time(slip.fastest_frame)}"
            )
            measurement = Measurement(slip.distance_mm, rules.max_slip_mm, "mm")
            yield played.create_finding(
                Level.WARNING, "slip", message, frame=slip.fastest_frame, measurement=measurement
            )
