"""Paces, which are what SPEED and HIGHSPEED say together; a motion's extras keep those it was read with.

Moves over few counts take as many pulses at one SPEED as at another: the time alone does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from posewright.motions import Motion
from posewright.runtimes.robobasic.servos import board_facts

EXTRA = "robobasic_speed"
"""Key of a motion's extras: a word for each keyframe, `5 5 3h -`, or `5*2 3h -`: h is HIGHSPEED."""

_WORD = re.compile(r"(?:([0-9]{1,2})(h?)|-)(?:\*([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Pace:
    """What SPEED says, and whether HIGHSPEED is on."""

    speed: int
    high: bool = False

    def __str__(self) -> str:
        return f"{self.speed}{'h' * self.high}"

    def rate(self, speed_counts_s: float) -> float:
        """Return counts a second, from those at SPEED 1."""
        return self.speed * speed_counts_s * (board_facts().high_speed if self.high else 1.0)


def all_paces() -> tuple[Pace, ...]:
    """Return every pace there is, slow ones first, those without HIGHSPEED before those with it."""
    low, high = board_facts().speeds
    return tuple(Pace(speed, fast) for fast in (False, True) for speed in range(low, high + 1))


def written_paces(paces: Sequence[Pace | None]) -> dict[str, str]:
    """Return the extras that keep paces, one for each keyframe; none where none is known."""
    runs = [(str(pace or "-"), len(list(alike))) for pace, alike in groupby(paces)]
    words = (word if n == 1 else f"{word}*{n}" for word, n in runs)
    return {EXTRA: " ".join(words)} if any(paces) else {}


def kept_paces(motion: Motion) -> list[Pace | None]:
    """Return the paces that a motion's keyframes were read with; None where its extras do not tell."""
    unknown: list[Pace | None] = [None] * len(motion.keyframes)
    found: list[Pace | None] = []
    for word in motion.extras.get(EXTRA, "").split():
        match = _WORD.fullmatch(word)
        if match is None or len(found) > len(unknown):
            return unknown
        pace = Pace(int(match[1]), bool(match[2])) if match[1] else None
        found += [pace if pace in all_paces() else None] * int(match[3] or 1)
    return found if len(found) == len(unknown) else unknown
