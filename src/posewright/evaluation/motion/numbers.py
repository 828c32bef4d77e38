"""The numbers of a motion's trial, in plain values for programs and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from posewright.evaluation.motion.course import Course
from posewright.evaluation.motion.stability import Fall
from posewright.evaluation.motion.strain import lags, saturations
from posewright.evaluation.motion.thresholds import PhysicsRules
from posewright.evaluation.motion.touching import MM_PER_M, longest_slips, self_contacts
from posewright.rotation import roll_pitch_yaw

DECIMALS = 6


def numbers_of(course: Course, rules: PhysicsRules, falls: Sequence[Fall]) -> dict[str, Any]:
    """Return everything measured, ready for JSON; times are seconds since the motion began."""
    return {
        "played_s": course.ends_s,
        "settled_s": -_round(course.times[0] - course.frame_s) if course.begin else 0.0,
        "held_s": _round(course.times[-1] - course.ends_s),
        "falls": [asdict(fall) for fall in falls],
        **_attitude(course),
        "self_contacts": [
            {
                "parts": list(contact.parts),
                **_moment(course, contact.frame),
                "depth_mm": _round(contact.depth_mm),
                "force_n": _round(contact.force_n),
                "total_s": _round(contact.total_s),
                "at_first": contact.at_first,
                "first_n": _round(contact.first_n),
            }
            for contact in self_contacts(course)
        ],
        "saturated": [
            {
                "joint": stretch.joint,
                **_moment(course, stretch.begin),
                "longest_s": _round(stretch.longest_s),
                "share": _round(stretch.share),
            }
            for stretch in saturations(course, rules)
        ],
        "slip_mm": _slips(course),
        "lag_deg": {
            lag.joint: {"max": _round(lag.max_deg), "rms": _round(lag.rms_deg), **_moment(course, lag.frame)}
            for lag in lags(course)
        },
    }


def _attitude(course: Course) -> dict[str, Any]:
    """Return how the base stood at first, leant at most and stood at last."""
    worst = course.begin + int(course.lean[course.begin :].argmax())
    at_first = max(0, course.begin - 1)
    roll, pitch, _ = np.degrees(roll_pitch_yaw(course.base[at_first, 3:])).tolist()
    return {
        "first_attitude_deg": {"roll": _round(roll), "pitch": _round(pitch)},
        "first_tilt_deg": _round(course.lean[at_first]),
        "max_tilt_deg": _round(course.lean[worst]),
        "max_tilt": {**_moment(course, worst), "side": course.way_of_leaning(worst)},
        "last_tilt_deg": _round(course.lean[-1]),
        "max_off_deg": _round(course.off[course.begin :].max()),
        "author_says_attitude": course.wanted is not None,
    }


def _slips(course: Course) -> dict[str, Any]:
    """Return of each foot how far it slid: over the whole motion, and longest without being lifted."""
    total = course.slips[course.begin :].sum(axis=0) * MM_PER_M
    longest = {slip.foot: slip for slip in longest_slips(course)}
    return {
        foot: {"total": _round(way), "longest": _round(longest[foot].way_mm) if foot in longest else 0.0}
        for foot, way in zip(course.robot.feet, total, strict=True)
    }


def _moment(course: Course, frame: int) -> dict[str, Any]:
    return {"time_s": _round(course.times[frame]), "keyframe": int(course.keyframes[frame])}


def _round(value: float) -> float:
    return round(float(value), DECIMALS) + 0.0
