"""Recordings as plain data for windows: decisions, incidents and score over time."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from posewright.arrays import Floats
from posewright.charts import parse_any_chart
from posewright.charts.drawing import draw_svg
from posewright.contests import ContestPicture, Mark, MarkKind, Series, contest_of
from posewright.documents import PlainData, to_plain
from posewright.errors import InputError
from posewright.evaluation import evaluate_run
from posewright.recordings import Decisions, Event, Header, Recording, RobotRecord
from posewright.recordings.falls import tilt
from posewright.runs import Outcome
from posewright.runs.outcome import Unjudged
from posewright.studio.requests import View

MAX_CHART_STATES = 100
"""Charts with more states are not drawn: drawing is slow and the picture unreadable."""

MAX_POINTS = 500
"""Maximum number of points of a curve."""

CHART_SUFFIXES = (".chart.yaml", ".scxml", ".csv")
Changes = list[tuple[float, object]]
"""A value over time: (time, value) for each change."""

SELF_EXPLAINING = {"stop", "fault"}
"""Kinds of events whose data are shown without names."""

EXPECTED = {"start", "try"}
"""Kinds of events that are not incidents."""


@dataclass(frozen=True, eq=False)
class Track:
    """A recording as plain data for windows.

    Attributes:
        recording: the recording.
        description: what does not change during a trial: the robots and their charts.
        timeline: everything over time.
        tilts: tilt over time by robot [deg], for robots with a recorded base pose.
        marks: marks of the contest, such as penalties.
    """

    recording: Recording
    description: View = field(repr=False)
    timeline: View = field(repr=False)
    tilts: Mapping[str, Changes] = field(repr=False)
    marks: tuple[Mark, ...] = ()

    @classmethod
    def of(cls, recording: Recording, outcome: Outcome | None = None, previous: Track | None = None) -> Track:
        """Return the track of a recording: for windows, all that it has as plain data.

        Args:
            recording: the recording.
            outcome: its outcome with the score; None while the run continues.
            previous: the track of the same run up to an earlier time, whose description is used again; None
                for the first.
        """
        header = recording.header
        # while a trial runs, its contest is assumed to be able to judge it
        is_judged = bool(header.contest) if outcome is None else not isinstance(outcome.score, Unjudged)
        picture: ContestPicture | None = None  # the contest's marks and series over time
        if is_judged:
            picture = contest_of(header, trust_attached_rules=True).picture(recording)
        if previous is not None and previous.recording.header is header:  # an equal one may be another run's
            description = previous.description
        else:
            description = _describe(recording)
        tilts: dict[str, Changes] = {}
        robots: list[View] = []
        for name, record in recording.robots.items():
            measured: list[View] = []
            if record.knows_place:
                tilts_deg = np.degrees(tilt(record.base)).round(1).tolist()
                tilts[name] = _changes(recording.times, tilts_deg)
                measured.append({"name": "tilt_deg", "values": tilts[name]})
            robots.append({**_decisions_over_time(record.decisions), "measured": measured})
        incidents = sorted(_incidents(recording, picture), key=lambda incident: incident.time_s)
        timeline: View = {
            "duration_s": recording.duration_s,
            "robots": robots,
            "incidents": [vars(incident) for incident in incidents],
            "score": None if outcome is None else _score_view(outcome),
            **_contest_view(picture),
        }
        marks = () if picture is None else tuple(picture.marks)
        return cls(recording, description, timeline, tilts, marks)

    def now(self, time_s: float) -> list[View]:
        """Return the last decision of each robot at a time [s]."""
        views: list[View] = []
        for name, record in self.recording.robots.items():
            measured = {"tilt_deg": _value_at(self.tilts[name], time_s)} if name in self.tilts else {}
            views.append({**_last_decision(record.decisions, time_s), "measured": measured})
        return views


@dataclass(frozen=True)
class Incident:
    """Something that went wrong.

    Attributes:
        time_s: time of the incident [s].
        text: description.
        kind: kind of the incident, which determines how it is shown.
        robot: name of the robot.
    """

    time_s: float
    text: str
    kind: str
    robot: str


def _describe(recording: Recording) -> View:
    """Return what does not change during a run: contest, layout, seed, and the robots with their charts."""
    header = recording.header
    robots = [
        {"name": name, "controller": record.header.controller, **_chart(header, record)}
        for name, record in recording.robots.items()
    ]
    return {"contest": header.contest, "layout": header.layout, "seed": header.seed, "robots": robots}


def _chart(header: Header, record: RobotRecord) -> View:
    """Return the picture of the chart that a robot ran, and the parent of each state.

    It is the first chart in the recording that has all states in which the robot was. Both are empty if there
    is none, or the chart is too large.
    """
    # several states that were active at once are recorded as one text: `walk+look`
    visited_states = {name for states in set(record.decisions.states) for name in states.split("+")}
    for name, text in header.documents.items():
        if not name.endswith(CHART_SUFFIXES):
            continue
        try:
            chart = parse_any_chart(text)
        except InputError:  # another kind of table, or a chart whose parts are not in the recording
            continue
        has_all_states = bool(visited_states) and visited_states <= set(chart.parents)
        if has_all_states and len(chart.every_state) <= MAX_CHART_STATES:
            parents = {state: parent for state, parent in chart.parents.items() if parent is not None}
            return {"chart": draw_svg(chart), "inside": parents}
    return {"chart": None, "inside": {}}


def _decisions_over_time(decisions: Decisions) -> View:
    """Return states, motions played, inputs and outputs over time."""
    times = decisions.times
    return {
        "states": _changes(times, decisions.states),
        "playing": _changes(times, decisions.playing),
        "inputs": _signals(times, decisions.inputs),
        "outputs": _signals(times, decisions.outputs),
    }


def _value_at(changes: Changes, time_s: float) -> object:
    """Return a value at a time [s]; None before its first change."""
    index = bisect.bisect_right([change_s for change_s, _ in changes], time_s) - 1
    if index < 0:
        return None
    _, value = changes[index]
    return value


def _signals(times: Floats, rows: Sequence[Mapping[str, object]]) -> list[View]:
    """Return the changes of each signal over time.

    Args:
        times: time of each row [s].
        rows: values by signal; a signal may be missing in some rows, where it is None.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return [
        {"name": name, "values": _changes(times, [_plain_value(row.get(name)) for row in rows])}
        for name in names
    ]


def _changes(times: Floats, values: Sequence[object]) -> Changes:
    """Return the times [s] at which values change, with the new values.

    Series of numbers with more than `MAX_POINTS` changes are thinned; texts and flags are not, since each
    change of those matters.
    """
    changes: Changes = [
        (round(time_s, 3), value)
        for row, (time_s, value) in enumerate(zip(times.tolist(), values, strict=True))
        if row == 0 or value != values[row - 1]
    ]
    if len(changes) <= MAX_POINTS or isinstance(values[0], str | bool):
        return changes
    return changes[:: math.ceil(len(changes) / MAX_POINTS)]


def _plain_value(value: object) -> PlainData:
    """Return a value as plain data, rounded to 4 decimals, with None for NaN."""
    return to_plain(value, decimals=4, nan_as_none=True)


def _last_decision(decisions: Decisions, time_s: float) -> View:
    """Return a robot's last decision up to a time [s]: its states, inputs and outputs."""
    row = int(np.searchsorted(decisions.times, time_s, side="right")) - 1
    if row < 0:
        return {"states": [], "playing": None, "inputs": {}, "outputs": {}}
    return {
        "states": decisions.states[row].split("+"),
        "playing": decisions.playing[row],
        "inputs": {name: _plain_value(value) for name, value in decisions.inputs[row].items()},
        "outputs": {name: _plain_value(value) for name, value in decisions.outputs[row].items()},
    }


def _incidents(recording: Recording, picture: ContestPicture | None) -> Iterator[Incident]:
    """Yield penalties, unexpected events and falls.

    Args:
        recording: the recording.
        picture: marks of its contest; None if it is not judged.
    """
    first_robot = next(iter(recording.robots))
    marked_times_s = set()  # rounded to tenths
    for mark in picture.marks if picture is not None else ():
        marked_times_s.add(round(mark.time_s, 1))
        yield Incident(mark.time_s, text=mark.label, kind=mark.kind.value, robot=first_robot)
    for event in recording.events:
        # the contest's mark explains events at the same time better
        is_marked = event.kind != "stop" and round(event.time_s, 1) in marked_times_s
        if event.kind in EXPECTED or is_marked:
            continue
        kind = event.kind if event.kind in {*SELF_EXPLAINING, "safety"} else "event"
        robot = str(event.data.get("robot", first_robot))
        if robot not in recording.robots:
            robot = first_robot
        yield Incident(event.time_s, _describe_event(event), kind, robot)
    if picture is None and not recording.header.contest:
        yield from _falls(recording)


def _falls(recording: Recording) -> Iterator[Incident]:
    """Yield the falls that are computed from the recorded motion of each robot."""
    try:
        robot_evaluations = evaluate_run(recording).robots
    except InputError:  # the robot is not in the catalogue
        return
    for robot, evaluation in robot_evaluations.items():
        for time_s, side in zip(evaluation.fall_times_s or (), evaluation.fall_sides or (), strict=True):
            yield Incident(time_s, text=f"falls {side}", kind=MarkKind.PENALTY.value, robot=robot)


def _describe_event(event: Event) -> str:
    """Return an event as text; angles of safety events are in degrees."""
    data = {key: value for key, value in event.data.items() if key != "robot" and value is not None}
    if event.kind == "safety":
        unit = str(data.get("unit", ""))
        value = data.get("value", "")
        limit = data.get("limit", "")
        if unit.startswith("rad") and isinstance(value, float) and isinstance(limit, float):
            unit = unit.replace("rad", "deg")
            value = math.degrees(value)
            limit = math.degrees(limit)
        joint = _format(data.get("joint", ""))
        return f"{data.get('guard')}, {joint}: asked for {_format(value)}, limit {_format(limit)} {unit}"
    if event.kind in SELF_EXPLAINING:
        return " ".join(map(_format, data.values()))
    details = ", ".join(f"{_format(key)} {_format(value)}" for key, value in data.items())
    return f"{_format(event.kind)}: {details}" if details else _format(event.kind)


def _format(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("_", " ")


def _score_view(outcome: Outcome) -> View:
    """Return the score table with its notes as plain data."""
    table = outcome.score.table()
    rows = [*table.rows, table.total] if table.total else table.rows
    return {
        "columns": list(table.columns),
        "rows": [list(row) for row in rows],
        "notes": [*table.notes, *outcome.score.warnings, *outcome.all_remarks],
        "is_judged": not isinstance(outcome.score, Unjudged),
    }


def _contest_view(picture: ContestPicture | None) -> View:
    """Return the headline, time spans and series of a contest; empty ones for None."""
    if picture is None:
        return {"headline": "", "spans": [], "series": [], "series_title": ""}
    return {
        "headline": picture.headline,
        "spans": [[span.begin_s, span.end_s, span.label] for span in picture.spans],
        "series_title": picture.series_title,
        "series": [_series_view(series) for series in picture.series],
    }


def _series_view(series: Series) -> View:
    """Return a series as plain data, thinned out to at most `MAX_POINTS` points."""
    every = max(1, math.ceil(len(series.times) / MAX_POINTS))
    points = zip(series.times[::every].tolist(), series.values[::every].tolist(), strict=True)
    return {
        "title": series.title,
        "unit": series.unit,
        "dotted": series.dotted,
        "points": [[round(time_s, 3), _plain_value(value)] for time_s, value in points],
    }
