"""Findings: where a motion breaks, or nearly breaks, a design rule; one for what happens again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

AGAIN = 3
"""From so many keyframes on, one finding speaks for them all."""

MOST_TOLD = 6
"""How many rows of keyframes are named; of more it is said that there are."""


class Level(Enum):
    """How bad it is: an error breaks a rule, a warning comes near, a note is only to be known."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """What is found, where, and by how much.

    Attributes:
        rule: the rule's name: finite, limit, coupled, speed, step, pose, duration, camera or free.
        keyframe: counted from 1; 0 is the start pose; None is the motion as a whole. Of several the worst.
        joint: None where it is of no one joint. Of several the worst.
        value: what was found, in `unit`; None where there is nothing to measure.
        limit: what would have been the most (or the least) allowed.
        unit: deg, deg/s, s or frames; empty where there is none.
        times_s: when, the worst first [s] since the motion was started; empty for the motion as a whole.
        keyframes: all it is about, rising, where one finding speaks for several.
    """

    level: Level
    rule: str
    message: str = field(repr=False)
    keyframe: int | None = None
    joint: str | None = None
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    times_s: tuple[float, ...] = field(default=(), repr=False)
    keyframes: tuple[int, ...] = field(default=(), repr=False)

    @property
    def excess(self) -> float:
        """How far the value is from the limit, in `unit`; 0 where there is nothing to measure."""
        return 0.0 if self.value is None or self.limit is None else abs(self.value - self.limit)


def gathered(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; those of one joint, rule and level at several keyframes as the worst of them."""
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.rule, finding.level, finding.joint), []).append(finding)
    for repeated in alike.values():
        numbers = sorted({found.keyframe for found in repeated if found.keyframe is not None})
        if len(numbers) < AGAIN:
            yield from repeated
        else:
            yield _spokesman(repeated, numbers)


def _spokesman(repeated: Sequence[Finding], numbers: list[int]) -> Finding:
    worst = max(repeated, key=lambda finding: finding.excess)
    times = {time: None for finding in (worst, *repeated) for time in finding.times_s}
    what = "the worst" if worst.excess > 0.0 else "the first"
    message = f"{worst.message}; {what} of {len(numbers)}: {listed(numbers)}"
    return replace(worst, message=message, keyframes=tuple(numbers), times_s=tuple(times))


def listed(numbers: Sequence[int]) -> str:
    """Return what rising keyframe numbers are called: "keyframes 3, 5-9"; 0 is the start pose."""
    known = [number for number in numbers if number > 0]
    told = rows(known)
    words = ", ".join(_row(first, last) for first, last in told[:MOST_TOLD])
    start = "the start pose and " if 0 in numbers else ""
    more = " and others" if len(told) > MOST_TOLD else ""
    return f"{start}keyframe{'s' if len(known) > 1 else ''} {words}{more}"


def rows(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of each row of successive numbers among rising ones."""
    firsts = [n for i, n in enumerate(numbers) if i == 0 or numbers[i - 1] != n - 1]
    lasts = [n for i, n in enumerate(numbers) if i == len(numbers) - 1 or numbers[i + 1] != n + 1]
    return list(zip(firsts, lasts, strict=True))


def _row(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first}, {last}" if last == first + 1 else f"{first}-{last}"
