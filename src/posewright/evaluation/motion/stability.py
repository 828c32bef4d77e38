"""Findings about stability: falls, an unstable first pose, tilt, and parts other than feet on the floor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags
from posewright.evaluation.motion.played_motion import Measurement, PlayedMotion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings.falls import FallDetector

FALL_WINDOW_S = 0.4
"""A base begins to fall at most this long before it counts as down [s]."""

MAX_NAMED_PARTS = 4
"""Number of further parts on the floor that a finding names."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall of the robot, or its lying down on purpose.

    Attributes:
        time_s: when it was first down [s].
        until_s: when it was up again [s]; None if it stayed down.
        keyframe: approached or held when it was first down.
        lean_deg: greatest tilt [deg].
        side: direction of the tilt when it was first down.
        turning_deg_s: greatest speed of tilting [deg/s].
        dropping_m_s: greatest speed of descent [m/s].
        is_hard: whether one of the speeds is too high for lying down on purpose.
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
        """Level of its finding: falling is worse than lying down, and staying down worse than getting up."""
        stays_down = self.until_s is None
        if self.is_hard:
            return Level.ERROR if stays_down else Level.WARNING
        return Level.WARNING if stays_down else Level.NOTE


def falls_of(played: PlayedMotion, rules: PhysicsRules) -> tuple[Fall, ...]:
    """Return the falls of the robot, without one that begins before the motion."""
    detector = FallDetector(rules.fall_limits(played.frame_s))
    detector.advance_flags(played.times, _is_down(played, rules))
    return tuple(
        _measure_fall(played, rules, fall.begin, fall.end)
        for fall in detector.falls()
        if fall.begin >= played.first_frame
    )


def _is_down(played: PlayedMotion, rules: PhysicsRules) -> Flags:
    """Return whether the base is down in each frame, `(n,)`.

    It is down if it is tilted far with a part other than a foot on the floor, or tilted far sideways; and, if
    the motion's author states an attitude, only if it is far from that one, too.
    """
    has_part_on_floor = np.zeros(len(played.times), dtype=np.bool_)
    for contact in played.contacts:
        if contact.is_with_floor and contact.parts[0] not in played.robot.feet:
            has_part_on_floor[contact.frames] = True
    is_down = (played.tilt_deg > rules.fall_tilt_deg) & has_part_on_floor
    is_down |= played.sideways_tilt_deg > rules.fall_sideways_deg
    if played.intended_attitude is not None:
        is_down &= played.attitude_error_deg > rules.fall_attitude_error_deg
    return is_down


def _measure_fall(played: PlayedMotion, rules: PhysicsRules, begin: int, end: int) -> Fall:
    """Return a fall, with the speeds at which the base turned and dropped shortly before.

    Args:
        played: the motion.
        rules: what counts as a hard fall.
        begin: the first frame in which the base is down.
        end: the first frame in which it is not down any more, or the number of frames.
    """
    window = slice(max(played.first_frame, begin - round(FALL_WINDOW_S / played.frame_s)), end)
    tilts_deg = played.tilt_deg[window]
    heights = played.record.base[window, 2]
    turning_deg_s = float(np.diff(tilts_deg, prepend=tilts_deg[:1]).max()) / played.frame_s
    dropping_m_s = float(-np.diff(heights, prepend=heights[:1]).min()) / played.frame_s
    return Fall(
        time_s=float(played.times[begin]),
        until_s=float(played.times[end]) if end < len(played.times) else None,
        keyframe=int(played.keyframe_numbers[begin]),
        lean_deg=float(played.tilt_deg[begin:end].max()),
        side=played.tilt_direction(begin),
        turning_deg_s=turning_deg_s,
        dropping_m_s=dropping_m_s,
        is_hard=turning_deg_s > rules.fall_tilting_deg_s or dropping_m_s > rules.fall_descent_m_s,
    )


class _Landing(NamedTuple):
    """A part other than a foot that reaches the floor.

    Attributes:
        part: its name.
        frame: the frame in which it does.
        speed_m_s: downwards [m/s].
    """

    part: str
    frame: int
    speed_m_s: float


def _landings(played: PlayedMotion) -> list[_Landing]:
    """Return the landings of parts other than feet, from the motion's begin on."""
    landings = []
    for contact in played.contacts:
        part, _ = contact.parts
        if not contact.is_with_floor or part in played.robot.feet:
            continue
        for frame, speed_m_s in zip(contact.frames.tolist(), contact.speeds.tolist(), strict=True):
            if frame >= played.first_frame and math.isfinite(speed_m_s):  # NaN if it was on the floor before
                landings.append(_Landing(part, frame, speed_m_s))
    return landings


def stability(played: PlayedMotion, rules: PhysicsRules, falls: Sequence[Fall]) -> Iterator[Finding]:
    """Yield findings about stability; `falls` are those of `falls_of`."""
    for fall in falls:
        yield _fall_finding(played, rules, fall)
    yield from _check_first_pose(played, rules)
    if not falls:
        yield from _check_lying_at_end(played, rules)
        yield from _check_tilt(played, rules)
    yield from _check_landings(played, rules)


def _fall_finding(played: PlayedMotion, rules: PhysicsRules, fall: Fall) -> Finding:
    """Return the finding about a fall."""
    verb = "falls" if fall.is_hard else "lies down"
    sequel = "stays down" if fall.until_s is None else f"is up again {fall.until_s - fall.time_s:.1f} s later"
    frame = int(np.searchsorted(played.times, fall.time_s))
    message = f"the robot {verb} {fall.side} {played.format_time(frame)} and {sequel}"
    measurement = Measurement(fall.lean_deg, rules.fall_tilt_deg, "deg")
    return played.create_finding(fall.level, "fall", message, frame=frame, measurement=measurement)


def _check_first_pose(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield a finding if the robot tips or falls in its first pose, before the motion begins."""
    settled_frame = played.first_frame - 1
    if settled_frame < 0:
        return
    change_deg, side = played.attitude_change(0, settled_frame)
    if change_deg <= rules.max_settling_deg:
        return
    if change_deg > rules.fall_attitude_error_deg:
        level = Level.WARNING
        limit_deg = rules.fall_attitude_error_deg
        message = (
            f"put down in its first pose, the robot falls {side} and begins the motion tilted by "
            f"{played.tilt_deg[settled_frame]:.0f} deg; "
            "if the motion begins lying, give the attitude at the start"
        )
    else:
        level = Level.NOTE
        limit_deg = rules.max_settling_deg
        message = (
            f"put down in its first pose, the robot tips {side} by {change_deg:.0f} deg "
            "before it stands still"
        )
    yield Finding(level, "first_pose", message, value=change_deg, limit=limit_deg, unit="deg")


def _check_lying_at_end(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield a finding if the robot lies at the end, given that it did not fall during the motion."""
    if not _is_down(played, rules)[-1]:
        return
    last = len(played.times) - 1
    message = f"the robot lies {played.tilt_direction(last)} at the end, as it did at first"
    measurement = Measurement(float(played.tilt_deg[-1]), rules.fall_tilt_deg, "deg")
    yield played.create_finding(Level.NOTE, "lying", message, frame=last, measurement=measurement)


def _check_tilt(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield a finding if the base deviates too far from its intended attitude, or else tilts too far."""
    if played.intended_attitude is None:
        level = Level.NOTE
        deviation_deg = played.tilt_deg - played.tilt_deg[max(0, played.first_frame - 1)]
        limit_deg = rules.max_tilt_increase_deg
        reference = "more than at first"
    else:
        level = Level.WARNING
        deviation_deg = played.attitude_error_deg
        limit_deg = rules.max_attitude_error_deg
        reference = "from the attitude its author states"
    frame = played.first_frame + int(deviation_deg[played.first_frame :].argmax())
    value_deg = float(deviation_deg[frame])
    if value_deg <= limit_deg:
        return
    message = (
        f"the base tilts {played.tilt_deg[frame]:.0f} deg {played.tilt_direction(frame)} "
        f"{played.format_time(frame)}, {value_deg:.0f} deg {reference}"
    )
    yield played.create_finding(
        level, "tilt", message, frame=frame, measurement=Measurement(value_deg, limit_deg, "deg")
    )


def _check_landings(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield a finding about the part that hits the floor hardest, if any part other than a foot does."""
    landings = sorted(_landings(played), key=lambda landing: -landing.speed_m_s)
    if not landings:
        return
    hardest_part, frame, speed_m_s = landings[0]
    other_parts = list(dict.fromkeys(landing.part for landing in landings if landing.part != hardest_part))
    if speed_m_s > rules.fall_descent_m_s:
        level = Level.WARNING
        verb = f"hits the floor with {speed_m_s:.1f} m/s"
    else:
        level = Level.NOTE
        verb = "reaches the floor"
    message = f"{hardest_part} {verb} {played.format_time(frame)}"
    if other_parts:
        message += f"; more softly {', '.join(other_parts[:MAX_NAMED_PARTS])}"
    if len(other_parts) > MAX_NAMED_PARTS:
        message += ", ..."
    measurement = Measurement(speed_m_s, rules.fall_descent_m_s, "m/s")
    yield played.create_finding(level, "floor", message, frame=frame, measurement=measurement)
