"""`find_inconsistencies`: contradictions within a recording, also against the rules and charts in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from posewright.arenas import Arena, Shape
from posewright.arrays import Floats
from posewright.charts.formats.files import parse_any_chart
from posewright.charts.model import Chart, walk_states
from posewright.contests.contest import Contest, Score
from posewright.contests.exhibition.contest import Exhibition
from posewright.contests.obstacle_race.contest import ObstacleRace
from posewright.contests.obstacle_race.score import Result
from posewright.contests.passivity_test.contest import PassivityScore, PassivityTest
from posewright.contests.registry import contest_of, has_contest, judge
from posewright.contests.stairs.climb import ARRIVED, StairsScore
from posewright.contests.stairs.contest import Stairs
from posewright.contests.sumo.bout import SumoScore
from posewright.contests.sumo.contest import Sumo
from posewright.contests.vision.contest import Vision
from posewright.contests.vision.scorekeeper import VisionScore
from posewright.documents.plain import PlainData
from posewright.errors import PosewrightError
from posewright.recordings import ABORTED, Recording
from posewright.recordings.consistency import Inconsistency, check_consistency
from posewright.robots import Robot
from posewright.rotation import heading
from posewright.units import wrap_angle

_SHIPPED = (Exhibition, ObstacleRace, PassivityTest, Stairs, Sumo, Vision)
"""Contests whose referees end every run with the event `stop`; others need not."""

_START_M = 0.03
_START_RAD = 0.05
_SHAPE_M = 1e-6
_BOX_M = 1e-3
_END_S = 1.0
"""Rows may end this long before the event `stop` [s]."""

_NOTHING_MOVED = "nothing moved"
"""Beginning of the reason with which a run ends that was stopped because nothing moved any more."""

_BEHAVIOUR_SUFFIX = ".behaviour.yaml"
CHART_SUFFIXES = (".chart.yaml", ".chart.yml", ".scxml", ".csv")
"""Suffixes of attached documents that may be charts."""

_PERIOD_TOLERANCE = 0.05


def find_inconsistencies(
    recording: Recording, by: Contest | None = None, *, cards: Mapping[str, Robot] | None = None
) -> tuple[Inconsistency, ...]:
    """Return the contradictions between the parts of a recording; none for a real run.

    Besides `check_consistency`, it compares a contest's recording with the contest: field, start, events and
    score. Attached rules that were changed do not raise an error here.

    Args:
        recording: the recording.
        by: the contest; None for the recording's own.
        cards: cards of robots that do not ship, by their names in the recording.

    Raises:
        InputError: the recording contains impossible values.
    """
    findings = list(check_consistency(recording, cards))
    findings += _check_charts(recording)
    if by is None and has_contest(recording.header):
        try:
            by = contest_of(recording.header, trust_attached_rules=True)
        except PosewrightError:  # the judge says so
            by = None
    if by is not None and recording.header.contest:
        findings += _check_start(recording)
        if isinstance(by, _SHIPPED):
            findings += _check_stop(recording)
        findings += _check_field(recording, by)
        findings += _check_start_places(recording, by)
        findings += _check_score(recording, by)
    return tuple(findings)


def _check_start(recording: Recording) -> Iterator[Inconsistency]:
    """Yield an inconsistency where a contest does not begin with one event `start`."""
    starts = recording.events_of("start")
    if len(starts) != 1:
        count = "no event 'start'" if not starts else f"{len(starts)} events 'start'"
        yield Inconsistency("start", f"the recording has {count}; a contest has one", 0.0)
    elif starts[0].time_s > 0.0:
        yield Inconsistency("start", "the event 'start' is not at 0 s", starts[0].time_s)


def _check_stop(recording: Recording) -> Iterator[Inconsistency]:
    """Yield an inconsistency where a contest does not end with an event `stop`, or goes on after it."""
    if recording.events_of(ABORTED):
        return
    if not recording.n_rows or not all(record.knows_place for record in recording.robots.values()):
        return  # without places there is no referee, who notes the stop
    stops = recording.events_of("stop")
    end_s = float(recording.times[-1])
    if not stops:
        message = "the recording has no event 'stop': its end is missing"
        yield Inconsistency("stop", message, end_s)
        return
    stop_s = stops[0].time_s
    if abs(end_s - stop_s) > _END_S:
        yield Inconsistency(
            "stop", f"the event 'stop' is at {stop_s:.2f} s, the last row at {end_s:.2f} s", stop_s
        )
    late = [event for event in recording.events if event.time_s > stop_s + _END_S]
    late += [stop for stop in stops[1:] if stop.time_s != stop_s]
    if late:
        yield Inconsistency("stop", f"the event {late[0].kind!r:.40} comes after the stop", late[0].time_s)


def _check_field(recording: Recording, contest: Contest) -> Iterator[Inconsistency]:
    """Yield an inconsistency if the field is not the one that the contest draws by the header's seed."""
    header = recording.header
    fields = list(_possible_fields(contest, header.layout, header.seed))
    try:
        recorded = Arena.from_dict(header.arena)
    except PosewrightError as error:
        yield Inconsistency("field", f"the field in the header is not valid: {error.message}")
        return
    fields = [field for field in fields if field.name == recorded.name]
    if not fields:  # a field of one's own, or a layout of one's own
        return
    if not any(_have_same_shapes(field, recorded) for field in fields):
        yield Inconsistency("field", f"the field has the name {recorded.name!r}, but other shapes")
    recorded_boxes = np.array(header.boxes, dtype=np.float64).reshape(-1, 3)
    if not any(_have_same_boxes(field, recorded_boxes) for field in fields):
        message = f"the boxes are not those of the layout {header.layout!r} with the seed {header.seed}"
        yield Inconsistency("layout", message)


def _possible_fields(contest: Contest, layout: str, seed: int) -> Iterator[Arena]:
    """Yield the field of a contest with the layout of this name, or else with its default layout."""
    for name in dict.fromkeys((layout, "")):
        if name and (name.endswith((".yaml", ".yml")) or "/" in name):
            return
        try:
            yield contest.field(name, seed, legal=False)
        except PosewrightError:  # there is no such layout
            continue
        return


def _have_same_shapes(first: Arena, second: Arena) -> bool:
    """Return whether two fields have the same shapes, in the same order."""
    return len(first.shapes) == len(second.shapes) and all(map(_is_same_shape, first.shapes, second.shapes))


def _is_same_shape(first: Shape, second: Shape) -> bool:
    """Return whether two shapes on a field are equal up to rounding."""
    first_numbers = (first.x, first.y, first.yaw_rad, first.base_m, *first.size_m)
    second_numbers = (second.x, second.y, second.yaw_rad, second.base_m, *second.size_m)
    is_same_kind = (first.role, first.text) == (second.role, second.text)
    return is_same_kind and bool(np.allclose(first_numbers, second_numbers, rtol=0.0, atol=_SHAPE_M))


def _have_same_boxes(field: Arena, placed: Floats) -> bool:
    """Return whether the boxes of a field are those placed, `(n_boxes, 3)` x y yaw."""
    boxes = np.array([(box.x, box.y, box.yaw_rad) for box in field.boxes]).reshape(-1, 3)
    return boxes.shape == placed.shape and bool(np.allclose(boxes, placed, rtol=0.0, atol=_BOX_M))


def _check_start_places(recording: Recording, contest: Contest) -> Iterator[Inconsistency]:
    """Yield a simulated robot that does not start where the contest places it."""
    try:
        arena = Arena.from_dict(recording.header.arena)
        starts = [contest.start(role, arena) for role in contest.entries]
    except (PosewrightError, LookupError):
        return  # `_check_field` reports an invalid field
    for (name, record), (x_m, y_m, yaw) in zip(recording.robots.items(), starts, strict=False):
        base = record.start_base
        is_simulated = "domain" in record.header.facts
        if not is_simulated or not np.isfinite(base).all():
            continue
        distance_m = float(np.hypot(base[0] - x_m, base[1] - y_m))
        turn = abs(wrap_angle(float(heading(base[3:])) - yaw))
        if distance_m > _START_M or turn > _START_RAD:
            message = f"{name} starts {distance_m:.2f} m from its place in the contest"
            yield Inconsistency("start-place", message, 0.0)


def _check_score(recording: Recording, contest: Contest) -> Iterator[Inconsistency]:
    """Yield an inconsistency if the referee's events contradict the score that the rows give."""
    stops = recording.events_of("stop")
    if not stops:
        return
    try:
        score = judge(recording, contest)
    except PosewrightError:  # the judge says so
        return
    reason = str(stops[0].data.get("reason"))
    if message := _compare_with_stop(score, reason):
        yield Inconsistency("stop-reason", message, stops[0].time_s)
    if isinstance(score, SumoScore):
        events = recording.events_of("yuhkoh")
        noted = Counter((str(event.data.get("to")), event.data.get("points")) for event in events)
        judged: Counter[tuple[str, PlainData]] = Counter(
            (award.to, award.points) for _, award in score.bout.awards
        )
        if noted != judged:
            message = (
                f"the referee gave {_describe_awards(noted)}, but the rows earn {_describe_awards(judged)}"
            )
            yield Inconsistency("yuhkoh", message)


def _describe_awards(awards: Mapping[tuple[str, PlainData], int]) -> str:
    """Return awards as text: `2 x 1 to red, 1 x 2 to blue`."""
    parts = [f"{count} x {points} to {to}" for (to, points), count in sorted(awards.items(), key=str)]
    return ", ".join(parts) or "no point"


def _compare_with_stop(score: Score, reason: str) -> str:
    """Return how the judge's score contradicts the reason of the referee's stop, as text; empty if not.

    Args:
        score: the score that the judge computed from the rows.
        reason: the reason for which the referee stopped the run.
    """
    match score:
        case Result():
            last_leg = score.legs[1] if score.legs[0].finished else score.legs[0]
            return _compare_success(reason, "finished", is_success=last_leg.finished)
        case PassivityScore():
            return _compare_success(reason, "touched", is_success=score.passed)
        case StairsScore():
            # a robot that walked around the stairs has arrived for the referee, but not for the judge
            is_success = score.arrived or reason == ARRIVED
            return _compare_success(reason, ARRIVED, is_success=is_success)
        case VisionScore() if not reason.startswith(_NOTHING_MOVED):
            return _compare_success(reason, score.end_reason, is_success=True)
    return ""


def _compare_success(reason: str, success_reason: str, *, is_success: bool) -> str:
    """Return how a stop's reason contradicts the rows; empty if it does not.

    Args:
        reason: the reason of the referee's stop.
        success_reason: the reason that the referee gives after a success.
        is_success: whether the rows show a success.
    """
    if (reason == success_reason) == is_success:
        return ""
    verdict = repr(success_reason) if is_success else f"not {success_reason!r}"
    return f"the referee stopped the run with {reason!r:.60}, but the rows say {verdict}"


def _check_charts(recording: Recording) -> Iterator[Inconsistency]:
    """Yield an inconsistency for a behaviour that is not attached, or does not run as its chart does.

    Its recorded states must be those of a chart, and its decisions at most as frequent as the chart's ticks.
    """
    behaviours = {
        name: text for name, text in recording.header.documents.items() if name.endswith(_BEHAVIOUR_SUFFIX)
    }
    for name, robot in recording.header.robots.items():
        kind, _, behaviour = robot.controller.partition(" ")
        if kind != "behaviour" or not behaviours:
            continue
        title_line = re.compile(rf"^behaviour: *{re.escape(behaviour)} *(#.*)?$", re.M)
        is_attached = any(title_line.search(text) for text in behaviours.values())
        if not is_attached:
            message = f"{name} runs the behaviour {behaviour!r:.60}, which is not among the documents"
            yield Inconsistency("behaviour", message)
    charts = [
        chart
        for name, text in recording.header.documents.items()
        if name.endswith(CHART_SUFFIXES) and (chart := _read_chart(text)) is not None
    ]
    if not charts:
        return
    state_names = {state.name for chart in charts for state in walk_states(chart.states)}
    shortest_s = min(chart.period_s for chart in charts)
    for name, record in recording.robots.items():
        decisions = record.decisions
        if not record.header.controller.startswith("behaviour "):
            continue
        for time_s, state in zip(decisions.times.tolist(), decisions.states, strict=True):
            unknown = [part for part in state.split("+") if part not in state_names]
            if unknown:
                message = f"{name} decides in the state {unknown[0]!r:.60}, which its chart does not have"
                yield Inconsistency("decision-state", message, time_s)
                break
        steps = np.diff(decisions.times)
        if len(steps) and float(np.median(steps)) < (1.0 - _PERIOD_TOLERANCE) * shortest_s:
            message = f"{name} decides every {np.median(steps):.3g} s, its chart every {shortest_s:g} s"
            yield Inconsistency("decision-rate", message)


def _read_chart(text: str) -> Chart | None:
    """Return the chart in an attached document; None if it is none."""
    try:
        return parse_any_chart(text)
    except PosewrightError:
        return None
