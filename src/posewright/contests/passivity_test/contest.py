"""The passivity test as a contest: a box 20 cm before the robot must be touched within 30 s, in two tries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from posewright.arenas import Arena, Box, read_arena
from posewright.arenas.arena import BOX
from posewright.arrays import Floats
from posewright.bodies import PlanarPose, Supervisor
from posewright.contests.contest import NEW_TRY, Entry, Note, ScoreTable, Tabled
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, spans_of
from posewright.contests.ruled import SPARE_S, Ruled, drawn_by
from posewright.contests.watching import (
    RowsKept,
    StartWatch,
    done_or_told,
    false_start,
    refuse_unseen,
    tries_of,
    truth_of,
)
from posewright.control import Block
from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.recordings import Event, Recording

_FOLDER = Path(__file__).parent

Time = Annotated[float, Bounds(0.1, 600.0)]
Length = Annotated[float, Bounds(0.0, 0.6)]
Edge = Annotated[float, Bounds(0.01, 1.0)]


@dataclass(frozen=True, slots=True)
class PassivityRules:
    """The rules.

    Attributes:
        wait_s: how long a robot stands still at the beginning of a try [s].
        limit_s: for the touch, counted from the end of the wait [s].
        distance_m: from the toes to the box [m].
        moved_rad: the turn of a joint that is a move [rad].
        toes_m: how far a robot's toes are before its middle [m].
        aside_m: how far the box may stand to a side [m].
        turned_rad: how far it may be turned [rad].
        box_size_m: edges of the box, where it is not the arena's own [m].
    """

    rules: str
    title: str
    wait_s: Annotated[float, Bounds(0.0, 60.0)]
    limit_s: Time
    tries: Annotated[int, Bounds(1, 10)]
    distance_m: Length
    moved_rad: Annotated[float, Bounds(0.0, math.pi)]
    toes_m: Length
    aside_m: Length
    turned_rad: Annotated[float, Bounds(0.0, math.pi)]
    sources: Mapping[str, str] = field(repr=False)
    box_size_m: tuple[Edge, Edge, Edge] | None = None


@dataclass(frozen=True, slots=True)
class Try:
    """One try as judged, by the recording's time; None where the box was not touched as a touch counts."""

    began_s: float
    touched_s: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class PassivityScore(Tabled):
    """Whether a robot may wrestle: its tries, and the time from the end of the wait to the touch [s].

    `touched_s` of a try is the recording's time, `time_s` is the last try's own.
    """

    contest: str
    tries: tuple[Try, ...]
    time_s: float | None
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the box was touched in time."""
        return self.time_s is not None

    @property
    def points(self) -> float:
        """1 for a robot that passed, 0 for another: the test earns nothing by itself."""
        return float(self.passed)

    @property
    def ranking(self) -> tuple[float, ...]:
        """Whether it passed, and then how soon."""
        return self.points, -(self.time_s or 0.0)

    @property
    def figures(self) -> dict[str, float | str | None]:
        """The time, and how the last try ended."""
        told = {"points": self.points, "passed": self.passed, "time_s": self.time_s}
        return {**told, "tries": len(self.tries), "ended": self.tries[-1].reason}

    @property
    def incidents(self) -> tuple[str, ...]:
        """How tries without a touch ended."""
        return tuple(one.reason for one in self.tries if one.touched_s is None)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {**asdict(self), "passed": self.passed, "points": self.points}

    def table(self) -> ScoreTable:
        """Return a row a try."""
        rows = [
            (f"try {number}", "" if one.touched_s is None else f"{one.touched_s:.2f} s", "", one.reason)
            for number, one in enumerate(self.tries, 1)
        ]
        time = "" if self.time_s is None else f"{self.time_s:.2f} s"
        verdict = "passed" if self.passed else "not passed"
        columns = ("", "touched at", "time after the wait", "how it ended")
        return ScoreTable(columns, tuple(rows), (verdict, "", time, ""))


class PassivityTest(Ruled[PassivityRules]):
    """One robot before one box; by CEABOT's rules of a year where no text of others is given."""

    entries: Mapping[str, Entry] = {"robot": Entry("robotis_bioloid", "passivity_test")}

    def __init__(self, text: str | None = None, *, year: int = 2013) -> None:
        super().__init__(PassivityRules, _FOLDER / "passivity_test.rules.yaml", text, year)

    @property
    def longest_s(self) -> float:
        """All tries [s]."""
        return self.rules.tries * (self.rules.wait_s + self.rules.limit_s) + SPARE_S

    def field(self, layout: str, seed: int, *, legal: bool = False) -> Arena:  # noqa: ARG002 -- drawn, so legal
        """Return the field with the box as the seed draws it."""
        arena, rng = read_arena(_FOLDER / "passivity_test.arena.yaml"), drawn_by(seed, layout)
        if self.rules.box_size_m is not None:
            arena = replace(arena, box_kinds={BOX: replace(arena.box_kind, size_m=self.rules.box_size_m)})
        aside = float(rng.uniform(-self.rules.aside_m, self.rules.aside_m))
        yaw = float(rng.uniform(-self.rules.turned_rad, self.rules.turned_rad))
        length, width = arena.box_kind.footprint_m
        half = (length * abs(math.cos(yaw)) + width * abs(math.sin(yaw))) / 2.0
        x, _, _ = self.start("robot", arena)
        ahead = self.rules.toes_m + self.rules.distance_m + half
        return arena.with_boxes([Box(round(x + ahead, 4), round(aside, 4), round(yaw, 4))])

    def start(self, role: str, arena: Arena) -> PlanarPose:  # noqa: ARG002 -- one robot
        """Return the place with the toes on the first line."""
        return arena.lines[0].x - self.rules.toes_m, 0.0, 0.0

    def referee(self, arena: Arena, supervisors: Mapping[str, Supervisor], note: Note) -> PassivityReferee:
        """Return a referee of the first robot."""
        robot, supervisor = next(iter(supervisors.items()))
        return PassivityReferee(self.rules, robot, supervisor, self.start("robot", arena), note)

    def judge(self, recording: Recording) -> PassivityScore:
        """Return whether the box was touched in time, from contacts and the events that tries began."""
        record, times = recording.robot(), recording.times
        if len(recording.header.boxes) != 1:
            raise InputError(f"{len(recording.header.boxes)} boxes", hint="the passivity test has one")
        refuse_unseen(record)
        touches = times[record.box_contacts[:, 0]]
        tries: list[Try] = []
        for number, (begin, end) in enumerate(tries_of(recording), 1):
            if number <= self.rules.tries and not (tries and tries[-1].touched_s is not None):
                tries.append(_judged(self.rules, touches[(touches >= begin) & (touches < end)], begin, times))
        last = tries[-1]
        time_s = None if last.touched_s is None else last.touched_s - last.began_s - self.rules.wait_s
        start = StartWatch(self.rules.wait_s, self.rules.moved_rad)
        start.advance(times, done_or_told(record.positions, record.commands))
        return PassivityScore(self.name, tuple(tries), time_s, false_start(start.early_s, self.rules.wait_s))

    def picture(self, recording: Recording) -> ContestPicture:
        """Return the tries, the touch, and how far the robot was from where the box stood."""
        score, base = self.judge(recording), recording.robot().base
        spans = spans_of((one.began_s for one in score.tries), recording.duration_s, "try")
        away = np.hypot(*(base[:, :2] - recording.boxes[:, 0, :2]).T)
        series = (Series("base to box", "m", recording.times, away),)
        touched = score.tries[-1].touched_s
        if touched is None:
            return ContestPicture("not touched in time", (), series, spans, "distance")
        mark = Mark.at(recording, touched, "touch", MarkKind.MILESTONE)
        return ContestPicture(f"touched after {score.time_s:.2f} s", (mark,), series, spans, "distance")


def _judged(rules: PassivityRules, touches: Floats, began_s: float, times: Floats) -> Try:
    allowed_s = began_s + rules.wait_s
    counting = touches[(touches >= allowed_s) & (touches <= allowed_s + rules.limit_s)]
    if len(counting):
        return Try(began_s, float(counting[0]), "touched")
    if len(touches) and touches[0] < allowed_s:
        return Try(began_s, None, "touched during the wait only")
    over = len(times) and float(times[-1]) >= allowed_s + rules.limit_s
    return Try(began_s, None, "time out" if over else "the recording ends before")


class PassivityReferee:
    """Watches one robot's blocks for the touch; after a try without one, puts it back for the next."""

    def __init__(
        self, rules: PassivityRules, robot: str, supervisor: Supervisor, start: PlanarPose, note: Note
    ) -> None:
        self._rules, self._robot, self._supervisor = rules, robot, supervisor
        self._start, self._note = start, note
        self._tries, self._began_s, self._now_s, self._kept = 1, 0.0, 0.0, RowsKept()

    def progress(self) -> str:
        """Return which try it is, and its time."""
        return f"try {self._tries} of {self._rules.tries}  {self._now_s - self._began_s:5.1f} s"

    def watch(self, block: Block) -> bool:
        """Look at a block; return whether the test is over."""
        if block.robot != self._robot:
            return False
        times, kept = block.states.times, self._kept.of(block)
        self._now_s = float(times[-1])
        allowed_s = self._began_s + self._rules.wait_s
        touches = times[kept][truth_of(block).box_contacts[kept][:, 0]]
        if ((touches >= allowed_s) & (touches <= allowed_s + self._rules.limit_s)).any():
            return self._stop("touched")
        if self._now_s <= allowed_s + self._rules.limit_s:
            return False
        if self._tries == self._rules.tries:
            return self._stop("time out")
        self._tries, self._began_s = self._tries + 1, self._now_s
        self._supervisor.place_robot(*self._start)
        x, y, yaw = self._start
        self._note(Event(self._now_s, NEW_TRY, {"number": self._tries, "x_m": x, "y_m": y, "yaw_rad": yaw}))
        return False

    def _stop(self, reason: str) -> bool:
        self._note(Event(self._now_s, "stop", {"reason": reason}))
        return True
