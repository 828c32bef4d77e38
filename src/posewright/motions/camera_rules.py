"""The design rule about the camera: a head that turns fast costs pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.motions.checked import Checked, Way, onto
from posewright.motions.finding import Finding, Level

MOST_TOLD = 5
"""How many stretches without pictures are named; of more it is said how many."""

ROUNDING = 1e-9
"""A picture and a fast stretch that share less than this part of a picture only touch."""


@dataclass(frozen=True)
class _Turn:
    """The fastest that a joint turns: how fast [deg/s], which, on the way into which keyframe, when [s]."""

    speed: float
    joint: str
    number: int
    time_s: float


def camera(checked: Checked) -> Iterator[Finding]:
    """The head is still enough to see.

    A picture is lost if a joint that moves the camera turns faster than the threshold at any time while it is
    the picture's turn, from k / rate to (k + 1) / rate seconds; the first picture begins with the motion.
    """
    rules = checked.rules
    columns = [checked.motion.joints.index(j) for j in rules.camera_joints if j in checked.motion.joints]
    rate, stretches = rules.camera_rate_hz, _lost(checked, columns)
    lost = sum(after - first for first, after in stretches)
    if lost <= rules.camera_lost_frames:
        return
    turn = max((_fastest(checked, way, columns) for way in checked.ways), key=lambda turn: turn.speed)
    over = checked.motion.duration
    spans = ", ".join(
        f"{first / rate:.2f}-{min(after / rate, over):.2f}" for first, after in stretches[:MOST_TOLD]
    )
    more = f" and {len(stretches) - MOST_TOLD} times more" if len(stretches) > MOST_TOLD else ""
    turns = "jumps" if math.isinf(turn.speed) else f"turns {turn.speed:.0f} deg/s"
    taken = _pictures(checked)
    share = f"{lost} of {taken} pictures ({lost / taken:.0%})"
    message = (
        f"the camera loses {share}, at {spans} s{more}: {turn.joint} {turns} {onto(turn.number)}, "
        f"a picture bears {rules.camera_speed_deg_s:g} deg/s"
    )
    middles = ((first + after) / 2.0 / rate for first, after in stretches)
    yield Finding(
        Level.WARNING,
        "camera",
        message,
        turn.number,
        turn.joint,
        float(lost),
        float(rules.camera_lost_frames),
        "frames",
        (turn.time_s, *middles),
    )


def _pictures(checked: Checked) -> int:
    """Return how many pictures are begun during the motion, and on a loop's way back."""
    until = max(checked.motion.duration, *(way.begins_s + way.reach_s for way in checked.ways))
    return max(math.ceil(until * checked.rules.camera_rate_hz - ROUNDING), 1)


def _lost(checked: Checked, columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return the stretches of pictures that are lost: the first, and the one after the last."""
    rate, most = checked.rules.camera_rate_hz, checked.rules.camera_speed_deg_s * (1.0 + ROUNDING)
    last = _pictures(checked) - 1
    stretches: list[tuple[int, int]] = []
    for way in checked.ways:
        fast = np.any(way.speeds[:, columns] > most, axis=1)
        for span in np.flatnonzero(fast).tolist():
            first = min(math.floor(way.time_s(span) * rate + ROUNDING), last)
            after = max(math.ceil(way.time_s(span + 1) * rate - ROUNDING), first + 1)
            if stretches and first <= stretches[-1][1]:
                first, after = stretches[-1][0], max(after, stretches.pop()[1])
            stretches.append((first, after))
    return stretches


def _fastest(checked: Checked, way: Way, columns: Sequence[int]) -> _Turn:
    column = columns[int(way.fastest[columns].argmax())]
    return _Turn(float(way.fastest[column]), checked.motion.joints[column], way.number, way.fastest_s(column))
