"""The CEABOT obstacle race: there and back over a field of boxes."""

from __future__ import annotations

from posewright.contests.obstacle_race.contest import ObstacleRace
from posewright.contests.obstacle_race.progress import LegProgress, progress
from posewright.contests.obstacle_race.race import Race
from posewright.contests.obstacle_race.referee import RaceReferee
from posewright.contests.obstacle_race.result import LegResult, Penalty, Result
from posewright.contests.obstacle_race.rules import Rules, parse_rules, read_rules, rules
from posewright.contests.obstacle_race.score import LegScore, Standing, rank, score

__all__ = [
    "LegProgress",
    "LegResult",
    "LegScore",
    "ObstacleRace",
    "Penalty",
    "Race",
    "RaceReferee",
    "Result",
    "Rules",
    "Standing",
    "parse_rules",
    "progress",
    "rank",
    "read_rules",
    "rules",
    "score",
]
