"""The CEABOT sumo as a contest: the ring, the start places, the judge and the picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posewright.arenas import Arena, Spot, read_arena
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import HALT, DefaultEntry, Note, Score
from posewright.contests.observation import StartDetector, false_start_warnings, list_tries
from posewright.contests.own_fields import (
    BUILD_TOLERANCE_M,
    FieldFault,
    find_start_faults,
    layout_faults,
)
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, consecutive_spans
from posewright.contests.places import earned_by_places
from posewright.contests.ruled_contest import SPARE_S, RuledContest, create_field_generator
from posewright.contests.sumo.bout import Bout, SumoScore
from posewright.contests.sumo.exchange import ExchangeEnd, judge_exchange
from posewright.contests.sumo.incidents import Ring
from posewright.contests.sumo.referee import SumoReferee, Wrestler
from posewright.contests.sumo.rules import BoutRules, SumoRules
from posewright.contests.sumo.wrestler_rows import BodyParts, WrestlerRows, rows_of_recording
from posewright.errors import InputError
from posewright.recordings import Recording, RobotHeader

_FOLDER = Path(__file__).parent
_EDGE_NAME = "ring_edge"


class Sumo(RuledContest[SumoRules]):
    """Two robots in a ring; CEABOT's rules of a year by default."""

    entries: Mapping[str, DefaultEntry] = {
        "red": DefaultEntry("robotis_bioloid", "wrestle"),
        "blue": DefaultEntry("robotis_bioloid", "wrestle"),
    }
    needs_contacts = True

    def __init__(self, text: str | None = None, *, year: int = 2013) -> None:
        super().__init__(SumoRules, _FOLDER / "sumo.rules.yaml", text, year)

    @property
    def longest_s(self) -> float:
        """Time limit of a bout [s]."""
        return self.rules.bout.limit_s + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- no boxes
        """Return the ring, with random start places for the first start and all restarts."""
        ring = read_arena(_FOLDER / "sumo.arena.yaml")
        rng = create_field_generator(seed, layout)
        if ring.name != self.rules.arena:
            raise InputError(
                f"the rules name the arena {self.rules.arena!r}", hint=f"sumo takes place on {ring.name!r}"
            )
        return self._with_drawn_starts(ring, rng)

    def prepare_field(self, arena: Arena, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- checked later
        """Return an arena with random start places at its two Shikiri lines."""
        rng = create_field_generator(seed, layout)
        return arena if self._find_ring_faults(arena) else self._with_drawn_starts(arena, rng)

    def check_field(self, arena: Arena) -> tuple[FieldFault, ...]:
        """Return how the ring and the start lines of an arena differ from those of the rules."""
        ring_faults = self._find_ring_faults(arena)
        if ring_faults:
            return (*ring_faults, *layout_faults(arena))
        prepared = self._with_drawn_starts(arena, np.random.default_rng(0)) if not arena.spots else arena
        starts = [self.start(role, prepared)[:2] for role in self.entries]
        return (*find_start_faults(prepared, starts, self.rules.place.toes_m), *layout_faults(arena))

    def _find_ring_faults(self, arena: Arena) -> list[FieldFault]:
        """Return how the ring and the start lines of an arena differ from those of the own one."""
        own = read_arena(_FOLDER / "sumo.arena.yaml")
        own_ring = _find_ring(own.to_dict())
        own_distance_m = abs(float(np.diff(_shikiri_lines_x(own))[0]))
        faults: list[FieldFault] = []
        edges = [shape for shape in arena.shapes if shape.name == _EDGE_NAME]
        if not edges or not edges[0].is_round:
            hint = f"{self.name} needs a round line named {_EDGE_NAME}, {2.0 * own_ring.radius_m:g} m across"
            faults.append(FieldFault("it has no ring", hint))
        elif abs(edges[0].size_m[0] / 2.0 - own_ring.radius_m) > BUILD_TOLERANCE_M:
            faults.append(
                FieldFault(
                    f"its ring is {edges[0].size_m[0]:g} m across",
                    f"{2.0 * own_ring.radius_m:g} m by {self.name}",
                    shapes=(_EDGE_NAME,),
                )
            )
        lines_x = _shikiri_lines_x(arena)
        names = tuple(line.name for line in arena.lines if not line.is_round)
        needed = f"{self.name} needs two straight lines {own_distance_m:g} m apart along x"
        if len(lines_x) != 2:
            faults.append(FieldFault(f"it has {len(lines_x)} straight lines", needed, shapes=names))
        elif abs(abs(lines_x[1] - lines_x[0]) - own_distance_m) > BUILD_TOLERANCE_M:
            distance_m = abs(lines_x[1] - lines_x[0])
            faults.append(FieldFault(f"its start lines are {distance_m:g} m apart", needed, shapes=names))
        return faults

    def _with_drawn_starts(self, ring: Arena, rng: np.random.Generator) -> Arena:
        """Return a ring with random start places for the first start and all restarts."""
        # the start lines, behind which the toes of the robots stand, facing each other
        left_x, right_x = _shikiri_lines_x(ring)
        middle_y = next((shape.y for shape in ring.shapes if shape.name == _EDGE_NAME), 0.0)
        place_rules = self.rules.place
        nominal_poses = ((left_x - place_rules.toes_m, 0.0), (right_x + place_rules.toes_m, math.pi))
        spots = {}
        for number in range(1, place_rules.drawn + 1):  # of the first start, then of the restarts
            for role, (x, yaw) in zip(self.entries, nominal_poses, strict=True):
                dx, dy = rng.uniform(-place_rules.off_m, place_rules.off_m, size=2).tolist()
                turn = float(rng.uniform(-place_rules.turned_rad, place_rules.turned_rad))
                spots[f"{role}_{number}"] = Spot(
                    round(x + dx, 4), round(middle_y + dy, 4), round(yaw + turn, 4)
                )
        return replace(ring, spots=spots)

    def start(self, role: str, arena: Arena) -> PlanarPose:
        """Return the first start place, with the toes at the Shikiri line."""
        return self._starts(role, arena)[0]

    def _starts(self, role: str, arena: Arena) -> tuple[PlanarPose, ...]:
        """Return the places of the first start and the restarts."""
        spots = (arena.spot(f"{role}_{number}") for number in range(1, self.rules.place.drawn + 1))
        return tuple((spot.x, spot.y, spot.yaw_rad) for spot in spots)

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> SumoReferee:
        """Return a referee for both robots.

        Args:
            arena: the ring, with the places of all starts.
            supervisors: what puts each robot back, by its name in the plant; red's first, then blue's.
            note: writes events into the recording.
        """
        names = list(supervisors)
        opponents = reversed(names)
        wrestlers = {}
        for role, name, opponent in zip(self.entries, names, opponents, strict=True):
            supervisor = supervisors[name]
            body_parts = BodyParts.from_header(RobotHeader.of(supervisor))
            starts = self._starts(role, arena)
            wrestlers[name] = Wrestler(supervisor, starts, body_parts, opponent)
        return SumoReferee(self.rules, _find_ring(arena.to_dict()), wrestlers, note)

    def judge(self, recording: Recording) -> SumoScore:
        """Return the winners of rounds and the awards, computed from rows, contacts and halts.

        Raises:
            InputError: the recording is of another field, not of two robots, or lacks positions or contacts.
        """
        arena_data = recording.header.arena
        if arena_data.get("name") != self.rules.arena:
            self._require_own_ring(arena_data)
        all_rows = rows_of_recording(recording)
        ring = _find_ring(arena_data)
        first, second = all_rows
        bout = Bout(self.rules.bout, (first, second))
        warnings = []
        for exchange in _list_exchanges(recording):
            if bout.is_over:
                break
            bout.restart(exchange.begin_s)
            exchange_rows = {
                name: rows.select((rows.times > exchange.begin_s) & (rows.times <= exchange.end_s))
                for name, rows in all_rows.items()
            }
            wait_end_s = exchange.begin_s + self.rules.bout.wait_s
            warnings += _false_starts(self.rules.bout, exchange_rows, exchange.begin_s)
            end = judge_exchange(self.rules, ring, exchange_rows, wait_end_s, bout.left_s, is_complete=True)
            bout.add(end or ExchangeEnd("stopped", exchange.end_s, clock_s=0.0))
            if exchange.is_last and recording.events_of("stop"):
                bout.end("stopped")
        if not bout.is_over and not bout.rounds[-1].end_reason:
            warnings.append("the recording ends before the bout is over: its last round does not count")
        return SumoScore(self.name, bout, tuple(warnings))

    def _require_own_ring(self, arena_data: Mapping[str, Any]) -> None:
        """Raise InputError unless a recorded arena with another name than the rules' has such a ring."""
        faults = self._find_ring_faults(Arena.from_dict(arena_data)) if arena_data else []
        if faults or not arena_data:
            reason = f": {faults[0].message}" if faults else ""
            raise InputError(
                f"the recording's arena is {arena_data.get('name')!r}{reason}",
                hint=faults[0].hint if faults else f"{self.name} takes place on {self.rules.arena!r}",
            )

    def winner(self, score: Score) -> str | None:
        """Return the role that has won; None for a draw."""
        return score.winner if isinstance(score, SumoScore) else None

    def earned_by_places(self, places: Sequence[int]) -> tuple[float, ...]:
        """Return the points that places after all bouts earn."""
        return earned_by_places(places, self.rules.place_points)

    def picture(self, recording: Recording) -> ContestPicture:
        """Return rounds, awards, and each robot's distance from the middle of the ring."""
        score = self.judge(recording)
        ring = _find_ring(recording.header.arena)
        begins_s = (bout_round.began_s for bout_round in score.bout.rounds)
        spans = consecutive_spans(begins_s, recording.duration_s, "round")
        series = []
        for group, (name, record) in enumerate(recording.robots.items()):
            distance_m = np.hypot(record.base[:, 0] - ring.x, record.base[:, 1] - ring.y)
            series.append(Series(name, "m", recording.times, values=distance_m, group=group))
        marks = []
        for _, award in score.bout.awards:
            loser = next(name for name in recording.robots if name != award.to)
            label = f"{award.points} to {award.to}: {award.reason.value}"
            marks.append(Mark.at(recording, award.at_s, label, kind=MarkKind.PENALTY, robot=loser))
        won = ":".join(str(score.bout.rounds_of(robot)) for robot in score.bout.robots)
        headline = f"{score.winner or 'nobody'} wins, {won} rounds"
        marks.sort(key=lambda mark: mark.time_s)
        return ContestPicture(
            headline,
            marks=tuple(marks),
            series=tuple(series),
            spans=spans,
            series_title="distance from the middle",
        )


def _shikiri_lines_x(arena: Arena) -> list[float]:
    """Return the x of the straight lines of a field, ascending [m]."""
    return sorted(line.x for line in arena.lines if not line.is_round)


def _find_ring(arena_data: Mapping[str, Any]) -> Ring:
    """Return the ring of an arena, given as by `Arena.to_dict`.

    Raises:
        InputError: the arena has no ring.
    """
    for shape in arena_data.get("shapes", ()):
        if shape.get("name") == _EDGE_NAME:
            diameter_m, _ = shape["size_m"][:2]
            return Ring(float(shape["x"]), float(shape["y"]), radius_m=float(diameter_m) / 2.0)
    raise InputError("the arena has no ring", hint=f"add a round line named {_EDGE_NAME}")


class _Exchange(NamedTuple):
    """An exchange of a recording.

    Attributes:
        begin_s: its begin [s].
        end_s: its end: the first halt, the begin of the next exchange, or the end of the recording [s].
        is_last: whether there is no exchange after it.
    """

    begin_s: float
    end_s: float
    is_last: bool


def _list_exchanges(recording: Recording) -> list[_Exchange]:
    """Return the exchanges of a recording in order.

    An exchange lasts from the start or a restart of the robots until they are halted, or to the end.
    """
    halts_s = [event.time_s for event in recording.events_of(HALT)]
    last_s = float(recording.times[-1])
    exchanges = []
    for begin_s, end_s in list_tries(recording):
        first_halt_s = min((halt_s for halt_s in halts_s if begin_s < halt_s <= end_s), default=end_s)
        exchanges.append(_Exchange(begin_s, min(first_halt_s, last_s), is_last=end_s == math.inf))
    return exchanges


def _false_starts(rules: BoutRules, exchange_rows: Mapping[str, WrestlerRows], began_s: float) -> list[str]:
    """Return a warning for each robot that moved during its wait, after the time to settle."""
    warnings: list[str] = []
    for name, rows in exchange_rows.items():
        detector = StartDetector(began_s + rules.wait_s, rules.moved_rad)
        has_settled = rows.times > began_s + rules.settle_s
        detector.advance(rows.times[has_settled], rows.joints[has_settled])
        warnings += false_start_warnings(detector.early_s, rules.wait_s, name)
    return warnings
