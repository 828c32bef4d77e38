"""What windows are told of a recording: who decided what and when, what went wrong, and what it was worth."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.charts import chart_in
from posewright.charts.drawing import draw_svg
from posewright.contests import ContestPicture, Mark, MarkKind, contest_of
from posewright.documents import PlainData, to_plain
from posewright.errors import InputError
from posewright.evaluation import evaluate_run
from posewright.recordings import Decisions, Event, Header, Recording, RobotRecord
from posewright.recordings.falls import tilt
from posewright.runs import Outcome
from posewright.runs.outcome import Unjudged

MOST_SHOWN = 100
"""A chart with more states takes long to draw, and nobody can read it."""

MOST_POINTS = 500
"""A curve has no more points than a window has pixels."""

CHARTS = (".chart.yaml", ".scxml", ".csv")
TOLD = {"stop", "fault"}
"""Events whose particulars say it all."""

QUIET = {"start", "try"}
"""Events that are nobody's fault, and nothing to look for."""


@dataclass(frozen=True, eq=False)
class Track:
    """A recording as windows see it.

    Attributes:
        about: what does not change while a trial goes on: who takes part, and their charts.
        told: everything over time.
        marks: what the contest points at.
    """

    recording: Recording
    about: Mapping[str, Any] = field(repr=False)
    told: Mapping[str, Any] = field(repr=False)
    marks: tuple[Mark, ...] = ()

    @classmethod
    def of(cls, recording: Recording, outcome: Outcome | None = None, before: Track | None = None) -> Track:
        """Return a recording as windows see it; `outcome` once it is judged, `before` where it goes on."""
        header = recording.header
        is_judged = header.contest if outcome is None else not isinstance(outcome.score, Unjudged)
        picture = contest_of(header, trust_attached_rules=True).picture(recording) if is_judged else None
        is_known = before is not None and before.recording.header is header
        about = before.about if before is not None and is_known else _about(recording)
        told = {
            "duration_s": recording.duration_s,
            "robots": [
                {**_lanes(record.decisions), "measured": _measured(recording.times, record)}
                for record in recording.robots.values()
            ],
            "incidents": sorted(_incidents(recording, picture), key=lambda one: float(one["time_s"])),
            "score": None if outcome is None else _score(outcome),
            **_points(picture),
        }
        return cls(recording, about, told, () if picture is None else tuple(picture.marks))

    def now(self, time_s: float) -> list[dict[str, Any]]:
        """Return what each robot has decided last at a time [s]."""
        return [
            {
                **_decided(record.decisions, time_s),
                "measured": {
                    one["name"]: _at(one["values"], time_s) for one in self.told["robots"][place]["measured"]
                },
            }
            for place, record in enumerate(self.recording.robots.values())
        ]


def _about(recording: Recording) -> dict[str, Any]:
    header = recording.header
    robots = [
        {
            "name": name,
            "controller": one.header.controller,
            **_chart(header, one),
        }
        for name, one in recording.robots.items()
    ]
    return {"contest": header.contest, "layout": header.layout, "seed": header.seed, "robots": robots}


def _chart(header: Header, record: Any) -> dict[str, Any]:
    """Return the picture of the chart that was in a robot's states, and which states lie in which."""
    seen = {name for state in set(record.decisions.states) for name in state.split("+")}
    for name, text in header.documents.items():
        if not name.endswith(CHARTS):
            continue
        try:
            chart = chart_in(text)
        except InputError:  # another table, or a chart with parts that did not travel along
            continue
        if seen and seen <= set(chart.parents) and len(chart.every_state) <= MOST_SHOWN:
            inside = {state: parent for state, parent in chart.parents.items() if parent is not None}
            return {"chart": draw_svg(chart), "inside": inside}
    return {"chart": None, "inside": {}}


def _lanes(decisions: Decisions) -> dict[str, Any]:
    """Return states, what is played, inputs and outputs over time, each as [time, value] where it changes."""
    times = decisions.times
    return {
        "states": _changes(times, decisions.states),
        "playing": _changes(times, decisions.playing),
        **{what: _signals(times, getattr(decisions, what)) for what in ("inputs", "outputs")},
    }


def _measured(times: Floats, record: RobotRecord) -> list[dict[str, Any]]:
    """Return what anybody wants to know of a robot whoever decided: how far it is tilted."""
    if not record.knows_place:
        return []
    leans = np.degrees(tilt(record.base)).round(1).tolist()
    return [{"name": "tilt_deg", "values": _changes(times, leans)}]


def _at(changes: Sequence[Sequence[Any]], time_s: float) -> Any:
    place = bisect.bisect_right(changes, time_s, key=lambda change: change[0]) - 1
    return changes[place][1] if place >= 0 else None


def _signals(times: Floats, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return [
        {"name": name, "values": _changes(times, [_plain(row.get(name)) for row in rows])} for name in names
    ]


def _changes(times: Floats, values: Sequence[Any]) -> list[list[Any]]:
    found = [
        [round(time_s, 3), value]
        for row, (time_s, value) in enumerate(zip(times.tolist(), values, strict=True))
        if not row or value != values[row - 1]
    ]
    if len(found) <= MOST_POINTS or isinstance(found[0][1], str | bool):
        return found
    return found[:: math.ceil(len(found) / MOST_POINTS)]


def _plain(value: object) -> PlainData:
    return to_plain(value, decimals=4, nan_as_none=True)


def _decided(decisions: Decisions, time_s: float) -> dict[str, Any]:
    row = int(np.searchsorted(decisions.times, time_s, side="right")) - 1
    if row < 0:
        return {"states": [], "playing": None, "inputs": {}, "outputs": {}}
    told = {
        what: {name: _plain(value) for name, value in getattr(decisions, what)[row].items()}
        for what in ("inputs", "outputs")
    }
    return {"states": decisions.states[row].split("+"), "playing": decisions.playing[row], **told}


def _incidents(recording: Recording, picture: ContestPicture | None) -> Iterator[dict[str, Any]]:
    """Yield what cost points and what happened besides, each with the robot to be looked at."""
    first = next(iter(recording.robots))
    noted = set()
    for mark in picture.marks if picture is not None else ():
        noted.add(round(mark.time_s, 1))
        yield {"time_s": mark.time_s, "what": mark.label, "kind": mark.kind.value, "robot": first}
    for event in recording.events:
        if event.kind not in QUIET and (event.kind == "stop" or round(event.time_s, 1) not in noted):
            robot = str(event.data.get("robot", first))
            robot = robot if robot in recording.robots else first
            yield {"time_s": event.time_s, "what": _words(event), "kind": _kind(event), "robot": robot}
    if picture is None and not recording.header.contest:
        yield from _falls(recording)


def _falls(recording: Recording) -> Iterator[dict[str, Any]]:
    try:
        measured = evaluate_run(recording).robots
    except InputError:  # a card that does not ship
        return
    for robot, figures in measured.items():
        for time_s, side in zip(figures.fall_times_s or (), figures.fall_sides or (), strict=True):
            kind = MarkKind.PENALTY.value
            yield {"time_s": time_s, "what": f"falls {side}", "kind": kind, "robot": robot}


def _words(event: Event) -> str:
    data = {key: value for key, value in event.data.items() if key != "robot" and value is not None}
    if event.kind == "safety":
        unit, asked, limit = (data.get(key, "") for key in ("unit", "value", "limit"))
        if str(unit).startswith("rad") and isinstance(asked, float) and isinstance(limit, float):
            unit, asked, limit = str(unit).replace("rad", "deg"), math.degrees(asked), math.degrees(limit)
        joint = _said(data.get("joint", ""))
        return f"{data.get('guard')}, {joint}: asked for {_said(asked)}, limit {_said(limit)} {unit}"
    if event.kind in TOLD:
        return " ".join(map(_said, data.values()))
    told = ", ".join(f"{_said(key)} {_said(value)}" for key, value in data.items())
    return f"{_said(event.kind)}: {told}" if told else _said(event.kind)


def _said(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("_", " ")


def _kind(event: Event) -> str:
    return event.kind if event.kind in {*TOLD, "safety"} else "event"


def _score(outcome: Outcome) -> dict[str, Any]:
    table = outcome.score.table()
    return {
        "columns": list(table.columns),
        "rows": [list(row) for row in (*table.rows, *([table.total] if table.total else []))],
        "notes": [*table.notes, *outcome.score.warnings, *outcome.all_remarks],
        "is_judged": not isinstance(outcome.score, Unjudged),
    }


def _points(picture: ContestPicture | None) -> dict[str, Any]:
    if picture is None:
        return {"headline": "", "spans": [], "series": [], "series_title": ""}
    every = [max(1, math.ceil(len(one.times) / MOST_POINTS)) for one in picture.series]
    return {
        "headline": picture.headline,
        "spans": [[span.begin_s, span.end_s, span.label] for span in picture.spans],
        "series_title": picture.series_title,
        "series": [
            {
                "title": one.title,
                "unit": one.unit,
                "dotted": one.dotted,
                "points": [
                    [round(time_s, 3), _plain(value)]
                    for time_s, value in zip(
                        one.times[::step].tolist(), one.values[::step].tolist(), strict=True
                    )
                ],
            }
            for one, step in zip(picture.series, every, strict=True)
        ],
    }
