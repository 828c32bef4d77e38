"""A rule's case that needs no recording: an inspection, a layout, an order by points, what places earn.

```yaml
inspect: {height_m: 0.5, mass_kg: 3.0, foot_m: 0.11, legs: 2}
layout: [[1.0, 0.3], [1.5, -0.4, 30]]         # of boxes on the race's field
put_back: {leg: 1, looked_deg: 100}           # where it looked when it last stood
legs: {A: [150, 50, 0], B: [150, 50, 1]}      # time s, distance cm, penalties
day: {contest: stairs, entries: {ours: {steps: 6, penalties: 0, time_s: 80}, theirs: ...}}
day: {contest: obstacle-race, entries: {ours: {raw: 3.5}, theirs: ...}}
```
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from posewright.arenas import Box, arena, check_layout
from posewright.contests import Measures, contest, inspect_measures, rank, score
from posewright.contests.obstacle_race.put_back import turn_towards


def _inspected(measures: dict[str, Any]) -> dict[str, Any]:
    inspecting_contest: Any = contest(
        "obstacle-race-2017" if measures.pop("year", 2013) == 2017 else "obstacle-race"
    )
    inspection = inspect_measures("ours", Measures(**measures), inspecting_contest.rules)
    return {
        "passed": inspection.passed,
        "not_kept": [verdict.measure for verdict in inspection.verdicts if not verdict.passed],
    }


def _laid(places: list[list[float]]) -> dict[str, Any]:
    boxes = [Box(x, y, *[math.radians(angle) for angle in turned]) for x, y, *turned in places]
    return {"faults": sorted({fault.kind.value for fault in check_layout(boxes, arena())})}


def _ranked(entries: Mapping[str, list[float]]) -> dict[str, Any]:
    scores = {name: score(time_s, cm, int(count)) for name, (time_s, cm, count) in entries.items()}
    standings = rank({name: leg_score.raw_points for name, leg_score in scores.items()})
    return {
        "order": " ".join(standing.name for standing in standings),
        "raw_points": {name: leg_score.raw_points for name, leg_score in scores.items()},
        "points": {name: standing.points for name, standing in scores.items()},
    }


@dataclass(frozen=True)
class MadeScore:
    """A score as far as a day's ranking looks at it."""

    points: float
    ranking: tuple[float, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)


def _earned(scenario: Mapping[str, Any]) -> dict[str, Any]:
    scored_contest: Any = contest(scenario["contest"])
    scores = {name: _make_score(scored_contest, entry) for name, entry in scenario["entries"].items()}
    order = sorted(scores, key=lambda name: scores[name].ranking, reverse=True)
    return {
        "order": " ".join(order),
        "earned": dict(zip(scores, scored_contest.earned(list(scores.values())), strict=True)),
    }


def _make_score(scored_contest: Any, entry: Mapping[str, Any]) -> MadeScore:
    if "raw" in entry:
        return MadeScore(max(entry["raw"], 0.0), (entry["raw"],))
    steps = entry["steps"]
    time_s = entry.get("time_s", 300.0)
    points = (0, *scored_contest.rules.step_points)[steps]
    return MadeScore(points, (-entry.get("penalties", 0), steps, -time_s), {"arrived": "time_s" in entry})


def _turned(turn: Mapping[str, float]) -> dict[str, Any]:
    race: Any = contest("obstacle-race")
    goal = 0.0 if turn["leg"] == 1 else math.pi
    yaw = turn_towards(math.radians(turn["looked_deg"]), goal, race.rules.fall.turn_rad)
    return {"yaw_deg": round(math.degrees(yaw), 6)}


SUMS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "inspect": _inspected,
    "layout": _laid,
    "legs": _ranked,
    "put_back": _turned,
    "day": _earned,
}


def sum_of(scenario: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what comes out; None where the scenario is a story, of which there is a recording."""
    return None if "contest" in scenario else next(SUMS[kind](value) for kind, value in scenario.items())
