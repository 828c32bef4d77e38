"""The CEABOT sumo as a contest: the ring, where robots begin, the judge, and what its picture shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posewright.arenas import Arena, Spot, read_arena
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import HALT, Entry, Note, Score
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, spans_of
from posewright.contests.places import earned_by_places
from posewright.contests.ruled import SPARE_S, Ruled, drawn_by
from posewright.contests.sumo.bout import Bout, SumoScore
from posewright.contests.sumo.exchange import Stop, settle
from posewright.contests.sumo.incidents import Ring
from posewright.contests.sumo.referee import SumoReferee, Wrestler
from posewright.contests.sumo.rules import BoutRules, SumoRules
from posewright.contests.sumo.side import Frame, Side, sides_of
from posewright.contests.watching import StartWatch, false_start, tries_of
from posewright.errors import InputError
from posewright.recordings import Recording, RobotHeader

_FOLDER = Path(__file__).parent
_EDGE = "ring_edge"


class Sumo(Ruled[SumoRules]):
    """Two robots in a ring; by CEABOT's rules of a year where no text of others is given."""

    entries: Mapping[str, Entry] = {
        "red": Entry("robotis_bioloid", "wrestle"),
        "blue": Entry("robotis_bioloid", "wrestle"),
    }
    needs_contacts = True

    def __init__(self, text: str | None = None, *, year: int = 2013) -> None:
        super().__init__(SumoRules, _FOLDER / "sumo.rules.yaml", text, year)

    @property
    def longest_s(self) -> float:
        """The time after which a bout is over in any case [s]."""
        return self.rules.bout.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- no boxes
        """Return the ring, with the spots where robots are set down by hand time and again, as drawn."""
        ring, rng = read_arena(_FOLDER / "sumo.arena.yaml"), drawn_by(seed, layout)
        if ring.name != self.rules.arena:
            raise InputError(f"the arena is {self.rules.arena!r}", hint=f"the sumo is held on {ring.name!r}")
        left, right = sorted(line.x for line in ring.lines if not line.is_round)
        where, spots = self.rules.place, {}
        faced = ((left - where.toes_m, 0.0), (right + where.toes_m, math.pi))
        for number in range(1, where.drawn + 1):
            for role, (x, yaw) in zip(self.entries, faced, strict=True):
                dx, dy = rng.uniform(-where.off_m, where.off_m, size=2).tolist()
                turned = float(rng.uniform(-where.turned_rad, where.turned_rad))
                spots[f"{role}_{number}"] = Spot(round(x + dx, 4), round(dy, 4), round(yaw + turned, 4))
        return replace(ring, spots=spots)

    def start(self, role: str, arena: Arena) -> PlanarPose:
        """Return where that robot is set down, its toes at its Shikiri line."""
        return self._starts(role, arena)[0]

    def _starts(self, role: str, arena: Arena) -> tuple[PlanarPose, ...]:
        """Return where it is set down the first time, the second, and so on."""
        spots = (arena.spot(f"{role}_{number}") for number in range(1, self.rules.place.drawn + 1))
        return tuple((spot.x, spot.y, spot.yaw_rad) for spot in spots)

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> SumoReferee:
        """Return a referee of both robots."""
        names = list(supervisors)
        wrestlers = {}
        for role, name, opponent in zip(self.entries, names, reversed(names), strict=True):
            supervisor = supervisors[name]
            frame = Frame.of(RobotHeader.of(supervisor))
            wrestlers[name] = Wrestler(supervisor, self._starts(role, arena), frame, opponent)
        return SumoReferee(self.rules, _ring(arena.to_dict()), wrestlers, note)

    def judge(self, recording: Recording) -> SumoScore:
        """Return who has won which round, and why, from rows, contacts, and when it was stopped and begun."""
        told = recording.header.arena
        if told.get("name") != self.rules.arena:
            raise InputError(
                f"the arena is {told.get('name')!r}", hint=f"{self.name} is held on {self.rules.arena!r}"
            )
        sides, ring = sides_of(recording), _ring(told)
        one, other = sides
        bout, warnings = Bout(self.rules.bout, (one, other)), []
        for began_s, end_s, is_last in _exchanges(recording):
            if bout.is_over:
                break
            bout.restart(began_s)
            rows = {
                name: side.rows((side.times > began_s) & (side.times <= end_s))
                for name, side in sides.items()
            }
            allowed_s = began_s + self.rules.bout.wait_s
            warnings += _false_starts(self.rules.bout, rows, began_s)
            stop = settle(self.rules, ring, rows, allowed_s, bout.left_s, ended=True)
            bout.add(stop or Stop("stopped", end_s, 0.0))
            if is_last and recording.events_of("stop"):
                bout.end("stopped")
        if not bout.is_over and not bout.rounds[-1].over:
            warnings.append("the recording ends before the bout is over: its last round does not count")
        return SumoScore(self.name, bout, tuple(warnings))

    def winner(self, score: Score) -> str | None:
        """Return the role that has won; None where nobody has."""
        return score.winner if isinstance(score, SumoScore) else None

    def earned_by_places(self, places: Sequence[int]) -> tuple[float, ...]:
        """Return what places at the end of all bouts earn."""
        return earned_by_places(places, self.rules.place_points)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return rounds, awards, and how far each robot was from the middle of the ring."""
        score, ring = self.judge(recording), _ring(recording.header.arena)
        rounds = score.bout.rounds
        spans = spans_of((one.began_s for one in rounds), recording.duration_s, "round")
        series, marks = [], []
        for group, (name, record) in enumerate(recording.robots.items()):
            away = np.hypot(record.base[:, 0] - ring.x, record.base[:, 1] - ring.y)
            series.append(Series(name, "m", recording.times, away, group))
        for _, award in score.bout.awards:
            loser = next(name for name in recording.robots if name != award.to)
            label = f"{award.points} to {award.to}: {award.reason.value}"
            marks.append(Mark.at(recording, award.at_s, label, MarkKind.PENALTY, loser))
        won = ":".join(str(score.bout.rounds_of(robot)) for robot in score.bout.robots)
        headline = f"{score.winner or 'nobody'} wins, {won} rounds"
        marks.sort(key=lambda mark: mark.time_s)
        return ContestPicture(headline, tuple(marks), tuple(series), spans, "distance from the middle")


def _ring(told: Mapping[str, Any]) -> Ring:
    """Return the ring of an arena as `Arena.to_dict` tells it."""
    for shape in told.get("shapes", ()):
        if shape.get("name") == _EDGE:
            return Ring(float(shape["x"]), float(shape["y"]), float(shape["size_m"][0]) / 2.0)
    raise InputError("the arena has no ring", hint=f"a round line named {_EDGE}")


def _exchanges(recording: Recording) -> list[tuple[float, float, bool]]:
    """Return when each exchange began and ended, at a halt or at the next, and whether it is the last."""
    halts = [event.time_s for event in recording.events_of(HALT)]
    found = []
    for begin, end in tries_of(recording):
        stopped = min((at for at in halts if begin < at <= end), default=end)
        found.append((begin, min(stopped, float(recording.times[-1])), end == math.inf))
    return found


def _false_starts(rules: BoutRules, sides: Mapping[str, Side], began_s: float) -> list[str]:
    """Return a warning for each robot that moved during its wait, once it had settled."""
    found: list[str] = []
    for name, side in sides.items():
        start, settled = (
            StartWatch(began_s + rules.wait_s, rules.moved_rad),
            side.times > began_s + rules.settle_s,
        )
        start.advance(side.times[settled], side.joints[settled])
        found += false_start(start.early_s, rules.wait_s, name)
    return found
