"""The CEABOT obstacle race as a contest."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.arenas import Arena
from posewright.bodies import Supervisor
from posewright.contests.contest import Entry, Note, Place
from posewright.contests.field import lay_out
from posewright.contests.obstacle_race.progress import picture_of
from posewright.contests.obstacle_race.race import Race, Rows
from posewright.contests.obstacle_race.referee import RaceReferee
from posewright.contests.obstacle_race.result import Result
from posewright.contests.obstacle_race.rules import Rules, check_field, parse_rules, rules
from posewright.contests.picture import ContestPicture
from posewright.recordings import Recording

SPARE_S = 1.0
"""Time a race may run beyond what the rules allow, so that the referee is the one who stops it [s]."""


class ObstacleRace:
    """There and back past boxes; by CEABOT 2013's rules where none are given. See `docs/contests.md`."""

    entries: Mapping[str, Entry] = {"robot": Entry("robotis_bioloid", "obstacle_race")}

    def __init__(self, by: Rules | str | None = None) -> None:
        self.rules = rules() if by is None else parse_rules(by) if isinstance(by, str) else by
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

    def start(self, role: str, arena: Arena) -> Place:  # noqa: ARG002 -- one robot, one place
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

    def picture(self, recording: Recording) -> ContestPicture:
        """Return penalties and legs, and how points grew."""
        return picture_of(recording, self.rules, self.judge(recording))
