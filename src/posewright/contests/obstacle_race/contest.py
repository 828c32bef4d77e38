"""The CEABOT obstacle race as a contest, the progress of a leg's points, and the picture of a race."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import DefaultEntry, Note, RankedScore, arena_with_layout, with_layout
from posewright.contests.obstacle_race.race import Race, Rows
from posewright.contests.obstacle_race.referee import RaceReferee
from posewright.contests.obstacle_race.rules import (
    Rules,
    field_without_boxes,
    find_dimension_faults,
    parse_rules,
    require_field,
)
from posewright.contests.obstacle_race.rules import rules as shipped_rules
from posewright.contests.obstacle_race.score import Result, score
from posewright.contests.own_fields import (
    FieldFault,
    find_open_edges,
    find_start_faults,
    layout_faults,
    with_limits_of,
)
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, Span
from posewright.contests.places import earned_by_places, rank_places
from posewright.contests.ruled_contest import SPARE_S
from posewright.documents import parse_document, plain_mapping
from posewright.documents.revision import revise_text
from posewright.errors import InputError
from posewright.recordings import Recording

_GET_UP_SOURCE = "chosen for this run; not a rule of CEABOT's"


class ObstacleRace:
    """A race past boxes and back; CEABOT's rules of a year by default. See `docs/contests.md`."""

    entries: Mapping[str, DefaultEntry] = {"robot": DefaultEntry("robotis_bioloid", "obstacle_race")}
    needs_contacts = False

    def __init__(self, rules: Rules | str | None = None, *, year: int = 2013) -> None:
        """Create a race by rules, by the text of a document of rules, or by CEABOT's rules of a year."""
        if rules is None:
            self.rules = shipped_rules(year)
        elif isinstance(rules, str):
            self.rules = parse_rules(rules)
        else:
            self.rules = rules
        self.name = self.rules.name
        self.title = self.rules.title
        self.rules_text = self.rules.text

    def __repr__(self) -> str:
        return f"<ObstacleRace by {self.name}>"

    def with_get_up_time(self, get_up_s: float) -> ObstacleRace:
        """Return the race with a time in which a fallen robot may get up by itself [s].

        Raises:
            DocumentError: the time is out of range.
        """
        document = parse_document(self.rules_text).value
        data = plain_mapping(document)
        data["fall"] = {**plain_mapping(data["fall"]), "get_up_s": get_up_s}
        data["sources"] = {**plain_mapping(data["sources"]), "fall.get_up_s": _GET_UP_SOURCE}
        return ObstacleRace(revise_text(self.rules_text, data, path=None))

    @property
    def longest_s(self) -> float:
        """The wait and the time limits of both legs [s]."""
        clock = self.rules.clock
        return clock.wait_s + 2.0 * self.rules.scoring.time_limit_s + clock.leg_2_delay_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:
        """Return the field with the boxes of a layout, random ones by default."""
        return arena_with_layout(self.rules.arena, layout or "random", seed, legal=legal)

    def prepare_field(self, arena: Arena, layout: str, seed: int, *, legal: bool = False) -> Arena:
        """Return an arena with the race's limits of layouts where it has none, and the boxes of a layout."""
        field = with_limits_of(arena, field_without_boxes(self.rules))
        if layout and not field.box_kinds:
            message = f"the arena {arena.name!r:.60} has no kind of boxes, so no layout can stand on it"
            raise InputError(message, hint="leave the layout out, or add box_kinds to the arena")
        return with_layout(field, layout, seed, legal=legal) if layout else field

    def check_field(self, arena: Arena) -> tuple[FieldFault, ...]:
        """Return the faults of an arena as a field of the race: of its size, lines, boxes and shapes."""
        x, y, _ = self.start("robot", arena)
        return (
            *find_dimension_faults(self.rules, arena),
            *find_start_faults(arena, [(x, y)], self.rules.put_back.least_m),
            *layout_faults(arena),
            *find_open_edges(arena),
        )

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot, one place
        """Return the pose in the middle of the start zone, in which every robot begins."""
        course = self.rules.course
        return course.start_x_m, course.start_y_m, course.start_yaw_rad

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> RaceReferee:
        """Return a referee for the first robot."""
        robot, supervisor = next(iter(supervisors.items()))
        return RaceReferee(self.rules, arena, supervisor, note, robot=robot)

    def judge(self, recording: Recording) -> Result:
        """Return the result of a recorded race.

        Crossings, clocks, distances, displaced boxes, and falls without an event are computed from the rows;
        touches and noted falls are taken from the events.
        """
        require_field(self.rules, recording.header.arena)
        race = Race(self.rules)
        for event in recording.events:
            race.note(event)
        race.advance(Rows.of_recording(recording))
        return race.result()

    def earned(self, scores: Sequence[RankedScore]) -> tuple[float, ...]:
        """Return the points of a contest day that each score earns by its place, `scores` in any order.

        Places are ranked by raw points. A robot that covered no distance earns nothing.
        """
        places = rank_places([score.ranking for score in scores])
        points_of_places = earned_by_places(places, self.rules.scoring.place_points)
        earned: list[float] = []
        for ranked_score, points in zip(scores, points_of_places, strict=True):
            earns_nothing = isinstance(ranked_score, Result) and ranked_score.got_nowhere
            earned.append(0.0 if earns_nothing else points)
        return tuple(earned)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return penalties, legs, and the points over time."""
        return picture_of(recording, self.rules, self.judge(recording))


class _LegSample(NamedTuple):
    """The points of a leg at one time of the race.

    Attributes:
        time_s: the time in the recording [s].
        earned: raw points if the robot stayed where it is until the limit.
        if_crossed: raw points if it crossed the line now.
    """

    time_s: float
    earned: float
    if_crossed: float


@dataclass(frozen=True, slots=True, eq=False)
class LegProgress:
    """The points of a leg over time.

    Attributes:
        leg: 1 or 2.
        times: `(n,)` [s].
        earned: raw points if the robot stayed where it was until the limit, `(n,)`; at the end, the leg's
            own.
        if_crossed: raw points if it crossed the line at that time, `(n,)`.
    """

    leg: int
    times: Floats
    earned: Floats
    if_crossed: Floats

    @classmethod
    def of_samples(cls, leg: int, samples: Sequence[_LegSample]) -> Self:
        """Return samples of a leg, at least one, as arrays."""
        times, earned, if_crossed = np.array(samples).T
        return cls(leg, times, earned, if_crossed)


def progress(
    recording: Recording, rules: Rules | None = None, *, every_s: float = 0.25
) -> tuple[LegProgress, ...]:
    """Return how the points of every leg that was begun developed over time.

    The rows are judged piece by piece, as a referee does during the race, and both legs are sampled after
    each piece.

    Args:
        recording: the recording of the race.
        rules: the rules of the race; None for CEABOT 2013.
        every_s: time between samples [s].

    Raises:
        InputError: the recording does not say where the robot was.
    """
    race = Race(rules or shipped_rules())
    pending_events = deque(sorted(recording.events, key=lambda event: event.time_s))
    samples_by_leg: dict[int, list[_LegSample]] = {1: [], 2: []}
    for rows in _split_rows(Rows.of_recording(recording), every_s):
        now_s = float(rows.times[-1])
        while pending_events and pending_events[0].time_s <= now_s:
            race.note(pending_events.popleft())
        race.advance(rows)
        for leg_number, samples in samples_by_leg.items():
            if race.legs[leg_number - 1].started_s is None:
                continue
            sample = _sample_leg(race, leg_number, now_s)
            # once a leg has ended, all its samples have the time of its end; the first of them is enough
            is_new = not samples or samples[-1].time_s < sample.time_s
            if is_new:
                samples.append(sample)
    return tuple(
        LegProgress.of_samples(leg_number, samples)
        for leg_number, samples in samples_by_leg.items()
        if samples
    )


def _split_rows(rows: Rows, every_s: float) -> Iterator[Rows]:
    """Yield the rows in pieces of a duration [s]; a piece without any row is left out."""
    cut_times = np.arange(every_s, rows.times[-1], every_s)
    first_rows_after_cuts = np.searchsorted(rows.times, cut_times, side="right")
    edges = np.unique([0, *first_rows_after_cuts, len(rows)]).tolist()
    for begin, end in pairwise(edges):
        yield rows[begin:end]


def _sample_leg(race: Race, leg_number: int, now_s: float) -> _LegSample:
    """Return the points of leg 1 or 2 as they are now, or at the end of the leg if it has ended."""
    leg = race.legs[leg_number - 1]
    leg_result = race.result().legs[leg_number - 1]
    scoring = race.rules.scoring
    time_s = now_s if leg.ended_s is None else leg.ended_s
    # at the line the robot has covered the whole distance, in the time on the clock
    points_if_crossed = score(
        min(leg.clock_s(time_s), scoring.time_limit_s),
        scoring.distance_limit_cm,
        leg_result.penalties,
        race.rules,
    )
    return _LegSample(time_s, earned=leg_result.raw_points, if_crossed=points_if_crossed.raw_points)


def picture_of(recording: Recording, rules: Rules, result: Result) -> ContestPicture:
    """Return the legs, their ends, penalties, and points over time."""
    series: list[Series] = []
    for leg_progress in progress(recording, rules):
        leg_number = leg_progress.leg
        times = leg_progress.times
        points = result.legs[leg_number - 1].raw_points
        title = f"leg {leg_number}: {points:.2f} points"
        series.append(Series(title, "points", times, values=leg_progress.earned, group=leg_number))
        # one title in the legend is enough for both legs
        dotted_title = "if the line were crossed now" if leg_number == 1 else ""
        series.append(
            Series(
                dotted_title, "points", times, values=leg_progress.if_crossed, group=leg_number, dotted=True
            )
        )
    leg_times = " + ".join(f"{leg.time_s:.1f} s" if leg.finished else "unfinished" for leg in result.legs)
    return ContestPicture(
        headline=f"{leg_times}, {len(result.penalties)} penalties, {result.total_points:.2f} points",
        marks=_marks(recording, result),
        series=tuple(series),
        spans=_spans(recording, result),
        series_title="points if it got no further",
    )


def _marks(recording: Recording, result: Result) -> tuple[Mark, ...]:
    """Return marks at the penalties and the ends of legs, in the order of time."""
    marks = [
        Mark.at(recording, penalty.time_s, label=penalty.reason, kind=MarkKind.PENALTY)
        for penalty in result.penalties
    ]
    for number, leg in enumerate(result.legs, 1):
        if leg.ended_at_s is not None:
            label = f"end of leg {number}"
            marks.append(Mark.at(recording, leg.ended_at_s, label, kind=MarkKind.MILESTONE))
    return tuple(sorted(marks, key=lambda mark: mark.time_s))


def _spans(recording: Recording, result: Result) -> tuple[Span, ...]:
    """Return the spans of the legs that were begun."""
    return tuple(
        Span(
            leg.started_at_s,
            recording.duration_s if leg.ended_at_s is None else leg.ended_at_s,
            f"leg {number}",
        )
        for number, leg in enumerate(result.legs, 1)
        if leg.started_at_s is not None
    )
