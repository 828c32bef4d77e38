"""Does the robot stay up? Falls, a first pose that does not stand, tilt, and what else touches the floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags
from posewright.evaluation.motion.played import PlayedMotion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings.falls import FallDetector

BEFORE_S = 0.4
"""So long before a base counts as lying it began to go down [s]."""

MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Fall:
    """A time the robot lay that did not begin lying.

    It leaned so far, leant over and came down so fast at most; `is_hard` says that this was too fast for one
    who lies down. `until_s` is None where it stayed down.
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


def falls_of(played: PlayedMotion, rules: PhysicsRules) -> tuple[Fall, ...]:
    """Return when the robot went down; what begins lying does not fall by lying there."""
    detector = FallDetector(rules.fall_limits(played.frame_s))
    detector.add(played.times, _down(played, rules))
    return tuple(
        _fall(played, rules, fall.begin, fall.end) for fall in detector.falls() if fall.begin >= played.begin
    )


def _down(played: PlayedMotion, rules: PhysicsRules) -> Flags:
    """Return in which frames the base lies, `(n,)`."""
    lying = (played.lean > rules.fall_deg) & _on_more_than_feet(played)
    lying |= played.sideways > rules.side_deg
    return lying if played.wanted is None else lying & (played.off > rules.off_deg)


def _on_more_than_feet(played: PlayedMotion) -> Flags:
    touching = np.zeros(len(played.times), dtype=np.bool_)
    for contact in played.touching_pairs:
        if contact.with_floor and contact.parts[0] not in played.robot.feet:
            touching[contact.frames] = True
    return touching


def _fall(played: PlayedMotion, rules: PhysicsRules, begin: int, end: int) -> Fall:
    window = slice(max(played.begin, begin - round(BEFORE_S / played.frame_s)), end)
    turning = float(np.diff(played.lean[window], prepend=played.lean[window][:1]).max()) / played.frame_s
    heights = played.record.base[window, 2]
    dropping = float(-np.diff(heights, prepend=heights[:1]).min()) / played.frame_s
    return Fall(
        time_s=float(played.times[begin]),
        until_s=float(played.times[end]) if end < len(played.times) else None,
        keyframe=int(played.keyframes[begin]),
        lean_deg=float(played.lean[begin:end].max()),
        side=played.way_of_leaning(begin),
        turning_deg_s=turning,
        dropping_m_s=dropping,
        is_hard=turning > rules.turning_deg_s or dropping > rules.hit_m_s,
    )


def _landings(played: PlayedMotion) -> list[tuple[str, int, float]]:
    """Return part, frame and speed [m/s] of whatever but the feet comes to the floor during the motion."""
    return [
        (contact.parts[0], int(frame), float(speed))
        for contact in played.touching_pairs
        if contact.with_floor and contact.parts[0] not in played.robot.feet
        for frame, speed in zip(contact.frames, contact.speeds, strict=True)
        if frame >= played.begin and np.isfinite(speed)
    ]


def stability(played: PlayedMotion, rules: PhysicsRules, falls: Sequence[Fall]) -> Iterator[Finding]:
    """Yield what there is to say about staying up."""
    yield from (_fallen(played, rules, fall) for fall in falls)
    yield from _first_pose(played, rules)
    if not falls:
        yield from _still_lies(played, rules)
        yield from _tilt(played, rules)
    yield from _floor(played, rules)


def _fallen(played: PlayedMotion, rules: PhysicsRules, fall: Fall) -> Finding:
    verb = "falls" if fall.is_hard else "lies down"
    later = "stays so" if fall.until_s is None else f"is up again {fall.until_s - fall.time_s:.1f} s later"
    frame = int(np.searchsorted(played.times, fall.time_s))
    message = f"the robot {verb} {fall.side} {played.when(frame)} and {later}"
    return played.finding((fall.level, "fall"), message, frame, (fall.lean_deg, rules.fall_deg, "deg"))


def _first_pose(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    last = played.begin - 1
    if last < 0:
        return
    change, side = played.turned(0, last)
    if change <= rules.stand_deg:
        return
    level, limit = Level.NOTE, rules.stand_deg
    message = f"put down in its first pose, the robot tips {side} by {change:.0f} deg before it stands still"
    if change > rules.off_deg:
        level, limit = Level.WARNING, rules.off_deg
        message = (
            f"put down in its first pose, the robot falls {side}: it begins the motion leaning "
            f"{played.lean[last]:.0f} deg; say how it is to be put down if the motion begins lying"
        )
    yield Finding(level, "first_pose", message, value=change, limit=limit, unit="deg")


def _still_lies(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Tell of a robot that lay before the motion began, and lies when it is over."""
    if _down(played, rules)[-1]:
        last = len(played.times) - 1
        message = f"the robot lies {played.way_of_leaning(last)} at the end, as it did at first"
        measured = (float(played.lean[-1]), rules.fall_deg, "deg")
        yield played.finding((Level.NOTE, "lying"), message, last, measured)


def _tilt(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    if played.wanted is None:
        how_far, limit, level = (
            played.lean - played.lean[max(0, played.begin - 1)],
            rules.lean_deg,
            Level.NOTE,
        )
        whence = "more than at first"
    else:
        how_far, limit, level = played.off, rules.tilt_deg, Level.WARNING
        whence = "from where its author wants it"
    worst = played.begin + int(how_far[played.begin :].argmax())
    value = float(how_far[worst])
    if value <= limit:
        return
    message = (
        f"the base leans {played.lean[worst]:.0f} deg {played.way_of_leaning(worst)} {played.when(worst)}, "
        f"{value:.0f} deg {whence}"
    )
    yield played.finding((level, "tilt"), message, worst, (value, limit, "deg"))


def _floor(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    landings = sorted(_landings(played), key=lambda landing: -landing[2])
    if not landings:
        return
    hardest, frame, speed = landings[0]
    others = list(dict.fromkeys(part for part, *_ in landings if part != hardest))
    shown = ", ".join(others[:MOST_NAMED]) + (", ..." if len(others) > MOST_NAMED else "")
    besides = f"; more softly {shown}" if others else ""
    level, what = Level.NOTE, "comes to the floor"
    if speed > rules.hit_m_s:
        level, what = Level.WARNING, f"hits the floor with {speed:.1f} m/s"
    message = f"{hardest} {what} {played.when(frame)}{besides}"
    yield played.finding((level, "floor"), message, frame, (speed, rules.hit_m_s, "m/s"))
