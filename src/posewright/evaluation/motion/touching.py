"""What touches: parts of the robot that hit each other, and feet that slide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.motion.course import Course
from posewright.evaluation.motion.thresholds import PhysicsRules
from posewright.evaluation.runs import unbroken
from posewright.motions import Finding, Level

MM_PER_M = 1000.0


@dataclass(frozen=True, slots=True)
class SelfContact:
    """Two parts of the robot that touch each other during the motion.

    Attributes:
        parts: as the robot's model calls them.
        frame: at whose end they were first seen to touch.
        depth_mm: how deep they lay in each other at most [mm].
        force_n: how hard they pressed against each other at most [N].
        total_s: how long they touched in all [s].
        hardest: the frame at whose end they pressed hardest.
        first_n: how hard they press against each other in the first pose [N].
        at_first: whether they touch in the first pose already.
    """

    parts: tuple[str, str]
    frame: int
    depth_mm: float
    force_n: float
    total_s: float
    hardest: int
    first_n: float
    at_first: bool


@dataclass(frozen=True, slots=True)
class Slip:
    """The longest way a foot slid without leaving the floor.

    Attributes:
        foot: which.
        begin: the frame it began to stand in.
        end: the frame it left the floor in, or the last.
        fastest: the frame in which it slid fastest.
        way_mm: how far it slid in between [mm].
    """

    foot: str
    begin: int
    end: int
    fastest: int
    way_mm: float


def self_contacts(course: Course) -> list[SelfContact]:
    """Return the parts that touch each other from the motion's beginning on, the first to do so first."""
    found = []
    for contact in course.touching_pairs:
        during = contact.frames >= course.begin
        if contact.with_floor or not during.any():
            continue
        forces, at_first = np.nan_to_num(contact.forces), contact.frames == course.begin - 1
        found.append(
            SelfContact(
                parts=contact.parts,
                frame=int(contact.frames[during][0]),
                depth_mm=float(contact.depths[during].max()) * MM_PER_M,
                force_n=float(forces[during].max()),
                total_s=int(during.sum()) * course.frame_s,
                hardest=int(contact.frames[during][forces[during].argmax()]),
                first_n=float(forces[at_first].sum()),
                at_first=bool(at_first.any()),
            )
        )
    return sorted(found, key=lambda contact: (contact.frame, contact.parts))


def longest_slips(course: Course) -> list[Slip]:
    """Return of each foot the longest way it slid without leaving the floor during the motion."""
    found = []
    for column, foot in enumerate(course.robot.feet):
        ways: Floats = np.where(np.arange(len(course.times)) >= course.begin, course.slips[:, column], 0.0)
        standing = unbroken(course.foot_contacts[:, column])
        if not standing:
            continue
        begin, end = max(standing, key=lambda run: float(ways[run[0] : run[1]].sum()))
        fastest = begin + int(ways[begin:end].argmax())
        found.append(Slip(foot, begin, end - 1, fastest, float(ways[begin:end].sum()) * MM_PER_M))
    return found


def touching(course: Course, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield what there is to say about parts that hit each other and feet that slide."""
    for contact in self_contacts(course):
        if not contact.at_first:
            yield _hit(course, rules, contact)
        elif contact.force_n > max(rules.touch_n, rules.harder * contact.first_n):
            yield _pressed(course, rules, contact)
    for slip in longest_slips(course):
        if slip.way_mm > rules.slip_mm:
            yield _slid(course, rules, slip)


def _hit(course: Course, rules: PhysicsRules, contact: SelfContact) -> Finding:
    one, other = contact.parts
    verb = "press against" if contact.force_n > rules.touch_n else "touch"
    message = (
        f"{one} and {other} {verb} each other {course.when(contact.frame)}, with up to "
        f"{contact.force_n:.0f} N and for {contact.total_s:.2f} s in all"
    )
    return _self_contact(course, rules, contact, contact.frame, message)


def _pressed(course: Course, rules: PhysicsRules, contact: SelfContact) -> Finding:
    one, other = contact.parts
    message = (
        f"{one} and {other}, which touch in the first pose already with {contact.first_n:.0f} N, "
        f"press against each other with {contact.force_n:.0f} N {course.when(contact.hardest)}"
    )
    return _self_contact(course, rules, contact, contact.hardest, message)


def _self_contact(
    course: Course, rules: PhysicsRules, contact: SelfContact, frame: int, message: str
) -> Finding:
    level = Level.WARNING if contact.force_n > rules.touch_n else Level.NOTE
    keyframe, time_s = int(course.keyframes[frame]), float(course.times[frame])
    value, limit = contact.force_n, rules.touch_n
    return Finding(level, "self_contact", message, keyframe, None, value, limit, "N", (time_s,))


def _slid(course: Course, rules: PhysicsRules, slip: Slip) -> Finding:
    message = (
        f"{slip.foot} slides {slip.way_mm:.0f} mm over the floor without being lifted, fastest "
        f"{course.when(slip.fastest)}"
    )
    keyframe, time_s = int(course.keyframes[slip.fastest]), float(course.times[slip.fastest])
    value, limit = slip.way_mm, rules.slip_mm
    return Finding(Level.WARNING, "slip", message, keyframe, None, value, limit, "mm", (time_s,))
