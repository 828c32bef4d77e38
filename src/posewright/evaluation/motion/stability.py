"""Does the robot stay up? Falls, a first pose that does not stand, tilt, and what else touches the floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags
from posewright.evaluation.motion.course import Course
from posewright.evaluation.motion.thresholds import PhysicsRules
from posewright.evaluation.runs import unbroken
from posewright.motions import Finding, Level

BEFORE_S = 0.4
"""So long before a base counts as lying it began to go down [s]."""

MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Fall:
    """A time the robot lay that did not begin lying.

    Attributes:
        time_s: when it was down [s].
        until_s: when it was up again [s]; None if it stayed down.
        keyframe: number of the keyframe that was gone to or stayed in.
        lean_deg: how far the base leaned at most [deg].
        side: forward, back, to the left or to the right.
        turning_deg_s: how fast the base leant over at most [deg/s].
        dropping_m_s: how fast the base came down at most [m/s].
        is_hard: whether that was too fast for one who lies down.
    """

    time_s: float
    until_s: float | None
    keyframe: int
    lean_deg: float
    side: str
    turning_deg_s: float
    dropping_m_s: float
    is_hard: bool

    @property
    def level(self) -> Level:
        """How bad it is: to fall and stay down is worse than to lie down, and to get up again better."""
        stays = self.until_s is None
        if self.is_hard:
            return Level.ERROR if stays else Level.WARNING
        return Level.WARNING if stays else Level.NOTE


def falls_of(course: Course, rules: PhysicsRules) -> tuple[Fall, ...]:
    """Return when the robot went down; what begins lying does not fall by lying there."""
    down = _down(course, rules)
    least = rules.fall_s / course.frame_s
    n = len(down)
    rows = unbroken(down, bridge=int(rules.meet_s / course.frame_s))
    return tuple(
        _fall(course, rules, begin, end)
        for begin, end in rows
        if begin >= course.begin and (end == n or end - begin >= least)
    )


def _down(course: Course, rules: PhysicsRules) -> Flags:
    """Return in which frames the base lies, `(n,)`."""
    lying = (course.lean > rules.fall_deg) & _on_more_than_feet(course)
    lying |= course.sideways > rules.side_deg
    return lying if course.wanted is None else lying & (course.off > rules.off_deg)


def _on_more_than_feet(course: Course) -> Flags:
    touching = np.zeros(len(course.times), dtype=np.bool_)
    for contact in course.touching_pairs:
        if contact.with_floor and contact.parts[0] not in course.robot.feet:
            touching[contact.frames] = True
    return touching


def _fall(course: Course, rules: PhysicsRules, begin: int, end: int) -> Fall:
    window = slice(max(course.begin, begin - round(BEFORE_S / course.frame_s)), end)
    turning = float(np.diff(course.lean[window], prepend=course.lean[window][:1]).max()) / course.frame_s
    dropping = (
        float(-np.diff(course.base[window, 2], prepend=course.base[window, 2][:1]).min()) / course.frame_s
    )
    return Fall(
        time_s=float(course.times[begin]),
        until_s=float(course.times[end]) if end < len(course.times) else None,
        keyframe=int(course.keyframes[begin]),
        lean_deg=float(course.lean[begin:end].max()),
        side=course.way_of_leaning(begin),
        turning_deg_s=turning,
        dropping_m_s=dropping,
        is_hard=turning > rules.turning_deg_s or dropping > rules.hit_m_s,
    )


def _landings(course: Course) -> list[tuple[str, int, float]]:
    """Return part, frame and speed [m/s] of whatever but the feet comes to the floor during the motion."""
    return [
        (contact.parts[0], int(frame), float(speed))
        for contact in course.touching_pairs
        if contact.with_floor and contact.parts[0] not in course.robot.feet
        for frame, speed in zip(contact.frames, contact.speeds, strict=True)
        if frame >= course.begin and np.isfinite(speed)
    ]


def stability(course: Course, rules: PhysicsRules, falls: Sequence[Fall]) -> Iterator[Finding]:
    """Yield what there is to say about staying up."""
    yield from (_fallen(course, rules, fall) for fall in falls)
    yield from _first_pose(course, rules)
    if not falls:
        yield from _still_lies(course, rules)
        yield from _tilt(course, rules)
    yield from _floor(course, rules)


def _fallen(course: Course, rules: PhysicsRules, fall: Fall) -> Finding:
    verb = "falls" if fall.is_hard else "lies down"
    later = "stays so" if fall.until_s is None else f"is up again {fall.until_s - fall.time_s:.1f} s later"
    where = course.when(int(np.searchsorted(course.times, fall.time_s)))
    message = f"the robot {verb} {fall.side} {where} and {later}"
    value, limit, times = fall.lean_deg, rules.fall_deg, (fall.time_s,)
    return Finding(fall.level, "fall", message, fall.keyframe, None, value, limit, "deg", times)


def _first_pose(course: Course, rules: PhysicsRules) -> Iterator[Finding]:
    """Does it stand by itself before the motion begins?"""
    last = course.begin - 1
    if last < 0:
        return
    change, side = course.turned(0, last)
    if change <= rules.stand_deg:
        return
    level, limit = Level.NOTE, rules.stand_deg
    message = f"put down in its first pose, the robot tips {side} by {change:.0f} deg before it stands still"
    if change > rules.off_deg:
        level, limit = Level.WARNING, rules.off_deg
        message = (
            f"put down in its first pose, the robot falls {side}: it begins the motion leaning "
            f"{course.lean[last]:.0f} deg; say how it is to be put down if the motion begins lying"
        )
    yield Finding(level, "first_pose", message, value=change, limit=limit, unit="deg")


def _still_lies(course: Course, rules: PhysicsRules) -> Iterator[Finding]:
    """Tell of a robot that lay before the motion began, and lies when it is over."""
    if _down(course, rules)[-1]:
        last = len(course.times) - 1
        message = f"the robot lies {course.way_of_leaning(last)} at the end, as it did at first"
        value, limit, times = float(course.lean[-1]), rules.fall_deg, (float(course.times[-1]),)
        yield Finding(
            Level.NOTE, "lying", message, int(course.keyframes[-1]), None, value, limit, "deg", times
        )


def _tilt(course: Course, rules: PhysicsRules) -> Iterator[Finding]:
    """Find the moment the base is farthest from where it should be."""
    if course.wanted is None:
        at_first = float(course.lean[max(0, course.begin - 1)])
        how_far, limit, level = course.lean - at_first, rules.lean_deg, Level.NOTE
        whence = "more than at first"
    else:
        how_far, limit, level = course.off, rules.tilt_deg, Level.WARNING
        whence = "from where its author wants it"
    worst = course.begin + int(how_far[course.begin :].argmax())
    value = float(how_far[worst])
    if value <= limit:
        return
    message = (
        f"the base leans {course.lean[worst]:.0f} deg {course.way_of_leaning(worst)} {course.when(worst)}, "
        f"{value:.0f} deg {whence}"
    )
    keyframe, time_s = int(course.keyframes[worst]), float(course.times[worst])
    yield Finding(level, "tilt", message, keyframe, None, value, limit, "deg", (time_s,))


def _floor(course: Course, rules: PhysicsRules) -> Iterator[Finding]:
    """Name the parts besides the feet that come to the floor during the motion."""
    landings = sorted(_landings(course), key=lambda landing: -landing[2])
    if not landings:
        return
    hardest, frame, speed = landings[0]
    others = list(dict.fromkeys(part for part, *_ in landings if part != hardest))
    shown = ", ".join(others[:MOST_NAMED]) + (", ..." if len(others) > MOST_NAMED else "")
    besides = f"; more softly {shown}" if others else ""
    if speed > rules.hit_m_s:
        level, message = (
            Level.WARNING,
            f"{hardest} hits the floor with {speed:.1f} m/s {course.when(frame)}{besides}",
        )
    else:
        level, message = Level.NOTE, f"{hardest} comes to the floor {course.when(frame)}{besides}"
    keyframe, time_s = int(course.keyframes[frame]), float(course.times[frame])
    yield Finding(level, "floor", message, keyframe, None, speed, rules.hit_m_s, "m/s", (time_s,))
