"""Laws of the design rules, over any motion: mirrors, speed, and the direction of time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.motions import DesignRules, Easing, Finding, Keyframe, Motion, Pose, mirror_motion
from posewright.motions.checked_motion import MAX_ANGLES, CheckedMotion
from posewright.robots import Robot, robot

from .all_rules import check_all


def with_even_pose(name: str, pose: str) -> Robot:
    """Return a card whose only pose is one of its own made exactly symmetric: ticks round by half a tick."""
    card = robot(name)
    even = (card.pose(pose) + card.mirror(card.pose(pose))) / 2.0
    poses = {"even": dict(zip(card.joint_names, even.tolist(), strict=True))}
    return replace(card, poses=poses, motion_rules=replace(card.motion_rules, near_pose=("even",)))


DOG, MAN = with_even_pose("sony_ers7", "stand"), with_even_pose("robotis_bioloid", "walk_ready")
PARTNER = {
    card.name: {
        a: b for pair in card.mirror_pairs for a, b in ((pair.left, pair.right), (pair.right, pair.left))
    }
    for card in (DOG, MAN)
}

cards = st.sampled_from([DOG, MAN])


@st.composite
def motions(draw: st.DrawFn, card: Robot, easing: Easing | None = None) -> Motion:
    """Draw a motion that moves some joints far and fast, from time to time beyond everything."""
    count = draw(st.integers(2, 5))
    moved = draw(st.lists(st.sampled_from(card.joint_names), min_size=1, max_size=4, unique=True))
    base = card.pose("even")
    frames = []
    for number in range(count):
        angles = base.copy()
        for joint in moved:
            angles[card.index(joint)] += math.radians(draw(st.integers(-150, 150)) * 0.937)
        reach = 0.0 if number == 0 else draw(st.integers(1, 40)) * 0.0371
        eased = draw(st.sampled_from(Easing)) if easing is None else easing
        frames.append(Keyframe(Pose(card.joint_names, angles), reach, easing=eased))
    return Motion("drawn", card.name, card.joint_names, tuple(frames))


def told(finding: Finding, partners: dict[str, str] | None = None) -> tuple[object, ...]:
    """Return what of a finding must be found in the mirror too; of many joints together any may speak."""
    joint = finding.joint if finding.rule != "pose" else None
    if partners is not None and joint is not None:
        joint = partners.get(joint, joint)
    size = None if finding.value is None else round(abs(finding.value), 6)
    return finding.level.value, finding.rule, finding.keyframe, finding.keyframes, joint, size


@given(st.data())
@settings(deadline=None)
def test_the_mirror_image_of_a_motion_has_the_mirror_images_findings(data: st.DataObject) -> None:
    card = data.draw(cards)
    drawn = data.draw(motions(card))
    ours, theirs = check_all(drawn, card), check_all(mirror_motion(drawn, card), card)
    partners = PARTNER[card.name]
    assert sorted(map(repr, map(told, theirs))) == sorted(repr(told(found, partners)) for found in ours)


@given(st.data())
@settings(deadline=None)
def test_twice_the_speed_finds_twice_the_speed(data: st.DataObject) -> None:
    card = data.draw(cards)
    drawn = data.draw(motions(card))
    fast = replace(drawn, speed=2.0)
    for segment, faster in zip(checked(drawn, card).segments, checked(fast, card).segments, strict=True):
        assert faster.greatest_speeds == pytest.approx(2.0 * segment.greatest_speeds)
    speeds = {(f.keyframe, f.joint): f.value for f in each(fast, card, "speed")}
    for found in each(drawn, card, "speed"):
        assert speeds[found.keyframe, found.joint] == pytest.approx(2.0 * (found.value or 0.0))


@given(st.data())
@settings(deadline=None)
def test_at_a_hundredth_of_the_speed_nothing_is_too_fast(data: st.DataObject) -> None:
    card = data.draw(cards)
    slow = replace(data.draw(motions(card)), speed=0.002)
    assert {f.rule for f in check_all(slow, card)}.isdisjoint({"speed", "camera"})


@given(st.data())
@settings(deadline=None)
def test_backwards_the_steps_and_speeds_are_the_same(data: st.DataObject) -> None:
    card = data.draw(cards)
    drawn = data.draw(motions(card, Easing.LINEAR))
    back = backwards(drawn)
    for rule in ("step", "speed"):
        ours = sorted((f.joint or "", round(f.value or 0.0, 6)) for f in each(drawn, card, rule))
        assert sorted((f.joint or "", round(f.value or 0.0, 6)) for f in each(back, card, rule)) == ours


def test_a_motion_of_thousands_of_keyframes_is_checked_in_little_memory() -> None:
    card = robot("sony_ers7")
    angles = [np.full(len(card.joint_names), 0.01 * (i % 2)) for i in range(3000)]
    frames = tuple(Keyframe(Pose(card.joint_names, row), 0.016) for row in angles)
    drawn = Motion("long", card.name, card.joint_names, frames)
    looked_at = checked(drawn, card)
    assert sum(segment.points.size for segment in looked_at.segments) <= MAX_ANGLES + sum(
        len(row) for row in angles
    )
    assert {
        len(segment.points) for segment in checked(replace(drawn, keyframes=frames[:50]), card).segments
    } == {65}


@given(st.data())
@settings(deadline=None)
def test_looser_thresholds_break_no_rule_that_tight_ones_keep(data: st.DataObject) -> None:
    card = data.draw(cards)
    drawn = data.draw(motions(card))
    rules = DesignRules.of(card)
    loose = replace(
        rules,
        max_step_deg=2 * rules.max_step_deg,
        large_step_deg=math.inf,
        max_duration_s=4.0,
        near_pose_deg=90.0,
    )
    broken = {found.rule for found in check_all(drawn, card)}
    assert {found.rule for found in check_all(drawn, card, rules=loose)} <= broken


def checked(motion: Motion, card: Robot) -> CheckedMotion:
    return CheckedMotion(motion, card, DesignRules.of(card), (), is_celebration=False)


def each(motion: Motion, card: Robot, rule: str) -> list[Finding]:
    """Return what one rule finds, before a joint's findings are gathered."""
    from posewright.motions.design_rules import RULES

    looked_at = checked(motion, card)
    return list(RULES[rule](looked_at))


def backwards(motion: Motion) -> Motion:
    """Return the motion that goes through the same poses from the last to the first."""
    frames = motion.keyframes
    reaches = [0.0, *(frame.reach_s for frame in frames[:0:-1])]
    turned = [replace(frame, reach_s=reach) for frame, reach in zip(frames[::-1], reaches, strict=True)]
    return replace(motion, keyframes=tuple(turned))
