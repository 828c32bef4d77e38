"""How a leg's points grew: what it had earned, and what crossing the line would have earned, over time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from posewright.contests.judge import rules_of
from posewright.contests.race import Race
from posewright.contests.rows import Rows
from posewright.contests.rules import Rules
from posewright.contests.score import score
from posewright.recordings import Recording

Floats = NDArray[np.float64]
_Look = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class LegProgress:
    """The points of one leg while it was run, at the times a judge looked.

    Attributes:
        leg: 1 or 2.
        times: of the trace, `(n,)` [s].
        earned: had the robot stayed where it was until the limit; the leg's own points at its end, `(n,)`.
        if_crossed: had it crossed the line at that moment, `(n,)`.
    """

    leg: int
    times: Floats
    earned: Floats
    if_crossed: Floats


def progress(
    trace: Recording, rules: Rules | None = None, *, every_s: float = 0.25
) -> tuple[LegProgress, ...]:
    """Return the progress of every leg that was begun, as the judge's own account has it.

    Args:
        trace: what happened.
        rules: by which to judge; those the trace carries where none are given.
        every_s: how often to look [s].

    Raises:
        InputError: the trace does not say where the robot was, or carries no rules.
    """
    race, rows = Race(rules_of(trace.header) if rules is None else rules), Rows.of_recording(trace)
    events = sorted(trace.events, key=lambda event: event.time_s)
    looks: tuple[list[_Look], list[_Look]] = ([], [])
    for part in _parts(rows, every_s):
        now_s = float(part.times[-1])
        while events and events[0].time_s <= now_s:
            race.note(events.pop(0))
        race.advance(part)
        for number, seen in enumerate(looks, 1):
            look = _look(race, number, now_s)
            if race.legs[number - 1].started_s is not None and (not seen or seen[-1][0] < look[0]):
                seen.append(look)
    return tuple(LegProgress(number, *np.array(seen).T) for number, seen in enumerate(looks, 1) if seen)


def _parts(rows: Rows, every_s: float) -> Iterator[Rows]:
    """Yield the rows of every so many seconds."""
    edges = np.searchsorted(rows.times, np.arange(every_s, rows.times[-1], every_s), side="right")
    edges = np.unique([0, *edges, len(rows)])
    return (rows[low:high] for low, high in pairwise(edges.tolist()))


def _look(race: Race, number: int, now_s: float) -> _Look:
    """Return time, points earned, and points if the line were crossed now."""
    leg, judged, limits = race.legs[number - 1], race.result().legs[number - 1], race.rules.scoring
    time_s = now_s if leg.ended_s is None else leg.ended_s
    on_clock = min(leg.clock_s(time_s), limits.time_limit_s)
    crossed = score(on_clock, limits.distance_limit_cm, judged.penalties, race.rules)
    return time_s, judged.raw_points, crossed.raw_points
