"""The account of a bout: rounds, their clocks and points, who has won, and the score that people read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from posewright.contests.contest import ScoreTable, Tabled
from posewright.contests.sumo.exchange import Award, Stop
from posewright.contests.sumo.rules import BoutRules

_ROUNDING_S = 1e-6


@dataclass(slots=True)
class Round:
    """One round: what was stopped and awarded in it; over when one robot has enough points, or time is up."""

    number: int
    began_s: float
    stops: list[Stop] = field(default_factory=list)
    over: str = ""

    @property
    def awards(self) -> list[Award]:
        """All awards, in the order they were given."""
        return [award for stop in self.stops for award in stop.awards]

    @property
    def clock_s(self) -> float:
        """How long it ran; its clock stands while robots are put back and wait [s]."""
        return sum(stop.clock_s for stop in self.stops)

    def points(self, robot: str) -> int:
        """Return what a robot has earned."""
        return sum(award.points for award in self.awards if award.to == robot)


class Bout:
    """Keeps the account, exchange by exchange.

    Attributes:
        rounds: all that were begun.
    """

    def __init__(self, rules: BoutRules, robots: tuple[str, str]) -> None:
        self._rules, self.robots = rules, robots
        self.rounds = [Round(1, 0.0)]

    @property
    def left_s(self) -> float:
        """What the round's clock has left [s]."""
        return self._rules.round_s - self.rounds[-1].clock_s

    @property
    def is_over(self) -> bool:
        """Whether no further round is needed."""
        fought = len(self.rounds) if self.rounds[-1].over else len(self.rounds) - 1
        won, lost = (self.rounds_of(robot) for robot in self.robots)
        return abs(won - lost) > self._rules.rounds - fought or fought >= self._rules.rounds

    def restart(self, at_s: float) -> None:
        """Begin the next exchange; of a further round, where the last one is over."""
        if self.rounds[-1].over:
            self.rounds.append(Round(len(self.rounds) + 1, at_s))

    def add(self, stop: Stop) -> None:
        """Note how an exchange ended."""
        now = self.rounds[-1]
        now.stops.append(stop)
        if max(now.points(robot) for robot in self.robots) >= self._rules.win_points:
            now.over = f"{self._rules.win_points} points"
        elif self.left_s <= _ROUNDING_S:
            now.over = "time"

    def end(self, reason: str) -> None:
        """Let the round that is fought count as it stands."""
        self.rounds[-1].over = self.rounds[-1].over or reason

    @property
    def awards(self) -> list[tuple[int, Award]]:
        """All awards, each with the number of its round."""
        return [(one.number, award) for one in self.rounds for award in one.awards]

    def _ahead(self, worth: Callable[[str], Any]) -> str | None:
        first, second = map(worth, self.robots)
        return None if first == second else self.robots[second > first]

    def winner_of(self, one: Round) -> str | None:
        """Return who has won a round; None where nobody has, or it is not over."""
        return self._ahead(one.points) if one.over else None

    def rounds_of(self, robot: str) -> int:
        """Return how many rounds a robot has won."""
        return sum(self.winner_of(one) == robot for one in self.rounds)

    def points_of(self, robot: str) -> int:
        """Return what a robot has earned in all rounds."""
        return sum(one.points(robot) for one in self.rounds)

    @property
    def winner(self) -> str | None:
        """Who has won more rounds, or as many and more points; None where nobody has."""
        return self._ahead(lambda robot: (self.rounds_of(robot), self.points_of(robot)))

    def standing(self) -> str:
        """Return how it stands in a few words."""
        now = self.rounds[-1]
        points = ":".join(str(now.points(robot)) for robot in self.robots)
        won = ":".join(str(self.rounds_of(robot)) for robot in self.robots)
        return f"round {now.number}  {points} points  {won} rounds"


@dataclass(frozen=True, slots=True)
class SumoScore(Tabled):
    """A bout as judged, seen by the first robot: red."""

    contest: str
    bout: Bout = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def winner(self) -> str | None:
        """The robot that has won; None where nobody has."""
        return self.bout.winner

    @property
    def points(self) -> float:
        """Rounds that the first robot has won."""
        return float(self.bout.rounds_of(self.bout.robots[0]))

    @property
    def ranking(self) -> tuple[float, ...]:
        """Rounds won over rounds lost, and then points."""
        one, other = self.bout.robots
        rounds = self.bout.rounds_of(one) - self.bout.rounds_of(other)
        return float(rounds), float(self.bout.points_of(one) - self.bout.points_of(other))

    @property
    def figures(self) -> Mapping[str, float | str | None]:
        """Whether the first robot has won, rounds and points of both, and the time on the clocks."""
        bout = self.bout
        won = bout.winner == bout.robots[0]
        told: dict[str, float | str | None] = {"points": self.points, "won": won, "winner": bout.winner}
        for robot in bout.robots:
            told |= {f"{robot}_rounds": bout.rounds_of(robot), f"{robot}_points": bout.points_of(robot)}
        return {**told, "clock_s": round(sum(one.clock_s for one in bout.rounds), 4)}

    @property
    def incidents(self) -> tuple[str, ...]:
        """For what the other robot was given points."""
        other = self.bout.robots[1]
        return tuple(award.reason.value for _, award in self.bout.awards if award.to == other)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        bout = self.bout
        return {
            "contest": self.contest,
            "winner": self.winner,
            "points": self.points,
            "rounds": [_told(one, bout) for one in bout.rounds],
            "yuhkoh": [
                {
                    "round": number,
                    "time_s": round(award.at_s, 4),
                    "to": award.to,
                    "points": award.points,
                    "reason": award.reason.value,
                    "text": award.text,
                }
                for number, award in bout.awards
            ],
            "warnings": list(self.warnings),
        }

    def table(self) -> ScoreTable:
        """Return a row an award, and a line below for each round."""
        rows = [
            (f"{number}", f"{award.at_s:.2f} s", award.to, f"{award.points}", award.text)
            for number, award in self.bout.awards
        ]
        points = ":".join(str(self.bout.points_of(robot)) for robot in self.bout.robots)
        total = ("bout", "", self.winner or "nobody", points, "")
        notes = [_line(one, self.bout) for one in self.bout.rounds]
        return ScoreTable(("round", "time", "to", "points", "why"), tuple(rows), total, tuple(notes))


def _told(one: Round, bout: Bout) -> dict[str, Any]:
    return {
        **{robot: one.points(robot) for robot in bout.robots},
        "winner": bout.winner_of(one),
        "ended": one.over or "not over",
        "began_s": one.began_s,
        "clock_s": round(one.clock_s, 4),
        "stops": [{"time_s": round(stop.at_s, 4), "reason": stop.reason} for stop in one.stops],
    }


def _line(one: Round, bout: Bout) -> str:
    points = ", ".join(f"{robot} {one.points(robot)}" for robot in bout.robots)
    won = f"{bout.winner_of(one) or 'nobody'} wins it ({one.over})" if one.over else "it is not over"
    return f"round {one.number}: {points} after {one.clock_s:.1f} s on the clock; {won}"
