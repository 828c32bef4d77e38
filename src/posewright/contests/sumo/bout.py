"""A bout: its rounds, their clocks and points, the winner, and the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from posewright.contests.contest import NotebookTable, ScoreTable
from posewright.contests.sumo.exchange import Award, ExchangeEnd
from posewright.contests.sumo.rules import BoutRules

_ROUNDING_S = 1e-6
"""Tolerance of a round's clock [s]."""


@dataclass(slots=True)
class Round:
    """One round, which is over when a robot has enough points or its time is up.

    Attributes:
        number: the number, from 1.
        began_s: the time of the beginning, in the recording's time [s].
        ends: the ends of its exchanges.
        end_reason: why it is over; empty before.
    """

    number: int
    began_s: float
    ends: list[ExchangeEnd] = field(default_factory=list)
    end_reason: str = ""

    @property
    def awards(self) -> list[Award]:
        """All awards in the order of time."""
        return [award for end in self.ends for award in end.awards]

    @property
    def clock_s(self) -> float:
        """Time on its clock, which stops while robots are put back and wait [s]."""
        return sum(end.clock_s for end in self.ends)

    def points(self, robot: str) -> int:
        """Return the points of a robot."""
        return sum(award.points for award in self.awards if award.to == robot)


class Bout:
    """The state of a bout, updated exchange by exchange.

    Args:
        rules: the rules of bouts.
        robots: names of the two robots.

    Attributes:
        robots: names of the two robots.
        rounds: those that were begun.
    """

    def __init__(self, rules: BoutRules, robots: tuple[str, str]) -> None:
        self._rules = rules
        self.robots = robots
        self.rounds = [Round(1, 0.0)]

    @property
    def left_s(self) -> float:
        """Remaining time of the current round [s]."""
        return self._rules.round_s - self.rounds[-1].clock_s

    @property
    def is_over(self) -> bool:
        """Whether no further round is needed."""
        n_over = len(self.rounds) if self.rounds[-1].end_reason else len(self.rounds) - 1
        n_remaining = self._rules.rounds - n_over
        won, lost = (self.rounds_of(robot) for robot in self.robots)
        return n_remaining <= 0 or abs(won - lost) > n_remaining

    def restart(self, at_s: float) -> None:
        """Begin the next exchange, and with it a new round if the last one is over."""
        if self.rounds[-1].end_reason:
            self.rounds.append(Round(len(self.rounds) + 1, at_s))

    def add(self, end: ExchangeEnd) -> None:
        """Add the end of an exchange to the current round."""
        current_round = self.rounds[-1]
        current_round.ends.append(end)
        if max(current_round.points(robot) for robot in self.robots) >= self._rules.win_points:
            current_round.end_reason = f"{self._rules.win_points} points"
        elif self.left_s <= _ROUNDING_S:
            current_round.end_reason = "time"

    def end(self, reason: str) -> None:
        """End the current round as it is."""
        self.rounds[-1].end_reason = self.rounds[-1].end_reason or reason

    @property
    def awards(self) -> list[tuple[int, Award]]:
        """All awards, each with the number of its round."""
        return [(bout_round.number, award) for bout_round in self.rounds for award in bout_round.awards]

    def winner_of(self, bout_round: Round) -> str | None:
        """Return the winner of a round; None for a draw or a round that is not over."""
        if not bout_round.end_reason:
            return None
        first, second = self.robots
        return _greater(first, bout_round.points(first), second, second_result=bout_round.points(second))

    def rounds_of(self, robot: str) -> int:
        """Return the number of rounds that a robot has won."""
        return sum(self.winner_of(bout_round) == robot for bout_round in self.rounds)

    def points_of(self, robot: str) -> int:
        """Return the points of a robot in all rounds."""
        return sum(bout_round.points(robot) for bout_round in self.rounds)

    @property
    def winner(self) -> str | None:
        """The robot with more rounds won, or as many and more points; None for a draw."""
        first, second = self.robots
        first_result = (self.rounds_of(first), self.points_of(first))
        second_result = (self.rounds_of(second), self.points_of(second))
        return _greater(first, first_result, second, second_result)

    def summary(self) -> str:
        """Return the current round, its points, and the rounds won."""
        current_round = self.rounds[-1]
        points = ":".join(str(current_round.points(robot)) for robot in self.robots)
        won = ":".join(str(self.rounds_of(robot)) for robot in self.robots)
        return f"round {current_round.number}  {points} points  {won} rounds"


_Result = TypeVar("_Result", int, tuple[int, int])


def _greater(first: str, first_result: _Result, second: str, second_result: _Result) -> str | None:
    """Return the robot with the greater result; None if both are equal."""
    if first_result == second_result:
        return None
    return second if second_result > first_result else first


@dataclass(frozen=True, slots=True)
class SumoScore(NotebookTable):
    """The result of a bout, from the view of the first robot, red.

    Attributes:
        contest: name of the rules.
        bout: the bout with its rounds and awards.
        warnings: such as false starts.
    """

    contest: str
    bout: Bout = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def winner(self) -> str | None:
        """The robot that has won; None for a draw."""
        return self.bout.winner

    @property
    def points(self) -> float:
        """Rounds won by the first robot."""
        return float(self.bout.rounds_of(self.bout.robots[0]))

    @property
    def ranking(self) -> tuple[float, ...]:
        """Rounds won minus rounds lost, then points won minus points lost."""
        first, second = self.bout.robots
        rounds = self.bout.rounds_of(first) - self.bout.rounds_of(second)
        points = self.bout.points_of(first) - self.bout.points_of(second)
        return float(rounds), float(points)

    @property
    def figures(self) -> Mapping[str, float | str | None]:
        """Whether the first robot has won, rounds and points of both, and the time on the clocks."""
        bout = self.bout
        figures: dict[str, float | str | None] = {
            "points": self.points,
            "won": bout.winner == bout.robots[0],
            "winner": bout.winner,
        }
        for robot in bout.robots:
            figures[f"{robot}_rounds"] = bout.rounds_of(robot)
            figures[f"{robot}_points"] = bout.points_of(robot)
        figures["clock_s"] = round(sum(bout_round.clock_s for bout_round in bout.rounds), 4)
        return figures

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reasons of the second robot's awards."""
        opponent = self.bout.robots[1]
        return tuple(award.reason.value for _, award in self.bout.awards if award.to == opponent)

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON types."""
        bout = self.bout
        return {
            "contest": self.contest,
            "winner": self.winner,
            "points": self.points,
            "rounds": [_round_to_dict(bout_round, bout) for bout_round in bout.rounds],
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
        """Return a table with one row for each award, and a note for each round."""
        rows = [
            (f"{number}", f"{award.at_s:.2f} s", award.to, f"{award.points}", award.text)
            for number, award in self.bout.awards
        ]
        points = ":".join(str(self.bout.points_of(robot)) for robot in self.bout.robots)
        total = ("bout", "", self.winner or "nobody", points, "")
        notes = [_describe_round(bout_round, self.bout) for bout_round in self.bout.rounds]
        return ScoreTable(("round", "time", "to", "points", "why"), tuple(rows), total, notes=tuple(notes))


def _round_to_dict(bout_round: Round, bout: Bout) -> dict[str, Any]:
    """Return a round as JSON types."""
    return {
        **{robot: bout_round.points(robot) for robot in bout.robots},
        "winner": bout.winner_of(bout_round),
        "ended": bout_round.end_reason or "not over",
        "began_s": bout_round.began_s,
        "clock_s": round(bout_round.clock_s, 4),
        "stops": [{"time_s": round(end.at_s, 4), "reason": end.reason} for end in bout_round.ends],
    }


def _describe_round(bout_round: Round, bout: Bout) -> str:
    """Return points, time and winner of a round in a sentence."""
    points = ", ".join(f"{robot} {bout_round.points(robot)}" for robot in bout.robots)
    outcome = "it is not over"
    if bout_round.end_reason:
        outcome = f"{bout.winner_of(bout_round) or 'nobody'} wins it ({bout_round.end_reason})"
    return f"round {bout_round.number}: {points} after {bout_round.clock_s:.1f} s on the clock; {outcome}"
