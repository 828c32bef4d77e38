"""The stairs as a contest: three steps up, three down, in 300 s, without hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright.arenas import Arena
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import Entry, Note, Ranked
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, Span
from posewright.contests.places import earned_by_places, places
from posewright.contests.ruled import SPARE_S, Ruled, drawn_by
from posewright.contests.stairs.climb import StairsScore, judged
from posewright.contests.stairs.referee import StairsReferee
from posewright.contests.stairs.rules import Flight, StairsRules, stairs_arena
from posewright.recordings import Recording

_M_PER_CM = 0.01


class Stairs(Ruled[StairsRules]):
    """One robot on the stairs; by CEABOT's rules of a year where no text of others is given."""

    entries: Mapping[str, Entry] = {"robot": Entry("robotis_bioloid", "climb_stairs")}
    needs_contacts = True

    def __init__(self, text: str | None = None, *, year: int = 2013) -> None:
        super().__init__(StairsRules, Path(__file__).parent / "stairs.rules.yaml", text, year)

    @property
    def longest_s(self) -> float:
        """The wait, and the time allowed from the first move on, which may come late [s]."""
        return self.rules.wait_s + 2.0 * self.rules.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- drawn, so legal
        """Return the field with its stairs a little nearer or farther, as the seed draws it."""
        edge = self.rules.edge_m
        return stairs_arena(self.rules, round(float(drawn_by(seed, layout).uniform(-edge, edge)), 4))

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot
        """Return the place with the toes on the first line."""
        return arena.lines[0].x - self.rules.toes_m, 0.0, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> StairsReferee:
        """Return a referee of the first robot."""
        robot, supervisor = next(iter(supervisors.items()))
        start = self.start("robot", arena)
        return StairsReferee(self.rules, arena, robot, supervisor, start=start, note=note)

    def judge(self, recording: Recording) -> StairsScore:
        """Return steps, penalties and time, from rows, contacts, and the events `touch` and `hand`."""
        return judged(recording, self.rules)

    def earned(self, scores: Sequence[Ranked]) -> tuple[float, ...]:
        """Return what steps earn, and for those who arrived their place among these."""
        there = [one for one in scores if one.figures["arrived"]]
        by_place = iter(earned_by_places(places([one.ranking for one in there]), self.rules.place_points))
        return tuple(one.points + (next(by_place) if one.figures["arrived"] else 0.0) for one in scores)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return passed steps and penalties, and how high the feet were."""
        score, record, times = self.judge(recording), recording.robot(), recording.times
        found = [(one.time_s, f"step {one.step}", MarkKind.MILESTONE) for one in score.steps]
        found += [(one.time_s, one.reason, MarkKind.PENALTY) for one in score.penalties]
        marks = tuple(Mark.at(recording, *one) for one in sorted(found, key=lambda one: one[0]))
        heights = record.footprints[..., 2].mean(axis=2) / _M_PER_CM
        feet = zip(record.header.feet, heights.T, strict=True)
        series = [Series(name, "cm", times, height, group) for group, (name, height) in enumerate(feet)]
        flight = Flight.told(recording.header.arena, self.rules)
        ground = flight.ground(record.base[:, :3]) / _M_PER_CM
        series.append(Series("the step below", "cm", times, ground, len(series), dotted=True))
        end = recording.duration_s if score.ended_at_s is None else score.ended_at_s
        spans = () if score.started_at_s is None else (Span(score.started_at_s, end, "climb"),)
        told = f"{len(score.steps)} steps, {len(score.penalties)} penalties, {score.time_s:.1f} s"
        return ContestPicture(told, marks, tuple(series), spans, "height of the feet")
