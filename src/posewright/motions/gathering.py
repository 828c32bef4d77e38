"""Gathering: one finding for what a joint does again and again, so that a long motion stays readable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from posewright.motions.finding import Finding

AGAIN = 3
"""From so many keyframes on, one finding speaks for them all."""

MOST_TOLD = 6
"""How many rows of keyframes are named; of more it is said that there are."""


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
