"""The stairs as a contest: three steps up and three down in 300 s, without using hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright.arenas import Arena, Role
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import DefaultEntry, Note, RankedScore
from posewright.contests.own_fields import FieldFault, find_start_faults, layout_faults
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, Span
from posewright.contests.places import earned_by_places, rank_places
from posewright.contests.ruled_contest import SPARE_S, RuledContest, create_field_generator
from posewright.contests.stairs.climb import StairsScore, judge_climb
from posewright.contests.stairs.referee import StairsReferee
from posewright.contests.stairs.rules import Flight, StairsRules, stairs_arena
from posewright.errors import InputError
from posewright.recordings import Recording

_M_PER_CM = 0.01


class Stairs(RuledContest[StairsRules]):
    """One robot on the stairs; CEABOT's rules of a year by default."""

    entries: Mapping[str, DefaultEntry] = {"robot": DefaultEntry("robotis_bioloid", "climb_stairs")}
    needs_contacts = True

    def __init__(self, text: str | None = None, *, year: int = 2013) -> None:
        super().__init__(StairsRules, Path(__file__).parent / "stairs.rules.yaml", text, year)

    @property
    def longest_s(self) -> float:
        """The wait, and the time limit from the first move, which may come late [s]."""
        return self.rules.wait_s + 2.0 * self.rules.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- drawn, so legal
        """Return the field, with stairs a little nearer or farther at random."""
        edge = self.rules.edge_m
        shift_m = float(create_field_generator(seed, layout).uniform(-edge, edge))
        return stairs_arena(self.rules, round(shift_m, 4))

    def prepare_field(self, arena: Arena, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- checked later
        """Return an arena as it is: its stairs stand where it says."""
        create_field_generator(seed, layout)  # raises an error if a layout is named
        return arena

    def check_field(self, arena: Arena) -> tuple[FieldFault, ...]:
        """Return how the stairs and the start line of an arena differ from those of the rules."""
        faults = list(layout_faults(arena))
        try:
            Flight.of_recorded_arena(arena.to_dict(), self.rules)
        except InputError as error:
            steps = tuple(shape.name for shape in arena.shapes if shape.role is Role.STEP)
            faults.append(FieldFault(error.message, error.hint or "", shapes=steps))
        if not arena.lines:
            hint = f"{self.name} starts with the toes on the first line of the field"
            return (*faults, FieldFault("it has no line", hint))
        x, y, _ = self.start("robot", arena)
        return (*faults, *find_start_faults(arena, [(x, y)], self.rules.toes_m))

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot
        """Return the place where the robot's toes are on the first line."""
        return arena.lines[0].x - self.rules.toes_m, 0.0, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> StairsReferee:
        """Return a referee for the first robot."""
        robot, supervisor = next(iter(supervisors.items()))
        start = self.start("robot", arena)
        return StairsReferee(self.rules, arena, robot, supervisor, start=start, note=note)

    def judge(self, recording: Recording) -> StairsScore:
        """Return steps, penalties and time, computed from rows, contacts, and events `touch` and `hand`."""
        return judge_climb(recording, self.rules)

    def earned(self, scores: Sequence[RankedScore]) -> tuple[float, ...]:
        """Return the points of steps, plus those of the places among the robots that arrived."""
        arrived = [score for score in scores if score.figures["arrived"]]
        places = rank_places([score.ranking for score in arrived])
        place_points = iter(earned_by_places(places, self.rules.place_points))
        return tuple(
            score.points + (next(place_points) if score.figures["arrived"] else 0.0) for score in scores
        )

    def picture(self, recording: Recording) -> ContestPicture:
        """Return passed steps, penalties, and the heights of the feet."""
        score = self.judge(recording)
        record = recording.robot()
        times = recording.times
        marks = [
            Mark.at(recording, step.time_s, label=f"step {step.step}", kind=MarkKind.MILESTONE)
            for step in score.steps
        ]
        marks += [
            Mark.at(recording, penalty.time_s, label=penalty.reason, kind=MarkKind.PENALTY)
            for penalty in score.penalties
        ]
        marks.sort(key=lambda mark: mark.time_s)
        heights = record.footprints[..., 2].mean(axis=2) / _M_PER_CM
        feet = zip(record.header.feet, heights.T, strict=True)
        series = [
            Series(name, "cm", times, values=height, group=group) for group, (name, height) in enumerate(feet)
        ]
        flight = Flight.of_recorded_arena(recording.header.arena, self.rules)
        ground = flight.ground_height(record.base[:, :3]) / _M_PER_CM
        series.append(Series("the step below", "cm", times, values=ground, group=len(series), dotted=True))
        end_s = recording.duration_s if score.ended_at_s is None else score.ended_at_s
        spans = () if score.started_at_s is None else (Span(score.started_at_s, end_s, "climb"),)
        headline = f"{len(score.steps)} steps, {len(score.penalties)} penalties, {score.time_s:.1f} s"
        return ContestPicture(
            headline, marks=tuple(marks), series=tuple(series), spans=spans, series_title="height of the feet"
        )
