"""A climb as judged: which steps both feet passed by themselves, what touched, who fell and stayed down."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from posewright.arenas.arena import FLOOR
from posewright.arrays import Flags, Floats, Indices
from posewright.contests.contest import ScoreTable, Tabled
from posewright.contests.parts import arm_parts
from posewright.contests.stairs.rules import Flight, StairsRules
from posewright.contests.watching import StartWatch, done_or_told, false_start, refuse_unseen
from posewright.recordings import Recording
from posewright.recordings.falls import FallDetector, Spell, runs

ARRIVED = "arrived"
TIME_OUT = "time out"
NEVER_MOVED = "the robot never moved"
_CUT_SHORT = "the recording ends before"

_WHY = {
    "fall": "the robot fell and did not get up by itself",
    "hand": "a hand or an arm touched the stairs or the floor",
    "jump": "no foot was on the ground",
}


@dataclass(frozen=True, slots=True)
class StairsPenalty:
    """Something that cost a penalty, by the recording's time."""

    time_s: float
    reason: str

    def __str__(self) -> str:
        return (
            f"penalty at {self.time_s:.2f} s: {_WHY.get(self.reason, f'touched by a person, {self.reason}')}"
        )


@dataclass(frozen=True, slots=True)
class PassedStep:
    """A step, counted from 1, that both feet passed by themselves, by the recording's time."""

    step: int
    time_s: float


@dataclass(frozen=True, slots=True)
class StairsScore(Tabled):
    """The stairs as judged: penalties decide first, then steps, then the time.

    The time is the limit for who did not arrive behind the last step; `points` are what the steps earn.
    """

    contest: str
    steps: tuple[PassedStep, ...]
    penalties: tuple[StairsPenalty, ...]
    time_s: float
    arrived: bool
    points: float
    started_at_s: float | None
    ended_at_s: float | None
    falls: int
    reason: str
    warnings: tuple[str, ...] = ()

    @property
    def ranking(self) -> tuple[float, ...]:
        """Penalties, the fewer the better, then steps, then the time."""
        return -float(len(self.penalties)), float(len(self.steps)), -self.time_s

    @property
    def figures(self) -> dict[str, float | str | None]:
        """The climb as a whole, and how it ended."""
        told = {"points": self.points, "arrived": self.arrived, "steps": len(self.steps)}
        told |= {"penalties": len(self.penalties), "time_s": self.time_s, "falls": self.falls}
        return {**told, "ended": self.reason}

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reason of each penalty."""
        return tuple(one.reason for one in self.penalties)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return asdict(self)

    def table(self) -> ScoreTable:
        """Return a row a passed step, and a note a penalty."""
        rows = tuple((f"step {one.step}", f"{one.time_s:.2f} s") for one in self.steps)
        total = (f"{self.points:g} points", f"{self.time_s:.2f} s, {self.reason}")
        return ScoreTable(("", "passed at"), rows, total, tuple(map(str, self.penalties)))


def above_ground(base: Floats, flight: Flight) -> Floats:
    """Return a base `(n, 7)` whose height is counted from the step below it [m]."""
    seen = base.copy()
    seen[:, 2] -= flight.ground(base[:, :3])
    return seen


class Climb:
    """One robot's climb, from a recording: its rows until the time was over, and who touched it when."""

    def __init__(self, recording: Recording, rules: StairsRules) -> None:
        record = recording.robot()
        refuse_unseen(record)
        self._rules, self._record, self._recording = rules, record, recording
        self._flight = Flight.told(recording.header.arena, rules)
        self._things = self._flight.names | {FLOOR}
        self.start = StartWatch(rules.wait_s, rules.moved_rad)
        self.start.advance(recording.times, done_or_told(record.positions, record.commands))
        begins_s = rules.wait_s if self.start.moved_s is None else self.start.moved_s
        self.limit_s = begins_s + rules.limit_s
        self._n = int(recording.times.searchsorted(self.limit_s, side="right"))
        self._times = recording.times[: self._n]
        self._touches = [one for one in recording.events_of("touch") if one.time_s <= self.limit_s]
        detector = FallDetector(rules.falls)
        detector.advance(self._times, above_ground(record.base[: self._n], self._flight))
        self.falls = tuple(detector.falls())
        self.passed = self._passed()

    @property
    def arrived_s(self) -> float | None:
        """When the last step was passed; None where it was not [s]."""
        return self.passed.get(len(self._flight.edges))

    def _passed(self) -> dict[int, float]:
        """Return when each step was passed, by its number from 1.

        Between two touches by a person counts what the feet passed; where the robot was put is none of it.
        """
        stood = self._flight.stood_on(
            self._record.footprints[: self._n], self._record.foot_contacts[: self._n]
        )
        stood[~self._steady()] = -1
        ends_s = [one.time_s for one in self._touches]
        edges = [0, *self._times.searchsorted(ends_s, side="right").tolist(), self._n]
        passed: dict[int, float] = {}
        for begin, end in pairwise(edges):
            feet = [_by_steps(column, self._rules.most_at_once) for column in stood[begin:end].T]
            level = np.min(feet, axis=0)
            known = level[level >= 0]
            for step in range(int(known[0]) + 1 if len(known) else 1, int(known.max(initial=0)) + 1):
                passed.setdefault(step, float(self._times[begin + int((level >= step).argmax())]))
        return passed

    def _steady(self) -> Flags:
        """Return where the robot neither lies, nor is about to fall, nor is held by somebody, `(n,)`."""
        steady = np.ones(self._n, dtype=np.bool_)
        for fall in self.falls:
            steady[int(self._times.searchsorted(fall.since_s - self._rules.steady_s)) : fall.end] = False
        for touch in self._touches:
            since = touch.data.get("since_s")
            since_s = float(since) if isinstance(since, int | float) else touch.time_s
            held = self._times.searchsorted([since_s, touch.time_s], side="right")
            steady[slice(*held.tolist())] = False
        return steady

    def penalties(self, until_s: float) -> tuple[StairsPenalty, ...]:
        """Return what cost a penalty until then, in the order of time."""
        found = [StairsPenalty(one.time_s, str(one.data.get("reason", "touch"))) for one in self._touches]
        found += [StairsPenalty(fall.until_s, "fall") for fall in self.falls if self._stayed_down(fall)]
        found += [StairsPenalty(at, "hand") for at in self._hands()]
        found += [StairsPenalty(at, "jump") for at in self._jumps()]
        return tuple(sorted((one for one in found if one.time_s <= until_s), key=lambda one: one.time_s))

    def _stayed_down(self, fall: Spell) -> bool:
        """Tell whether a robot lay to the end, and nobody has touched it, which is a penalty already."""
        touched = any(fall.since_s <= one.time_s for one in self._touches)
        return fall.end == self._n and not touched

    def _hands(self) -> list[float]:
        """Return when a hand or an arm began to touch; falling and getting up need hands."""
        record, gap_s = self._record, self._rules.hand_gap_s
        at = np.array([one.time_s for one in self._recording.events_of("hand")])
        if record.contacts is not None:
            rows = record.contacts.frames_with_contact(arm_parts(record.header), self._things, len(record))[
                : self._n
            ]
            at = np.sort(np.append(at, self._times[rows]))
        for fall in self.falls:
            at = at[(at < fall.since_s - gap_s) | (at > fall.until_s + gap_s)]
        begins = np.diff(at, prepend=-np.inf) > gap_s
        return [float(one) for one in at[begins]]

    def _jumps(self) -> list[float]:
        """Return when the robot left the ground; one that a person puts down comes from the air."""
        floats = self._steady() & ~self._record.foot_contacts[: self._n].any(axis=1)
        contacts = self._record.contacts
        if contacts is not None:  # who gets up leans on other parts
            links = {str(link["name"]) for link in self._record.header.links}
            floats &= ~contacts.frames_with_contact(links, self._things, len(self._record))[: self._n]
        for touch in self._touches:
            near = np.abs(self._times - touch.time_s) <= self._rules.settle_s
            floats &= ~near
        spans = [(float(self._times[begin]), float(self._times[end - 1])) for begin, end in runs(floats)]
        return [begin for begin, end in spans if end - begin > self._rules.jump_s]

    def warnings(self) -> tuple[str, ...]:
        """Return what a judge would say besides."""
        found = [*false_start(self.start.early_s, self._rules.wait_s)]
        if self._record.contacts is None:
            found.append("nobody recorded what touches what: hands count where an event `hand` tells of them")
        return tuple(found)


def _by_steps(stood: Indices, most: int) -> Indices:
    """Return the level a foot got to by itself, `(n,)`: the last it stood on; -1 before the first.

    Whoever gets to one much higher in number at once has walked round the steps between.
    """
    reached, last = np.full(len(stood), -1), -1
    for row in np.flatnonzero(np.diff(stood, prepend=-2)).tolist():
        level = int(stood[row])
        if level >= 0 and (last < 0 or level - last <= most):
            last = level
        reached[row:] = last
    return reached


def judged(recording: Recording, rules: StairsRules) -> StairsScore:
    """Return the score of a recording's climb.

    Raises:
        InputError: it is of other stairs, or lacks what a judge must know.
    """
    climb = Climb(recording, rules)
    arrived, began = climb.arrived_s, climb.start.moved_s
    last_s = float(recording.times[-1])
    ended = arrived if arrived is not None else climb.limit_s if last_s >= climb.limit_s else None
    stops = [str(one.data.get("reason", "")) for one in recording.events_of("stop")]
    if arrived is not None:
        reason = ARRIVED
    elif ended is not None:
        reason = TIME_OUT if began is not None else NEVER_MOVED
    else:
        reason = stops[-1] if stops and stops[-1] else _CUT_SHORT
    until_s = last_s if ended is None else ended
    steps = tuple(PassedStep(step, at) for step, at in sorted(climb.passed.items()))
    worth = rules.step_points[min(len(steps), len(rules.step_points)) - 1] if steps else 0.0
    return StairsScore(
        contest=rules.rules,
        steps=steps,
        penalties=climb.penalties(until_s),
        time_s=rules.limit_s if arrived is None or began is None else arrived - began,
        arrived=arrived is not None,
        points=worth,
        started_at_s=began,
        ended_at_s=ended,
        falls=sum(fall.since_s <= until_s for fall in climb.falls),
        reason=reason,
        warnings=climb.warnings(),
    )
