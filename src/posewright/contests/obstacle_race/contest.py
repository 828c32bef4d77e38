"""The CEABOT obstacle race as a contest; how a leg's points grew, and what a picture of the race shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import Entry, Note, Ranked, lay_out
from posewright.contests.obstacle_race.race import Race, Rows
from posewright.contests.obstacle_race.referee import RaceReferee
from posewright.contests.obstacle_race.rules import Rules, check_field, parse_rules
from posewright.contests.obstacle_race.rules import rules as shipped_rules
from posewright.contests.obstacle_race.score import Result, score
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, Span
from posewright.contests.places import earned_by_places, places
from posewright.contests.ruled import SPARE_S
from posewright.recordings import Recording


class ObstacleRace:
    """There and back past boxes; by CEABOT's rules of a year where none are given. See `docs/contests.md`."""

    entries: Mapping[str, Entry] = {"robot": Entry("robotis_bioloid", "obstacle_race")}
    needs_contacts = False

    def __init__(self, by: Rules | str | None = None, *, year: int = 2013) -> None:
        self.rules = shipped_rules(year) if by is None else parse_rules(by) if isinstance(by, str) else by
        self.name, self.title, self.rules_text = self.rules.name, self.rules.title, self.rules.text

    def __repr__(self) -> str:
        return f"<ObstacleRace by {self.name}>"

    @property
    def longest_s(self) -> float:
        """The wait and both legs' limits [s]."""
        clock = self.rules.clock
        return clock.wait_s + 2.0 * self.rules.scoring.time_limit_s + clock.leg_2_delay_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:
        """Return the field with the boxes of a layout; random ones where none is named."""
        return lay_out(self.rules.arena, layout or "random", seed, legal=legal)

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot, one place
        """Return the middle of the start zone."""
        course = self.rules.course
        return course.start_x_m, course.start_y_m, course.start_yaw_rad

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> RaceReferee:
        """Return a referee of the first robot."""
        robot, supervisor = next(iter(supervisors.items()))
        return RaceReferee(self.rules, arena, supervisor, note, robot=robot)

    def judge(self, recording: Recording) -> Result:
        """Return the result of the race that a recording tells of.

        Crossings, clocks, distances, displaced boxes, and falls that nobody noted, are worked out from the
        rows; touches, and the falls that were noted, are taken from the events.
        """
        check_field(self.rules, recording.header.arena)
        race = Race(self.rules)
        for event in recording.events:
            race.note(event)
        race.advance(Rows.of_recording(recording))
        return race.result()

    def earned(self, scores: Sequence[Ranked]) -> tuple[float, ...]:
        """Return what the places by raw points earn."""
        return earned_by_places(places([one.ranking for one in scores]), self.rules.scoring.place_points)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return penalties and legs, and how points grew."""
        return picture_of(recording, self.rules, self.judge(recording))


_Look = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class LegProgress:
    """The points of leg 1 or 2 while it was run, at the n times of the recording a judge looked [s].

    Earned are those had the robot stayed where it was until the limit; at its end they are the leg's own.
    """

    leg: int
    times: Floats
    earned: Floats
    if_crossed: Floats


def progress(
    recording: Recording, rules: Rules | None = None, *, every_s: float = 0.25
) -> tuple[LegProgress, ...]:
    """Return the progress of every leg that was begun, as the judge's own account has it every so often.

    Raises:
        InputError: the recording does not say where the robot was.
    """
    race, rows = Race(rules or shipped_rules()), Rows.of_recording(recording)
    events = sorted(recording.events, key=lambda event: event.time_s)
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
    edges = np.searchsorted(rows.times, np.arange(every_s, rows.times[-1], every_s), side="right")
    edges = np.unique([0, *edges, len(rows)])
    return (rows[low:high] for low, high in pairwise(edges.tolist()))


def _look(race: Race, number: int, now_s: float) -> _Look:
    leg, judged, limits = race.legs[number - 1], race.result().legs[number - 1], race.rules.scoring
    time_s = now_s if leg.ended_s is None else leg.ended_s
    on_clock = min(leg.clock_s(time_s), limits.time_limit_s)
    crossed = score(on_clock, limits.distance_limit_cm, judged.penalties, race.rules)
    return time_s, judged.raw_points, crossed.raw_points


def picture_of(recording: Recording, rules: Rules, result: Result) -> ContestPicture:
    """Return the legs, their ends and penalties, and the points over time.

    Time earns points at the line only: a leg that ends before it has taken the whole limit.
    """
    series: list[Series] = []
    for leg in progress(recording, rules):
        points = result.legs[leg.leg - 1].raw_points
        title = f"leg {leg.leg}: {points:.2f} points"
        series.append(Series(title, "points", leg.times, leg.earned, leg.leg))
        crossed = "if the line were crossed now" if leg.leg == 1 else ""
        series.append(Series(crossed, "points", leg.times, leg.if_crossed, leg.leg, dotted=True))
    times = " + ".join(f"{leg.time_s:.1f} s" if leg.finished else "unfinished" for leg in result.legs)
    return ContestPicture(
        headline=f"{times}, {len(result.penalties)} penalties, {result.total_points:.2f} points",
        marks=_marks(recording, result),
        series=tuple(series),
        spans=_spans(recording, result),
        series_title="points if it got no further",
    )


def _marks(recording: Recording, result: Result) -> tuple[Mark, ...]:
    found = [(penalty.time_s, penalty.reason, MarkKind.PENALTY) for penalty in result.penalties]
    ends = [(number, leg.ended_at_s) for number, leg in enumerate(result.legs, 1)]
    found += [(end, f"end of leg {number}", MarkKind.MILESTONE) for number, end in ends if end is not None]
    return tuple(Mark.at(recording, *one) for one in sorted(found, key=lambda one: one[0]))


def _spans(recording: Recording, result: Result) -> tuple[Span, ...]:
    return tuple(
        Span(
            leg.started_at_s,
            recording.duration_s if leg.ended_at_s is None else leg.ended_at_s,
            f"leg {number}",
        )
        for number, leg in enumerate(result.legs, 1)
        if leg.started_at_s is not None
    )
