"""What touches: parts of the robot that hit each other, and feet that slide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.motion.played import PlayedMotion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings.falls import runs

MM_PER_M = 1000.0


@dataclass(frozen=True, slots=True)
class SelfContact:
    """Two parts of the robot that touch each other during the motion.

    Attributes:
        frame: at whose end they were first seen to touch; depth and force are the greatest.
        hardest: the frame at whose end they pressed hardest.
        first_n: how hard they press against each other in the first pose, if they touch `at_first` [N].
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
    """The longest way a foot slid without leaving the floor: the frames it stood in, and the fastest."""

    foot: str
    begin: int
    end: int
    fastest: int
    way_mm: float


def self_contacts(played: PlayedMotion) -> list[SelfContact]:
    """Return the parts that touch each other from the motion's beginning on, the first to do so first."""
    found = []
    for contact in played.touching_pairs:
        during = contact.frames >= played.begin
        if contact.with_floor or not during.any():
            continue
        forces, at_first = np.nan_to_num(contact.forces), contact.frames == played.begin - 1
        found.append(
            SelfContact(
                parts=contact.parts,
                frame=int(contact.frames[during][0]),
                depth_mm=float(contact.depths[during].max()) * MM_PER_M,
                force_n=float(forces[during].max()),
                total_s=int(during.sum()) * played.frame_s,
                hardest=int(contact.frames[during][forces[during].argmax()]),
                first_n=float(forces[at_first].sum()),
                at_first=bool(at_first.any()),
            )
        )
    return sorted(found, key=lambda contact: (contact.frame, contact.parts))


def longest_slips(played: PlayedMotion) -> list[Slip]:
    """Return of each foot the longest way it slid without leaving the floor during the motion."""
    found = []
    for column, foot in enumerate(played.robot.feet):
        ways: Floats = np.where(np.arange(len(played.times)) >= played.begin, played.slips[:, column], 0.0)
        standing = runs(played.record.foot_contacts[:, column])
        if not standing:
            continue
        begin, end = max(standing, key=lambda run: float(ways[run[0] : run[1]].sum()))
        fastest = begin + int(ways[begin:end].argmax())
        found.append(Slip(foot, begin, end - 1, fastest, float(ways[begin:end].sum()) * MM_PER_M))
    return found


def self_collision(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield what there is to say about parts that hit each other and feet that slide."""
    for contact in self_contacts(played):
        if not contact.at_first:
            yield _hit(played, rules, contact)
        elif contact.force_n > max(rules.touch_n, rules.harder * contact.first_n):
            yield _pressed(played, rules, contact)
    for slip in longest_slips(played):
        if slip.way_mm > rules.slip_mm:
            yield _slid(played, rules, slip)


def _hit(played: PlayedMotion, rules: PhysicsRules, contact: SelfContact) -> Finding:
    verb = "press against" if contact.force_n > rules.touch_n else "touch"
    message = (
        f"{' and '.join(contact.parts)} {verb} each other {played.when(contact.frame)}, with up to "
        f"{contact.force_n:.0f} N and for {contact.total_s:.2f} s in all"
    )
    return _self_contact(played, rules, contact, contact.frame, message)


def _pressed(played: PlayedMotion, rules: PhysicsRules, contact: SelfContact) -> Finding:
    message = (
        f"{' and '.join(contact.parts)}, which touch in the first pose already with {contact.first_n:.0f} N, "
        f"press against each other with {contact.force_n:.0f} N {played.when(contact.hardest)}"
    )
    return _self_contact(played, rules, contact, contact.hardest, message)


def _self_contact(
    played: PlayedMotion, rules: PhysicsRules, contact: SelfContact, frame: int, message: str
) -> Finding:
    level = Level.WARNING if contact.force_n > rules.touch_n else Level.NOTE
    measured = (contact.force_n, rules.touch_n, "N")
    return played.finding((level, "self_contact"), message, frame, measured)


def _slid(played: PlayedMotion, rules: PhysicsRules, slip: Slip) -> Finding:
    message = (
        f"{slip.foot} slides {slip.way_mm:.0f} mm over the floor without being lifted, fastest "
        f"{played.when(slip.fastest)}"
    )
    measured = (slip.way_mm, rules.slip_mm, "mm")
    return played.finding((Level.WARNING, "slip"), message, slip.fastest, measured)
